# SPDX-License-Identifier: Apache-2.0
"""The seed of tests that draw new cases each time."""

from __future__ import annotations

import os
import random


def fresh_seed() -> int:
    """Return a new seed, or that of `ONNXTEXT_SEED`. A test shows its seed if a law does not hold.

    `.ci/run` sets `ONNXTEXT_SEED` to a number that depends on the commit, so every commit is
    tested on other cases, and the same commit always on the same ones.
    """
    return int(os.environ.get("ONNXTEXT_SEED") or random.SystemRandom().getrandbits(32))
