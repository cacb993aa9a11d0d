# SPDX-License-Identifier: Apache-2.0
"""Memoize function calls: infer a body once for each kind of arguments, not for each call path.

Two calls in each of 30 functions are a billion call paths, but only a few kinds of arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import Subject
from onnxtext.checker.context.scopes import Scope

_MOST_NODES = 20_000
"""The most visits of nodes in called functions; twice the nodes of the model are added."""
_DEEPEST = 100
"""The maximum depth of calls."""


class CallMemo:
    """The results of function calls, with a budget for nodes and depth.

    Attributes:
        known: the results by the key of a call.
    """

    def __init__(self, subject: Subject) -> None:
        self.known: dict[tuple[object, ...], Any] = {}
        self._budget = _MOST_NODES + 2 * sum(len(scope.nodes) for scope in subject.scopes)
        self._depth = 0
        self._kept: list[object] = []  # keeps ids unique

    def key(
        self,
        function: Scope,
        inputs: Sequence[object],
        parameters: Mapping[str, Attribute] | None = None,
    ) -> tuple[object, ...]:
        """Return the kind of a call: the function, the input types and the attributes."""
        if not parameters:
            return (id(function), *inputs)
        given = [(name, attribute.type, self._value(attribute.value))
                 for name, attribute in parameters.items()]  # fmt: skip
        return (id(function), *inputs, *sorted(given, key=lambda item: item[0]))

    def _value(self, value: object) -> object:
        """Return a key for an attribute's value: a short value, otherwise the id."""
        if isinstance(value, (int, float, str, bytes)):
            return type(value), value
        if (
            isinstance(value, tuple)
            and len(value) < 16
            and all(isinstance(item, (int, float, str, bytes)) for item in value)
        ):
            return (*map(type, value), *value)
        self._kept.append(value)
        return id(value)

    def enter(self, function: Scope) -> bool:
        """Whether a body may be visited: calls are neither too deep nor too many."""
        self._budget -= 1 + len(function.nodes)
        if self._budget < 0 or self._depth >= _DEEPEST:
            return False
        self._depth += 1
        return True

    def leave(self) -> None:
        """End the visit of a body."""
        self._depth -= 1
