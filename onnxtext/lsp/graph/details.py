# SPDX-License-Identifier: Apache-2.0
"""Describe a node or value for the details panel of the graph view.

The details are attributes, types, and statistics of weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from onnxtext.ast.model import Graph, Model, Node
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor
from onnxtext.binary_to_text import lift_placed
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.graph.module_groups import parse_id
from onnxtext.lsp.graph.stubs import formal_name, shorten
from onnxtext.lsp.index.document import Document, path_of
from onnxtext.lsp.index.operators import documentation, value_text
from onnxtext.lsp.index.symbols import Statement
from onnxtext.lsp.index.tensor_statistics import statistics
from onnxtext.plurals import count_noun

_MAX_ROWS = 64
_MAX_BYTES = 64 << 20
"""Maximum size in bytes of a binary model whose weights are read for the details panel."""
_MAX_FOUND = 500
_MAX_TEXT_LENGTH = 400
_LINK = re.compile(r"\[([^\]]*)\]\s?\([^)\s]*\)")
"""A link of Markdown, which is replaced by its text: the details panel shows plain text."""


def details(drawing: Drawing, identity: str) -> dict[str, Any] | None:
    """Return the result of `onnxtext/graphNode` for an id; None for an unknown id."""
    parsed = parse_id(identity)
    scopes = drawing.index.scopes
    if parsed is None or parsed[0] >= len(scopes):
        return None
    scope_number, kind, index = parsed
    if kind == "r":
        return _removed_node(drawing, identity)
    scope = scopes[scope_number]
    items: dict[str, list[Any]] = {"n": scope.nodes, "i": scope.inputs, "o": scope.outputs}
    if index >= len(items[kind]):
        return None
    if kind == "n":
        return _node(drawing, identity, scope, index)
    value = items[kind][index]
    role = "input" if kind == "i" else "output"
    row = _value(drawing, scope, value.name, "")
    sections = [{"title": "Value", "rows": [row]}]
    return {"title": value.name, "subtitle": f"{role} of {scope.describe()}",
            "text": "", "sections": sections}  # fmt: skip


def find(drawing: Drawing, words: str) -> list[dict[str, Any]]:
    """Return the drawn nodes and values whose operator or names contain `words`, ignoring case.

    Return at most 500 objects. Each has `id`, and `path`: the ids of the groups and nodes around
    it, outermost first.
    """
    query = words.lower()
    matches = (
        {"path": list(chain), "id": identity}
        for identity, text in (searched_texts(drawing) if query else ())
        if query in text.lower() and (chain := drawing.chain(identity)) is not None
    )
    return list(islice(matches, _MAX_FOUND))


def searched_texts(drawing: Drawing) -> Iterator[tuple[str, str]]:
    """Yield (id, searchable text) of each node, input and output.

    The text of a node has its operator, its label and the names of its outputs. The text of an
    input or output is its name.
    """
    for scope in drawing.index.scopes:
        name = f"g{drawing.index.number(scope)}"
        for index, value in enumerate(scope.inputs):
            yield f"{name}i{index}", value.name
        for index, node in enumerate(scope.nodes):
            yield f"{name}n{index}", f"{node.op_type} {node.name or ''} {' '.join(node.outputs)}"
        for index, value in enumerate(scope.outputs):
            yield f"{name}o{index}", value.name


def _removed_node(drawing: Drawing, identity: str) -> dict[str, Any] | None:
    """Return the details of a removed node from its item in the drawing; None for other ids."""
    item = None if drawing.changes is None else drawing.changes.items.get(identity)
    if item is None:
        return None
    rows = [{"name": stub["label"] or stub["value"], "of": stub["value"],
             "value": stub["text"] or stub["type"]} for stub in item["stubs"]]  # fmt: skip
    sections = [_section("Constants", rows)] if rows else []
    return {"title": item["op"], "subtitle": item["name"], "text": f"removed · {item['detail']}",
            "sections": sections}  # fmt: skip


def _node(drawing: Drawing, identity: str, scope: Scope, index: int) -> dict[str, Any]:
    node, document = scope.nodes[index], drawing.document
    subject = drawing.index.subject
    assert subject is not None
    target = resolve_targets(subject)[id(scope)][index]
    text = documentation(target, full=False) if isinstance(target, Signature) else ""
    text = _LINK.sub(r"\1", text)
    chain = [part for part in drawing.chain(identity) or () if "/" in part]
    module = chain[-1].partition("/")[2] if chain else ""
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    notes = [] if drawing.changes is None else drawing.changes.notes.get(identity, [])
    sections = [
        _section("Changes", [{"name": note, "value": ""} for note in notes]),
        _section("Attributes", [_attribute(document, attribute) for attribute in node.attributes]),
        _section("Inputs", _values(drawing, scope, index, node.inputs, output=False)),
        _section("Outputs", _values(drawing, scope, index, node.outputs, output=True)),
        _section(
            "Metadata",
            [
                {"name": key, "value": shorten(text, _MAX_TEXT_LENGTH)}
                for key, text in node.metadata
            ],
        ),
    ]
    return {
        "title": operator,
        "subtitle": " in ".join(filter(None, (node.name, module))),
        "text": re.split(r"\n\n|(?<=\.)\s", text, maxsplit=1)[0],
        "sections": [section for section in sections if section["rows"]],
    }


def _section(title: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    left = len(rows) - _MAX_ROWS
    if left > 0:
        rows = [*rows[:_MAX_ROWS], {"name": f"and {left} more", "value": ""}]
    return {"title": title, "rows": rows}


def _attribute(document: Document, attribute: Attribute) -> dict[str, Any]:
    value = attribute.value
    row = {"name": attribute.name, "value": ""}
    if isinstance(value, Graph):
        row["value"] = f"graph {value.name} of {count_noun(len(value.nodes), 'node')}"
    elif isinstance(value, Tensor | SparseTensor):
        row["note"] = _statistics(document, None, value)
    else:
        row["value"] = shorten(value_text(value), _MAX_TEXT_LENGTH)
    return row


def _values(
    drawing: Drawing, scope: Scope, index: int, names: tuple[str, ...], *, output: bool
) -> list[dict[str, Any]]:
    rows = []
    for slot, name in enumerate(names[: _MAX_ROWS + 1]):
        if name:
            formal = formal_name(drawing.document, scope, index, slot, output=output)
            rows.append(_value(drawing, scope, name, formal))
    return [*rows, *[{"name": name, "value": ""} for name in names[_MAX_ROWS + 1 :]]]


def _value(drawing: Drawing, scope: Scope, name: str, formal: str) -> dict[str, Any]:
    """Return the row of a value in the panel; `formal` is the formal parameter's name, or ""."""
    document = drawing.document
    owner = drawing.index.resolve(scope, name)
    row: dict[str, Any] = {"name": formal or name, "value": document.type_of(owner, name) or ""}
    if formal:
        row["of"] = name
    users = len(drawing.users_of(owner, name))
    row["uses"] = users
    position = owner.position.get(name, GIVEN)
    initializer = drawing.initializer(owner, name)
    note = ""
    if initializer is not None and initializer.data is not None:
        note = _statistics(document, initializer.type, initializer.data)
    elif position != GIVEN and owner.nodes[position].op_type == "Constant":
        note = _constant(document, owner.nodes[position])
    if note:
        row["note"] = note
    return row


