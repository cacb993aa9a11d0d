# SPDX-License-Identifier: Apache-2.0
"""Remove constants that became attributes, and declarations of outputs that were dropped."""

from __future__ import annotations

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.visit import list_graphs


def remove_leftovers(model: Model, replaced: set[str], dropped: set[str]) -> None:
    """Remove constants that nothing uses any more.

    Args:
        model: the converted model; changed in place.
        replaced: constants that became attributes.
        dropped: outputs of nodes that no longer exist.
    """
    scopes = list_graphs(model)
    used = {value.name for scope in scopes for value in scope.outputs}
    for scope in scopes:
        for node in scope.nodes:
            used.update(node.inputs)
    for training in model.training:
        for bindings in (training.initialization_binding, training.update_binding):
            used.update([name for pair in bindings for name in pair])
    gone = replaced - used
    for scope in scopes:
        unused = [n for n in scope.nodes if n.op_type == "Constant" and set(n.outputs) <= gone]
        if unused and gone:
            chosen = {id(node) for node in unused if node.outputs}
            scope.nodes = [node for node in scope.nodes if id(node) not in chosen]
        names = {value.name for value in scope.inputs}
        names |= {one.tensor_name for one in getattr(scope, "quantization", ())}
        if isinstance(scope, Graph) and not scope.decorators:
            scope.values = [
                value
                for value in scope.values
                if value.name in names
                or value.name not in (gone if value.data is not None else gone | dropped)
            ]
            if dropped or gone:
                scope.value_metadata = {
                    name: held
                    for name, held in scope.value_metadata.items()
                    if name not in dropped | gone
                }
