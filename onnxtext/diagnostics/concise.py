# SPDX-License-Identifier: Apache-2.0
"""Diagnostics for tools and for people in a hurry: one line each, as compilers write them."""

from __future__ import annotations

from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.safe import safe


def render(diagnostic: Diagnostic) -> str:
    """`file:line:column: error: message [code]`, without a line end."""
    where = diagnostic.where()
    place = f"{safe(where)}: " if where else ""
    return f"{place}{diagnostic.severity}: {safe(diagnostic.message)} [{diagnostic.code}]"
