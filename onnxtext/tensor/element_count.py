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
    Python refuses to print it. So with more than 16 dimensions, a product above 2**128, which no
    file can hold, is replaced by 2**128, and a product below -2**128 by -2**128.
    """
    if len(dims) <= _FEW:
        return prod(dims)
    count = 1
    for dim in dims:
        count = max(-_LARGEST, min(count * dim, _LARGEST))
    return count
