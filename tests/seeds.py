# SPDX-License-Identifier: Apache-2.0
"""Provide the seed of randomized tests."""

from __future__ import annotations

import os
import random


def fresh_seed() -> int:
    """Return a new seed, or that of `ONNXTEXT_SEED`. A failing test shows its seed.

    `.ci/run` sets `ONNXTEXT_SEED` to the same number every time, so that its result depends on
    the commit only. Other runs test new cases.
    """
    return int(os.environ.get("ONNXTEXT_SEED") or random.SystemRandom().getrandbits(32))
