# SPDX-License-Identifier: Apache-2.0
"""Read and write the order of the entries in a graph's `value_info` and initializers (SPEC 10).

The decorators `@value_info(…)` and `@initializers(…)` give the order. `@value_info` also selects
the inputs, outputs and initializers that have an entry in `value_info`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from onnxtext.ast.byte_strings import to_bytes, to_text
from onnxtext.ast.model import Graph, Model, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field, FieldValue, Word
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.types import Type
from onnxtext.select_core import core, core_module

DECORATOR = "value_info"
"""The name of the decorator that gives the order of the `value_info` list."""

INITIALIZERS = "initializers"
"""The name of the decorator that gives the order of the initializers."""

ORDERS = frozenset((DECORATOR, INITIALIZERS))
"""The names of both decorators; a `GraphProto` does not store these decorators."""

MAX_NAMES_LENGTH = 72
"""Maximum total length of the names in a decorator, with their quotes and commas.

If the names of one decorator are longer, both decorators move to the section `order`.
"""

PARTS = {
    DECORATOR: ("initializers", "inputs", "outputs", "values", "nodes"),
    INITIALIZERS: ("inputs", "values"),
}
"""The keywords of each decorator. A keyword selects a part of the list, such as `inputs`.

`nodes` selects the typed outputs of nodes.
"""

BY_DEFAULT = {DECORATOR: ("values", "nodes"), INITIALIZERS: ("inputs", "values")}
"""For each decorator, the parts of the list that need no keyword, in their default order."""

_BY_NAME = {
    DECORATOR: ("values", "initializers", "nodes", "inputs", "outputs"),
    INITIALIZERS: ("inputs", "values"),
}
"""For each decorator, the parts of the list in which to look up a name, in this order."""

_COPIES = PARTS[DECORATOR][:3]
"""The parts whose entries repeat declarations; `without: […]` leaves out single entries of them."""


class ValueInfoError(ValueError):
    """The arguments of `@value_info(…)` or `@initializers(…)` are invalid.

    Attributes:
        expected: the valid keywords; () if an argument is repeated.
    """

    def __init__(self, message: str, decorator: str, expected: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.decorator = decorator
        self.expected = expected


class ListOrder(NamedTuple):
    """The arguments of `@value_info(…)` or `@initializers(…)`.

    Attributes:
        items: in order, keywords for parts of the list, such as `inputs` (see `PARTS`), and names
            of single values (as `str`).
        without: names of initializers, inputs and outputs to leave out of the parts in `items`.
    """

    items: tuple[Word | str, ...]
    without: frozenset[str] = frozenset()


def keep_names(
    decorators: Sequence[Decorator], kept: Callable[[str], bool]
) -> tuple[Decorator, ...]:
    """Remove the names that `kept` rejects from `@value_info(…)` and `@initializers(…)`.

    A decorator that loses all its arguments is removed, too.
    """
    result = []
    for decorator in decorators:
        if decorator.name not in ORDERS or not decorator.arguments:
            result.append(decorator)
            continue
        fields = [replace(f, value=_kept_names(f.value, kept)) for f in decorator.arguments]
        fields = [field for field in fields if field.value not in (b"", ())]
        if fields:
            result.append(replace(decorator, arguments=tuple(fields)))
    return tuple(result)


def _kept_names(value: FieldValue, kept: Callable[[str], bool]) -> FieldValue:
    """Return an argument without the names that `kept` rejects; b"" or () if none are left."""
    if isinstance(value, tuple):
        return tuple([item for item in value if _kept_names(item, kept) != b""])
    return b"" if isinstance(value, bytes) and not kept(to_text(value)) else value


class ListEntry(NamedTuple):
    """An entry of a graph's `value_info` list, or of its list of initializers.

    Attributes:
        part: the part of the list, such as `inputs` (see `PARTS`).
        type: the type of the value; None if the value has no type.
        at: the character offset of the statement that has the type; -1 if it was not parsed.
        statement: for an entry of `value_info`, its value info in `<…>`; None if the entry is an
            output of a node or repeats a declaration. For an initializer, the initializer.
    """

    part: str
    name: str
    type: Type | None
    at: int
    statement: ValueInfo | None = None


def order_of(graph: Graph, decorator: str = DECORATOR) -> ListOrder | None:
    """Return the arguments of a graph's decorator `@value_info` or `@initializers`.

    Return None if the graph does not have the decorator.

    Raises:
        ValueInfoError: the arguments are invalid.
    """
    matching = [item for item in graph.decorators if item.name == decorator]
    if not matching:
        return None
    items: list[Word | str] = []
    without: list[str] = []
    for field in [field for item in matching for field in item.arguments]:
        match field:
            case Field(None, Word(part) as word) if part in PARTS[decorator]:
                items.append(word)
            case Field(None, bytes(name)):
                items.append(to_text(name))
            case Field("without", tuple(names)) if decorator == DECORATOR:
                without += [to_text(name) for name in names if isinstance(name, bytes)]
            case _:
                raise ValueInfoError(_HELP[decorator], decorator, PARTS[decorator])
    if not matching[0].arguments:
        raise ValueInfoError(_HELP[decorator], decorator, PARTS[decorator])
    parts = [item for item in items if isinstance(item, Word)]
    if len(set(parts)) < len(parts):
        raise ValueInfoError(f"an argument of @{decorator} is given twice", decorator)
    return ListOrder(tuple(items), frozenset(without))


_HELP = {
    DECORATOR: (
        "the arguments of @value_info must be the words `initializers`, `inputs`, `outputs`, "
        "`values` and `nodes`, or names of values as strings, in the order of the `value_info` "
        'list; `without: ["name"]` after them leaves values out'
    ),
    INITIALIZERS: (
        "the arguments of @initializers must be the words `inputs` and `values`, or names of "
        "initializers as strings, in the order of the list"
    ),
}


def decorator_of(
    order: ListOrder, names: Sequence[str] = (), decorator: str = DECORATOR
) -> Decorator:
    """Return the decorator `decorator` with the arguments `order`.

    `names` must contain the names in `order.without`, in the order to print them; other names are
    ignored.
    """
    values = [to_bytes(i) if isinstance(i, str) else i for i in order.items]
    if core() == "native":
        fields = core_module("ast.list_order").positional_fields(values)
    else:
        fields = [Field(None, value) for value in values]
    if order.without:
        left_out = tuple([to_bytes(name) for name in names if name in order.without])
        fields.append(Field("without", left_out))
    return Decorator(decorator, tuple(fields))


def place_order(model: Model) -> None:
    """Set `model.has_order` if an order of the main graph has long names.

    The names in a decorator `@value_info` or `@initializers` are long if they take more than
    `MAX_NAMES_LENGTH` bytes in total, with quotes and commas.

    If `model.has_order` is set, move `@value_info` and `@initializers` before the main graph's
    other decorators: the section `order` contains both.
    """
    for decorator in model.graph.decorators:
        length = 0
        for field in decorator.arguments if decorator.name in ORDERS else ():
            names = field.value if isinstance(field.value, tuple) else (field.value,)
            length += sum([len(name) + 4 for name in names if isinstance(name, bytes)])
            if length > MAX_NAMES_LENGTH:
                model.has_order = True
                break
    if model.has_order:
        model.graph.decorators = order_first(model.graph.decorators)


def order_first(decorators: Iterable[Decorator]) -> tuple[Decorator, ...]:
    """Return a graph's decorators with `@value_info` and `@initializers` before the others."""
    found = [*decorators]
    return (
        *[item for item in found if item.name in ORDERS],
        *[item for item in found if item.name not in ORDERS],
    )


