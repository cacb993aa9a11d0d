# SPDX-License-Identifier: Apache-2.0
"""Raise the recursion limit for functions that recurse into nested texts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

PARSER_RECURSION_LIMIT = 10_000
"""A recursion limit that suffices for the deepest text that the parser reads.

The stack of the parser has at most a thousand states (`syntax.parser.lalr.MAX_PARSER_STACK`). For
each state, functions that traverse the tree need at most eight nested calls.
"""


@contextlib.contextmanager
def room_for_nesting() -> Iterator[None]:
    """Raise the recursion limit to at least `PARSER_RECURSION_LIMIT` for the `with` block.

    The old limit is restored afterwards, unless another thread set one or the stack is too deep.
    """
    before = sys.getrecursionlimit()
    if before < PARSER_RECURSION_LIMIT:
        sys.setrecursionlimit(PARSER_RECURSION_LIMIT)
    try:
        yield
    finally:
        if before < PARSER_RECURSION_LIMIT and sys.getrecursionlimit() == PARSER_RECURSION_LIMIT:
            with contextlib.suppress(RecursionError):  # the stack is deeper than the old limit
                sys.setrecursionlimit(before)
