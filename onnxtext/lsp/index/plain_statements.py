# SPDX-License-Identifier: Apache-2.0
"""Find the spans in plain statements by regular expressions: a fast path for exported models.

A plain statement has simple parts and no comments. It may have several lines if it is wrapped as in
printed texts. Parsing a statement takes 0.2 ms; matching takes a hundredth of this time.
Statements that are not plain are parsed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.span_map import SpanMap

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_NAME = rf'(?:{_WORD}|"[^"\\\n]*")'
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_TYPE = rf'{_WORD}(?:\[[^\]"\n#\[]*\])?'
_BLANK = r"[ \t\r\n]*"
_BREAK = r"[ \t\r\n]+"
_END = rf"(?:,{_BLANK})?"
"""The end of a list: in a list of several lines, a comma follows the last item."""
_NUMBERS = rf"{_BLANK}{_NUMBER}(?:,{_BLANK}{_NUMBER})*{_BLANK}{_END}"
_SPLAT = rf"\[{_BLANK}{_NUMBER}(?:,{_BLANK}{_NUMBER})*,{_BLANK}\.\.\.{_BLANK}\]"
_VALUE = rf'(?:{_NUMBER}|"[^"\\\n]*"|\[{_NUMBERS}\])'
OUTPUT = re.compile(rf"(?:({_TYPE}) )?({_NAME})")
ATTRIBUTE = re.compile(rf"({_WORD}) = ({_VALUE})")
NAMES = re.compile(_NAME)
WORDS = re.compile(_WORD)

_ATTRIBUTES = rf"<{_BLANK}{_WORD} = {_VALUE}(?:,{_BLANK}{_WORD} = {_VALUE})*{_BLANK}{_END}>"
_NODE = re.compile(
    rf"(?:\[({_NAME})\]{_BREAK})?"
    rf"((?:{_TYPE} )?{_NAME}(?:,{_BREAK}(?:{_TYPE} )?{_NAME})*){_BREAK}= "
    rf"({_WORD}(?:\.{_WORD})*) "
    rf"(?:({_ATTRIBUTES}) )?"
    rf"\({_BLANK}((?=\))|{_NAME}(?:,{_BLANK}{_NAME})*,?){_BLANK}\)"
    rf"(?: ({_ATTRIBUTES}))?"
    r"(?=\s*(?:\}|\Z))"
)
_VALUE_INFO = re.compile(
    rf"({_TYPE}) ({_NAME})"
    rf"(?: = ({_NUMBER}|\[{_NUMBERS}\]|\{{{_NUMBERS}\}}|{_SPLAT}|blob\"[0-9a-f]+\"))?"
    r"(?=\s*(?:[,)>]|\Z))"
)


def match_plain(kind: str, chunk: str) -> re.Match[str] | None:
    """Match the plain statement at the start of a chunk; return None if it is not plain.

    The groups for a node: 1 label, 2 outputs, 3 operator, 4 attributes before the inputs, 5 inputs,
    6 attributes after the inputs. For a value: 1 type, 2 name, 3 data.
    """
    if kind == "node":
        result = _NODE.match(chunk)
        if result is None or (result.group(4) is not None and result.group(6) is not None):
            return None
        outputs, types = result.group(2), []
        statement = result.group()
        if " " in outputs.replace(", ", ","):
            typed = OUTPUT.findall(outputs)
            types = [type for type, _ in typed if type]
            statement = statement.replace(outputs, " ".join([name for _, name in typed]), 1)
        return result if _are_known(statement, types) else None
    result = _VALUE_INFO.match(chunk) if kind == "value_info" else None
    if result is None or not _are_known(result.group(2), [result.group(1)]):
        return None
    return result


def attributes_span(match: re.Match[str]) -> tuple[int, int]:
    """Return (start, end) of the attributes in the match of a node; (-1, -1) if it has none."""
    before = match.span(4)
    return before if before[0] >= 0 else match.span(6)


def plain_span_map(kind: str, chunk: str) -> SpanMap | None:
    """Return the span map of the statement at the start of a chunk; None if it is not plain.

    The span map has no entries for tokens, because these would repeat the spans of the parts.
    """
    match = match_plain(kind, chunk)
    if match is None:
        return None
    return (_node if kind == "node" else _value)(chunk, match)


def _node(chunk: str, match: re.Match[str]) -> SpanMap:
    label, outputs, operator, _, names = map(match.span, range(1, 6))
    attributes = attributes_span(match)
    parts: dict[str, SpanMap] = {}
    if label[0] >= 0:
        parts["label"] = SpanMap(Span(0, label[1] + 1), "label", {"name": _name(chunk, label)})
    output_maps = []
    for output in OUTPUT.finditer(chunk, *outputs):
        output_map = _name(chunk, output.span(2))
        if output.start(1) >= 0:
            type = SpanMap(Span(*output.span(1)), "coarse_type")
            output_parts = {"type": type, "name": output_map}
            output_map = SpanMap(Span(*output.span()), "typed_output", output_parts)
        output_maps.append(output_map)
    parts["outputs"] = _list(outputs, output_maps)
    parts["operator"] = _list(operator, _find_spans(chunk, WORDS, operator))
    if attributes[0] >= 0:
        output_maps = []
        for item in ATTRIBUTE.finditer(chunk, *attributes):
            value = SpanMap(Span(*item.span(2)), "element")
            output_parts = {"name": SpanMap(Span(*item.span(1)), "plain_name"), "value": value}
            output_maps.append(SpanMap(Span(*item.span()), "attribute", output_parts))
        parts["attributes"] = _list(attributes, output_maps)
    inputs: list[SpanMap | None] = [*_find_spans(chunk, NAMES, names)]
    if not inputs or chunk[names[1] - 1] == ",":  # the parser adds an omitted input
        inputs.append(None)
    parts["names"] = SpanMap(Span(*names), "list_first", {}, inputs)
    return SpanMap(Span(0, match.end()), "node", parts)


def _value(chunk: str, match: re.Match[str]) -> SpanMap:
    parts = {
        "type": SpanMap(Span(*match.span(1)), "coarse_type"),
        "name": _name(chunk, match.span(2)),
    }
    rule = "typed_value"
    if match.start(3) >= 0:
        rule = "initializer"
        parts["data"] = SpanMap(Span(*match.span(3)), "raw_numbers")
    return SpanMap(Span(0, match.end()), rule, parts)


def _name(chunk: str, span: tuple[int, int]) -> SpanMap:
    return SpanMap(Span(*span), "plain_string" if chunk[span[0]] == '"' else "plain_name")


def _list(span: tuple[int, int], items: list[SpanMap]) -> SpanMap:
    return SpanMap(Span(*span), "list_first", {}, list(items))


def _find_spans(chunk: str, pattern: re.Pattern[str], span: tuple[int, int]) -> list[SpanMap]:
    return [_name(chunk, item.span()) for item in pattern.finditer(chunk, *span)]


def _are_known(statement: str, types: list[str]) -> bool:
    """Whether the lexer reads the words in `statement` as names, and `types` as types."""
    if '"' in statement:
        statement = " ".join(statement.split('"')[::2])
    return all(_kind(word) == "WORD" for word in WORDS.findall(statement)) and all(
        _kind(type) in ("PRIM", "TYPE") for type in types
    )


@lru_cache(maxsize=1 << 14)
def _kind(word: str) -> str:
    return load_lexer().kind(word)
