# SPDX-License-Identifier: Apache-2.0
"""Formatting of texts with other line breaks or spellings."""

from __future__ import annotations

import random
import re

import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format import format_text as text
from onnxtext.format.format_in_full import write_document
from onnxtext.printer import print_model
from onnxtext.syntax.grammar.lexer import load_lexer
from tests import corpus
from tests.corpus import EXAMPLES
from tests.format.laws import assert_format_laws, full_formatting
from tests.format.test_comments import example
from tests.seeds import draws


def with_random_trivia(source: str, chance: random.Random, comments: float) -> str:
    """Return a text with random blanks, line breaks, blank lines and comments between tokens."""
    parts: list[str] = []
    end = 0
    for token in load_lexer().tokens(source, 0, len(source)):
        span = source[end : token.at]
        if "#" in span:
            parts.append(span)
        elif chance.random() < comments:
            parts.append(chance.choice(("  # behind\n", "\n# above\n", "\n\n# apart\n")))
        elif span:
            parts.append(chance.choice((span, " ", "\n", "\n\n", "\n \n\n\t")))
        parts.append(str(token))
        end = token.at + len(token)
    return "".join([*parts, source[end:]])


@pytest.mark.parametrize("comments", [0, 0.01, 0.1])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_texts_with_other_line_breaks_are_formatted(file: object, comments: float) -> None:
    source = example(file.name)  # type: ignore[attr-defined]
    for seed in range(draws(8)):
        assert_format_laws(with_random_trivia(source, random.Random(seed), comments))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_texts_without_comments_become_the_printed_text(file: object) -> None:
    printed = print_model(onnxtext.parse(example(file.name)))  # type: ignore[attr-defined]
    messy = re.sub(r"\n\s*\n", "\n", with_random_trivia(printed, random.Random(1), 0))
    assert messy != printed
    assert assert_format_laws(messy) == printed


@pytest.mark.parametrize("seed", range(10))
def test_unusual_spellings_are_formatted(seed: int) -> None:
    chance = random.Random(seed)
    numbers = ("1e-05", "0.00001", "2.50", "3", "+4", "0x1p3", "1.", "inf")
    attributes = ("axis: int = 1", "axis = 1", "e: float = 1e-05", "e = 0.50", "p: ints = [1,2]")
    values = [
        f"float[2] w{index} = {{{chance.choice(numbers)}, {chance.choice(numbers)}}}"
        for index in range(12)
    ]
    nodes = [
        f'"y{index}" = Op <{", ".join(chance.sample(attributes, chance.randint(1, 3)))}> (x)'
        + chance.choice(("", "", "  # one", "\n\n"))
        for index in range(12)
    ]
    listed = ",\n".join(values)
    body = "\n".join(nodes)
    source = f"g (float x) => (float y) <{listed}> {{\n{body}\n}}\n"
    try:
        onnxtext.parse(source)
    except OnnxTextError:  # the drawn number is invalid for this type
        return
    assert_format_laws(source)


def test_official_texts_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    node = "y{} = Softmax <axis: int = -1, e: float = 1e-05> (x)\n"
    nodes = "   ".join([node.format(index) for index in range(200)])
    head = '<\n   ir_version: 8,\n   opset_import: ["" : 17]\n>\ng (float[1,2] x) => (float y)\n'
    source = f"{head}   <float[2] w =  {{1e-05,2}}>\n{{\n   {nodes}}}"
    expected = assert_format_laws(source)

    walked = full_formatting(monkeypatch, text)
    assert onnxtext.format_text(source) == expected
    assert sum(map(len, walked)) < len(source) // 10
    assert "axis: int = -1, e: float = 1e-05" in expected


@pytest.mark.data
def test_shared_models_with_other_line_breaks_are_formatted() -> None:
    chance = random.Random(5)
    files = [file for file in corpus.shared_models() if len(corpus.shared_model(file)) < 8_000]
    for file in chance.sample(files, 40):
        try:
            source = onnxtext.from_binary(corpus.shared_model(file))
        except OnnxTextError:
            continue
        assert_format_laws(with_random_trivia(source, chance, chance.choice((0, 0.02))))


LONG = "x" * 70


@pytest.mark.parametrize("data", [f'"{LONG}",\n\n "{LONG}"', '"""\na\nb\n""",\n\n"""\na\nb\n"""'])
@pytest.mark.parametrize("end", ["> {}", "> {\n\n\n y = A ()\n\n}"])
def test_blank_lines_between_long_strings_are_removed(data: str, end: str) -> None:
    source = f"g () => () <string[2] s = {{{data}}}{end}"
    formatted = assert_format_laws(source)
    assert formatted == write_document(source)
    assert onnxtext.format_text(formatted.replace(",\n    ", ",\n\n    ")) == formatted


def test_comments_between_pairs_of_external_data_keep_their_lines() -> None:
    pairs = '    "location": "w.bin",\n    # a comment\n    "checksum": "0",\n'
    source = f"# at the start\ng () => () <\n  float[4] w = [\n{pairs}  ],\n  float v,\n> {{}}\n"
    assert assert_format_laws(source) == write_document(source) == source
