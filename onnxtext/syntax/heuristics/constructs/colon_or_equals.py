# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for `:` in place of `=`, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics import Applicability
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.attribute_value_errors import ATTRIBUTE_TYPES
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    Diagnosis,
    ErrorContext,
    replace,
)

_NO_VALUE = CLOSING | {"<", "(", ","}
"""Tokens that cannot begin a value."""


def colon_or_equals(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `:` in place of `=`, and the reverse: `axis: 1` and `ir_version = 8`."""
    for token in context.nearby(3):
        if token in {":", "="}:
            other = "=" if token == ":" else ":"
            certain = token is context.token and context.expected() == ["COLON"]
            if other == ":" and not certain and not context.rules & _COLON_RULES:
                continue
            if other == "=" and context.lexer.token(context.text, token.end) in _NO_VALUE:
                continue
            text = other
            if other == "=" and not context.text[token.at - 1 : token.at].isspace():
                text = " ="
            code = "colon-for-equals" if other == "=" else "equals-for-colon"
            message = f"expected `{other}`, found `{token}`"
            edits = (replace(token, text),)
            min_tokens = 2 if token is context.token else 4
            title, safety = f"write `{other}`", _safety_of_equals(context, token, other)
            yield Diagnosis(code, message, token.span, edits, title, safety, min_tokens=min_tokens)


def _safety_of_equals(context: ErrorContext, token: Token, mark: str) -> Applicability:
    """Return the safety of replacing `token` by `mark`.

    Replacing `:` by `=` is unsafe after `)`, and before another `:` or a type.
    """
    after = context.lexer.token(context.text, token.end)
    called = context.text[max(0, token.at - 10) : token.at].rstrip().endswith(")")
    return "unsafe" if mark == "=" and (called or after in {":", *ATTRIBUTE_TYPES}) else "safe"


_COLON_RULES = frozenset(
    ("header_entry", "metadata_item", "annotation", "training_item", "resource")
)
