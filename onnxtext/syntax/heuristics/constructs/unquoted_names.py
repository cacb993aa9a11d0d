# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for names that need quotes, and for punctuation and blanks in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.actions.headers import INTEGER_KEYS
from onnxtext.syntax.heuristics.certainty import is_certain_name, occurs_elsewhere
from onnxtext.syntax.heuristics.constructs.node_errors import in_attributes
from onnxtext.syntax.heuristics.constructs.token_errors import load_keywords
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, removed, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, indentation

_RUN = re.compile(r"[^\s\"'(){}\[\]<>,=#]+")
_ODD_NAME = re.compile(r"\w[^\w;]|[^\w;]\w")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MARKED = re.compile(r"([A-Za-z_]\w*)([?.:/;!])")
_HYPHENATED = re.compile(r"[A-Za-z_]\w*(?:-\w+)+")
_END_OF_ITEM = re.compile(r"[ \t\r]*(?:[\n,)\]>=]|$)")
_BLANKS = re.compile(r"[ \t]*")


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
    numbers = list(_odd_number(context, span))
    if numbers:
        yield from numbers
        return
    yield from _path(context, span)
    if name[0] in ".:" and "metadata_item" in context.rules:
        return  # the `:` is extra, or the first step of a path is missing
    certain = not _PLAIN_NUMBER.fullmatch(name) and is_certain_name(context, name, span)
    if not certain:
        yield from _hyphens(context, span)
        yield from _mark_at_end(context, span)
        if name[0] in "*&$" and occurs_elsewhere(context.text, name[1:], span):
            message, place = f"unexpected `{name[0]}` before `{name[1:]}`", Span(*span)
            mark = Span(place.start, place.start + 1)
            yield removed("wrong-mark", message, mark, f"remove `{name[0]}`", min_tokens=2)
    for text in (name, name.rstrip(";:")):
        place = Span(span.start, span.start + len(text))
        message = f"`{text[:60]}` needs quotes to be a name"
        plain = text.isascii() and text.isidentifier()
        sure = (text[0].isalnum() or text[0] in "_/") and (certain or plain)
        result = rewritten("unquoted-name", message, place, f'"{text}"', safe=sure, min_tokens=4)
        yield replace_fields(result, title="quote it")


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


def _odd_number(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose a number that contains other characters, such as `10!`, or `21a` in a header."""
    if span.start < context.region.start:
        return
    name, kinds = context.text[slice(*span)], context.until(span.start).expected()
    version = "header_item" in context.rules or not INTEGER_KEYS.isdisjoint(context.done[:1])
    letters = any(map(str.isalpha, name)) and not (version and name[0].isdigit())
    if "INT" not in kinds or letters:
        return
    message = f"`{name[:60]}` is not {'a number' if 'FLOAT' in kinds else 'an integer'}"
    numbers = _PLAIN_NUMBER.findall(name) or ["0"]
    edits, help = (Edit(span, numbers[0]),), "write a number, such as 10"
    title = f"write `{numbers[0]}`" if len(numbers) == 1 and numbers[0] in name else ""
    yield Diagnosis("syntax-error", message, span, edits, title, help=title or help)


def _path(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose a path in metadata with slashes: `node y/then_branch/p {`."""
    name = context.text[slice(*span)]
    steps = name.split("/")
    if "metadata_item" not in context.rules or len(steps) < 2 or f'"{name}"' in context.text:
        return
    if all(step.isidentifier() for step in steps):
        message = "the steps of a path are separated by `.`"
        yield rewritten("wrong-mark", message, span, ".".join(steps), min_tokens=2)


def _control_characters(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose invisible control characters in a name."""
    found = list(_CONTROL.finditer(context.text, *span))
    edits = tuple([Edit(Span(*match.span()), "") for match in found])
    message = f"a name contains the control character U+{ord(found[0][0]):04X}"
    yield Diagnosis("lookalike-character", message, edits[0].span, edits, "remove it")


def _hyphens(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose hyphens in the name of an attribute: `kernel-shape = [3, 3]`."""
    name = context.text[slice(*span)]
    end = _BLANKS.match(context.text, span.end)
    before = [token for token in context.done if token.at < span.start]
    if not _HYPHENATED.fullmatch(name) or not in_attributes(context):
        return
    if before[-1:] == ["="] or end is None or context.text[end.end() : end.end() + 1] != "=":
        return
    message = f"the name of an attribute must not contain hyphens: `{name}`"
    yield rewritten("wrong-mark", message, span, name.replace("-", "_"), min_tokens=2)


def _mark_at_end(context: ErrorContext, span: Span) -> Iterator[Diagnosis]:
    """Diagnose punctuation at the end of a word: `x?`, and `x.` for `x,`."""
    match = _MARKED.fullmatch(context.text, *span)
    if match is None or (match[2] == ":" and not _END_OF_ITEM.match(context.text, span.end)):
        return  # the `:` in `key: 1` is valid
    if occurs_elsewhere(context.text, f'"{match[0]}"', span):
        return
    place, message = Span(*match.span(2)), f"unexpected `{match[2]}` after `{match[1]}`"
    # If another item follows, the punctuation was probably typed instead of a comma.
    if _item_follows(context, place):
        yield rewritten("wrong-mark", message, place, ",", min_tokens=2)
    yield removed("wrong-mark", message, place, f"remove `{match[2]}`", min_tokens=2)


def _item_follows(context: ErrorContext, place: Span) -> bool:
    """Whether another item probably follows `place`, judging by the next token."""
    token = context.lexer.token(context.text, place.end)
    return token is not None and token[0] not in ",)]}>=(<{"


def split_word(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a word that a line break or blank splits.

    After a line break, the second half must not be indented; the first half must be indented, or
    the whole word a keyword. At a blank, the whole word must be a keyword, or occur elsewhere while
    one of the halves does not.
    """
    token, before = context.token, context.last
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
    indented = begins and indentation(context.text, before.at) > 0
    edits = (Edit(span, ""),)
    if (known or indented) and context.is_certain(edits):
        kind, title = ("line break", "join the lines") if begins else ("blank", f"write `{joined}`")
        message = f"a {kind} in the word `{joined}`"
        yield Diagnosis("syntax-error", message, before.span, edits, title)
