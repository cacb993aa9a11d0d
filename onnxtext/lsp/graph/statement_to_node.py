# SPDX-License-Identifier: Apache-2.0
"""Find the drawn node or value for a statement of the text."""

from __future__ import annotations

from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.index.symbols import Statement


def drawn_node(drawing: Drawing, statement: Statement) -> str | None:
    """Return the id of the drawn node or value of a statement; None if nothing is drawn.

    Constants, initializers, and values that are neither inputs nor outputs are not drawn: return
    the id of the first drawn user instead.
    """
    number = drawing.index.number(statement.scope)
    if statement.group == "node":
        identity = f"g{number}n{statement.number}"
        if drawing.chain(identity) is not None:
            return identity
        names = [name for name in statement.item.outputs if name]
    else:
        names = [statement.item.name]
        kind = {"input": "i", "output": "o", "info": "o"}.get(statement.group, "")
        drawn = drawing.drawn_values.get((number, kind, names[0]))
        if drawn is not None:
            return drawn
    users = [user for name in names for user in drawing.users_of(statement.scope, name)]
    return next((user for user in users if drawing.chain(user) is not None), None)
