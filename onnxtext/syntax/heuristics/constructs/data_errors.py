# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for tensor data: blobs, extra brackets, and elements that are not numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.node_errors import in_attributes
from onnxtext.syntax.heuristics.diagnosis import (
    Diagnosis,
    advice,
    removed,
    rewritten,
    written_title,
)
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    OPENING,
    ErrorContext,
    innermost_bracket,
    replace,
)
from onnxtext.tensor.number_spellings import OTHER_NUMBER

_BLOB = re.compile(
    r"(?P<word>[Bb][Ll][Oo][Bb]|[A-Za-z]{3,5}(?=[ \t]*\"))(?P<blank>[ \t]*)(?P<open>\"?)"
    r"(?P<digest>[0-9A-Fa-f]{16,64})(?P<close>\"?)(?![\w\"])"
)
_WRONG_BLOB = re.compile(r'blob[ \t]*("[^"\n]*")')
_MAX_LIST_LENGTH = 4000
_LOOK_LIKE = str.maketrans("oOlI", "0011")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_LIKE_NUMBER = re.compile(r"(?:[^\s()\[\]{}<>,\"'=:;#/]|(?<=[eE])[-+])+")
_BEGINS_NUMBER = re.compile(r"[-+.]*[\d½∞]|--?[A-Za-z]")
_HEX = re.compile(r"-?0[xX][0-9A-Fa-f]+")
_PREFIXED = re.compile(r"-?0(?:[bB][01]{1,64}|[oO][0-7]{1,22})")
_NUMBERS = frozenset(("INT", "FLOAT", "HEX"))
_LONGER = frozenset(("NUMBERS", "NESTED", "BRACES"))
_QUOTED = re.compile(r'"(-?[0-9][0-9.eE+-]*|true|false)"')
_BOOLEANS = {
    "true": "true", "yes": "true", "on": "true", "t": "true", "y": "true",
    "false": "false", "no": "false", "off": "false", "f": "false", "n": "false",
}  # fmt: skip
_ROWS = re.compile(r"[-+.,\s\w()\[\]{}]*")
_TO_BRACKETS = str.maketrans("({)}", "[[]]")
_DATA_TYPES = frozenset(("TYPE", "PRIM"))


def blobs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a misspelled blob: `blob "af55…"`, `blob"AF55…"`, `bolb"…"`, `blob"af55…`."""
    if not context.done or ("node" in context.rules and not in_attributes(context)):
        return
    starts = (context.done[-1].at, context.at)
    match = next(filter(None, (_BLOB.match(context.text, start) for start in starts)), None)
    if match is None:
        yield from _wrong_digits(context)
    if match is None or match.end() < context.at:
        return
    word, digest = match["word"], match["digest"]
    if word == "file" or (match["blank"] and sorted(word.lower()) != sorted("blob")):
        return
    span, written = Span(*match.span()), f'blob"{digest.lower()}"'
    if word != "blob":
        message = f"expected `blob`, found `{word}`"
    elif not match["open"] or not match["close"]:
        message = "the digits of a blob must be in quotes"
    elif match["blank"]:
        message = "a blob cannot have a blank before its string"
    else:
        message = "the digits of a blob must be lower-case"
    yield rewritten("syntax-error", message, span, written, safe=word == "blob")


def _wrong_digits(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a blob whose string is no digest: `blob"af55zzzz"`."""
    match = _WRONG_BLOB.match(context.text, context.done[-1].at)
    if match is not None and match.end() > context.at:
        span, message = Span(*match.span(1)), "a blob needs 16 to 64 lower-case hexadecimal digits"
        edit = Edit(Span(*match.span()), f'blob"{"0" * 32}"')
        help = "copy the digits from the section `resources`, or from the text that has the blob"
        yield advice("syntax-error", message, span, help, edit)


