# SPDX-License-Identifier: Apache-2.0
"""Offer code actions: fix or suppress diagnostics, or edit the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.checker.context.registry import BACKSLASH_LOST, UNUSED_SUPPRESSION, rules
from onnxtext.diagnostics import Diagnostic, Edit
from onnxtext.diagnostics.model import safe_fixes
from onnxtext.lsp.features.diagnostics import span_of, to_lsp_diagnostics
from onnxtext.lsp.features.model_edit_actions import KIND, offered_actions
from onnxtext.lsp.features.text_edits import workspace_edit
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

FIX_ALL = "source.fixAll.onnxtext"
_MAX_DIAGNOSTICS = 100


def actions(server: Server, params: t.CodeActionParams) -> list[t.CodeAction] | None:
    """Return the code actions for a range; None if the document is not open.

    Until the checker's diagnostics are published, fixes are offered for syntax errors only.
    """
    document = server.documents.get(params.text_document.uri)
    if document is None:
        return None
    span = document.version.lines.span(params.range)
    requested = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
    result: list[t.CodeAction] = []
    if _is_requested(t.CodeActionKind.QuickFix.value, requested):
        for diagnostic in _at(document, span)[:_MAX_DIAGNOSTICS]:
            result += _fixes(server, document, diagnostic)
    if _is_requested(KIND.value, requested):
        result += offered_actions(server, document, span)
    if _is_requested(FIX_ALL, requested):
        # Of overlapping fixes, only the first is applied.
        edits = [edit for fix in safe_fixes(_diagnostics(document)) for edit in fix.edits]
        if edits:
            edit = workspace_edit(server, document, edits)
            result.append(t.CodeAction("Apply all safe fixes", FIX_ALL, edit=edit))
    return result


def _is_requested(kind: str, requested: list[str]) -> bool:
    """Whether an action kind, or a kind that contains it, is in `requested`; [] requests all.

    For example, `source` contains `source.fixAll.onnxtext`.
    """
    return not requested or any(kind == item or kind.startswith(f"{item}.") for item in requested)


def _diagnostics(document: Document) -> Sequence[Diagnostic]:
    """Return the diagnostics of the current version; before a check, only its syntax errors."""
    is_known = document.diagnosed == document.version.number
    return document.diagnostics if is_known else document.version.syntax


def _at(document: Document, span: Span) -> list[Diagnostic]:
    size = len(document.version.text)
    found = [(item, span_of(item, size)) for item in _diagnostics(document)]
    return [item for item, (start, end) in found if start <= span.end and span.start <= end]


def _fixes(server: Server, document: Document, diagnostic: Diagnostic) -> Iterator[t.CodeAction]:
    shown = to_lsp_diagnostics([diagnostic], document.version.lines, document.uri)
    fix = diagnostic.fix
    if fix is not None:
        title = fix.title[:1].upper() + fix.title[1:]
        yield t.CodeAction(
            title,
            t.CodeActionKind.QuickFix,
            shown,
            is_preferred=fix.applicability == "safe",
            edit=workspace_edit(server, document, fix.edits),
        )
    is_rule = diagnostic.code in rules() and diagnostic.code != UNUSED_SUPPRESSION.code
    # In a text with syntax errors, it is uncertain which line the comment must precede.
    if is_rule and not document.version.syntax:
        yield t.CodeAction(
            f"Suppress `{diagnostic.code}` here",
            t.CodeActionKind.QuickFix,
            shown,
            edit=workspace_edit(server, document, [suppression_edit(document, diagnostic)]),
        )


def suppression_edit(document: Document, diagnostic: Diagnostic) -> Edit:
    """Return the edit that adds a comment above a statement to suppress `diagnostic`.

    The text must have no syntax errors.
    """
    version = document.version
    at = _suppression_place(version.index, diagnostic, len(version.text))
    line = version.lines.line_start(version.lines.line_of(at))
    before = version.text[line:at]
    indent = before[: len(before) - len(before.lstrip())]
    newline = "\r\n" if "\r\n" in version.text else "\n"
    comment = f"{indent}# onnxtext: ignore[{diagnostic.code}]{newline}"
    if version.index.text_blocks.before(line).end > line:  # the line begins inside a string
        return Edit(Span(at, at), f"{newline}{comment}{indent}")
    return Edit(Span(line, line), comment)


def _suppression_place(index: Index, diagnostic: Diagnostic, size: int) -> int:
    """Return an offset in a line; a comment above this line suppresses the diagnostic.

    `size` is the number of characters of the text.
    """
    span = span_of(diagnostic, size)
    if diagnostic.code == BACKSLASH_LOST.code:
        string = index.text_blocks.before(span.start)
        return string.start if span.start < string.end else span.start
    statement, scope = index.statement_at(span.start), index.scope_at(span.start)
    offset = span.start if statement is None else statement.at
    if scope is not None and scope.holder is not None and offset < scope.original.at <= span.start:
        return span.start  # the diagnostic is in the head of a nested graph
    return offset
