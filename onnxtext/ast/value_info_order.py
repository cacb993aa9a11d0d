# SPDX-License-Identifier: Apache-2.0
"""Find the shortest `@value_info(…)` that gives a `value_info` list without a second declaration.

Types of outputs move before them. Entries that repeat an initializer, an input or an output go,
and the decorator says where they are in the list (SPEC 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Word
from onnxtext.ast.types import Type
from onnxtext.ast.value_infos import (
    Order,
    ValueInfoError,
    decorator_of,
    entries,
    with_data,
)

MOST_NAMES = 32
"""The most values that a decorator names; longer ones would hide the graph."""

Placed = list[tuple[Node, int, ValueInfo]]


class _Lists(NamedTuple):
    """The values of a graph that `value_info` may repeat.

    Attributes:
        order: the names by part, in order.
        types: the types by part and name.
    """

    order: dict[str, list[str]]
    types: dict[str, dict[str, Type | None]]

    def part_of(self, info: ValueInfo) -> str:
        """Return the part whose value an entry repeats; "" if it repeats none."""
        if not info.decorators and not info.metadata:
            for part, types in self.types.items():
                if info.name in types and types[info.name] == info.type:
                    return part
        return ""


def place_infos(
    graph: Graph, infos: list[ValueInfo], *, any_order: bool = True
) -> tuple[Decorator | None, list[ValueInfo]]:
    """Move types to outputs, and find the decorator of a list.

    Args:
        graph: a graph with everything except the `value_info` list; types are set in its nodes.
        infos: the list.
        any_order: whether the decorator may name values one by one.

    Returns:
        The decorator, if one is needed, and the entries that stay in `<…>`.
    """
    if not infos:
        return None, []
    data = with_data(graph)
    found = _by_default(graph, infos, data)
    if found is not None:
        return found
    parts = {"initializers": data, "inputs": graph.inputs, "outputs": graph.outputs}
    names = {info.name for info in infos}
    lists = _Lists({}, {})
    for part, values in parts.items():
        types = {value.name: value.type for value in values}
        if len(types) == len(values) and (part != "initializers" or len(names) == len(infos)):
            lists.order[part], lists.types[part] = [value.name for value in values], types
    if len(names) == len(infos):
        before = [node.output_types for node in graph.nodes]
        wanted = _entries(graph, None, infos)
        made = _in_parts(graph, infos, lists)
        if made is None and any_order:
            made = _one_by_one(graph, infos, lists)
        if made is not None and _entries(graph, *made) == wanted:
            order, rest = made
            everything = [name for part in lists.order.values() for name in part]
            return (decorator_of(order, everything) if order.items else None), rest
        for node, output_types in zip(graph.nodes, before, strict=True):
            node.output_types = output_types
    return None, place_types(graph.nodes, infos)


def _entries(
    graph: Graph, order: Order | None, statements: list[ValueInfo]
) -> list[tuple[str, Type | None]]:
    """Return the `value_info` list of a graph with this order and these statements."""
    values = graph.values
    graph.values = [*[value for value in values if value.data is not None], *statements]
    try:
        return [(entry.name, entry.type) for entry in entries(graph, order)]
    except ValueInfoError:
        return []
    finally:
        graph.values = values


def _by_default(
    graph: Graph, infos: list[ValueInfo], data: list[ValueInfo]
) -> tuple[Decorator | None, list[ValueInfo]] | None:
    """Place a list of exporters: all initializers or none, others, and types of outputs.

    Returns:
        The same as `place_infos`; None for other lists.
    """
    first = 0
    if data and len(infos) >= len(data):
        first = len(data)
        for info, value in zip(infos, data, strict=False):
            if info.name != value.name or info.type != value.type or info.decorators:
                first = 0
                break
    rest = infos[first:] if first else infos
    names = {info.name for info in rest}
    if not names.isdisjoint([value.name for value in (*data, *graph.inputs)]):
        return None
    placed, left = types_at_end(graph.nodes, rest)
    if left and not {info.name for info in rest[:left]}.isdisjoint([v.name for v in graph.outputs]):
        return None
    for node, index, info in placed:
        place_type(node, index, info.type)
    return (decorator_of(Order((Word("initializers"),)), ()) if first else None), rest[:left]


def _in_parts(
    graph: Graph, infos: list[ValueInfo], lists: _Lists
) -> tuple[Order, list[ValueInfo]] | None:
    """Return the order of a list that consists of parts; None if it does not."""
    fewer = {part: types for part, types in lists.types.items() if part != "outputs"}
    for used in (_Lists(lists.order, fewer), lists):  # types before outputs where possible
        runs = [(part, list(run)) for part, run in groupby(infos, used.part_of)]
        copied = [part for part, _ in runs if part]
        others = [run for part, run in runs if not part]
        if len(set(copied)) < len(copied) or len(others) > 2:
            continue
        made = _copies(runs, lists)
        places = _statements(graph.nodes, others)
        if made is None or places is None:
            continue
        if used is not lists and any(lists.part_of(s) for kept, _ in places for s in kept):
            continue
        by_part, without = made
        items: list[Word | str] = []
        rest: list[ValueInfo] = []
        words: list[list[Word]] = []
        for statements, placed in places:
            rest += statements
            for node, index, info in placed:
                place_type(node, index, info.type)
            words.append([Word("values")] * bool(statements) + [Word("nodes")] * bool(placed))
        at = iter(words)
        for part, _ in runs:
            items += by_part[part] if part else next(at)
        return Order(tuple(_without_default(items)), without), rest
    return None


def _without_default(items: list[Word | str]) -> list[Word | str]:
    """Return the arguments without the parts at the end that follow by default."""
    left = list(items)
    if left and left[-1] == Word("nodes"):
        left.pop()
        if left and left[-1] == Word("values"):
            left.pop()
    elif left and left[-1] == Word("values") and Word("nodes") not in left:
        left.pop()
    return left


def _copies(
    runs: list[tuple[str, list[ValueInfo]]], lists: _Lists
) -> tuple[dict[str, list[Word | str]], frozenset[str]] | None:
    """Return the arguments for each part that a list repeats, and the names that have no entry."""
    found: dict[str, list[Word | str]] = {}
    without: set[str] = set()
    kept: set[str] = set()
    for part, run in runs:
        if not part:
            continue
        names = [info.name for info in run]
        place = {name: at for at, name in enumerate(lists.order[part])}
        ordered = len(names) - 1
        while ordered and place[names[ordered - 1]] < place[names[ordered]]:
            ordered -= 1
        missing = place.keys() - set(names)
        if len(missing) > len(names) - ordered:
            found[part] = list(names)  # shorter than those that are missing
            kept |= set(names)
            continue
        found[part] = [*names[:ordered], Word(part)]
        kept |= set(names)
        without |= missing
    strings = sum([isinstance(item, str) for items in found.values() for item in items])
    if without & kept or strings + len(without) > MOST_NAMES:
        return None
    return found, frozenset(without)


def _statements(
    nodes: list[Node], others: list[list[ValueInfo]]
) -> list[tuple[list[ValueInfo], Placed]] | None:
    """Divide runs of other entries in those that stay in `<…>` and the types of outputs."""
    if not others:
        return []
    if len(others) == 1:
        placed, left = types_at_end(nodes, others[0])
        return [(others[0][:left], placed)]
    first, second = others
    placed, left = types_at_end(nodes, second)
    if not left:
        return [(first, []), ([], placed)]
    placed, left = types_at_end(nodes, first)
    return None if left else [([], placed), (second, [])]


def _one_by_one(
    graph: Graph, infos: list[ValueInfo], lists: _Lists
) -> tuple[Order, list[ValueInfo]] | None:
    """Return an order that names the entries up to the last one that repeats another value."""
    last = max((at for at, info in enumerate(infos) if lists.part_of(info)), default=-1)
    if not 0 <= last < MOST_NAMES:
        return None
    declared = {name for names in lists.order.values() for name in names}
    defined: dict[str, tuple[Node, int]] = {}
    for node in graph.nodes:
        for index, name in enumerate(node.outputs):
            if name in defined:
                return None
            if name:
                defined[name] = node, index
    rest: list[ValueInfo] = []
    types: Placed = []
    for info in infos[: last + 1]:
        if lists.part_of(info):
            continue
        if info.name in declared:
            return None
        if info.name in defined and info.type is not None and not info.decorators:
            types.append((*defined[info.name], info))
        else:
            rest.append(info)
    for node, index, info in types:
        place_type(node, index, info.type)
    rest += place_types(graph.nodes, infos[last + 1 :])
    return Order(tuple([info.name for info in infos[: last + 1]])), rest


# ---- Types of outputs -----------------------------------------------------------------------


def place_types(nodes: list[Node], infos: list[ValueInfo]) -> list[ValueInfo]:
    """Move types to their outputs, if they are in order at the end of the list.

    Returns:
        The entries that stay in the list.
    """
    placed, left = types_at_end(nodes, infos)
    for node, index, info in placed:
        place_type(node, index, info.type)
    return infos[:left]


def types_at_end(nodes: list[Node], infos: Sequence[ValueInfo]) -> tuple[Placed, int]:
    """Return the entries at the end of a list that are types of outputs in order.

    Returns:
        Each with its node and the index of the output, and how many entries precede them.
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
            if info.name == name and info.type is not None and not info.decorators:
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


def place_type(node: Node, index: int, type: Type | None) -> None:
    """Set the type before an output."""
    if len(node.outputs) == 1:
        node.output_types = (type,)
        return
    types = list(node.output_types or (None,) * len(node.outputs))
    types[index] = type
    node.output_types = tuple(types)
