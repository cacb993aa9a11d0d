# SPDX-License-Identifier: Apache-2.0
"""Room on the stack for what follows the nesting of a text."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

ENOUGH = 10_000
"""Frames for the deepest text that the parser reads: a thousand unfinished constructs
(`syntax.parser.lalr.MAX_STACK`), and at most eight calls for each of them."""


@contextlib.contextmanager
def room_for_nesting() -> Iterator[None]:
    """Let functions call one another as deeply as texts may be nested.

    The limit is never lowered below what another thread may have set meanwhile.
    """
    before = sys.getrecursionlimit()
    if before < ENOUGH:
        sys.setrecursionlimit(ENOUGH)
    try:
        yield
    finally:
        if before < ENOUGH and sys.getrecursionlimit() == ENOUGH:
            with contextlib.suppress(RecursionError):  # we were called from deeper than that
                sys.setrecursionlimit(before)
