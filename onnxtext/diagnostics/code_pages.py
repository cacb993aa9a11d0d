# SPDX-License-Identifier: Apache-2.0
"""Read the pages that explain diagnostic codes: meaning, reason, example, fixed example."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PAGES = Path(__file__).parent / "pages"


@cache
def documented_codes() -> tuple[str, ...]:
    """Return the diagnostic codes that have a page, sorted."""
    return tuple(sorted(path.stem for path in _PAGES.glob("*.md")))


def read_page(code: str) -> str:
    """Return the page of a diagnostic code, in Markdown.

    Raises:
        LookupError: the code has no page.
    """
    if code not in documented_codes():
        raise LookupError(code)
    return (_PAGES / f"{code}.md").read_text("utf-8")


def page_summary(code: str) -> str:
    """Return the meaning of a diagnostic code: the second line of its page.

    Raises:
        LookupError: the code has no page.
    """
    return read_page(code).split("\n")[1]
