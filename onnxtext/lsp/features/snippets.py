# SPDX-License-Identifier: Apache-2.0
"""Write the texts and snippets of completions."""

from __future__ import annotations

import re

_NAME = re.compile(r'(?:b?"(?:[^"\\]|\\.)*"|[\w.])+')
_SAME_PLACE = (frozenset("(<.:"), frozenset("=:"), frozenset("["), frozenset("{"))
"""Marks that a completion does not repeat if one of them already follows the name."""


def escaped(text: str) -> str:
    """Escape the special characters of snippets in a text (LSP, Snippet Syntax)."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def name_alone(written: str, following: str) -> str | None:
    """Return only the name of a completion if what it adds already follows the cursor; else None.

    Args:
        written: the text or snippet of the completion.
        following: the text between the cursor and the end of its line.
    """
    name = _NAME.match(written)
    added = "" if name is None else written[name.end() :].strip()[:1]
    if name is None or not added or not following:
        return None
    known = added == "$" or any({added, following[0]} <= marks for marks in _SAME_PLACE)
    return name.group() if known else None
