# SPDX-License-Identifier: Apache-2.0
"""L4: the checker handles every model, as text or binary, without an internal error."""

from __future__ import annotations

import random

import onnx
import pytest
from hypothesis import HealthCheck, example, given, settings

import onnxtext
from onnxtext import OnnxTextError
from onnxtext.io.text_or_binary import looks_binary
from onnxtext.proto.descriptors import message_spec
from tests.corpus import onnx_directory, wheel_models
from tests.seeds import draws, seeded
from tests.strategies import message, models
from tests.wire.inputs import Inputs
from tests.wire.test_corrupt_models import is_model

pytestmark = pytest.mark.thorough

quick = settings(max_examples=draws(60), deadline=None, suppress_health_check=list(HealthCheck))


def assert_checkable(data: bytes) -> None:
    if not looks_binary(data):  # a model of two bytes may be a text, such as `(` and a tab
        return
    found = onnxtext.check(data, select=["all", "style"])
    assert all(item.path is not None for item in found)
    in_text = onnxtext.check(onnxtext.from_binary(data), select=["all", "style"])
    assert all(item.span is not None for item in in_text if item.labels)
    assert {item.code for item in in_text} == {item.code for item in found}


@quick
@example(b"\xb8>\t")  # not UTF-8, although the wrong byte is near the end
@given(models())
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_any_model_can_be_checked(data: bytes) -> None:
    assert_checkable(data)


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_models_in_any_encoding_can_be_checked() -> None:
    inputs = Inputs(seeded())
    for _ in range(draws(100)):
        data = inputs.draw()
        if is_model(data):
            assert_checkable(data)


@pytest.mark.parametrize("name", ["GraphProto", "FunctionProto", "NodeProto"])
def test_any_fragment_can_be_checked(name: str) -> None:
    @quick
    @given(message(message_spec(name)))
    def check_fragment(data: bytes) -> None:
        onnxtext.check(getattr(onnx, name).FromString(data), select=["all", "style"])

    check_fragment()


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_invalid_texts_can_be_checked() -> None:
    """Check texts of real models with lines moved, repeated or deleted, and names swapped."""
    chosen = random.Random(1)
    files = [f for f in wheel_models() if (onnx_directory() / f).stat().st_size < 5_000]
    for file in files[::4]:
        lines = onnxtext.from_binary((onnx_directory() / file).read_bytes()).splitlines()
        for _ in range(draws(8)):
            changed = list(lines)
            for _ in range(chosen.randint(1, 3)):
                at, other = chosen.randrange(len(changed)), chosen.randrange(len(lines))
                changed[at : at + chosen.randint(0, 1)] = [lines[other]] * chosen.randint(0, 2)
            for item in onnxtext.check("\n".join(changed), select=["all", "style"]):
                assert item.message


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_corrupt_binaries_can_be_checked() -> None:
    chosen = random.Random(2)
    files = [f for f in wheel_models() if (onnx_directory() / f).stat().st_size < 5_000]
    for file in files[::4]:
        data = (onnx_directory() / file).read_bytes()
        for _ in range(draws(12)):
            changed = bytearray(data)
            for _ in range(chosen.randint(1, 4)):
                changed[chosen.randrange(len(changed))] = chosen.randrange(256)
            try:
                onnxtext.check(bytes(changed), select=["all", "style"])
            except OnnxTextError as error:  # pragma: no cover - a finding, not an exception
                raise AssertionError(file) from error
