# SPDX-License-Identifier: Apache-2.0
"""Printed models are already formatted, for the fast path and for full formatting."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.format_in_full import write_document
from tests import corpus, strategies
from tests.format.laws import assert_format_laws
from tests.seeds import draws

pytestmark = pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")

LARGEST = 50_000
"""Maximum size in bytes of the models that are also formatted in full."""


def check_model(data: bytes) -> None:
    try:
        text = onnxtext.from_binary(data)
    except OnnxTextError:  # no model
        return
    assert onnxtext.format_text(text) == text
    if len(data) <= LARGEST:
        assert write_document(text) == text


@pytest.mark.parametrize("part", range(4))
def test_printed_wheel_models_are_formatted(part: int) -> None:
    for file in corpus.wheel_models()[part::4]:
        check_model((corpus.onnx_directory() / file).read_bytes())


@pytest.mark.data
@pytest.mark.parametrize("part", range(4))
def test_printed_shared_models_are_formatted(part: int) -> None:
    for file in corpus.shared_models()[part::4]:
        data = corpus.shared_model(file)
        if len(data) < 1_000_000:
            check_model(data)


@pytest.mark.thorough
@given(strategies.models(unknown_fields=False))
@settings(max_examples=draws(60), deadline=None)
def test_any_printed_model_is_formatted(data: bytes) -> None:
    text = onnxtext.from_binary(data)
    assert onnxtext.format_text(text) == text
    formatted = write_document(text)
    assert onnxtext.parse(formatted) == onnxtext.parse(text)
    assert write_document(formatted) == formatted


@pytest.mark.thorough
@given(strategies.models(unknown_fields=False))
@settings(max_examples=40, deadline=None)
def test_input_whitespace_does_not_matter(data: bytes) -> None:
    """The output does not depend on the blanks of the input."""
    text = onnxtext.from_binary(data)
    if '"""' in text or "#" in text or '\\"' in text:
        return
    parts = text.split('"')
    parts[::2] = [
        re.sub(r", |\n *", lambda found: found[0].strip(" ") + " ", p) for p in parts[::2]
    ]
    assert_format_laws('"'.join(parts))
