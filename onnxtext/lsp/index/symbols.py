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
"""Identifies a symbol: its kind (`value`, `label`, `parameter` or `function`), the number of its
scope (0 for a function), and its name; for a function, its `FunctionKey`."""


@dataclass(slots=True, eq=False)
class Statement:
    """A node, or the declaration of a value.

    Attributes:
        kind: its grammar rule: `node`, or `value_info` for a declaration.
        item: the `Node` or `ValueInfo` in the syntax tree.
        group: the role of a declared value; `node` for a node.
        number: the index of a node in its graph or function; -1 for a value.
        limit: an upper bound for its end: the start of the next statement, graph or section that
            is not a part of it.
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
    """An occurrence of a name in the text.

    Attributes:
        role: whether the occurrence defines, declares or uses the name.
        statement: the statement that contains the occurrence; None if `span` is set.
        path: alternative paths to the name in the statement's span map; the first that exists
            applies.
        span: the position of an occurrence outside statements; None in statements.
    """

    role: Role
    statement: Statement | None
    path: tuple[tuple[str | int, ...], ...] = ()
    span: Span | None = None


@dataclass(slots=True)
class Symbol:
    """A value, label, parameter or function, and the occurrences of its name.

    Attributes:
        key: its key in `Index.symbols`.
        scope: the graph or function that defines it; without a definition, the outermost graph or
            function around its uses; None if the symbol is a function.
        defined: whether its definition is in the text.
    """

    key: Key
    name: str
    scope: Scope | None
    defined: bool = False
    occurrences: list[Occurrence] = field(default_factory=list)


def parameter_names(scope: Scope | None) -> list[str]:
    """Return the names of the attribute parameters of the function that contains a scope.

    Return [] for None, and for a scope outside functions.
    """
    function = None if scope is None else scope.function
    if function is None:
        return []
    return [item.name if isinstance(item, Attribute) else item for item in function.attributes]
