# SPDX-License-Identifier: Apache-2.0
"""A finding about an attribute is reported at each node, though nodes may share the attribute."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, ModelProto, helper

import onnxtext
from tests.checker.models import text

TENSOR = AttributeProto.TENSOR


def model(attribute: AttributeProto, count: int = 3, ir_version: int = 10) -> ModelProto:
    nodes = [helper.make_node("Constant", [], [f"y{number}"]) for number in range(count)]
    for node in nodes:
        node.attribute.append(attribute)
    outputs = [helper.make_tensor_value_info("y0", 1, None)]
    graph = helper.make_graph(nodes, "g", [], outputs)
    return helper.make_model(
        graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", 21)]
    )


def paths(source: str | bytes, code: str) -> list[str]:
    found = [item for item in onnxtext.check(source, select=[code]) if item.code == code]
    if isinstance(source, bytes):
        return [item.path or "" for item in found]
    starts = [item.labels[0].span.start for item in found]
    return [f"graph.node[{source.count('Constant', 0, at) - 1}]" for at in starts]


@pytest.mark.parametrize(
    ("attribute", "code"),
    [
        (AttributeProto(name="value_string", type="STRING", s=b"\xff"), "attribute-string-utf8"),
        (AttributeProto(name="value_string", s=b"a"), "attribute-type-missing"),
        (AttributeProto(name="value", type=TENSOR), "attribute-value-mismatch"),
        (AttributeProto(name="value", type=TENSOR, t={"data_type": 1, "dims": [-2]}),
         "tensor-dim-negative"),
        (AttributeProto(name="value", type=TENSOR, t={"data_type": 9, "int32_data": [2]}),
         "tensor-value-range"),
    ],
)  # fmt: skip
def test_findings_are_at_each_node(attribute: AttributeProto, code: str) -> None:
    data = model(attribute).SerializeToString()
    for source in (data, onnxtext.from_binary(data)):
        nodes = [path[: len("graph.node[0]")] for path in paths(source, code)]
        assert sorted(nodes) == [f"graph.node[{number}]" for number in range(3)]


def test_joined_places_are_those_of_each_node_in_order() -> None:
    values = ["bfloat16[1] [1.0]", "bfloat16[2] [1.0, 2.0]"] * 2
    nodes = [f"c{i} = Constant <value = {value}> ()" for i, value in enumerate(values)]
    source = text("\n".join([*nodes, "y = Relu (x)"]), ir_version=3)
    for model in (source, onnxtext.to_binary(source)):
        (found,) = [item for item in onnxtext.check(model) if "`bfloat16` needs" in item.message]
        places = [source.count("Const", 0, label.span.start) - 1 for label in found.labels] or [
            int(note.partition("node[")[2][0]) for note in found.notes if "node[" in note
        ]
        assert places == [0, 1, 2, 3]
        assert [label.message for label in found.labels[1:] if label.message] == []
