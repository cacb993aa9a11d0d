# SPDX-License-Identifier: Apache-2.0
"""The place of every part of a statement, found when somebody asks for it.

The AST keeps one number a statement: where it begins. To place a label on an input or an
attribute, that one statement is parsed again with a machine that builds places instead of values:
exact, because it is the same grammar, and paid for only by what is shown.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from onnxtext.source import Source, Span
from onnxtext.syntax.lexer import Token, load_lexer
from onnxtext.syntax.machine import (
    LIST_ACTIONS,
    Automaton,
    Machine,
    Reduction,
    Unexpected,
    load_automaton,
)


@dataclass(slots=True)
class Places:
    """Where a construct stands, and its parts.

    Attributes:
        span: from its first to its last token.
        rule: the action of the grammar's rule it was read by; "" for a token.
        parts: the parts that the rule gives a name (the parameters of its action).
        items: the items, if it is a list; None for one that was left out.
    """

    span: Span
    rule: str = ""
    parts: dict[str, Places] = field(default_factory=dict)
    items: list[Places | None] = field(default_factory=list)

    def find(self, *path: str | int) -> Places:
        """A part by its path, such as `find("attributes", 0, "value")`.

        Raises:
            LookupError: there is no such part in the text.
        """
        place = self
        for step in path:
            found = place.items[step] if isinstance(step, int) else place.parts[step]
            if found is None:
                raise LookupError(f"part {step} of {path} is left out")
            place = found
        return place


NODE_PARTS = {
    "name": "label",
    "outputs": "outputs",
    "op_type": "operator",
    "overload": "overload",
    "attributes": "attributes",
    "inputs": "names",
    "decorators": "decorators",
}
"""The fields of `ast.Node` to the parts of a node's places."""


class _Placer(Machine):
    """A machine whose values are places."""

    __slots__ = ("end",)

    def __init__(self, automaton: Automaton, states: list[int]) -> None:
        super().__init__(automaton, states)
        self.end = 0  # of the last token shifted, which is where every finished rule ends

    def evaluate(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """The places of a rule."""
        if reduction.action is None:
            return children[0]
        span = Span(at, self.end)
        if reduction.name in LIST_ACTIONS:
            items: Places = children[0]
            items.items.append(children[1])  # in place: a list may have a million items
            return Places(span, items.rule, items.parts, items.items)
        if reduction.name == "list_first":
            return Places(span, reduction.name, {}, [children[0]])
        if reduction.name == "list_of":
            return Places(span, children[0].rule, children[0].parts, children[0].items)
        names = _parameters(reduction)
        parts = {
            name: child for name, child in zip(names, children, strict=False) if child is not None
        }
        return Places(span, reduction.name, parts)


@cache
def _parameters(reduction: Reduction) -> list[str]:
    """The names of what an action takes, which say what each child of its rule is."""
    assert reduction.action is not None
    try:
        names = list(inspect.signature(reduction.action).parameters)
    except ValueError:  # a built-in
        names = []
    names = names[1:] if reduction.located else names
    missing = len(reduction.take) - len(names)
    return names + [f"part{index}" for index in range(missing)]


def locate(source: Source, at: int, kind: str, most: int | None = None) -> Places:
    """The places of a statement and of all its parts.

    Args:
        source: the text the statement was read from.
        at: where the statement begins: its `at` in the AST.
        kind: `node`, `value_info`, `attribute`, `graph` or `function`.
        most: of how many tokens at most, for who cannot wait; None for any number.

    Raises:
        ValueError: no such statement begins there, or it has more tokens.
    """
    lexer = load_lexer()
    automaton = load_automaton()
    start = f"{kind}_fragment"
    placer = _Placer(automaton, [automaton.starts[start]])
    begin = at
    count = 0
    try:
        while (token := lexer.token(source.text, at)) is not None:
            count += 1
            if most is not None and count > most:
                raise ValueError(f"the {kind} at offset {begin} is too long")
            if not _feed(placer, lexer.kind(token), token):
                break
            at = token.at + len(token)
        whole: Places = placer.finish(automaton.ends[start], at)
    except Unexpected:
        raise ValueError(f"no {kind} begins at offset {begin}") from None
    return whole.parts.get("item") or whole.parts.get("graph") or whole.parts["function"]


def _feed(placer: _Placer, kind: str, token: Token) -> bool:
    """Feed a token, unless the statement has ended before it."""
    try:
        placer.feed(kind, Places(Span(token.at, token.at + len(token))), token.at)
    except Unexpected:
        return False
    placer.end = token.at + len(token)
    return True
