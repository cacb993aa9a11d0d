# SPDX-License-Identifier: Apache-2.0
"""Draw random graphs that compute shapes, and run them for several sizes of each symbol."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

SIZES = ({"N": 2, "M": 3}, {"N": 5, "M": 4}, {"N": 1, "M": 6}, {"N": 4, "M": 1})
"""Sizes for which every drawn graph is valid."""
OPSET = 20
_LARGEST = 4000

Array = Any


class Drawn:
    """A graph that grows node by node; a node that fails for one of the sizes is left out.

    Attributes:
        nodes: its nodes.
        constants: its initializers.
        values: for each of `SIZES`, the arrays of all values by name.
    """

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.values: list[dict[str, Array]] = [
            {
                "x": np.ones((size["N"], size["M"], 4), np.float32),
                "m": np.ones((size["M"],), np.float32),
            }
            for size in SIZES
        ]
        self.count = 0

    def constant(self, numbers: object, kind: Any = np.int64) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(numbers, kind)
        for values in self.values:
            values[name] = self.constants[name]
        return name

    def some(self, fits: Callable[[Array], bool]) -> str | None:
        """Return the name of a value that fits for all sizes; None if no value does."""
        names = [n for n in self.values[0] if all(fits(values[n]) for values in self.values)]
        return self.choose.choice(names) if names else None

    def floats(self) -> str:
        """Return the name of a tensor of floats."""
        return self.some(lambda value: value.dtype == np.float32) or "x"

    def integers(self) -> str:
        """Return the name of an integer or a short list of integers."""
        small = self.some(lambda v: v.dtype == np.int64 and v.ndim <= 1 and v.size <= 8)
        return small or self.constant(self.choose.randint(1, 3))

    def listed(self) -> str:
        """Return the name of a short list of integers."""
        found = self.some(lambda v: v.dtype == np.int64 and v.ndim == 1 and 0 < v.size <= 6)
        return found or self.constant([2, 3])

    def add(self, op_type: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> None:
        """Add a node if it is valid for all sizes."""
        self.count += 1
        names = [f"v{self.count}_{index}" for index in range(outputs)]
        node = helper.make_node(op_type, inputs, names, **attributes)
        result = []
        for values in self.values:
            if not _is_safe(node, values):
                return
            try:
                result.append(_run(node, values))
            except Exception:  # the reference raises many classes
                return
            if any(value.size > _LARGEST or value.ndim > 6 for value in result[-1]):
                return
            if not _is_valid(node, values, result[-1]):
                return
            if any(np.abs(value).max(initial=0) > 1e6 for value in result[-1]):
                return
        self.nodes.append(node)
        for values, results in zip(self.values, result, strict=True):
            values.update(zip(names, results, strict=True))

    def model(self) -> ModelProto:
        """Return the model."""
        graph = helper.make_graph(
            self.nodes,
            "g",
            [
                helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "M", 4]),
                helper.make_tensor_value_info("m", TensorProto.FLOAT, ["M"]),
            ],
            [onnx.ValueInfoProto(name=name) for name in self.nodes[-1].output],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        for value in graph.output:
            array = self.values[0][value.name]
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            value.CopyFrom(helper.make_tensor_value_info(value.name, kind, None))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])


def _is_safe(node: NodeProto, values: dict[str, Array]) -> bool:
    """Whether the reference can run a node: no huge results or negative repeats (numpy crashes)."""
    if node.op_type not in ("ConstantOfShape", "Expand", "Pad", "Range", "Tile"):
        return True
    sizes = values[node.input[1 if len(node.input) > 1 else 0]].astype(np.float64)
    return bool(sizes.min(initial=0) >= 0 and sizes.clip(1).prod() <= _LARGEST)


def _is_valid(node: NodeProto, values: dict[str, Array], result: list[Array]) -> bool:
    """Whether a node is valid; the reference also runs some nodes that are invalid."""
    if node.op_type in ("Conv", "MaxPool"):
        return all(value.size for value in result)
    if node.op_type == "Split" and len(node.input) == 2:
        return bool(len(values[node.input[0]]) == values[node.input[1]].sum())
    if node.op_type in ("Div", "Mod"):
        return bool(values[node.input[1]].all())
    if node.op_type == "Reshape":
        return bool(values[node.input[1]].min(initial=0) >= -1)
    if node.op_type == "TopK":
        return bool(_size_along_axis(node, values, -1) >= values[node.input[1]][0])
    if node.op_type == "Gather" and values[node.input[0]].ndim > 0:
        size, indices = _size_along_axis(node, values, 0), values[node.input[1]]
        return bool(-size <= indices.min(initial=0) and indices.max(initial=-1) < size)
    if node.op_type in ("Flatten", "Gather"):
        return bool(values[node.input[0]].ndim > 0)
    if node.op_type == "Tile":
        return bool(values[node.input[0]].ndim == len(values[node.input[1]]))
    return True


def _size_along_axis(node: NodeProto, values: dict[str, Array], default: int) -> int:
    axis = next((item.i for item in node.attribute if item.name == "axis"), default)
    return int(values[node.input[0]].shape[axis])


def _run(node: NodeProto, values: dict[str, Array]) -> list[Array]:
    """Compute the outputs of a node with onnx's reference."""
    captured = [name for a in node.attribute for each in a.g.node for name in each.input]
    given = {name: values[name] for name in (*node.input, *captured) if name in values}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in given.items()
    ]
    graph = helper.make_graph(
        [node], "g", infos, [onnx.ValueInfoProto(name=name) for name in node.output]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [np.asarray(value) for value in ReferenceEvaluator(model).run(None, given)]


# ---- Nodes --------------------------------------------------------------------------------------


def _shapes(graph: Drawn) -> None:
    more = graph.choose.choice([{}, {"start": 1}, {"end": -1}, {"start": -2, "end": 3}])
    graph.add("Shape", [graph.floats()], **more)


def _size(graph: Drawn) -> None:
    graph.add("Size", [graph.floats()])


def _arithmetic(graph: Drawn) -> None:
    op_type = graph.choose.choice(["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"])
    other = graph.constant(graph.choose.randint(1, 4)) if graph.choose.random() < 0.5 else ""
    graph.add(op_type, [graph.integers(), other or graph.integers()])


def _comparison(graph: Drawn) -> None:
    op_type = graph.choose.choice(["Equal", "Less", "GreaterOrEqual", "Greater", "LessOrEqual"])
    one = graph.integers()
    other = graph.constant(graph.choose.choice([-1, 0, 1, 4]))
    graph.add(op_type, [one, other])
    truth = graph.some(lambda value: value.dtype == np.bool_)
    if truth:
        graph.add("Where", [truth, graph.integers(), one])


def _gather(graph: Drawn) -> None:
    index = graph.choose.choice([0, 1, -1, [0], [1, 0]])
    graph.add("Gather", [graph.listed(), graph.constant(index)])
    graph.add("Gather", [graph.floats(), graph.constant(index)], axis=graph.choose.choice([0, 1]))


def _slice(graph: Drawn) -> None:
    choose = graph.choose
    start, end = choose.randint(-4, 4), choose.choice([-2, -1, 1, 2, 3, 5, 1 << 62])
    step = choose.choice([1, 1, 1, 2, 3])
    one = [[start], [end], [0], [step]]
    graph.add("Slice", [graph.listed(), *map(graph.constant, one)])
    axis = choose.choice([0, 1, -1])
    graph.add("Slice", [graph.floats(), *map(graph.constant, [[start], [end], [axis], [step]])])
    bound = graph.some(lambda v: v.dtype == np.int64 and v.shape == (1,))
    if bound:
        zero = graph.constant([choose.randint(0, 2)])
        graph.add("Slice", [graph.floats(), zero, bound, graph.constant([axis])])
        graph.add("Slice", [graph.floats(), bound, graph.constant([9]), graph.constant([axis])])


def _concat(graph: Drawn) -> None:
    graph.add("Concat", [graph.listed(), graph.listed()], axis=0)
    graph.add("Concat", [graph.floats(), graph.floats()], axis=graph.choose.choice([0, 1, -1]))


def _squeeze(graph: Drawn) -> None:
    graph.add("Unsqueeze", [graph.integers(), graph.constant([0])])
    graph.add("Unsqueeze", [graph.floats(), graph.constant([graph.choose.choice([0, 1, -1])])])
    one = graph.some(lambda value: value.dtype == np.int64 and value.shape == (1,))
    if one:
        graph.add("Squeeze", [one, graph.constant([0])] if graph.choose.random() < 0.5 else [one])


def _reshape(graph: Drawn) -> None:
    choose = graph.choose
    wanted = choose.choice([[-1], [0, -1], [-1, 2], [0, 0, -1], [2, -1, 0], [-1, 4], [0, 2, -1]])
    graph.add("Reshape", [graph.floats(), graph.constant(wanted)])
    graph.add("Reshape", [graph.floats(), graph.listed()])
    graph.add("Flatten", [graph.floats()], axis=choose.choice([0, 1, -1]))
    graph.add("Reshape", [graph.listed(), graph.constant(choose.choice([[-1, 2], [2, -1], [-1]]))])


def _expand(graph: Drawn) -> None:
    graph.add("Expand", [graph.floats(), graph.listed()])
    graph.add("Expand", [graph.integers(), graph.constant([graph.choose.randint(1, 3)])])
    graph.add("Tile", [graph.floats(), graph.listed()])
    graph.add("Tile", [graph.listed(), graph.constant([2])])


def _filled(graph: Drawn) -> None:
    graph.add("ConstantOfShape", [graph.listed()])
    one = numpy_helper.from_array(np.array([graph.choose.randint(-1, 2)]))
    graph.add("ConstantOfShape", [graph.listed()], value=one)


def _range(graph: Drawn) -> None:
    end = graph.some(lambda value: value.dtype == np.int64 and value.ndim == 0)
    if end:
        start, step = graph.choose.randint(-1, 2), graph.choose.choice([1, 1, 2, -1])
        graph.add("Range", [graph.constant(start), end, graph.constant(step)])


def _reduce(graph: Drawn) -> None:
    op_type = graph.choose.choice(["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"])
    graph.add(op_type, [graph.listed()], keepdims=graph.choose.choice([0, 1]))
    axes = graph.constant([graph.choose.choice([0, 1, -1])])
    graph.add(op_type, [graph.floats(), axes], keepdims=graph.choose.choice([0, 1]))


def _split(graph: Drawn) -> None:
    axis = graph.choose.choice([0, 1, -1])
    graph.add("Split", [graph.floats()], 2, axis=axis, num_outputs=2)
    graph.add("Split", [graph.listed()], 2, axis=0, num_outputs=2)
    graph.add("Split", [graph.listed(), graph.constant([1, 2])], 2, axis=0)


def _pad(graph: Drawn) -> None:
    first = graph.some(lambda value: value.dtype == np.float32 and value.ndim == 2) or "x"
    pads = [graph.choose.randint(0, 2) for _ in range(4 if first != "x" else 6)]
    graph.add("Pad", [first, graph.constant(pads)])
    graph.add("Pad", [first, graph.listed()])
    graph.add("Pad", [graph.listed(), graph.constant([1, 2])])


def _others(graph: Drawn) -> None:
    choose = graph.choose
    count = graph.constant([choose.randint(1, 2)])
    graph.add("TopK", [graph.floats(), count], 2, axis=choose.choice([0, 1, -1]))
    graph.add("Cast", [graph.integers()], to=choose.choice([1, 6, 7]))
    graph.add("Identity", [choose.choice([graph.floats(), graph.listed()])])
    graph.add("Transpose", [graph.floats()])
    graph.add("Add", [graph.floats(), graph.floats()])
    matrix = graph.some(lambda value: value.dtype == np.float32 and value.ndim > 1) or "x"
    graph.add("MatMul", [matrix, choose.choice([matrix, "x"])])
    graph.add("Neg", [graph.integers()])
    graph.add("NonZero", [graph.floats()])


def _windows(graph: Drawn) -> None:
    choose = graph.choose
    weights = graph.constant(np.ones((2, 4, choose.randint(1, 3))), np.float32)
    graph.add("Transpose", ["x"], perm=[0, 2, 1])
    first = graph.some(lambda v: v.dtype == np.float32 and v.ndim == 3 and v.shape[1] == 4)
    pads = [choose.randint(0, 2), choose.randint(1, 2)]
    more: dict[str, Any] = {"strides": [choose.randint(1, 3)], "pads": pads}
    if first:
        graph.add("Conv", [first, weights], dilations=[choose.randint(1, 2)], **more)
        kernel = [choose.randint(2, 3)]
        graph.add("MaxPool", [first], kernel_shape=kernel, strides=more["strides"])


def _body(choose: random.Random, name: str, outputs: list[str]) -> NodeProto:
    """Return a node for a body: it keeps the shape of `name`, doubles dimension 0, or reduces."""
    op_type = choose.choice(["Identity", "Relu", "Concat", "ReduceSum"])
    given = [name, name] if op_type == "Concat" else [name]
    more: dict[str, Any] = {"axis": 0} if op_type == "Concat" else {}
    return helper.make_node(op_type, given, outputs, **more)


def _infos(kinds: dict[str, int]) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()]


