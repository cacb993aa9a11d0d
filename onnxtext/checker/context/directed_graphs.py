# SPDX-License-Identifier: Apache-2.0
"""Sort the nodes of a directed graph topologically, and find its cycles."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence


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


def cyclic_groups(before: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components that have a cycle, as lists of node indices.

    `before` has, for each node, the indices of the nodes whose outputs it uses.
    """
    return [
        group for group in _components(before) if len(group) > 1 or group[0] in before[group[0]]
    ]


def _components(before: list[list[int]]) -> list[list[int]]:
    """Return the strongly connected components as lists of node indices.

    `before` is as in `cyclic_groups`. This is Tarjan's algorithm without recursion.
    """
    order = [-1] * len(before)
    low = [0] * len(before)
    on_stack = [False] * len(before)
    stack: list[int] = []
    groups: list[list[int]] = []
    count = 0
    for root in range(len(before)):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, at = work.pop()
            if not at:
                order[node] = low[node] = count
                count += 1
                stack.append(node)
                on_stack[node] = True
            for index in range(at, len(before[node])):
                other = before[node][index]
                if order[other] < 0:
                    work += [(node, index + 1), (other, 0)]
                    break
                if on_stack[other]:
                    low[node] = min(low[node], order[other])
            else:
                if low[node] == order[node]:
                    group: list[int] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack[group[-1]] = False
                    groups.append(group)
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return groups


def one_cycle(
    group: list[int], before: list[list[int]], names: Sequence[tuple[str, ...]]
) -> list[int]:
    """Return a cycle of the strongly connected component `group`.

    Each node in the cycle uses an output of the previous node. `before` is as in `cyclic_groups`.
    The distinct `names` of the nodes decide between several cycles, and the least name comes first:
    so the result does not depend on the order of the nodes.
    """
    members = set(group)
    path: list[int] = []
    seen: dict[int, int] = {}
    node = min(group, key=names.__getitem__)
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = min([other for other in before[node] if other in members], key=names.__getitem__)
    cycle = list(reversed(path[seen[node] :]))
    first = cycle.index(min(cycle, key=names.__getitem__))
    return cycle[first:] + cycle[:first]
