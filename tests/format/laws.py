# SPDX-License-Identifier: Apache-2.0
"""Laws of every formatted text."""

from __future__ import annotations

from types import ModuleType

import pytest

import onnxtext
from onnxtext.format.format_in_full import write_document
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.syntax.grammar.lexer import load_lexer


def comments_of(text: str) -> list[str]:
    """Return all comments of a text, except `#` in strings, as the lexer finds them."""
    lexer = load_lexer()
    found: list[str] = []
    at = 0
    while True:
        token = lexer.token(text, at)
        end = len(text) if token is None else token.at
        for line in text[at:end].split("\n"):
            if "#" in line:
                found.append(line[line.index("#") :].rstrip())
        if token is None:
            return found
        at = token.at + len(token)


def assert_format_laws(text: str) -> str:
    """Format a text, assert all laws, and return the formatted text."""
    formatted = onnxtext.format_text(text)
    assert comments_of(formatted) == comments_of(text)
    assert onnxtext.format_text(formatted) == formatted
    bare = text.removeprefix("\ufeff")
    with room_for_nesting():
        assert onnxtext.parse(formatted) == onnxtext.parse(text)
        # Formatting only changed parts gives the same text as formatting in full.
        assert write_document(bare) == formatted
        assert write_document(formatted) == formatted
    assert not formatted.startswith("\n")
    assert formatted.endswith("\n")
    assert not formatted.endswith("\n\n")
    return formatted


def full_formatting(patch: pytest.MonkeyPatch, *modules: ModuleType) -> list[str]:
    """Record the texts that these modules format in full."""
    walked: list[str] = []

    def walk(part: str) -> str:
        walked.append(part)
        return write_document(part)

    for module in modules:
        patch.setattr(module, "write_document", walk)
    return walked
