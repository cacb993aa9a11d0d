# SPDX-License-Identifier: Apache-2.0
"""Compute semantic tokens: colors that depend on the meaning of names."""

from __future__ import annotations

import uuid
from bisect import bisect_left
from typing import Any

import orjson
from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.lsp.index.plain_statements import match_plain
from onnxtext.lsp.index.symbols import Statement
from onnxtext.lsp.index.token_kinds import (
    MODIFIERS,
    TYPES,
    Token,
    given_meanings,
    plain_tokens,
    statement_tokens,
    token_inputs,
    tokens_outside_statements,
)
from onnxtext.sequences import common_prefix
from onnxtext.source import Span

LEGEND = t.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))

StatementTokens = tuple[int, list[int], int, int, tuple[object, ...]]
"""The tokens of a statement whose first token is on the statement's first line:

- the column of the first token, relative to the statement,
- all tokens as encoded in the protocol, five numbers each,
- the line of the last token, relative to the statement,
- the column of the last token, relative to the statement if both begin on the same line,
- the result of `token_kinds.token_inputs`.
"""


async def full(document: Document, params: t.SemanticTokensParams) -> orjson.Fragment | None:
    """Return the tokens of the whole text, as JSON."""
    return _whole(*await _remember(document))


def tokens_in_range(
    document: Document, params: t.SemanticTokensRangeParams
) -> t.SemanticTokens | None:
    """Return the tokens that begin in a range."""
    version = document.version
    span = version.lines.span(params.range)
    return t.SemanticTokens(encode(version, tokens(version, span)))


async def delta(
    document: Document, params: t.SemanticTokensDeltaParams
) -> orjson.Fragment | t.SemanticTokensDelta | None:
    """Return the changes since the last result; all tokens if the client names another result."""
    previous = document.tokens
    name, data = await _remember(document)
    if previous is None or previous[0] != params.previous_result_id:
        return _whole(name, data)
    old = previous[1]
    head = common_prefix(old, data)
    tail = common_prefix(old[head:][::-1], data[head:][::-1])
    edit = t.SemanticTokensEdit(head, len(old) - head - tail, data[head : len(data) - tail])
    edits = [edit] if edit.delete_count or edit.data else []
    return t.SemanticTokensDelta(edits, name)


def _whole(name: str, data: list[int]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps({"resultId": name, "data": data}))


async def _remember(document: Document) -> tuple[str, list[int]]:
    data = await all_tokens(document)
    document.tokens = uuid.uuid4().hex, data
    return document.tokens


async def all_tokens(document: Document) -> list[int]:
    """Return the tokens of the whole text, encoded as by `encode`."""
    version = document.version
    writer = TokenEncoder(version)
    column, before = document.columns.column_for("tokens", version)
    writer.forget(column, before)
    await document.columns.fill("tokens", version, column, writer.statement, writer.context)
    return _join(
        version, column, sorted({*tokens_outside_statements(version.index), *writer.others})
    )


