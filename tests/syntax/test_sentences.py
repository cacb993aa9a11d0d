# SPDX-License-Identifier: Apache-2.0
"""L4: random sentences of the grammar and their mutations parse, or give errors with spans."""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path

import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from tests.corpus import EXAMPLES
from tests.seeds import draws, fresh_seed
from tests.syntax.sentences import Sentences

FRESH = fresh_seed()
"""A fresh seed in every run."""
ROOT = Path(__file__).resolve().parent.parent.parent


def real_texts() -> list[str]:
    """Return the examples and the blocks of the language reference."""
    texts = [path.read_text("utf-8") for path in EXAMPLES]
    spec = (ROOT / "grammar" / "SPEC.md").read_text("utf-8")
    return texts + re.findall(r"```onnxtxt[^\n]*\n(.*?)```", spec, re.DOTALL)


def is_accepted(text: str) -> bool:
    """Whether a text is valid; check the spans of errors and the round trip of models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = onnxtext.parse(text)
        except OnnxTextError as error:
            assert_placed(error, text)
            return False
        try:
            data = onnxtext.to_binary(text)
        except OnnxTextError as error:
            assert_placed(error, text)
        else:
            assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
        del model
    return True


def assert_placed(error: OnnxTextError, text: str) -> None:
    for item in error.diagnostics:
        assert item.span is not None, item
        assert 0 <= item.span.start <= item.span.end <= len(text), item


def sweep(seed: int, count: int) -> int:
    """Check some texts and count the valid ones."""
    sentences, texts = Sentences(random.Random(seed)), real_texts()
    right = 0
    for index in range(count):
        text = sentences.draw(texts)
        try:
            right += is_accepted(text)
        except Exception as error:
            raise AssertionError(f"seed {seed}, text {index}: {text}") from error
    return right


@pytest.mark.thorough
def test_sentences_parse_or_have_located_errors() -> None:
    number = draws(600)
    assert sweep(FRESH, number) > number // 10


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "g (float[@foo() 3] x) => () {}",
        "g (float[@denotation() ?] x) => () {}",
        "g (seq(@meta() float) x) => () {}",
        "g () => () { float[@set(a: 1) 2] y = Op () }",
        "g () => () { y = Op <a = @doc(1) seq(float)> () }",
        "g () => () {} f (x) => (y) <float[@foo() 3] z> {}",
        "g () => () <@foo() sparse_tensor(float[1]) w = sparse(float[1] [1], int64[1] [0])> {}",
        f'g () => () {{}} encoding {{ canonical: "{DIGEST}" patch: 5 }}',
        f'g () => () {{}} encoding {{ canonical: "{DIGEST}" patch: "" patch: "" }}',
        'g () => () {} encoding { canonical: "x" patch: "" }',
        "g () => () {} encoding { canonical: [] patch: {} }",
    ],
)
def test_errors_that_once_had_no_span_have_one(text: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary(text)
    assert_placed(caught.value, text)
