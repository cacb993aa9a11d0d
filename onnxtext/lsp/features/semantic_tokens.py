# SPDX-License-Identifier: Apache-2.0
"""Semantic tokens: what the names of a text mean, for colours that no grammar can give."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson
from lsprotocol import types as t

from onnxtext.ast.model import Node
from onnxtext.checker.scopes import GIVEN, Scope
from onnxtext.checker.signatures import Signature
from onnxtext.lsp.document import Document, Version
from onnxtext.lsp.index import Index
from onnxtext.lsp.names import Statement
from onnxtext.lsp.statements import Located
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server import Server

TYPES = (
    "variable", "parameter", "function", "namespace", "property", "type", "typeParameter",
    "class", "decorator", "label",
)  # fmt: skip
MODIFIERS = ("declaration", "readonly", "deprecated", "defaultLibrary", "definition")
LEGEND = t.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))
_TYPE = {name: number for number, name in enumerate(TYPES)}
_COMPUTED = _TYPE["variable"], 0
_MODIFIER = {name: 1 << number for number, name in enumerate(MODIFIERS)}

_AT_ONCE = 200
"""So many statements are looked at before others may work."""

Token = tuple[int, int, int, int]
"""Where it starts and ends, its type and its modifiers."""


def register(server: Server) -> None:
    """Add the requests."""
    server.answer(t.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, full, LEGEND)
    server.answer(t.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, part, LEGEND)
    server.answer(t.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, delta)


async def full(server: Server, params: t.SemanticTokensParams) -> orjson.Fragment | None:
    """The tokens of the whole text."""
    document = server.document(params.text_document.uri)
    return None if document is None else _whole(*await _remember(document))


def part(server: Server, params: t.SemanticTokensRangeParams) -> t.SemanticTokens | None:
    """The tokens of a part of the text."""
    document = server.document(params.text_document.uri)
    if document is None:
        return None
    version = document.version
    span = version.lines.span(params.range)
    return t.SemanticTokens(encode(version, tokens(version, span)))


async def delta(
    server: Server, params: t.SemanticTokensDeltaParams
) -> orjson.Fragment | t.SemanticTokensDelta | None:
    """What has changed since the client asked last."""
    document = server.document(params.text_document.uri)
    if document is None:
        return None
    known = document.tokens
    name, data = await _remember(document)
    if known is None or known[0] != params.previous_result_id:
        return _whole(name, data)
    old = known[1]
    head = common_start(old, data)
    tail = common_start(old[head:][::-1], data[head:][::-1])
    edit = t.SemanticTokensEdit(head, len(old) - head - tail, data[head : len(data) - tail])
    edits = [edit] if edit.delete_count or edit.data else []
    return t.SemanticTokensDelta(edits, name)


def _whole(name: str, data: list[int]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps({"resultId": name, "data": data}))


async def _remember(document: Document) -> tuple[str, list[int]]:
    data = await all_tokens(document)
    document.tokens = uuid.uuid4().hex, data
    return document.tokens


def common_start(one: list[int], other: list[int]) -> int:
    """How many numbers two lists begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


async def all_tokens(document: Document) -> list[int]:
    """The tokens of the whole text as the protocol has them.

    Most statements lie on one line and hold no graphs. Their tokens are kept by their text and by
    what their names mean, relative to their first one.
    """
    version = document.version
    index, lines, made = version.index, version.lines, document.cache.made
    rest = _beside(index)
    given = {id(scope): _given(index, scope) for scope in index.scopes}
    runs: list[tuple[int, list[int]]] = []
    for number, statement in enumerate(index.statements):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        at = statement.at
        if statement.number in statement.scope.children:
            rest += _of_statement(index, statement)
            continue
        chunk = version.text[at : statement.limit]
        meanings = _meanings(index, statement, given[id(statement.scope)])
        key = "tokens", statement.kind, chunk, meanings
        run = made.get(key)
        if run is None:
            found = _of_statement(index, statement)
            line = lines.line_of(at)
            if not found or lines.line_of(max(token[1] for token in found)) > line:
                rest += found  # several lines, or a mistake
                continue
            run = encode(version, found)
            run[0] = 0
            # The column of the first token is that of the statement and this.
            run[1] -= lines.place(at)[1]
            made[key] = run
        runs.append((at, run))
    return _join(version, runs, sorted(set(rest)))


def _given(index: Index, scope: Scope) -> dict[str, tuple[int, int]]:
    """The meanings of the inputs and initializers of a graph or body."""
    return {name: _meaning(index, scope, name) for name in scope.given}


def _meanings(
    index: Index, statement: Statement, given: dict[str, tuple[int, int]]
) -> tuple[object, ...]:
    """What the tokens of a statement depend on besides its text."""
    scope, item = statement.scope, statement.item
    if statement.kind != "node":
        return statement.group, _meaning(index, scope, item.name)
    target = index.target(statement)
    known = target.deprecated if isinstance(target, Signature) else None
    meanings: list[object] = [known]
    for name in item.inputs:
        meaning = given.get(name)
        if meaning is None and name not in scope.position:
            meaning = _meaning(index, index.resolve(scope, name), name)
        meanings.append(meaning)
    return tuple(meanings)


