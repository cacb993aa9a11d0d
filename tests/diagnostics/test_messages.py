# SPDX-License-Identifier: Apache-2.0
"""What is said about the usual mistakes, word for word.

Run `ONNXTEXT_BLESS=1 python -m pytest tests/diagnostics` to write the golden files anew; read the
difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import onnxtext
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.full import render
from onnxtext.diagnostics.library import codes
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.diagnostics.test_pages import WITH_EXAMPLE, blocks

GOLDEN = Path(__file__).parent / "golden"
TEXTS = sorted(GOLDEN.glob("*.onnxtxt"))


RULES = [code for code in codes() if "Example" in blocks(code) and code not in WITH_EXAMPLE]


def compare(file: Path, text: str) -> None:
    found: Sequence[Diagnostic]
    found = parse_partial(Source(text, file.stem + ".onnxtxt"), "model")[1]
    if file.stem in RULES:
        found = onnxtext.check(text, select=[file.stem])
    shown = "".join(render(item) + "\n" for item in found)
    if os.environ.get("ONNXTEXT_BLESS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_pages(code: str) -> None:
    compare(GOLDEN / f"{code}.txt", blocks(code)["Example"])


@pytest.mark.parametrize("code", RULES)
def test_rules(code: str) -> None:
    compare(GOLDEN / f"{code}.txt", blocks(code)["Example"])


@pytest.mark.parametrize("name", [path.name for path in TEXTS])
def test_texts(name: str) -> None:
    compare((GOLDEN / name).with_suffix(".txt"), (GOLDEN / name).read_text("utf-8"))
