# SPDX-License-Identifier: Apache-2.0
"""Write a number with its noun in the singular or plural."""

from __future__ import annotations


def count_noun(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun: `1 byte`, `2,048 bytes`.

    Args:
        count: the number.
        noun: the noun in the singular.
        plural: the noun in the plural; None if it is `noun` with an s.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
