# SPDX-License-Identifier: Apache-2.0
"""Convert the initializers and value infos of a decoded graph to the compact text form (SPEC 10).

An initializer of an input becomes the input's default value, and a `value_info` entry of a node's
output becomes the type before that output. Both happen only if encoding restores the original
lists.
"""

from __future__ import annotations

from collections import Counter

from onnxtext.ast.compact_form.list_order import (
    INITIALIZERS,
    ListOrder,
    ascending_end,
    decorator_of,
    is_dense,
    order_of,
)
from onnxtext.ast.compact_form.output_types import place_all_types, place_types
from onnxtext.ast.compact_form.value_infos import place_infos
from onnxtext.ast.metadata_decorators import Pairs, decorator_entries
from onnxtext.ast.model import Function, Graph, ValueInfo
from onnxtext.ast.records import Decorator, Word


def assemble_graph(
    graph: Graph, initializers: list[ValueInfo], infos: list[ValueInfo]
) -> tuple[Decorator, ...]:
    """Store the initializers and the `value_info` list of a decoded graph in the compact form.

    Set `graph.values`, the order of initializers in `graph.decorators`, the default values of the
    inputs, and the types of nodes' outputs.

    The graph has inputs, outputs and nodes. The dense initializers precede the sparse ones. `infos`
    is the `value_info` list.

    Returns:
        `@initializers` for the order of `initializers`, and `@value_info` for the order of `infos`,
        each only if needed. `@value_info` is missing if an entry with metadata has the name of an
        input, output or initializer: `recombine_value_infos` adds it later.
    """
    rest, order = _make_defaults(graph.inputs, initializers)
    graph.values = rest
    graph.decorators = order
    if not order and infos and place_all_types(graph.nodes, infos, (*graph.inputs, *rest)):
        return ()
    described = {info.name for info in infos if info.metadata}
    values = (*graph.inputs, *graph.outputs, *rest)
    if described and not described.isdisjoint([value.name for value in values]):
        # An entry with metadata repeats an input, output or initializer. Make no decorator yet:
        # `recombine_value_infos` converts the list again, after its metadata has been placed.
        graph.values = rest + place_types(graph.nodes, infos)
        return order
    decorator, infos = place_infos(graph, infos, any_order=not described)
    graph.values = rest + infos
    return order if decorator is None else (*order, decorator)


def assemble_function(function: Function, infos: list[ValueInfo]) -> None:
    """Store the `value_info` list of a decoded function in the compact form.

    Set the types, decorators and metadata of the function's inputs and outputs, the types of its
    nodes' outputs, and its `values`.
    """
    taken = 0
    for value in (*function.inputs, *function.outputs):
        if taken < len(infos):
            info = infos[taken]
            if info.name == value.name and info.type is not None:
                value.type = info.type
                value.decorators = info.decorators
                value.metadata = info.metadata
                taken += 1
    function.values = place_types(function.nodes, infos[taken:])


def _make_defaults(
    inputs: list[ValueInfo], initializers: list[ValueInfo]
) -> tuple[list[ValueInfo], tuple[Decorator, ...]]:
    """Convert initializers of inputs to default values of the inputs, if the text can express them.

    Return the initializers that are not converted; and the decorator for the order of all
    initializers, or () if they are in the default order.
    """
    places = {value.name: index for index, value in enumerate(inputs)}
    names = [value.name for value in initializers]
    if places.keys().isdisjoint(names):
        return initializers, ()
    once = _unique(names)
    if len(places) < len(inputs):
        once &= _unique([value.name for value in inputs])
    rest: list[ValueInfo] = []
    keys: list[tuple[int, int]] = []  # sorting by these keys gives the default order
    for initializer in initializers:
        index = places.get(initializer.name, -1)
        if index >= 0 and initializer.name in once and _is_default(inputs[index], initializer):
            keys.append((0, index))
        else:
            keys.append((1, len(rest)))
            rest.append(initializer)
    order = _order_of_initializers(initializers, keys)
    if order is None:
        return initializers, ()
    for initializer, (part, index) in zip(initializers, keys, strict=True):
        if not part:
            value = inputs[index]
            value.data = initializer.data
            if initializer.decorators:
                value.decorators += tuple(
                    [Decorator(f"data.{d.name}", d.arguments) for d in initializer.decorators]
                )
    return rest, (decorator_of(ListOrder(order), decorator=INITIALIZERS),) if order else ()


