# SPDX-License-Identifier: Apache-2.0
"""L1 and L3 for real models: bytes, AST and text round-trip."""

from __future__ import annotations

import re

import pytest

import onnxtext
from onnxtext.printer import print_model
from onnxtext.printer.layout import WIDTH
from onnxtext.printer.metadata_placement import place_metadata
from onnxtext.printer.move_weights import move_weights
from onnxtext.proto.decode.lift import lift_model
from onnxtext.proto.encode.lower import lower_model
from tests.corpus import (
    backend_cases,
    index,
    onnx_directory,
    shared_model,
    shared_models,
    wheel_models,
)
from tests.seeds import sampled


def check_laws(data: bytes) -> str:
    """Check the laws for a model, and the form of its text; return the text."""
    text = check_lossless(data)
    assert text == onnxtext.from_binary(data, weights="inline", metadata="inline")
    check_layout(text)
    return text


def check_lossless(data: bytes) -> str:
    """Check the laws for a model; return its text."""
    model = lift_model(data)
    text = print_model(model)
    assert onnxtext.to_binary(text) == data
    again = onnxtext.parse(text)
    assert again == model
    assert print_model(again) == text
    check_default(data)
    return text


def check_default(data: bytes) -> str:
    """Check the laws for the default text, with large data and metadata in sections."""
    text = onnxtext.from_binary(data)
    assert onnxtext.to_binary(text) == data
    model = lift_model(data)
    place_metadata(model)
    move_weights(model)
    again = onnxtext.parse(text)
    assert again == model
    assert print_model(again) == text
    check_layout(text)
    return text


BESIDE = 45
"""Maximum width of the rest of a line with a token that is too long, such as a key or type."""

_TRIPLES = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)
_TOKENS = re.compile(r'(?:b?"(?:[^"\\]|\\.)*": )?b?"(?:[^"\\]|\\.)*"|[^ "]+')
_STRINGS = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""|b?"(?:[^"\\]|\\.)*"', re.DOTALL)


def check_layout(text: str) -> None:
    """Check the layout rules of every canonical text."""
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\r" not in text
    bare = _STRINGS.sub('""', text)
    for line in bare.split("\n"):
        assert not line.endswith(" "), line
        assert "  " not in line.lstrip(" "), line
        assert (len(line) - len(line.lstrip(" "))) % 2 == 0, line
        assert ";" not in line
    check_widths(text)


def check_widths(text: str) -> None:
    """Check that a line is too long only for a name, a string, a pair of strings or a token."""
    for line in _TRIPLES.sub('""', text).split("\n"):
        if len(line) > WIDTH:
            bare = line.strip(" ")
            longest = max(map(len, _TOKENS.findall(bare)))
            assert len(bare) - longest <= BESIDE or len(line) - len(bare) > WIDTH // 2, line


@pytest.mark.parametrize("file", wheel_models())
def test_wheel_model(file: str) -> None:
    check_laws((onnx_directory() / file).read_bytes())


def test_the_wheel_has_all_known_models() -> None:
    assert len(wheel_models()) >= 149


@pytest.mark.thorough
@pytest.mark.data
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")  # one is a node saved as a model
@pytest.mark.parametrize("file", sampled(shared_models(), 3))
def test_shared_model(file: str) -> None:
    data = shared_model(file)
    check_laws(data)
    # Only the text of a noncanonical file records its encoding.
    model = lift_model(data)
    canonical = {entry["file"]: entry["canonical"] for entry in index("models")}
    assert bool(model.encoding or model.encoding_habits) == (not canonical[file])


@pytest.mark.data
def test_all_shared_models_exist() -> None:
    assert len(shared_models()) == 290


@pytest.mark.thorough
def test_backend_cases_round_trip() -> None:
    cases = backend_cases()
    assert len(cases) > 1000
    failed = []
    for name, data in sampled(cases, 4):
        try:
            check_laws(data)
        except Exception as error:
            failed.append((name, repr(error)))
    assert not failed


def test_lowering_does_not_change_the_model() -> None:
    data = (onnx_directory() / wheel_models()[0]).read_bytes()
    model = lift_model(data)
    assert lower_model(model) == lower_model(model) == data
    assert model == lift_model(data)
