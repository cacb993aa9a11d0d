# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for strings: quotes, and strings in places of other constructs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import islice

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.tables import BAD_KIND
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index, in_attributes
from onnxtext.syntax.heuristics.constructs.token_errors import NOTHING, typographic_quote_message
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed, rewritten
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    insert,
    line_end,
    margin,
    replace,
)

_FARTHEST = 4000
_MAX_TRIES = 40
_MAX_QUOTES = 100
_MAX_LINES = 40
"""Maximum number of lines before a statement in which to search for the beginning of a string."""
_QUOTE = re.compile(r"\\.|\"|#[^\"\n]*$")
_SMART = re.compile("[“”„‟«»]")
_OTHER_QUOTE = re.compile("[“”„‟«»']")
_END_OF_STRING = re.compile(r" ?[\])},:=>]| ?$|(?= )")
_NO_STRINGS = {"True", "False", *NOTHING}


_WORD = re.compile(r"[^\s\"(){}\[\]<>,=:#]+$")
_PREFIXES = {"b", "blob", "file"}
_PREFIX = re.compile(rf"\W(?:{'|'.join(_PREFIXES)})\Z")
_AFTER_STRING = re.compile(r"[ \t\r]*(?:[])},:=>(#]|$)", re.MULTILINE)


def bare_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a word in place of a string in quotes, a boolean or a number: `mode = constant`."""
    if context.token not in {",", ">"} or len(context.done) < 3 or context.done[-2] != "=":
        return
    value = context.done[-1]
    if context.name(value) != "WORD" or value in _NO_STRINGS or not in_attributes(context):
        return
    before = context.done[-4:-2]
    typed = next((token for token in before if context.name(token) in {"TYPE", "PRIM"}), "")
    if typed.startswith("bool") and before[0] != ":":
        message, help = f"`{value}` is not a boolean", "write `true` or `false`"
        meant = nearest_name(value, ["true", "false"])
        edits, title = (replace(value, meant or "true"),), f"write `{meant}`" if meant else ""
        yield Diagnosis("syntax-error", message, value.span, edits, title, help=help, min_tokens=2)
    elif (before[0] == ":" and before[1] in {"int", "float"}) or (
        typed and before[0] != ":" and not typed.startswith("string")
    ):
        message, help = f"`{value}` is not a number", "write a number, such as 10"
        yield advice("syntax-error", message, value.span, help, replace(value, "0"), min_tokens=2)
    else:
        message = f"`{value}` needs quotes to be a string"
        edits = (replace(value, f'"{value}"'),)
        title = f'write `"{value}"`'
        yield Diagnosis("unquoted-string", message, value.span, edits, title, min_tokens=2)


_STRINGS = frozenset(("STRING", "ESCAPED_STRING", "BYTES", "TRIPLE"))


def string_without_quotes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a word where only a string is possible: `store: weights`, `["b": b1]`."""
    token, ahead = context.token, context.ahead
    if token is None or context.name(token) != "WORD" or context.done[-1:] not in ([":"], ["["]):
        return
    expected = set(context.expected())
    if not expected & _STRINGS or not expected <= _STRINGS | {"INT", "RSQB"}:
        return
    # If another token follows, the word is part of a longer value, or stands before a string.
    if ahead and ahead[0].at < context.line_end and ahead[0] not in {",", "]", "}", ":", ">"}:
        return
    words = [token]
    if ahead[:1] == [":"] and context.name(ahead[1] if ahead[1:] else None) == "WORD":
        words.append(ahead[1])
    edits = tuple([replace(word, f'"{word}"') for word in words])
    message = f"`{token}` needs quotes to be a string"
    yield Diagnosis("unquoted-string", message, token.span, edits, "quote it")


_NO_LIST = r'[^"\s,](?:[^"\n]*[^"\s,])?'  # in `("a, "", b)`, the second quote is missing
_DOUBLED = re.compile(rf'""(?P<a>{_NO_LIST})""?(?!")|"(?P<b>{_NO_LIST})""(?!")')


def doubled_quotes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a string of which one or both quotes are doubled: `""abc""`, `""abc"`, `"abc""`."""
    match = _DOUBLED.match(context.text, context.done[-1].at) if context.done else None
    if match is None or not context.done[-1].startswith('"') or context.done[-1].end != context.at:
        return
    span, message = Span(*match.span()), "the quotes of this string are doubled"
    if not match[0].startswith('""') or not match[0].endswith('""'):
        message = "a quote of this string is doubled"
    yield rewritten("wrong-mark", message, span, f'"{match["a"] or match["b"]}"', min_tokens=2)


def unclosed_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a string whose closing `"` is missing on its line."""
    text = context.text
    start = line_start(text, max(context.region.start, context.at - _FARTHEST))
    if text.count('"', start, context.region.start) % 2:
        # The statement seems to begin inside a string; find the line on which the string begins.
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
            before = end - text.endswith("\r", start, end)
            yield from _unclosed_quotes(context, quotes, before, end + 1)
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


_NUMBER = r"(?:-?\d[\d.]*|true|false|-?inf|nan)"
_BESIDE_NUMBER = re.compile(
    rf"(?:^|[\[,{{(]|=(?= ))[ \t]*(?:(?P<before>\"){_NUMBER}|{_NUMBER}(?P<after>\"))"
    r"[ \t]*(?=[,\]})>]|#|$)",
    re.MULTILINE,
)


