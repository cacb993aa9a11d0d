# SPDX-License-Identifier: Apache-2.0
"""Escape untrusted text for terminals, and measure the width of text in columns."""

from __future__ import annotations

import unicodedata

_TAB = "    "
_REPLACEMENT = "\ufffd"
_CONTROL_PICTURES = 0x2400
_DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories of controls, invisible characters, surrogates and line endings.

Cf has the bidirectional controls, the zero-width characters and the byte order mark.
"""


def visible_char(character: str) -> str:
    """Return visible text for a character in a `_DANGEROUS` category; return others unchanged."""
    if character.isprintable():
        return character
    code = ord(character)
    if character == "\t":
        return _TAB
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "␡"
    return _REPLACEMENT if unicodedata.category(character) in _DANGEROUS else character


def escape_controls(text: str) -> str:
    """Apply `visible_char` to each character of a text, including line endings."""
    return text if text.isprintable() else "".join(map(visible_char, text))


def terminal_width(text: str) -> int:
    """Return the number of terminal columns of a text that `escape_controls` has returned."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
