# SPDX-License-Identifier: Apache-2.0
"""Apply decorators to an encoded message: add, replace or remove fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.compact_form.list_order import PARTS as ORDERS
from onnxtext.ast.records import Decorator, Field, Record, Word
from onnxtext.proto.convert_records import find_field, lower_field, lower_record
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.unknown_fields import RecordError, lower_unknown
from onnxtext.select_core import core, core_module
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import LENGTH, Piece, delimited, tag

DOC_STRING = {
    "ModelProto": 6, "GraphProto": 10, "FunctionProto": 8, "NodeProto": 6, "AttributeProto": 13,
    "TensorProto": 12, "ValueInfoProto": 3,
}  # fmt: skip
"""The field number of `doc_string`, by message type."""

METADATA = {
    "ModelProto": 14,
    "GraphProto": 16,
    "FunctionProto": 14,
    "NodeProto": 9,
    "TensorProto": 16,
    "ValueInfoProto": 4,
}
"""The field number of `metadata_props`, by message type."""

DENOTATION = {"TypeProto": 6, "TensorShapeProto.Dimension": 3}
"""The field number of `denotation`, by message type."""

FIELDS = {
    "doc": DOC_STRING,
    "meta": METADATA,
    "denotation": DENOTATION,
    "segment": {"TensorProto": 3},
    "device": {"NodeProto": 10},
}
"""For each decorator, the number of the field that it sets, by message type."""


class FieldTable:
    """The fields of an encoded message.

    Attributes:
        message: the type of the message, such as `NodeProto`.
        fields: maps a field number to the encoded items of the field, in order; one piece of bytes
            may hold several items.
        unknown: the encoded unknown fields, which follow the known fields.
    """

    def __init__(self, message: str, data: bytes) -> None:
        self.message = message
        self.fields: dict[int, list[Piece]] = {}
        self.unknown: list[bytes] = []
        view = memoryview(data)
        last = 0
        for number, start, end in field_runs(data):
            if number < last:  # known fields are in ascending order; the unknown ones follow
                self.unknown.append(bytes(view[start:]))
                break
            last = number
            self.fields[number] = [view[start:end]]

    def encode(self) -> bytes:
        """Return the message: known fields in ascending order, then the unknown fields."""
        parts = [piece for number in sorted(self.fields) for piece in self.fields[number]]
        return b"".join([*parts, *self.unknown])

    def apply(self, decorator: Decorator) -> None:
        """Apply one decorator.

        Raises:
            RecordError: the message does not support the decorator, or its arguments are wrong.
        """
        arguments = decorator.arguments
        match decorator.name:
            case "doc" | "denotation":
                self._replace(self._number(decorator), _one_string(decorator))
            case "segment":
                number, spec = self._number(decorator), message_spec("TensorProto.Segment")
                self._replace(number, lower_record(spec, Record(arguments)))
            case "meta":
                self._append(self._number(decorator), _entries(decorator))
            case "device":
                self._append(self._number(decorator), [_device(decorator)])
            case "set":
                for argument in arguments:
                    self._set(argument)
            case "unset":
                for argument in arguments:
                    self._unset(argument)
            case name:
                message = f"`@{name}` is not a decorator of {self.message}"
                raise RecordError(message, f"@{name}", _decorators_of(self.message))

    def _number(self, decorator: Decorator) -> int:
        """Return the number of the field that a decorator sets, or raise `RecordError`."""
        number = FIELDS[decorator.name].get(self.message)
        if number is None:
            raise RecordError(f"`@{decorator.name}` cannot be applied to {self.message}")
        return number

    def _replace(self, number: int, payload: bytes) -> None:
        self.fields[number] = [delimited(tag(number, LENGTH), payload)]

    def _append(self, number: int, messages: Iterable[bytes]) -> None:
        key = tag(number, LENGTH)
        self.fields.setdefault(number, []).extend([delimited(key, item) for item in messages])

    def _set(self, argument: Field) -> None:
        spec = message_spec(self.message)
        if isinstance(argument.key, int):
            self.unknown.append(lower_unknown(spec, argument.key, argument.value))
            return
        field = find_field(spec, argument.key)
        data = lower_field(field, argument.value)
        if data:
            self.fields[field.number] = [data]
        else:
            self.fields.pop(field.number, None)

    def _unset(self, argument: Field) -> None:
        if argument.key is not None or not isinstance(argument.value, Word):
            raise RecordError("`@unset` takes field names")
        field = find_field(message_spec(self.message), argument.value.text)
        self.fields.pop(field.number, None)


def _decorators_of(message: str) -> list[str]:
    """Return the names of the decorators that a message type supports."""
    names = [name for name, fields in FIELDS.items() if message in fields]
    return [*names, "set", "unset", *(ORDERS if message == "GraphProto" else ())]


def field_runs(data: bytes) -> list[tuple[int, int, int]]:
    """Return (number, start, end) of each run of consecutive fields with the same number."""
    if core() == "native":
        result: list[tuple[int, int, int]] | None = core_module("proto.field_runs").field_runs(data)
        if result is not None:
            return result
    runs: list[tuple[int, int, int]] = []
    for field in read_fields(data, 0, len(data)):
        start = runs.pop()[1] if runs and runs[-1][0] == field.number else field.start
        runs.append((field.number, start, field.end))
    return runs


def apply_decorators(message: str, data: bytes, decorators: Sequence[Decorator]) -> bytes:
    """Apply decorators to an encoded message, and return the result.

    Args:
        message: the name of the message type, such as `NodeProto`.
        data: the canonical encoding of the message without the decorators.
        decorators: the decorators, in order.

    Raises:
        RecordError: the message does not support a decorator, or its arguments are wrong.
    """
    table = FieldTable(message, data)
    for decorator in decorators:
        table.apply(decorator)
    return table.encode()


def finish_message(
    message: str,
    data: bytes,
    defaults: Iterable[tuple[int, bytes]],
    decorators: Sequence[Decorator],
    offset: int,
) -> bytes:
    """Add fields that an encoded message lacks, apply decorators to it, and return the result.

    Args:
        message: the name of the message type.
        data: the canonical encoding of the message without the decorators.
        defaults: numbers and encodings of the fields to add.
        decorators: the decorators, in order.
        offset: the offset of errors.

    Raises:
        LowerError: the message does not support a decorator, or its arguments are wrong.
    """
    table = FieldTable(message, data)
    for number, empty in defaults:
        table.fields.setdefault(number, [empty])
    for decorator in decorators:
        try:
            table.apply(decorator)
        except RecordError as error:
            raise LowerError.of_record(error, offset, f"@{decorator.name}") from None
    return table.encode()


def select_decorators(decorators: Sequence[Decorator], target: str) -> list[Decorator]:
    """Select the decorators that apply to `target`: `type`, `data`, or "" for the item itself.

    The prefix is removed: `@type.denotation("…")` becomes `@denotation("…")`.
    """
    if target:
        prefix = target + "."
        return [
            Decorator(d.name.removeprefix(prefix), d.arguments)
            for d in decorators
            if d.name.startswith(prefix)
        ]
    return [d for d in decorators if not d.name.startswith(("type.", "data."))]


def _one_string(decorator: Decorator) -> bytes:
    match decorator.arguments:
        case (Field(None, bytes() as text),):
            return text
    name = decorator.name
    raise RecordError(f"`@{name}` takes one string", f"@{name}", (f'@{name}("text")',))


def _entries(decorator: Decorator) -> list[bytes]:
    entries = []
    for argument in decorator.arguments:
        if not isinstance(argument.key, str) or not isinstance(argument.value, bytes):
            raise RecordError("`@meta` takes entries", "@meta", ('@meta("key": "value")',))
        key = to_bytes(argument.key)
        entries.append(delimited(b"\x0a", key) + delimited(b"\x12", argument.value))
    return entries


def _device(decorator: Decorator) -> bytes:
    return lower_record(message_spec("NodeDeviceConfigurationProto"), device_record(decorator))


def device_record(decorator: Decorator) -> Record:
    """Return `@device(…)` as a record; its first argument may lack the key `configuration_id`."""
    fields = decorator.arguments
    if fields and fields[0].key is None:
        fields = (Field("configuration_id", fields[0].value), *fields[1:])
    return Record(fields)