class TokenEncoder:
    """Encodes the tokens of the statements of one version.

    Attributes:
        context: the data that tokens depend on, besides the text of their statement. It includes
            the operator sets and `given_meanings` of each graph or function.
        others: the tokens that cannot be cached as `StatementTokens`: of statements that contain
            graphs, or whose first token is not on their first line.
    """

    def __init__(self, version: DocumentVersion) -> None:
        self._version = version
        self._index = index = version.index
        self.others: list[Token] = []
        self._given = [given_meanings(scope) for scope in index.scopes]
        opsets = [s.opsets for s in index.scopes]
        self.context = opsets, set(index.functions()), self._given

    def forget(self, column: list[StatementTokens | None], before: Any) -> None:
        """Discard the cached tokens of statements whose names have changed their meaning.

        In `column` (of `StatementResults`), None replaces discarded tokens. `before` is the
        `context` of the version with the cached tokens; None without cached tokens.
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
        for number, cached in enumerate(column):
            statement = index.statements[number]
            if cached is None or trusted[index.number(statement.scope)]:
                continue
            if cached[4] != self._meanings(statement):
                column[number] = None

    def statement(self, statement: Statement) -> StatementTokens | None:
        """Return the tokens of a statement relative to its start, so that they can be cached.

        Tokens that cannot be cached are added to `others`; the result is then None.
        """
        version, lines = self._version, self._version.lines
        if statement.number in statement.scope.children:
            self.others += statement_tokens(self._index, statement)
            return None
        meanings = self._meanings(statement)
        match = match_plain(statement.kind, self._index.chunk(statement))
        if match is not None:
            relative = plain_tokens(statement, match, meanings)
            text = match.group()
            if lines.is_plain and "\n" not in text and "\r" not in text:
                return _on_one_line(relative, meanings)
            offset = statement.at
            tokens = [
                (offset + start, offset + end, kind, modifiers)
                for start, end, kind, modifiers in relative
            ]
        else:
            tokens = statement_tokens(self._index, statement)
        line, column = lines.place(statement.at)
        numbers = encode(version, tokens)
        if not numbers or numbers[0] != line:
            self.others += tokens
            return None
        first = numbers[1] - column
        last_line, last_column = sum(numbers[5::5]), first
        for ahead, shift in zip(numbers[5::5], numbers[6::5], strict=True):
            last_column = shift if ahead else last_column + shift
        return first, numbers, last_line, last_column, meanings

    def _meanings(self, statement: Statement) -> tuple[object, ...]:
        given = self._given[self._index.number(statement.scope)]
        return token_inputs(self._index, statement, given)


def _on_one_line(tokens: list[Token], meanings: tuple[object, ...]) -> StatementTokens:
    """Encode the tokens of a one-line statement.

    `tokens` is sorted, with offsets relative to the statement's start. `meanings` is the result of
    `token_inputs`.
    """
    numbers: list[int] = []
    last = 0
    for start, end, kind, modifiers in tokens:
        numbers += (0, start - last, end - start, kind, modifiers)
        last = start
    return numbers[1], numbers, 0, last, meanings


def _join(
    version: DocumentVersion, column: list[StatementTokens | None], rest: list[Token]
) -> list[int]:
    """Return the encoded tokens of a text: the tokens in `column`, merged with `rest`."""
    data: list[int] = []
    line = at_column = following = 0
    following_at = rest[0][0] if rest else -1
    for offset, place, run in zip(
        version.index.starts, version.statement_places, column, strict=True
    ):
        if run is None:
            continue
        if 0 <= following_at < offset:
            first = following
            following = bisect_left(rest, (offset,), first)
            following_at = rest[following][0] if following < len(rest) else -1
            line, at_column = _append(version, data, rest[first:following], line, at_column)
        first_column, numbers, last_line, last_column = run[:4]
        start = len(data)
        data += numbers
        data[start] = place[0] - line
        shift = place[1] + first_column
        data[start + 1] = shift - at_column if place[0] == line else shift
        line, at_column = place[0] + last_line, last_column + (0 if last_line else place[1])
    _append(version, data, rest[following:], line, at_column)
    return data


def _append(
    version: DocumentVersion, data: list[int], tokens: list[Token], line: int, column: int
) -> tuple[int, int]:
    """Append encoded tokens to `data`, which ends at (line, column); return its new end."""
    numbers = encode(version, tokens, (line, column))
    data += numbers
    for index in range(0, len(numbers), 5):
        column = numbers[index + 1] + (0 if numbers[index] else column)
        line += numbers[index]
    return line, column


def encode(
    version: DocumentVersion, tokens: list[Token], last: tuple[int, int] = (0, 0)
) -> list[int]:
    """Encode tokens for the protocol: five numbers each, relative to the preceding token.

    Tokens that contain a line break or overlap the preceding token are left out.

    `last` is the (line, column) of the token before the first of `tokens`, both 0-based.
    """
    lines = version.lines
    data: list[int] = []
    last_line, last_column = last
    last_end = -1
    for start, end, kind, modifiers in sorted(set(tokens)):
        if start < last_end:
            continue
        line, column = lines.place(start)
        if end > lines.line_end(line):
            continue  # tokens must not span lines, as a name with a line break would
        shift = column - last_column if line == last_line else column
        data += (line - last_line, shift, lines.width(version.text[start:end]), kind, modifiers)
        last_line, last_column, last_end = line, column, end
    return data


def tokens(version: DocumentVersion, span: Span) -> list[Token]:
    """Return the tokens that begin in a span, in any order."""
    index = version.index
    outside = tokens_outside_statements(index)
    for statement in index.statements_in(span.start, span.end):
        outside += statement_tokens(index, statement)
    return [token for token in outside if span.start <= token[0] < span.end]
