# SPDX-License-Identifier: Apache-2.0
"""Describe in plain words which tokens the grammar allows at an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_NAMES = {"WORD", "PRIM", "CONTAINER", "UNDEFINED", "BOOL", "FLOAT_WORD", "ENCODING", "RESOURCES"}
_STRINGS = {"STRING", "ESCAPED_STRING", "BYTES", "TRIPLE"}
_NUMBERS = {"INT", "FLOAT", "HEX", "HEX_FLOAT", "NAN", "COMPLEX", "FLOAT_WORD", "NEGATIVE_WORD"}
_TYPES = {"TYPE", "PRIM", "CONTAINER", "UNDEFINED"}
_PUNCTUATION = {
    "AT": "@", "COLON": ":", "COMMA": ",", "DOT": ".", "EQUAL": "=", "LBRACE": "{", "LESSTHAN": "<",
    "LPAR": "(", "LSQB": "[", "MORETHAN": ">", "QMARK": "?", "RBRACE": "}", "RPAR": ")",
    "RSQB": "]", "_ARROW": "=>", "SPLAT": "...",
}  # fmt: skip
_NODE = {"LSQB", "COMMA", "EQUAL", "DECORATOR", "WORD", "STRING", "TYPE"}
_VALUE = {"AT", "INT", "WORD", "STRING", "TYPE", "DECORATOR"}
_HEADER_VALUE = {"INT", "NUMBERS", "LSQB", "STRING"}
_DATA = {"NUMBERS", "NESTED", "BRACES", "LSQB", "LBRACE", "BLOB", "FILE"}
_GROUPS = (
    ({*_NODE, *_NAMES, *_STRINGS, *_TYPES}, _NODE, "a node"),
    ({*_VALUE, *_NAMES, *_STRINGS, *_NUMBERS, *_TYPES, *_DATA}, _VALUE, "a value"),
    ({*_NAMES, *_STRINGS, *_NUMBERS, "FIXED", *_DATA}, _HEADER_VALUE, "a value"),
    (_DATA, {"NESTED", "BRACES", "BLOB"}, "tensor data such as `[1, 2]`"),
    (_NAMES | _STRINGS, {"WORD", "STRING"}, "a name"),
    (_NAMES, {"WORD", "ENCODING"}, "a word"),
    (_TYPES, _TYPES, "a type, such as `float[N, 3]`"),
    (_NUMBERS, _NUMBERS, "a number"),
    (_STRINGS, _STRINGS, "a string"),
)
"""Tuples (group, needed, description).

If all terminals in `needed` are expected, the description replaces all terminals in `group`.
"""
_ATTRIBUTE_TYPE = {"WORD", "PRIM", "CONTAINER"}
_SINGLE = {
    "WORD": "a word", "INT": "an integer", "DECORATOR": "a decorator, such as `@doc(`",
    "NUMBERS": "a list of numbers, `[…]`", "NESTED": "a list of numbers, `[…]`",
    "BRACES": "numbers in braces, `{…}`", "FIXED": "a number", "ENCODING": "an `encoding` section",
    "RESOURCES": "a `resources` section", "BLOB": "a blob", "FILE": "a data file",
    "$END": "the end of the text",
}  # fmt: skip


SAMPLES = {
    **_PUNCTUATION, "WORD": "x", "INT": "0", "STRING": '""', "TYPE": "float[1]", "PRIM": "float",
    "NUMBERS": "[0]", "BOOL": "true", "BRACES": "{0}", "DECORATOR": "@doc(",
    "BLOB": 'blob"0123456789abcdef"',
}  # fmt: skip
"""A sample token for each terminal that may be missing."""


def describe(terminals: Iterable[str], scores: Mapping[str, float] | None = None) -> list[str]:
    """Describe terminals in words, without duplicates, the likeliest first.

    The terminal with the highest of the `scores` is the likeliest to be missing.
    """
    left = set(terminals)
    if left == _ATTRIBUTE_TYPE:
        return ["an attribute type such as `int`"]
    likely = scores or {}
    words: list[tuple[float, str]] = []
    for group, needed, word in _GROUPS:
        if needed <= left:
            words.append((max(likely.get(name, 0) for name in group), word))
            left -= group
    if "WORD" in left:
        left -= {"ENCODING", "RESOURCES"}  # words like any other here, such as keys of a header
    if "BRACES" in left:
        left.discard("LBRACE")  # the description of `BRACES` includes it
    if len(left) + len(words) > 1:
        left.discard("DECORATOR")  # a decorator is rarely missing
    for name in sorted(left, key=lambda name: (name not in _PUNCTUATION, name)):
        word = f"`{_PUNCTUATION[name]}`" if name in _PUNCTUATION else _SINGLE.get(name, "")
        if word and word not in (other for _, other in words):
            words.append((likely.get(name, 0), word))
    words.sort(key=lambda entry: -entry[0])
    return [word for _, word in words]


def sentence(words: list[str]) -> str:
    """Join descriptions into a phrase, `a, b or c`; write `…` for all after the sixth.

    Return "nothing" if there are no descriptions.
    """
    if len(words) > 6:
        words = [*words[:6], "…"]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing"


def found_words(token: str | None) -> str:
    """Return a token as error messages quote it; None means the end of the text."""
    if token is None:
        return "the end of the text"
    if len(token) == 1 and not token.isprintable():
        return f"the character U+{ord(token):04X}"
    line = token.partition("\n")[0].removesuffix("\r")
    return f"`{line[:40]}{'…' if len(line) > 40 or line != token else ''}`"
