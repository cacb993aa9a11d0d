# SPDX-License-Identifier: Apache-2.0
"""Lay out lists and base64 data: choose between one line and several."""

from __future__ import annotations

import binascii
from collections.abc import Iterator, Sequence

WIDTH = 100
"""The maximum width of a line; names do not count, so that renaming never reflows."""

STEP = "  "


def bracketed(
    items: Sequence[str], brackets: str, indent: str, budget: int, comma: str = ","
) -> str:
    """Return a list on one line if it fits, otherwise with one item per line.

    Args:
        items: the texts of the items; one with line breaks breaks the list.
        brackets: the opening and the closing bracket.
        indent: the indentation of the statement.
        budget: the maximum width of a list on one line.
        comma: the text after the last item of a broken list.
    """
    opening, closing = brackets[0], brackets[1]
    if not any("\n" in item for item in items):
        flat = f"{opening}{flat_items(items, closing)}{closing}"
        if len(flat) <= budget:
            return flat
    return broken(items, brackets, indent, comma)


def flat_items(items: Sequence[str], closing: str) -> str:
    """Join items on one line before a closing bracket.

    `undefined =` keeps a space before `>`, because `=>` would make it the name of a graph.
    """
    flat = ", ".join(items)
    return flat + " " if closing == ">" and flat.endswith(" undefined =") else flat


def broken(items: Sequence[str], brackets: str, indent: str, comma: str = ",") -> str:
    """Return a list with one item per line, indented by one step."""
    opening, closing = brackets[0], brackets[1]
    parts = [opening]  # many small parts, because an item may be a large tensor
    before = f"\n{indent}{STEP}"
    for item in items:
        parts += (before, item, ",")
    if items:
        parts[-1] = comma
    parts.append(f"\n{indent}{closing}")
    return "".join(parts)


def filled(items: Sequence[str], brackets: str, indent: str, budget: int, comma: str = ",") -> str:
    """Return a list on one line if it fits, otherwise in lines that are filled up to `WIDTH`.

    Args:
        items: the texts of the items; one with line breaks has lines of its own.
        brackets: the opening and the closing bracket.
        indent: the indentation of the statement.
        budget: the maximum width of a list on one line.
        comma: the text after the last item of a broken list; after `...` there is none.
    """
    opening, closing = brackets[0], brackets[1]
    if not items:
        return brackets
    if sum(map(len, items)) + 2 * len(items) <= budget:
        flat = ", ".join(items)
        if "\n" not in flat:
            return f"{opening}{flat}{closing}"
    inner = indent + STEP
    lines = f",\n{inner}".join(fill(items, WIDTH - len(inner)))
    return f"{opening}\n{inner}{lines}{'' if items[-1] == '...' else comma}\n{indent}{closing}"


def fill(items: Sequence[str], width: int) -> list[str]:
    """Return items joined to lines of at most `width` columns, each with a comma behind it."""
    lines: list[str] = []
    start = 0
    taken = 0
    several = False  # whether the line ends with an item of several lines
    for at, item in enumerate(items):
        size = len(item) + 2
        long = "\n" in item
        if at > start and (taken + size - 1 > width or long or several):
            lines.append(", ".join(items[start:at]))
            start, taken = at, 0
        taken += size
        several = long
    lines.append(", ".join(items[start:]))
    return lines


BASE64_WIDTH = 76
_BLOCK = BASE64_WIDTH // 4 * 3 << 16
"""The bytes that are printed at once, a multiple of a full line."""


def base64_lines(data: bytes | memoryview, indent: str) -> str:
    """Return bytes as base64, in indented lines of equal width."""
    return "".join(base64_parts(data, indent))


def base64_parts(data: bytes | memoryview, indent: str) -> Iterator[str]:
    """Yield the parts of `base64_lines`, which limits the memory for large data."""
    if len(data) <= _BLOCK:
        yield _base64_lines(data, indent)
        return
    view = memoryview(data)
    for at in range(0, len(data), _BLOCK):
        yield _base64_lines(view[at : at + _BLOCK], indent)


def _base64_lines(data: bytes | memoryview, indent: str) -> str:
    text = binascii.b2a_base64(data, newline=False)
    whole = len(text) // BASE64_WIDTH * BASE64_WIDTH
    lines = [indent + text[whole:].decode("ascii") + "\n"] if whole < len(text) else []
    if whole:
        lines.insert(0, _equal_lines(text[:whole], indent))
    return "".join(lines)


def _equal_lines(text: bytes, indent: str) -> str:
    if len(text) < 1 << 12:
        rows = range(0, len(text), BASE64_WIDTH)
        return "".join([f"{indent}{text[at : at + BASE64_WIDTH].decode()}\n" for at in rows])
    import numpy as np

    table = np.frombuffer(text, np.uint8).reshape(-1, BASE64_WIDTH)
    lines = np.empty((len(table), len(indent) + BASE64_WIDTH + 1), np.uint8)
    lines[:, : len(indent)] = ord(" ")
    lines[:, len(indent) : -1] = table
    lines[:, -1] = ord("\n")
    return str(lines.data, "ascii")
