# SPDX-License-Identifier: Apache-2.0
"""Fast path for short literals of plain numbers, which most initializers have.

This module does not use numpy, whose call overhead would exceed the whole conversion. For all other
literals, the result is None, and `parse_literals` reads the literal.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from struct import pack, unpack

from onnxtext.tensor.element_types import ElementType
from onnxtext.tensor.float_literals import BELOW_FLOAT32, HALFWAY

MAX_SMALL_LENGTH = 1000
"""Maximum length of a text, in characters; longer texts are read in bulk."""

_BLANK = r"[ \t\n\v\f\r]*"
_INTEGER = r"-?[0-9]{1,18}"
_NUMBER = r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:e-?[0-9]{1,3})?"


def _list_pattern(item: str) -> re.Pattern[str]:
    """Return a pattern of a flat list, given the pattern of an item; group 1 contains all items."""
    items = f"{item}(?:,{_BLANK}{item})*"
    return re.compile(rf"[\[{{]{_BLANK}({items})(?:,?{_BLANK})[\]}}]")


_INTEGERS = _list_pattern(_INTEGER)
_NUMBERS = _list_pattern(_NUMBER)
_ELEMENT = re.compile(r"[^\[\],\s]+")
_LETTERS = {8: "b", 16: "h", 32: "i", 64: "q"}
_NORMAL = 0x3810_0000_0000_0000
"""The bits of 2**-126 as float64: the smallest normal float32."""

_INFINITE = 0x7FF0_0000_0000_0000
"""The bits of infinity as float64: the result of an overflow."""


def parse_small(
    element: ElementType, text: str, count: int | None, brackets: str = "[]"
) -> bytes | None:
    """Read a flat literal of plain numbers that has at most `MAX_SMALL_LENGTH` characters.

    `count` is the number of elements that the literal must have; None allows any number. `brackets`
    are the brackets that it must have.

    Returns:
        The elements, little-endian; None if `parse_literals` must read the literal or find its
        error.
    """
    if len(text) > MAX_SMALL_LENGTH or text[:1] + text[-1:] != brackets:
        return None
    if element.kind in ("int", "uint"):
        return _integers(element, text, count)
    plain = _NUMBERS.fullmatch(text) if element.name in ("float", "double") else None
    if plain is None:
        return None
    values = list(map(float, plain[1].split(",")))
    found = len(values)
    if found != count and count is not None:
        return None
    doubles = pack(f"<{found}d", *values)
    if element.name == "double":
        return doubles if max(map(abs, values)) < float("inf") else None
    for bits in unpack(f"<{found}Q", doubles):
        # Double rounding, to float64 and then float32, is wrong only for halfway cases.
        size = bits & 0x7FFF_FFFF_FFFF_FFFF
        if bits & BELOW_FLOAT32 == HALFWAY or (size < _NORMAL and size) or size >= _INFINITE:
            return None
    try:
        return pack(f"<{found}f", *values)
    except OverflowError:
        return None


def flatten(text: str, dims: Sequence[int]) -> str | None:
    """Convert a nested literal to a flat one: `[[1, 2], [3, 4]]` to `[1,2,3,4]`.

    The literal may omit the brackets of all dimensions that are 1.

    Returns:
        The flat literal; None if `text` has more than `MAX_SMALL_LENGTH` characters, or its
        brackets do not match `dims`.
    """
    if len(text) > MAX_SMALL_LENGTH:
        return None
    found = "".join(_ELEMENT.sub("0", text).split()).replace(",]", "]")
    for shape in ([size for size in dims if size != 1], dims):
        structure = "0"
        for size in reversed(shape):
            if size > MAX_SMALL_LENGTH or size * len(structure) > MAX_SMALL_LENGTH:
                return None
            structure = f"[{','.join([structure] * size)}]"
        if found == structure:
            return f"[{','.join(_ELEMENT.findall(text))}]"
    return None


def _integers(element: ElementType, text: str, count: int | None) -> bytes | None:
    """Implement `parse_small` for integers: read a flat literal of decimal integers."""
    letter = _LETTERS.get(element.bits)
    plain = None if letter is None else _INTEGERS.fullmatch(text)
    if plain is None:
        return None
    values = list(map(int, plain[1].split(",")))
    if len(values) != count and count is not None:
        return None
    assert letter is not None
    letter = letter if element.kind == "int" else letter.upper()
    try:
        return pack(f"<{len(values)}{letter}", *values)
    except struct.error:  # a number is out of range
        return None
