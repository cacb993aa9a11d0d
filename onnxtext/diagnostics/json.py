# SPDX-License-Identifier: Apache-2.0
"""Render diagnostics as a JSON list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable

from onnxtext.diagnostics.model import Diagnostic
from onnxtext.source import Source, Span


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Return diagnostics as a JSON list, without a final line end.

    The JSON is ASCII, so that it does not depend on the terminal's encoding.
    """
    return json.dumps([to_object(diagnostic) for diagnostic in diagnostics], indent=2)


def to_object(diagnostic: Diagnostic) -> dict[str, object]:
    """Convert a diagnostic to an object for `json.dumps`.

    Lines and columns are 1-based, columns count characters (code points), and `end_column` is
    exclusive. Lines and columns are null if the diagnostic has no position in a text. `offset` is a
    0-based byte offset. An edit of a fix replaces a range of characters by its `text`.
    """
    return {
        "file": diagnostic.file_name,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic),
        "path": diagnostic.path,
        "offset": diagnostic.offset,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fix": _fix(diagnostic),
    }


def _fix(diagnostic: Diagnostic) -> dict[str, object] | None:
    fix, source = diagnostic.fix, diagnostic.source
    if fix is None or source is None:
        return None
    edits = [{**_range(source, edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "applicability": fix.applicability, "edits": edits}


def _place(diagnostic: Diagnostic) -> dict[str, int | None]:
    if diagnostic.source is None or diagnostic.span is None:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    return {**_range(diagnostic.source, diagnostic.span)}


def _range(source: Source, span: Span) -> dict[str, int]:
    start, end = source.position(span.start), source.position(span.end)
    return {
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    }
