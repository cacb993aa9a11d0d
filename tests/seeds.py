# SPDX-License-Identifier: Apache-2.0
"""Provide the seed of randomized tests, and choose the cases that the default run tests."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from datetime import date
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


# All processes of a run use the day on which it began, even after midnight.
os.environ.setdefault("ONNXTEXT_TEST_DAY", str(date.today().toordinal()))

EXAMPLES = int(os.environ.get("ONNXTEXT_EXAMPLES") or 0)
"""The number of hypothesis's examples, for a long run of a law; 0 if it is not given."""


def fresh_seed() -> int:
    """Return a new seed, or that of `ONNXTEXT_SEED`. A failing test shows its seed.

    `.ci/run` derives `ONNXTEXT_SEED` from the commit: each commit is tested on new cases, but a
    commit is always tested on the same cases.
    """
    return int(os.environ.get("ONNXTEXT_SEED") or random.SystemRandom().getrandbits(32))


def seeded() -> random.Random:
    """Return a random generator with a fresh seed; pytest shows the seed if the test fails."""
    seed = fresh_seed()
    print("seed", seed)
    return random.Random(seed)


def draws(number: int) -> int:
    """Return the number of cases to draw: `number`, fewer in the default run, more in a long one.

    `number` is for 100 examples of hypothesis. The default run has 40, a long one
    `ONNXTEXT_EXAMPLES` (`tests/conftest.py`).
    """
    assert settings.default is not None
    return max(1, number * settings.default.max_examples // 100)


def sampled(cases: Iterable[T], share: int) -> list[T]:
    """Return the cases of a parametrized test: in the default run, every `share`-th of them.

    `ONNXTEXT_SEED` chooses the first one; without it, the day does, because all processes of a run
    must collect the same tests. If the slow tests are selected, all cases are returned.
    """
    assert settings.default is not None
    if settings.default.max_examples >= 100:
        return list(cases)
    seed = int(os.environ.get("ONNXTEXT_SEED") or os.environ["ONNXTEXT_TEST_DAY"])
    return list(cases)[seed % share :: share]
