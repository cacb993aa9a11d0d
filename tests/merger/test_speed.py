# SPDX-License-Identifier: Apache-2.0
"""Large and hostile texts are merged in about linear time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from benchmarks.merge import all_renamed, identical, large, reordered
from onnxtext.merger import merge

Maker = Callable[[int], tuple[bytes, bytes, bytes]]


def seconds(make: Maker, count: int) -> float:
    """Return the best of two times."""
    texts = make(count)
    taken = []
    for _ in range(2):
        start = time.process_time()
        result = merge(*texts)
        taken.append(time.process_time() - start)
        assert not [note for note in result.notes if "line by line" in note]
    return min(taken)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [large, identical, reordered, all_renamed])
def test_merging_takes_linear_time(make: Maker) -> None:
    seconds(make, 100)
    # Eight times the statements; a square would take 64 times as long.
    assert seconds(make, 1600) < 24 * seconds(make, 200) + 0.1
