# SPDX-License-Identifier: Apache-2.0
"""Render diagnostics as SARIF 2.1.0 for code scanning services (OASIS, sections 3.27 to 3.30)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import quote

from onnxtext.diagnostics.code_pages import page_summary, read_page
from onnxtext.diagnostics.model import Diagnostic, Label
from onnxtext.source import Source, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(diagnostics: Iterable[Diagnostic], *, version: str) -> str:
    """Return diagnostics as a SARIF log with one run: ASCII JSON without a final line end."""
    all_diagnostics = list(diagnostics)
    rules = [_rule(code) for code in sorted({diagnostic.code for diagnostic in all_diagnostics})]
    driver = {"name": "onnxtext", "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic) for diagnostic in all_diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, object]:
    """Return the SARIF rule of a code, with the text of its page if the code has one."""
    try:
        page = read_page(code)
    except LookupError:
        return {"id": code}
    help = {"text": page, "markdown": page}
    return {"id": code, "shortDescription": {"text": page_summary(code)}, "help": help}


def _result(diagnostic: Diagnostic) -> dict[str, object]:
    remarks = [f"{kind}: {text}" for kind, text in diagnostic.remarks()]
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "level": diagnostic.severity if diagnostic.severity in ("error", "warning") else "note",
        "message": _message("\n".join([diagnostic.message, *remarks])),
    }
    location = _location(diagnostic)
    if location:
        result["locations"] = [location]
    fix, source = diagnostic.fix, diagnostic.source
    if source is not None and len(diagnostic.labels) > 1:
        labels = dict.fromkeys(diagnostic.labels[1:])  # the SARIF schema requires unique items
        result["relatedLocations"] = [_related_locations(source, label) for label in labels]
    if fix is not None and source is not None:
        edits = [
            {"deletedRegion": _region(source, edit.span), "insertedContent": {"text": edit.text}}
            for edit in fix.edits
        ]
        change = {"artifactLocation": {"uri": _uri(source.name)}, "replacements": edits}
        result["fixes"] = [{"description": _message(fix.title), "artifactChanges": [change]}]
    return result


def _message(text: str) -> dict[str, object]:
    """Return a message object.

    Braces are doubled, because single braces are placeholders (SARIF 2.1.0, section 3.11.5).
    """
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _location(diagnostic: Diagnostic) -> dict[str, object]:
    location: dict[str, object] = {}
    if diagnostic.file_name:
        physical: dict[str, object] = {"artifactLocation": {"uri": _uri(diagnostic.file_name)}}
        if diagnostic.source is not None and diagnostic.span is not None:
            physical["region"] = _region(diagnostic.source, diagnostic.span)
        elif diagnostic.offset is not None:
            physical["region"] = {"byteOffset": diagnostic.offset}
        location["physicalLocation"] = physical
    if diagnostic.path:
        location["logicalLocations"] = [{"fullyQualifiedName": diagnostic.path}]
    return location


def _related_locations(source: Source, label: Label) -> dict[str, object]:
    physical = {
        "artifactLocation": {"uri": _uri(source.name)},
        "region": _region(source, label.span),
    }
    location: dict[str, object] = {"physicalLocation": physical}
    if label.message:
        location["message"] = _message(label.message)
    return location


def _region(source: Source, span: Span) -> dict[str, int]:
    start, end = source.position(span.start), source.position(span.end)
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def _uri(name: str) -> str:
    """Create a URI reference; bytes of a name that are not UTF-8 are percent-encoded (PEP 383)."""
    path = PurePath(name)
    try:
        if path.is_absolute():
            return path.as_uri()
        return quote(path.as_posix(), safe="/", errors="surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate, possible in file names on Windows
        scheme = "file://" if path.is_absolute() else ""
        return scheme + quote(path.as_posix(), safe="/", errors="surrogatepass")
