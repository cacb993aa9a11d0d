# SPDX-License-Identifier: Apache-2.0
"""Explain onnx's shape errors in terms of the values of the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from onnxtext.ast.model import Node
from onnxtext.ast.types import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place, quote
from onnxtext.plurals import count_noun

Explanation = tuple[str, tuple[Place, ...]]
"""The message and the places of a finding."""
_NOISE = re.compile(
    r"\[(?:Shape|Type)InferenceError\]|(?:Inference error\(s\): )?\(op_type:[^)]*\):?|\s+"
)
_PHRASES = (
    (
        re.compile(r"(\w+) typestr: \w+, has unsupported type: .*"),
        r"the operator does not accept the type of its input `\1`",
    ),
    (
        re.compile(r"type case mismatch\. existing=(\w+)_type inferred=(\w+)_type"),
        r"an output is declared as \1, but the operator computes \2",
    ),
)
"""Patterns of phrases that only developers of onnx understand, and their replacements."""


def spell_type(type: Type) -> str:
    """Return the text of a type without decorators, such as `float[N, 3]`."""
    from onnxtext.printer import print_type  # a slow import, rarely needed

    return print_type(_without_decorators(type))


def _without_decorators(type: Type) -> Type:
    match type:
        case TensorType(element, shape) | SparseTensorType(element, shape):
            return type.__class__(element, shape and tuple(map(plain_dim, shape)))
        case SequenceType(element) | OptionalType(element):
            return type.__class__(_without_decorators(element))
        case MapType(key, value):
            return MapType(key, _without_decorators(value))
    return replace(type, decorators=())


def explain(
    node: Node, error: str, inputs: list[Type | None], place: Callable[[str], Place | None]
) -> Explanation:
    """Turn onnx's error about a node into the message and the places of a finding.

    `inputs` are the types of the node's inputs; None where unknown. Given the name of a value,
    `place` returns the place in the model that determines its type, such as its declaration; None
    if unknown.
    """
    is_gemm = node.op_type == "Gemm" and len(inputs) >= 2
    if is_gemm or (node.op_type == "MatMul" and len(inputs) == 2):
        transposed = [
            is_gemm and any(a.name == name and a.value == 1 for a in node.attributes)
            for name in ("transA", "transB")
        ]
        result = _product(node, list(map(_plain_shape, inputs[:2])), place, *transposed)
        if result is not None:
            return result
    problem = plain_message(error)
    places = [mismatch_place(node, problem)]
    for index, type in enumerate(inputs):
        if type is not None:
            places.append(Place(node, ("inputs", index), f"`{spell_type(type)}`"))
    return mismatch_message(node, problem), tuple(places)


def mismatch_place(node: Node, problem: str) -> Place:
    """Return the place of a mismatch: the attribute that `problem` names, or else the operator.

    Return the operator if `problem` names several attributes of the node.
    """
    named = {name for names in _ATTRIBUTE.findall(problem) for name in names}
    found = [index for index, item in enumerate(node.attributes) if item.name in named]
    return Place(node, ("attributes", found[0]) if len(found) == 1 else ("op_type",))


_ATTRIBUTE = re.compile(r"[`'](\w+)[`']|\b[Aa]ttribute (\w+)|^(\w+) must ")
"""Matches what may be the name of an attribute in a message of onnx or of `symbolic`."""


def mismatch_message(node: Node, problem: str) -> str:
    """Return the message that a node's inputs or attributes do not fit; `problem` is the reason."""
    parts = ["inputs"] * any(node.inputs) + ["attributes"] * bool(node.attributes)
    return f"the {' or '.join(parts) or 'attributes'} of `{node.op_type}` do not fit: {problem}"


def explain_difference(
    node: Node, number: int, declared: str, computed: str, declaration: Place
) -> Explanation:
    """Explain that the declared type of output `number` of a node differs from the computed type.

    `declared` and `computed` are the two types as text. `declaration` is the place of the declared
    type; this is in the node itself for `float[N] y = …`.
    """
    places: tuple[Place, ...] = (
        declaration._replace(label=f"`{node.op_type}` gives `{computed}`"),
    )
    if declaration.item is not node:
        places = (
            Place(node, ("outputs", number), f"computed as `{computed}`"),
            declaration._replace(label=f"declared as `{declared}`"),
        )
    name = quote(node.outputs[number])
    message = f"{name} is declared `{declared}`, but `{node.op_type}` computes `{computed}`"
    return message, places


def plain_message(error: str) -> str:
    """Return onnx's error message in plain words, without error classes and names of nodes."""
    message = re.sub(r"\s+", " ", _NOISE.sub(" ", error)).strip().removesuffix(".")
    for phrase, meaning in _PHRASES:
        message = phrase.sub(meaning, message)
    return message


def _plain_shape(type: Type | None) -> list[int | str | None] | None:
    shape = getattr(type, "shape", None)
    return None if shape is None else [plain_dim(dim) for dim in shape]


def _product(
    node: Node,
    shapes: list[list[int | str | None] | None],
    place: Callable[[str], Place | None],
    left_transposed: bool,
    right_transposed: bool,
) -> Explanation | None:
    """Explain that the inner dimensions of a matrix product are two different numbers.

    Return None if they are not. `shapes` are the shapes of the two matrices. `left_transposed` and
    `right_transposed` tell whether the product transposes the matrices. `place` is as in `explain`.
    """
    left, right = shapes
    if not left or not right:
        return None
    columns = left[-2] if left_transposed and len(left) > 1 else left[-1]
    rows = right[-1] if right_transposed or len(right) == 1 else right[-2]
    if not isinstance(columns, int) or not isinstance(rows, int) or columns == rows:
        return None
    kinds = ("row" if left_transposed else "column"), ("column" if right_transposed else "row")
    x, w = quote(node.inputs[0]), quote(node.inputs[1])
    places = [Place(node, ("op_type",))]
    for index, size, kind in ((1, rows, kinds[1]), (0, columns, kinds[0])):
        declared = place(node.inputs[index])
        label = f"{quote(node.inputs[index])} has {count_noun(size, kind)}"
        places.append((declared or Place(node, ("inputs", index)))._replace(label=label))
    message = f"{w} has {count_noun(rows, kinds[1])}, but {x} has {count_noun(columns, kinds[0])}"
    return message, tuple(places)
