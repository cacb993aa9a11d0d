# SPDX-License-Identifier: Apache-2.0
"""Two people edit different layers of a real model: both edits are in the merge."""

from __future__ import annotations

import warnings

import pytest

from benchmarks.merge import by_lines, ours, shared_pairs
from benchmarks.merge_edits import KINDS
from onnxtext import OnnxTextWarning
from tests.corpus import SHARED


def merge_random_edits(count: int, seed: int) -> None:
    assert SHARED is not None
    found = []
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnnxTextWarning)  # some models are suspicious
        for pair in shared_pairs(count, seed, SHARED):
            found.append(pair.kind)
            lines.append(by_lines(pair))
            assert ours(pair) == "merged", pair.name
    assert len(found) == count
    assert set(found) == set(KINDS)
    assert lines.count("merged") < count  # a merge by lines fails for some of these edits


@pytest.mark.data
def test_edits_of_different_layers_merge() -> None:
    merge_random_edits(16, seed=1)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("seed", [8, 100, 200])
def test_two_hundred_edits_of_different_layers_merge(seed: int) -> None:
    merge_random_edits(200, seed)
