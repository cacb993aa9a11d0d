# SPDX-License-Identifier: Apache-2.0
"""Find the drawn node or value for a statement of the text."""

from __future__ import annotations

from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.index.symbols import Statement


class StatementNodes:
    """Finds the node or value that a drawing shows for a statement of the text."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._drawn: dict[tuple[int, str], dict[str, str]] = {}

    def node_of(self, statement: Statement) -> str | None:
        """Return the id of the drawn node or value of a statement; None if nothing is drawn.

        Constants, initializers, and values that are neither inputs nor outputs are not drawn:
        return the id of the first drawn user instead.
        """
        drawing, scope = self._drawing, statement.scope
        if statement.group == "node":
            identity = f"g{drawing.index.number(scope)}n{statement.number}"
            if drawing.chain(identity) is not None:
                return identity
            names = [name for name in statement.item.outputs if name]
        else:
            names = [statement.item.name]
            if statement.group in ("input", "output", "info"):
                kind = "i" if statement.group == "input" else "o"
                drawn = self._drawn_values(scope, kind).get(names[0])
                if drawn is not None:
                    return drawn
        users = [user for name in names for user in drawing.users_of(scope, name)]
        return next((user for user in users if drawing.chain(user) is not None), None)

    def _drawn_values(self, scope: Scope, kind: str) -> dict[str, str]:
        """Return the ids of the drawn inputs (`i`) or outputs (`o`) of a graph, by name."""
        number = self._drawing.index.number(scope)
        known = self._drawn.get((number, kind))
        if known is None:
            known = self._drawn[number, kind] = {}
            for index, value in enumerate(scope.inputs if kind == "i" else scope.outputs):
                identity = f"g{number}{kind}{index}"
                if self._drawing.chain(identity):
                    known.setdefault(value.name, identity)
        return known