def _join(version: Version, runs: list[tuple[int, list[int]]], rest: list[Token]) -> list[int]:
    """Join the tokens of statements and others, which never lie within these statements."""
    lines = version.lines
    data: list[int] = []
    line = column = following = 0
    for at, run in [*runs, (len(version.text) + 1, [])]:
        first = following
        while following < len(rest) and rest[following][0] < at:
            following += 1
        if first < following:
            others = encode(version, rest[first:following], (line, column))
            data += others
            for index in range(0, len(others), 5):
                column = others[index + 1] + (0 if others[index] else column)
                line += others[index]
        if run:
            last_line, last_column = line, column
            line, column = lines.place(at)
            column += run[1]
            start = len(data)
            data += run
            data[start] = line - last_line
            data[start + 1] = column - last_column if line == last_line else column
            column += sum(run[6::5])
    return data


def encode(version: Version, found: list[Token], last: tuple[int, int] = (0, 0)) -> list[int]:
    """Tokens as the protocol has them: five numbers each, relative to the one before.

    Args:
        version: the text.
        found: the tokens.
        last: line and column of the token before them.
    """
    lines = version.lines
    data: list[int] = []
    last_line, last_column = last
    last_end = -1
    for start, end, kind, modifiers in sorted(set(found)):
        if start < last_end:
            continue
        line, column = lines.place(start)
        if end > lines.line_end(line):
            continue  # a name with a line break: editors want tokens of one line
        shift = column - last_column if line == last_line else column
        data += (line - last_line, shift, lines.width(version.text[start:end]), kind, modifiers)
        last_line, last_column, last_end = line, column, end
    return data


def tokens(version: Version, span: Span) -> list[Token]:
    """The tokens that begin in a part of the text, in no order."""
    index = version.index
    found = _beside(index)
    for statement in index.statements_in(span.start, span.end):
        found += _of_statement(index, statement)
    return [token for token in found if span.start <= token[0] < span.end]


def _beside(index: Index) -> list[Token]:
    """The tokens that are in no statement."""
    found: list[Token] = []
    for scope in index.scopes:
        holder = None if scope.holder is None else index.original(scope.holder)
        for token in _heads(index, scope):
            # In a text with mistakes, what is taken for a head may lie in a statement.
            around = index.statement_at(token[0])
            if around is None or around.item is holder:
                found.append(token)
    for name in index.sections:
        kind = "function" if name.function is not None else "variable"
        found.append((*name.span, _TYPE[kind], 0))
    return found


def _of_statement(index: Index, statement: Statement) -> list[Token]:
    located = index.located(statement)
    if located is None:
        return []
    return list((_node if statement.kind == "node" else _value)(index, statement, located))


def _heads(index: Index, scope: Scope) -> Iterator[Token]:
    if scope.place.at < 0:
        return
    if scope.kind != "function":
        yield (*index.name_span(scope.place), _TYPE["class"], _MODIFIER["declaration"])
        return
    for key, span in index.function_heads(scope):
        kind = "function" if key[0] == "function" else "parameter"
        yield (*span, _TYPE[kind], _MODIFIER["declaration"])


def _value(index: Index, statement: Statement, located: Located) -> Iterator[Token]:
    scope, value, text = statement.scope, statement.item, index.source.text
    type = located.find("type")
    if type is not None:
        yield from _type(type, text)
    name = located.find("name")
    if name is not None:
        kind, modifiers = _meaning(index, scope, value.name)
        if statement.group in ("info", "output"):
            yield (*name, kind, modifiers)
        else:
            yield (*name, kind, modifiers | _MODIFIER["declaration"])


def _type(span: Span, text: str) -> Iterator[Token]:
    """The element type of a type, without its dimensions."""
    end = text.find("[", span.start, span.end)
    first = end if end >= 0 else span.end
    if text.find("(", span.start, first) < 0:
        yield (span.start, first, _TYPE["type"], 0)


def _meaning(index: Index, scope: Scope, name: str) -> tuple[int, int]:
    """The kind of a value: an input, an initializer, or what a node computes."""
    if scope.position.get(name) != GIVEN:
        return _COMPUTED
    if name in index.inputs(scope):
        return _TYPE["parameter"], 0
    return _TYPE["variable"], _MODIFIER["readonly"]


def _node(index: Index, statement: Statement, located: Located) -> Iterator[Token]:
    node: Node = statement.item
    text = index.source.text
    label = located.find("label", "name")
    if label is not None:
        yield (*label, _TYPE["label"], 0)
    for number, name in enumerate(node.outputs):
        type = located.find("outputs", number, "type")
        if type is not None:
            yield from _type(type, text)
        span = located.find("outputs", number, "name") or located.find("outputs", number)
        if name and span is not None:
            yield (*span, _TYPE["variable"], _MODIFIER["declaration"])
    for number, name in enumerate(node.inputs):
        span = located.find("names", number) if name else None
        if span is not None:
            yield (*span, *_meaning(index, index.resolve(statement.scope, name), name))
    yield from _operator(index, statement, located)
    for number, _ in enumerate(node.attributes):
        span = located.find("attributes", number, "name")
        if span is not None:
            yield (*span, _TYPE["property"], 0)
        reference = located.find("attributes", number, "value", "name")
        if reference is not None and text[reference.start - 1 : reference.start] == "@":
            yield (*reference, _TYPE["parameter"], 0)


def _operator(index: Index, statement: Statement, located: Located) -> Iterator[Token]:
    try:
        parts = [item for item in located.places.find("operator").items if item is not None]
    except LookupError:
        return
    for item in parts[:-1]:
        yield (*located.absolute(item), _TYPE["namespace"], 0)
    for item in parts[-1:]:
        target = index.target(statement)
        modifiers = 0
        if isinstance(target, Signature):
            modifiers = _MODIFIER["defaultLibrary"]
            modifiers |= _MODIFIER["deprecated"] if target.deprecated else 0
        yield (*located.absolute(item), _TYPE["function"], modifiers)
