# SPDX-License-Identifier: Apache-2.0
"""Store `value_info` entries of nodes' outputs as `Node.output_types`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.select_core import core, core_module

Placed = list[tuple[Node, int, ValueInfo]]
"""`value_info` entries of nodes' outputs: (node, index of the output, entry)."""


def place_types(nodes: list[Node], infos: list[ValueInfo]) -> list[ValueInfo]:
    """Set the types of nodes' outputs from the entries at the end of a `value_info` list.

    Return the entries that stay in the list. The function `types_at_end` finds the others.
    """
    if core() == "native":
        left_in_list: int | None = core_module("ast.list_order").place_types(nodes, infos)
        if left_in_list is not None:
            return infos[:left_in_list]
    placed, left = types_at_end(nodes, infos)
    place_each(placed)
    return infos[:left]


def place_all_types(
    nodes: list[Node],
    infos: list[ValueInfo],
    taken: Iterable[ValueInfo],
    *,
    with_metadata: bool = False,
) -> bool:
    """Set nodes' output types from all entries of a list; return whether this was possible.

    It is possible only if all entries have types, but no decorators, and are for outputs of nodes,
    in the order of the nodes; and only if no entry has the name of a value in `taken`. Otherwise,
    and always in pure Python, the function changes nothing and returns False. If the entries may
    have metadata (`with_metadata`), the caller must keep it.
    """
    if core() != "native":
        return False
    moved: bool = core_module("ast.list_order").place_all_types(nodes, infos, taken, with_metadata)
    return moved


def place_named_types(
    nodes: list[Node], infos: list[ValueInfo], taken: Sequence[ValueInfo]
) -> tuple[list[str], list[ValueInfo]] | None:
    """Set the types of nodes' outputs from a `value_info` list in any order; fast for long lists.

    The outputs have no types yet. `taken` are the initializers, inputs and outputs of the graph; an
    entry may repeat the name and type of one of them. Return (names, entries): the names to list in
    `@value_info(…)` to keep the order of the list, without those at the end that are in the default
    order; and the entries that stay in the list. Return None in pure Python, or if the list cannot
    be converted in this way.
    """
    if core() != "native":
        return None
    place = core_module("ast.list_order").place_named_types
    result: tuple[list[str], list[ValueInfo]] | None = place(nodes, infos, taken)
    return result


def types_at_end(nodes: list[Node], infos: list[ValueInfo]) -> tuple[Placed, int]:
    """Find the longest suffix of `value_info` with plain entries (`is_plain`) in the nodes' order.

    Return its entries, the last one first, and the number of entries before it. If an entry before
    it is also for an output of a node, return an empty suffix.
    """
    if core() == "native":
        found: tuple[Placed, int] | None = core_module("ast.list_order").types_at_end(nodes, infos)
        if found is not None:
            return found
    placed: Placed = []
    left = len(infos)
    for node in reversed(nodes):
        if not left:
            break
        for index in reversed(range(len(node.outputs))):
            info = infos[left - 1]
            if left and info.name == node.outputs[index] and is_plain(info):
                placed.append((node, index, info))
                left -= 1
    if left:
        defined = {name for node in nodes for name in node.outputs}
        if any(info.name in defined for info in infos[:left]):
            return [], len(infos)
    return placed, left


def is_plain(info: ValueInfo) -> bool:
    """Whether a `value_info` entry has a type, but no decorators and no metadata."""
    return info.type is not None and not info.decorators and not info.metadata


def place_each(placed: Placed) -> None:
    """Set the type of each of the outputs in `placed`."""
    for node, index, info in placed:
        if len(node.outputs) == 1:
            node.output_types = (info.type,)
        else:
            place_type(node, index, info.type)


def place_type(node: Node, index: int, type: Type | None) -> None:
    """Set the type of a node's output, given the 0-based index of the output."""
    if len(node.outputs) == 1:
        node.output_types = (type,)
        return
    types = list(node.output_types or (None,) * len(node.outputs))
    types[index] = type
    node.output_types = tuple(types)
