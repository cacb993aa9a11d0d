# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for wrong punctuation: `->`, `:=` and `==`, `%x`, `:` for `=`, `.` for `,`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.attribute_value_errors import ATTRIBUTE_TYPES
from onnxtext.syntax.heuristics.constructs.node_errors import in_attributes
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, Safe, rewritten
from onnxtext.syntax.heuristics.error_context import CLOSING, ErrorContext, begins_line, replace

_FOREIGN_MARKS = (
    ("->", "=>"), ("->", "="), ("=>", "="), ("=>", ":"), (":=", "="), ("==", "="), ("<-", "="),
)  # fmt: skip
_LIKE_ARROW = re.compile(r"=[^\w\s\"()]{1,2}")
_NAME = re.compile(r'[^\W\d]|"')
_OPERATOR_OF_MLIR = re.compile(r'(?:[^"#=\n]|"[^"\n]*")*= *(onnx\.)(?=\w)')
_DOMAIN_ONNX = re.compile(r'onnx(?<![\w.]onnx)(?:"| *[:,>])')  # begins with a literal: fast
_BEFORE_NAME = frozenset("(<[{,=:")
_NO_VALUE = CLOSING | {"<", "(", ","}
"""Tokens that cannot begin a value."""
_POINT = re.compile(r"\d+(\.)[ \t\r]*(?:#[^\n]*)?\n")


def spaced_arrow(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `= >` and `>=` in place of `=>`."""
    if context.token not in {"=", ">"} or "_ARROW" not in context.expected():
        return
    assert context.token is not None
    following = context.ahead[0] if context.ahead else None
    if following is not None and {context.token, following} == {"=", ">"}:
        span = Span(context.at, following.end)
        message = f"expected `=>`, found `{context.text[slice(*span)]}`"
        yield rewritten("wrong-mark", message, span, "=>", safe=True)


def foreign_marks(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose marks of other languages, such as `->` for `=>`, `:=` for `=` and `%x` for `x`.

    Also diagnose `=` or `>` alone in place of `=>`.
    """
    text, offset = context.text, context.at
    if context.token in {"=", ">"} and "_ARROW" in context.expected():
        message = f"expected `=>`, found `{context.token}`"
        yield rewritten("wrong-mark", message, context.token.span, "=>", safe=True, min_tokens=2)
        if (match := _LIKE_ARROW.match(text, offset)) is not None:
            message, span = f"expected `=>`, found `{match[0]}`", Span(*match.span())
            yield rewritten("wrong-mark", message, span, "=>", min_tokens=2)
    for wrong, right in _FOREIGN_MARKS:
        places = (offset, offset - 1, context.previous_end - 2)
        start = next((place for place in places if text.startswith(wrong, max(place, 0))), None)
        if start is not None:
            before = "=" if wrong == "=>" and text[start - 1 : start] == "=" else ""  # `==>`
            if (before and right != "=") or (
                right == "=" and not context.done and begins_line(text, start)
            ):
                continue
            span = Span(start - len(before), start + 2)
            message = f"expected `{right}`, found `{before}{wrong}`"
            value = context.lexer.token(text, span.end)
            safe: Safe = right != "=" or (value is not None and value not in {*CLOSING, ","})
            # In `to:= @p`, the type may be missing; in `values=> outputs`, `=>` may be a comma.
            listed = right == ":" and "COMMA" in context.expected()
            doubtful = value is not None and (value.isidentifier() if listed else value[0] == "@")
            if safe and doubtful and (listed or wrong == ":="):
                safe = "evident"
            yield rewritten("wrong-mark", message, span, right, safe=safe, min_tokens=2)
    prefixed = not text[offset - 1 : offset].isalnum()  # not as in `5%`
    if context.token is not None and context.token in {"%", "$"} and prefixed:
        kind = "number" if "INT" in context.expected() else "name"
        message = f"a {kind} cannot have the prefix `{context.token}`"
        span, title = context.token.span, f"remove the `{context.token}`"
        edits, certain = list[Edit](), kind == "name"
        tokens = [*(context.done[-1:] or [context.token]), *context.rest]
        for before, mark in pairwise(tokens):
            if mark == context.token:
                edits.append(_without_prefix(context, mark))
                # In `(x, $)`, the mark may stand for a name.
                alone = before in _BEFORE_NAME and _NAME.match(text, mark.end) is None
                certain = certain and not (alone or edits[-1].text)
        start = context.token.at if context.first is None else context.first.at
        operator = _OPERATOR_OF_MLIR.match(text, start)
        if operator is not None and not _DOMAIN_ONNX.search(text):  # MLIR writes the default domain
            edits.append(Edit(Span(*operator.span(1)), ""))
        for some in (tuple(edits), tuple(edits[:1])):
            yield Diagnosis("wrong-mark", message, span, some, title, safe=certain, min_tokens=4)


def _without_prefix(context: ErrorContext, prefix: Token) -> Edit:
    """Return the edit that removes the prefix of `%x`; it also quotes the name in `%0`."""
    name = context.lexer.token(context.text, prefix.end)
    beside = name is not None and name.at == prefix.end and context.name(name) == "INT"
    if name is None or not beside or "INT" in context.expected():
        return replace(prefix, "")
    return Edit(Span(prefix.at, name.end), f'"{name}"')


def colon_or_equals(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `:` in place of `=`, and the reverse: `axis: 1` and `ir_version = 8`."""
    for token in context.nearby(3):
        if token in {":", "="}:
            around = context.text[token.at - 1 : token.at], context.text[token.end : token.end + 1]
            if token == ":" and "value_info" in context.rules and all(map(str.isalnum, around)):
                continue  # as in `x:0`, a name of TensorFlow
            other = "=" if token == ":" else ":"
            expected = context.expected() if token is context.token else []
            certain = "COLON" in expected and "LPAR" not in expected
            if other == ":" and not certain and not context.rules & _COLON_RULES:
                continue
            if other == "=" and context.lexer.token(context.text, token.end) in _NO_VALUE:
                continue
            text = " =" if other == "=" and not around[0].isspace() else other
            code = "colon-for-equals" if other == "=" else "equals-for-colon"
            message, edits = f"expected `{other}`, found `{token}`", (replace(token, text),)
            title, safe = f"write `{other}`", other == ":" or _is_certain_equals(context, token)
            result = Diagnosis(code, message, token.span, edits, title, safe=safe)
            yield replace_fields(result, min_tokens=2 if token is context.token else 4)


def _is_certain_equals(context: ErrorContext, colon: Token) -> bool:
    """Whether `=` certainly belongs in place of the token `colon`, a `:`.

    This is uncertain if the `:` follows `)`, or precedes another `:`, a type, or a `""` that may
    be the overload of a missing operator.
    """
    after = context.lexer.token(context.text, colon.end)
    called = context.text[max(0, colon.at - 10) : colon.at].rstrip().endswith(")")
    if called or after in {":", *ATTRIBUTE_TYPES}:
        return False
    return after != '""' or in_attributes(context.until(colon.at))


_COLON_RULES = frozenset(
    ("header_entry", "metadata_item", "annotation", "training_item", "resource")
)


def point_for_comma(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `.` in place of the comma after a header entry: `ir_version: 10.`."""
    token = context.token
    match = None if token is None else _POINT.match(context.text, token.at)
    if match is not None and "header_entry" in context.rules:
        span = Span(*match.span(1))
        yield rewritten("wrong-mark", "expected `,`, found `.`", span, ",", safe=True, min_tokens=2)
