# SPDX-License-Identifier: Apache-2.0
"""Show inlay hints: the inferred types of values without a declared type."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.statement_spans import LocatedSpans
from onnxtext.lsp.index.symbols import Statement
from onnxtext.source import Span


def hints(document: Document, params: t.InlayHintParams) -> list[t.InlayHint]:
    """Return the hints in a range; [] until the check of the current version has finished."""
    span = document.version.lines.span(params.range)
    result: list[t.InlayHint] = []
    for statement in document.version.index.statements_in(span.start, span.end + 1):
        result += _hints(document, statement, span)
    return result


def _hints(document: Document, statement: Statement, span: Span) -> Iterator[t.InlayHint]:
    index, lines = document.version.index, document.version.lines
    names = statement.item.outputs if statement.kind == "node" else (statement.item.name,)
    for slot, name in enumerate(names):
        if not name or statement.scope.position.get(name) is None:
            continue
        if name in document.version.declared(statement.scope):
            continue
        type = document.type_of(statement.scope, name)
        located = index.located(statement)
        if type is None or located is None:
            continue
        place = located.find("name") if statement.kind != "node" else _output(located, slot)
        if place is not None and span.start <= place.start <= span.end:
            # The hint is shown where a type would be written; accepting the hint inserts the type.
            position = lines.position(place.start)
            typed = t.TextEdit(t.Range(position, position), f"{type} ")
            shown = type.replace('"', "")  # sizes such as `2*seq` are easier to read unquoted
            yield t.InlayHint(
                position, shown, t.InlayHintKind.Type, text_edits=[typed], padding_right=True
            )


def _output(located: LocatedSpans, slot: int) -> Span | None:
    return located.find("outputs", slot, "name") or located.find("outputs", slot)
