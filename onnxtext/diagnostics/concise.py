# SPDX-License-Identifier: Apache-2.0
"""Render a diagnostic in one line, like a compiler."""

from __future__ import annotations

from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.safe import safe


def render(diagnostic: Diagnostic) -> str:
    """Return `file:line:column: error: message [code]`, without a line end."""
    where = diagnostic.where()
    place = f"{safe(where)}: " if where else ""
    return f"{place}{diagnostic.severity}: {safe(diagnostic.message)} [{diagnostic.code}]"
