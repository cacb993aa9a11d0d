# SPDX-License-Identifier: Apache-2.0
"""Write nouns with a number, in the singular or plural, or with their article; write sizes."""

from __future__ import annotations

import re


def count_noun(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun: `1 byte`, `2,048 bytes`.

    Args:
        count: the number.
        noun: the noun in the singular.
        plural: the noun in the plural; None if it is `noun` with an s.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def with_article(noun: str) -> str:
    """Return a noun with `a` or `an`: `a uint8`, ``an `int8` ``, `an AttributeProto`."""
    is_vowel = re.match(r"`?(?:[aei]|o(?!ne\b)|u(?!int|ni(?!n)|se))", noun, re.IGNORECASE)
    return f"an {noun}" if is_vowel else f"a {noun}"


def size_text(count: int) -> str:
    """Format a number of bytes, rounded, in B, kB, MB or GB, such as `1.5 MB` or `120 kB`."""
    if count < 1000:
        return f"{count} B"
    unit = "kB" if count < 999_500 else "MB" if count < 999_500_000 else "GB"
    value = count / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"
