# SPDX-License-Identifier: Apache-2.0
"""Data classes of the index: statements, symbols and their occurrences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.scopes import Scope
from onnxtext.source import Span

Role = Literal["definition", "declaration", "use"]
Group = Literal["input", "initializer", "info", "output", "node"]
Key = tuple[str, int, Any]
"""The meaning of a name: its kind (`value`, `label`, `parameter` or `function`), the number of its
scope (0 for a function), and the name; for a function, its `FunctionKey`."""


@dataclass(slots=True, eq=False)
class Statement:
    """A node, or the declaration of a value.

    Attributes:
        at: its offset.
        kind: its rule in `syntax.span_map`.
        item: the `Node` or `ValueInfo` in the tree.
        scope: the graph or body that contains it.
        group: the role of a declared value; `node` for a node.
        number: the index of a node in its scope; -1 for a value.
        limit: its last possible end: the start of the next statement outside of this one.
    """

    at: int
    kind: Literal["node", "value_info"]
    item: Any
    scope: Scope
    group: Group = "node"
    number: int = -1
    limit: int = 0


@dataclass(slots=True)
class Occurrence:
    """An occurrence of a name.

    Attributes:
        role: whether it defines, declares or uses the name.
        statement: the statement that contains it; None if `known` is set.
        path: alternative paths in the span map of the statement; the first existing path applies.
        known: the span, if it is outside of statements.
    """

    role: Role
    statement: Statement | None
    path: tuple[tuple[str | int, ...], ...] = ()
    known: Span | None = None


@dataclass(slots=True)
class Symbol:
    """A name with one meaning.

    Attributes:
        key: its key in the index.
        name: the name.
        scope: the scope that defines the name; without a definition, the outermost of its uses.
        defined: whether it has a definition.
        occurrences: all its occurrences.
    """

    key: Key
    name: str
    scope: Scope | None
    defined: bool = False
    occurrences: list[Occurrence] = field(default_factory=list)


def parameter_names(scope: Scope) -> list[str]:
    """Return the attribute parameters of the function around a scope."""
    function = scope.function
    if function is None:
        return []
    return [item.name if isinstance(item, Attribute) else item for item in function.attributes]
