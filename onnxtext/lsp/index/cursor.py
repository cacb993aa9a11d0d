# SPDX-License-Identifier: Apache-2.0
"""Find the item at an offset of a document: a name, a literal or a type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnxtext.checker.context.checked_model import operator_key
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.resolve_section_names import section_owner
from onnxtext.lsp.index.statement_spans import LocatedSpans
from onnxtext.lsp.index.symbols import Key, Statement, Symbol, parameter_names
from onnxtext.source import Span
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.span_map import SpanMap

Kind = Literal[
    "value", "function", "operator", "attribute", "parameter", "type", "label", "graph", "literal"
]
Step = tuple[str | int, SpanMap]
"""An item of `LocatedSpans.path_to`: the name or index of a part, and the part's span map."""


@dataclass(slots=True)
class CursorTarget:
    """The item at an offset: a name, a literal or a type.

    Attributes:
        name: its name; for a literal, the name of its attribute or initializer; for a type, its
            text.
        statement: the statement around the item; None outside of statements.
        key: its key in `Index.symbols`; None for an item without a symbol, such as a literal.
        attribute: the index of the attribute around the item; -1 outside of attributes.
    """

    kind: Kind
    name: str
    span: Span
    statement: Statement | None = None
    key: Key | None = None
    attribute: int = -1


def target_at(index: Index, offset: int) -> CursorTarget | None:
    """Return the item at an offset; None if there is none, as in comments and punctuation."""
    section = _in_sections(index, offset)
    if section is not None:
        return section
    statement = index.statement_at(offset)
    if statement is not None:
        located = index.located(statement)
        assert located is not None
        steps = located.path_to(offset)
        if steps:
            if statement.kind == "node":
                result = _in_node(index, statement, located, steps)
            else:
                result = _in_value(index, statement, located, steps)
            if result is not None:
                return result
    return _in_heads(index, offset)


def symbol_at(index: Index, offset: int) -> tuple[Symbol, CursorTarget] | None:
    """Return the symbol at an offset and its `CursorTarget`; None if there is no symbol."""
    at_cursor = target_at(index, offset)
    if at_cursor is None or at_cursor.key is None:
        return None
    symbol = index.symbols.get(at_cursor.key)
    return None if symbol is None else (symbol, at_cursor)


def _text(index: Index, span: Span) -> str:
    return index.source.text[span.start : span.end]


def _value(
    index: Index, scope: Scope, name: str, span: Span, statement: Statement | None = None
) -> CursorTarget:
    return CursorTarget("value", name, span, statement, ("value", index.number(scope), name))


def _in_value(
    index: Index, statement: Statement, located: LocatedSpans, steps: list[Step]
) -> CursorTarget | None:
    """Return the name, type or literal in a declaration; None if the offset is in none of them.

    `steps` is the path to the offset (see `LocatedSpans.path_to`).
    """
    step, part = steps[0]
    value, span = statement.item, located.absolute(part)
    if step == "name":
        scope = statement.scope
        if statement.group == "output":
            scope = index.output_owner(scope, value.name)
        return _value(index, scope, value.name, span, statement)
    if step == "type":
        return CursorTarget("type", _text(index, span), span, statement)
    if step == "data":
        return CursorTarget("literal", value.name, span, statement)
    return None


