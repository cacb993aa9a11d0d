# SPDX-License-Identifier: Apache-2.0
"""Semantic tokens: what the names of a text mean, for colours that no grammar can give."""

from __future__ import annotations

import uuid
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import orjson
from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, Version
from onnxtext.lsp.index.exporter_lines import match_plain
from onnxtext.lsp.index.names import Statement
from onnxtext.lsp.index.reuse import fill
from onnxtext.lsp.index.token_kinds import (
    MODIFIERS,
    TYPES,
    Token,
    beside,
    given_meanings,
    meanings,
    of_statement,
    plain_tokens,
)
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

LEGEND = t.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))

Run = tuple[int, list[int], int, tuple[object, ...]]
"""The tokens of a statement that lies on one line: how far behind it the first one begins, all as
the protocol has them, how far behind it the last one begins, and what they depend on."""


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
    """The tokens of the whole text as the protocol has them."""
    version = document.version
    writer = Writer(version)
    column, before = document.columns.take("tokens", version.index)
    writer.forget(column, before)
    try:
        await fill(version.index, column, writer.run)
    finally:  # it may be cancelled: what was made holds all the same
        document.columns.keep("tokens", version.index, column, writer.context)
    return _join(version, column, sorted({*beside(version.index), *writer.others}))


class Writer:
    """Writes the tokens of the statements of one version.

    Attributes:
        context: what the tokens of statements depend on besides their texts: operator sets and
            functions, and for each graph or body what its inputs and initializers mean.
        others: tokens in statements that have several lines, hold graphs, or have mistakes.
    """

    def __init__(self, version: Version) -> None:
        self._version = version
        self._index = index = version.index
        self.others: list[Token] = []
        self._given = [given_meanings(scope) for scope in index.scopes]
        opsets = [None if s.opsets is None else s.opsets.versions for s in index.scopes]
        self.context = opsets, set(index.functions()), self._given

    def forget(self, column: list[Run | None], before: Any) -> None:
        """Take those tokens out of a column of an older version that are others by now.

        Args:
            column: the tokens of the statements that are as they were.
            before: the `context` of that version; None without one.
        """
        if before is None:
            return
        index, given = self._index, self._given
        same = before[:2] == self.context[:2] and len(before[2]) == len(given)
        trusted = [
            same and one is not None and one == before[2][number]
            for number, one in enumerate(given)
        ]
        if all(trusted):
            return
        for number, run in enumerate(column):
            statement = index.statements[number]
            if run is None or trusted[index.number(statement.scope)]:
                continue
            if run[3] != self._meanings(statement):
                column[number] = None

    def run(self, statement: Statement) -> Run | None:
        """The tokens of a statement that lies on one line; those of another are put beside."""
        version, lines = self._version, self._version.lines
        if statement.number in statement.scope.children:
            self.others += of_statement(self._index, statement)
            return None
        means = self._meanings(statement)
        chunk = version.text[statement.at : statement.limit]
        found = match_plain(statement.kind, chunk)
        if found is not None and "\r" not in found.group():
            numbers: list[int] = []
            last = 0
            for start, end, kind, modifiers in plain_tokens(statement, found, means):
                column = start if lines.is_plain else lines.width(chunk[:start])
                length = end - start if lines.is_plain else lines.width(chunk[start:end])
                numbers += (0, column - last, length, kind, modifiers)
                last = column
            first = numbers[1]
            return first, numbers, last, means
        tokens = of_statement(self._index, statement)
        line, column = lines.place(statement.at)
        if not tokens or lines.line_of(max(token[1] for token in tokens)) > line:
            self.others += tokens
            return None
        numbers = encode(version, tokens)
        first = numbers[1] - column
        return first, numbers, first + sum(numbers[6::5]), means

    def _meanings(self, statement: Statement) -> tuple[object, ...]:
        given = self._given[self._index.number(statement.scope)]
        return meanings(self._index, statement, given)


def _join(version: Version, column: list[Run | None], rest: list[Token]) -> list[int]:
    """Join the tokens of statements and others, which never lie within these statements."""
    data: list[int] = []
    line = at_column = following = 0
    starts = version.index.starts
    following_at = rest[0][0] if rest else -1
    for at, place, run in zip(starts, version.lines.places(starts), column, strict=True):
        if run is None:
            continue
        if 0 <= following_at < at:
            first = following
            following = bisect_left(rest, (at,), first)
            following_at = rest[following][0] if following < len(rest) else -1
            line, at_column = _append(version, data, rest[first:following], line, at_column)
        first_column, numbers, last_column = run[:3]
        start = len(data)
        data += numbers
        data[start] = place[0] - line
        shift = place[1] + first_column
        data[start + 1] = shift - at_column if place[0] == line else shift
        line, at_column = place[0], place[1] + last_column
    _append(version, data, rest[following:], line, at_column)
    return data


def _append(
    version: Version, data: list[int], found: list[Token], line: int, column: int
) -> tuple[int, int]:
    """Append tokens to those that end at a place; where the last one is."""
    numbers = encode(version, found, (line, column))
    data += numbers
    for index in range(0, len(numbers), 5):
        column = numbers[index + 1] + (0 if numbers[index] else column)
        line += numbers[index]
    return line, column


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
    found = beside(index)
    for statement in index.statements_in(span.start, span.end):
        found += of_statement(index, statement)
    return [token for token in found if span.start <= token[0] < span.end]
