# SPDX-License-Identifier: Apache-2.0
"""What is said about the usual mistakes, word for word.

Run `ONNXTEXT_BLESS=1 python -m pytest tests/diagnostics` to write the golden files anew; read the
difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnxtext.diagnostics.full import render
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.diagnostics.test_pages import WITH_EXAMPLE, blocks

GOLDEN = Path(__file__).parent / "golden"
TEXTS = sorted(GOLDEN.glob("*.onnxtxt"))


def compare(file: Path, text: str) -> None:
    found = parse_partial(Source(text, file.stem + ".onnxtxt"), "model")[1]
    shown = "".join(render(item) + "\n" for item in found)
    if os.environ.get("ONNXTEXT_BLESS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_pages(code: str) -> None:
    compare(GOLDEN / f"{code}.txt", blocks(code)["Example"])


@pytest.mark.parametrize("name", [path.name for path in TEXTS])
def test_texts(name: str) -> None:
    compare((GOLDEN / name).with_suffix(".txt"), (GOLDEN / name).read_text("utf-8"))
