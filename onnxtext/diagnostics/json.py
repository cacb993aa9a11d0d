# SPDX-License-Identifier: Apache-2.0
"""Diagnostics for programs: a JSON list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable

from onnxtext.diagnostics.model import Diagnostic


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """A JSON list, in ASCII, so that no terminal's encoding can spoil it; without a line end."""
    return json.dumps([to_object(diagnostic) for diagnostic in diagnostics], indent=2)


def to_object(diagnostic: Diagnostic) -> dict[str, object]:
    """What `json.dumps` takes.

    Lines and columns are 1-based, columns count characters (code points), and `end_column` is the
    first one behind the place. They are null for findings that have no place in a text. `offset`
    is a byte offset from 0.
    """
    return {
        "file": diagnostic.source.name if diagnostic.source is not None else diagnostic.file,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic),
        "path": diagnostic.path,
        "offset": diagnostic.offset,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def _place(diagnostic: Diagnostic) -> dict[str, int | None]:
    if diagnostic.source is None or not diagnostic.labels:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    span = diagnostic.labels[0].span
    start = diagnostic.source.position(span.start)
    end = diagnostic.source.position(span.end)
    return {
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    }
