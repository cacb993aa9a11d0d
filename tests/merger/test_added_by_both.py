# SPDX-License-Identifier: Apache-2.0
"""Items that both sides add are merged if they differ only in metadata or doc strings."""

from __future__ import annotations

import pytest

from tests.merger.clean_merges import check_merge, merges

RELU = "g (float[2] x) => (float[2] y) {\n  y = Relu (x)\n}\n"
SPLIT = """g (float[4] x) => (float[2] y, float[2] z) {
  y, z = Split <num_outputs = 2> (x)
}
"""
WEIGHT = "g (float[2] x) => (float[2] y) <\n  float[2] w = {1, 2},\n> {\n  y = Relu (x)\n}\n"
SHARED = {
    "another operator after it": (
        RELU, RELU.replace("y = Relu (x)", "h = Relu (x)\n  y = Neg (h)"),
    ),
    "another operator before it": (
        RELU, RELU.replace("y = Relu (x)", "h = Neg (x)\n  y = Relu (h)"),
    ),
    "the same operator": (RELU, RELU.replace("y = Relu (x)", "h = Relu (x)\n  y = Relu (h)")),
    "the first output": (SPLIT, SPLIT.replace("y, z", "h, z").replace("(x)", "(x)\n  y = Neg (h)")),
    "the second output": (
        SPLIT, SPLIT.replace("y, z", "y, h").replace("(x)", "(x)\n  z = Neg (h)"),
    ),
}  # fmt: skip
"""For each edit that both sides make: the base and the edited text."""
BOTH = [(name, line) for name in SHARED for line in (2, 3)]


@pytest.mark.parametrize(("name", "line"), BOTH)
@pytest.mark.parametrize("entry", ['@meta("k": "v")', '@doc("d")'])
def test_one_side_describes_a_node_that_both_add(
    name: str, line: int, entry: str, *, binary: bool
) -> None:
    base, shared = SHARED[name]
    ours = _with_line(shared, line, f"  {entry}")
    check_merge(base, ours, shared, ours, binary=binary)


@pytest.mark.parametrize("name", SHARED)
def test_both_sides_describe_different_nodes(name: str, *, binary: bool) -> None:
    base, shared = SHARED[name]
    ours, theirs = [_with_line(shared, line, f'  @meta("k{line}": "v")') for line in (2, 3)]
    wanted = _with_line(ours, 4, '  @meta("k3": "v")')
    check_merge(base, ours, theirs, wanted, binary=binary)


def test_both_sides_add_an_initializer_and_one_describes_it(*, binary: bool) -> None:
    ours = WEIGHT.replace("float[2] w", '@doc("d") float[2] w')
    check_merge(RELU, ours, WEIGHT, ours, binary=binary)


def test_different_values_of_one_key_are_a_conflict(*, binary: bool) -> None:
    base, shared = SHARED["another operator after it"]
    ours, theirs = [_with_line(shared, 3, f'  @meta("k": "{word}")') for word in "vw"]
    assert merges(base, ours, theirs, binary=binary) is None


def _with_line(text: str, line: int, new: str) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[: line - 1], new, *lines[line - 1 :]])