def _unique(names: list[str]) -> set[str]:
    """Return the names that occur once."""
    unique = set(names)
    if len(unique) < len(names):
        unique = {name for name, count in Counter(names).items() if count == 1}
    return unique


def _order_of_initializers(
    initializers: list[ValueInfo], keys: list[tuple[int, int]]
) -> tuple[Word | str, ...] | None:
    """Return the arguments of `@initializers(…)`; () for the default order of `initializers`.

    Return None if the decorator cannot express the order, because names are not unique. `keys` has,
    for each initializer, (0, index of the input whose default it is) or (1, its index in `<…>`).
    """
    if keys == sorted(keys):
        return ()
    swapped = [(1 - part, index) for part, index in keys]
    if swapped == sorted(swapped):
        return (Word("values"),)
    if len({value.name for value in initializers}) < len(initializers):
        return None
    dense = [(v.name, key) for v, key in zip(initializers, keys, strict=True) if is_dense(v)]
    # Omit the names at the end that are in the default order.
    return tuple([name for name, _ in dense[: ascending_end([key for _, key in dense])]])


def _is_default(value: ValueInfo, initializer: ValueInfo) -> bool:
    """Whether an initializer can be written as the default of an input."""
    return (
        value.type is not None
        and value.type == initializer.type
        and is_dense(initializer)
        and "meta" not in [item.name for item in initializer.decorators]
    )


def recombine_value_infos(owner: Graph | Function, *, removed: bool = False) -> None:
    """Convert value infos to the compact form again, after their metadata was placed or removed.

    Decoding keeps a value info with metadata in `<…>`. If its metadata is removed (`removed`) or
    can move to the metadata section, the value info may become the type before a node's output. A
    unique path must identify `owner`, so that the metadata section can refer to its values.
    """
    infos = [value for value in owner.values if value.data is None]
    if not infos:
        return
    described = any(i.metadata or any(d.name == "meta" for d in i.decorators) for i in infos)
    if not described and not removed:
        return  # decoding has already converted value infos without metadata
    entries = _unique_metadata(infos)
    order = order_of(owner) if isinstance(owner, Graph) else None
    data = [value for value in owner.values if value.data is not None]
    if order is None and len(entries) == len(infos):
        taken = (*data, *owner.inputs) if isinstance(owner, Graph) else ()
        if place_all_types(owner.nodes, infos, taken, with_metadata=True):
            owner.values, owner.value_metadata = data, entries
            return
    plain = [ValueInfo(i.name, i.type) if i.name in entries else i for i in infos]
    if isinstance(owner, Graph) and order is None:
        decorator, rest = place_infos(owner, plain)
        if decorator is not None:
            owner.decorators = (decorator, *owner.decorators)
    elif order is None or not {Word("values"), Word("nodes")} & set(order.items):
        rest = place_types(owner.nodes, plain)
    else:  # `@value_info` gives the places of the entries in `<…>`: they must stay there
        rest = plain
    statements = {id(info) for info in rest}
    kept = []
    for info, stripped in zip(infos, plain, strict=True):
        if id(stripped) in statements:
            kept.append(info)
        elif info.name in entries:
            owner.value_metadata[info.name] = entries[info.name]
    owner.values = data + kept


def _unique_metadata(infos: list[ValueInfo]) -> dict[str, Pairs]:
    """Return the metadata of the value infos whose names are unique, by name.

    Only value infos with the field `metadata` and no decorators, or with only the decorator
    `@meta`, are included.
    """
    unique = _unique([info.name for info in infos])
    entries: dict[str, Pairs] = {}
    for info in infos:
        if info.name not in unique:
            continue
        if info.metadata and not info.decorators:
            entries[info.name] = info.metadata
        elif len(info.decorators) == 1 and info.decorators[0].name == "meta" and not info.metadata:
            entries[info.name] = decorator_entries(info.decorators[0])
    return entries
