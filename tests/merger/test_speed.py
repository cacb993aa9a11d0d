# SPDX-License-Identifier: Apache-2.0
"""Large and hostile texts are merged in about linear time."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from benchmarks.merge import all_renamed, identical, large, reordered
from onnxtext.merger import merge
from tests.running import grows_at_most

Maker = Callable[[int], tuple[bytes, bytes, bytes]]


def seconds(make: Maker, count: int) -> float:
    texts = make(count)
    start = time.process_time()
    result = merge(*texts)
    taken = time.process_time() - start
    assert not [note for note in result.notes if "line by line" in note]
    return taken


@pytest.mark.thorough
@pytest.mark.parametrize("make", [large, identical, reordered, all_renamed])
def test_merging_takes_linear_time(make: Maker) -> None:
    # Eight times the statements; a square would take 64 times as long.
    assert grows_at_most(partial(seconds, make), 100, 800, factor=24)
