# SPDX-License-Identifier: Apache-2.0
"""Write the texts and snippets of completions."""

from __future__ import annotations

import re

_NAME = re.compile(r'(?:b?"(?:[^"\\]|\\.)*"|[\w.])+')
_ALTERNATIVES = (frozenset("(<.:"), frozenset("=:"), frozenset("["), frozenset("{"))
"""Sets of characters. If the text after the cursor begins with a character of a set, a completion
adds no character of this set."""


def escape_snippet(text: str) -> str:
    """Escape the special characters of snippets in a text (LSP, Snippet Syntax)."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def name_alone(written: str, following: str) -> str | None:
    """Return the name at the start of a completion if only the name should be inserted, else None.

    `written` is the text of the completion, `following` the text after the cursor. Only the name is
    inserted if `following` already has the rest: `Relu ($1)` is cut to `Relu` before `(x)`.
    """
    name = _NAME.match(written)
    added = "" if name is None else written[name.end() :].strip()[:1]
    if name is None or not added or not following:
        return None
    is_complete = added == "$" or any({added, following[0]} <= marks for marks in _ALTERNATIVES)
    return name.group() if is_complete else None


def following_text(text: str, offset: int) -> str:
    """Return the rest of the line after an offset, without leading blanks.

    If the rest is empty, and the next nonblank line begins with `(`, `<` or `=`, return the text
    from there. The result has at most 200 characters.
    """
    rest = text[offset : offset + 200]
    line = rest.partition("\n")[0].lstrip()
    return line or (rest.lstrip() if rest.lstrip()[:1] in ("(", "<", "=") else "")
