# SPDX-License-Identifier: Apache-2.0
"""Answer requests for ranges: to fold, and to expand a selection."""

from __future__ import annotations

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.lsp.index.folds import find_folds
from onnxtext.source import Span

_MAX_RANGES = 20_000


def folding(document: Document, params: t.FoldingRangeParams) -> list[t.FoldingRange]:
    """Return up to `_MAX_RANGES` folding ranges: the longest of each line on which some begin."""
    best: dict[int, t.FoldingRange] = {}
    for start, end, is_comment in find_folds(document.version):
        if start not in best or best[start].end_line < end:
            kind = t.FoldingRangeKind.Comment if is_comment else None
            best[start] = t.FoldingRange(start, end, kind=kind)
        if len(best) >= _MAX_RANGES:
            break
    return sorted(best.values(), key=lambda fold: fold.start_line)


def selection(document: Document, params: t.SelectionRangeParams) -> list[t.SelectionRange] | None:
    """Return, for each position, the nested ranges around it.

    They are: name, part of a statement, statement, list, graph, text.
    """
    version = document.version
    return [_chain(version, version.lines.offset(position)) for position in params.positions]


def _chain(version: DocumentVersion, offset: int) -> t.SelectionRange:
    spans = [Span(0, len(version.text)), *_around(version, offset)]
    result: t.SelectionRange | None = None
    last: Span | None = None
    for span in sorted(set(spans), key=lambda span: (span.start - span.end, span)):
        if last is None or (last.start <= span.start and span.end <= last.end):
            result = t.SelectionRange(version.lines.range(span), result)
            last = span
    assert result is not None
    return result


def _around(version: DocumentVersion, offset: int) -> list[Span]:
    """Return the spans of all graphs, statements and parts at an offset.

    If there are none, return the span of the line without blanks at both ends; [] if the offset is
    in these blanks.
    """
    index = version.index
    spans: list[Span] = []
    scope = index.scope_at(offset)
    while scope is not None:
        start, end = scope.original.at, index.scope_end(scope)
        end = start + len(version.text[start:end].rstrip())
        if 0 <= start <= offset <= end:
            spans.append(Span(start, end))
        scope = scope.parent
    statement = index.statement_at(offset)
    while statement is not None:
        located = index.located(statement)
        if located is not None:
            spans.append(located.span)
            spans += [located.absolute(places) for _, places in located.path_to(offset)]
        holder = statement.scope.holder
        statement = None if holder is None else index.statement_of(holder)
    line = version.lines.line_of(offset)
    start, end = version.lines.line_start(line), version.lines.line_end(line)
    text = version.text[start:end]
    bare = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    if not spans and bare.start <= offset <= bare.end:
        spans.append(bare)
    return [span for span in spans if span.start <= offset <= span.end]
