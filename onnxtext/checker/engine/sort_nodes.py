# SPDX-License-Identifier: Apache-2.0
"""Sort the nodes of a graph topologically, unless sorting could change what the graph computes."""

from __future__ import annotations

from onnxtext.ast.model import Function, Graph
from onnxtext.ast.visit import walk_graphs, walk_nodes
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.resolved_fields import changed_fields
from onnxtext.checker.context.scopes import sorted_order

_NAMING = {"input", "output", "attribute", "node"}
"""Protobuf fields with names of values: setting them by a decorator changes dependencies."""


def safe_order(subject: CheckedModel, graph: Graph | Function) -> list[int] | None:
    """Return the 0-based indices of nodes in a topological order; None if sorting is not safe.

    Sorting is not safe if the nodes form a cycle. It is also not safe if it could change the value
    that a name refers to: if the graph defines a name twice, if an outer graph defines a name of
    the graph, or if a decorator sets names.
    """
    scope = next((scope for scope in subject.scopes if scope.original is graph), None)
    if scope is None or scope.redefinitions:
        return None
    if any(scope.find_outer(name) is not None for name in scope.position):
        return None
    decorated = [graph, *walk_graphs(graph), *walk_nodes(graph)]
    if any(changed_fields(item.decorators).keys() & _NAMING for item in decorated):
        return None
    return sorted_order(graph.nodes)
