# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for single tokens: quotes, numbers, misspelled words, conflict markers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import chain, pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span, line_start
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.strings import CONFLICT_HELP, CONFLICT_MARKER
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed, rewritten
from onnxtext.syntax.heuristics.error_context import (
    OPENING,
    ErrorContext,
    innermost_bracket,
    replace,
)
from onnxtext.tensor.float_formats import FORMATS
from onnxtext.tensor.number_spellings import OTHER_NUMBER, other_spelling, whole_number

NOTHING = ("None", "null", "nil")
SMART_QUOTES = "“”„‟«»‘’‚‛"
_SINGLE_QUOTED = re.compile(r"['`]((?:[^'\\\n]|\\.)*)'")
_SMART_QUOTED = re.compile(f'[{SMART_QUOTES}]([^"{SMART_QUOTES}\\n]*)[{SMART_QUOTES}"]')
_TRIPLE = re.compile(f"[\"'{SMART_QUOTES}]{{3}}")
_ESCAPED_QUOTE = re.compile(r'\\"')
ALIASES = {
    "float32": "float", "fp32": "float", "f32": "float", "float64": "double", "fp64": "double",
    "f64": "double", "half": "float16", "fp16": "float16", "f16": "float16", "bf16": "bfloat16",
    "int": "int64", "long": "int64", "i64": "int64", "i32": "int32", "i8": "int8", "u8": "uint8",
    "byte": "uint8", "str": "string", "boolean": "bool", "sequence": "seq", "list": "seq",
    "dict": "map",
}  # fmt: skip
AMBIGUOUS = frozenset(("int", "byte"))
"""Aliases that mean other types in some languages: `int32` in C, `int8` in Java and numpy."""


def other_quotes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose strings in wrong quotes: `'…'`, `` `…' `` and “…”, or in escaped quotes."""
    match = _SINGLE_QUOTED.match(context.text, context.at)
    if context.token == "'" or (context.token == "`" and match is not None):
        yield from _wrong_triple(context)
        message = "a string must be in double quotes"
        if match is None:
            span = context.token.span
            if context.text.count('"', context.at, context.line_limit) % 2:
                yield rewritten("single-quotes", message, span, '"', min_tokens=4)
            else:
                yield removed("single-quotes", message, span, "remove it", min_tokens=4)
            yield Diagnosis("single-quotes", message, span)
            return
        content = match[1].replace('"', '\\"').replace("\\'", "'")
        span = Span(*match.span())
        number = content.lstrip("+-").replace(".", "").isdigit()  # it may need no quotes
        yield rewritten("single-quotes", message, span, f'"{content}"', safe=not number)
        if number:
            yield rewritten("single-quotes", "a number needs no quotes", span, content)
    elif context.token == "\\" and context.text[context.at + 1 : context.at + 2] == '"':
        places = _ESCAPED_QUOTE.finditer(context.text, context.at, context.ahead_limit)
        marks = [Edit(Span(match.start(), match.end() - 1), "") for match in places]
        message = "the quotes around a string must not be escaped"
        span = Span(context.at, context.at + 2)
        yield Diagnosis("wrong-mark", message, span, tuple(marks), 'write `"`')
    elif context.token is not None and context.token in SMART_QUOTES:
        yield from _wrong_triple(context)
        match = _SMART_QUOTED.match(context.text, context.at)
        message = typographic_quote_message(context.token)
        if match is None:
            yield removed("smart-quotes", message, context.token.span, "remove it", min_tokens=4)
            yield advice("smart-quotes", message, context.token.span, 'write `"…"`')
            return
        span = Span(*match.span())
        yield rewritten("smart-quotes", message, span, f'"{match[1]}"', safe=True)


