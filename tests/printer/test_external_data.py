# SPDX-License-Identifier: Apache-2.0
"""External data as `external("file", offset, length)`: short where that is lossless."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast.model import Graph, Model, ValueInfo
from onnxtext.ast.tensors_and_attributes import ExternalData
from onnxtext.ast.types import TensorType
from onnxtext.printer.models import print_model

_KEYS = st.sampled_from(["location", "offset", "length", "checksum", "", "Location", "é"])
_NUMBERS = st.sampled_from(
    ["0", "4096", "9" * 30, "00", "-1", "+1", " 1", "1 ", "", "0x1", "١", "1.0"]
)
_PATHS = st.sampled_from(["w.bin", "", 'a "b"\\c', "a\nb", "\udcff.bin", "dir/é", "\x00"])
_VALUES = _NUMBERS | _PATHS | st.text(st.characters(codec="utf-8"), max_size=5)
_USUAL = st.tuples(_PATHS, _NUMBERS, _NUMBERS).map(
    lambda values: tuple(zip(("location", "offset", "length"), values, strict=True))
)
ENTRIES = st.lists(st.tuples(_KEYS, _VALUES), min_size=1, max_size=4).map(tuple) | st.builds(
    lambda entries, size: entries[:size], _USUAL, st.integers(1, 3)
)


@given(ENTRIES)
def test_every_entry_is_kept(entries: tuple[tuple[str, str], ...]) -> None:
    data = ExternalData(entries)
    value = ValueInfo("w", TensorType("float", (2,)), data)
    text = print_model(Model(Graph("g", values=[value])))
    assert onnxtext.format_text(text) == text
    found = onnxtext.parse(text)
    assert isinstance(found, Model)
    assert found.graph.values == [value]
    numbers = [text for _, text in entries[1:]]
    usual = [key for key, _ in entries] == ["location", "offset", "length"][: len(entries)]
    plain = all(text.isascii() and text.isdigit() and str(int(text)) == text for text in numbers)
    assert (" external(" in text) == (usual and plain)


def test_references_in_a_model_round_trip() -> None:
    model = onnx.ModelProto()
    for name, length in (("w", "8"), ("v", "08")):
        tensor = model.graph.initializer.add(name=name, dims=[2], data_type=1)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "big.onnx.data"), ("offset", "0"), ("length", length)):
            tensor.external_data.add(key=key, value=value)
    node = model.graph.node.add(op_type="Constant", output=["y"])
    attribute = node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR)
    attribute.t.CopyFrom(model.graph.initializer[0])
    binary = model.SerializeToString()
    text = onnxtext.from_binary(binary)
    assert '  float[2] w = external("big.onnx.data", 0, 8),\n' in text
    assert '"length": "08"]' in text
    assert '<value = float[2] w external("big.onnx.data", 0, 8)>' in text
    assert onnxtext.to_binary(text) == binary


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        ('externl("f", 0, 8)', 1, "`externl` is not a field of a tensor"),
        ('external("f", 0, 08)', 18, "the length of external data must be an integer"),
        ('external("f", -1, 8)', 15, "the offset of external data must be an integer"),
        ('external("f", 0x10)', 15, "the offset of external data must be an integer"),
        ("external(0, 8)", 10, "the first argument of external data must be the name of its file"),
        (
            'external("f", 0, 8, 9)',
            21,
            "external data takes at most a location, an offset and a length",
        ),
        (
            'external("f", 0, 8) float_data{1}',
            21,
            "a tensor with external data cannot have other data",
        ),
        ('external("f", , 8)', 15, "expected a number"),
        ('external("f" 0)', 14, "expected `,` or `)`"),
    ],
)
def test_wrong_references_are_located_errors(data: str, place: int, message: str) -> None:
    start = "g () => () <float[2] w = "
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        onnxtext.parse(f"{start}{data}, float[1] v = [0]> {{}}")
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.span is not None
    assert found.span.start + 1 - len(start) == place
