# SPDX-License-Identifier: Apache-2.0
"""Offer edits of the model: write types, make a dimension symbolic, convert to another opset.

The edits require inference of the whole model, so an edit is computed when the user chooses the
action (`codeAction/resolve`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types as t
from pygls.capabilities import get_capability

from onnxtext.ast.model import Model, ValueInfo
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_tables import use_tables
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.diagnostics import OnnxTextError
from onnxtext.lsp.features.text_edits import minimal_edits, workspace_edit
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.operators import tables_for
from onnxtext.lsp.server.message_validation import data_entry
from onnxtext.lsp.server.protocol import RequestError
from onnxtext.source import Span

if TYPE_CHECKING:
    from onnxtext.editing import EditResult
    from onnxtext.lsp.index.symbols import Statement
    from onnxtext.lsp.server.server import Server

KIND = t.CodeActionKind.RefactorRewrite
_MAX_DIMS = 8
_MAX_REASONS = 8


def offered_actions(server: Server, document: Document, span: Span) -> Iterator[t.CodeAction]:
    """Yield the actions to offer at a span, without their edits.

    Yield nothing if the text has syntax errors or is not a whole model, or if the client does not
    support `codeAction/resolve`.
    """
    version = document.version
    path = "text_document.code_action.resolve_support.properties"
    resolves = "edit" in (get_capability(server.client_capabilities, path) or ())
    if not resolves or version.syntax or not isinstance(version.root, Model):
        return
    statement = version.index.statement_at(span.start)
    if statement is not None and statement.kind == "node":
        yield _action(document, "Write the inferred types of this node", at=statement.at)
    if statement is not None and statement.group == "input":
        yield from _dimensions(document, statement)
    if statement is None:
        for title, domain, opset in _offered_conversions(version.index, span):
            yield _action(document, title, domain=domain, opset=opset)
    yield _action(document, "Write all inferred types into the text")


def _action(document: Document, title: str, **data: Any) -> t.CodeAction:
    payload = {"uri": document.uri, "version": document.version.number, **data}
    return t.CodeAction(title, KIND, data=payload)


def _dimensions(document: Document, statement: Statement) -> Iterator[t.CodeAction]:
    """Yield actions that make the fixed dimensions of an input of the main graph symbolic.

    If other inputs have the same size at the same index, a second action changes all of them. Only
    the first `_MAX_DIMS` dimensions have actions.
    """
    value, main = statement.item, statement.scope
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if main.kind != "main" or value.data is not None or not isinstance(value, ValueInfo):
        return
    for index, dim in enumerate((shape or ())[:_MAX_DIMS]):
        size = plain_dim(dim)
        if not isinstance(size, int):
            continue
        symbol = "batch" if index == 0 else f"{value.name}_{index}"
        others = [
            other.name
            for other in main.inputs
            if other is not value and other.data is None and _size(other, index) == size
        ]
        title = f"Make dimension {index} of `{value.name}` symbolic: {symbol}"
        yield _action(document, title, dims=[[value.name, index]], symbol=symbol)
        if others:
            dims = [[name, index] for name in (value.name, *others)]
            title = f"Make dimension {index} of {len(dims)} inputs symbolic: {symbol}"
            yield _action(document, title, dims=dims, symbol=symbol)


def _size(value: ValueInfo, index: int) -> int | str | None:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return plain_dim(shape[index]) if shape is not None and index < len(shape) else None


def _offered_conversions(index: Index, span: Span) -> Iterator[tuple[str, str, int]]:
    """Yield (title, domain, new version) of each conversion to offer at a span in the header.

    If the span begins in an entry of `opset_import`, the conversions change the version of that
    operator set. If it begins elsewhere in `opset_import`, they change the version of the standard
    operator set. Newer versions come first, then older ones, the nearest first. Yield nothing for
    other spans, or if onnx does not know the present version.
    """
    model, places = index.model, index.places
    if model is None or not model.opset_imports:
        return
    end = model.graph.at if model.graph.at >= 0 else len(index.source.text)
    if span.start >= end:
        return
    imports_span = places.span(Place(model, ("opset_imports",)))
    key = index.source.text.rfind("opset_import", 0, imports_span.start)
    if not (key if key >= 0 else imports_span.start) <= span.start <= imports_span.end:
        return
    chosen = None
    for number, entry in enumerate(model.opset_imports):
        entry_span = places.span(Place(model, ("opset_imports", number)))
        if entry_span.start <= span.start <= entry_span.end:
            chosen = entry
    if chosen is None:
        chosen = next((e for e in model.opset_imports if not plain_domain(e.domain)), None)
    if chosen is None:
        return
    domain, version = plain_domain(chosen.domain), chosen.version
    newest = newest_versions().get(domain, 0)
    if not 1 <= version <= newest:
        return
    for to in (*range(version + 1, newest + 1), *range(version - 1, 0, -1)):
        shown = f"version {to} of `{domain}`" if domain else f"opset {to}"
        yield f"Convert to {shown}", domain, to


async def resolve(server: Server, action: t.CodeAction) -> t.CodeAction:
    """Compute the edit of an action that the user has chosen; return the action with the edit.

    Also show the user the places that may not accept a new dimension.

    Raises:
        RequestError: the text has changed since the action was offered, or cannot be edited; or the
            data of the action is invalid.
    """
    data = action.data
    if data is None:
        return action
    document = server.documents.get(str(data_entry(data, "uri")))
    if document is None or document.version.number != data_entry(data, "version"):
        raise RequestError("the text has changed since this action was offered")
    text, name = document.version.text, document.version.source.name
    try:
        with use_tables(tables_for(document.version.directory)):
            edited = await asyncio.to_thread(_compute_edit, text, name, data)
    except OnnxTextError as error:
        raise RequestError(_reasons(error)) from None
    except (TypeError, ValueError):
        raise RequestError("the editor sent invalid data for this action") from None
    if document.version.text != text:
        raise RequestError("the text has changed since this action was chosen")
    from onnxtext.editing import Obstacle

    obstacles = [note for note in edited.notes if isinstance(note, Obstacle)]
    if obstacles:
        title = "The new dimension may be rejected here:"
        shown = "\n".join([title, *obstacles])
        server.window_show_message(t.ShowMessageParams(t.MessageType.Warning, shown))
    edits = minimal_edits(text, str(edited.content))
    action.edit = workspace_edit(server, document, edits)
    return action


def _reasons(error: OnnxTextError) -> str:
    """Return up to `_MAX_REASONS` reasons why a text cannot be edited, one per line.

    A reason with a position begins with its line number. A last line has the number of further
    reasons, if there are any.
    """
    shown = []
    for item in error.diagnostics[:_MAX_REASONS]:
        line = "" if item.position is None else f"line {item.position.line}: "
        shown.append(line + item.message)
    hidden = len(error.diagnostics) - len(shown)
    return "\n".join([*shown, f"and {hidden} more"] if hidden > 0 else shown)


def _compute_edit(text: str, name: str, data: object) -> EditResult:
    """Compute the edit of the code action with the data `data`; `name` names the text in errors."""
    from onnxtext.editing import apply, make_symbolic, write_types
    from onnxtext.editing.opsets import convert

    dims, at, opset = data_entry(data, "dims"), data_entry(data, "at"), data_entry(data, "opset")
    if opset is not None:
        targets = {str(data_entry(data, "domain") or ""): int(opset)}
        return apply(text, partial(convert, targets=targets), name=name)
    if dims:
        pairs = [(str(value), int(index)) for value, index in dims]
        symbol = str(data_entry(data, "symbol"))
        return apply(text, partial(make_symbolic, dims=pairs, symbol=symbol), name=name)
    return apply(text, partial(write_types, only=None if at is None else {int(at)}), name=name)
