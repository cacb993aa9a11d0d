# SPDX-License-Identifier: Apache-2.0
"""Find out whether output goes to a terminal, and whether to color it."""

from __future__ import annotations

import os


def wants_color(choice: str, stream: object) -> bool:
    """Whether to color output to a stream.

    Args:
        choice: `always`, `never` or `auto`. `auto` colors only terminals, and only if the
            environment has neither `NO_COLOR` nor `TERM=dumb`.
        stream: the stream.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def is_terminal(stream: object) -> bool:
    """Whether a stream, which may be None or closed, is a terminal."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False
