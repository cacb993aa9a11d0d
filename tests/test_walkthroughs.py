# SPDX-License-Identifier: Apache-2.0
"""Pages that show work step by step: their commands run, and print what the pages show.

`python3 dev.py bless tests/test_walkthroughs.py` writes what they print into the pages.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import onnxtext
from tests.corpus import REPOSITORY
from tests.pages import blocks, infos, read
from tests.walkthrough import blocks_of, execute, filled

pytestmark = pytest.mark.thorough

WALKTHROUGHS = (
    "docs/start.md",
    "docs/tutorial.md",
    "docs/recipes.md",
    "docs/faq.md",
    "docs/shell.md",
    "docs/schemas.md",
    "docs/opsets.md",
    "docs/view.md",
    "docs/commands.md",
)

OTHER_BLOCKS = ("docs/commands.md",)
"""Pages whose blocks other than `console` belong to other tests."""


@pytest.mark.parametrize("name", WALKTHROUGHS)
def test_the_page_shows_what_happens(name: str, tmp_path: Path) -> None:
    page = read(name)
    found = blocks_of(page)
    if name in OTHER_BLOCKS:
        found = [block for block in found if block.language == "console"]
    known = {"console", "python", "text", "onnxtxt", "onnxschema"}
    assert found
    assert {block.language for block in found} <= known
    execute(found, tmp_path)
    result = filled(page, found)
    if os.environ.get("ONNXTEXT_BLESS"):
        (REPOSITORY / name).write_text(result, encoding="utf-8")
    assert result == page


@pytest.mark.parametrize("name", WALKTHROUGHS)
def test_the_texts_are_formatted_and_valid(name: str) -> None:
    for info in infos(name):
        words = info.split()
        if words[0] == "onnxtxt":
            (text,) = blocks(name, info)
            broken = words[2:] == ["broken"]
            found = [each for each in onnxtext.check(text) if each.severity == "error"]
            assert bool(found) == broken, found
            assert onnxtext.format_text(text) == text
