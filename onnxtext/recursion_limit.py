# SPDX-License-Identifier: Apache-2.0
"""Raise the recursion limit for functions that recurse into nested texts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

ENOUGH = 10_000
"""A recursion limit that suffices for the deepest text that the parser reads.

The stack of the parser has at most a thousand states (`syntax.parser.lalr.MAX_PARSER_STACK`);
functions on the tree recurse at most eight calls deep for each state.
"""


@contextlib.contextmanager
def room_for_nesting() -> Iterator[None]:
    """Raise the recursion limit to at least `ENOUGH` for the `with` block.

    The old limit is restored afterwards, unless another thread has changed the limit meanwhile.
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
