# SPDX-License-Identifier: Apache-2.0
"""Text of unknown origin, made safe and measurable for terminals."""

from __future__ import annotations

import unicodedata

_TAB = "    "
_REPLACEMENT = "\ufffd"
_CONTROL_PICTURES = 0x2400
# What draws nothing, draws elsewhere or ends a line: Cf has the bidirectional controls, the
# zero-width characters and the byte order mark; Cs cannot even be encoded.
_DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(character: str) -> str:
    """A character as it may be sent to a terminal: controls become visible signs."""
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


def safe(text: str) -> str:
    """A text with all its controls visible, on one line."""
    return text if text.isprintable() else "".join(map(visible, text))


def width(text: str) -> int:
    """How many columns of a terminal a text takes that `visible` has been applied to."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
