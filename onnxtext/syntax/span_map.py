# SPDX-License-Identifier: Apache-2.0
"""Compute the spans of the parts of a statement, such as its inputs and attributes.

The AST has only one offset for each statement: its start. To find the span of a part, `map_spans`
parses the statement again, with actions that build spans instead of values. The spans are exact,
because this parse uses the grammar of the language.
"""

from __future__ import annotations

import inspect
from dataclasses import field
from functools import cache

from onnxtext.quick_dataclass import dataclass
from onnxtext.source import Source, Span
from onnxtext.syntax.actions import ACTIONS, LOCATED
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import GrammarRule
from onnxtext.syntax.parser.lalr import (
    LIST_ACTIONS,
    Action,
    Automaton,
    Machine,
    Reduction,
    Unexpected,
)


@dataclass(slots=True)
class SpanMap:
    """The span of a construct, and the span maps of its parts.

    Attributes:
        span: the range from the first to the last token.
        rule: the name of the action of the construct's grammar rule; "" for a token.
        parts: maps the parameter names of this action, such as `attributes`, to the span maps of
            the parts.
        items: for a list, the span maps of its items; None for an omitted item.
    """

    span: Span
    rule: str = ""
    parts: dict[str, SpanMap] = field(default_factory=dict)
    items: list[SpanMap | None] = field(default_factory=list)

    def find(self, *path: str | int) -> SpanMap:
        """Return the span map of a part, such as `find("attributes", 0, "value")`.

        Raises:
            LookupError: the construct has no such part.
        """
        result = self
        for step in path:
            part = result.items[step] if isinstance(step, int) else result.parts[step]
            if part is None:
                raise LookupError(f"part {step} of {path} is omitted")
            result = part
        return result


NODE_PARTS = {
    "name": "label", "outputs": "outputs", "op_type": "operator", "overload": "overload",
    "attributes": "attributes", "inputs": "names", "decorators": "decorators",
}  # fmt: skip
"""Maps fields of `ast.Node` to the names of their parts in `SpanMap.parts`."""


def _span_reduction(rule: GrammarRule) -> Reduction:
    """Return the reduction of a rule, with an action that joins the span maps of the symbols."""
    action = ACTIONS.get(rule.action)
    if action is None:
        return Reduction(rule, None)
    names = _parameters(action, rule)

    def build(offset: int, *symbols: SpanMap | None) -> SpanMap:
        last = symbols[-1] if symbols else None
        span = Span(offset, offset if last is None else last.span.end)
        children = [symbols[index] if index >= 0 else None for index in rule.take]
        first = children[0] if children else None
        if rule.action == "list_first":
            return SpanMap(span, rule.action, {}, [first])
        if rule.action == "list_of" or rule.action in LIST_ACTIONS:
            assert first is not None
            first.items += children[1:]  # in place: a list may have a million items
            return SpanMap(span, first.rule, first.parts, first.items)
        parts = {
            name: child for name, child in zip(names, children, strict=False) if child is not None
        }
        return SpanMap(span, rule.action, parts)

    return Reduction(rule._replace(take=tuple(range(len(rule.symbols)))), build, located=True)


def _parameters(action: Action, rule: GrammarRule) -> list[str]:
    """Return the parameter names of an action: one for each argument that the rule passes."""
    try:
        names = list(inspect.signature(action).parameters)
    except ValueError:  # a built-in
        names = []
    names = names[1:] if rule.action in LOCATED else names
    missing = len(rule.take) - len(names)
    return names + [f"part{index}" for index in range(missing)]


@cache
def _automaton() -> Automaton:
    return Automaton(load_tables(), _span_reduction)


def map_spans(source: Source, offset: int, kind: str, max_tokens: int | None = None) -> SpanMap:
    """Return the span map of a statement.

    `offset` is the attribute `at` of the statement in the AST, and `kind` is `node`, `value_info`,
    `attribute`, `graph` or `function`. At most `max_tokens` tokens are parsed; None for no limit.

    Raises:
        ValueError: no statement of this kind begins at `offset`, or the statement has more than
            `max_tokens` tokens.
    """
    automaton = _automaton()
    machine = Machine(automaton, [automaton.starts[f"{kind}_fragment"]])
    tokens = load_lexer().read(source.text, offset)
    for count, (terminal, token, start) in enumerate(tokens):
        if count == max_tokens:
            raise ValueError(f"the {kind} at offset {offset} is too long")
        try:
            machine.feed(terminal, SpanMap(Span(start, start + len(token))), start)
        except Unexpected:  # the statement ended before this token
            break
    try:
        fragment: SpanMap = machine.finish(len(source.text))
    except Unexpected:
        raise ValueError(f"no {kind} begins at offset {offset}") from None
    return fragment.parts["item"]
