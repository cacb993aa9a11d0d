# SPDX-License-Identifier: Apache-2.0
"""Unusual but valid texts round-trip like any other."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.printer import print_fragment, print_model
from onnxtext.proto.encode.lower import lower_fragment
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment


@pytest.mark.parametrize(
    "value",
    [
        "complex64[1] w = {1, 2, 3}", "complex128[2] w = {1}", "int4[3] w = {1}",
        "int4[2] w = {1, 2, 3}", "int4[-1] w = {1}", "uint2[9] w = {1}", "float[-1] w = {1}",
        "float[5] w = {1}", "bool[1] w = {7}", "int8[1] w = {300}", "float16[1] w = {70000}",
        "int4[3] w = {}", "string[3] w = {}", "float[3] w = {}", "float w =", "float[0] w = {}",
        "float[0] w = []", "float[2, 0] w = [[], []]", "int4[0] w = {}",
    ],
)  # fmt: skip
def test_data_that_does_not_match_the_dims_round_trips(value: str) -> None:
    text = f"<onnxtext: 1> g () => () <{value}> {{}}"
    model = onnxtext.parse(text)
    printed = print_model(model)
    assert onnxtext.parse(printed) == model
    data = onnxtext.to_binary(text)
    assert onnxtext.to_binary(printed) == data
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


def test_value_infos_and_tensors_can_be_fragments() -> None:
    value = parse_fragment(Source("<onnxtext: 1> float[2] w = {1, 2}"), "value_info")
    assert list(onnx.TensorProto.FromString(lower_fragment(value)).float_data) == [1, 2]
    text = '<onnxtext: 1>\n@doc("d") float[2] t {1, 2}\n'
    tensor = parse_fragment(Source(text), "tensor")
    assert print_fragment(tensor) == text
    assert onnx.TensorProto.FromString(lower_fragment(tensor)).doc_string == "d"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("g () => (float[1] y = {1}) {}", "1:10"),
        ("g () => () {\n  y = A <\n    a = []\n  > (x)\n}", "3:5"),
        ("g () => () {\n  y = A (x)\n  z = A <a: ints = 1.5> (x)\n}", "3:20"),
        ("g () => () <float[2] w = [1, x]> {}", "1:30"),
        ("g () => () {\n  y = A (\0x)\n}", "2:10"),
    ],
)
def test_errors_are_located(text: str, place: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    assert caught.value.diagnostics[0].where() == f"<string>:{place}"


@pytest.mark.parametrize(
    "type",
    [
        "opaque(seq)", "opaque(a, map)", "opaque(seq.a)", "opaque(float)", "opaque(float.a, b)",
        "opaque(a.float)", "opaque(undefined.a.b, int4)", "seq(opaque(seq))",
        "opaque(a, undefined)",
    ],
)  # fmt: skip
def test_opaque_types_accept_any_word(type: str) -> None:
    text = f"g () => () <{type} x> {{}}"
    proto = onnxtext.loads(text, onnx.GraphProto)
    assert proto == onnx.parser.parse_graph(text)
    assert onnxtext.loads(onnxtext.dumps(proto), onnx.GraphProto) == proto
