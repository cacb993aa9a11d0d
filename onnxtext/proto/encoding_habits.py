# SPDX-License-Identifier: Apache-2.0
"""Find and apply encoding habits: a file's regular deviations from the canonical encoding.

Some writers pack lists that the schema does not pack, or write fields in another order. The header
of a text records these habits (SPEC 13.5), so that even an edited model is encoded like the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from onnxtext.ast.model import EncodingHabit
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec, spelled_messages
from onnxtext.proto.unknown_fields import is_known
from onnxtext.select_core import core, core_module
from onnxtext.wire.reader import MAX_MESSAGE_DEPTH, WireField, read_fields, read_varint
from onnxtext.wire.writer import FIXED32, FIXED64, LENGTH, VARINT, delimited, tag

if TYPE_CHECKING:
    from onnxtext._core.proto.encoding_habits import Schema


class HabitError(ValueError):
    """An encoding habit is invalid; the message gives the reason.

    Attributes:
        mark: the word to mark in the text, such as the habit's name.
    """

    def __init__(self, message: str, mark: str) -> None:
        super().__init__(message)
        self.mark = mark


@cache
def _core_schema() -> Schema:
    """Return the native core's tables of the protobuf schema, built once per process."""
    schema: Schema = core_module("proto.encoding_habits").Schema()
    return schema


# ---- Applying -------------------------------------------------------------------------------


class Encoder:
    """Re-encodes canonical messages with the field order and the list packing of another encoder.

    Attributes:
        packed: maps the message type and the field number of a list to whether the list is packed.
        orders: maps a message type to the position of each field, by field number.
    """

    def __init__(self, habits: Iterable[EncodingHabit]) -> None:
        """Resolve the names in the habits; raise HabitError if one is invalid."""
        self.packed: dict[tuple[str, int], bool] = {}
        self.orders: dict[str, dict[int, int]] = {}
        for habit in habits:
            match habit:
                case EncodingHabit("packed" | "unpacked" as kind, (str() as name,)):
                    message, spec = _find_list(name)
                    self.packed[message, spec.number] = kind == "packed"
                case EncodingHabit("order", (str() as name, *numbers)) if numbers:
                    order = [number for number in numbers if isinstance(number, int)]
                    if len(order) != len(numbers) or len(set(order)) != len(order):
                        raise HabitError(
                            "`order` takes a message and numbers of its fields, none twice", "order"
                        )
                    self.orders[_find_message(name)] = {n: rank for rank, n in enumerate(order)}
                case _:
                    raise HabitError(
                        f"invalid encoding habit `{habit.name}`; write `packed(attribute.ints)`, "
                        "`unpacked(tensor.float_data)` or `order(node, 1, 2, 3)`",
                        habit.name,
                    )

    def encode(self, message: str, data: bytes) -> bytes:
        """Re-encode a message with the field order and the list packing of the habits.

        Args:
            message: the name of the message type.
            data: the canonical encoding of the message.
        """
        encoded = None
        if core() == "native":
            encoded = _core_schema().encode(message, data, self.packed, self.orders)
        return self._encode(message, data) if encoded is None else encoded

    def _encode(self, message: str, data: bytes) -> bytes:
        """Re-encode a message in Python, as `encode` does."""
        spec = message_spec(message)
        groups: dict[int, list[bytes]] = {}
        unknown: list[bytes] = []
        lists: dict[int, list[WireField]] = {}
        for item in read_fields(data, 0, len(data)):
            field = spec.by_number.get(item.number)
            if field is None or not is_known(field, data, item):
                unknown.append(data[item.start : item.end])
            elif (message, item.number) in self.packed:
                lists.setdefault(item.number, []).append(item)
            elif field.kind == "message" and item.wire_type == LENGTH:
                inside = self._encode(field.message, data[item.value : item.end])
                groups.setdefault(item.number, []).append(
                    delimited(tag(item.number, LENGTH), inside)
                )
            else:
                groups.setdefault(item.number, []).append(data[item.start : item.end])
        for number, items in lists.items():
            groups[number] = [self._list(message, spec.by_number[number], data, items)]
        order = self.orders.get(message, {})
        numbers = sorted(groups, key=lambda number: (order.get(number, 1 << 30), number))
        return b"".join([part for number in numbers for part in groups[number]] + unknown)

    def _list(self, message: str, field: FieldSpec, data: bytes, items: list[WireField]) -> bytes:
        if self.packed[message, field.number]:
            lists = [data[item.value : item.end] for item in items]
            return delimited(tag(field.number, LENGTH), b"".join(lists))
        values = [value for item in items for value in _values(field, data, item)]
        key = tag(field.number, field.wire_type)
        return b"".join([key + value for value in values])


