# SPDX-License-Identifier: Apache-2.0
"""Find the semantic tokens of a text: the spans of names, with token types and modifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.ast.model import Node
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.plain_statements import ATTRIBUTE, NAMES, OUTPUT, WORDS, attributes_span
from onnxtext.lsp.index.resolve_section_names import listed_values
from onnxtext.lsp.index.statement_spans import LocatedSpans
from onnxtext.lsp.index.symbols import Statement
from onnxtext.source import Span

TYPES = (
    "variable", "parameter", "function", "namespace", "property", "type", "typeParameter",
    "class", "decorator", "label",
)  # fmt: skip
MODIFIERS = ("declaration", "readonly", "deprecated", "defaultLibrary", "definition")
_TYPE = {name: number for number, name in enumerate(TYPES)}
_MODIFIER = {name: 1 << number for number, name in enumerate(MODIFIERS)}
COMPUTED = _TYPE["variable"], 0  # token type and modifiers of an output of a node
_INPUT = _TYPE["parameter"], 0
_INITIALIZER = _TYPE["variable"], _MODIFIER["readonly"]
_DECLARATION = _MODIFIER["declaration"]

Token = tuple[int, int, int, int]
"""Start and end offset, index in `TYPES`, and bits of `MODIFIERS`."""


def tokens_outside_statements(index: Index) -> list[Token]:
    """Return the semantic tokens outside of statements, such as names of graphs and functions."""
    result: list[Token] = []
    for scope in index.scopes:
        holder = None if scope.holder is None else index.original(scope.holder)
        for token in _heads(index, scope):
            # After a syntax error, a head may be found inside an unrelated statement: skip it.
            around = index.statement_at(token[0])
            if around is None or around.item is holder:
                result.append(token)
        for value, span in listed_values(index, scope):
            result.append((*span, *value_token(index, scope, value)))
    for name in index.section_names:
        kind = "function" if name.function is not None else "label" if name.is_label else "variable"
        result.append((*name.span, _TYPE[kind], 0))
    return result


def statement_tokens(index: Index, statement: Statement) -> list[Token]:
    """Return the semantic tokens of a statement of any kind; [] if it has an error."""
    located = index.located(statement)
    if located is None:
        return []
    return list((_node if statement.kind == "node" else _value)(index, statement, located))


def _heads(index: Index, scope: Scope) -> Iterator[Token]:
    if scope.original.at < 0:
        return
    if scope.kind != "function":
        yield (*index.name_span(scope.original), _TYPE["class"], _DECLARATION)
        return
    for key, span in index.function_heads(scope):
        kind = "function" if key[0] == "function" else "parameter"
        yield (*span, _TYPE[kind], _DECLARATION)


def _value(index: Index, statement: Statement, located: LocatedSpans) -> Iterator[Token]:
    scope, value, text = statement.scope, statement.item, index.source.text
    type = located.find("type")
    if type is not None:
        yield from _type(type, text)
    name = located.find("name")
    if name is not None:
        kind, modifiers = value_token(index, scope, value.name)
        if statement.group in ("info", "output"):
            yield (*name, kind, modifiers)
        else:
            yield (*name, kind, modifiers | _DECLARATION)


def _type(span: Span, text: str) -> Iterator[Token]:
    """Yield the token of a tensor's element type; yield nothing for other types."""
    end = text.find("[", span.start, span.end)
    first = end if end >= 0 else span.end
    if text.find("(", span.start, first) < 0:
        yield (span.start, first, _TYPE["type"], 0)


def value_token(index: Index, scope: Scope, name: str) -> tuple[int, int]:
    """Return the token type and modifiers of a value: input, initializer or output of a node."""
    if scope.position.get(name) != GIVEN:
        return COMPUTED
    return _INPUT if name in index.inputs(scope) else _INITIALIZER


def _node(index: Index, statement: Statement, located: LocatedSpans) -> Iterator[Token]:
    node: Node = statement.item
    text = index.source.text
    label = located.find("label", "name")
    if label is not None:
        yield (*label, _TYPE["label"], 0)
    for slot in range(len(node.outputs)):
        type = located.find("outputs", slot, "type")
        if type is not None:
            yield from _type(type, text)
        span = located.find("outputs", slot, "name") or located.find("outputs", slot)
        # After a syntax error, the tree may have an output that is not in the text: check the text.
        if span is not None and text[slice(*span)] != '""':
            yield (*span, _TYPE["variable"], _DECLARATION)
    for slot, name in enumerate(node.inputs):
        span = located.find("names", slot) if name else None
        if span is not None:
            yield (*span, *value_token(index, index.resolve(statement.scope, name), name))
    yield from _operator(index, statement, located)
    for slot, _ in enumerate(node.attributes):
        span = located.find("attributes", slot, "name")
        if span is not None:
            yield (*span, _TYPE["property"], 0)
        reference = located.find("attributes", slot, "value", "name")
        if reference is not None and text[reference.start - 1 : reference.start] == "@":
            yield (*reference, _TYPE["parameter"], 0)


