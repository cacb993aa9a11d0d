# SPDX-License-Identifier: Apache-2.0
"""L1 for all ways to store weights: random models, every element type, all real models."""

from __future__ import annotations

import tempfile
from math import prod
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext.binary_to_text import print_binary
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.wire.writer import delimited, varint
from tests.corpus import shared_model, shared_models
from tests.seeds import draws, sampled
from tests.strategies import models

BESIDE = ["store", "safetensors"]
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def there_and_back(data: bytes, directory: Path, weights: Any) -> str:
    """Print a model with all large data outside of the text, and encode it again."""
    text, beside = print_binary(
        data, directory / "m.onnxtxt", weights=weights, inline_limit=0, location="w"
    )
    if beside is not None:
        beside.write()
    assert onnxtext.to_binary(text, base_dir=directory) == data
    return text


@st.composite
def tensors(draw: st.DrawFn) -> bytes:
    """Draw a `TensorProto` of any element type with random raw data, which may be too long."""
    element = ELEMENTS[draw(st.sampled_from(sorted(ELEMENTS)))]
    dims = draw(st.lists(st.integers(0, 5), max_size=3))
    head = b"".join([b"\x08" + varint(dim) for dim in dims]) + b"\x10" + varint(element.number)
    name = delimited(b"\x42", draw(st.sampled_from([b"", b"w", b"v", b"__metadata__", b"\xff"])))
    if not element.bits:
        return head + name
    size = raw_size(element, prod(dims)) + draw(st.sampled_from([0, 0, 0, 0, 1]))
    return head + name + delimited(b"\x4a", draw(st.binary(min_size=size, max_size=size)))


@st.composite
def weighty_models(draw: st.DrawFn) -> bytes:
    """Draw a model with such tensors as initializers and in attributes, and a long string."""
    graph = b""
    for tensor in draw(st.lists(tensors(), max_size=3)):
        attribute = delimited(b"\x0a", b"value") + delimited(b"\x2a", tensor) + b"\xa0\x01\x04"
        graph += delimited(b"\x0a", delimited(b"\x22", b"Op") + delimited(b"\x2a", attribute))
    text = draw(st.binary(min_size=1, max_size=3)) * 5000
    attribute = delimited(b"\x0a", b"s") + delimited(b"\x22", text) + b"\xa0\x01\x03"
    graph += delimited(b"\x0a", delimited(b"\x22", b"Op") + delimited(b"\x2a", attribute))
    graph += delimited(b"\x12", b"g")
    graph += b"".join(
        [delimited(b"\x2a", tensor) for tensor in draw(st.lists(tensors(), max_size=6))]
    )
    return b"\x08\x0a" + delimited(b"\x3a", graph)


@pytest.mark.thorough
@pytest.mark.parametrize("weights", [*BESIDE, "section", "inline"])
@settings(max_examples=draws(120), deadline=None, suppress_health_check=SLOW)
@given(data=weighty_models())
def test_any_weights_round_trip(data: bytes, weights: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        text = there_and_back(data, Path(directory), weights)
        if weights in BESIDE:
            assert "base64" not in text
            assert f'{weights}: "w"' in text


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@pytest.mark.parametrize("weights", BESIDE)
@settings(max_examples=draws(60), deadline=None, suppress_health_check=SLOW)
@given(data=models())
def test_any_model_round_trips(data: bytes, weights: str) -> None:
    try:
        onnxtext.from_binary(data)
    except onnxtext.OnnxTextError:
        return  # not a valid model
    with tempfile.TemporaryDirectory() as directory:
        there_and_back(data, Path(directory), weights)


@pytest.mark.data
@pytest.mark.parametrize("file", sampled(shared_models(), 3))
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_shared_models_round_trip(file: str, tmp_path: Path) -> None:
    data = shared_model(file)
    for weights in BESIDE:
        (tmp_path / weights).mkdir()
        text = there_and_back(data, tmp_path / weights, weights)
        if f'{weights}: "w"' not in text:
            break  # nothing is beside the text, so the next text is the same


@settings(max_examples=draws(100), deadline=None, suppress_health_check=SLOW)
@given(data=weighty_models())
def test_externalized_models_can_be_embedded_again(data: bytes) -> None:
    """A model is unchanged after it is externalized and embedded again."""
    from onnxtext.source import Source
    from onnxtext.text_to_binary import encode
    from onnxtext.weights import external_data

    text = onnxtext.from_binary(data)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        file = external_data.ExternalFile("w.data")
        pieces = encode(onnxtext.parse(text), Source(text), external=file)
        result = b"".join(pieces)
        (directory / "w.data").write_bytes(b"".join(file.pieces()))
        again, _ = print_binary(result, None, embed_from=directory)
        assert onnxtext.to_binary(again) == data


def test_large_models_are_compared_in_pieces(tmp_path: Path) -> None:
    """Above 16 MiB pieces are not joined; unusual encodings and unknown fields are still kept."""
    size = 5_000_000
    tensor = b"\x08" + varint(size) + b"\x10\x01" + delimited(b"\x42", b"w")
    tensor += delimited(b"\x4a", bytes(range(250)) * (size * 4 // 250))
    graph = delimited(b"\x12", b"g") + delimited(b"\x2a", tensor)
    plain = b"\x08\x0a" + delimited(b"\x3a", graph)
    for data in (plain, delimited(b"\x3a", graph) + b"\x08\x0a", plain + b"\xfa\x3e\x01x"):
        there_and_back(data, tmp_path, "store")


@pytest.mark.parametrize("bits", [2, 4, 6])
@pytest.mark.parametrize("count", [3, 5, 8, 60])
def test_equal_elements_that_share_bytes_round_trip(bits: int, count: int) -> None:
    for element in ELEMENTS.values():
        if element.bits != bits:
            continue
        whole = sum(1 << bits * index for index in range(count))  # all elements are 1
        raw = whole.to_bytes(-(-bits * count // 8), "little")
        tensor = onnx.TensorProto(name="w", dims=[count], data_type=element.number, raw_data=raw)
        model = onnx.ModelProto(ir_version=14, graph=onnx.GraphProto(name="g"))
        model.graph.initializer.append(tensor)
        data = model.SerializeToString()
        text = onnxtext.from_binary(data, weights="inline")
        assert ", ...]" in text
        assert onnxtext.to_binary(text) == data
