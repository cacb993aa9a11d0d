# SPDX-License-Identifier: Apache-2.0
"""Render a diagnostic in one line, like a compiler."""

from __future__ import annotations

from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.terminal_text import escape_controls


def render(diagnostic: Diagnostic) -> str:
    """Return `file:line:column: error: message [code]`, without a line end."""
    location = diagnostic.where()
    place = f"{escape_controls(location)}: " if location else ""
    return (
        f"{place}{diagnostic.severity}: {escape_controls(diagnostic.message)} [{diagnostic.code}]"
    )
