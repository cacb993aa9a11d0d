# SPDX-License-Identifier: Apache-2.0
"""Count the elements of a tensor, given its dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

_FEW = 16
"""Up to this rank, the count is exact."""
_LARGEST = 1 << 128


def count_elements(dims: Sequence[int]) -> int:
    """Return the product of dimensions.

    A hostile model can have thousands of dimensions. Their product would take quadratic time, and
    Python refuses to print it. So with more than 16 dimensions, the product is limited to the
    range from -2**128 to 2**128; no file holds so many elements.
    """
    if len(dims) <= _FEW:
        return prod(dims)
    count = 1
    for dim in dims:
        count = max(-_LARGEST, min(count * dim, _LARGEST))
    return count
