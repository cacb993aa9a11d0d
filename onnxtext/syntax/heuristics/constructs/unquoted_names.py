# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for names that need quotes, and for punctuation and blanks in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.certainty import is_certain_name, occurs_elsewhere
from onnxtext.syntax.heuristics.constructs.token_errors import load_keywords
from onnxtext.syntax.heuristics.error_context import (
    Diagnosis,
    ErrorContext,
    indentation,
)

_RUN = re.compile(r"[^\s\"'(){}\[\]<>,=#]+")
_ODD_NAME = re.compile(r"\w[^\w;]|[^\w;]\w")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MARKED = re.compile(r"([A-Za-z_]\w*)([?.:/;!])")
_END_OF_ITEM = re.compile(r"[ \t\r]*(?:[\n,)\]>=]|$)")


def unquoted(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name that needs quotes, such as `layers.0/weight`, or a typo such as `x?`.

    Control characters are not part of a name: the fix removes them.
    """
    span = _run(context)
    if span is None:
        return
    name = context.text[slice(*span)]
    if not _ODD_NAME.search(name) and (name.isascii() or not re.search(r"\w", name)):
        return
    if _CONTROL.search(name):
        yield from _control_characters(context, span)
        return
    if name[0] in ".:" and "metadata_item" in context.rules:
        return  # the `:` is extra, or the first step of a path is missing
    certain = is_certain_name(context, name, span)
    if not certain:
        yield from _mark_at_end(context, span)
    for text in (name, name.rstrip(";:")):
        quoted = Span(span.start, span.start + len(text))
        message = f"`{text[:60]}` needs quotes to be a name"
        edits = (Edit(quoted, f'"{text}"'),)
        plain = text.isascii() and text.isidentifier()
        sure = (text[0].isalnum() or text[0] in "_/") and (certain or plain)
        yield Diagnosis(
            "unquoted-name", message, quoted, edits, "quote it", safe=sure, min_tokens=4
        )


def _run(context: ErrorContext) -> Span | None:
    """Return the span of the longest text around the error that matches `_RUN`; None if empty."""
    if context.token is None:
        return None
    start = context.at
    while start > context.line_start and _RUN.match(context.text[start - 1]):
        start -= 1
    match = _RUN.match(context.text, start)
    if match is None or match.end() <= context.at:
        return None
    return Span(*match.span())


def _control_characters(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose invisible control characters in a name."""
    found = list(_CONTROL.finditer(context.text, *span))
    edits = tuple([Edit(Span(*match.span()), "") for match in found])
    message = f"a name contains the control character U+{ord(found[0][0]):04X}"
    place = edits[0].span
    yield Diagnosis("lookalike-character", message, place, edits, "remove it")


def _mark_at_end(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose punctuation at the end of a word: `x?`, and `x.` for `x,`."""
    match = _MARKED.fullmatch(context.text, *span)
    if match is None or (match[2] == ":" and not _END_OF_ITEM.match(context.text, span.end)):
        return  # the `:` in `key: 1` is valid
    if occurs_elsewhere(context.text, f'"{match[0]}"', span):
        return
    place = Span(*match.span(2))
    message = f"unexpected `{match[2]}` after `{match[1]}`"
    # If another item follows, the punctuation was probably typed instead of a comma.
    for written, title in ((",", "write `,`"), ("", f"remove `{match[2]}`")):
        edits = (Edit(place, written),)
        if written and not _item_follows(context, place):
            continue
        yield Diagnosis("wrong-mark", message, place, edits, title, min_tokens=2)


def _item_follows(context: ErrorContext, place: Span) -> bool:
    """Whether another item probably follows `place`, judging by the next token."""
    token = context.lexer.token(context.text, place.end)
    return token is not None and token[0] not in ",)]}>=(<{"


def split_word(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a word that a line break or blank splits.

    After a line break, the second half must not be indented. At a blank, the whole word must be a
    keyword, or occur elsewhere while one of the halves does not.
    """
    token, before = context.token, context.done[-1] if context.done else None
    if token is None or before is None or before.end == context.at:
        return
    if "header_entry" in context.rules:
        return  # `odd_key` joins the parts of keys
    joined, span = before + token, Span(before.end, context.at)
    begins = context.at == context.line_start
    if not joined.isidentifier() or (not begins and context.line_start > before.end):
        return
    whole = Span(before.at, context.at + len(token))
    known = joined in load_keywords()
    if not begins and not known:
        halves = (occurs_elsewhere(context.text, half, whole) for half in (before, token))
        known = occurs_elsewhere(context.text, joined, whole) and not all(halves)
    edits = (Edit(span, ""),)
    indented = begins and indentation(context.text, before.at) > 0
    if (known or indented) and context.is_certain(edits):
        kind, title = ("line break", "join the lines") if begins else ("blank", f"write `{joined}`")
        message = f"a {kind} in the word `{joined}`"
        yield Diagnosis("syntax-error", message, before.span, edits, title)
