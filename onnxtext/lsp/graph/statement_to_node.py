# SPDX-License-Identifier: Apache-2.0
"""Find the drawn node or value for a statement of the text."""

from __future__ import annotations

from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.index.symbols import Statement


def node_of(drawing: Drawing, statement: Statement) -> str | None:
    """Return the id of the node or value that is drawn for a statement; None if nothing is drawn.

    Constants and initializers are not drawn: for these, return the id of the first drawn user.
    """
    scope: Scope = statement.scope
    scope_number = drawing.index.number(scope)
    if statement.group == "node":
        identity = f"g{scope_number}n{statement.number}"
        if drawing.chain(identity) is not None:
            return identity
        names = [name for name in statement.item.outputs if name]
    else:
        name = statement.item.name
        for kind, values in (("i", scope.inputs), ("o", scope.outputs)):
            for index, value in enumerate(values):
                if value.name == name and statement.group in ("input", "output", "info"):
                    identity = f"g{scope_number}{kind}{index}"
                    if (kind == "i") == (statement.group == "input") and drawing.chain(identity):
                        return identity
        names = [name]
    users = [user for name in names for user in drawing.users_of(scope, name)]
    return next((user for user in users if drawing.chain(user) is not None), None)
