# SPDX-License-Identifier: Apache-2.0
"""Remove constants that became attributes, and types of outputs that no longer exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.model import Graph, Model, Node
from onnxtext.ast.records import Decorator
from onnxtext.ast.visit import list_graphs, nested_graphs


def names_in_use(model: Model, converted: Mapping[int, list[Node]]) -> set[str]:
    """Return the names of values that nodes, outputs, annotations or training bindings use.

    Args:
        model: the model.
        converted: maps the `id()` of a graph or function to the nodes that replace its nodes.
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

    Args:
        model: the converted model; changed in place.
        replaced: the names of constants that became attributes.
        dropped: pairs (`id()` of the graph, name of the output) of outputs that nodes no longer
            have.
    """
    gone = replaced - names_in_use(model, {})
    for scope in list_graphs(model):
        unused = [n for n in scope.nodes if n.op_type == "Constant" and set(n.outputs) <= gone]
        if unused and gone:
            chosen = {id(node) for node in unused if node.outputs}
            scope.nodes = [node for node in scope.nodes if id(node) not in chosen]
        if isinstance(scope, Graph):
            without = {name for owner, name in dropped if owner == id(scope)}
            if without or gone:
                _remove_declarations(scope, gone, without)


def _remove_declarations(graph: Graph, gone: set[str], without: set[str]) -> None:
    """Remove unused constants and the declarations of outputs that no longer exist.

    Args:
        graph: the graph; changed in place.
        gone: the names of unused constants.
        without: the names of outputs that nodes no longer have.
    """
    graph.quantization = [
        annotation for annotation in graph.quantization if annotation.tensor_name not in without
    ]
    kept = {value.name for value in graph.inputs}
    graph.values = [
        value
        for value in graph.values
        if value.name in kept
        or value.name not in (gone if value.data is not None else without | gone)
    ]
    graph.value_metadata = {
        name: metadata
        for name, metadata in graph.value_metadata.items()
        if name not in without | gone
    }
    decorators = [_without_names(decorator, without | gone) for decorator in graph.decorators]
    graph.decorators = tuple([decorator for decorator in decorators if decorator is not None])


def _without_names(decorator: Decorator, names: set[str]) -> Decorator | None:
    """Remove names from the decorators `@value_info` and `@initializers`.

    Return other decorators unchanged, and None if no name remains.
    """
    if decorator.name not in ("value_info", "initializers"):
        return decorator
    gone = {to_bytes(name) for name in names}
    kept = tuple([argument for argument in decorator.arguments if argument.value not in gone])
    return replace(decorator, arguments=kept) if kept or not decorator.arguments else None
