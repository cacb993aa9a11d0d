# SPDX-License-Identifier: Apache-2.0
"""Cache functions whose arguments are slow to hash, such as types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def cache_by_id(compute: Callable[P, R]) -> Callable[P, R]:
    """Return a function that caches the results of `compute` by the `id()` of each argument."""
    results: dict[tuple[int, ...], tuple[R, object]] = {}

    def lookup(*arguments: P.args, **named: P.kwargs) -> R:
        key = tuple(map(id, arguments))
        cached = results.get(key)
        if cached is None:
            # The cache keeps the arguments alive, so that no `id()` is reused.
            cached = results[key] = compute(*arguments, **named), arguments
        return cached[0]

    return lookup
