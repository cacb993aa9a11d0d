# SPDX-License-Identifier: Apache-2.0
"""Format the whole text, a range of lines, or the statement just typed, like `onnxtext fmt`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.ast.model import Model
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.diagnostics import Edit, OnnxTextError
from onnxtext.lsp.features.text_edits import minimal_edits, text_edits
from onnxtext.lsp.index.document import Document
from onnxtext.source import Source, Span, line_start

if TYPE_CHECKING:
    from onnxtext.lsp.index.document import DocumentVersion


async def whole(document: Document, params: t.DocumentFormattingParams) -> list[t.TextEdit] | None:
    """Return the edits that format the whole text; None if it has errors or changes meanwhile."""
    return await _format(document, None)


async def part(
    document: Document, params: t.DocumentRangeFormattingParams
) -> list[t.TextEdit] | None:
    """Return the edits that format the lines of a range.

    If the text has syntax errors, only one-line nodes are formatted. Otherwise, return None if the
    text changes meanwhile, or if these edits alone would change the syntax tree or the comments.
    """
    return await _format(document, document.version.lines.span(params.range))


async def on_type(
    document: Document, params: t.DocumentOnTypeFormattingParams
) -> list[t.TextEdit] | None:
    """Return the edits that format the line or statement that a new line break or `}` ends.

    After a line break, the line of the cursor is not edited, so that the cursor does not move.
    Return None in the first line. For texts with syntax errors, and other cases of None, see
    `part`.
    """
    if params.position.line == 0:
        return None
    lines = document.version.lines
    line = params.position.line - (params.ch == "\n")
    start, end = lines.line_start(line), lines.line_end(line)
    if params.ch == "}":
        statement = document.version.index.statement_at(end)
        start = start if statement is None else min(start, statement.at)
    return await _format(document, Span(start, end))


async def _format(document: Document, span: Span | None) -> list[t.TextEdit] | None:
    version = document.version
    if version.syntax:
        return text_edits(version.lines, statement_edits(version, span)) if span else None
    model = version.root if isinstance(version.root, Model) else None
    edits = await asyncio.to_thread(formatting_edits, version.source, span, model)
    if edits is None or document.version is not version:
        return None
    return text_edits(version.lines, edits)


def formatting_edits(source: Source, span: Span | None, model: Model | None) -> list[Edit] | None:
    """Return the edits that format a text, or only those in the lines of `span` if it is not None.

    Return None if the text has errors, or if the edits in these lines alone would change the syntax
    tree or the comments. `model` is the syntax tree of the text; None to parse it.
    """
    from onnxtext.diagnostics.model import apply_edits
    from onnxtext.format.format_text import format_source

    try:
        formatted = format_source(source, model=model)
        edits = minimal_edits(source.text, formatted)
        if span is None:
            return edits
        start, end = _whole_lines(source.text, span)
        chosen = [edit for edit in edits if start <= edit.span.start and edit.span.end <= end]
        if len(chosen) == len(edits) or not chosen:
            return chosen
        edited = Source(apply_edits(source.text, chosen), source.name)
        return chosen if format_source(edited) == formatted else None
    except OnnxTextError:
        return None


def statement_edits(version: DocumentVersion, span: Span) -> list[Edit]:
    """Return the edits that format the one-line nodes in a range of lines.

    This is for texts with syntax errors: nodes with errors are skipped. Indentation and comments do
    not change. Return [] if the edits would change the partial syntax tree: after an error, the
    parser may have added a part of the next statement to a node.
    """
    from onnxtext.diagnostics.model import apply_edits
    from onnxtext.format.format_in_full import write_document

    text = version.source.text
    start, end = _whole_lines(text, span)
    edits: list[Edit] = []
    for statement in version.index.statements_in(start, end):
        located = version.index.located(statement) if statement.kind == "node" else None
        if located is None:
            continue
        place = located.span
        stripped = text[place.start : place.end]
        if "\n" in stripped or "#" in stripped or place.start < start or place.end > end:
            continue
        if edits and place.start < edits[-1].span.end:  # in a graph of the last edited node
            continue
        _, formatted, *rest = write_document(f"g () => () {{ {stripped} }}").split("\n")
        if len(rest) == 2 and formatted.strip() != stripped:
            edits.append(Edit(place, formatted.strip()))
    if not edits:
        return edits
    root, errors = read_partial(Source(apply_edits(text, edits), version.source.name))
    return edits if root == version.root and len(errors) == len(version.syntax) else []


def _whole_lines(text: str, span: Span) -> Span:
    """Return the span of the lines that a span touches, including the final line feed."""
    start = line_start(text, span.start)
    end = text.find("\n", max(span.end - (span.end > span.start), span.start))
    return Span(start, len(text) if end < 0 else end + 1)
