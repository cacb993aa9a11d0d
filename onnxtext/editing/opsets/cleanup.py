# SPDX-License-Identifier: Apache-2.0
"""Remove constants that became attributes, and types of outputs that no longer exist."""

from __future__ import annotations

from onnxtext.ast.model import Graph, Model
from onnxtext.ast.visit import list_graphs


def remove_leftovers(model: Model, replaced: set[str], dropped: set[tuple[int, str]]) -> None:
    """Remove unused constants that became attributes, and declared types of dropped outputs.

    Args:
        model: the converted model; changed in place.
        replaced: the names of constants that became attributes.
        dropped: (id of the graph, name) pairs of outputs that nodes no longer have.
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
        if isinstance(scope, Graph):
            without = {name for owner, name in dropped if owner == id(scope)}
            if without or gone:
                _remove_declarations(scope, gone, without)


def _remove_declarations(graph: Graph, gone: set[str], without: set[str]) -> None:
    kept = {value.name for value in graph.inputs}
    kept |= {one.tensor_name for one in graph.quantization}
    if graph.decorators:  # `@value_info` and `@initializers` list the names of values
        return
    graph.values = [
        value
        for value in graph.values
        if value.name in kept or value.name not in (gone if value.data is not None else without)
    ]
    graph.value_metadata = {
        name: held for name, held in graph.value_metadata.items() if name not in without | gone
    }
