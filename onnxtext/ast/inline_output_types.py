# SPDX-License-Identifier: Apache-2.0
"""Move `value_info` entries of nodes' outputs to the types before these outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.core import core, core_module

Placed = list[tuple[Node, int, ValueInfo]]
"""Entries with the node and the index of their output."""


def place_types(nodes: list[Node], infos: list[ValueInfo]) -> list[ValueInfo]:
    """Move types to their outputs, for the entries at the end of the list in node order.

    Returns:
        The entries that stay in the list.
    """
    if place_all_types(nodes, infos, ()):
        return []
    placed, left = types_at_end(nodes, infos)
    for node, index, info in placed:
        place_type(node, index, info.type)
    return infos[:left]


def place_all_types(
    nodes: list[Node],
    infos: list[ValueInfo],
    taken: Iterable[ValueInfo],
    *,
    with_metadata: bool = False,
) -> bool:
    """Move all types to their outputs if the list is only output types in node order (fast).

    Args:
        nodes: the nodes of a graph or function.
        infos: the list.
        taken: values that are not outputs of nodes.
        with_metadata: whether the entries may have metadata, which the caller moves.

    Returns:
        Whether the types were moved; always False in pure Python, or if `taken` contains one of
        the names.
    """
    if core() != "native":
        return False
    moved: bool = core_module("walk").place_all_types(nodes, infos, taken, with_metadata)
    return moved


def place_named_types(
    nodes: list[Node], infos: list[ValueInfo], taken: Iterable[ValueInfo]
) -> tuple[list[str], list[ValueInfo]] | None:
    """Move types to their outputs in any order; fast for long lists.

    Args:
        nodes: the nodes of a graph, without types.
        infos: the value infos of the graph, in their stored order.
        taken: values that are not outputs of nodes.

    Returns:
        The names whose stored order must be recorded (the entries at the end of the list that are
        in the default order are left out), and the value infos that stay in the list. None if
        names are not unique or a value info has more than a type; always None in pure Python.
    """
    if core() != "native":
        return None
    found: tuple[list[str], list[ValueInfo]] | None = core_module("ordering").place_named_types(
        nodes, infos, taken
    )
    return found


def types_at_end(nodes: list[Node], infos: Sequence[ValueInfo]) -> tuple[Placed, int]:
    """Return the entries at the end of a list that are output types in node order.

    Returns:
        The entries, each with its node and the index of the output, and how many entries precede.
    """
    placed: Placed = []
    left = len(infos)
    if not left:
        return placed, 0
    info = infos[-1]
    for node in reversed(nodes):
        index = len(node.outputs)
        for name in reversed(node.outputs):
            index -= 1
            if info.name == name and is_plain(info):
                placed.append((node, index, info))
                left -= 1
                if not left:
                    break
                info = infos[left - 1]
        if not left:
            break
    if left:
        defined = {name for node in nodes for name in node.outputs}
        if any(info.name in defined for info in infos[:left]):
            return [], len(infos)
    return placed, left


def is_plain(info: ValueInfo) -> bool:
    """Whether an entry has a type and nothing else."""
    return info.type is not None and not info.decorators and not info.metadata


def place_type(node: Node, index: int, type: Type | None) -> None:
    """Set the type before an output."""
    if len(node.outputs) == 1:
        node.output_types = (type,)
        return
    types = list(node.output_types or (None,) * len(node.outputs))
    types[index] = type
    node.output_types = tuple(types)
