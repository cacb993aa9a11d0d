# SPDX-License-Identifier: Apache-2.0
"""Decorators on the wire: what they add to, replace in or take from an encoded message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext.ast.records import Decorator, Field, Record, Word
from onnxtext.proto.generic import (
    RecordError,
    find_field,
    lower_field,
    lower_record,
    lower_unknown,
)
from onnxtext.proto.schema import message_spec
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import LENGTH, Piece, delimited, tag

DOC_STRING = {
    "ModelProto": 6,
    "GraphProto": 10,
    "FunctionProto": 8,
    "NodeProto": 6,
    "AttributeProto": 13,
    "TensorProto": 12,
    "ValueInfoProto": 3,
}
"""The number of `doc_string` in each message that has it."""

METADATA = {
    "ModelProto": 14,
    "GraphProto": 16,
    "FunctionProto": 14,
    "NodeProto": 9,
    "TensorProto": 16,
    "ValueInfoProto": 4,
}
"""The number of `metadata_props` in each message that has it."""

DENOTATION = {"TypeProto": 6, "TensorShapeProto.Dimension": 3}
"""The number of `denotation` in each message that has it."""

SEGMENT = {"TensorProto": 3}
DEVICE = {"NodeProto": 10}


class FieldTable:
    """An encoded message, field by field.

    Attributes:
        known: for each field number all its encodings, in order; nothing is copied.
        strangers: unknown fields, which are written after all others.
    """

    def __init__(self, message: str, data: bytes) -> None:
        self.message = message
        self.known: dict[int, list[Piece]] = {}
        self.strangers: list[bytes] = []
        view = memoryview(data)
        last = 0
        for field in read_fields(data, 0, len(data)):
            if field.number < last:  # known fields ascend: here the unknown ones begin
                self.strangers.append(bytes(view[field.start :]))
                break
            last = field.number
            self.known.setdefault(last, []).append(view[field.start : field.end])

    def encode(self) -> bytes:
        """The message, its fields in the order of their numbers."""
        parts = [piece for number in sorted(self.known) for piece in self.known[number]]
        return b"".join([*parts, *self.strangers])

    def apply(self, decorator: Decorator) -> None:
        """Let one decorator change the message.

        Raises:
            RecordError: the decorator does not belong here, or its arguments do not fit.
        """
        arguments = decorator.arguments
        match decorator.name:
            case "doc":
                number = self._number(DOC_STRING, decorator)
                self.known[number] = [delimited(tag(number, LENGTH), _one_string(decorator))]
            case "denotation":
                number = self._number(DENOTATION, decorator)
                self.known[number] = [delimited(tag(number, LENGTH), _one_string(decorator))]
            case "meta":
                self._append(self._number(METADATA, decorator), _entries(decorator))
            case "segment":
                number = self._number(SEGMENT, decorator)
                segment = lower_record(message_spec("TensorProto.Segment"), Record(arguments))
                self.known[number] = [delimited(tag(number, LENGTH), segment)]
            case "device":
                self._append(self._number(DEVICE, decorator), [_device(decorator)])
            case "set":
                for argument in arguments:
                    self._set(argument)
            case "unset":
                for argument in arguments:
                    self._unset(argument)
            case name:
                raise RecordError(f"`@{name}` is no decorator of {self.message}")

    def _number(self, numbers: dict[str, int], decorator: Decorator) -> int:
        number = numbers.get(self.message)
        if number is None:
            raise RecordError(f"`@{decorator.name}` has no meaning for {self.message}")
        return number

    def _append(self, number: int, messages: Iterable[bytes]) -> None:
        key = tag(number, LENGTH)
        self.known.setdefault(number, []).extend([delimited(key, item) for item in messages])

    def _set(self, argument: Field) -> None:
        spec = message_spec(self.message)
        if isinstance(argument.key, int):
            self.strangers.append(lower_unknown(spec, argument.key, argument.value))
            return
        field = find_field(spec, argument.key)
        data = lower_field(field, argument.value)
        if data:
            self.known[field.number] = [data]
        else:
            self.known.pop(field.number, None)

    def _unset(self, argument: Field) -> None:
        if argument.key is not None or not isinstance(argument.value, Word):
            raise RecordError("`@unset` takes names of fields")
        field = find_field(message_spec(self.message), argument.value.text)
        self.known.pop(field.number, None)


def decorate(message: str, data: bytes, decorators: Sequence[Decorator]) -> bytes:
    """An encoded message, changed by its decorators in order.

    Args:
        message: name of the message type, such as `NodeProto`.
        data: its canonical encoding without the decorators.
        decorators: what stands before it in the text.

    Raises:
        RecordError: a decorator does not belong to the message, or its arguments do not fit.
    """
    table = FieldTable(message, data)
    for decorator in decorators:
        table.apply(decorator)
    return table.encode()


def targeted(decorators: Sequence[Decorator], target: str) -> list[Decorator]:
    """The decorators of the thing itself (""), of its `type` or of its `data`."""
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
    raise RecordError(f'`@{decorator.name}` takes one string: @{decorator.name}("…")')


def _entries(decorator: Decorator) -> list[bytes]:
    entries = []
    for argument in decorator.arguments:
        if not isinstance(argument.key, str) or not isinstance(argument.value, bytes):
            raise RecordError('`@meta` takes entries: @meta("key": "value")')
        key = argument.key.encode("utf-8", "surrogateescape")
        entries.append(delimited(b"\x0a", key) + delimited(b"\x12", argument.value))
    return entries


def _device(decorator: Decorator) -> bytes:
    arguments = decorator.arguments
    if arguments and arguments[0].key is None:
        arguments = (Field("configuration_id", arguments[0].value), *arguments[1:])
    return lower_record(message_spec("NodeDeviceConfigurationProto"), Record(arguments))
