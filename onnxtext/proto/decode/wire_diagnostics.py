# SPDX-License-Identifier: Apache-2.0
"""Locate the first error in corrupt bytes, and describe the field in which it is.

Protobuf reports that bytes are corrupt, but no offset. This module parses the bytes in the same
order and with the same limits as protobuf, so it finds the same error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from onnxtext.plurals import count_noun
from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.proto.path_at_offset import step
from onnxtext.wire.reader import MAX_MESSAGE_DEPTH
from onnxtext.wire.writer import (
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    MAX_MESSAGE_BYTES,
    VARINT,
)

_KEY_BYTES, _LENGTH_BYTES, _VALUE_BYTES = 5, 5, 10
"""Protobuf's maximum sizes of the varints that are keys, lengths and values."""
_WHOLE = "the ModelProto"
_ENDLESS = re.compile(rb"[\x80-\xff]{10}")


@dataclass(frozen=True, slots=True)
class Corruption:
    """The first error in bytes that are not a message.

    Attributes:
        kind: `deep` for messages that are nested too deeply, `cut` for truncated bytes, otherwise
            `wrong`.
        offset: the 0-based byte offset of the error.
        path: the path at the offset, such as `graph.node[12].op_type`; "" for the message itself.
        known_fields: the number of top-level fields that match the schema, before the error.
        inside: if the data ends inside the field at `path`, the path of the innermost field or
            message in which it ends; otherwise "".
    """

    kind: str
    message: str
    offset: int
    path: str
    known_fields: int
    inside: str


def find_corruption(data: bytes) -> Corruption | None:
    """Return the first error in bytes; None if they are a valid `ModelProto`."""
    walk = _Walk(data)
    try:
        walk.message(message_spec("ModelProto"), 0, len(data), "", 0)
    except _Stop as stop:
        return Corruption(
            stop.kind, stop.message, stop.offset, stop.path, walk.known_fields, stop.inside
        )
    return None


class _Stop(Exception):
    inside = ""

    def __init__(self, message: str, offset: int, path: str, kind: str = "wrong") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.path = path
        self.kind = kind


def _too_deep(nested: str, offset: int, path: str) -> _Stop:
    return _Stop(
        f"{nested} are nested more than {MAX_MESSAGE_DEPTH} levels deep", offset, path, "deep"
    )


