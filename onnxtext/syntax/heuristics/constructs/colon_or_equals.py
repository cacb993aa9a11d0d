# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for `:` in place of `=`, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator

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
            title, safe = f"write `{other}`", other == ":" or _is_certain_equals(context, token)
            yield Diagnosis(
                code, message, token.span, edits, title, safe=safe, min_tokens=min_tokens
            )


def _is_certain_equals(context: ErrorContext, colon: Token) -> bool:
    """Whether `=` certainly belongs in place of a `:`; not after `)`, before `:` or a type."""
    after = context.lexer.token(context.text, colon.end)
    called = context.text[max(0, colon.at - 10) : colon.at].rstrip().endswith(")")
    return not called and after not in {":", *ATTRIBUTE_TYPES}


_COLON_RULES = frozenset(
    ("header_entry", "metadata_item", "annotation", "training_item", "resource")
)
