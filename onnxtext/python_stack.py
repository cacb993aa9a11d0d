# SPDX-License-Identifier: Apache-2.0
"""Raise the recursion limit for functions that recurse into nested texts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

ENOUGH = 10_000
"""A recursion limit for the deepest text that the parser reads: a thousand unfinished constructs
(`syntax.parser.lalr.MAX_STACK`), and at most eight calls for each of them."""


@contextlib.contextmanager
def room_for_nesting() -> Iterator[None]:
    """Raise the recursion limit for the `with` block, to allow the deepest nesting of texts.

    A limit that another thread has raised meanwhile is kept.
    """
    before = sys.getrecursionlimit()
    if before < ENOUGH:
        sys.setrecursionlimit(ENOUGH)
    try:
        yield
    finally:
        if before < ENOUGH and sys.getrecursionlimit() == ENOUGH:
            with contextlib.suppress(RecursionError):  # the stack is deeper than the old limit
                sys.setrecursionlimit(before)
