# SPDX-License-Identifier: Apache-2.0
"""The order of a graph's `value_info` list, as `@value_info(…)` gives it (SPEC 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from onnxtext.ast.model import Graph, ValueInfo
from onnxtext.ast.records import Decorator, Field, Word
from onnxtext.ast.types import Type

DECORATOR = "value_info"
"""The name of the decorator."""

PARTS = ("initializers", "inputs", "outputs", "values", "nodes")
"""The parts of the list: entries of these values, those in `<…>`, and the types of outputs."""

_COPIES = PARTS[:3]


class ValueInfoError(ValueError):
    """The arguments of `@value_info(…)` are invalid."""


class Order(NamedTuple):
    """The arguments of `@value_info(…)`.

    Attributes:
        items: parts as words; names of single values as strings.
        without: the initializers, inputs and outputs that have no entry.
    """

    items: tuple[Word | str, ...]
    without: frozenset[str] = frozenset()


class Entry(NamedTuple):
    """An entry of the list.

    Attributes:
        part: the part that it belongs to.
        name: the value.
        type: its type; None if none is stored.
        at: the offset of the statement that has the type.
        statement: the statement of an entry in `<…>`; None if it has none of its own.
    """

    part: str
    name: str
    type: Type | None
    at: int
    statement: ValueInfo | None = None


def order_of(graph: Graph) -> Order | None:
    """Return the arguments of a graph's `@value_info(…)`; None if it has none.

    Raises:
        ValueInfoError: they are invalid.
    """
    found = [item for item in graph.decorators if item.name == DECORATOR]
    if not found:
        return None
    items: list[Word | str] = []
    without: list[str] = []
    for field in [field for decorator in found for field in decorator.arguments]:
        match field:
            case Field(None, Word(part) as word) if part in PARTS:
                items.append(word)
            case Field(None, bytes(name)):
                items.append(_text(name))
            case Field("without", tuple(names)):
                without += [_text(name) for name in names if isinstance(name, bytes)]
            case _:
                raise ValueInfoError(_HELP)
    if not found[0].arguments:
        raise ValueInfoError(_HELP)
    parts = [item for item in items if isinstance(item, Word)]
    if len(set(parts)) < len(parts):
        raise ValueInfoError("@value_info names a part twice")
    return Order(tuple(items), frozenset(without))


_HELP = (
    "write @value_info(initializers), with initializers, inputs, outputs, values, nodes or names "
    'in their order, and without: ["name"]'
)


def decorator_of(order: Order, names: Sequence[str]) -> Decorator:
    """Return the decorator of an order.

    Args:
        order: the order.
        names: all names in the order in which to write those that have no entry.
    """
    fields = [Field(None, _bytes(i) if isinstance(i, str) else i) for i in order.items]
    if order.without:
        left_out = tuple([_bytes(name) for name in names if name in order.without])
        fields.append(Field("without", left_out))
    return Decorator(DECORATOR, tuple(fields))


def entries(graph: Graph, order: Order | None) -> Iterator[Entry]:
    """Yield the entries of a graph's list in their order.

    Raises:
        ValueInfoError: the order names no value of the graph.
    """
    items = () if order is None else order.items
    without = frozenset[str]() if order is None else order.without
    named: dict[str, Entry] = {}
    if without or any(isinstance(item, str) for item in items):
        for part in ("values", "outputs", "inputs", "nodes", "initializers"):
            found = {entry.name: entry for entry in reversed(list(_LISTS[part](graph)))}
            named |= {name: found[name] for name in reversed(found)}
    taken = {(named[i].part, i) for i in items if isinstance(i, str) and i in named}
    for name in (*without, *[item for item in items if isinstance(item, str)]):
        if name not in named:
            raise ValueInfoError(f"@value_info names `{name}`, which is no value of this graph")
    rest = [Word(part) for part in ("values", "nodes") if Word(part) not in items]
    for item in (*items, *rest):
        if isinstance(item, str):
            yield named[item]
            continue
        part = item.text
        for entry in _LISTS[part](graph):
            left_out = part in _COPIES and entry.name in without
            if not left_out and (not taken or (part, entry.name) not in taken):
                yield entry


def with_data(graph: Graph) -> list[ValueInfo]:
    """Return the initializers of a graph: defaults of inputs, then its own."""
    return [value for value in (*graph.inputs, *graph.values) if value.data is not None]


def _initializers(graph: Graph) -> Iterator[Entry]:
    for value in with_data(graph):
        yield Entry("initializers", value.name, value.type, value.at)


def _inputs(graph: Graph) -> Iterator[Entry]:
    for value in graph.inputs:
        yield Entry("inputs", value.name, value.type, value.at)


def _outputs(graph: Graph) -> Iterator[Entry]:
    for value in graph.outputs:
        yield Entry("outputs", value.name, value.type, value.at)


def _values(graph: Graph) -> Iterator[Entry]:
    for value in graph.values:
        if value.data is None:
            yield Entry("values", value.name, value.type, value.at, value)


def _nodes(graph: Graph) -> Iterator[Entry]:
    for node in graph.nodes:
        if node.output_types:
            for name, type in zip(node.outputs, node.output_types, strict=True):
                if type is not None:
                    yield Entry("nodes", name, type, node.at)


_LISTS: dict[str, Callable[[Graph], Iterator[Entry]]] = {
    "initializers": _initializers,
    "inputs": _inputs,
    "outputs": _outputs,
    "values": _values,
    "nodes": _nodes,
}


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
