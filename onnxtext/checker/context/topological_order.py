# SPDX-License-Identifier: Apache-2.0
"""Sort the nodes of a directed graph topologically."""

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