def _loop(graph: Drawn) -> None:
    choose, at = graph.choose, f"l{graph.count}_"
    # The reference stacks results only if they are lists.
    flat = graph.some(lambda value: value.dtype == np.float32 and value.ndim == 1) or "m"
    carried = [graph.floats(), flat]
    i, c, a, b, d, e, f, g = [at + letter for letter in "icabdefg"]
    nodes = [
        helper.make_node("Identity", [c], [d]),
        _body(choose, a, [e]),
        _body(choose, choose.choice([a, b]), [f]),
        _body(choose, choose.choice([b, flat]), [g]),
    ]
    bool_, float_ = TensorProto.BOOL, TensorProto.FLOAT
    body = helper.make_graph(
        nodes,
        "body",
        [
            helper.make_tensor_value_info(i, TensorProto.INT64, []),
            helper.make_tensor_value_info(c, bool_, []),
            *_infos({a: float_, b: float_}),
        ],
        _infos({d: bool_, e: float_, f: float_, g: float_}),
    )
    count = graph.some(lambda v: v.dtype == np.int64 and v.ndim == 0 and 0 < v <= 4)
    trips = count or graph.constant(choose.randint(1, 3))
    graph.add("Loop", [trips, graph.constant(True, np.bool_), *carried], 3, body=body)


