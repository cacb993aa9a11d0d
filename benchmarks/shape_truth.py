# SPDX-License-Identifier: Apache-2.0
"""Compute the shapes of a model's values by running the model."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

Shape = tuple[int, ...]
SIZES = ((2, 3, 5, 4, 7, 6), (3, 5, 2, 7, 4, 9))
"""For each of two runs, the sizes of the symbols in the inputs, in order."""
MADE_UP = re.compile(r"unk__|_dim_\d+$|__d\d+$|\?")
"""Matches names of dimensions that tools make up."""


def runs(model: onnx.ModelProto) -> Iterator[tuple[dict[str, int], dict[str, Shape]]]:
    """Yield the sizes of symbols and the shapes of all values, for two sizes of each symbol.

    A run that fails is left out.
    """
    for sizes in SIZES:
        symbols: dict[str, int] = {}
        try:
            made = _computed(model, dict(feeds(model, sizes, symbols)))
        except Exception:  # the shapes of a model that does not run are unknown
            continue
        yield symbols, made


def feeds(
    model: onnx.ModelProto, sizes: tuple[int, ...], symbols: dict[str, int]
) -> Iterator[tuple[str, Any]]:
    """Yield inputs of the declared types.

    Args:
        model: the model.
        sizes: the sizes of its symbols, in order.
        symbols: receives the size of each symbol.
    """
    draw = np.random.default_rng(1)
    defaults = {tensor.name for tensor in model.graph.initializer}
    free = iter(sizes * 9)
    later = []
    for value in model.graph.input:
        if value.name in defaults:
            continue
        shape: list[int] = []
        for dim in value.type.tensor_type.shape.dim:
            name = dim.dim_param
            if dim.HasField("dim_value"):
                shape.append(dim.dim_value)
            elif name and not name.isidentifier() and evaluated(name, symbols) is not None:
                symbols[name] = int(evaluated(name, symbols) or 0)
                shape.append(symbols[name])
            elif name:
                if name not in symbols:
                    symbols[name] = next(free)
                shape.append(symbols[name])
            else:
                shape.append(next(free))
        later.append((value, shape))
    for value, shape in later:
        kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if kind == np.bool_:
            yield value.name, np.ones(shape, bool)
        elif kind.kind in "iu":
            yield value.name, draw.integers(0, 2, shape).astype(kind)
        elif kind.kind in "OUS":
            yield value.name, np.full(shape, "a", dtype=object)
        else:
            yield value.name, draw.random(shape).astype(kind)


def _computed(model: onnx.ModelProto, given: Mapping[str, Any]) -> dict[str, Shape]:
    try:
        return _by_runtime(model, given)
    except Exception:
        return _by_reference(model, given)


def _by_runtime(model: onnx.ModelProto, given: Mapping[str, Any]) -> dict[str, Shape]:
    onnxruntime = import_module("onnxruntime")
    onnxruntime.set_default_logger_severity(4)
    more = onnx.ModelProto()
    more.CopyFrom(model)
    known = {value.name for value in more.graph.output}
    names = [name for node in more.graph.node for name in node.output if name]
    more.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        more.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    outputs = [value.name for value in session.get_outputs()]
    made = session.run(outputs, dict(given))
    return _shapes(dict(zip(outputs, made, strict=True)))


def _by_reference(model: onnx.ModelProto, given: Mapping[str, Any]) -> dict[str, Shape]:
    with np.errstate(all="ignore"):
        made = ReferenceEvaluator(model).run(None, dict(given), intermediate=True)
    return _shapes(dict(made))


def _shapes(values: Mapping[str, Any]) -> dict[str, Shape]:
    return {name: value.shape for name, value in values.items() if isinstance(value, np.ndarray)}


# ---- Expressions --------------------------------------------------------------------------------


def _least(*values: float) -> float:
    return min(values)


def _most(*values: float) -> float:
    return max(values)


FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": _least,
    "Min": _least,
    "max": _most,
    "Max": _most,
    "floor": lambda value: value // 1,
    "ceiling": lambda value: -(-value // 1),
    "ceil": lambda value: -(-value // 1),
    "Mod": lambda value, other: value % other,
}
"""The functions that occur in dimensions of onnxtext and of sympy."""


def names_in(text: str) -> set[str] | None:
    """Return the symbols of a dimension; None if it is no expression."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return None
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - FUNCTIONS.keys()


def evaluated(text: str, symbols: Mapping[str, int]) -> float | None:
    """Return the size of a symbolic dimension; None if it is unknown."""
    if text in symbols:
        return symbols[text]
    names = names_in(text)
    if names is None or not names <= symbols.keys():
        return None
    try:
        found = eval(text, {"__builtins__": {}}, {**FUNCTIONS, **symbols})
    except ArithmeticError:
        return None
    return float(found)