def _wrong_triple(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose typographic or single quotes at the start or end of a string of several lines."""
    first = _TRIPLE.match(context.text, context.at)
    last = None if first is None else _TRIPLE.search(context.text, first.end())
    if first is not None and last is not None:
        plain = '"' * 3
        wrong = [match for match in (first, last) if match[0] != plain]
        edits = tuple([Edit(Span(*match.span()), plain) for match in wrong])
        code, message = "single-quotes", "a string must be in double quotes"
        if context.token != "'":
            code, message = "smart-quotes", typographic_quote_message(first[0][0])
        yield Diagnosis(code, message, edits[0].span, edits, f"write `{plain}`", safe=True)


def typographic_quote_message(quote: str) -> str:
    """Return the message about a typographic quote."""
    return f"`{quote}` is a typographic quote; a string must be in plain quotes"


_UPPER_HEX = re.compile(r"-?0X[0-9A-Fa-f]+\b")


_LIKE_DIGITS = re.compile(r"[\d.]l+$")
"""Matches the end of a number such as `2l`, a misread `21`."""


def numbers(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `.5`, `+1`, `1_000`, `1.5f`, `0X10`, and `0x10` where only decimals are valid."""
    text, start, before = context.text, context.at, context.done[-2:]
    if len(before) == 2 and context.name(before[1]) == "WORD" and before[0].end == before[1].at:
        start = before.pop().at  # in a record, `_000` of `1_000` is the next field
    if before and before[-1].end == start and before[-1].lstrip("-")[:1].isdigit():
        start = before[-1].at
    else:
        start = context.at
    while start > 0 and text[start - 1] in "+-.":
        start -= 1
    match = OTHER_NUMBER.match(text, start + (text[start : start + 1] == "-"))
    if match is None:
        yield from _hex(context, start)
        return
    written = match.group()
    if written[0] == "+" and (text[start - 1 : start].isalnum() or text[start - 1] in '_")]'):
        return  # a sum, such as `x+1`
    span = Span(start, match.end())
    other = other_spelling(text[slice(*span)])
    if other is None:
        return
    type, first = _type_of_number(context, start)
    edits, safe, like_digits = list[Edit](), True, False
    for number in chain((span,), _numbers_after(context, span.end)):
        spelled = other_spelling(written := text[slice(*number)])
        value = written if spelled is None else whole_number(spelled.written) or ""
        invalid = type.startswith(("int", "uint")) and not value.lstrip("-").isdigit()
        if edits and invalid:
            break  # the number has another error
        if spelled is None:
            continue
        plain, certain = _plain_number(context, written, spelled.written, type, first)
        edits.append(Edit(number, plain))
        safe = safe and certain
        like_digits = like_digits or _LIKE_DIGITS.search(written) is not None
    title = f"write `{edits[0].text}`{' and so on' if len(edits) > 1 else ''}"
    result = Diagnosis(other.code, other.message, span, tuple(edits), title, min_tokens=0)
    yield replace_fields(result, safe="evident" if safe and like_digits else safe)


_COMMA = re.compile(r"[ \t]*,[ \t]*")


def _numbers_after(context: ErrorContext, offset: int) -> Iterator[Span]:
    """Yield the ranges of the numbers that follow on the line, in the same list."""
    text = context.text
    while comma := _COMMA.match(text, offset, context.line_end):
        start = comma.end()
        match = OTHER_NUMBER.match(text, start + (text[start : start + 1] == "-"))
        if match is None:
            return
        offset = match.end()
        yield Span(start, offset)


def _plain_number(
    context: ErrorContext, written: str, plain: str, type: str, first: Token | None
) -> tuple[str, bool]:
    """Return how to write a number, and whether that is certain.

    Args:
        context: the context of the error.
        written: the number as it is written.
        plain: the number in decimal.
        type: the type of the number; "" if unknown.
        first: the first item of the list, if it is before the number; None otherwise.
    """
    whole = plain.lstrip("-").isdigit()
    if type.partition("[")[0] in NARROW:  # an integer would be the bits of the float
        return (f"{plain}.0", False) if whole else (plain, True)
    if type.startswith("bool"):
        return plain, plain in {"0", "1"}
    if type.startswith(("int", "uint")):
        return whole_number(plain) or plain, True
    if {"attribute", "node"} & context.rules:  # the value may determine the attribute's type
        if written[-1] in "fF" and whole:
            return f"{plain}.0", False
        if context.name(first) == "INT" and not whole:
            return plain, bool(type)
    return plain, True


NARROW = {name for name, form in FORMATS.items() if form.bits < 32}


def _type_of_number(context: ErrorContext, start: int) -> tuple[str, Token | None]:
    """Return the arguments `type` and `first` of `_plain_number` for the number at `start`.

    The type is that of the tensor, or the declared type of the attribute; "" if unknown.
    """
    before = [token for token in context.done if token.at < start]
    index, first = innermost_bracket(before), None
    if index is not None and before[index] in {"[", "{"}:
        first = before[index + 1] if index + 1 < len(before) else None
        before = before[:index]
    declared = [token for mark, token in pairwise(before[-4:]) if mark == ":"]
    types = [token for token in before[-3:] if context.name(token) in {"TYPE", "PRIM"}]
    return next(iter((*declared, *types)), ""), first


def _hex(context: ErrorContext, start: int) -> Iterator[Diagnosis]:
    """Diagnose `0X10`, and hexadecimal numbers where only decimals are valid.

    `start`: the offset of the number before or at the unexpected token.
    """
    for token in (*context.nearby(1), context.lexer.token(context.text, start)):
        if token is None:
            continue
        match = _UPPER_HEX.match(context.text, token.at)
        if match is not None:
            written = match.group()
            message = "a hexadecimal number must begin with a lower-case `0x`"
        elif context.name(token) == "HEX":
            written, message = str(token), "a hexadecimal integer is not valid here"
        else:
            continue
        span = Span(token.at, token.at + len(written))
        other = other_spelling(written)
        if other is None:  # it has more than 64 bits
            yield advice("number-hex", message, span, "write the number in decimal")
            continue
        edits, title = (Edit(span, other.written),), f"write `{other.written}`"
        type = _type_of_number(context, token.at)[0].partition("[")[0]
        # In `float` and `double`, the number may have been meant as the bits.
        safe = type in NARROW or not type.startswith(("float", "double"))
        yield Diagnosis("number-hex", message, span, edits, title, safe=safe, min_tokens=4)


_BEFORE_BRACES = re.compile(r'(?:\[[^\]\n]*\])?\s*(?:"[^"\n]*"|[\w.:/-]+)?\s*(?:\{|=\s*[({])')
"""Matches what can stand between an element type and data in braces (or parentheses in error)."""

_WITHOUT_OPERATOR = re.compile(r'\s*(?:"[^"\n]*"|\w+)\s*=\s*[(<]')
"""Matches what follows the output in `half Div = (x, y)`."""


def misspelled(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose misspelled or foreign keywords: `flaot[N]`, `float32`, `sequence(…)`, `metdata`."""
    keywords = load_keywords()
    for token in context.nearby(4):
        if context.name(token) != "WORD":
            continue
        meant = ALIASES.get(token)
        if meant is not None:
            code, message = "unknown-type", f"`{token}` is not a type"
            safe = token not in AMBIGUOUS
            # In `half Div = (x, y)`, `half` may be the output.
            if "node" in context.rules and _WITHOUT_OPERATOR.match(context.text, token.end):
                safe = False
            # In braces, an integer would become the bits of a narrow float.
            if meant in NARROW and _BEFORE_BRACES.match(context.text, token.end):
                safe = False
        else:
            code, message, safe = "misspelt-keyword", f"`{token}` is unknown here", False
            meant = nearest_name(token, keywords)
        if meant is not None:
            yield rewritten(code, message, token.span, meant, safe=safe, min_tokens=3)


def unknown_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an unknown word in place of an element type, as in `vector[N] x`."""
    token, word = context.token, context.last
    if word is None or context.name(word) != "WORD" or word.end != context.at:
        return
    if token == "[" or context.name(token) == "NUMBERS":
        message = f"`{word}` is not a type"
        help = "write an element type, such as `float`, `int64` or `bool`"
        yield advice("unknown-type", message, word.span, help, replace(word, "float"), min_tokens=6)


_DOUBLED = OPENING | {"?"}


def repeated_token(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a token that is written twice: `axis axis = 1`, `{{0}`, `float float x`, `a. .B`."""
    for before, token in pairwise([*context.done[-3:], *context.rest[:1]]):
        longer = token != before and token[len(before) - 1 : len(before) + 1].isalnum()
        if longer or not token.startswith(before):  # `float16` is longer than `float`
            continue
        edits = (Edit(Span(before.at, token.at), ""),)
        twice = context.name(before) in {"PRIM", "DOT", "DECORATOR"} and context.is_certain(edits)
        if token is context.token:
            follows = context.name(token) == "WORD" and {*context.ahead[:1]} & {*"=:(<"}
            ends = {*context.ahead[:1]} & {*",)]>"} and before.at >= context.line_start
            word = follows or (ends and context.name(token) in {"WORD", "STRING"})
            twice |= (word and token == before) or (before in _DOUBLED and before.end == token.at)
        if twice:
            message = f"`{before}` is written twice"
            yield Diagnosis("syntax-error", message, token.span, edits, "remove one", min_tokens=2)


def load_keywords() -> list[str]:
    """Return the keywords of the grammar, such as `float`, `seq` and `metadata`."""
    special = (t for t in load_tables().terminals if t.priority == 1 and "inf" not in t.pattern)
    return [word for terminal in special for word in re.findall(r"[a-z_0-9]+", terminal.pattern)]


def conflict(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose conflict markers of git, such as `<<<<<<< HEAD`."""
    text = context.text
    for token in context.nearby(8):
        line = line_start(text, token.at)
        if CONFLICT_MARKER.match(text, line):
            yield from _conflict(context, line)
            return


_MARKER = re.compile(rf"^{CONFLICT_MARKER.pattern}[^\r\n]*", re.MULTILINE)


def _conflict(context: ErrorContext, line: int) -> Iterator[Diagnosis]:
    """Diagnose the conflict whose first marker is in the line that begins at the offset `line`.

    The edits keep one side. If the first or last marker is missing, the edits of the first
    diagnosis remove the markers and all text between them. A single marker is removed by a fix.
    """
    markers: list[re.Match[str]] = []
    for match in _MARKER.finditer(context.text, line):
        if markers and match["mark"] == "<":
            break
        markers.append(match)
        if match["mark"] == ">":
            break
    start, end = markers[0].start("mark"), markers[-1].end()
    sides = [
        (Edit(Span(start, before.end()), ""), Edit(Span(after.start(), end), ""))
        for before, after in pairwise(markers)
    ]
    newline = next((mark for mark in ("\n", "\r\n") if context.text.startswith(mark, end)), "")
    next_line, indent = end + len(newline), context.text[line:start]
    next_line += len(indent) if context.text.startswith(indent, next_line) else 0
    everything = (Edit(Span(start, next_line), ""),)
    complete = (markers[0]["mark"], markers[-1]["mark"]) == ("<", ">")
    span, message, help = (
        Span(start, markers[0].end()),
        "an unresolved merge conflict",
        CONFLICT_HELP,
    )
    title = "remove this line" if len(markers) == 1 else ""
    for edits in sides if complete else (everything, *sides):
        yield Diagnosis("merge-conflict", message, span, edits, title, help=help, min_tokens=4)
    skip_to = context.text.find("\n", end) + 1 or len(context.text) + 1
    yield Diagnosis("merge-conflict", message, span, help=help, skip_to=skip_to)