def value_info_entries(graph: Graph, order: ListOrder | None) -> Iterator[ListEntry]:
    """Iterate over the entries of a graph's `value_info` list, in the order of the `GraphProto`.

    `order` has the arguments of its `@value_info`; None for the default order. Names that the graph
    does not have are ignored, so that values can be removed from the text.
    """
    lists = {part: _entries_of(graph, part) for part in _referenced_parts(order)}
    entries = _entries_in_order(DECORATOR, order, lists)
    if order is None or not order.without:
        return entries
    without = order.without
    return (e for e in entries if not (e.part in _COPIES and e.name in without))


def known_infos(graph: Graph) -> list[ValueInfo | tuple[str, Type | None, int]]:
    """Return the entries of a graph's `value_info` list, in the order of the `GraphProto`.

    An entry is its value info in `<…>`, if it has one; otherwise (name, type, offset of the
    statement that has the type). If `@value_info(…)` is invalid, the order is the default order.
    """
    if core() == "native":
        found = core_module("ast.list_order").ordered_infos(graph, known_with_data(graph))
        if found is not None:
            return found  # type: ignore[no-any-return]
    try:
        entries = value_info_entries(graph, order_of(graph))
    except ValueInfoError:
        entries = value_info_entries(graph, None)
    return [(e.name, e.type, e.at) if e.statement is None else e.statement for e in entries]


def _referenced_parts(order: ListOrder | None) -> Sequence[str]:
    """Return the parts of `value_info` (see `PARTS`) from which an order may select entries."""
    if order is not None and (order.without or any(isinstance(i, str) for i in order.items)):
        return PARTS[DECORATOR]
    words = [item.text for item in order.items if isinstance(item, Word)] if order else []
    return [*words, *BY_DEFAULT[DECORATOR]]


