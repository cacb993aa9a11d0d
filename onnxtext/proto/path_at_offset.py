# SPDX-License-Identifier: Apache-2.0
"""Convert a byte offset in a model to a path like `graph.node[12].attribute["axis"].t`."""

from __future__ import annotations

import json
from collections import Counter

from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.reader import MAX_MESSAGE_DEPTH, WireError, read_fields
from onnxtext.wire.writer import LENGTH

Data = bytes | memoryview

_NAMES = {
    "AttributeProto": 1,
    "ValueInfoProto": 1,
    "TensorProto": 8,
    "FunctionProto": 1,
    "StringStringEntryProto": 1,
}
"""For each message type that paths identify by name, the number of its name field."""
_MAX_NAME_LENGTH = 60
"""Maximum length of a name in a path; longer names are shortened."""


def step(path: str, field: FieldSpec, data: Data, start: int, end: int, index: int) -> str:
    """Extend the path of a message by one of its fields: `graph` → `graph.node[12]`.

    Args:
        path: the path of the message.
        field: the field.
        data: the bytes that contain the message; may be corrupt.
        start: the byte offset of the value of the field in `data`.
        end: the offset after the value; in truncated data, it may be beyond the end.
        index: the 0-based index of the value in a list; ignored for packed lists, single values,
            and items with a name, which appears in the path instead.
    """
    path = f"{path}.{field.name}" if path else field.name
    if not field.repeated or field.packed:
        return path
    if not field.message:
        return f"{path}[{index}]"
    number = _NAMES.get(field.message)
    name = "" if number is None else _name(data, start, min(end, len(data)), number)
    return f"{path}[{quote_name(name)}]" if name.isprintable() and name else f"{path}[{index}]"


def path_at(data: Data, offset: int) -> str:
    """Return the path of the innermost known field at a byte offset; "" if no field is known.

    The data may be corrupt.
    """
    spec = message_spec("ModelProto")
    path = ""
    start, end = 0, len(data)
    for _ in range(MAX_MESSAGE_DEPTH):
        found = _field_at(spec, data, start, end, offset, path)
        if found is None:
            break
        field, start, end, path = found
        if not field.message or offset < start:
            break
        spec = message_spec(field.message)
    return path


def _field_at(
    spec: MessageSpec, data: Data, start: int, end: int, offset: int, path: str
) -> tuple[FieldSpec, int, int, str] | None:
    """Return (spec, value start, value end, path) of the known field at an offset; else None."""
    seen: Counter[int] = Counter()
    try:
        for item in read_fields(data, start, end):
            field = spec.by_number.get(item.number)
            if item.start <= offset < item.end:
                if field is None or item.wire_type not in (field.wire_type, LENGTH):
                    return None
                field_path = step(path, field, data, item.value, item.end, seen[item.number])
                return field, item.value, item.end, field_path
            seen[item.number] += 1
    except WireError:
        pass
    return None


def _name(data: Data, start: int, end: int, number: int) -> str:
    try:
        for item in read_fields(data, start, end):
            if item.number == number and item.wire_type == LENGTH:
                return bytes(data[item.value : item.end]).decode("utf-8")
    except (WireError, UnicodeDecodeError):
        pass
    return ""


def quote_name(name: str) -> str:
    """Return a name as it appears in a path: shortened, and in double quotes."""
    short = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
    return json.dumps(short, ensure_ascii=False)
