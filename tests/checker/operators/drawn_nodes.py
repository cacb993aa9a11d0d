# SPDX-License-Identifier: Apache-2.0
"""Draw random models of one node; its shapes and attributes usually fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

OPSET = 20
Array = Any


class Draft:
    """The inputs and attributes of a node that is being drawn.

    Attributes:
        choose: draws numbers.
        inputs: (element type, shape), the array of a constant, or None for an omitted input.
        attributes: the values of the attributes by name.
        outputs: the number of outputs.
        domain: the domain of the operator.
    """

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.inputs: list[tuple[int, list[int]] | Array | None] = []
        self.attributes: dict[str, Any] = {}
        self.outputs = 1
        self.domain = ""

    def size(self) -> int:
        """Draw a size."""
        return self.choose.choice((1, 2, 3, 4, 6))

    def shape(self, least: int = 1, most: int = 4) -> list[int]:
        """Draw a shape."""
        return [self.size() for _ in range(self.choose.randint(least, most))]

    def near(self, number: int) -> int:
        """Return `number` or, in 15 % of the calls, a number near it."""
        return (
            number
            if self.choose.random() < 0.85
            else max(0, number + self.choose.choice([-1, 1, 2]))
        )

    def like(self, shape: list[int]) -> list[int]:
        """Return `shape`, sometimes with other sizes or another rank."""
        result = [self.near(size) or 1 for size in shape]
        if self.choose.random() < 0.05:
            result = [*result, 2] if self.choose.random() < 0.5 else result[1:]
        return result

    def axis(self, rank: int) -> int:
        """Draw an axis, which rarely is out of range."""
        axes: list[int] = [*range(-rank, rank), *range(rank), rank]
        return self.choose.choice(axes)

    def tensor(self, shape: list[int], kind: int = TensorProto.FLOAT) -> list[int]:
        """Add an input."""
        self.inputs.append((kind, shape))
        return shape

    def constant(self, numbers: Any, kind: Any = np.int64) -> None:
        """Add a constant input."""
        self.inputs.append(np.array(numbers, kind))

    def indices(self, shape: list[int], size: int) -> None:
        """Add constant indices below a size; one of them may be out of range."""
        drawn = np.zeros(shape)
        if drawn.size and self.choose.random() < 0.5:
            drawn.flat[self.choose.randrange(drawn.size)] = self.choose.randint(-size, size)
        self.constant(drawn)

    def model(self, op_type: str, *, symbols: bool = False) -> ModelProto:
        """Return the model of one node.

        Args:
            op_type: the operator.
            symbols: whether the first dimension of the first input is a symbol.
        """
        names, given, stored = [], [], []
        for index, item in enumerate(self.inputs):
            name = f"i{index}" if item is not None else ""
            names.append(name)
            if isinstance(item, tuple):
                shape: list[int | str] = [*item[1]]
                if symbols and not index and shape:
                    shape[0] = "N"
                given.append(helper.make_tensor_value_info(name, item[0], shape))
            elif item is not None:
                stored.append(numpy_helper.from_array(item, name))
        outputs = [f"o{index}" for index in range(self.outputs)]
        node = helper.make_node(op_type, names, outputs, domain=self.domain, **self.attributes)
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph([node], "g", given, results, stored)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 3),
                  helper.make_opsetid("com.microsoft", 1)]  # fmt: skip
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _conv(draft: Draft) -> None:
    group = draft.choose.choice([1, 1, 2])
    channels, count, rank = group * draft.size(), group * draft.size(), draft.choose.choice([1, 2])
    kernel = [draft.choose.choice([1, 2, 3]) for _ in range(rank)]
    draft.tensor(draft.like([2, channels, *[draft.choose.randint(2, 7) for _ in range(rank)]]))
    weights = draft.tensor(draft.like([draft.near(count), channels // group, *kernel]))
    if draft.choose.random() < 0.5:
        draft.tensor([draft.near(weights[0] if weights else 1)])
    draft.attributes = {"group": group, "strides": [draft.choose.randint(1, 2)] * rank}
    if draft.choose.random() < 0.5:
        draft.attributes["pads"] = [draft.choose.randint(0, 1) for _ in range(2 * rank)]
    if draft.choose.random() < 0.3:
        draft.attributes["kernel_shape"] = [draft.near(size) or 1 for size in kernel]
    if draft.choose.random() < 0.2:
        draft.attributes["auto_pad"] = draft.choose.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        draft.attributes.pop("pads", None)


def _conv_transpose(draft: Draft) -> None:
    group = draft.choose.choice([1, 1, 2])
    channels, count = group * draft.size(), draft.size()
    draft.tensor(draft.like([2, channels, draft.choose.randint(2, 5)]))
    draft.tensor(draft.like([channels, count, 2]))
    if draft.choose.random() < 0.5:
        draft.tensor([draft.near(count * group) or 1])
    draft.attributes = {"group": group, "strides": [draft.choose.randint(1, 2)]}
    if draft.choose.random() < 0.3:
        draft.attributes["output_padding"] = [draft.choose.randint(0, 1)]
    if draft.choose.random() < 0.3:
        draft.attributes["output_shape"] = [draft.choose.randint(4, 8)]


def _pool(draft: Draft) -> None:
    rank = draft.choose.choice([1, 2])
    draft.tensor(draft.like([2, 3, *[draft.choose.randint(1, 5) for _ in range(rank)]]))
    draft.attributes = {"kernel_shape": [draft.choose.randint(1, 3) for _ in range(rank)]}
    if draft.choose.random() < 0.5:
        draft.attributes["strides"] = [draft.choose.randint(1, 3)] * rank
    draft.attributes["ceil_mode"] = draft.choose.choice([0, 0, 1])


def _gemm(draft: Draft) -> None:
    rows, inner, columns = draft.size(), draft.size(), draft.size()
    one, other = draft.choose.choice([0, 1]), draft.choose.choice([0, 1])
    draft.tensor(draft.like([inner, rows] if one else [rows, inner]))
    draft.tensor(draft.like([columns, inner] if other else [inner, columns]))
    draft.attributes = {"transA": one, "transB": other}
    if draft.choose.random() < 0.7:
        bias = [[columns], [rows, columns], [1, columns], [rows, 1], [1], []]
        draft.tensor(draft.like(draft.choose.choice(bias)))


def _matmul(draft: Draft) -> None:
    batch, inner = draft.shape(0, 2), draft.size()
    left = [*batch, draft.size(), inner] if draft.choose.random() < 0.8 else [inner]
    right = [*batch[draft.choose.choice([0, 0, 1]) :], inner, draft.size()]
    draft.tensor(draft.like(left))
    draft.tensor(draft.like(right if draft.choose.random() < 0.8 else [inner]))


def _elementwise(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(0, 4))
    other = [draft.choose.choice([size, size, 1]) for size in shape]
    draft.tensor(draft.like(other[draft.choose.choice([0, 0, 1]) :]))


def _sloped(draft: Draft) -> None:
    """Draw a slope that does not enlarge the first input.

    The specification excludes such slopes; onnxruntime computes a larger output, onnx infers the
    shape of the first input.
    """
    shape = draft.tensor(draft.shape(0, 4))
    other = [draft.choose.choice([size, size, 1]) for size in shape]
    slope = draft.like(other[draft.choose.choice([0, 0, 1]) :])
    slope = slope[max(0, len(slope) - len(shape)) :]
    ends = shape[len(shape) - len(slope) :]
    draft.tensor([1 if own == 1 else size for own, size in zip(ends, slope, strict=True)])


def _where(draft: Draft) -> None:
    shape = draft.shape()
    draft.tensor(draft.like(shape), TensorProto.BOOL)
    draft.tensor(draft.like(shape[-1:]))
    draft.tensor(draft.like(shape))


def _concat(draft: Draft) -> None:
    shape = draft.shape()
    for _ in range(draft.choose.randint(1, 3)):
        draft.tensor(draft.like(shape))
    draft.attributes = {"axis": draft.axis(len(shape))}


def _reshape(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(0, 4))
    wanted = [*shape]
    draft.choose.shuffle(wanted)
    if wanted and draft.choose.random() < 0.5:
        wanted[draft.choose.randrange(len(wanted))] = draft.choose.choice([-1, -1, 0])
    if len(wanted) > 1 and draft.choose.random() < 0.3:
        wanted = [wanted[0], -1]
    wanted = [draft.near(size) if size > 0 else size for size in wanted]
    draft.constant(wanted if draft.choose.random() < 0.95 else [wanted])


def _expand(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(0, 3))
    wanted = [draft.size() if size == 1 else draft.near(size) or 1 for size in shape]
    draft.constant([*draft.shape(0, 1), *wanted])


def _tile(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 3))
    draft.constant([draft.choose.randint(1, 2) for _ in range(draft.near(len(shape)) or 1)])


def _slice(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    count = draft.choose.randint(1, len(shape))
    for low, high in ((-3, 3), (-3, 7)):
        draft.constant([draft.choose.randint(low, high) for _ in range(draft.near(count) or 1)])
    if draft.choose.random() < 0.7:
        draft.constant([draft.axis(len(shape)) for _ in range(count)])
        if draft.choose.random() < 0.5:
            draft.constant([draft.choose.choice([1, 1, 2, -1]) for _ in range(count)])


def _split(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    axis = draft.choose.randrange(len(shape))
    draft.attributes = {"axis": draft.axis(len(shape)) if draft.choose.random() < 0.2 else axis}
    draft.outputs = 2
    if draft.choose.random() < 0.5:
        first = draft.choose.randint(0, shape[axis])
        draft.constant([first, draft.near(shape[axis] - first)])
    else:
        draft.attributes["num_outputs"] = 2


def _squeeze(draft: Draft) -> None:
    shape = draft.tensor(
        [draft.choose.choice([1, 1, 2]) for _ in range(draft.choose.randint(1, 4))]
    )
    ones = [axis for axis, size in enumerate(shape) if size == 1] or [0]
    if draft.choose.random() < 0.8:
        draft.constant([draft.choose.choice(ones) if draft.choose.random() < 0.8
                        else draft.axis(len(shape))])  # fmt: skip


def _unsqueeze(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(0, 3))
    count = draft.choose.randint(1, 2)
    draft.constant([draft.axis(len(shape) + count) for _ in range(count)])


def _gather(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    axis = draft.axis(len(shape))
    draft.attributes = {"axis": axis}
    size = shape[axis] if -len(shape) <= axis < len(shape) else 1
    draft.constant(draft.choose.choice([0, [0, -1], [[draft.near(size - 1)]], -size, size - 1]))


def _gather_elements(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    axis = draft.axis(len(shape))
    draft.attributes = {"axis": axis}
    chosen = draft.like([draft.choose.randint(1, size) for size in shape])
    draft.indices(chosen, shape[axis % len(shape)])


def _gather_nd(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    chosen = [*draft.shape(0, 2), draft.choose.randint(1, len(shape) + 1)]
    draft.indices(chosen, min(shape))


def _scatter_nd(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    depth = draft.choose.randint(1, len(shape))
    chosen = draft.shape(1, 2)
    draft.indices([*chosen, depth], min(shape))
    draft.tensor(draft.like([*chosen, *shape[depth:]]))


def _scatter_elements(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    chosen = [draft.choose.randint(1, size) for size in shape]
    draft.constant(np.zeros(draft.like(chosen)))
    draft.tensor(draft.like(chosen))
    draft.attributes = {"axis": draft.axis(len(shape))}


def _top(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    axis = draft.axis(len(shape))
    draft.constant([draft.near(draft.choose.choice(shape))])
    draft.attributes = {"axis": axis}
    draft.outputs = 2


def _reduce(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 4))
    if draft.choose.random() < 0.8:
        draft.constant([draft.axis(len(shape))])
    draft.attributes = {"keepdims": draft.choose.choice([0, 1])}


def _with_axis(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    draft.attributes = {"axis": draft.axis(len(shape))}


def _transpose(draft: Draft) -> None:
    shape = draft.tensor(draft.shape())
    order = list(range(draft.near(len(shape))))
    draft.choose.shuffle(order)
    if order:  # onnx cannot write an empty list without its type
        draft.attributes = {"perm": order}


def _pad(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 3))
    draft.constant([draft.choose.choice([0, 0, 1, 2]) for _ in range(draft.near(2 * len(shape)))])
    if draft.choose.random() < 0.5:
        draft.attributes = {"mode": draft.choose.choice(["reflect", "edge", "wrap"])}


def _normalized(draft: Draft, count: int) -> None:
    channels = draft.size()
    draft.tensor([2, channels, *draft.shape(1, 2)])
    for _ in range(count):
        draft.tensor(draft.like([channels]))


def _batch_normalized(draft: Draft) -> None:
    _normalized(draft, 4)


def _instance_normalized(draft: Draft) -> None:
    _normalized(draft, 2)


def _layer_normalized(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 3))
    axis = draft.choose.choice([-1, -1, *range(-len(shape), len(shape))])
    draft.tensor(draft.like(shape[axis % len(shape) :]))
    if draft.choose.random() < 0.5:
        draft.tensor(draft.like(shape[axis % len(shape) :]))
    draft.attributes = {"axis": axis}


def _recurrent(gates: int) -> Callable[[Draft], None]:
    def draw(draft: Draft) -> None:
        steps, batch, size, hidden = draft.size(), draft.size(), draft.size(), draft.size()
        count = draft.choose.choice([1, 1, 2])
        draft.tensor(draft.like([steps, batch, size]))
        draft.tensor(draft.like([count, gates * hidden, size]))
        draft.tensor(draft.like([count, gates * hidden, hidden]))
        draft.attributes = {"hidden_size": draft.near(hidden) or 1}
        if count == 2:
            draft.attributes["direction"] = "bidirectional"
        if draft.choose.random() < 0.5:
            draft.tensor(draft.like([count, 2 * gates * hidden]))
            draft.inputs.append(None)
            draft.tensor(draft.like([count, batch, hidden]))
        draft.outputs = 2

    return draw


def _resize(draft: Draft) -> None:
    shape = draft.tensor([1, 2, *draft.shape(2, 2)])
    draft.inputs.append(None)
    if draft.choose.random() < 0.5:
        scales = [1, 1, *[draft.choose.choice([1, 2, 3]) for _ in shape[2:]]]
        draft.constant(scales[: draft.near(4)], np.float32)
    else:
        draft.inputs.append(None)
        draft.constant([1, 2, *[draft.size() for _ in shape[2:]]][: draft.near(4)])


def _blocks(draft: Draft) -> None:
    draft.tensor(draft.like([1, 4 * draft.size(), 2 * draft.size(), 2 * draft.size()]))
    draft.attributes = {"blocksize": 2}


def _quantized(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 3))
    axis = draft.axis(len(shape))
    size = shape[axis] if -len(shape) <= axis < len(shape) else 1
    count = draft.near(size) or 1
    listed = draft.choose.choice([[], [count]])
    draft.constant(np.ones(listed), np.float32)
    if draft.choose.random() < 0.5:
        draft.constant(np.ones(draft.choose.choice([listed, listed, listed, [], [1]])), np.uint8)
    draft.attributes = {"axis": axis}


def _quantized_conv(draft: Draft) -> None:
    count, channels = draft.size(), draft.size()
    draft.tensor([1, channels, 4, 4], TensorProto.UINT8)
    each = draft.choose.choice([[], [count]])
    for shape, kind in (
        ([], np.float32),
        ([], np.uint8),
        ([count, channels, 2, 2], np.uint8),
        (each, np.float32),
        (each, np.uint8),
        ([], np.float32),
        ([], np.uint8),
    ):
        other = draft.choose.choice(([], [1], [count], [count + 1]))
        rarely = len(shape) < 2 and draft.choose.random() < 0.06
        draft.constant(np.ones(other if rarely else shape), kind)


def _quantized_matmul(draft: Draft) -> None:
    batch, inner = draft.shape(0, 1), draft.size()
    for shape in ([*batch, draft.size(), inner], [inner, draft.size()]):
        draft.tensor(draft.like(shape), TensorProto.UINT8)
        draft.constant(0.5, np.float32)
        draft.constant(0, np.uint8)
    draft.constant(0.5, np.float32)
    draft.constant(0, np.uint8)


def _scaler(draft: Draft) -> None:
    shape = draft.tensor(draft.like(draft.shape(2, 2)))
    count = draft.near(shape[-1] if shape else 1) or 1
    draft.attributes = {"offset": [0.5] * count, "scale": [2.0] * count}
    draft.domain = "ai.onnx.ml"


def _linear(draft: Draft) -> None:
    shape = draft.tensor(draft.like(draft.shape(1, 2)))
    targets = draft.choose.choice([1, 2])
    size = draft.near(shape[-1] if shape else 1) or 1
    draft.attributes = {"targets": targets, "coefficients": [0.5] * (size * targets),
                        "intercepts": [0.5] * targets}  # fmt: skip
    draft.domain = "ai.onnx.ml"


def _linear_classifier(draft: Draft) -> None:
    shape = draft.tensor(draft.like(draft.shape(2, 2)))
    classes, size = draft.choose.choice([1, 2, 3]), draft.near(shape[-1] if shape else 1) or 1
    draft.attributes = {
        "coefficients": [0.5] * draft.near(size * classes),
        "intercepts": [0.5] * draft.near(classes),
        "classlabels_ints": list(range(draft.near(max(classes, 2)))),
    }
    draft.attributes = {name: value for name, value in draft.attributes.items() if value}
    draft.outputs = 2
    draft.domain = "ai.onnx.ml"


def _trees(draft: Draft) -> None:
    """Draw a root and two leaves; one entry of one list may be changed."""
    shape = draft.tensor([2, draft.near(3)])
    lists: dict[str, list[Any]] = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [draft.near(shape[-1] - 1), 0, 0], "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0], "target_nodeids": [1, 2],
        "target_ids": [0, 0], "nodes_values": [0.5, 0.0, 0.0], "target_weights": [1.0, 2.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    }  # fmt: skip
    name = draft.choose.choice(sorted(lists))
    how = draft.choose.random()
    if how < 0.1:
        lists[name] = lists[name][1:]
    elif how < 0.15:
        del lists[name]
    elif how < 0.3 and name.endswith("ids"):
        lists[name][0] = draft.choose.randint(-1, 3)
    draft.attributes = {**lists, "n_targets": 1}
    draft.domain = "ai.onnx.ml"


def _zipped(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 2))
    draft.attributes = {"classlabels_int64s": list(range(draft.near(shape[-1]) or 1))}
    draft.domain = "ai.onnx.ml"


def _one_hot_encoder(draft: Draft) -> None:
    draft.tensor(draft.shape(1, 2), TensorProto.INT64)
    draft.attributes = {"cats_int64s": [0, 1, 2][: draft.choose.randint(1, 3)]}
    draft.domain = "ai.onnx.ml"


def _same(draft: Draft) -> None:
    draft.tensor(draft.shape(1, 2))
    draft.domain = "ai.onnx.ml"


def _extractor(draft: Draft) -> None:
    shape = draft.tensor(draft.shape(1, 3))
    draft.constant([draft.near(size - 1) for size in shape[-1:]])
    draft.domain = "ai.onnx.ml"


DRAWERS: dict[str, Callable[[Draft], None]] = {
    "Add": _elementwise, "ArgMax": _with_axis, "ArrayFeatureExtractor": _extractor,
    "AveragePool": _pool, "BatchNormalization": _batch_normalized, "Binarizer": _same,
    "Concat": _concat, "Conv": _conv, "ConvTranspose": _conv_transpose, "DepthToSpace": _blocks,
    "Expand": _expand, "Flatten": _with_axis, "GRU": _recurrent(3), "Gather": _gather,
    "GatherElements": _gather_elements, "GatherND": _gather_nd, "Gemm": _gemm,
    "InstanceNormalization": _instance_normalized, "LSTM": _recurrent(4),
    "LayerNormalization": _layer_normalized, "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear, "MatMul": _matmul,
    "MaxPool": _pool, "Normalizer": _same, "OneHotEncoder": _one_hot_encoder,
    "PRelu": _sloped, "Pad": _pad, "QLinearConv": _quantized_conv,
    "QLinearMatMul": _quantized_matmul,
    "QuantizeLinear": _quantized, "RNN": _recurrent(1), "ReduceMax": _reduce, "Reshape": _reshape,
    "Resize": _resize, "Scaler": _scaler, "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd, "Slice": _slice, "Softmax": _with_axis, "SpaceToDepth": _blocks,
    "Split": _split, "Squeeze": _squeeze, "Tile": _tile, "TopK": _top, "Transpose": _transpose,
    "TreeEnsembleRegressor": _trees, "Unsqueeze": _unsqueeze, "Where": _where, "ZipMap": _zipped,
}  # fmt: skip
"""For each operator, the function that draws its inputs and attributes."""


def drawn_node(choose: random.Random, op_type: str) -> ModelProto:
    """Return a drawn model of one node."""
    draft = Draft(choose)
    DRAWERS[op_type](draft)
    return draft.model(op_type, symbols=choose.random() < 0.3)
