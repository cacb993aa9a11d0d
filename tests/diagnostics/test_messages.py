# SPDX-License-Identifier: Apache-2.0
"""Exact messages for common mistakes.

Run `python3 dev.py bless tests/diagnostics` to rewrite the golden files; read the difference before
you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import onnxtext
from onnxtext.checker.context.registry import rules
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.code_pages import documented_codes
from onnxtext.diagnostics.full import render
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.diagnostics.test_pages import WITH_EXAMPLE, blocks

GOLDEN = Path(__file__).parent / "golden"
TEXTS = sorted(GOLDEN.glob("*.onnxtxt"))

RULES = [
    code for code in documented_codes() if "Example" in blocks(code) and code not in WITH_EXAMPLE
]


def of_rule(code: str, directory: Path) -> list[Diagnostic]:
    """Return the findings of a rule in the example on its page, with the file it describes."""
    (directory / "w.bin").write_bytes(bytes(8))
    select = [code] if code in rules() else None
    return onnxtext.check(blocks(code)["Example"], base_dir=directory, select=select)


def of_text(text: str, name: str) -> list[Diagnostic]:
    """Return the errors of parsing."""
    return list(parse_partial(Source(text, name), "model")[1])


def compare(file: Path, found: Sequence[Diagnostic]) -> None:
    shown = "".join(render(item) + "\n" for item in found)
    assert shown
    if os.environ.get("ONNXTEXT_BLESS"):
        file.write_text(shown, encoding="utf-8")
    assert file.exists(), f"run python3 dev.py bless tests/diagnostics -k {file.stem}"
    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_messages_of_pages_equal_the_golden_files(code: str) -> None:
    compare(GOLDEN / f"{code}.txt", of_text(blocks(code)["Example"], f"{code}.onnxtxt"))


@pytest.mark.parametrize("code", RULES)
def test_messages_of_rules_equal_the_golden_files(code: str, tmp_path: Path) -> None:
    compare(GOLDEN / f"{code}.txt", of_rule(code, tmp_path))


@pytest.mark.parametrize("name", [path.name for path in TEXTS])
def test_messages_of_texts_equal_the_golden_files(name: str) -> None:
    text = (GOLDEN / name).read_text("utf-8")
    compare((GOLDEN / name).with_suffix(".txt"), of_text(text, name))