def doubled_closer(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an extra `]` after a list, or the missing `[` of a row: `float[2] w = [1, 2]],`."""
    done, token = context.done, context.token
    if token != "]" or len(done) < 3 or done[-1][-1] not in CLOSING:
        return
    if context.innermost == "[":
        return
    message, title = "this `]` closes no list", "remove `]`"
    if done[-1] in CLOSING:
        yield removed("syntax-error", message, token.span, title, min_tokens=4)
    type = next((item for item in reversed(done[-4:-1]) if context.name(item) == "TYPE"), None)
    # In `float[1, 2] w = [1, 2]]`, the first `[` may be missing.
    if done[-1].startswith("[") and type is not None:
        rank, depth = type.count(",") + 1, len(done[-1]) - len(done[-1].lstrip("["))
        if depth >= rank:
            yield removed("syntax-error", message, token.span, title)


def type_of_list(context: ErrorContext) -> str:
    """Return the type of the tensor whose elements the innermost list contains; "" if unknown."""
    done = context.done
    index = innermost_bracket(done)
    while index and done[index] == "[" and done[index - 1] in {"[", ","}:  # a row
        index = innermost_bracket(done[:index])
    if not index:
        return ""
    before = done[max(index - 3, 0) : index]
    return next((item for item in reversed(before) if context.name(item) in _DATA_TYPES), "")


def booleans(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose other spellings of booleans: `[TRUE, FALSE]`, `[yes, no]`, `bool(True)`."""
    token = context.token
    if token is None or token.lower() not in _BOOLEANS or token in {"true", "false"}:
        return
    alone = context.done[-1:] == ["="] and "value_info" in context.rules
    if not type_of_list(context).startswith("bool") and not alone:
        return
    others = [other for other in context.ahead if other.lower() in _BOOLEANS]
    edits = tuple([Edit(other.span, _BOOLEANS[other.lower()]) for other in (token, *others)])
    title, message = f"write `{_BOOLEANS[token.lower()]}`", f"`{token}` is not a value"
    safe = token.lower() in {"true", "false"}
    yield Diagnosis("python-literal", message, token.span, edits, title, safe=safe)


def words_as_elements(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose words as elements of a tensor: `[zero, one]`, `[0, None]`."""
    token, type = context.token, type_of_list(context)
    if token is None or context.name(token) != "WORD" or not type or type.startswith("string"):
        return
    if token in {"True", "False"} or context.done[-1] not in {"[", "{", ","}:
        return
    if context.ahead[:1] == ["."] and context.ahead[1:]:
        span, help = Span(token.at, context.ahead[1].end), "write the number itself"
        message = f"`{context.text[slice(*span)]}` is not a number"
        yield advice("syntax-error", message, span, help, Edit(span, "0"))
    if context.ahead[:1] not in ([","], ["]"], ["}"]):
        return
    zero = "false" if type.startswith("bool") else "0"
    edits = [Edit(other.span, zero) for other in context.rest if context.name(other) == "WORD"]
    message, help = f"`{token}` is not a number", "write a number, such as 0, 1.5, inf or nan"
    if zero == "false":
        message, help = f"`{token}` is not an element of type bool", "write `true` or `false`"
    yield advice("syntax-error", message, token.span, help, *edits)


def rows_in_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose rows of a tensor in wrong brackets, `((1, 2), (3, 4))`."""
    done, token = context.done, context.token
    first = next((i for i in range(len(done) - 1, 0, -1) if done[i - 1] == "="), len(done))
    start = token if first == len(done) and done[-1:] == ["="] else None
    if first < len(done) and all(item in {"[", "(", "{"} for item in done[first:]):
        start = done[first]
    if token is None or start is None or not context.text.startswith(("(", "{"), token.at):
        return
    if not {"value_info", "tensor"} & context.rules:
        return
    depth, rows = 0, 0
    for item in context.lexer.tokens(context.text, start.at, start.at + _MAX_LIST_LENGTH):
        depth += (item in OPENING) - (item in CLOSING)
        rows += item in OPENING or item[0] in "[{"
        if depth == 0:
            break
    else:
        return
    span = Span(start.at, item.end)
    if rows < 3 or not _ROWS.fullmatch(context.text, *span):
        return
    edits = (Edit(span, context.text[slice(*span)].translate(_TO_BRACKETS)),)
    message, title = "the rows of a tensor must be in square brackets", "write `[…]`"
    yield Diagnosis("wrong-mark", message, token.span, edits, title)


def quoted_elements(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose numbers in quotes, `bool[1] b = ["true"]`, and strings among numbers."""
    token = context.token
    type = type_of_list(context)
    strings = [item for item in (*context.done[-2:], *context.rest) if item.startswith('"')]
    if token is None or not type or type.startswith("string") or not strings:
        return
    start = innermost_bracket(context.done) or 0
    limit = min(context.text.find("]", context.at), context.at + _MAX_LIST_LENGTH)
    found = list(_QUOTED.finditer(context.text, context.done[start].at, max(limit, context.at)))
    if not found or found[0].start() > context.at:
        if context.text.count('"', context.line_start, context.line_end) % 2:
            return  # a quote is missing or extra
        message = f"an element of type {type.partition('[')[0]} cannot be a string"
        help, zero = "write a number or remove it", replace(strings[0], "0")
        yield advice("syntax-error", message, strings[0].span, help, zero, min_tokens=2)
        return
    edits = tuple([Edit(Span(*match.span()), match[1]) for match in found])
    message = f"elements of type {type.partition('[')[0]} must not be in quotes"
    yield Diagnosis("syntax-error", message, edits[0].span, edits, "remove the quotes")


_IMAGINARY = re.compile(
    r"(?<![\w.+-])(?P<real>-?[\d.]+(?:e[-+]?\d+)?(?=[-+]))?"
    r"(?P<imaginary>[-+]?[\d.]+(?:e[-+]?\d+)?)[iI]\b"
)


def _complex_number(match: re.Match[str]) -> str:
    """Write a match of `_IMAGINARY` with both parts and a `j`, such as `0+2j`."""
    sign = "" if match["imaginary"][0] in "-+" else "+"
    return f"{match['real'] or 0}{sign}{match['imaginary']}j"


def odd_characters_in_numbers(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose numbers with other characters in them: `[0, 1, O]`, `0.l25`, `0x7g01`, `1.5.5`."""
    token, done = context.token, context.done
    if token is None or not done:
        return
    kind = context.name(token)
    joined = done[-1].end == token.at and context.name(done[-1]) in _NUMBERS
    first = context.until(done[-1].at) if joined else context
    kinds = first.expected()
    whole = _LIKE_NUMBER.match(context.text, first.at)
    if whole is None or "INT" not in kinds or "QMARK" in kinds or kind in _LONGER:
        return
    meant, span = whole[0].translate(_LOOK_LIKE), Span(*whole.span())
    is_number = _NUMBER.fullmatch(meant) is not None and not whole[0].startswith("0o")
    if kind == "WORD" and not joined and not (is_number and context.innermost is not None):
        return  # a word, not a number
    if meant == whole[0] if is_number else not _BEGINS_NUMBER.match(whole[0]):
        return
    other = OTHER_NUMBER.fullmatch(whole[0].removeprefix("-"))
    decimal = other is not None and ("FLOAT" in kinds or "." not in other[0])
    if decimal or _HEX.fullmatch(whole[0]):
        return  # `numbers` diagnoses it
    what = "a number" if "FLOAT" in kinds else "an integer"
    message = f"`{whole[0]}` is not {what}"
    if _PREFIXED.fullmatch(whole[0]):
        meant, is_number = str(int(whole[0], 0)), True
    found = _IMAGINARY.finditer(context.text, first.at, context.line_limit)
    edits = tuple([Edit(Span(*match.span()), _complex_number(match)) for match in found])
    is_complex = any(word.startswith("complex") for word in done if context.name(word) != "WORD")
    if is_complex and edits and edits[0].span == span:
        yield Diagnosis("syntax-error", message, span, edits, written_title(edits[0].text))
    if is_number:
        yield rewritten("syntax-error", message, span, meant)
    number = _NUMBER.match(whole[0])
    odd = "" if number is None else whole[0][number.end() :]
    if odd.isalpha() or (odd and not re.search(r"[\w.%]", odd)):
        edits = (Edit(Span(span.end - len(odd), span.end), ""),)
        yield Diagnosis("syntax-error", message, span, edits, f"remove `{odd}`")
    help = f"write {what}, such as 10"
    if context.name(done[-1]) == "HEX":
        help = "write a number; hexadecimal digits are 0-9 and a-f"
    yield advice("syntax-error", message, span, help, Edit(span, "0"))
