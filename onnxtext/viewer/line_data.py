# SPDX-License-Identifier: Apache-2.0
"""Collect data about the lines of a text for a page: names, folds, findings, statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnxtext.ast.tensors_and_attributes import ExternalData, SparseTensor, Tensor
from onnxtext.lsp.index.folds import find_folds
from onnxtext.lsp.index.symbols import Symbol
from onnxtext.show_model.html import MAX_OPEN
from onnxtext.viewer.colored_lines import ColoredText
from onnxtext.viewer.page_model import LoadedModel

_ROLES = {"use": 0, "definition": 1, "declaration": 2}
_LONG = 12
"""Maximum number of lines of a section that is initially unfolded."""


def name_positions(loaded: LoadedModel, text: ColoredText) -> list[list[Any]]:
    """Return [name, kind, type or "", occurrences] of each symbol on the page.

    `occurrences` is a flat list with four numbers for each occurrence: line and column in `text`
    (from 0), length, and role (0 use, 1 definition, 2 declaration).
    """
    index = loaded.document.version.index
    result = []
    for symbol in index.symbols.values():
        places: list[int] = []
        spans = {(index.span(each), _ROLES[each.role]) for each in symbol.occurrences}
        for span, role in sorted((span, role) for span, role in spans if span is not None):
            line, column = text.place(span.start)
            last, end = text.place(span.end)
            if line == last and end > column:
                places += (line, column, end - column, role)
        if places:
            result.append([symbol.name, symbol.key[0], _type(loaded, symbol), places])
    return result


def _type(loaded: LoadedModel, symbol: Symbol) -> str:
    if symbol.key[0] != "value" or symbol.scope is None:
        return ""
    return loaded.document.type_of(symbol.scope, symbol.name) or ""


def foldable_ranges(loaded: LoadedModel, text: ColoredText) -> list[list[int]]:
    """Return [first line, last line, folded] for each foldable range.

    Lines are indices of `text.lines`. `folded` is 1 if the range is initially folded, else 0.
    """
    version = loaded.document.version
    heads = (version.lines.line_of(span.at) for span in version.index.section_spans)
    sections = {text.line(line) for line in heads}
    best: dict[int, int] = {}
    for start, end, _ in find_folds(version):
        first, last = text.line(start), text.line(end)
        if last > first:
            best[first] = max(last, best.get(first, 0))
    result = []
    for first, last in sorted(best.items()):
        is_long = last - first > (_LONG if first in sections else MAX_OPEN)
        folded = is_long and (first in sections or text.lines[first].endswith("<"))
        result.append([first, last, int(folded)])
    return result


def weight_notes(loaded: LoadedModel, text: ColoredText) -> dict[int, str]:
    """Map lines to statistics of weights whose elements the page does not show completely.

    A key is the index in `text.lines` of the first line of the statement with the weight.
    """
    describe = loaded.document.describe
    assert describe is not None
    notes: dict[int, list[str]] = {}
    for statement in loaded.document.version.index.statements:
        for type, data in _weights(statement.item):
            cut = text.is_cut(statement.at, max(statement.limit, statement.at + 1))
            note = describe(type, data) if cut or _is_outside(data) else None
            if note:
                line, _ = text.place(statement.at)
                notes.setdefault(line, []).append(note)
    return {line: "; ".join(parts) for line, parts in notes.items()}


def _weights(item: Any) -> Iterator[tuple[Any, Any]]:
    if getattr(item, "data", None) is not None:
        yield item.type, item.data
    for attribute in getattr(item, "attributes", ()):
        if isinstance(attribute.value, Tensor | SparseTensor):
            yield None, attribute.value


def _is_outside(data: Any) -> bool:
    """Whether the elements are stored outside of the statement, in a blob or file."""
    match data:
        case Tensor(data=inner):
            return _is_outside(inner)
        case SparseTensor():
            return _is_outside(data.values)
        case ExternalData():
            return True
    return hasattr(data, "digest") or hasattr(data, "path")


def finding_lines(loaded: LoadedModel, text: ColoredText) -> list[list[Any]]:
    """Return [line, severity, code, message] of each error and warning, the errors first.

    The line is an index of `text.lines`. Findings without a position are left out.
    """
    found = []
    for finding in loaded.findings:
        span = finding.span
        if span is not None and finding.severity in ("error", "warning"):
            line, _ = text.place(min(span.start, len(loaded.text)))
            found.append([line, finding.severity, finding.code, finding.message])
    return sorted(found, key=lambda row: (row[1] != "error", row[0]))
