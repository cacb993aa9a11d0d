# SPDX-License-Identifier: Apache-2.0
"""Edits stay at their nodes and values if the other side gives their names to others."""

from __future__ import annotations

import random

import pytest

from onnxtext.merger.texts.renumbered_nodes import common_subsequence
from tests.merger.clean_merges import check_merge

Nodes = list[tuple[str, str]]
"""The operator of each node of a chain, and the text of its other inputs."""
CHAINS: dict[str, Nodes] = {
    "mixed": [("Add", ', "w1"'), ("Relu", ""), ("Add", ', "w2"'), ("Relu", ""), ("Neg", "")],
    "alternating": [("Abs", ""), ("Neg", ""), ("Abs", ""), ("Neg", ""), ("Neg", "")],
    "layers": [("Add", ', "w1"'), ("Relu", ""), ("Add", ', "w2"'), ("Relu", "")],
}
NEW: dict[str, Nodes] = {
    "mixed": [("Abs", "")],
    "alternating": [("Exp", ""), ("Sin", "")],
    "layers": [("Add", ', "w0"'), ("Relu", "")],
}


def chain(nodes: Nodes, first: int = 3) -> list[str]:
    """Return the lines of a graph of consecutive nodes whose outputs are numbered."""
    lines, read = [], "x"
    for index, (operator, more) in enumerate(nodes):
        name = "y" if index == len(nodes) - 1 else f'"{first + index}"'
        lines.append(f"  {name} = {operator} ({read}{more})")
        read = name
    values = "\n".join([f'  float[2] "w{index}" = {{{index}, 1}},' for index in range(3)])
    return [f"g (float[2] x) => (float[2] y) <\n{values}\n> {{", *lines, "}", ""]


def described(lines: list[str], index: int) -> str:
    """Return the graph with a doc string at one node."""
    return "\n".join([*lines[: index + 1], '  @doc("d")', *lines[index + 1 :]])


PLACES = [(name, at) for name, nodes in CHAINS.items() for at in range(len(nodes))]


@pytest.mark.parametrize(("name", "at"), PLACES)
def test_an_edit_stays_if_a_node_is_inserted_and_values_are_renumbered(
    name: str, at: int, *, binary: bool
) -> None:
    nodes, new = CHAINS[name], NEW[name]
    base, renumbered = chain(nodes), chain([*new, *nodes])
    check_merge(
        "\n".join(base),
        described(base, at),
        "\n".join(renumbered),
        described(renumbered, at + len(new)),
        binary=binary,
    )


@pytest.mark.parametrize(("name", "at"), PLACES)
@pytest.mark.parametrize("first", [4, 20])
def test_an_edit_stays_if_all_values_are_renumbered(
    name: str, at: int, first: int, *, binary: bool
) -> None:
    base, renumbered = chain(CHAINS[name]), chain(CHAINS[name], first)
    check_merge(
        "\n".join(base),
        described(base, at),
        "\n".join(renumbered),
        described(renumbered, at),
        binary=binary,
    )


SWAPPED = """g (float[2] x) => (float[2] y) {
  a = Abs (x)
  b = Neg (x)
  y = Sub (a, b)
}
"""


@pytest.mark.parametrize("line", ["  a =", "  b ="])
def test_an_edit_stays_if_two_names_are_swapped(line: str, *, binary: bool) -> None:
    renamed = SWAPPED.translate({ord("a"): "b", ord("b"): "a"}).replace("Aas", "Abs")
    renamed = renamed.replace("flobt", "float").replace("Sua", "Sub")
    ours = SWAPPED.replace(line, f'  @doc("d")\n{line}')
    other = "  b =" if line == "  a =" else "  a ="
    check_merge(
        SWAPPED, ours, renamed, renamed.replace(other, f'  @doc("d")\n{other}'), binary=binary
    )


LABELED = """g (float[2] x) => (float[2] y) {
  [first] a = Abs (x)
  [second] b = Relu (a)
  [third] y = Neg (b)
}
"""


def test_a_node_that_keeps_its_label_and_output_is_not_an_added_node(*, binary: bool) -> None:
    ours = LABELED.replace("  [second]", '  @doc("d")\n  [second]')
    theirs = LABELED.replace(
        "  [second] b = Relu (a)", "  [new] e = Relu (a)\n  [second] b = Relu (e)"
    )
    theirs = theirs.replace("[third] y = Neg", "[other] y = Relu")
    merged = theirs.replace("  [second]", '  @doc("d")\n  [second]')
    check_merge(LABELED, ours, theirs, merged, binary=binary)


def test_a_common_subsequence_is_a_longest_one() -> None:
    draw = random.Random(1)
    for _ in range(500):
        old, new = [[draw.randrange(3) for _ in range(draw.randrange(9))] for _ in range(2)]
        pairs = common_subsequence(old, new, 100)
        assert pairs is not None
        assert all(old[index] == new[at] for index, at in pairs)
        assert pairs == sorted(pairs)
        assert len({index for index, _ in pairs}) == len({at for _, at in pairs}) == len(pairs)
        assert len(pairs) == _length(old, new)
    assert common_subsequence([1] * 9, [2] * 9, 10) is None


def _length(old: list[int], new: list[int]) -> int:
    """Return the length of a longest common subsequence."""
    row = [0] * (len(new) + 1)
    for item in old:
        before = row.copy()
        for at, other in enumerate(new):
            row[at + 1] = before[at] + 1 if item == other else max(before[at + 1], row[at])
    return row[-1]
