# SPDX-License-Identifier: Apache-2.0
"""Create minimal edits of a document, and bind them to its version."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from lsprotocol import types as t
from pygls.capabilities import get_capability

from onnxtext.diagnostics import Edit
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.positions import LineIndex
from onnxtext.sequences import common_prefix
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_MAX_LINES = 4000
"""Maximum number of lines of a changed part to diff; a longer part is replaced as a whole."""


def workspace_edit(server: Server, document: Document, edits: Iterable[Edit]) -> t.WorkspaceEdit:
    """Return a `WorkspaceEdit` that contains edits of one document.

    If the client supports `documentChanges`, the `WorkspaceEdit` also has the document's version.
    With it, the client can reject edits of an outdated version.
    """
    converted = text_edits(document.version.lines, edits)
    if get_capability(server.client_capabilities, "workspace.workspace_edit.document_changes"):
        name = t.OptionalVersionedTextDocumentIdentifier(document.uri, document.version.number)
        return t.WorkspaceEdit(document_changes=[t.TextDocumentEdit(name, converted)])
    return t.WorkspaceEdit(changes={document.uri: converted})


def text_edits(lines: LineIndex, edits: Iterable[Edit]) -> list[t.TextEdit]:
    """Convert edits of the text in `lines` to edits of the protocol."""
    return [t.TextEdit(lines.range(edit.span), edit.text) for edit in edits]


def minimal_edits(old: str, new: str) -> list[Edit]:
    """Return edits of whole lines that turn the text `old` into `new`.

    Unchanged lines are not edited if possible, so that the cursor and folds stay.
    """
    if old == new:
        return []
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = common_prefix(before, after)
    tail = common_prefix(before[head:][::-1], after[head:][::-1])
    start = sum(map(len, before[:head]))
    left, right = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(left), len(right)) > _MAX_LINES:
        end = start + sum(map(len, left))
        return [Edit(Span(start, end), "".join(right))]
    offsets = [start]
    for line in left:
        offsets.append(offsets[-1] + len(line))
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) > 500)
    edits = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        pairs = min(i2 - i1, j2 - j1)
        for k in range(pairs):
            edits.append(Edit(Span(offsets[i1 + k], offsets[i1 + k + 1]), right[j1 + k]))
        if pairs < max(i2 - i1, j2 - j1):
            edits.append(
                Edit(Span(offsets[i1 + pairs], offsets[i2]), "".join(right[j1 + pairs : j2]))
            )
    return edits