def _entries_in_order(
    decorator: str, order: ListOrder | None, lists: Mapping[str, Sequence[ListEntry]]
) -> Iterator[ListEntry]:
    """Yield the entries of `lists` (by part) that the decorator `decorator` selects, in its order.

    `order` has its arguments; None for the default order. A keyword stands for the entries of its
    part that the order does not list by name. Parts in `BY_DEFAULT` without a keyword follow. If
    the order lists a name twice, the second occurrence refers to the second entry with the name.
    """
    items = () if order is None else order.items
    rest = [Word(part) for part in BY_DEFAULT[decorator] if Word(part) not in items]
    words = [item for item in items if isinstance(item, Word)]
    if len(words) == len(items):
        for word in (*words, *rest):
            yield from lists[word.text]
        return
    names = Counter([item for item in items if isinstance(item, str)])
    named: dict[str, list[ListEntry]] = {}
    for part in _BY_NAME[decorator]:
        for entry in lists[part]:
            if entry.name in names:
                found = named.setdefault(entry.name, [])
                if decorator == INITIALIZERS or not found or found[0].part == part:
                    found.append(entry)
    taken = {id(entry) for name, found in named.items() for entry in found[: names[name]]}
    in_order = {name: iter(found) for name, found in named.items()}
    for item in (*items, *rest):
        if isinstance(item, str):
            yield from islice(in_order.get(item, ()), 1)
        else:
            yield from [entry for entry in lists[item.text] if id(entry) not in taken]


def with_data(graph: Graph) -> list[ValueInfo]:
    """Return the initializers of a graph in the order of the `GraphProto`.

    Raises:
        ValueInfoError: `@initializers(…)` is invalid.
    """
    inputs = [value for value in graph.inputs if value.data is not None]
    values = [value for value in graph.values if value.data is not None]
    order = order_of(graph, INITIALIZERS) if graph.decorators else None
    if order is None:
        return [*inputs, *values]
    lists = {"inputs": _statements("inputs", inputs), "values": _statements("values", values)}
    found = _entries_in_order(INITIALIZERS, order, lists)
    return [entry.statement for entry in found if entry.statement is not None]


def known_with_data(graph: Graph) -> list[ValueInfo]:
    """Return the initializers as `with_data` does; in text order if `@initializers` is invalid."""
    try:
        return with_data(graph)
    except ValueInfoError:
        return [value for value in (*graph.inputs, *graph.values) if value.data is not None]


def unknown_names(graph: Graph) -> Iterator[tuple[str, str]]:
    """Yield (decorator, name) for each undefined name in `@value_info` or `@initializers`.

    Raises:
        ValueInfoError: the arguments of a decorator are invalid.
    """
    for decorator in (INITIALIZERS, DECORATOR):
        order = order_of(graph, decorator)
        if order is None:
            continue
        if decorator == DECORATOR:
            defined = {
                entry.name for part in PARTS[DECORATOR] for entry in _entries_of(graph, part)
            }
        else:
            defined = {value.name for value in known_with_data(graph)}
        for name in (*order.items, *sorted(order.without)):
            if isinstance(name, str) and name not in defined:
                yield decorator, name


def _entries_of(graph: Graph, part: str) -> list[ListEntry]:
    """Return the entries of one part of `value_info` (see `PARTS`)."""
    match part:
        case "nodes":
            return node_entries(graph.nodes)
        case "values":
            return _statements(part, [value for value in graph.values if value.data is None])
        case "initializers":
            values = known_with_data(graph)
        case "inputs":
            values = graph.inputs
        case _:
            values = graph.outputs
    return [ListEntry(part, value.name, value.type, value.at) for value in values]


def _statements(part: str, values: Sequence[ValueInfo]) -> list[ListEntry]:
    return [ListEntry(part, value.name, value.type, value.at, value) for value in values]


def node_entries(nodes: list[Node]) -> list[ListEntry]:
    """Return the `value_info` entries of the typed outputs of some nodes."""
    if core() == "native":
        result: list[ListEntry] = core_module("ast.list_order").node_entries(nodes)
        return result
    return [
        ListEntry("nodes", name, type, node.at)
        for node in nodes
        if node.output_types
        for name, type in zip(node.outputs, node.output_types, strict=True)
        if type is not None
    ]


def ascending_end(keys: Sequence[tuple[int, ...]] | Sequence[int]) -> int:
    """Return the start of a list's longest strictly ascending suffix: 2 for `[5, 9, 1]`."""
    first = max(len(keys) - 1, 0)
    while first and keys[first - 1] < keys[first]:  # type: ignore[operator]
        first -= 1
    return first


def is_dense(value: ValueInfo) -> bool:
    """Whether an initializer is dense: stored in `initializer`, not in `sparse_initializer`."""
    return not isinstance(value.data, SparseTensor)
