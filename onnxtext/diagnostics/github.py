# SPDX-License-Identifier: Apache-2.0
"""Render diagnostics as GitHub workflow commands; GitHub shows them beside the changed lines.

Source: GitHub Docs, "Workflow commands for GitHub Actions", Setting an error message.
"""

from __future__ import annotations

from onnxtext.diagnostics.json import to_object
from onnxtext.diagnostics.model import Diagnostic
from onnxtext.diagnostics.terminal_text import escape_controls


def render(diagnostic: Diagnostic) -> str:
    """Return a command such as `::error title=onnxtext (code),file=…,line=1,…::message`."""
    fields = to_object(diagnostic)
    properties: dict[str, object] = {"title": f"onnxtext ({diagnostic.code})"}
    if fields["file"]:
        properties["file"] = fields["file"]
    if fields["line"] is not None:
        properties |= {"line": fields["line"], "col": fields["column"]}
        properties |= {"endLine": fields["end_line"], "endColumn": fields["end_column"]}
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    location = diagnostic.where()
    lines = [f"{location}: {diagnostic.message}" if location else diagnostic.message]
    lines += [f"{kind}: {text}" for kind, text in diagnostic.remarks()]
    command = diagnostic.severity if diagnostic.severity in ("error", "warning") else "notice"
    return f"::{command} {listed}::{_data(lines)}"


def _data(lines: list[str]) -> str:
    return "%0A".join(escape_controls(line).replace("%", "%25") for line in lines)


def _property(value: object) -> str:
    text = escape_controls(str(value)).replace("%", "%25")
    return text.replace(":", "%3A").replace(",", "%2C")
