# SPDX-License-Identifier: Apache-2.0
"""What the index of a document is made of: statements, and names with what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from onnxtext.ast.values import Attribute
from onnxtext.checker.context.scopes import Scope
from onnxtext.source import Span

Role = Literal["definition", "declaration", "use"]
Group = Literal["input", "initializer", "info", "output", "node"]
Key = tuple[str, int, Any]
"""What a name means: `value`, `parameter` or `function`; the scope's number; the name."""


@dataclass(slots=True, eq=False)
class Statement:
    """A node or a value's declaration.

    Attributes:
        at: where it begins.
        kind: as `syntax.locate` knows it: `node` or `value_info`.
        item: the statement in the tree.
        scope: the graph or body it stands in.
        group: what a value is declared as; `node` for a node.
        number: the index of a node among those of its scope.
        limit: where the next statement that is not part of this one begins.
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
    """A place where a name stands.

    Attributes:
        role: whether it defines the name, says something about it, or uses it.
        statement: the statement it is in; None for a place that is known already.
        path: the part of the statement, the first of these that the text has.
        known: the place, where it is in no statement.
    """

    role: Role
    statement: Statement | None
    path: tuple[tuple[str | int, ...], ...] = ()
    known: Span | None = None


@dataclass(slots=True)
class Symbol:
    """A name with one meaning.

    Attributes:
        key: the meaning.
        name: the name.
        scope: where it is defined; the outermost one around its uses if it is not.
        defined: whether anything defines it.
        occurrences: all places it stands at.
    """

    key: Key
    name: str
    scope: Scope | None
    defined: bool = False
    occurrences: list[Occurrence] = field(default_factory=list)


def parameter_names(scope: Scope) -> list[str]:
    """The attribute parameters of the function a scope is in."""
    function = scope.function
    if function is None:
        return []
    return [item.name if isinstance(item, Attribute) else item for item in function.attributes]


def outermost(scope: Scope) -> Scope:
    """The graph or body that a scope is nested in; itself if it is in none."""
    while scope.parent is not None:
        scope = scope.parent
    return scope
