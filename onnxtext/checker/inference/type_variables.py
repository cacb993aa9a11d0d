# SPDX-License-Identifier: Apache-2.0
"""Check the input types of a node against its operator's schema and its attributes.

Also infer the output types that follow from the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Floats, attribute_value
from onnxtext.checker.context.signatures import Signature, allows_any
from onnxtext.checker.inference.output_types import Texts
from onnxtext.schemas.type_strings import is_tensor, text_spelling

_NAMES = (
    "float int64 bool int32 string float16 double uint8 int8 int16 bfloat16 uint16 uint32 uint64"
)
_COMMON = [f"tensor({name})" for name in _NAMES.split()]
"""Common types in messages, the most common ones first."""


def _rarity(text: str) -> tuple[int, int, str]:
    """Return the sort key of a type for messages: common tensors first, optionals last."""
    rank = _COMMON.index(text) if text in _COMMON else len(_COMMON)
    return rank, text.count("("), text


class TypeMismatch(NamedTuple):
    """An error in a node: its operator or its attributes do not allow the types of its inputs.

    `inputs` are the 0-based indices of the inputs that cause the error: one input with a wrong
    type, or two inputs whose types must be equal. `help` tells the user how to fix the node.
    """

    message: str
    inputs: tuple[int, ...]
    help: str


def bind_type_variables(
    signature: Signature, inputs: Texts, node: Node
) -> tuple[Texts, TypeMismatch | None]:
    """Bind the type variables of a schema to the input types of a node.

    Return (output types, mismatch). An output type is None if it is unknown. `mismatch` is the
    first error in the input types; None if all input types are allowed.
    """
    bound: dict[str, tuple[str, int]] = {}
    unknown = (None,) * len(node.outputs)
    for index, text in enumerate(inputs):
        formal = signature.input(index)
        if text is None or formal is None:
            continue
        allowed = signature.allowed(formal.type)
        if text not in allowed and not allows_any(allowed):
            common = sorted(allowed, key=_rarity)[:12]
            listed = ", ".join(f"`{text_spelling(item)}`" for item in sorted(common))
            ending = f" and {len(allowed) - 12} more" if len(allowed) > 12 else ""
            message = (
                f"the input `{formal.name}` of `{node.op_type}` cannot be `{text_spelling(text)}`: "
                f"it takes {listed}{ending}"
            )
            return unknown, _mismatch(message, (index,), text, allowed)
        if formal.type in signature.variables and formal.homogeneous:
            other, first = bound.setdefault(formal.type, (text, index))
            if other != text:
                one = signature.input(first)
                assert one is not None
                names = " and ".join(dict.fromkeys([f"`{one.name}`", f"`{formal.name}`"]))
                message = (
                    f"the inputs {names} of `{node.op_type}` must have the same type, but are "
                    f"`{text_spelling(other)}` and `{text_spelling(text)}`"
                )
                return unknown, _mismatch(message, (index, first), text, [other])
    output_types: list[str | None] = []
    for index in range(len(node.outputs)):
        formal = signature.output(index)
        if formal is None:
            output_types.append(None)
        elif formal.type in signature.variables:
            allowed = signature.variables[formal.type]
            bound_type = bound.get(formal.type) if formal.homogeneous else None
            only = next(iter(allowed)) if len(allowed) == 1 and not allows_any(allowed) else None
            output_types.append(bound_type[0] if bound_type else only)
        else:
            output_types.append(next(iter(signature.allowed(formal.type))))
    return tuple(output_types), None


def _mismatch(
    message: str, indices: tuple[int, ...], given: str, allowed: Iterable[str]
) -> TypeMismatch:
    castable = is_tensor(given) and any(map(is_tensor, allowed))
    help = "insert a `Cast`, or use another value" if castable else "use another value"
    return TypeMismatch(message, indices, help)


_FLOATS = "tensor(bfloat16", "tensor(double", "tensor(float"
_INTEGERS = ("tensor(int",)
_LISTS: Mapping[tuple[str, str], Mapping[str, tuple[tuple[str, ...], str]]] = {
    ("", "TfIdfVectorizer"): {
        "pool_int64s": (_INTEGERS, "integers"),
        "pool_strings": (("tensor(string",), "strings"),
    },
    ("ai.onnx.ml", "DictVectorizer"): {
        "int64_vocabulary": (("map(int64",), "maps with `int64` keys"),
        "string_vocabulary": (("map(string",), "maps with `string` keys"),
    },
    ("ai.onnx.ml", "Imputer"): {
        "imputed_value_floats": (_FLOATS, "floats"),
        "imputed_value_int64s": (_INTEGERS, "integers"),
    },
}
"""Maps (domain, operator) to list attributes; a node has exactly one of these attributes.

Each attribute has a pair (prefixes, description). With this attribute, the type of the first input
must start with one of the prefixes. Messages contain the description of these types.
"""


def attribute_mismatch(signature: Signature, inputs: Texts, node: Node) -> TypeMismatch | None:
    """Return the mismatch between the attributes of a node and the type of its first input.

    Return None if they agree, or if it is unknown whether they do.
    """
    text = inputs[0] if inputs else None
    if text is None or signature.origin:
        return None
    key = signature.domain, signature.name
    if key == ("", "Mod"):
        return _without_fmod(signature, text, node)
    lists = _LISTS.get(key)
    values = {name: attribute_value(node.attributes, name) for name in lists or ()}
    given = [name for name, value in values.items() if isinstance(value, (tuple, Floats)) and value]
    if lists is None or len(given) != 1:
        return None
    begins, described = lists[given[0]]
    if text.startswith(begins):
        return None
    message = f"`{node.op_type}` with `{given[0]}` takes {described}, not `{text_spelling(text)}`"
    return TypeMismatch(message, (0,), "correct the attribute, or use another value")


def _without_fmod(signature: Signature, text: str, node: Node) -> TypeMismatch | None:
    """Return a mismatch if a `Mod` of floats before version 28 lacks `fmod = 1`; otherwise None."""
    if signature.since >= 28 or not text.startswith(_FLOATS):
        return None
    if attribute_value(node.attributes, "fmod") not in (None, 0):
        return None
    message = f"`Mod` takes `{text_spelling(text)}` only with `fmod = 1`"
    return TypeMismatch(message, (0,), "add the attribute `fmod = 1`, or cast to integers")
