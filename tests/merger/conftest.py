# SPDX-License-Identifier: Apache-2.0
"""Merge texts and binary models."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[False, True], ids=["text", "binary"])
def binary(request: pytest.FixtureRequest) -> bool:
    """Whether to merge binary models instead of texts."""
    return bool(request.param)
