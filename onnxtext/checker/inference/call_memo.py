# SPDX-License-Identifier: Apache-2.0
"""Memoize function calls: infer a body once for calls with equal input types and attributes.

If each of 30 functions calls the next one twice, there are a billion call paths, but often only a
few combinations of input types and attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.scopes import Scope

_MAX_NODES = 20_000
"""Maximum number of node visits in called functions, in addition to two per node of the model."""
_DEEPEST = 100
"""Maximum depth of nested function calls."""


class CallMemo:
    """Caches the results of function calls; limits the number of node visits and the call depth.

    Attributes:
        results: maps the `key` of a call to the cached result of the call.
    """

    def __init__(self, subject: CheckedModel) -> None:
        self.results: dict[tuple[object, ...], Any] = {}
        self._budget = _MAX_NODES + 2 * subject.node_count
        self._depth = 0
        self._kept: list[object] = []  # keeps alive the objects whose ids are in keys

    def key(
        self,
        function: Scope,
        inputs: Sequence[object],
        attributes: Sequence[Attribute] = (),
    ) -> tuple[object, ...]:
        """Return the cache key of a call.

        Args:
            function: the called function.
            inputs: hashable facts about the inputs of the call, such as their types.
            attributes: the attributes that the call sets. The key needs no defaults, because they
                depend only on the function.
        """
        if not attributes:
            return (id(function), *inputs)
        given = [(attribute.name, attribute.type, self._value(attribute.value))
                 for attribute in attributes]  # fmt: skip
        return (id(function), *inputs, *sorted(given, key=lambda item: item[0]))

    def _value(self, value: object) -> object:
        """Return a hashable key for an attribute's value: the value if it is short, else its id."""
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
        """Begin a visit of a function's body, unless a limit is exceeded; `leave` ends the visit.

        Returns:
            Whether the visit has begun. False if calls are nested too deeply, or if too many nodes
            have been visited.
        """
        self._budget -= 1 + len(function.nodes)
        if self._budget < 0 or self._depth >= _DEEPEST:
            return False
        self._depth += 1
        return True

    def leave(self) -> None:
        """End a visit that `enter` has begun."""
        self._depth -= 1
