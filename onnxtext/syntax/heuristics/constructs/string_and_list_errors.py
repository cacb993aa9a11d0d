# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for strings, lists, misplaced attributes, and `:` in place of `=`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from math import inf

from onnxtext.diagnostics import Applicability, Edit
from onnxtext.source import Span, line_start
from onnxtext.syntax.actions.number_list_commas import changed_commas, move_edits
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.tables import BAD_KIND
from onnxtext.syntax.heuristics.constructs.attribute_value_errors import ATTRIBUTE_TYPES
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, closing_index, in_attributes
from onnxtext.syntax.heuristics.constructs.token_errors import NOTHING, typographic_quote_message
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    Diagnosis,
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
    line_end,
    replace,
)
from onnxtext.tensor.errors import LiteralError

_FARTHEST = 4000
_MAX_TRIES = 40
_MAX_QUOTES = 100
_MAX_LINES = 40
"""Maximum number of lines before a statement in which to search for the beginning of a string."""
_QUOTE = re.compile(r"\\.|\"|#[^\"\n]*$")
_SMART = re.compile("[“”„‟«»]")
_END_OF_STRING = re.compile(r" ?[\])},:=>]| ?$|(?= )")
_NO_STRINGS = {"True", "False", *NOTHING}


_WORD = re.compile(r"[^\s\"(){}\[\]<>,=:#]+$")
_PREFIXES = {"b", "blob", "file"}
_NO_VALUE = CLOSING | {"<", "(", ","}
"""Tokens that cannot begin a value."""
_AFTER_STRING = re.compile(r"[ \t\r]*(?:[])},:=>(#]|$)", re.MULTILINE)


def bare_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a string without quotes, as in `mode = constant`."""
    if context.token not in {",", ">"} or len(context.done) < 3 or context.done[-2] != "=":
        return
    value = context.done[-1]
    if context.name(value) == "WORD" and value not in _NO_STRINGS and in_attributes(context):
        message = f"`{value}` needs quotes to be a string"
        edits = (replace(value, f'"{value}"'),)
        title = f'write "{value}"'
        yield Diagnosis(
            "unquoted-string", message, value.span, edits, title, "unsafe", min_tokens=2
        )


_STRINGS = frozenset(("STRING", "ESCAPED_STRING", "BYTES", "TRIPLE"))


def string_without_quotes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a word where only a string is possible: `store: weights`, `["b": b1]`."""
    token, ahead = context.token, context.ahead
    if token is None or context.name(token) != "WORD" or context.done[-1:] not in ([":"], ["["]):
        return
    expected = set(context.expected())
    if not expected & _STRINGS or not expected <= _STRINGS | {"INT", "RSQB"}:
        return
    # Another mark than these follows a longer value, or a word before a string.
    if ahead and ahead[0].at < context.line_end and ahead[0] not in {",", "]", "}", ":", ">"}:
        return
    words = [token]
    if ahead[:1] == [":"] and context.name(ahead[1] if ahead[1:] else None) == "WORD":
        words.append(ahead[1])
    edits = tuple([replace(word, f'"{word}"') for word in words])
    message = f"`{token}` needs quotes to be a string"
    yield Diagnosis(
        "unquoted-string", message, token.span, edits, "quote it", "unsafe", min_tokens=1
    )


def unclosed_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a string whose closing `"` is missing on its line."""
    text = context.text
    start = line_start(text, max(context.region.start, context.at - _FARTHEST))
    if text.count('"', start, context.region.start) % 2:
        # The statement seems to begin in a string that began on an earlier line.
        for _ in range(_MAX_LINES):
            start = line_start(text, max(start - 1, 0))
            if not start or text.count('"', start, text.find("\n", start)) % 2:
                break
    while start <= context.at:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        marks = list(islice(_QUOTE.finditer(text, start, end), _MAX_QUOTES))
        quotes = [mark.start() for mark in marks if mark[0] == '"']
        triple = text.find('"""', start, end)
        if triple >= 0:
            begins = not text[triple + 3 : end].strip()  # begins a string of several lines
            quotes = [quote for quote in quotes if quote < triple and begins]
        odd = len(quotes) % 2 and len(marks) < _MAX_QUOTES
        if odd and triple >= 0:
            close = text.find('"""', end)
            skip_to = line_end(text, close) + 1 if close >= 0 else end + 1
            yield from _unclosed_quotes(context, quotes, triple, skip_to)
            return
        if odd and (last := _several_lines(context, quotes[-1])) is not None:
            end = line_end(text, last)
        elif odd:
            yield from _unclosed_quotes(
                context, quotes, end - text.endswith("\r", start, end), end + 1
            )
            return
        start = end + 1


