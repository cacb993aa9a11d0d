# SPDX-License-Identifier: Apache-2.0
"""Read the pages that explain codes: meaning, reason, an example, and the fixed example."""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).parent / "pages"


def codes() -> list[str]:
    """Return the codes that have a page, sorted."""
    return sorted(path.stem for path in _PAGES.glob("*.md"))


def read_page(code: str) -> str:
    """Return the page about a code in Markdown.

    Raises:
        LookupError: the code has no page.
    """
    if code not in codes():
        raise LookupError(code)
    return (_PAGES / f"{code}.md").read_text("utf-8")


def summary(code: str) -> str:
    """Return the first sentence of a page: the meaning of the code."""
    return read_page(code).split("\n")[1]
