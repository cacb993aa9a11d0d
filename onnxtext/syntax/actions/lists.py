# SPDX-License-Identifier: Apache-2.0
"""Actions for lists: the grammar's list rules are left-recursive and append one item at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.grammar.lexer import Token

_BLANKS = " \t\n\v\f\r"


@action
def list_empty() -> list[Any]:
    """Return an empty list."""
    return []


@action
def list_first(item: Any) -> list[Any]:
    """Start a list: return `[item]`."""
    return [item]


@action
def list_more(items: list[Any], item: Any) -> list[Any]:
    """Append the next item to a list, and return the list."""
    items.append(item)
    return items


@action
def list_of(items: list[Any]) -> list[Any]:
    """Return the items of a bracketed list, which the parser passes without the brackets."""
    return items


def list_items(token: Token) -> Iterator[Token]:
    """Yield the items of a list that is one token, such as `[1, 2]`."""
    offset = token.at + 1
    for part in token[1:-1].split(","):
        text = part.strip(_BLANKS)
        yield Token(text, offset + part.index(text))
        offset += len(part) + 1


ACTIONS["list_more_comma"] = list_more  # the comma is optional
