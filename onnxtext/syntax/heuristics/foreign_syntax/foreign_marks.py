# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for punctuation of other languages, such as `;` after a statement."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    Diagnosis,
    ErrorContext,
    replace,
    rewritten,
)

_FOREIGN_MARKS = (
    ("->", "=>"), ("->", "="), ("=>", "="), ("=>", ":"), (":=", "="), ("==", "="), ("<-", "="),
)  # fmt: skip


def foreign_marks(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `->` for `=>`, `%x` for `x`, and `=>`, `:=`, `<-` and `==` for `=`."""
    text, offset = context.text, context.at
    if context.token in {"=", ">"} and "_ARROW" in context.expected():
        message = f"expected `=>`, found `{context.token}`"
        yield rewritten("wrong-mark", message, context.token.span, "=>", safe=True, min_tokens=2)
    for wrong, right in _FOREIGN_MARKS:
        places = (offset, offset - 1, context.previous_end - 2)
        start = next((place for place in places if text.startswith(wrong, max(place, 0))), None)
        if start is not None:
            before = "=" if wrong == "=>" and text[start - 1 : start] == "=" else ""  # `==>`
            if before and right != "=":
                continue
            span = Span(start - len(before), start + 2)
            message = f"expected `{right}`, found `{before}{wrong}`"
            value = context.lexer.token(text, span.end)
            is_missing = right == "=" and (value is None or value in {*CLOSING, ","})
            yield rewritten("wrong-mark", message, span, right, safe=not is_missing, min_tokens=2)
    if context.token is not None and context.token in {"%", "$"}:
        message = f"a name cannot have the prefix `{context.token}`"
        title = f"remove the `{context.token}`"
        prefixes = tuple(_without_prefix(context, t) for t in context.rest if t == context.token)
        numbers = any(edit.text for edit in prefixes) or "INT" in context.expected()
        for some in (prefixes, prefixes[:1]):
            yield Diagnosis(
                "wrong-mark",
                message,
                context.token.span,
                some,
                title,
                safe=not numbers,
                min_tokens=4,
            )


def _without_prefix(context: ErrorContext, prefix: Token) -> Edit:
    """Return the edit that removes the prefix of `%x`; it also quotes the number in `%0`."""
    name = context.lexer.token(context.text, prefix.end)
    if name is None or name.at > prefix.end or context.name(name) != "INT":
        return replace(prefix, "")
    return Edit(Span(prefix.at, name.end), f'"{name}"')
