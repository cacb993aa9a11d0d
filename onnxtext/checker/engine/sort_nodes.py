# SPDX-License-Identifier: Apache-2.0
"""Sort the nodes of a graph topologically, unless sorting could change what the graph computes."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

from onnxtext.ast.model import Function, Graph, Node
from onnxtext.ast.visit import walk_graphs, walk_nodes
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.resolved_fields import changed_fields
from onnxtext.checker.context.scopes import used_names

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


def sorted_order(nodes: list[Node]) -> list[int] | None:
    """Return the 0-based indices of nodes in a topological order; None if several form a cycle.

    If several nodes could come next, the node with the lowest index is chosen.
    """
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.outputs:
            if name:
                producer.setdefault(name, index)
    used = [
        {producer[name] for name in used_names(node) if name in producer} - {index}
        for index, node in enumerate(nodes)
    ]
    return topological_order(used, range(len(nodes)))


def topological_order(
    used: Sequence[Collection[int]], preferred: Sequence[int]
) -> list[int] | None:
    """Return the indices of nodes so that each node follows those that it uses; None for a cycle.

    `used` has, for each node, the indices of the nodes whose outputs it uses, without duplicates.
    If several nodes could come next, the one that comes first in `preferred` is chosen.
    """
    rank = [0] * len(used)
    users: list[list[int]] = [[] for _ in used]
    for position, index in enumerate(preferred):
        rank[index] = position
    for index, others in enumerate(used):
        for other in others:
            users[other].append(index)
    waiting = list(map(len, used))
    ready = [rank[index] for index, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        index = preferred[heapq.heappop(ready)]
        order.append(index)
        for user in users[index]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, rank[user])
    return order if len(order) == len(used) else None
