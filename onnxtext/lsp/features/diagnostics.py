# SPDX-License-Identifier: Apache-2.0
"""Convert diagnostics to diagnostics of the Language Server Protocol."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as t

from onnxtext.diagnostics import Diagnostic
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.source import Span

SOURCE = "onnxtext"
_SEVERITIES = {
    "error": t.DiagnosticSeverity.Error,
    "warning": t.DiagnosticSeverity.Warning,
    "info": t.DiagnosticSeverity.Information,
    "note": t.DiagnosticSeverity.Information,
    "hint": t.DiagnosticSeverity.Hint,
}


def to_lsp_diagnostics(
    diagnostics: Iterable[Diagnostic], lines: LineIndex, uri: str
) -> list[t.Diagnostic]:
    """Convert diagnostics of the text in `lines` to diagnostics of the protocol."""
    return [_convert(item, lines, uri) for item in diagnostics]


def span_of(diagnostic: Diagnostic, size: int) -> Span:
    """Return the primary span of a diagnostic, clamped to its text; (0, 0) if it has none.

    `size` is the number of characters of the text.
    """
    span = diagnostic.span or Span(0, 0)
    return Span(min(span.start, size), min(span.end, size))


def _convert(diagnostic: Diagnostic, lines: LineIndex, uri: str) -> t.Diagnostic:
    first = diagnostic.labels[0].message if diagnostic.labels else ""
    message_lines = [first, *diagnostic.notes]
    if diagnostic.help:
        message_lines.append(f"help: {diagnostic.help}")
    message = "\n".join([diagnostic.message, *filter(None, message_lines)])
    related = [
        t.DiagnosticRelatedInformation(
            t.Location(uri, lines.range(label.span)), label.message or "here too"
        )
        for label in diagnostic.labels[1:]
    ]
    tags = []
    if "unused" in diagnostic.code:
        tags.append(t.DiagnosticTag.Unnecessary)
    if diagnostic.code == "op-deprecated":
        tags.append(t.DiagnosticTag.Deprecated)
    return t.Diagnostic(
        range=lines.range(span_of(diagnostic, len(lines.text))),
        message=message,
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source=SOURCE,
        related_information=related or None,
        tags=tags or None,
    )
