# SPDX-License-Identifier: Apache-2.0
"""Statement shapes: what the LALR loop would do for a statement, found once and done again.

In a state where a list expects its next item, the same kinds of tokens do the same things for
ever, because LALR parsing is deterministic. So the loop is run once, on a copy of its stack, with
placeholders for the tokens and without running any action. If it comes back to exactly the same
stack, whatever token follows, with new items on the list, then the recorded actions are all that
such a statement ever needs: they become a small Python function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onnxtext.syntax.faults import Fault
from onnxtext.syntax.machine import LIST_ACTIONS, Automaton, Machine, Reduction, Unexpected


@dataclass(frozen=True, slots=True)
class Leaf:
    """Stands for a token.

    Attributes:
        index: which of the statement's tokens.
    """

    index: int


@dataclass(frozen=True, slots=True)
class Call:
    """Stands for the value of a rule: its action will be run on these children."""

    reduction: Reduction
    at: int
    children: tuple[Any, ...]


class _Root:
    """Stands for the list that the statement adds items to."""


class Recorder(Machine):
    """A machine that records what actions would be run instead of running them."""

    __slots__ = ("items", "root")

    def __init__(self, automaton: Automaton, states: list[int], root: _Root) -> None:
        super().__init__(automaton, states)
        self.root = root
        self.items: list[Any] = []

    def evaluate(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """A `Call`, or the list itself after an item was added to it."""
        if reduction.action is None:
            return children[0]
        if children and children[0] is self.root:
            if reduction.name not in LIST_ACTIONS:
                raise Unexpected(-1)
            self.items.append(children[1])
            return self.root
        return Call(reduction, at, tuple(children))


def record(machine: Machine, kinds: str, depth: int) -> list[Any] | None:
    """What a statement with these kinds of tokens would add to the list on top of the stack.

    Args:
        machine: in a list state; it is not changed.
        kinds: the kinds of the statement's tokens.
        depth: where the list is on the stack of values, from the top.

    Returns:
        The items as trees of `Call` and `Leaf`; None if the statement does not lead back to the
        same stack for every token that may follow.
    """
    root = _Root()
    recorder = Recorder(machine.automaton, list(machine.states), root)
    recorder.values = list(machine.values)
    recorder.values[-depth] = root
    recorder.where = list(machine.where)
    try:
        for index, kind in enumerate(kinds):
            recorder.feed(kind, Leaf(index), index)
    except (Unexpected, Fault):
        return None
    if not _comes_back(recorder, machine):
        return None
    return recorder.items or None


def _comes_back(recorder: Recorder, machine: Machine) -> bool:
    """Whether every token that the list state accepts leads back to the machine's very stack."""
    row = machine.automaton.rows[machine.states[-1]]
    ended = list(recorder.states)
    items: list[Any] | None = None
    for kind in row:
        attempt = Recorder(recorder.automaton, list(ended), recorder.root)
        attempt.values = list(recorder.values)
        attempt.where = list(recorder.where)
        attempt.items = list(recorder.items)
        try:
            while attempt.states != machine.states:
                target = attempt.automaton.rows[attempt.states[-1]].get(kind)
                if target is None or target >= 0 or len(attempt.states) < len(machine.states):
                    return False
                attempt.reduce(attempt.automaton.reductions[~target], 0)
        except Unexpected:
            return False
        if items is not None and attempt.items != items:
            return False
        items = attempt.items
    recorder.items = items or []
    return True


def places(items: Sequence[Any]) -> set[int]:
    """The tokens whose offsets the items need: where each located rule begins."""
    found: set[int] = set()
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            if item.reduction.located:
                found.add(item.at)
            stack += item.children
    return found