def _several_lines(context: ErrorContext, quote: int) -> int | None:
    """Return the end of the string of several lines that begins at a quote; None if there is none.

    An unclosed string seems to end at the quote that opens the next string; return None for it.
    """
    string = context.lexer.token(context.text, quote)
    if string is None or context.name(string) == BAD_KIND:
        return None
    text, end = context.text, string.end
    line = text[line_start(text, end) : line_end(text, end)]
    quotes = [match for match in _QUOTE.finditer(line) if match[0] == '"']
    return end if len(quotes) % 2 and _AFTER_STRING.match(text, end) else None


def _unclosed_quotes(
    context: ErrorContext, quotes: list[int], end: int, skip_to: int
) -> Iterator[Diagnosis]:
    message = "this string is never closed"
    tries = 0
    for quote in quotes[::2]:
        word = _WORD.search(context.text, line_start(context.text, quote), quote)
        if word is not None and word[0] not in _PREFIXES:
            span, edits = Span(word.start(), quote + 1), (insert(word.start(), '"'),)
            opening = "the opening quote of this string is missing"
            yield Diagnosis("unclosed-string", opening, span, edits, 'add a `"`', "unsafe")
        line = context.text[quote:end]
        smart = _SMART.search(line)
        if smart is not None and '"' not in line[1 : smart.start()]:
            span = Span(quote + smart.start(), quote + smart.end())
            edits = (Edit(span, '"'),)
            yield Diagnosis(
                "smart-quotes",
                typographic_quote_message(smart[0]),
                span,
                edits,
                'write `"`',
                "unsafe",
                min_tokens=1,
            )
        for match in _END_OF_STRING.finditer(line, 1):
            tries += 1
            if tries > _MAX_TRIES or '"' in line[1 : match.start()]:
                break
            edits = (insert(quote + match.start(), '"'),)
            span = Span(quote, quote + match.start())
            yield Diagnosis("unclosed-string", message, span, edits, 'add a `"`', "unsafe")
    smart = _SMART.search(context.text, quotes[-1], end)
    if smart is not None:
        span = Span(*smart.span())
        yield Diagnosis(
            "smart-quotes",
            typographic_quote_message(smart[0]),
            span,
            help='write `"`',
            skip_to=skip_to,
        )
    span = Span(quotes[-1], end)
    yield Diagnosis("unclosed-string", message, span, help='add a `"`', skip_to=skip_to)


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


def misplaced_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `y <axis = 1> = Softmax (x)` and `y = <axis = 1> Softmax (x)`."""
    done, token = context.done, context.token
    if done[-1:] == [">"] and token is not None and context.name(token) in NAMES:
        index = innermost_bracket(done[:-1])
        if index is not None and done[index] == "<":
            yield _misplaced_attributes(context, Span(done[index].at, done[-1].end), token.end)
    close = closing_index(context.rest) if token == "<" else None
    if close is None:
        return
    span = Span(context.at, context.rest[close].end)
    for before, after in pairwise(context.rest[close:]):
        if after == "(":
            yield _misplaced_attributes(context, span, before.end)
    message = "attributes belong after the operator"
    yield Diagnosis("misplaced-attributes", message, span, (Edit(span, ""),))


def _misplaced_attributes(context: ErrorContext, span: Span, offset: int) -> Diagnosis:
    """Return the diagnosis of attributes that belong at an offset."""
    end = span.end + context.text.startswith(" ", span.end)
    edits = (Edit(Span(span.start, end), ""), insert(offset, f" {context.text[slice(*span)]}"))
    message = "attributes belong after the operator"
    return Diagnosis("misplaced-attributes", message, span, edits, "move them there")


def string_tensor(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `string[1] s = ["a"]`: a list of strings needs braces."""
    if not any(token.startswith("string") for token in context.done):
        return
    done = context.done
    first = next((index for index in reversed(range(len(done))) if done[index] == "["), None)
    if first is None:
        return
    # Do not compare offsets: a token inserted by recovery has the offset of the token after it.
    tokens = [*done[first:], *context.rest]
    opener, close = tokens[0], closing_index(tokens)
    if close is not None:
        edits = (replace(opener, "{"), replace(tokens[close], "}"))
        span = Span(opener.at, tokens[close].end)
        message = "the elements of a string tensor must be in braces"
        yield Diagnosis("string-tensor-brackets", message, span, edits, "write `{…}`")


_ROW = re.compile(r"#[^\n]*|[\[\]]|[^\s,#\[\]]+")


