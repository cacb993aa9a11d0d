# SPDX-License-Identifier: Apache-2.0
"""The pages about codes: what each means, why it matters, an example, and the example mended."""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).parent / "pages"


def codes() -> list[str]:
    """The codes that have a page, in order."""
    return sorted(path.stem for path in _PAGES.glob("*.md"))


def read_page(code: str) -> str:
    """The page about a code, in Markdown.

    Raises:
        LookupError: there is none.
    """
    if code not in codes():
        raise LookupError(code)
    return (_PAGES / f"{code}.md").read_text("utf-8")


def summary(code: str) -> str:
    """The first sentence of a page: what the code means."""
    return read_page(code).split("\n")[1]
