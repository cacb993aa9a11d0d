# SPDX-License-Identifier: Apache-2.0
"""Cache functions whose arguments are slow to hash, such as types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def cache_by_id(compute: F) -> F:
    """Return a function that caches the results of `compute` by the `id()` of each argument."""
    results: dict[tuple[int, ...], tuple[Any, object]] = {}

    def lookup(*arguments: Any) -> Any:
        key = (*map(id, arguments),)
        try:
            return results[key][0]
        except KeyError:
            # The cache keeps the arguments alive, so that no `id()` is reused.
            results[key] = compute(*arguments), arguments
            return results[key][0]

    return cast("F", lookup)