def _scan(graph: Drawn) -> None:
    at = f"s{graph.count}_"
    a, b, d, e = [at + letter for letter in "abde"]
    float_ = TensorProto.FLOAT
    body = helper.make_graph(
        [helper.make_node("Relu", [a], [d]), _body(graph.choose, b, [e])],
        "body",
        _infos({a: float_, b: float_}),
        _infos({d: float_, e: float_}),
    )
    graph.add("Scan", ["m", graph.floats()], 2, num_scan_inputs=1, body=body)


def _branch(graph: Drawn) -> None:
    at = f"i{graph.count}_"
    truth = graph.some(lambda v: v.dtype == np.bool_ and v.size == 1)
    # Only one branch runs, and `Concat` of scalars is invalid in the other too.
    one, other = (
        graph.some(lambda v: v.dtype == np.float32 and v.ndim > 0) or "x" for _ in range(2)
    )
    branches = [
        helper.make_graph(
            [_body(graph.choose, name, [at + part])], part, [], _infos({at + part: 1})
        )
        for name, part in ((one, "then"), (other, "else"))
    ]
    if truth:
        graph.add("If", [truth], then_branch=branches[0], else_branch=branches[1])


STEPS: tuple[Callable[[Drawn], None], ...] = (
    _shapes, _shapes, _size, _arithmetic, _arithmetic, _arithmetic, _comparison, _gather, _gather,
    _slice, _concat, _squeeze, _reshape, _reshape, _expand, _filled, _range, _reduce, _split,
    _pad, _others, _windows, _loop, _scan, _branch,
)  # fmt: skip


def drawn(choose: random.Random, steps: int) -> Drawn:
    """Return a drawn graph."""
    graph = Drawn(choose)
    graph.add("Shape", ["x"])
    for _ in range(steps):
        choose.choice(STEPS)(graph)
    return graph
