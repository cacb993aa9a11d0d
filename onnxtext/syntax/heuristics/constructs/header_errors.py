# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for headers: wrong brackets, quoted keys, headers in a wrong place."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS
from onnxtext.syntax.actions.sections import TRAINING_KEYS
from onnxtext.syntax.actions.strings import CONFLICT_MARKER
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index
from onnxtext.syntax.heuristics.diagnosis import (
    Diagnosis,
    advice,
    incomplete_statement,
    rewritten,
    unclosed,
)
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    CLOSING,
    OPENING,
    ErrorContext,
    begins_line,
    blank_line_above,
    bracket_on_own_line,
    insert,
    line_end,
    removal,
    replace,
)

_MAX_HEADER_LENGTH = 4000
"""Maximum number of characters of a header that a heuristic inspects."""
_MAX_TEXT_BEFORE = 200
"""Maximum number of characters of other text before a header."""
_MAX_OTHERS = 6
"""Maximum number of extra characters in a key."""
_KEYS = MODEL_KEYS | FUNCTION_KEYS
_NEXT = re.compile(r"^(?:<|\w+[ \t]*\{)", re.MULTILINE)
"""Matches the start of a header or section."""
_COLONS = frozenset((":", "=", ";"))
"""The `:` after a key, and the characters that are written instead by mistake."""


def _tokens(context: ErrorContext, offset: int) -> list[Token]:
    """Return the tokens of a header that begins at an offset, and some tokens after the header."""
    return context.lexer.tokens(context.text, offset, offset + _MAX_HEADER_LENGTH)


