# SPDX-License-Identifier: Apache-2.0
"""Show hovers: documentation of operators and attributes, types of values, tensor statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsprotocol import types as t

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import SparseTensor, Tensor
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.lsp.index.cursor import CursorTarget, target_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.keyword_documentation import explanation_at
from onnxtext.lsp.index.operators import (
    attribute_documentation,
    documentation,
    function_documentation,
    function_text,
    origin_text,
    parameter_of,
    signature_text,
)
from onnxtext.lsp.index.resolve_section_names import node_labels
from onnxtext.lsp.index.symbols import parameter_names
from onnxtext.lsp.index.tensor_statistics import statistics
from onnxtext.lsp.index.type_origins import origin_lines
from onnxtext.printer.quoting import quote_word
from onnxtext.source import Span

_MAX_NODE_LENGTH = 600


def hover(document: Document, params: t.HoverParams) -> t.Hover | None:
    """Return the hover for the name, literal or keyword under the mouse; None if there is none."""
    version = document.version
    offset = version.lines.offset(params.position)
    at_cursor = target_at(version.index, offset)
    text = span = None
    if at_cursor is not None and at_cursor.kind in _DESCRIPTIONS:
        text = _DESCRIPTIONS[at_cursor.kind](document, at_cursor)
        span = _part_at(version.index, at_cursor, offset)
    if not text:
        text, span = explanation_at(version.index, offset) or (None, None)
    if not text or span is None:
        return None
    return t.Hover(t.MarkupContent(t.MarkupKind.Markdown, text), version.lines.range(span))


def _part_at(index: Index, at_cursor: CursorTarget, offset: int) -> Span:
    """Return the span of `at_cursor`, the item at `offset`.

    If `offset` is in the domain of an operator, return the span of the domain and the name.
    """
    span = at_cursor.span
    if at_cursor.statement is None or span.start <= offset <= span.end:
        return span
    located = index.located(at_cursor.statement)
    assert located is not None
    return located.absolute(located.path_to(offset)[0][1])


def _label(document: Document, at_cursor: CursorTarget) -> str | None:
    """Return, as Markdown, the text of the node with the label at the cursor; None if unknown."""
    assert at_cursor.key is not None
    index = document.version.index
    scope = index.scopes[at_cursor.key[1]]
    place = node_labels(index, scope).get(at_cursor.key[2])
    if place is None:
        return None
    statement = index.statement_of(scope.nodes[place])
    assert statement is not None
    text = index.chunk(statement).rstrip("} \t\r\n")
    if len(text) > _MAX_NODE_LENGTH:
        text = text[:_MAX_NODE_LENGTH] + "…"
    return f"{_fence(text)}\n\nnode of {scope.describe()}"


def _fence(text: str) -> str:
    longest = "```"
    while longest in text:
        longest += "`"
    return f"{longest}onnxtxt\n{text}\n{longest}"


def _operator(document: Document, at_cursor: CursorTarget) -> str | None:
    assert at_cursor.statement is not None
    node: Node = at_cursor.statement.item
    index = document.version.index
    target = index.target(at_cursor.statement)
    if isinstance(target, Signature):
        head = _fence(signature_text(target))
        return f"{head}\n\n{origin_text(target)}\n\n{documentation(target)}"
    domain = plain_domain(node.domain)
    opsets = at_cursor.statement.scope.opsets
    if opsets is not None and domain not in opsets:
        return f"`{node.op_type}`: its domain `{domain or 'ai.onnx'}` is not imported"
    return f"`{node.op_type}`: unknown operator of `{domain or 'ai.onnx'}`"


def _function(document: Document, at_cursor: CursorTarget) -> str | None:
    assert at_cursor.key is not None
    scope = document.version.index.functions().get(at_cursor.key[2])
    if scope is None:
        return None
    text = function_documentation(scope)
    return f"{_fence(function_text(scope))}\n\nfunction of this model\n\n{text}".rstrip()


def _value(document: Document, at_cursor: CursorTarget) -> str | None:
    assert at_cursor.key is not None
    index = document.version.index
    scope, name = index.scopes[at_cursor.key[1]], at_cursor.name
    type = document.type_of(scope, name)
    head = quote_word(name) if type is None else f"{type} {quote_word(name)}"
    lines = [_fence(head), *_origin(scope, name)]
    if type is None and name in scope.position:
        lines.append("its type is unknown")
    lines.append("\n".join(origin_lines(document, scope, name)))
    lines += [_tensor(document, scope, name) or "", _doc(scope, name)]
    return "\n\n".join(filter(None, lines))


def _origin(scope: Scope, name: str) -> Iterator[str]:
    """Yield lines of text: how a value is defined, and whether it is an output of its graph."""
    position = scope.position.get(name)
    owner = scope.describe()
    if position is None:
        yield "not defined"
    elif position == GIVEN:
        is_input = any(value.name == name for value in scope.inputs)
        has_data = any(value.name == name for value in scope.initializers)
        kind = "input" if is_input else "initializer"
        default = " with a default" if is_input and has_data else ""
        yield f"{kind}{default} of {owner}"
    else:
        node = scope.nodes[position]
        label = f" `[{node.name}]`" if node.name else ""
        yield f"output {node.outputs.index(name) + 1} of `{node.op_type}`{label} in {owner}"
    if any(value.name == name for value in scope.outputs):
        yield f"output of {owner}"


def _tensor(document: Document, scope: Scope, name: str) -> str | None:
    """Return the statistics of an initializer or a `Constant` tensor; None for other values."""
    value = next((v for v in scope.initializers if v.name == name), None)
    if value is not None and value.data is not None:
        return _statistics(document, value.type, value.data)
    position = scope.position.get(name, GIVEN)
    if position != GIVEN and scope.nodes[position].op_type == "Constant":
        for attribute in scope.nodes[position].attributes:
            if isinstance(attribute.value, (Tensor, SparseTensor)):
                return _statistics(document, None, attribute.value)
    return None


def _doc(scope: Scope, name: str) -> str:
    """Return the doc string of a value, or of the node that computes it; "" if there is none."""
    items: list[Any] = [*scope.inputs, *scope.outputs, *scope.initializers, *scope.infos]
    decorators = [d for item in items if item.name == name for d in item.decorators]
    position = scope.position.get(name, GIVEN)
    if position != GIVEN:
        decorators += scope.nodes[position].decorators
    for decorator in decorators:
        if decorator.name == "doc" and decorator.arguments:
            text = decorator.arguments[0].value
            if isinstance(text, bytes):
                return text.decode("utf-8", "replace")
    return ""


def _attribute(document: Document, at_cursor: CursorTarget) -> str | None:
    assert at_cursor.statement is not None
    target = document.version.index.target(at_cursor.statement)
    if isinstance(target, Signature) and at_cursor.name in target.attributes:
        return attribute_documentation(target, at_cursor.name)
    if isinstance(target, Scope):
        return _parameter_hover(target, at_cursor.name, f"parameter of `{target.name}`")
    return None


def _parameter(document: Document, at_cursor: CursorTarget) -> str | None:
    assert at_cursor.key is not None
    scope = document.version.index.scopes[at_cursor.key[1]]
    name = "" if scope.function is None else scope.function.name
    return _parameter_hover(scope, at_cursor.key[2], f"attribute parameter of `{name}`")


def _parameter_hover(scope: Scope, name: str, note: str) -> str | None:
    names = parameter_names(scope)
    if scope.function is None or name not in names:
        return None
    return f"{_fence(parameter_of(scope.function.attributes[names.index(name)]))}\n\n{note}"


def _literal(document: Document, at_cursor: CursorTarget) -> str | None:
    """Return the statistics of a tensor; for other literals, the documentation of the attribute.

    Return None if there is neither.
    """
    assert at_cursor.statement is not None
    item = at_cursor.statement.item
    if isinstance(item, ValueInfo):
        return None if item.data is None else _statistics(document, item.type, item.data)
    value = item.attributes[at_cursor.attribute].value if at_cursor.attribute >= 0 else None
    if isinstance(value, (Tensor, SparseTensor)):
        return _statistics(document, None, value)
    return _attribute(document, at_cursor)


def _statistics(document: Document, type: Any, data: Any) -> str | None:
    version = document.version
    return statistics(type, data, version.index.model, version.directory)


def _graph(document: Document, at_cursor: CursorTarget) -> str:
    return _fence(f"{quote_word(at_cursor.name)} () => () {{…}}") + "\n\ngraph"


_DESCRIPTIONS: dict[str, Callable[[Document, CursorTarget], str | None]] = {
    "operator": _operator, "function": _function, "value": _value, "attribute": _attribute,
    "parameter": _parameter, "literal": _literal, "label": _label, "graph": _graph,
}  # fmt: skip
"""For each kind of `CursorTarget` with a hover, the function that returns its Markdown text."""
