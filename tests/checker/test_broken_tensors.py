# SPDX-License-Identifier: Apache-2.0
"""Tensors that onnx.checker rejects are errors in every place that can hold a tensor."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from onnx import ModelProto, SparseTensorProto, TensorProto, checker, helper
from onnx.onnx_cpp2py_export.checker import ValidationError

import onnxtext

BROKEN = {
    "two-fields": ("float_data: 1", "tensor-data-field"),
    "wrong-field": ("!double_data: 1", "tensor-data-field"),
    "no-data": ("!", "tensor-data-size"),
    "short": ("!raw_data: '123'", "tensor-data-size"),
    "negative": ("dims: -1", "tensor-dim-negative"),
    "external-inline": (
        "external_data { key: 'location' value: 'a.bin' } data_location: EXTERNAL",
        "external-location-missing",
    ),
}
"""Maps a case to the fields to add to a valid tensor, and the code of the finding.

A leading `!` removes the valid data first.
"""
PLACES = ("initializer", "value", "tensors", "sparse values", "sparse indices", "sparse list")


def broken_model(place: str, fields: str) -> ModelProto:
    element = TensorProto.INT64 if place == "sparse indices" else TensorProto.FLOAT
    tensor = helper.make_tensor("w", element, [1], b"\0" * (8 if element == 7 else 4), raw=True)
    if fields.startswith("!"):
        tensor.ClearField("raw_data")
    text_format.Parse(fields.removeprefix("!"), tensor)
    sparse = SparseTensorProto(
        values=helper.make_tensor("v", TensorProto.FLOAT, [1], [1]),
        indices=helper.make_tensor("i", TensorProto.INT64, [1], [1]),
        dims=[3],
    )
    (sparse.indices if place == "sparse indices" else sparse.values).CopyFrom(tensor)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    graph = helper.make_graph([], "g", [], [output])
    match place:
        case "initializer":
            graph.node.append(helper.make_node("Identity", ["w"], ["y"]))
            graph.initializer.append(tensor)
        case "value":
            graph.node.append(helper.make_node("Constant", [], ["y"], value=tensor))
        case "tensors":
            graph.node.append(helper.make_node("F", [], ["y"], domain="x", items=[tensor]))
        case "sparse list":
            graph.node.append(helper.make_node("F", [], ["y"], domain="x", items=[sparse]))
        case _:
            graph.node.append(helper.make_node("Constant", [], ["y"], sparse_value=sparse))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("x", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("place", PLACES)
def test_a_broken_tensor_is_found(place: str, kind: str) -> None:
    fields, code = BROKEN[kind]
    model = broken_model(place, fields)
    with pytest.raises(ValidationError):
        checker.check_model(model)
    found = onnxtext.check(model.SerializeToString())
    assert code in {item.code for item in found if item.severity == "error"}
    text = onnxtext.from_binary(model.SerializeToString())
    assert code in {item.code for item in onnxtext.check(text) if item.severity == "error"}
