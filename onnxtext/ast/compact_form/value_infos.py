# SPDX-License-Identifier: Apache-2.0
"""Convert a decoded `value_info` list to its compact text form (SPEC 10).

The entry of a node's output becomes the type before the output. An entry that repeats an
initializer, input or output is removed. Other entries are printed in `<…>`. `@value_info(…)` gives
the order, such as `initializers, values`. In other orders, only entries at the end are converted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, islice

from onnxtext.ast.compact_form.list_order import (
    ListOrder,
    ValueInfoError,
    ascending_end,
    decorator_of,
    node_entries,
    value_info_entries,
    with_data,
)
from onnxtext.ast.compact_form.output_types import (
    Placed,
    is_plain,
    place_all_types,
    place_each,
    place_named_types,
    place_type,
    place_types,
    types_at_end,
)
from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Word
from onnxtext.ast.types import Type

_VALUES, _NODES = Word("values"), Word("nodes")

_Lists = dict[str, dict[str, Type | None]]
"""The values that `value_info` may repeat: maps a part, such as `inputs`, to names and types."""


def _part_of(lists: _Lists, info: ValueInfo) -> str:
    """Return the first part (a key of `lists`) with this entry; "" if in none, or not plain."""
    if not info.decorators and not info.metadata:
        for part, types in lists.items():
            if info.name in types and types[info.name] == info.type:
                return part
    return ""


def place_infos(
    graph: Graph, infos: list[ValueInfo], *, any_order: bool = True
) -> tuple[Decorator | None, list[ValueInfo]]:
    """Convert a `value_info` list to types of nodes' outputs, a decorator and statements in `<…>`.

    The nodes of the graph are changed in place. The decorator may name single values, which can
    express any order, if `any_order`. Return the decorator that keeps the order of the list, or
    None if the list needs none; and the entries to print in `<…>`.
    """
    if not any(map(is_plain, infos)):  # no entry can be written as the type of an output
        return None, infos
    data = with_data(graph)
    result = _convert_usual_order(graph, infos, data)
    if result is not None:
        return result
    names = {info.name for info in infos}
    declared = (*data, *graph.inputs, *graph.outputs)
    if any_order and names.isdisjoint([value.name for value in declared]):
        result = _place_named(graph, infos, data)
        if result is not None:
            return result
    parts = {"initializers": data, "inputs": graph.inputs, "outputs": graph.outputs}
    lists: _Lists = {}
    for part, values in parts.items():
        types = {value.name: value.type for value in values}
        if len(types) == len(values) and (part != "initializers" or len(names) == len(infos)):
            lists[part] = types
    before = [node.output_types for node in graph.nodes]
    old_entries = [(entry.name, entry.type) for entry in node_entries(graph.nodes)]
    is_unique = len(names) == len(infos)
    placed = _in_parts(graph, infos, lists, any_order=any_order) if is_unique else None
    if placed is None and any_order:
        result = _place_named(graph, infos, data)
        if result is not None:
            return result
        placed = _by_name(graph, infos)
    new_entries = [*[(info.name, info.type) for info in infos], *old_entries]
    if placed is not None and _entries(graph, *placed) == new_entries:
        order, rest = placed
        everything = [name for types in lists.values() for name in types]
        return (decorator_of(order, everything) if order.items else None), rest
    for node, output_types in zip(graph.nodes, before, strict=True):
        node.output_types = output_types
    return None, place_types(graph.nodes, infos)


def _place_named(
    graph: Graph, infos: list[ValueInfo], data: list[ValueInfo]
) -> tuple[Decorator | None, list[ValueInfo]] | None:
    """Convert `infos` like `_by_name`, but faster; return what `place_infos` returns.

    `data` are the initializers of the graph. Return None if `place_named_types` returns None.
    """
    placed = place_named_types(graph.nodes, infos, (*data, *graph.inputs, *graph.outputs))
    if placed is None:
        return None
    names, rest = placed
    return (decorator_of(_named_order(names, rest, data)) if names else None), rest


def _entries(
    graph: Graph, order: ListOrder, statements: list[ValueInfo]
) -> list[tuple[str, Type | None]]:
    """Compute the (name, type) pairs of the `value_info` list from its text form.

    The text form consists of `order`, the arguments of the decorator, and `statements`, the
    statements in `<…>`. If the arguments are invalid, the list is empty.
    """
    values = graph.values
    graph.values = [*[value for value in values if value.data is not None], *statements]
    try:
        return [(entry.name, entry.type) for entry in value_info_entries(graph, order)]
    except ValueInfoError:
        return []
    finally:
        graph.values = values


def _convert_usual_order(
    graph: Graph, infos: list[ValueInfo], data: list[ValueInfo]
) -> tuple[Decorator | None, list[ValueInfo]] | None:
    """Convert a list in the usual order: all initializers or none, other entries, nodes' outputs.

    `data` are the initializers of the graph. Return the result of `place_infos`; None for other
    lists, which are not converted.
    """
    rest, decorator = infos, None
    if data and len(infos) >= len(data) and all(map(_is_copy, infos, data)):
        rest, decorator = infos[len(data) :], decorator_of(ListOrder((Word("initializers"),)))
    if place_all_types(graph.nodes, rest, (*data, *graph.inputs)):
        return decorator, []
    names = {info.name for info in rest}
    if not names.isdisjoint([value.name for value in (*data, *graph.inputs)]):
        return None
    placed, left = types_at_end(graph.nodes, rest)
    if left:
        kept = {info.name for info in rest[:left]}
        if not kept.isdisjoint([value.name for value in graph.outputs]):
            return None
        if _has_node_output(graph, rest[:left]):
            return None
    place_each(placed)
    return decorator, rest[:left]


def _is_copy(info: ValueInfo, value: ValueInfo) -> bool:
    """Whether a `value_info` entry has only the name and the type of another value."""
    return info.name == value.name and info.type == value.type and is_plain(info)


def _has_node_output(graph: Graph, infos: Iterable[ValueInfo]) -> bool:
    """Whether a plain entry (see `is_plain`) has the name of a node's output."""
    names = {info.name for info in infos if is_plain(info)}
    return bool(names) and any(not names.isdisjoint(node.outputs) for node in graph.nodes)


