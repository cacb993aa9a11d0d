# SPDX-License-Identifier: Apache-2.0
"""Documents for tests: the examples of the repository, and a graph of 2,000 nodes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import onnxtext
from benchmarks.transformer import transformer

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> str:
    """Return the text of an example."""
    return (EXAMPLES / f"{name}.onnxtxt").read_text("utf-8")


@cache
def large() -> str:
    """Return a transformer of 2,000 nodes with labels and types, like exporters write it."""
    return onnxtext.from_binary(next(transformer(2000)))
