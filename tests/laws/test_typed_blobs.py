# SPDX-License-Identifier: Apache-2.0
"""Typed data, and lists in attributes, as blobs in braces: `{blob"9f2c…"}` (SPEC 6.6)."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.printer import print_model
from onnxtext.printer.graphs_and_nodes import GraphPrinter

FIELDS = {
    "float_data": (1, st.floats(width=32, allow_nan=False)),
    "double_data": (11, st.floats(allow_nan=False)),
    "int32_data": (6, st.integers(-(1 << 31), (1 << 31) - 1)),
    "int64_data": (7, st.integers(-(1 << 63), (1 << 63) - 1)),
    "uint64_data": (13, st.integers(0, (1 << 64) - 1)),
    "string_data": (8, st.binary(max_size=200)),
}
LISTS = {"floats": 6, "ints": 7, "strings": 8}
ITEMS = {
    "floats": FIELDS["float_data"][1],
    "ints": FIELDS["int64_data"][1],
    "strings": FIELDS["string_data"][1],
}


@st.composite
def models(draw: st.DrawFn) -> onnx.ModelProto:
    """A model with typed data and lists of all kinds, short and long."""
    model = onnx.ModelProto(ir_version=10)
    graph = model.graph
    graph.name = "g"
    node = graph.node.add(op_type="Op", output=["y"])
    for name, (kind, items) in FIELDS.items():
        values = draw(st.lists(items, min_size=1, max_size=12))
        tensor = graph.initializer.add(name=name, data_type=kind, dims=[len(values)])
        getattr(tensor, name).extend(values)
        held = node.attribute.add(name=f"t_{name}", type=onnx.AttributeProto.TENSOR)
        held.t.CopyFrom(tensor)
    for name, kind in LISTS.items():
        attribute = node.attribute.add(name=f"l_{name}", type=kind)
        getattr(attribute, name).extend(draw(st.lists(ITEMS[name], min_size=1, max_size=12)))
    return model


@given(models(), st.sampled_from([0, 1, 4, 32]))
def test_typed_data_and_lists_round_trip(model: onnx.ModelProto, limit: int) -> None:
    data = model.SerializeToString()
    text = onnxtext.from_binary(data, inline_limit=limit)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text
    tree = onnxtext.parse(text)
    assert print_model(tree) == print_model(tree, GraphPrinter()) == text
    longest = max(len(getattr(item, item.name)) for item in model.graph.initializer)
    assert ('{blob"' in text) == (longest > limit or _longest_list(model) > limit)


def _longest_list(model: onnx.ModelProto) -> int:
    lists = model.graph.node[0].attribute[-2:]  # floats are blobs without braces
    return max(len(item.ints) + len(item.strings) for item in lists)


def test_empty_lists_round_trip_with_a_negative_limit() -> None:
    data = onnxtext.to_binary("g () => () { y = A <a: floats = [], b: ints = []> () }")
    assert onnxtext.to_binary(onnxtext.from_binary(data, inline_limit=-1)) == data


def test_limits_that_no_c_integer_holds_are_as_good_as_others() -> None:
    data = onnxtext.to_binary("g () => () { y = A <a = [1, 2], b = [3.0, 4.0]> () }")
    for huge, plain in ((-1 << 64, -1), (1 << 64, 32)):
        expected = onnxtext.from_binary(data, inline_limit=plain)
        assert onnxtext.from_binary(data, inline_limit=huge) == expected


@given(st.sampled_from([*LISTS]), st.data(), st.integers(33, 200), st.sampled_from([0, 32, 1000]))
def test_repeated_lists_round_trip(kind: str, data: st.DataObject, count: int, limit: int) -> None:
    model = onnx.ModelProto(ir_version=10)
    model.graph.name = "g"
    item = data.draw(ITEMS[kind])
    attribute = model.graph.node.add(op_type="Op", output=["y"]).attribute.add(name="a")
    attribute.type = LISTS[kind]  # type: ignore[assignment]
    getattr(attribute, kind).extend([item] * count)
    binary = model.SerializeToString()
    text = onnxtext.from_binary(binary, inline_limit=limit)
    assert (f"a: {kind}[{count}] = [" in " ".join(text.split())) == (count > limit)
    assert "blob" not in text or b"blob" in binary
    assert onnxtext.to_binary(text) == binary
    assert onnxtext.format_text(text) == text
    tree = onnxtext.parse(text)
    assert print_model(tree) == print_model(tree, GraphPrinter()) == text


@pytest.mark.parametrize(
    "value",
    [
        "a: ints[2] = [1, 2, 3, ...]",
        "a: ints[2] = [1, 2]",
        "a: int[2] = [1, ...]",
        "a: tensors[2] = [1, ...]",
        "a: ints[99999999999] = [1, ...]",
        "a: ints[2147483647] = [1, ...]",
        'a: ints[2] = ["x", ...]',
        "a: ints[2] = [1.5, ...]",
        "a: ints[-1] = [1, ...]",
        "a: ints[1, 2] = [1, ...]",
        'a: strings[5] = ["x"]',
        "a: ints[5] = [...]",
        "a = [1, ...]",
    ],
)
def test_wrong_repeated_lists_have_a_place(value: str) -> None:
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        onnxtext.to_binary(f"<onnxtext: 1>\ng () => () {{\n  y = Op <{value}> ()\n}}\n")
    assert [line for _, line in codes_and_lines(caught.value)] == [3]


@pytest.mark.parametrize("weights", ["section", "store", "safetensors", "none"])
def test_every_storage_of_weights_has_typed_blobs(weights: Any, tmp_path: Path) -> None:
    model = onnx.ModelProto(ir_version=10)
    model.opset_import.add(version=21)
    model.graph.name = "g"
    tensor = model.graph.initializer.add(name="w", data_type=7, dims=[40])
    tensor.int64_data.extend(range(40))
    file = tmp_path / "m.onnxtxt"
    onnxtext.dump(model, file, weights=weights)
    text = file.read_text(encoding="utf-8")
    assert 'int64[40] w = {blob"' in text
    if weights != "none":
        assert onnxtext.load(file) == model
        assert not onnxtext.check(text, base_dir=tmp_path)


def codes_and_lines(error: onnxtext.OnnxTextError) -> list[tuple[str, int]]:
    """The code and the line of each diagnostic."""
    return [(item.code, int(str(item).split(":")[1])) for item in error.diagnostics]


def resource(data: bytes) -> tuple[str, str]:
    """The digest and the section of some bytes."""
    digest = hashlib.sha256(data).hexdigest()[:32]
    encoded = base64.b64encode(data).decode()
    return digest, f'resources {{ "{digest}": base64 "{encoded}" }}\n'


WRONG = {
    "float[2] w": [b"123", b"1234"],
    "double[1] w": [b"1234", b""],
    "int32[1] w": [b"\x80", b"\xff" * 11, b"\xff\xff\xff\xff\x0f", b"\x01\x02"],
    "int64[2] w": [b"\x01", b"\x01\x02\x03", b"\x80\x80"],
    "uint64[1] w": [b"\x80"],
    "bool[3] w": [b"\x01"],
    "int4[3] w": [b"\x01\x02\x03\x04"],
    "string[2] w": [b"\x05a", b"\x80", b"\x80\x00", b"\xff\xff\xff\xff\xff\xff\xff"],
}


@pytest.mark.parametrize(
    ("head", "data"), [(head, data) for head, all in WRONG.items() for data in all]
)
def test_errors_in_the_bytes_of_a_blob_name_the_line(head: str, data: bytes) -> None:
    digest, section = resource(data)
    for text in (
        f'<onnxtext: 1>\ng () => () <\n  {head} = {{blob"{digest}"}},\n> {{}}\n{section}',
        f"<onnxtext: 1>\ng () => () {{\n  y = Constant <value = {head} "
        f'{{blob"{digest}"}}> ()\n}}\n{section}',
    ):
        with pytest.raises(onnxtext.OnnxTextError) as caught:
            onnxtext.to_binary(text)
        assert codes_and_lines(caught.value) == [("blob-size", 3)]
        assert "blob-size" in [item.code for item in onnxtext.check(text)]


@pytest.mark.parametrize("kind", LISTS)
def test_wrong_lists_have_a_place(kind: str) -> None:
    digest, section = resource(b"\x85")
    node = f'y = Op <a: {kind} = {{blob"{digest}"}}> ()'
    text = f"<onnxtext: 1>\ng () => () {{\n  {node}\n}}\n{section}"
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        onnxtext.to_binary(text)
    assert codes_and_lines(caught.value) == [("blob-size", 3)]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ('< float[2] w = blob"%s" > {}', "has 1 byte, but the tensor needs 8"),
        ('{ y = Op <a: ints = blob"%s"> () }', "has 1 byte, which is not a multiple of 8"),
    ],
)
def test_messages_about_blobs_of_one_byte_use_the_singular(graph: str, message: str) -> None:
    digest, section = resource(b"\x85")
    text = f"<onnxtext: 1>\ng () => () {graph % digest}\n{section}"
    with pytest.raises(onnxtext.OnnxTextError, match=message):
        onnxtext.to_binary(text)


def test_other_wrong_blobs_are_errors() -> None:
    digest, section = resource(b"\x01")
    for value, code in (
        (f'a: ints = {{blob"{"0" * 32}"}}', "blob-missing"),
        (f'a: ints = {{blob"{digest}00"}}', "blob-missing"),
        (f'a = {{blob"{digest}"}}', "attribute-type-unknown"),
        (f'a: string = {{blob"{digest}"}}', "attribute-type-mismatch"),
        (f't = undefined[1] {{blob"{digest}"}}', "syntax-error"),
    ):
        text = f"<onnxtext: 1>\ng () => () {{\n  y = Op <{value}> ()\n}}\n{section}"
        with pytest.raises(onnxtext.OnnxTextError) as caught:
            onnxtext.to_binary(text)
        assert codes_and_lines(caught.value) == [(code, 3)], value