class _Walk:
    """A parser that raises `_Stop` at the first error.

    The methods have these parameters: `begin`, the start of a field; `offset`, the start of the
    bytes to read; `end`, the end of the enclosing message; `path`, the path of the message or
    value; and `named`, its description in messages.

    Attributes:
        known_fields: the number of top-level fields so far that match the schema.
    """

    def __init__(self, data: bytes) -> None:
        self.known_fields = 0
        self._data = data

    def message(self, spec: MessageSpec, start: int, end: int, path: str, depth: int) -> None:
        """Check a message and all messages in it."""
        if depth > MAX_MESSAGE_DEPTH:
            raise _too_deep("messages", start, path)
        seen: dict[int, int] = {}
        offset = start
        while offset < end:
            begin = offset
            number, wire_type, offset = self._key(offset, end, path)
            if wire_type == END_GROUP:
                owner = path or _WHOLE
                raise _Stop(
                    f"{owner} contains the end of a group that was never started", begin, path
                )
            field = spec.by_number.get(number)
            index = seen.get(number, 0)
            seen[number] = index + 1
            if field is None or not field.accepts(wire_type):
                offset = self._unknown_field(number, wire_type, begin, offset, end, path, depth)
                continue
            offset = self._value(field, wire_type, begin, offset, end, path, index, depth)
            self.known_fields += depth == 0

    def _value(
        self,
        field: FieldSpec,
        wire_type: int,
        begin: int,
        offset: int,
        end: int,
        path: str,
        index: int,
        depth: int,
    ) -> int:
        """Check a value of a known field; return the offset after it."""
        if wire_type != LENGTH:
            value_path = step(path, field, self._data, offset, offset, index)
            return self._scalar(
                wire_type, f"{value_path} ({field.kind})", begin, offset, end, value_path
            )
        name = f"{path}.{field.name}" if path else field.name
        size, offset = self._varint(offset, end, _LENGTH_BYTES, f"the length of {name}", path)
        after = offset + size
        if field.message and size <= MAX_MESSAGE_BYTES and after <= end:
            value_path = step(path, field, self._data, offset, after, index)
            self.message(message_spec(field.message), offset, after, value_path, depth + 1)
            return after
        value_path = step(path, field, self._data, offset, after, index)
        packed = field.wire_type != LENGTH
        kind = f"a packed list of {field.kind}" if packed else field.message or field.kind
        try:
            self._check_size(size, begin, offset, end, f"{value_path} ({kind})", value_path)
        except _Stop as stop:
            if stop.kind == "cut":
                stop.inside = self._inside(field, offset, end, value_path, depth)
            raise
        if packed:
            self._check_packed(field, offset, after, value_path)
        return after

    def _inside(self, field: FieldSpec, offset: int, end: int, path: str, depth: int) -> str:
        """Return the path of the innermost field or message that the end of the bytes truncates."""
        if field.message:
            try:
                self.message(message_spec(field.message), offset, end, path, depth + 1)
            except _Stop as stop:
                return stop.inside or stop.path
        return path

    def _check_packed(self, field: FieldSpec, offset: int, end: int, path: str) -> None:
        """Check the payload of a packed list."""
        named = f"{path} (a packed list of {field.kind})"
        if field.wire_type != VARINT:
            width = 4 if field.wire_type == FIXED32 else 8
            if (end - offset) % width:
                size = count_noun(end - offset, "byte")
                message = f"{named} has {size}, which is not a multiple of {width}"
                raise _Stop(message, offset, path)
            return
        endless = _ENDLESS.search(self._data, offset, end)
        if endless:
            message = f"an item of {named} is longer than the ten bytes of a varint"
            raise _Stop(message, endless.start(), path)
        if end > offset and self._data[end - 1] > 127:
            raise _Stop(f"the last item of {named} is cut off", end - 1, path)

    def _unknown_field(
        self, number: int, wire_type: int, begin: int, offset: int, end: int, path: str, depth: int
    ) -> int:
        """Skip an unknown field; return the offset after it."""
        named = f"the unknown field {number} of {path or _WHOLE}"
        if wire_type == GROUP:
            return self._group(number, begin, offset, end, path, depth)
        if wire_type == LENGTH:
            size, offset = self._varint(offset, end, _LENGTH_BYTES, f"the length of {named}", path)
            self._check_size(size, begin, offset, end, named, path)
            return offset + size
        return self._scalar(wire_type, named, begin, offset, end, path)

    def _group(self, number: int, begin: int, offset: int, end: int, path: str, depth: int) -> int:
        """Skip a group and all groups inside, without recursion; return the offset after it."""
        owner = path or _WHOLE
        open_groups = [number]
        while open_groups:
            if depth + len(open_groups) > MAX_MESSAGE_DEPTH:
                raise _too_deep("groups", offset, path)
            if offset >= end:
                message = f"the unknown group {open_groups[-1]} of {owner} is never closed"
                raise _Stop(message, begin, path, "cut" if end == len(self._data) else "wrong")
            start = offset
            inner, wire_type, offset = self._key(offset, end, path, min_number=0)
            if wire_type == GROUP:
                open_groups.append(inner)
            elif wire_type == END_GROUP:
                if inner != open_groups[-1]:
                    message = f"the group {open_groups[-1]} of {owner} ends as group {inner}"
                    raise _Stop(message, start, path)
                open_groups.pop()
            else:
                offset = self._unknown_field(inner, wire_type, start, offset, end, path, depth)
        return offset

    def _key(self, offset: int, end: int, path: str, min_number: int = 1) -> tuple[int, int, int]:
        """Return a field's number and wire type, and the offset after them.

        `min_number` is the minimum of the number: protobuf allows 0 only in unknown groups.
        """
        owner = path or _WHOLE
        key, after = self._varint(offset, end, _KEY_BYTES, f"the key of a field of {owner}", path)
        number, wire_type = key >> 3, key & 7
        if number < min_number or key >= 1 << 32:
            raise _Stop(f"{owner} has a field with the invalid number {number}", offset, path)
        if wire_type > FIXED32:
            message = f"field {number} of {owner} has the invalid wire type {wire_type}"
            raise _Stop(message, offset, path)
        return number, wire_type, after

    def _varint(
        self, offset: int, end: int, max_bytes: int, named: str, path: str
    ) -> tuple[int, int]:
        """Return a varint of at most `max_bytes` bytes, and the offset after it."""
        value = 0
        for index in range(max_bytes):
            if offset + index >= end:
                self._cut(named, offset, end, path)
            byte = self._data[offset + index]
            value |= (byte & 127) << 7 * index
            if byte < 128:
                return value, offset + index + 1
        raise _Stop(f"{named} is a varint of more than {max_bytes} bytes", offset, path)

    def _scalar(
        self, wire_type: int, named: str, begin: int, offset: int, end: int, path: str
    ) -> int:
        if wire_type == VARINT:
            return self._varint(offset, end, _VALUE_BYTES, named, path)[1]
        after = offset + (8 if wire_type == FIXED64 else 4)
        if after > end:
            self._cut(named, begin, end, path)
        return after

    def _check_size(
        self, size: int, begin: int, offset: int, end: int, named: str, path: str
    ) -> None:
        """Raise `_Stop` if a value of `size` bytes is too large or reaches beyond `end`."""
        if size > MAX_MESSAGE_BYTES:
            claim = count_noun(size, "byte")
            message = f"{named} claims {claim}, more than the 2 GiB that protobuf reads"
            raise _Stop(message, begin, path)
        missing = offset + size - end
        if missing <= 0:
            return
        if end == len(self._data):
            cut = f"the data ends {count_noun(missing, 'byte')} too early"
            left = f"{named} has {count_noun(size, 'byte')}, the data only {end - offset:,} of them"
            raise _Stop(f"{cut}: {left}", begin, path, "cut")
        message = f"{named} reaches {count_noun(missing, 'byte')} beyond the end of its message"
        raise _Stop(message, begin, path)

    def _cut(self, named: str, offset: int, end: int, path: str) -> None:
        """Raise `_Stop` for a value that is cut off at `end`."""
        if end == len(self._data):
            raise _Stop(f"the data ends in the middle of {named}", offset, path, "cut")
        raise _Stop(f"{named} is cut off by the end of its message", offset, path)
