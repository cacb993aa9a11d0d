# SPDX-License-Identifier: Apache-2.0
"""Render diagnostics as GitHub workflow commands; GitHub shows them beside the changed lines.

Source: GitHub Docs, "Workflow commands for GitHub Actions", Setting an error message.
"""

from __future__ import annotations

from onnxtext.diagnostics.json import to_object
from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.safe import safe

_COMMANDS = {"error": "error", "warning": "warning"}


def render(diagnostic: Diagnostic) -> str:
    """Return `::error title=onnxtext (code),file=…,line=1,col=8,…::message`, without a line end."""
    found = to_object(diagnostic)
    properties: dict[str, object] = {"title": f"onnxtext ({diagnostic.code})"}
    if found["file"]:
        properties["file"] = found["file"]
    if found["line"] is not None:
        properties |= {"line": found["line"], "col": found["column"]}
        properties |= {"endLine": found["end_line"], "endColumn": found["end_column"]}
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    where = diagnostic.where()
    lines = [f"{where}: {diagnostic.message}" if where else diagnostic.message]
    lines += [f"{kind}: {text}" for kind, text in diagnostic.remarks()]
    command = _COMMANDS.get(diagnostic.severity, "notice")
    return f"::{command} {listed}::{_data(lines)}"


def _data(lines: list[str]) -> str:
    return "%0A".join(safe(line).replace("%", "%25") for line in lines)


def _property(value: object) -> str:
    text = safe(str(value)).replace("%", "%25")
    return text.replace(":", "%3A").replace(",", "%2C")