def list_without_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list in an attribute without brackets: `pads = 1, 1, 1, 1`."""
    done, rest = context.done, context.rest
    number = context.name(context.token) in _NUMBERS
    if not number or done[-1:] != [","] or done[-3:-2] != ["="] or not in_attributes(context):
        return
    size = 1
    for comma, item in zip(rest[1::2], rest[2::2], strict=False):
        if comma != "," or context.name(item) not in _NUMBERS:
            break
        size += 2
    span = Span(done[-2].at, rest[size - 1].end)
    edits = (insert(span.start, "["), insert(span.end, "]"))
    message = "a list in an attribute must be in square brackets"
    yield Diagnosis("missing-bracket", message, span, edits, "write `[…]`", min_tokens=1)


_NUMBERS = frozenset(("INT", "FLOAT"))
_LIST_PIECE = re.compile(r"#[^\n]*|[][{}]|\"(?:[^\"\\\n]|\\.)*\"|[^][{}#\"=]+")


def list_separators(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without commas or with `;`: `[true false]`, `[1; 2]`."""
    index = innermost_bracket(context.done)
    while index and context.done[index - 1] in {"[", ",", "]"}:  # a row of a nested list
        index = innermost_bracket(context.done[:index])
    if index is None or context.done[index] not in {"[", "{"} or context.token is None:
        return
    start = context.done[index].at
    end = _list_end(context.text, start)
    try:
        changes = changed_commas(context.text[start:end])
    except LiteralError:
        return
    added = [change for change in changes if change.text]
    edits = move_edits(added, start.__add__)
    span = context.token.span
    if context.token == ";" and (context.ahead[:1] in (["]"], ["}"]) or context.done[-1] in "[{"):
        return  # the `;` separates nothing
    if edits and context.token == ";":
        yield Diagnosis(
            "semicolon", "expected `,`, found `;`", span, edits, "write `,`", min_tokens=3
        )
    elif edits:
        message, title = "expected `,` between two elements", "add `,`"
        end = edits[0].span.start
        if "\n" in context.text[end : context.at]:
            span = Span(end - 1, end)
        yield Diagnosis("syntax-error", message, span, edits, title, "unsafe", min_tokens=3)


def _list_end(text: str, start: int) -> int:
    """Return the offset after the list that begins at `start`; `start` if no end is found."""
    depth, end = 0, start
    while end - start < _FARTHEST and (match := _LIST_PIECE.match(text, end)) is not None:
        depth += (match[0] in {"[", "{"}) - (match[0] in {"]", "}"})
        end = match.end()
        if not depth:
            return end
    return start


def unclosed_row(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a row of a tensor that lacks its `]` or has an extra `[`.

    To find the row, inspect the rank of the tensor and the indentation of rows and brackets.
    """
    text, done = context.text, context.done
    # A `[` that recovery inserted has the offset of another token: the text has no `[` there.
    starts = [
        index
        for index, (token, value) in enumerate(pairwise(done), 1)
        if token == "=" and value[0] == "[" and text.startswith("[", value.at)
    ]
    if not starts:
        return
    type = done[starts[-1] - 3] if starts[-1] > 2 else None
    rank = type.count(",") + 1 if context.name(type) == "TYPE" and type is not None else inf
    opened: list[int] = []
    last = done[starts[-1]].at
    for match in _ROW.finditer(text, last, context.at):
        offset, token = match.start(), match[0]
        if token[0] == "#":
            continue
        if token == "[" and len(opened) == rank:
            twice = text[last - 1] == "["
            edit = Edit(Span(last - 1, last), "") if twice else insert(last, "]")
            yield _unclosed_row(opened[-1], edit)
            return
        if token in "[]" and opened and begins_line(text, offset) and begins_line(text, opened[-1]):
            deeper = indentation(text, offset) - indentation(text, opened[-1])
            if deeper < 0 or (not deeper and token == "["):
                yield _unclosed_row(opened[-1], insert(last, "]"))
                return
        last = match.end()
        if token == "[":
            opened.append(offset)
        elif token == "]":
            opened.pop()
            if not opened:
                return
    begins = begins_line(text, context.at) and text[context.previous_end - 1] != "["
    if opened and begins and not context.after_attributes:
        comma = "" if context.token in CLOSING else ","
        yield _unclosed_row(opened[0], insert(context.previous_end, "]" * len(opened) + comma))


def _unclosed_row(offset: int, edit: Edit) -> Diagnosis:
    title = "add `]`" if edit.text else "remove it"
    span, message = Span(offset, offset + 1), "this bracket is never closed"
    return Diagnosis("unclosed-bracket", message, span, (edit,), title, "unsafe", min_tokens=1)
