# SPDX-License-Identifier: Apache-2.0
"""Break the text of a type into lines; the printer and the formatter share this module."""

from __future__ import annotations

import re

from onnxtext.printer.layout import STEP, WIDTH

_HEAD = re.compile(r"@?\w+[\[(]")
_STRING_OR_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[\[({\])} ,]', re.DOTALL)


def broken_type(type: str, indent: str) -> str:
    """Break a type: put each dimension or argument on its own line.

    There is no comma after the last one. Each decorator before the type has its own line; the type
    after decorators is broken only if it does not fit into `WIDTH` columns. A type without items
    in brackets, or with line breaks because of comments, is returned unchanged.
    """
    if "\n" in type:
        return type
    parts = _split(type, " ")
    if len(parts) > 1:
        return f"\n{indent}".join([_fitting_type(part, indent) for part in parts])
    head = _HEAD.match(type)  # no match for a dimension, even if it is a string with brackets
    if head is None or type[-1] not in "])" or head.end() == len(type) - 1:
        return type
    start = head.end() - 1
    inner = indent + STEP
    items = [_fitting_type(item, inner) for item in _split(type[start + 1 : -1], ",")]
    return f"{type[: start + 1]}\n{inner}{f',{chr(10)}{inner}'.join(items)}\n{indent}{type[-1]}"


def _fitting_type(type: str, indent: str) -> str:
    return type if len(indent) + len(type) < WIDTH else broken_type(type, indent)


def _split(text: str, separator: str) -> list[str]:
    """Split a type at the separators outside of brackets and strings."""
    items: list[str] = []
    depth = start = 0
    for match in _STRING_OR_MARK.finditer(text):
        mark = match[0]
        if mark in "[({":
            depth += 1
        elif mark in "])}":
            depth -= 1
        elif mark == separator and not depth:
            items.append(text[start : match.start()])
            start = match.end()
    return [item.strip(" ") for item in [*items, text[start:]]]
