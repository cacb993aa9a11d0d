# SPDX-License-Identifier: Apache-2.0
"""Nested graphs and types become a model that protobuf reads, or are rejected."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import onnx
import pytest
from google.protobuf.message import DecodeError, Message

import onnxtext
from onnxtext import editing
from onnxtext.wire.writer import END_GROUP, GROUP, tag

TYPES = {
    "sequence": "sequence_type.elem_type",
    "map": "map_type.value_type",
    "optional": "optional_type.elem_type",
}
GRAPHS = {"graph": "node.attribute.g", "list": "node.attribute.graphs"}
PLACES = {
    "graph.input.type": TYPES,
    "graph.value_info.type": TYPES,
    "graph.node.attribute.tp": TYPES,
    "graph.node.attribute.type_protos": TYPES,
    "graph.node.attribute.g.output.type": TYPES,
    "functions.attribute_proto.tp": TYPES,
    "training_info.algorithm.value_info.type": TYPES,
    "graph": GRAPHS,
    "training_info.initialization": GRAPHS,
    "functions.node.attribute.g": GRAPHS,
}
"""For each path of fields to a message, the paths that can repeat inside it."""

_A = onnx.AttributeProto
ATTRIBUTE_TYPES = {
    "g": _A.GRAPH,
    "graphs": _A.GRAPHS,
    "tp": _A.TYPE_PROTO,
    "type_protos": _A.TYPE_PROTOS,
}


def child(message: Message, name: str) -> Message:
    """Add a message to a field, and the other fields that the syntax needs; return it."""
    if isinstance(message, onnx.AttributeProto):
        message.name, message.type = "a", ATTRIBUTE_TYPES[name]
    elif isinstance(message, onnx.TypeProto.Map):
        message.key_type = onnx.TensorProto.INT64
    elif isinstance(message, onnx.NodeProto):
        message.op_type = "Op"
    field = getattr(message, name)
    if hasattr(field, "add"):
        result: Message = field.add()
        return result
    field.SetInParent()
    return field  # type: ignore[no-any-return]


def model_of_depth(depth: int, place: str, part: str, end: Sequence[str], groups: int) -> bytes:
    """Return a model whose innermost message has `depth` messages around it."""
    model = onnx.ModelProto(ir_version=10)
    message: Message = model
    names = place.split(".")
    step = PLACES[place][part].split(".")
    while len(names) + len(step) + len(end) + groups <= depth:
        names += step
    for name in (*names, *end):
        message = child(message, name)
    if isinstance(message, onnx.TypeProto.Tensor):
        message.elem_type = onnx.TensorProto.FLOAT
    groups = depth - len(names) - len(end)
    message.MergeFromString(tag(99, GROUP) * groups + tag(99, END_GROUP) * groups)
    return model.SerializeToString()


def is_readable(data: bytes) -> bool:
    """Whether protobuf can read a model."""
    try:
        onnx.ModelProto.FromString(data)
    except DecodeError:
        return False
    return True


ENDS = {"type": ["tensor_type"], "shape": ["tensor_type", "shape", "dim"], "nothing": []}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("place", PLACES)
def test_limit(place: str, end: str) -> None:
    """`from_binary` reads what protobuf reads, and `to_binary` writes it again."""
    fields = ENDS[end] if PLACES[place] is TYPES else []
    for part in PLACES[place]:
        for depth in range(98, 103):
            for groups in (0, 1, 60):
                data = model_of_depth(depth, place, part, fields, groups)
                assert is_readable(data) == (depth <= 100)
                if depth <= 100:
                    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
                else:
                    with pytest.raises(onnxtext.OnnxTextError, match="more than 100 levels"):
                        onnxtext.from_binary(data)


RECORDS = {
    "@set(99: {}) <ir_version: 10> g () => () {{}}": 1,
    'g () => () {{}} configuration "c" {{99: {}}}': 2,
    "@set(99: {}) g () => () {{}}": 2,
    "g () => () {{ @set(99: {}) = Op () }}": 3,
    "g () => () {{ = Op <a = {{99: {}}}> () }}": 4,
    "g (@type.set(99: {}) float x) => () {{}}": 4,
    "g (float[@set(99: {}) N] x) => () {{}}": 7,
    "g (seq(@set(99: {}) float) x) => () {{}}": 6,
}
"""For each text, how many messages and groups enclose the contents of a record at `{}`."""


@pytest.mark.parametrize("text", RECORDS)
def test_limit_of_records(text: str) -> None:
    """`to_binary` writes a record if protobuf can read it, and rejects it otherwise."""
    for depth in (*range(98, 103), 150, 250):
        record = "{}"
        for _ in range(depth - RECORDS[text]):
            record = f"{{99: {record}}}"
        if depth <= 100:
            data = onnxtext.to_binary(text.format(record))
            assert is_readable(data)
            assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
        else:
            with pytest.raises(onnxtext.OnnxTextError, match="more than 100 levels"):
                onnxtext.to_binary(text.format(record))


@pytest.mark.parametrize("text", RECORDS)
def test_diff_of_deep_records_has_no_internal_error(text: str) -> None:
    """`diff` rejects records that protobuf cannot read, or compares them."""
    record = "{99: " * 120 + "{}" + "}" * 120
    with contextlib.suppress(onnxtext.OnnxTextError):
        assert onnxtext.diff(text.format(record), text.format("{}"))


@pytest.mark.parametrize("text", RECORDS)
def test_deep_records_are_shown(text: str) -> None:
    """`show` prints every record that the parser reads."""
    record = "{99: " * 250 + "{}" + "}" * 250
    assert str(onnxtext.show(text.format(record))).count("99:") >= 250


@pytest.mark.parametrize("graphs", [1, 12, 20, 22, 25, 31, 33])
@pytest.mark.parametrize("types", [1, 8, 12, 19, 20, 21, 48, 50])
def test_nested_models_are_readable_or_rejected(graphs: int, types: int) -> None:
    type = "seq(" * (types - 1) + "float[N]" + ")" * (types - 1)
    text = f"g ({type} x) => ({type} y) {{}}"
    for _ in range(graphs - 1):
        text = f"g () => () {{ y = If <b = {text}> () }}"
    if 3 * graphs + 2 * types > 75:
        with contextlib.suppress(onnxtext.OnnxTextError):
            assert onnx.ModelProto.FromString(onnxtext.to_binary(text)).HasField("graph")
    else:
        assert onnx.ModelProto.FromString(onnxtext.to_binary(text)).HasField("graph")


def test_types_nest_at_most_49_levels() -> None:
    def graph(levels: int) -> str:
        return f"g ({'seq(' * levels}float[N]{')' * levels} x) => () {{}}"

    assert onnxtext.parse(graph(49)).graph.inputs[0].name == "x"
    with pytest.raises(onnxtext.OnnxTextError, match="more than 49 levels"):
        onnxtext.parse(graph(50))


@pytest.mark.parametrize("part", ["ModelProto", "GraphProto", "NodeProto"])
def test_errors_of_deep_messages_have_no_offset(part: str) -> None:
    """Protobuf writes messages that it does not read; a message of Python has no offsets."""
    model = onnx.ModelProto()
    graph = model.graph
    for _ in range(60):
        graph = graph.node.add(op_type="If").attribute.add(name="then_branch", type="GRAPH").g
    message = {"GraphProto": model.graph, "NodeProto": model.graph.node[0]}.get(part, model)
    for use in (onnxtext.dumps, lambda given: onnxtext.diff(given, given)):
        with pytest.raises(onnxtext.OnnxTextError) as error:
            use(message)
        assert_deep(error.value.diagnostics)
    assert_deep(onnxtext.check(message))


def assert_deep(diagnostics: Sequence[onnxtext.Diagnostic]) -> None:
    (diagnostic,) = diagnostics
    assert (diagnostic.code, diagnostic.file) == ("too-deep", "<message>")
    assert diagnostic.offset is None
    assert "byte" not in str(diagnostic)


def test_the_deepest_records_are_shown_edited_and_merged() -> None:
    """Text may be nested deeper than messages, and deeper than Python's recursion limit."""
    depth = 320
    fields = "{100: " * depth + "1" + "}" * depth
    text = (
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
        f"@set(100: {fields})\ng (float x) => (float y) {{ y = Relu (x) }}\n"
    )
    assert "y = Relu (x)" in str(onnxtext.show(text, graph="g"))
    assert onnxtext.rewrite(text, onnxtext.parse(text)) == text
    edited = editing.apply(text, lambda model: editing.rename(model, "x", "z")).content
    assert edited == text.replace("x)", "z)").replace("float x", "float z")
    result = onnxtext.merge(text.replace("Relu", "Abs"), text, text.replace("Relu", "Neg"))
    assert result.conflicts == 1
    assert "nested too deeply; merged line by line" in result.notes[0]