def _in_node(
    index: Index, statement: Statement, located: LocatedSpans, steps: list[Step]
) -> CursorTarget | None:
    """Return the name, type or literal in a node; None if the offset is in none of them.

    `steps` is the path to the offset (see `LocatedSpans.path_to`).
    """
    node = statement.item
    step, part = steps[0]
    second = steps[1] if len(steps) > 1 else None
    span = located.absolute(part)
    if step == "label":
        name = node.name or ""
        label: Key = ("label", index.number(statement.scope), name)
        return CursorTarget("label", name, located.find("label", "name") or span, statement, label)
    if step in ("operator", "overload"):
        return _operator(index, statement, located)
    if second is None:
        return None
    item_index, part = second
    if not isinstance(item_index, int):
        return None
    span = located.absolute(part)
    if step == "outputs" and item_index < len(node.outputs) and node.outputs[item_index]:
        third = steps[2] if len(steps) > 2 else None
        if third is not None and third[0] == "type":
            span = located.absolute(third[1])
            return CursorTarget("type", _text(index, span), span, statement)
        if third is not None and third[0] == "name":
            span = located.absolute(third[1])
        return _value(index, statement.scope, node.outputs[item_index], span, statement)
    if step == "names" and item_index < len(node.inputs) and node.inputs[item_index]:
        name = node.inputs[item_index]
        return _value(index, index.resolve(statement.scope, name), name, span, statement)
    if step == "attributes" and item_index < len(node.attributes):
        return _attribute(index, statement, located, steps[2:], item_index, span)
    return None


def _operator(index: Index, statement: Statement, located: LocatedSpans) -> CursorTarget:
    node = statement.item
    key = operator_key(node)
    span = located.find("operator", -1) or located.find("operator") or located.span
    if key in index.functions():
        return CursorTarget("function", node.op_type, span, statement, ("function", 0, key))
    return CursorTarget("operator", node.op_type, span, statement)


def _attribute(
    index: Index,
    statement: Statement,
    located: LocatedSpans,
    steps: list[Step],
    attribute_index: int,
    whole: Span,
) -> CursorTarget:
    """Return the part of an attribute at the cursor: its name, a parameter or a literal.

    `whole` is the span of the attribute; `steps` is the path from it to the cursor.
    """
    attribute = statement.item.attributes[attribute_index]
    names = [step for step, _ in steps]
    if names[:1] == ["name"]:
        span = located.absolute(steps[0][1])
        callee = index.target(statement)
        parameter: Key | None = None
        if isinstance(callee, Scope) and attribute.name in parameter_names(callee):
            parameter = ("parameter", index.number(callee), attribute.name)
        return CursorTarget(
            "attribute", attribute.name, span, statement, parameter, attribute_index
        )
    for _, part in steps:
        if part.rule == "reference" and "name" in part.parts:
            span = located.absolute(part.parts["name"])
            name = name_of(_text(index, span))
            key: Key = ("parameter", index.number(statement.scope.outermost), name)
            return CursorTarget("parameter", name, span, statement, key, attribute_index)
    span = located.absolute(steps[0][1]) if steps else whole
    return CursorTarget("literal", attribute.name, span, statement, attribute=attribute_index)


def _in_sections(index: Index, offset: int) -> CursorTarget | None:
    """Return the name at an offset in a section or in a string of a decorator.

    Return None if there is no name, or if its graph is unknown.
    """
    for name in index.section_names:
        if name.span.start <= offset <= name.span.end:
            if name.function is not None:
                key: Key = ("function", 0, name.function)
                return CursorTarget("function", name.name, name.span, key=key)
            scope = section_owner(index, name)
            if scope is None:
                return None
            kind: Kind = "label" if name.is_label else "value"
            key = (kind, index.number(scope), name.name)
            return CursorTarget(kind, name.name, name.span, key=key)
    for span, (scope, value) in index.value_strings.items():
        if span.start <= offset <= span.end:
            return _value(index, scope, value, span)
    return None


def _in_heads(index: Index, offset: int) -> CursorTarget | None:
    """Return the graph, function or parameter whose name in a head is at an offset; else None."""
    for scope in index.scopes:
        at = scope.original.at
        if at < 0 or at > offset:
            continue
        if scope.kind == "function":
            for key, span in index.function_heads(scope):
                if span.start <= offset <= span.end:
                    kind: Kind = "function" if key[0] == "function" else "parameter"
                    return CursorTarget(kind, _text(index, span), span, key=key)
        elif offset - at < _MAX_HEAD_LENGTH:
            span = index.name_span(scope.original)
            if span.start <= offset <= span.end:
                return CursorTarget("graph", scope.name, span)
    return None


_MAX_HEAD_LENGTH = 10_000
