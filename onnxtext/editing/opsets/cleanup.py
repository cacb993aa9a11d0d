# SPDX-License-Identifier: Apache-2.0
"""Remove constants that became attributes, and declarations of outputs that were dropped."""

from __future__ import annotations

from collections.abc import Mapping

from onnxtext.ast.model import Graph, Model, Node
from onnxtext.ast.visit import list_graphs, nested_graphs
from onnxtext.editing.nodes import remove_declarations


def names_in_use(model: Model, converted: Mapping[int, list[Node]]) -> set[str]:
    """Return the names of values that nodes, outputs, annotations or training bindings use.

    `converted` maps the `id()` of a graph or function to the nodes that replace its nodes.
    """
    scopes = list_graphs(model)
    for nodes in converted.values():
        for graph in nested_graphs(nodes):
            scopes += list_graphs(graph)
    used = {value.name for scope in scopes for value in scope.outputs}
    for scope in scopes:
        for node in converted.get(id(scope), scope.nodes):
            used.update(node.inputs)
        for annotation in scope.quantization if isinstance(scope, Graph) else ():
            used.update([annotation.tensor_name, *[name for _, name in annotation.entries]])
    for training in model.training:
        for bindings in (training.initialization_binding, training.update_binding):
            used.update([name for pair in bindings for name in pair])
    return used


def remove_leftovers(model: Model, replaced: set[str], dropped: set[tuple[int, str]]) -> None:
    """Remove unused constants that became attributes, and declared types of dropped outputs.

    `replaced` has the names of the constants; `dropped` has (`id()` of the graph, name) of each
    output (see `ModelFacts`).
    """
    gone = replaced - names_in_use(model, {})
    for scope in list_graphs(model):
        unused = [n for n in scope.nodes if n.op_type == "Constant" and set(n.outputs) <= gone]
        if unused and gone:
            chosen = {id(node) for node in unused if node.outputs}
            scope.nodes = [node for node in scope.nodes if id(node) not in chosen]
        if isinstance(scope, Graph):
            removed = gone | {name for owner, name in dropped if owner == id(scope)}
            removed -= {value.name for value in scope.inputs}
            scope.values = [v for v in scope.values if v.data is None or v.name not in removed]
            remove_declarations(scope, removed)
