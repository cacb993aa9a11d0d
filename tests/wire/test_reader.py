# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.wire.reader import WireError, read_fields, read_group, read_varint, to_int64
from onnxtext.wire.writer import (
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    VARINT,
    delimited,
    delimited_pieces,
    tag,
    varint,
)
from tests.running import limited

numbers = st.one_of(
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([(1 << n) - k for n in range(65) for k in (0, 1)]),
).map(lambda value: min(value, (1 << 64) - 1))


@given(numbers)
def test_varints_are_read_with_padding(value: int) -> None:
    data = varint(value)
    assert len(data) == max(1, -(-value.bit_length() // 7))
    assert read_varint(data, 0, len(data)) == (value, len(data))
    padded = data[:-1] + bytes([data[-1] | 128, 0])
    if len(padded) <= 10:
        assert read_varint(padded, 0, len(padded)) == (value, len(padded))
    with pytest.raises(WireError):
        read_varint(data, 0, len(data) - 1)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_negative_numbers_take_ten_bytes(value: int) -> None:
    data = varint(value)
    assert to_int64(read_varint(data, 0, len(data))[0]) == value
    assert (len(data) == 10) == (value < 0)


def test_varints_wrap_as_in_protobuf() -> None:
    assert read_varint(b"\xff" * 9 + b"\x7f", 0, 10) == ((1 << 64) - 1, 10)
    with pytest.raises(WireError, match="longer than ten bytes at byte 0x1"):
        read_varint(b"\0" + b"\xff" * 1000, 1, 1001)


@given(st.lists(st.binary(max_size=200), max_size=4))
def test_delimited_fields_are_written_and_read(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    result = delimited(tag(7, LENGTH), data)
    assert b"".join(delimited_pieces(tag(7, LENGTH), pieces)) == result
    (field,) = read_fields(result, 0, len(result))
    assert (field.number, field.wire_type, field.start, field.end) == (7, LENGTH, 0, len(result))
    assert result[field.value :] == data


FIELDS = [
    (1, VARINT, b"\x08", b"\x80\x01"),
    (2, FIXED64, b"\x11", bytes(8)),
    (3, FIXED32, b"\x1d", bytes(4)),
    (4, LENGTH, b"\x22\x03", b"abc"),
    (5, GROUP, b"\x2b", b"\x08\x01\x2c"),
    ((1 << 29) - 1, VARINT, b"\xf8\xff\xff\xff\x0f", b"\x00"),
    (6, VARINT, b"\xb0\x80\x00", b"\x07"),  # a padded key
    (7, LENGTH, b"\x3a\x81\x80\x00", b"x"),  # a padded length
]


def test_fields_have_offsets() -> None:
    data = b"\xff" + b"".join([head + value for _, _, head, value in FIELDS]) + b"\xff"
    at = 1
    fields = list(read_fields(memoryview(data), 1, len(data) - 1))
    for field, (number, wire_type, head, value) in zip(fields, FIELDS, strict=True):
        behind = at + len(head) + len(value)
        assert tuple(field) == (number, wire_type, at, at + len(head), behind)
        at = behind


def nested(depth: int) -> bytes:
    return tag(5, GROUP) * depth + tag(5, END_GROUP) * depth


def test_groups_are_read() -> None:
    assert len(list(read_fields(nested(100), 0, 200))) == 1
    inner = b"\x00\x07" + b"\x0d" + bytes(4) + b"\x09" + bytes(8) + b"\x12\x01x" + b"\x1b\x1c"
    data = b"\x2b" + inner + b"\xac\x80\x00"  # the end key is padded
    (group,) = read_fields(data, 0, len(data))
    fields = list(read_group(data, group))
    assert [field.number for field in fields] == [0, 1, 1, 2, 3]
    assert b"".join([data[field.start : field.end] for field in fields]) == inner


@pytest.mark.parametrize(
    ("data", "offset", "what"),
    [
        (b"\x08", 1, "ends inside a varint"),
        (b"\x08\x80", 1, "ends inside a varint"),
        (b"\x88", 0, "ends inside a varint"),
        (b"\x12\x05abcd", 0, "beyond the end"),
        (b"\x12\x80\x80\x80\x80\x04x", 0, "beyond the end"),
        (b"\x09" + bytes(7), 0, "beyond the end"),
        (b"\x0d" + bytes(3), 0, "beyond the end"),
        (b"\x00\x01", 0, "field number .* is invalid"),
        (b"\x80\x80\x80\x80\x10\x01", 0, "field number .* is invalid"),
        (b"\x0e", 0, "the wire type . is invalid"),
        (b"\x0f", 0, "the wire type . is invalid"),
        (b"\x0c", 0, "the wire type . is invalid"),
        (b"\x0b\x0f", 1, "the wire type . is invalid"),
        (b"\x0b\x08\x01", 1, "never closed"),
        (b"\x0b\x14", 1, "end tag of another group"),
        (b"\x0b\x12\x7f\x0c", 1, "never closed"),
        (nested(101), 100, "levels deep"),
        (b"\x2b" * 100_000, 100, "levels deep"),
    ],
)
def test_invalid_messages_are_located_errors(data: bytes, offset: int, what: str) -> None:
    good = b"\x08\x01"
    with limited(1):
        with pytest.raises(WireError, match=what) as caught:
            list(read_fields(good + data, 0, len(good + data)))
        assert caught.value.offset == len(good) + offset


@given(st.binary(max_size=60))
def test_any_bytes_are_fields_or_an_error(data: bytes) -> None:
    fields = []
    behind = len(data)
    try:
        for field in read_fields(data, 0, len(data)):
            fields.append(field)
    except WireError as error:
        behind = fields[-1].end if fields else 0
        offset = error.offset
    else:
        offset = behind
    assert behind <= offset <= len(data)
    assert b"".join([data[field.start : field.end] for field in fields]) == data[:behind]
