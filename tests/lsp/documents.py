# SPDX-License-Identifier: Apache-2.0
"""The documents of the tests: the examples of the repository, and a graph of 2,000 nodes."""

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
    """Return a transformer as exporters write it: 2,000 nodes, each with a label and a type."""
    return onnxtext.from_binary(next(transformer(2000)))
