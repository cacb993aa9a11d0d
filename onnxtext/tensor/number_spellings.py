# SPDX-License-Identifier: Apache-2.0
"""Recognize numbers in the spellings of other languages, such as `+1`, `.5`, `1_000` and `0x10`."""

from __future__ import annotations

import re
from typing import NamedTuple

from onnxtext.tensor.errors import LiteralError, quote_token

OTHER_NUMBER = re.compile(
    r"\+?(?:(?:[0-9][0-9_]*)?\.)?[0-9][0-9_]*\.?(?:[eE][-+]?[0-9]+)?[fFlLuU]*(?![A-Za-z0-9_.])"
)
"""Matches a number, also with a spelling of other languages: `.5`, `+1`, `1_000`, `1.5f`."""
_PLUS_WORD = re.compile(r"\+(?:inf|infinity|nan)", re.IGNORECASE)
_HEX = re.compile(r"-?0[xX][0-9A-Fa-f]{1,16}")  # 64 bits
_DECIMAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{0,15})?(?:[eE]\+?[0-9]{1,2})?")
_EXACT = 1 << 53
"""Doubles below this number represent whole numbers exactly."""


class OtherSpelling(NamedTuple):
    """A number in a spelling of other languages.

    Attributes:
        code: the code of the diagnostic.
        message: the problem.
        written: the number in decimal.
    """

    code: str
    message: str
    written: str


def other_spelling(text: str) -> OtherSpelling | None:
    """Return how to write a number; None for a decimal number and for text that is no number."""
    if _HEX.fullmatch(text):
        message = "a hexadecimal integer is not valid here"
        return OtherSpelling("number-hex", message, str(int(text, 16)))
    unsigned = text.removeprefix("-")
    if not OTHER_NUMBER.fullmatch(unsigned) and not _PLUS_WORD.fullmatch(text):
        return None
    plain = unsigned.lstrip("+")
    if plain[0] in ".0123456789":
        plain = plain.replace("_", "").rstrip("fFlLuU")
    if plain.startswith("."):
        plain = f"0{plain}"
    if plain == unsigned:
        return None
    code, message = _problem(unsigned)
    return OtherSpelling(code, message, text[: len(text) - len(unsigned)] + plain)


def _problem(unsigned: str) -> tuple[str, str]:
    if unsigned.startswith("."):
        return "number-without-zero", "a number must begin with a digit"
    if unsigned.startswith("+"):
        return "number-plus-sign", "a number cannot begin with a plus sign"
    if "_" in unsigned:
        return "number-separator", "a number cannot have `_` between its digits"
    return "number-suffix", "a number cannot have a suffix"


def whole_number(text: str) -> str | None:
    """Return the integer that a decimal such as `5.0` or `1e3` is; None if not whole or inexact."""
    value = float(text) if _DECIMAL.fullmatch(text) else 0.5
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT else None


def not_an_int(text: str) -> LiteralError:
    """Return the error for text that is not an integer."""
    other = other_spelling(text)
    if other is not None and other.written.lstrip("-").isdigit():
        return LiteralError(other.message, 0, len(text), code=other.code, instead=other.written)
    fix, instead = None, whole_number(text)
    if re.fullmatch(r"-[ \t\n\v\f\r].*", text):
        fix = "write the sign directly before the digits"
    elif text in ("true", "false"):
        instead = str(int(text == "true"))
    message = f"expected an integer, found {quote_token(text)}"
    return LiteralError(message, 0, len(text), fix, instead=instead)


def not_a_float(text: str, bits: int = 32) -> LiteralError:
    """Return the error for text that is not a floating-point literal.

    `bits`: the width of the format. If it is at most 16, a hexadecimal integer is valid without a
    sign, and a decimal needs a point or an exponent.
    """
    narrow = bits < 32
    other = other_spelling(text)
    if other is not None and not (narrow and other.code == "number-hex"):
        digits = text.lstrip("-")
        infinity = 0x7F800000 if bits == 32 else 0x7FF0000000000000
        if other.code == "number-hex" and infinity < int(digits, 16) < 1 << (bits - 1):
            nan = f"{text[: -len(digits)]}nan({digits})"
            help = f"write `{other.written}` for the value or `{nan}` for the bits of a nan"
            return LiteralError(other.message, length=len(text), help=help, code=other.code)
        point = ".0" if narrow and other.written.lstrip("-").isdigit() else ""
        written = other.written + point
        return LiteralError(other.message, length=len(text), code=other.code, instead=written)
    sign = r"-[ \t\n\v\f\r].*"
    fix = "write the sign directly before the digits" if re.fullmatch(sign, text) else None
    if re.fullmatch(r"-?[0-9]+(?:\.[0-9]*)?[eE][+-]?", text):
        fix = "write digits after the `e`"
    return LiteralError(f"expected a number, found {quote_token(text)}", length=len(text), help=fix)
