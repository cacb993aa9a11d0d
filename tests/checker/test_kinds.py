# SPDX-License-Identifier: Apache-2.0
"""Large models of few kinds of nodes: what is found does not depend on the short cut."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
from onnx import AttributeProto, GraphProto

import onnxtext
from benchmarks.check_models import OPERATORS, layered
from onnxtext.checker import kinds
from onnxtext.checker.run import find_in
from onnxtext.proto.lift import lift_model

COUNT = 400
Change = Callable[[GraphProto], object]


def _shape(graph: GraphProto, index: int) -> onnx.TensorShapeProto:
    return graph.value_info[index].type.tensor_type.shape


def _last(graph: GraphProto, operator: str) -> onnx.NodeProto:
    return [node for node in graph.node if node.op_type == operator][-1]


def _weight(graph: GraphProto) -> None:
    """Another size of a weight that one node uses."""
    name = _last(graph, "Add").input[1]
    (tensor,) = [tensor for tensor in graph.initializer if tensor.name == name]
    tensor.dims[0] = 32
    tensor.raw_data = tensor.raw_data[:128]


def _set_sizes(graph: GraphProto, *indices: int) -> None:
    for index in indices:
        _shape(graph, index).dim[0].dim_value = index


CHANGES: dict[str, tuple[Change, set[str]]] = {
    "nothing": (lambda g: None, set()),
    "an element type": (
        lambda g: setattr(g.value_info[211].type.tensor_type, "elem_type", 7),
        {"type-mismatch"},
    ),
    "a size": (lambda g: setattr(_shape(g, 211).dim[1], "dim_value", 63), {"shape-mismatch"}),
    "a rank": (lambda g: _shape(g, 211).dim.pop(), {"shape-mismatch"}),
    "a symbol": (lambda g: setattr(_shape(g, 211).dim[0], "dim_param", "other"), set()),
    "a size for a symbol": (lambda g: setattr(_shape(g, 211).dim[0], "dim_value", 8), set()),
    "two sizes for a symbol": (
        lambda g: _set_sizes(g, 211, 311),
        {"shape-mismatch"},
    ),
    "an unknown size": (lambda g: _shape(g, 211).dim[0].Clear(), set()),
    "no type": (lambda g: g.value_info.pop(211), set()),
    "an axis": (
        lambda g: setattr(_last(g, "Softmax").attribute[0], "i", 7),
        {"shape-mismatch"},
    ),
    "an attribute's type": (
        lambda g: setattr(_last(g, "Softmax").attribute[0], "type", AttributeProto.FLOAT),
        {"attribute-value-mismatch"},
    ),
    "an operator": (lambda g: setattr(_last(g, "Relu"), "op_type", "Rellu"), {"op-unknown"}),
    "a weight": (_weight, {"shape-mismatch"}),
    "an output": (
        lambda g: setattr(g.output[0].type.tensor_type.shape.dim[2], "dim_value", 5),
        {"shape-mismatch"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_other_node_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = onnx.ModelProto.FromString(layered(COUNT))
    change, wanted = CHANGES[name]
    change(model.graph)
    data = model.SerializeToString()
    found = onnxtext.check(data)
    assert {item.code for item in found if item.severity == "error"} == wanted
    monkeypatch.setattr(kinds, "_FEWEST", COUNT + 1)
    assert onnxtext.check(data) == found


def test_the_short_cut_is_taken() -> None:
    subject, found = find_in(lift_model(layered(COUNT)))
    assert not found
    assert subject.memo["fits"] == (True, True)
    assert len(OPERATORS) * kinds._ALIKE < COUNT
