# SPDX-License-Identifier: Apache-2.0
"""Provide the seed of randomized tests."""

from __future__ import annotations

import os
import random


def fresh_seed() -> int:
    """Return a new seed, or that of `ONNXTEXT_SEED`. A failing test shows its seed.

    `.ci/run` derives `ONNXTEXT_SEED` from the commit: each commit is tested on new cases, and the
    same commit always on the same ones.
    """
    return int(os.environ.get("ONNXTEXT_SEED") or random.SystemRandom().getrandbits(32))


def seeded() -> random.Random:
    """Return a random generator with a fresh seed; pytest shows the seed if the test fails."""
    seed = fresh_seed()
    print("seed", seed)
    return random.Random(seed)