def _constant(document: Document, node: Node) -> str:
    for attribute in node.attributes:
        if isinstance(attribute.value, Tensor | SparseTensor):
            return _statistics(document, None, attribute.value)
        return shorten(value_text(attribute.value), _MAX_TEXT_LENGTH)
    return ""


def _statistics(document: Document, type: Any, data: Any) -> str:
    if document.describe is not None:
        return document.describe(type, data) or ""
    base = document.version.directory
    return statistics(type, data, _with_weights(document), base) or ""


def _with_weights(document: Document) -> Model | None:
    """Return the syntax tree of a document, with weights if possible; None if not a model.

    For an `onnx:` URI, the weights are read from the binary model if it is readable and not large.
    """
    model = document.version.index.model
    if model is None or model.resources or not document.uri.startswith("onnx:"):
        return model
    path = path_of("file:" + document.uri[5:])
    if path is None:
        return model
    try:
        if path.stat().st_size > _MAX_BYTES:
            return model
        resources = lift_placed(path.read_bytes(), weights="section").resources
    except (OSError, ValueError):  # the details are shown without weights
        return model
    return replace(model, resources=resources)


def drawn_node(drawing: Drawing, statement: Statement) -> str | None:
    """Return the id of the drawn node or value of a statement; None if nothing is drawn.

    Constants, initializers, and values that are neither inputs nor outputs are not drawn: return
    the id of the first drawn user instead.
    """
    number = drawing.index.number(statement.scope)
    if statement.group == "node":
        identity = f"g{number}n{statement.number}"
        if drawing.chain(identity) is not None:
            return identity
        names = [name for name in statement.item.outputs if name]
    else:
        names = [statement.item.name]
        kind = {"input": "i", "output": "o", "info": "o"}.get(statement.group, "")
        drawn = drawing.drawn_values.get((number, kind, names[0]))
        if drawn is not None:
            return drawn
    users = [user for name in names for user in drawing.users_of(statement.scope, name)]
    return next((user for user in users if drawing.chain(user) is not None), None)