def _unclosed_quotes(
    context: ErrorContext, quotes: list[int], end: int, skip_to: int
) -> Iterator[Diagnosis]:
    message = "this string is never closed"
    stray = _BESIDE_NUMBER.search(context.text, line_start(context.text, end), end)
    if stray is not None and len(quotes) == 1:
        span = Span(*stray.span(stray.lastgroup or 0))
        value = stray[0].strip('[,{(= \t"')
        number = f"`{value}`" if value.strip("-").isalpha() else "a number"
        beside = f'unexpected `"` beside {number}'
        yield removed("unclosed-string", beside, span, "remove it", min_tokens=4)
    for quote in quotes[1::2]:
        beside = context.text[quote - 1] + context.text[quote + 1 : quote + 2]
        opens = _PREFIX.search(context.text, quote - 5, quote)  # as in `"a“, blob"ba78…"`
        if opens is None and len(beside) == 2 and beside.isalnum():
            inside, span = 'a `"` inside a string must be escaped', Span(quote, quote + 1)
            yield rewritten("unclosed-string", inside, span, '\\"', min_tokens=4)
    tries = 0
    for quote in quotes[::2]:
        word = _WORD.search(context.text, line_start(context.text, quote), quote)
        if word is not None and word[0] not in _PREFIXES:
            span, edits = Span(word.start(), quote + 1), (insert(word.start(), '"'),)
            opening = "the opening quote of this string is missing"
            yield Diagnosis("unclosed-string", opening, span, edits, 'add a `"`', min_tokens=4)
        line = context.text[quote:end]
        other = _OTHER_QUOTE.search(line)
        if other is not None and '"' not in line[1 : other.start()]:
            span = Span(quote + other.start(), quote + other.end())
            code, problem = "single-quotes", "a string must be in double quotes"
            if other[0] != "'":
                code, problem = "smart-quotes", typographic_quote_message(other[0])
            yield rewritten(code, problem, span, '"')
        for match in _END_OF_STRING.finditer(line, 1):
            tries += 1
            if tries > _MAX_TRIES or '"' in line[1 : match.start()]:
                break
            span = Span(quote, quote + match.start())
            edits = (insert(span.end, '"'),)
            yield Diagnosis("unclosed-string", message, span, edits, 'add a `"`', min_tokens=4)
    if not context.text[quotes[-1] + 1 : end].strip():
        span, last = Span(quotes[-1], quotes[-1] + 1), 'unexpected `"` at the end of the line'
        yield removed("unclosed-string", last, span, "remove it", min_tokens=4)
    smart = _SMART.search(context.text, quotes[-1], end)
    if smart is not None:
        span, problem = Span(*smart.span()), typographic_quote_message(smart[0])
        yield Diagnosis("smart-quotes", problem, span, help='write `"`', skip_to=skip_to)
    span = Span(quotes[-1], end)
    yield Diagnosis("unclosed-string", message, span, help='add a `"`', skip_to=skip_to)


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
        result = rewritten("string-tensor-brackets", message, span, "{…}", safe=True, min_tokens=4)
        yield replace_fields(result, edits=edits)


def lone_string(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a statement that is only a triple-quoted string, like a docstring in Python."""
    tokens = [*context.done, *context.rest]
    if not tokens or not tokens[0].startswith('"""') or "header_entry" in context.rules:
        return
    if len(context.done) > 1 and context.done[1].at < (context.next_statement or 0):
        return
    string, span = tokens[0], tokens[0].span
    message = "a string cannot be a statement"
    help = 'write a comment, `# …`, or `@doc("…")` before the item it describes'
    quotes = Span(string.at, string.at + 3)
    result = Diagnosis("lone-string", message, quotes, replaces_errors=True)
    if _STATEMENT.search(string):  # the quotes are stray: keep the statements between them
        title = "remove the quotes"
        opening, closing = Edit(quotes, ""), Edit(Span(span.end - 3, span.end), "")
        for edits in ((opening,), (opening, closing)):
            yield replace_fields(result, edits=edits, title=title, min_tokens=4)
        yield replace_fields(result, edits=(Edit(span, ""),), help=help)
        return
    edit = Edit(span, _comment(context.text, string))
    title = "write a comment" if edit.text else "remove it" if not string.strip('" \t\r\n') else ""
    yield replace_fields(result, span=span, edits=(edit,), title=title, help=help)


_STATEMENT = re.compile(r"^[^\n#]*(?:[\w\"\])][ \t]*=|=>|[{}][ \t\r]*$)", re.MULTILINE)
"""Finds a line that is probably a statement, not prose."""


def _comment(text: str, string: Token) -> str:
    """Return the lines of a triple-quoted string as comments.

    Return "" if the string is blank, or if other text is on its lines.
    """
    words = string.strip('" \t\r\n')
    after = text[string.end : line_end(text, string.end)].strip()
    if not words or after or not begins_line(text, string.at):
        return ""
    separator = f"\n{margin(text, string.at)}"
    return separator.join([f"# {line.strip()}".rstrip() for line in words.split("\n")])