def _find_message(name: str) -> str:
    message = spelled_messages().get(name)
    if message is None:
        raise HabitError(f"the schema has no message `{name}`", name)
    return message


def _find_list(name: str) -> tuple[str, FieldSpec]:
    short, point, field_name = name.rpartition(".")
    if not point:
        raise HabitError(
            f"`{name}` is not a field: write MESSAGE.FIELD, such as `attribute.ints`", name
        )
    message = _find_message(short)
    field = message_spec(message).by_name.get(field_name)
    if field is None or not field.repeated or field.wire_type == LENGTH:
        raise HabitError(f"`{name}` is not a list of numbers", name)
    return message, field


def _values(field: FieldSpec, data: bytes, item: WireField) -> list[bytes]:
    """Split one wire field of a list of numbers, packed or not, into its encoded values."""
    if item.wire_type == field.wire_type:
        return [data[item.value : item.end]]
    values = []
    index = item.value
    while index < item.end:
        if field.wire_type == VARINT:
            end = read_varint(data, index, item.end)[1]
        else:
            end = min(index + (4 if field.wire_type == FIXED32 else 8), item.end)
        values.append(data[index:end])
        index = end
    return values


# ---- Observing ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Observed:
    """The observed encoding of all messages of one type.

    Attributes:
        packed: the list fields that are packed at least once.
        unpacked: the list fields that are unpacked at least once.
        before: maps a field number to the numbers of the fields that directly precede the field in
            some message; may be empty if all messages have their fields in ascending order.
        split: whether another field stands between two items of a list.
    """

    packed: set[int] = field(default_factory=set)
    unpacked: set[int] = field(default_factory=set)
    before: dict[int, set[int]] = field(default_factory=dict)
    split: bool = False


def observe_habits(data: bytes) -> tuple[EncodingHabit, ...]:
    """Find the encoding habits of an encoded `ModelProto`.

    Re-encoding with these habits need not give the same bytes.

    Raises:
        WireError: the bytes are not a message.
    """
    seen: dict[str, _Observed] = {}
    found = _core_schema().observe(data) if core() == "native" else None
    if found is None:
        _observe("ModelProto", data, seen, 0)
    else:
        seen = {message: _Observed(*parts) for message, parts in found.items()}
    names = _names()
    habits = []
    for message, observed in sorted(seen.items()):
        packed, unpacked = observed.packed, observed.unpacked
        if not (packed or unpacked or observed.before):
            continue
        spec = message_spec(message)
        for kind, numbers in (("packed", packed - unpacked), ("unpacked", unpacked - packed)):
            for spec_field in [spec.by_number[number] for number in sorted(numbers)]:
                if spec_field.packed != (kind == "packed"):
                    habits.append(EncodingHabit(kind, (f"{names[message]}.{spec_field.name}",)))
        order = _order(observed)
        if order and order != sorted(order):
            habits.append(EncodingHabit("order", (names[message], *order)))
    return tuple(habits)


@cache
def _names() -> dict[str, str]:
    """Map message names of the schema to message names in habits: `NodeProto` → `node`."""
    return {message: name for name, message in spelled_messages().items()}


def _observe(message: str, data: bytes, seen: dict[str, _Observed], depth: int) -> None:
    """Record in `seen` how a message and the messages inside it are encoded."""
    spec: MessageSpec = message_spec(message)
    observed = seen.setdefault(message, _Observed())
    last = 0
    seen_numbers: set[int] = set()
    for item in read_fields(data, 0, len(data)):
        field = spec.by_number.get(item.number)
        if field is None:
            continue
        if item.number != last:
            if item.number in seen_numbers:
                observed.split = True
            seen_numbers.add(item.number)
            observed.before.setdefault(item.number, set())
            if last:
                observed.before[item.number].add(last)
            last = item.number
        if field.kind == "message" and item.wire_type == LENGTH:
            if depth < MAX_MESSAGE_DEPTH:
                _observe(field.message, data[item.value : item.end], seen, depth + 1)
        elif field.repeated and field.wire_type in (VARINT, FIXED32, FIXED64):
            kind = observed.packed if item.wire_type == LENGTH else observed.unpacked
            kind.add(item.number)


def _order(observed: _Observed) -> Sequence[int]:
    """Return an order of field numbers that fits every message; () if there is none.

    If the order is not unique, smaller numbers come first.
    """
    if observed.split:
        return ()
    left = {number: set(before) for number, before in observed.before.items()}
    order: list[int] = []
    while left:
        ready = sorted(number for number, before in left.items() if not before)
        if not ready:
            return ()
        order.append(ready[0])
        del left[ready[0]]
        for before in left.values():
            before.discard(ready[0])
    return order
