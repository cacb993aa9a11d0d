# SPDX-License-Identifier: Apache-2.0
"""The places in statements as exporters write them: on one line, and of simple parts.

The parser of places takes 0.2 ms a statement, and a large text has thousands. One regular
expression finds the same places in a tenth of the time; whatever it does not match is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from onnxtext.source import Span
from onnxtext.syntax.lexer import load_lexer
from onnxtext.syntax.locate import Places

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_NAME = rf'(?:{_WORD}|"[^"\\\n]*")'
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_TYPE = rf'{_WORD}(?:\[[^\]"\n#\[]*\])?'
_VALUE = rf'(?:{_NUMBER}|"[^"\\\n]*"|\[{_NUMBER}(?:, {_NUMBER})*\])'
_OUTPUT = re.compile(rf"(?:({_TYPE}) )?({_NAME})")
_ATTRIBUTE = re.compile(rf"({_WORD}) = ({_VALUE})")
_NAMES = re.compile(_NAME)
_WORDS = re.compile(_WORD)

_NODE = re.compile(
    rf"(?:\[({_NAME})\] )?"
    rf"((?:{_TYPE} )?{_NAME}(?:, (?:{_TYPE} )?{_NAME})*) = "
    rf"({_WORD}(?:\.{_WORD})*) "
    rf"(?:(<{_WORD} = {_VALUE}(?:, {_WORD} = {_VALUE})*>) )?"
    rf"\(({_NAME}(?:, {_NAME})*)\)"
    r"(?=\s*(?:\}|\Z))"
)
_VALUE_INFO = re.compile(
    rf"({_TYPE}) ({_NAME})(?: = ({_NUMBER}|\[{_NUMBER}(?:, {_NUMBER})*\]))?(?=\s*(?:[,)>]|\Z))"
)


def plain_places(kind: str, chunk: str) -> Places | None:
    """The places of the statement that a chunk of text begins with; None if it is not plain.

    The tokens themselves, which are what their parts say once more, are left out.
    """
    if kind == "node":
        return _node(chunk)
    return _value(chunk) if kind == "value_info" else None


def _node(chunk: str) -> Places | None:
    found = _NODE.match(chunk)
    if found is None:
        return None
    label, outputs, operator, attributes, names = map(found.span, range(1, 6))
    parts: dict[str, Places] = {}
    words: list[str] = []
    types: list[str] = []
    if label[0] >= 0:
        parts["label"] = Places(Span(0, label[1] + 1), "label", {"name": _name(chunk, label)})
        words.append(chunk[label[0] : label[1]])
    made = []
    for output in _OUTPUT.finditer(chunk, *outputs):
        if output.start(1) < 0:
            own = {"name": _name(chunk, output.span(2))}
            made.append(Places(Span(*output.span()), "untyped_output", own))
        else:
            type = Places(Span(*output.span(1)), "coarse_type")
            own = {"type": type, "name": _name(chunk, output.span(2))}
            made.append(Places(Span(*output.span()), "typed_output", own))
            types.append(output.group(1))
        words.append(output.group(2))
    parts["outputs"] = _list(outputs, made)
    parts["operator"] = _list(operator, _found(chunk, _WORDS, operator, words))
    if attributes[0] >= 0:
        made = []
        for item in _ATTRIBUTE.finditer(chunk, *attributes):
            words.append(item.group(1))
            value = Places(Span(*item.span(2)), "element")
            own = {"name": Places(Span(*item.span(1)), "plain_name"), "value": value}
            made.append(Places(Span(*item.span()), "attribute", own))
        parts["attributes"] = _list(attributes, made)
    parts["names"] = _list(names, _found(chunk, _NAMES, names, words))
    if not _are_known(words, types):
        return None
    return Places(Span(0, found.end()), "node", parts)


def _value(chunk: str) -> Places | None:
    found = _VALUE_INFO.match(chunk)
    if found is None or not _are_known((found.group(2),), (found.group(1),)):
        return None
    parts = {
        "type": Places(Span(*found.span(1)), "coarse_type"),
        "name": _name(chunk, found.span(2)),
    }
    rule = "typed_value"
    if found.start(3) >= 0:
        rule = "initializer"
        parts["data"] = Places(Span(*found.span(3)), "raw_numbers")
    return Places(Span(0, found.end()), rule, parts)


def _name(chunk: str, span: tuple[int, int]) -> Places:
    return Places(Span(*span), "plain_string" if chunk[span[0]] == '"' else "plain_name")


def _list(span: tuple[int, int], items: list[Places]) -> Places:
    return Places(Span(*span), "list_first", {}, list(items))


def _found(
    chunk: str, pattern: re.Pattern[str], span: tuple[int, int], words: list[str]
) -> list[Places]:
    made = []
    for item in pattern.finditer(chunk, *span):
        made.append(_name(chunk, item.span()))
        words.append(item.group())
    return made


def _are_known(names: Iterable[str], types: Iterable[str]) -> bool:
    """Whether the lexer says too that unquoted names are names, and types are types."""
    return all(word[0] == '"' or _kind(word) == "WORD" for word in names) and all(
        _kind(type) in ("PRIM", "TYPE") for type in types
    )


@lru_cache(maxsize=1 << 14)
def _kind(word: str) -> str:
    return load_lexer().kind(word)
