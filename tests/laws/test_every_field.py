# SPDX-License-Identifier: Apache-2.0
"""L5: every field of every message of the installed onnx can be written as text.

The fields come from the descriptors, so new fields of an onnx release are tested automatically.
"""

from __future__ import annotations

from collections import deque

import onnx
import pytest

import onnxtext
from onnxtext.proto.descriptors import (
    NEWER_FIELDS,
    FieldSpec,
    installed_fields,
    message_spec,
    newer_field,
    spelled_messages,
)
from onnxtext.wire.writer import LENGTH, delimited, tag, varint


def paths() -> dict[str, tuple[FieldSpec, ...]]:
    """Return the shortest path from a model to each message type."""
    found: dict[str, tuple[FieldSpec, ...]] = {"ModelProto": ()}
    queue = deque(["ModelProto"])
    while queue:
        name = queue.popleft()
        for field in message_spec(name).by_number.values():
            if field.kind == "message" and field.message not in found:
                found[field.message] = (*found[name], field)
                queue.append(field.message)
    return found


PATHS = paths()
FIELDS = [
    (message, field.name)
    for message in sorted(PATHS)
    for field in sorted(message_spec(message).by_number.values(), key=lambda field: field.number)
]


def value(field: FieldSpec, *, empty: bool) -> bytes:
    """Return a value of a field without its key: the default or another one."""
    match field.kind:
        case "string" | "bytes" | "message":
            data = b"" if empty or field.kind == "message" else b"x"
            return varint(len(data)) + data
        case "float":
            return bytes(4) if empty else b"\x00\x00\xc0\x3f"
        case "double":
            return bytes(8) if empty else b"\0\0\0\0\0\0\xf8\x3f"
    return varint(0 if empty else 1)


def model_with(message: str, name: str, *, empty: bool) -> bytes:
    """Return a model with one field in one message, and only the messages around it."""
    field = message_spec(message).by_name[name]
    data = value(field, empty=empty)
    if field.packed:
        data = delimited(tag(field.number, LENGTH), data)
    else:
        data = tag(field.number, field.wire_type) + data
    for step in reversed(PATHS[message]):
        data = delimited(tag(step.number, LENGTH), data)
    return data


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@pytest.mark.parametrize(("message", "name"), FIELDS)
def test_each_field_is_written_by_name(message: str, name: str) -> None:
    for empty in (False, True):
        data = model_with(message, name, empty=empty)
        assert onnx.ModelProto.FromString(data).SerializeToString() == data
        text = onnxtext.from_binary(data)
        assert onnxtext.to_binary(text) == data
        # The text contains the field: no byte patch, and no number instead of a name.
        assert "\nencoding {" not in text
        assert f"{message_spec(message).by_name[name].number}: " not in text.replace(
            "onnxtext: 1", ""
        )


def test_every_message_is_reachable() -> None:
    reached = set(PATHS)
    assert {name for name in spelled_messages().values() if name not in reached} == set()
    assert len(FIELDS) > 130


@pytest.mark.parametrize("message", NEWER_FIELDS)
def test_newer_fields_match_the_schema(message: str) -> None:
    known = {spec.name: spec for spec in installed_fields(message)}
    if not known:
        pytest.skip(f"this onnx does not know {message}")
    for field in NEWER_FIELDS[message]:
        if field[0] in known:
            assert newer_field(*field) == known[field[0]]
        else:
            assert message in ("ModelProto", "NodeProto"), "the installed onnx is older"
