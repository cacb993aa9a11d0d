# SPDX-License-Identifier: Apache-2.0
"""L1 for every field of every message in every encoding that protobuf accepts.

The fields come from the descriptors, as in `test_every_field`. The text is parsed again, so the
printer and the parser must agree on every encoding.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import onnx
import pytest
from google.protobuf.message import DecodeError

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.proto.descriptors import FieldSpec, message_spec
from onnxtext.wire.writer import (
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    VARINT,
    delimited,
    tag,
    varint,
)
from tests.laws.test_every_field import PATHS, value

Path = tuple[FieldSpec, ...]


def places(message: str) -> list[Path]:
    """Return the shortest path from a model to a message, then the paths through other fields."""
    found = [PATHS[message]]
    for parent, path in PATHS.items():
        for field in message_spec(parent).by_number.values():
            if field.message == message and (*path, field) not in found:
                found.append((*path, field))
    return found


def long_varint(data: bytes, size: int) -> bytes:
    """Return a varint that is padded to `size` bytes."""
    return data[:-1] + bytes((data[-1] | 128,)) + b"\x80" * (size - len(data) - 1) + b"\x00"


def variants(message: str, field: FieldSpec) -> Iterator[tuple[str, bytes]]:
    """Yield the encodings of a field: a name and the bytes of the message."""
    key, some, empty = tag(field.number, field.wire_type), value(field, empty=False), value(
        field, empty=True
    )  # fmt: skip
    yield "once", key + some
    yield "empty", key + empty
    yield "twice", key + some + key + empty
    yield "twice, empty first", key + empty + key + some
    yield "long key", long_varint(key, 5) + some
    yield (
        "group first",
        tag(999, GROUP) + tag(1, VARINT) + b"\x05" + tag(999, END_GROUP) + key + some,
    )
    yield "unknown first", tag(1000, LENGTH) + b"\x01x" + key + some
    for other in message_spec(message).by_number.values():
        if other.number < field.number:
            yield (
                "order",
                key + some + tag(other.number, other.wire_type) + value(other, empty=False),
            )
            break
    for wire_type, payload in (
        (VARINT, b"\x01"), (FIXED32, bytes(4)), (FIXED64, bytes(8)), (LENGTH, b"\x02\x08\x01"),
        (GROUP, tag(field.number, END_GROUP)),
    ):  # fmt: skip
        if wire_type != field.wire_type:
            yield f"wire type {wire_type}", tag(field.number, wire_type) + payload
    if field.wire_type == VARINT:
        for number in ((1 << 31), (1 << 32) + 1, (1 << 63) + 2, (1 << 64) - 1, -(1 << 31), 77, 2):
            yield f"wide {number}", key + varint(number)
        yield "negative in five bytes", key + b"\xff\xff\xff\xff\x0f"
        yield "long number", key + long_varint(some, 10)
        yield "number too long", key + long_varint(some, 11)
    if field.wire_type == LENGTH:
        size = varint(len(some) - 1)
        yield "long length", key + long_varint(size, 5) + some[1:]
        yield "no UTF-8", key + b"\x03a\xff\x80"
    if field.kind == "message":
        inner = message_spec(field.message).by_number.values()
        parts = [tag(f.number, f.wire_type) + value(f, empty=False) for f in inner][:3]
        yield "split", b"".join([delimited(key, part) for part in parts])
        yield "split, joined", delimited(key, b"".join(parts)) + key + b"\x00"
    if field.repeated and field.wire_type != LENGTH:
        packed = tag(field.number, LENGTH)
        yield "packed", delimited(packed, some + some)
        yield "unpacked", key + some + key + some
        yield "packed, then unpacked", delimited(packed, some) + key + some
        yield "in two packs", delimited(packed, some) + delimited(packed, some)
        yield "packed and empty", delimited(packed, b"")
        if field.wire_type == VARINT:
            wide = varint((1 << 63) + 5)
            yield "packed and wide", delimited(packed, wide + long_varint(some, 10))
        else:
            yield "packed and cut off", delimited(packed, some[:-1])


def assert_lossless(data: bytes) -> None:
    try:
        onnx.ModelProto.FromString(data)
    except DecodeError:
        with pytest.raises(OnnxTextError) as caught:
            onnxtext.from_binary(data)
        assert caught.value.diagnostics[0].offset is not None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*this looks like")
        assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


def check_message(message: str, path: Path) -> int:
    """Check all variants of all fields of a message at a path; return their number."""
    count = 0
    for field in message_spec(message).by_number.values():
        for name, encoded in variants(message, field):
            data = encoded
            for step in reversed(path):
                data = delimited(tag(step.number, LENGTH), data)
            try:
                assert_lossless(data)
            except Exception as error:
                raise AssertionError(f"{message}.{field.name}, {name}: {data.hex()}") from error
            count += 1
    return count


@pytest.mark.parametrize("message", sorted(PATHS))
def test_every_field_in_every_encoding_round_trips(message: str) -> None:
    assert check_message(message, PATHS[message]) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("message", sorted(PATHS))
def test_every_encoding_at_every_path_round_trips(message: str) -> None:
    for path in places(message)[1:]:
        check_message(message, path)