def _in_parts(
    graph: Graph, infos: list[ValueInfo], lists: _Lists, *, any_order: bool
) -> tuple[ListOrder, list[ValueInfo]] | None:
    """Convert a list whose entries for each part (inputs, outputs or initializers) are contiguous.

    The types of nodes' outputs are set at the nodes. Return the order, and the entries to print in
    `<…>`; None if the list cannot be converted in this way, or if `any_order` is true and the type
    of a node's output would be printed in `<…>`.
    """
    names = {name for types in lists.values() for name in types}
    found = [_part_of(lists, info) if info.name in names else "" for info in infos]
    # First try to store entries of graph outputs as types of nodes' outputs, not as copies.
    outputs = {info.name for info, part in zip(infos, found, strict=True) if part == "outputs"}
    attempts = [["" if part == "outputs" else part for part in found], found]
    for parts in attempts if outputs else attempts[1:]:
        starts = [part for part, _ in groupby(parts)]
        copied = [part for part in starts if part]
        if len(set(copied)) < len(copied) or len(starts) - len(copied) > 2:
            continue
        entries = iter(infos)
        runs = [(part, list(islice(entries, len([*run])))) for part, run in groupby(parts)]
        others = [run for part, run in runs if not part]
        places = _split_runs(graph.nodes, others)
        if places is None:
            continue
        rest = [info for statements, _ in places for info in statements]
        if parts is not found and not outputs.isdisjoint([info.name for info in rest]):
            continue
        copies = _copy_arguments(graph, runs, lists)
        if copies is None:
            continue
        if any_order and _has_node_output(graph, rest):
            return None
        by_part, without = copies
        items: list[Word | str] = []
        words: list[list[Word]] = []
        for statements, placed in places:
            place_each(placed)
            words.append([_VALUES] * bool(statements) + [_NODES] * bool(placed))
        at = iter(words)
        for part, _ in runs:
            items += by_part[part] if part else next(at)
        return ListOrder(tuple(_without_default(items)), without), rest
    return None


def _without_default(items: list[Word | str]) -> list[Word | str]:
    """Remove `values` and `nodes` from the end of the arguments if the default order adds them."""
    left = list(items)
    if left and left[-1] is _NODES:
        left.pop()
        if left and left[-1] is _VALUES:
            left.pop()
    elif left and left[-1] is _VALUES and _NODES not in left:
        left.pop()
    return left


def _copy_arguments(
    graph: Graph, runs: list[tuple[str, list[ValueInfo]]], lists: _Lists
) -> tuple[dict[str, list[Word | str]], frozenset[str]] | None:
    """Return arguments of `@value_info` for entries that repeat inputs, outputs or initializers.

    A run is (name of a part, adjacent entries of this part). The name is "" if the entries repeat
    no declaration. Return the arguments by part, such as `inputs`, and the names to leave out of
    these parts; None if the decorator cannot express the list.
    """
    arguments: dict[str, list[Word | str]] = {}
    without: set[str] = set()
    kept: set[str] = set()
    for part, run in runs:
        if not part:
            continue
        names = [info.name for info in run]
        positions = {name: index for index, name in enumerate(lists[part])}
        ordered = ascending_end([positions[name] for name in names])
        missing = positions.keys() - set(names)
        if len(missing) > len(names) - ordered:
            # This list of names is shorter than `without:` with the names that have no entry.
            arguments[part] = list(names)
            kept |= set(names)
            continue
        arguments[part] = [*names[:ordered], Word(part)]
        kept |= set(names)
        without |= missing
    named = {part: {i for i in items if isinstance(i, str)} for part, items in arguments.items()}
    if named.get("inputs") or named.get("outputs"):
        data = {value.name for value in with_data(graph)}
        if not data.isdisjoint(named.get("inputs", ())):
            return None  # a lookup of these inputs by name would find the initializers instead
        data.update([value.name for value in graph.inputs])
        if not data.isdisjoint(named.get("outputs", ())):
            return None
    return None if without & kept else (arguments, frozenset(without))


