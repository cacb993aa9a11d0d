# SPDX-License-Identifier: Apache-2.0
"""Find where two sequences begin to differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def common_prefix(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the length of the common prefix of two sequences."""
    low, high = 0, min(len(left), len(right))
    while low < high:  # the first `low` items are equal; the first difference is not after `high`
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
