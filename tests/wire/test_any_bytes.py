# SPDX-License-Identifier: Apache-2.0
"""L1, L4 and `fmt` on any bytes: a round trip, or an error with a place if they are no model."""

from __future__ import annotations

import random
import warnings

import onnx
import pytest
from google.protobuf.message import DecodeError

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from tests.corpus import onnx_directory, wheel_models
from tests.seeds import draws, fresh_seed
from tests.wire.inputs import QUIRKS, Inputs

FRESH = fresh_seed()
"""Another seed every time."""


def small_models() -> list[bytes]:
    files = [(onnx_directory() / file).read_bytes() for file in wheel_models()]
    return [data for data in files if len(data) < 4000]


def is_converted(data: bytes) -> bool:
    """Whether protobuf reads the bytes; assert that exactly these bytes survive a round trip."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*this looks like")
        try:
            onnx.ModelProto.FromString(data)
        except DecodeError:
            with pytest.raises(OnnxTextError) as caught:
                onnxtext.from_binary(data)
            assert all(item.offset is not None for item in caught.value.diagnostics)
            return False
        text = onnxtext.from_binary(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a patch that does not fit is a warning
        assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text
    return True


def sweep(seed: int, count: int) -> int:
    """Check some inputs; return how many of them are models."""
    inputs = Inputs(random.Random(seed))
    models = small_models()
    read = 0
    for index in range(count):
        data = inputs.draw(models)
        try:
            read += is_converted(data)
        except Exception as error:
            raise AssertionError(f"seed {seed}, input {index}: {data.hex()}") from error
    return read


@pytest.mark.thorough
def test_random_inputs_round_trip_or_have_a_place() -> None:
    number = draws(400)
    assert sweep(FRESH, number) > number // 2


@pytest.mark.parametrize("quirk", QUIRKS)
def test_each_quirk_round_trips_or_has_a_place(quirk: str) -> None:
    inputs = Inputs(random.Random(1), (quirk,))
    inputs.rate = 0.5
    for _ in range(8):
        is_converted(inputs.message("ModelProto"))


@pytest.mark.parametrize(
    "data",
    [
        "3a067a041a021005",  # packed dims of a sparse initializer
        "3a170a152a130a01762a0e080210062a058080808008420177",  # int32_data of 33 bits in a record
        "3a0f6a0d1209420208183203696e661200",  # a type stored twice
    ],
)
def test_inputs_that_failed_once_round_trip(data: str) -> None:
    assert is_converted(bytes.fromhex(data))