def plain_tokens(
    statement: Statement, match: re.Match[str], meanings: tuple[object, ...]
) -> list[Token]:
    """Return the tokens of a plain statement, relative to its start.

    `match` is from `plain_statements.match_plain`, `meanings` is the result of `token_inputs`.
    """
    chunk = match.string
    if statement.kind != "node":
        return _plain_value(statement, match, meanings)
    tokens: list[Token] = []
    label = match.span(1)
    if label[0] >= 0:
        tokens.append((*label, _TYPE["label"], 0))
    for output in OUTPUT.finditer(chunk, *match.span(2)):
        if output.start(1) >= 0:
            tokens += _type(Span(*output.span(1)), chunk)
        if output.group(2) != '""':
            tokens.append((*output.span(2), _TYPE["variable"], _DECLARATION))
    word_spans = [word.span() for word in WORDS.finditer(chunk, *match.span(3))]
    tokens += [(*span, _TYPE["namespace"], 0) for span in word_spans[:-1]]
    tokens.append((*word_spans[-1], _TYPE["function"], _operator_modifiers(meanings[0])))
    attributes = attributes_span(match)
    if attributes[0] >= 0:
        items = ATTRIBUTE.finditer(chunk, *attributes)
        tokens += [(*item.span(1), _TYPE["property"], 0) for item in items]
    names = NAMES.finditer(chunk, *match.span(5))
    for name, kind in zip(names, meanings[1:], strict=True):
        if kind is not None:
            tokens.append((*name.span(), *kind))  # type: ignore[misc]
    return tokens if match.start(6) < 0 else sorted(tokens)


def _plain_value(
    statement: Statement, match: re.Match[str], meanings: tuple[object, ...]
) -> list[Token]:
    kind, modifiers = meanings
    assert isinstance(kind, int)
    assert isinstance(modifiers, int)
    if statement.group not in ("info", "output"):
        modifiers |= _DECLARATION
    tokens = list(_type(Span(*match.span(1)), match.string))
    return [*tokens, (*match.span(2), kind, modifiers)]


def token_inputs(
    index: Index, statement: Statement, given: dict[str, tuple[int, int]] | None
) -> tuple[object, ...]:
    """Return the data that determines the tokens of a statement, besides its text.

    For a value, it is (token type, modifiers). For a node, it is first whether its operator is
    deprecated (None if unknown), then (token type, modifiers) of each input (None if omitted).
    `given` is the result of `given_meanings` for the graph or function of the statement.
    """
    scope, item = statement.scope, statement.item
    if statement.kind != "node":
        return value_token(index, scope, item.name)
    target = index.target(statement)
    inputs: list[object] = [target.deprecated if isinstance(target, Signature) else None]
    for name in item.inputs:
        if given is not None:
            inputs.append(given.get(name, COMPUTED) if name else None)
        else:
            inputs.append(value_token(index, index.resolve(scope, name), name) if name else None)
    return tuple(inputs)


def given_meanings(scope: Scope) -> dict[str, tuple[int, int]] | None:
    """Return the token type and modifiers of each input and initializer of a scope, by name.

    Return None for a scope that can use values of an outer graph, such as a nested graph.
    """
    if scope.parent is not None or scope.main_graph is not None:
        return None
    inputs = {value.name for value in scope.inputs}
    return {name: _INPUT if name in inputs else _INITIALIZER for name in scope.given}


def _operator(index: Index, statement: Statement, located: LocatedSpans) -> Iterator[Token]:
    try:
        parts = [item for item in located.span_map.find("operator").items if item is not None]
    except LookupError:
        return
    for item in parts[:-1]:
        yield (*located.absolute(item), _TYPE["namespace"], 0)
    for item in parts[-1:]:
        target = index.target(statement)
        deprecated = target.deprecated if isinstance(target, Signature) else None
        yield (*located.absolute(item), _TYPE["function"], _operator_modifiers(deprecated))


def _operator_modifiers(deprecated: object) -> int:
    """Return the modifiers of an operator; `deprecated` is None if the operator is unknown."""
    if deprecated is None:
        return 0
    return _MODIFIER["defaultLibrary"] | (_MODIFIER["deprecated"] if deprecated else 0)
