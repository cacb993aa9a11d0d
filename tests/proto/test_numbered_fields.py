# SPDX-License-Identifier: Apache-2.0
"""Only fields without a match in the schema can be written by number.

The tests cover every field of every message of the schema.
"""

from __future__ import annotations

from typing import Any

import onnx
import pytest

import onnxtext
from onnxtext.ast.records import Field, FieldValue, Fixed, Number, Record
from onnxtext.proto.convert_records import lift_record, lower_record
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.descriptors import FieldSpec, message_spec, spelled_messages
from onnxtext.proto.unknown_fields import RecordError

NAMES = tuple(spelled_messages().values())
FORMS: dict[int, FieldValue] = {
    0: Number("1"),
    1: Fixed(7, 64),
    2: b"a b",
    3: Record(()),
    5: Fixed(7, 32),
}
"""A value of each wire type."""


def fields() -> list[tuple[str, FieldSpec]]:
    return [(name, f) for name in NAMES for f in message_spec(name).by_number.values()]


@pytest.mark.parametrize("wire_type", FORMS)
def test_known_fields_by_number_are_rejected(wire_type: int) -> None:
    for name, field in fields():
        spec = message_spec(name)
        record = Record((Field(field.number, FORMS[wire_type]),))
        packed = field.repeated and wire_type == 2
        if wire_type == field.wire_type or packed:
            with pytest.raises(RecordError, match=f"is `{field.name}`"):
                lower_record(spec, record)
        else:
            assert lift_record(spec, lower_record(spec, record)) == record


def test_unknown_enum_value_is_written_by_number() -> None:
    spec = message_spec("AttributeProto")
    record = Record((Field(20, Number("77")),))
    assert lift_record(spec, lower_record(spec, record)) == record


@pytest.mark.parametrize("message", ["model", "graph", "function"])
def test_unknown_fields_change_nothing_else(message: str) -> None:
    value = onnx.helper.make_tensor_value_info("x", 1, [2])
    value.metadata_props.add(key="k", value="v")
    node = onnx.helper.make_node("Relu", ["x"], ["y"], doc_string="d")
    graph = onnx.helper.make_graph([node], "g", [value], [])
    opset = onnx.helper.make_opsetid("", 21)
    function = onnx.helper.make_function("d", "f", ["x"], ["y"], [node], [opset], ["alpha"])
    model = onnx.helper.make_model(graph, opset_imports=[opset], functions=[function])
    plain = onnxtext.from_binary(model.SerializeToString())
    owner = {"model": model, "graph": model.graph, "function": model.functions[0]}[message]
    owner.MergeFromString(b"\xa2\x06\x03abc")
    data = model.SerializeToString()
    assert b"\xa2\x06\x03abc" in data
    text = onnxtext.from_binary(data)
    assert text.replace('@set(100: "abc")\n', "") == plain != text
    assert onnxtext.to_binary(text) == data


def test_unknown_fields_of_a_node_and_of_its_graph_are_separate() -> None:
    inner = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["z"])], "g", [], [])
    node = onnx.helper.make_node("If", ["c"], ["y"], then_branch=inner)
    node.MergeFromString(b"\xa2\x06\x03abc")
    node.attribute[0].g.MergeFromString(b"\xa2\x06\x03def")
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "main", [], []))
    data = model.SerializeToString()
    text = onnxtext.from_binary(data)
    assert '@set(100: "abc")' in text
    assert '@set(100: "def")' in text
    assert "attribute:" not in text
    assert onnxtext.to_binary(text) == data


def test_an_unknown_field_of_a_node_does_not_change_its_attributes() -> None:
    node = onnx.NodeProto(op_type="Op", output=["y"])
    node.attribute.add(type=2, i=3)  # without a name, it needs a record and `@unset`
    plain = onnxtext.dumps(node)
    assert '<@unset(name) "" = {' in plain
    node.MergeFromString(b"\xa2\x06\x03abc")
    assert onnxtext.dumps(node).replace('@set(100: "abc")\n', "") == plain


def test_an_unknown_field_of_a_model_is_found_without_encoding_each_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Lifter.__init__

    def create(lifter: Lifter, *, compare_items: bool, **options: Any) -> None:
        assert not compare_items
        original(lifter, compare_items=compare_items, **options)

    monkeypatch.setattr(Lifter, "__init__", create)
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], []))
    model.MergeFromString(b"\xa2\x06\x03abc")
    model.graph.MergeFromString(b"\xa2\x06\x03abc")
    data = model.SerializeToString()
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