def _split_runs(
    nodes: list[Node], others: list[list[ValueInfo]]
) -> list[tuple[list[ValueInfo], Placed]] | None:
    """Split entries that repeat no declaration into statements in `<…>` and output types.

    `others` are the runs of adjacent entries, at most two; entries that repeat declarations
    separate them. Return the statements and the output types of each run; None if both of two runs
    need statements.
    """
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


def _by_name(graph: Graph, infos: list[ValueInfo]) -> tuple[ListOrder, list[ValueInfo]]:
    """Convert `infos` of any order: name all entries before the suffix in the default order."""
    result = _with_second_entries(graph, infos)
    if result is not None:
        return result
    outputs, statements = _outputs_and_statements(graph, infos)
    keys: list[tuple[int, ...]] = []  # sorting by these keys gives the default order
    must_name = (2,)
    rest: list[ValueInfo] = []
    for info in infos:
        if info.name in statements:
            keys.append((0, len(rest)))
            rest.append(info)
        elif info.name in outputs:
            node_index, index = outputs[info.name]
            keys.append((1, node_index, index))
            place_type(graph.nodes[node_index], index, info.type)
        else:
            keys.append(must_name)
    last = ascending_end([*keys, must_name])
    names = [info.name for info in infos[:last]]
    return _named_order(names, rest, with_data(graph)), rest


def _named_order(
    names: Sequence[str], rest: Sequence[ValueInfo], data: Sequence[ValueInfo]
) -> ListOrder:
    """Return the order that lists `names`, or `initializers` instead of the initializers' names.

    `initializers` is used only if the names of all initializers are adjacent and in order. `rest`
    are the entries to print in `<…>`, and `data` the initializers of the graph.
    """
    items: list[Word | str] = [*names]
    copied = [value.name for value in data]
    if copied and copied[0] in names:
        start = items.index(copied[0])
        end = start + len(copied)
        others = {*names[:start], *names[end:], *[info.name for info in rest]}
        if items[start:end] == copied and others.isdisjoint(copied):
            items[start:end] = [Word("initializers")]
    return ListOrder(tuple(items))


def _with_second_entries(
    graph: Graph, infos: list[ValueInfo]
) -> tuple[ListOrder, list[ValueInfo]] | None:
    """Convert a list of nodes' outputs that repeats names at its end, such as `a, b, a`.

    Return the order, and the entries to print in `<…>`: those from the first repetition on. Return
    None for other lists.
    """
    seen: set[str] = set()
    first = 0
    while first < len(infos) and infos[first].name not in seen:
        seen.add(infos[first].name)
        first += 1
    rest = infos[first:]
    if not rest:
        return None
    seen.update([info.name for info in rest])
    if not seen.isdisjoint([v.name for v in (*graph.inputs, *graph.outputs, *graph.values)]):
        return None
    placed, left = types_at_end(graph.nodes, infos[:first])
    if left:
        return None
    place_each(placed)
    return ListOrder((_NODES,)), rest


def _outputs_and_statements(
    graph: Graph, infos: list[ValueInfo]
) -> tuple[dict[str, tuple[int, int]], set[str]]:
    """Find where the text can have the type of each entry: before an output, or in `<…>`.

    Return names of nodes' outputs, with the index of the node and the index of the output; and
    names whose entries must be statements in `<…>`. An entry with another name repeats an
    initializer, input or output of the graph.
    """
    types: dict[str, Type | None] = {}
    for values in (graph.outputs, graph.inputs, with_data(graph)):
        for value in reversed(values):
            types[value.name] = value.type
    outputs: dict[str, tuple[int, int]] = {}
    untyped_names = {info.name for info in infos} - types.keys()
    defined: Counter[str] = Counter()
    for node_index, node in enumerate(graph.nodes):
        for index, name in enumerate(node.outputs):
            if name in untyped_names:
                defined[name] += 1
                outputs[name] = node_index, index
    for name, count in defined.items():
        if count > 1:
            del outputs[name]
    statements = {name for name, count in Counter([i.name for i in infos]).items() if count > 1}
    for info in infos:
        declared = info.name in types or info.name in outputs
        if not declared or info.type != types.get(info.name, info.type) or not is_plain(info):
            statements.add(info.name)
    return outputs, statements
