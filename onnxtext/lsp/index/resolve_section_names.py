# SPDX-License-Identifier: Apache-2.0
"""Find the graph of each name in a section, and the names of values in decorators.

The decorators are `@value_info`, `@initializers`, `@device` and `@set`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.index.section_names import SectionName
from onnxtext.lsp.index.symbols import Key, Occurrence, Symbol
from onnxtext.source import Span
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import load_lexer

if TYPE_CHECKING:
    from onnxtext.lsp.index.index import Index


def section_scope(index: Index, name: SectionName) -> Scope | None:
    """Return the graph or function that contains the value or node to which `name` refers.

    If `name` refers to a scale or zero point, return the graph that defines it, which may be an
    outer graph. If `name` refers to a function, return this function. Return None if the graph or
    function does not exist.
    """
    assert index.subject is not None
    functions = index.subject.functions
    if name.function is not None:
        return functions.get(name.function)
    if name.training is not None:
        return _training(index, *name.training)
    scope = index.subject.main
    if name.within is not None:
        scope = functions.get(name.within)
    for node, attribute in name.path:
        if scope is None:
            return None
        positions = node_labels(index, scope) if node.is_label else scope.position
        position, number = positions.get(node.name, -1), attribute.number or 0
        children = [c for c in scope.children.get(position, ()) if c.attribute == attribute.name]
        scope = children[number] if len(children) > number else None
    if scope is not None and name.is_parameter:
        return index.resolve(scope, name.name)
    return scope


def section_owner(index: Index, name: SectionName) -> Scope | None:
    """Return the graph or function that defines the value or node to which `name` refers.

    An outer graph may define an output of a nested graph: then return the outer graph. Otherwise,
    return the result of `section_scope`.
    """
    scope = section_scope(index, name)
    if scope is None or name.is_label or name.function is not None:
        return scope
    is_output = any(output.name == name.name for output in scope.outputs)
    return index.output_owner(scope, name.name) if is_output else scope


def node_labels(index: Index, scope: Scope) -> dict[str, int]:
    """Map each label in a graph or function to the index of the first node with this label."""
    cached = index.labels.get(id(scope))
    if cached is None:
        places = reversed(list(enumerate(scope.nodes)))
        cached = {node.name: offset for offset, node in places if node.name and node.at >= 0}
        index.labels[id(scope)] = cached
    return cached


def section_occurrences(
    index: Index, symbols: Mapping[Key, Symbol]
) -> Iterator[tuple[Key, str, Occurrence]]:
    """Yield (key of the symbol, name, occurrence) of each name in a section; skip unknown names.

    Before the first use of a node's label, also yield the definition of the label.

    `symbols` has the symbols found so far; the caller adds each result to it.
    """
    for name in index.section_names:
        scope = section_owner(index, name)
        if scope is None:
            continue
        use = Occurrence("use", None, span=name.span)
        if name.function is not None:
            yield ("function", 0, name.function), name.name, use
            continue
        key: Key = ("label" if name.is_label else "value", index.number(scope), name.name)
        if name.is_label:
            at = node_labels(index, scope).get(name.name)
            if key not in symbols and at is not None:
                labeled = index.statement_of(scope.nodes[at])
                yield key, name.name, Occurrence("definition", labeled, (("label", "name"),))
            if at is not None:
                yield key, name.name, use
        elif name.name in scope.position or key in symbols:
            yield key, name.name, use


def value_strings(index: Index) -> dict[Span, tuple[Scope, str]]:
    """Return the values that strings in decorators name: (scope, name) by the string's span.

    The scope is the graph or function that defines the value.
    """
    result: dict[Span, tuple[Scope, str]] = {}
    for scope in index.scopes:
        for name, span in listed_values(index, scope):
            result[span] = scope, name
        for name, span in _recorded_values(index, scope):
            result[span] = index.resolve(scope, name), name
    return result


def listed_values(index: Index, scope: Scope) -> Iterator[tuple[str, Span]]:
    """Yield (name, span) of each value in `@value_info(…)` and `@initializers(…)` of a graph.

    For the main graph, these decorators may also be in the section `order`.
    """
    graph = scope.original
    if graph.at < 0 or not any(item.name in ORDERS for item in graph.decorators):
        return
    spans = [_decorators_span(index, scope)]
    if index.model is not None and index.model.has_order and graph is index.model.graph:
        sections = [s for s in index.section_spans if s.keyword == "order" and s.at > graph.at]
        spans += [Span(section.inside, section.end) for section in sections[:1]]
    yield from _values_in(index.source.text, spans, ORDERS)


def _recorded_values(index: Index, scope: Scope) -> Iterator[tuple[str, Span]]:
    """Yield (name, span) of each value in `@device(…)` and `@set(…)` of a graph and its nodes.

    The records in these decorators are shardings and quantization annotations, for example.
    """
    graph, spans = scope.original, []
    if graph.at >= 0 and any(item.name == "set" for item in graph.decorators):
        spans.append(_decorators_span(index, scope))
    for node in scope.nodes:
        if any(item.name in _WITH_RECORDS for item in index.original(node).decorators):
            located = index.located_item(node)
            span = None if located is None else located.find("decorators")
            spans += [] if span is None else [span]
    yield from _values_in(index.source.text, spans, _WITH_RECORDS)


def _decorators_span(index: Index, scope: Scope) -> Span:
    """Return the span of a graph's decorators; `at` of a nested graph excludes them."""
    offset, located = scope.original.at, index.located_item(scope.holder)
    if located is not None:
        for _, part in located.path_to(offset):
            if part.rule == "decorated_element" and "decorators" in part.parts:
                offset = located.absolute(part.parts["decorators"]).start
                break
    return Span(offset, index.name_span(scope.original).start)


_WITH_RECORDS = ("device", "set")
_NAMING = {"tensor_name": "", "value": "quant_parameter_tensor_names"}
"""Maps each field that names a value to the field that must enclose it; "" if any may."""


def _values_in(
    text: str, spans: Iterable[Span], decorators: Container[str]
) -> Iterator[tuple[str, Span]]:
    """Yield (name, span) of each value in decorators of these names, in spans of a text.

    In `@device(…)` and `@set(…)`, only the fields in `_NAMING` name values; in other decorators,
    all strings do. The search in a span stops at an unmatched `}`.
    """
    for span in spans:
        around: list[str] = []
        key = before = ""
        for token in load_lexer().tokens(text, *span):
            if token.endswith("(") or token in ("[", "{"):
                around.append(token[1:-1] or key)
            elif token in (")", "]", "}"):
                if token == "}" and not around:
                    break
                del around[-1:]
            elif token == ":":
                key = name_of(before)
            elif token.startswith(('"', 'b"')) and around and around[0] in decorators:
                field = before == ":" and _NAMING.get(key) in ("", *around)
                if field or around[0] not in _WITH_RECORDS:
                    yield name_of(token), token.span
            before = token


def _training(index: Index, number: int, kind: str) -> Scope | None:
    model = index.model
    if model is None or number >= len(model.training):
        return None
    graph = getattr(model.training[number], kind)
    return next((scope for scope in index.scopes if scope.original is graph), None)
