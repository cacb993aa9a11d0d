# SPDX-License-Identifier: Apache-2.0
"""Models around the lines that a test checks."""

from __future__ import annotations

H = "<ir_version: 10, opset_import: [21]>\n"
G = "g (float[4] x, float[4] a, float[4] b) => (float[4] y) {\n"


def node(lines: str) -> str:
    """Return a model with these nodes, the first of which is in line 3."""
    return f"{H}{G}{lines}\n}}\n"


def value(line: str) -> str:
    """Return a model with this value in line 3."""
    return f"{H}g (float[2] x) => (float[2] y) <\n  {line}\n> {{\n  y = Relu (x)\n}}\n"
