# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages as the model merge sees them: fields by key, and what identifies list items.

Only messages that are merged field by field have an entry here. All other fields, unknown ones
included, are merged as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import LENGTH, varint

Fields = dict[int, list[bytes]]
"""The payloads of a message's fields by their keys (number and wire type), in order."""


def split(data: bytes) -> Fields:
    """Read the fields of a message in canonical encoding."""
    found: Fields = {}
    for number, wire_type, _, value, end in read_fields(data, 0, len(data)):
        found.setdefault(number << 3 | wire_type, []).append(data[value:end])
    return found


def join(fields: Mapping[int, list[bytes]]) -> bytes:
    """Write the fields of a message in the order of their numbers."""
    out: list[bytes] = []
    for key in sorted(fields):
        tag = varint(key)
        for payload in fields[key]:
            out += (tag, varint(len(payload)), payload) if key & 7 == LENGTH else (tag, payload)
    return b"".join(out)


def first(data: bytes, number: int) -> bytes | None:
    """The first payload of a length-delimited field; None if the message does not have it."""
    for found, wire_type, _, value, end in read_fields(data, 0, len(data)):
        if found == number and wire_type == LENGTH:
            return data[value:end]
        if found > number:  # the encoding is canonical
            break
    return None


Key = Callable[[bytes], Hashable]


@dataclass(frozen=True)
class Listing:
    """How a repeated field is merged.

    Attributes:
        kind: the type of its messages; None if each item is merged as a whole.
        key: what identifies an item.
        similar: what an item keeps when it is renamed, from the most certain to the least.
        alike: what an item has in common with one that might replace it at the same place.
        ordered: whether the place of an item has a meaning.
    """

    kind: Kind | None
    key: Key
    similar: tuple[Key, ...] = ()
    alike: Key | None = None
    ordered: bool = False


@dataclass(frozen=True)
class Kind:
    """How the messages of a type are merged.

    Attributes:
        lists: repeated fields whose items are merged one by one.
        messages: fields that hold one message, which is merged field by field.
        positions: repeated strings in which the position identifies an item.
        units: fields that are merged together, as a whole.
        exclusive: two sets of fields; two sides must not change one set each.
        united: whether two sides may add a message each, which are merged.
    """

    lists: dict[int, Listing] = field(default_factory=dict)
    messages: dict[int, Kind] = field(default_factory=dict)
    positions: frozenset[int] = frozenset()
    units: tuple[frozenset[int], ...] = ()
    exclusive: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    united: bool = False


def _named(number: int) -> Key:
    return lambda data: first(data, number)


def _without(*numbers: int) -> Key:
    """Everything but some fields."""
    return lambda data: b"".join(
        [data[f.start : f.end] for f in read_fields(data, 0, len(data)) if f.number not in numbers]
    )


def _only(*numbers: int) -> Key:
    return lambda data: b"".join(
        [data[f.start : f.end] for f in read_fields(data, 0, len(data)) if f.number in numbers]
    )


def _whole(data: bytes) -> Hashable:
    return data


def _outputs(data: bytes) -> Hashable:
    found = []
    for number, _, _, value, end in read_fields(data, 0, len(data)):
        if number == 2:
            found.append(data[value:end])
        elif number > 2:
            break
    return tuple(found) or None


def _label(data: bytes) -> Hashable:
    return first(data, 3) or None


def _first_output(data: bytes) -> Hashable:
    return first(data, 2) or None


def _function(data: bytes) -> Hashable:
    """Domain, name and overload; the domain `ai.onnx` is the empty one."""
    domain = first(data, 10) or b""
    return b"" if domain == b"ai.onnx" else domain, first(data, 1), first(data, 13) or b""


def _domain(data: bytes) -> Hashable:
    domain = first(data, 1) or b""
    return b"" if domain == b"ai.onnx" else domain


def _sparse_name(data: bytes) -> Hashable:
    values = first(data, 1)
    return None if values is None else first(values, 8)


def _numbers(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


_ENTRIES = Listing(Kind(), _named(1))
_DATA = _numbers(1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 14)
_TENSOR = Kind({16: _ENTRIES}, units=(_DATA,))
_VALUE = Kind({4: _ENTRIES})
_VALUES = Listing(_VALUE, _named(1), (_without(1),), _only(2))
_ATTRIBUTE = Kind(
    positions=_numbers(9), units=(_numbers(2, 3, 4, 5, 7, 8, 10, 11, 14, 15, 20, 21, 22, 23),)
)
NODE = Kind(
    {
        5: Listing(_ATTRIBUTE, _named(1)),
        9: _ENTRIES,
        10: Listing(None, _named(1)),
    },
    positions=_numbers(1, 2),
    units=(_numbers(4, 7, 8),),
    exclusive=(_numbers(4, 7, 8), _numbers(1, 5)),
)
_NODES = Listing(NODE, _outputs, (_first_output, _label, _without(2, 3)), _only(4, 7, 8))
GRAPH = Kind(
    {
        1: _NODES,
        5: Listing(_TENSOR, _named(8), (_without(8),), _only(1, 2)),
        11: replace(_VALUES, ordered=True),
        12: replace(_VALUES, ordered=True),
        13: _VALUES,
        14: Listing(Kind({2: _ENTRIES}), _named(1), (_without(1),)),
        15: Listing(None, _sparse_name),
        16: _ENTRIES,
    },
    united=True,
)
_OPSETS = Listing(Kind(), _domain)
FUNCTION = Kind(
    {
        6: Listing(None, _whole),
        7: _NODES,
        9: _OPSETS,
        11: Listing(_ATTRIBUTE, _named(1)),
        12: _VALUES,
        14: _ENTRIES,
    },
    positions=_numbers(4, 5),
    united=True,
)
_TRAINING = Kind({3: _ENTRIES, 4: _ENTRIES}, {1: GRAPH, 2: GRAPH})
MODEL = Kind(
    {
        8: _OPSETS,
        14: _ENTRIES,
        20: Listing(_TRAINING, lambda _: "training"),
        25: Listing(FUNCTION, _function, (_without(1, 13),)),
        26: Listing(Kind(), _named(1)),
    },
    {7: GRAPH},
    united=True,
)
# Graphs hold nodes, which hold attributes, which hold graphs.
_ATTRIBUTE.messages[6] = GRAPH