def headers(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `<>`, a header in wrong brackets, and a second or misplaced header."""
    token = context.token
    marked = CONFLICT_MARKER.match(context.text, context.line_start)
    if token == ">" and "header_entry" in context.rules and not context.done and not marked:
        help = "remove the header, or write an entry in it, such as `opset_import: [21]`"
        span = Span(context.text.rfind("<", 0, context.at), context.at + 1)
        edit = insert(context.at, "x: 0")
        yield advice("syntax-error", "the header is empty", span, help, edit)
        return
    if token is None or token not in OPENING or "node" in context.rules:
        return
    before = context.text[context.previous_end - 1 : context.previous_end]
    if before == "<":  # `<<`
        return
    key = context.lexer.token(context.text, token.end)
    if key is None or key.kind != "WORD" or context.lexer.token(context.text, key.end) != ":":
        return
    tokens = _tokens(context, context.at)
    end = closing_index(tokens)
    if end is None:
        return
    span = Span(context.at, tokens[end].end)
    if token == "<":
        message, help = "there is already a header", "join all entries in one `<…>`"
        first = context.lexer.token(context.text, 0)
        if first is not None and first.at == token.at:
            message, help = "this text cannot have a header", "remove it"
        elif first not in ("<", token):
            message, help = _BEFORE_GRAPH
        yield advice("misplaced-section", message, token.span, help, Edit(span, ""))
    elif not context.done and before not in CLOSING:
        edits = (replace(tokens[0], "<"), replace(tokens[end], ">"))
        message = "a header must be in `<…>`"
        yield Diagnosis("wrong-mark", message, span, edits, "write `<…>`", safe=True)


_BEFORE_GRAPH = (
    "the header of the model belongs before the graph", "move it to the beginning of the text",
)  # fmt: skip
_HEADER = re.compile(
    rf"(?P<open><)?(?(open)\s*|^[ \t]*)(?:{'|'.join(sorted(_KEYS))})\s*:|^[ \t]*(?P<close>>)", re.M
)


def text_before_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose text before a header, such as `print(model)`, and a header without its beginning.

    The `<` of such a header is missing, or follows the first entry.
    """
    text, start = context.text, context.region.start
    rules = {"model", "functions", "function"} & context.rules
    if not rules or CONFLICT_MARKER.match(text, start):
        return
    match = _HEADER.search(text, start + 1, start + _MAX_TEXT_BEFORE)
    tokens = context.lexer.tokens(text, start, match.start()) if match else []
    if match is None or not tokens or {"{", "}", "=>"} & {*tokens}:
        return
    span = Span(start, tokens[-1].end)
    if match["open"] and tokens[1:2] == [":"] and tokens[0] in _KEYS:
        message = "expected `<` before the first entry of the header"
        comma = "" if tokens[-1] == "," else ","
        moved = Edit(Span(span.end, match.end("open")), comma + text[span.end : match.start()])
        edits: tuple[Edit, ...] = (insert(start, "<"), moved)
        yield Diagnosis("wrong-mark", message, tokens[0].span, edits, "move the `<`", min_tokens=4)
    elif match["open"]:
        comments = text[span.end : match.start()].strip()
        edits = (Edit(span if comments else Span(start, match.start()), ""),)
        message, title = "unexpected text before the header", "remove it"
        yield Diagnosis("syntax-error", message, span, edits, title, min_tokens=4)
    elif "model" in context.rules and not {"(", "<"} & {*tokens}:
        message, help = "the beginning of the header is missing", "write `<` and a whole entry here"
        if match["close"]:
            span = Span(start, match.end())
        edit = Edit(span, "" if match["close"] else "<")
        yield advice("syntax-error", message, span, help, edit, min_tokens=4)


def unclosed_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a header without its `>`; a decorator or the name of a graph or function follows."""
    opened, token = context.opened, context.token
    if token is None or opened is None or "header_entry" not in context.rules:
        return
    first = context.done[0] if context.done else token
    decorated = context.name(token) == "DECORATOR" and begins_line(context.text, token.at)
    named = token in {"(", "<"} and len(context.done) == 1 and first not in _KEYS
    named = named or (first is token and token[0] == '"' and context.ahead[:1] in (["("], ["<"]))
    if context.bracket == "<" and (decorated or named):
        start = token.at if decorated else first.at
        yield from _head_in_header(context, start)
        end = context.until(start).previous_end
        message = "expected `>` after the entries of the header"
        place = bracket_on_own_line(context, opened, end, ">")
        span, edit = place or (Span(end - 1, end), insert(start, ">\n"))
        yield unclosed(message, span, edit, "add `>`", opened)


def _head_in_header(context: ErrorContext, start: int) -> Iterator[Diagnosis]:
    """Diagnose the first line of a graph among the entries of the header."""
    text, stop = context.text, line_end(context.text, start)
    tokens = _tokens(context, stop)
    index = _entries(tokens)[1]
    if index and tokens[index : index + 1] == [">"]:
        span, end = Span(start, stop), tokens[index].end
        edits = (Edit(Span(start, stop + 1), ""), insert(end, f"\n{text[start:stop]}"))
        message = "this line belongs after the header"
        yield Diagnosis("syntax-error", message, span, edits, "move it")


def missing_header_comma(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a header entry without a comma before the next key: `domain: "d"` `ir_version`."""
    token, done = context.token, context.done
    if token is None or token not in _KEYS or not done or "header_entry" not in context.rules:
        return
    if context.ahead and done[-1] not in {":", "=", ","} and "COMMA" in context.expected():
        end = done[-1].end
        span = Span(end, end) if begins_line(context.text, token.at) else token.span
        message, edits = f"expected `,` or `>`, found `{token}`", (insert(end, ","),)
        safe = token not in done
        yield Diagnosis("missing-comma", message, span, edits, "add `,`", safe=safe)


_WRITTEN_KEY = re.compile(r"(?P<words>[^:=\"(){}\[\]<>#,]{1,60}?)\s*(?P<mark>[:=\"\[])")


def odd_key(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose wrong characters in or before a key: `opset-import: [21]`, `new ir_version: 10`."""
    first, rules = context.first, context.rules
    match = None if first is None else _WRITTEN_KEY.match(context.text, first.at)
    keys = _KEYS if "header_entry" in rules else TRAINING_KEYS if "training_item" in rules else ()
    if match is None or not keys:
        return
    words = match["words"]
    before = words.rstrip("_" + string.ascii_letters).rstrip()
    if before and words[len(before) :].lstrip() in keys:
        span = Span(match.start(), match.start() + len(before))
        message, edits = f"`{before}` does not belong here", (removal(context.text, span),)
        yield Diagnosis("syntax-error", message, span, edits, "remove it", min_tokens=2)
    joined = re.sub(r"\s+", "", words)
    respelled = words.replace("-", "_").replace(" ", "_")
    key = next((key for key in (respelled, joined) if key in keys), nearest_name(joined, keys))
    if key is None:
        key = max((key for key in sorted(keys) if _has_letters(joined, key)), key=len, default=None)
    if key is not None and [*words.split(), ""][0] not in keys:
        message, span = f"`{' '.join(words.split())}` is not a key", Span(*match.span("words"))
        safe, written = key == respelled, key if match["mark"] in ":=" else f"{key}:"
        yield rewritten("wrong-mark", message, span, written, safe=safe, min_tokens=2)


def _has_letters(text: str, key: str) -> bool:
    """Whether a text has all letters of a key, in order, and few extra characters."""
    letters = iter(text)
    return len(text) - len(key) <= _MAX_OTHERS and all(letter in letters for letter in key)


def _entries(tokens: list[Token]) -> tuple[list[Edit], int, int]:
    """Find edits that correct the header entries at the start of `tokens`.

    Returns:
        The edits, the index of the token after the entries, and the number of entries.
    """
    edits: list[Edit] = []
    index = count = 0
    while (
        index + 2 < len(tokens)
        and tokens[index].strip('"') in _KEYS
        and tokens[index + 1] in _COLONS
    ):
        count += 1
        key, size = tokens[index], 1
        if tokens[index + 2] in CLOSER:
            size = 1 + (closing_index(tokens[index + 2 :]) or 0)
        edits += [replace(key, key.strip('"'))] if key[0] == '"' else []
        edits += [
            Edit(Span(before.end, mark.end), ":")
            for before, mark in pairwise(tokens[index : index + 2 + size])
            if mark in _COLONS - {":"}
        ]
        index += 2 + size
        after = tokens[index] if index < len(tokens) else ""
        if after == ";":
            edits.append(replace(tokens[index], ","))
        elif after.strip('"') in _KEYS:
            edits.append(insert(tokens[index - 1].end, ","))
        index += after in {",", ";"}
    return edits, index, count


def entries(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose entries with quoted keys, as in JSON, and several entries with `=` or `;`."""
    first = context.first
    if first is None or "header_entry" not in context.rules:
        return
    quoted = first[0] == '"'
    token = first if quoted else context.token
    if token is None or (not quoted and token not in {"=", ";"}):
        return
    edits, _, count = _entries(_tokens(context, first.at))
    if not quoted and len(edits) < count:  # some entries are right: the others are separate errors
        return
    if edits and (quoted or len(edits) > 1):
        message = "the entries of a header must have the form `KEY: VALUE`, separated by `,`"
        key = first.strip('"')
        title = f"write `{key}: …`" if len(edits) < 2 else f"write `{key}: …` and so on"
        yield Diagnosis("wrong-mark", message, token.span, tuple(edits), title, safe=True)


_DASHES = re.compile(r"(---+)[ \t\r]*$", re.MULTILINE)


def bare_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a header without `<…>`, at the beginning of the text or before a function.

    Also diagnose entries after the `>` of a header.
    """
    done, text = context.done, context.text
    dashes = _DASHES.match(text, context.line_start)
    if dashes is not None:
        tokens = _tokens(context, dashes.end())
        edits, index, _ = _entries(tokens)
        close = _DASHES.match(text, tokens[index].at) if index < len(tokens) else None
        if close is not None and index:
            marks = (Edit(Span(*dashes.span(1)), "<"), Edit(Span(*close.span(1)), ">"))
            message, span = "a header must be in `<…>`", marks[0].span
            yield Diagnosis("wrong-mark", message, span, (*edits, *marks), "write `<…>`")
        return
    if context.token not in {":", "="} or len(done) != 1 or done[0].strip('"') not in _KEYS:
        return
    before = context.until(done[0].at).previous_end
    last = context.text[before - 1] if before < done[0].at else ""
    if last not in {"}", ">"} and context.lexer.tokens(context.text, 0, done[0].at):
        return
    tokens = _tokens(context, done[0].at)
    edits, index, _ = _entries(tokens)
    if not index or tokens[index + 1 : index + 2] == ["{"]:  # protobuf text
        return
    if last == ">":
        message, help = f"the header ends before `{done[0]}`", "move this entry before the `>`"
        after = tokens[index].at if tokens[index:] else len(context.text)
        edit = Edit(Span(done[0].at, after), "")
        yield advice("misplaced-section", message, done[0].span, help, edit)
        return
    message, title, span, opener = "a header must be in `<…>`", "write `<…>`", done[0].span, "<"
    blank = blank_line_above(context.text, done[0].at)
    closed = tokens[index : index + 1] == [">"]
    end = tokens[index].at if closed else tokens[index - 1].end
    edits += [] if closed else [insert(end, ">")]
    if blank is not None and "\n" in context.text[done[0].at : end]:
        span, opener = Span(blank, blank), "<\n"
    edits.insert(0, insert(done[0].at, opener))
    yield Diagnosis("wrong-mark", message, span, tuple(edits), title)


def trailing_list(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a header or initializers after the nodes: `<ir_version: 10>`, `<float w = 1>`."""
    text, done, opener = context.text, context.done, context.opened
    if done[:1] == ["<"]:
        opener = done[0].span
    elif opener is None or "header_entry" not in context.rules:
        return
    tokens = _tokens(context, opener.start)
    if tokens[:1] != ["<"]:  # the `<` is missing, as `bare_header` says
        return
    end = closing_index(tokens)
    code, (message, help) = "misplaced-section", _BEFORE_GRAPH
    first = context.name(tokens[1]) if len(tokens) > 1 else ""
    has_keys = any(
        key in FUNCTION_KEYS and mark == ":" for key, mark in pairwise(tokens[: end or 0])
    )
    if first in {"TYPE", "PRIM", "CONTAINER", "DECORATOR"} and not has_keys:
        code, message = "misplaced-tensor", "the initializers of a graph belong before its nodes"
        help = "move this list before the `{` of the graph"
    elif "ir_version" not in done:
        return
    if text[: opener.start].rstrip().endswith("}"):
        last = tokens[-1 if end is None else end].end
        skip_to, span = line_end(text, last) + 1, Span(opener.start, last)
        if end is None:
            after = _NEXT.search(text, opener.end)
            skip_to = len(text) + 1 if after is None else after.start()
        yield Diagnosis(code, message, span, help=help, skip_to=skip_to)


def unclosed_list(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without `]` before another entry: `opset_import: [21,` and `domain: "d"`."""
    opened, done = context.opened, context.done
    if context.token != ":" or not done or done[-1] not in _KEYS or opened is None:
        return
    start = done[-1].at
    if context.bracket != "[" or not begins_line(context.text, start):
        return
    line = context.text[context.text.rfind("\n", 0, start) : start]
    if done[1:]:  # as in `explicit: [node.`
        edits = (insert(start, f"x],{line}"),)
        yield incomplete_statement("a name", done[-2], done[-2].span, edits)
        return
    end = context.until(start).previous_end
    edit, span = insert(start, f"],{line}"), Span(end - 1, end)
    yield unclosed("expected `]`", span, edit, "add `]`", opened)
