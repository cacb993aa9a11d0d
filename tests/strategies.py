# SPDX-License-Identifier: Apache-2.0
"""Generate encoded ONNX messages with hypothesis, from the descriptors of the installed onnx.

New fields of a new onnx are covered automatically. Messages are encoded directly, so that they can
contain what the Python API rejects: invalid UTF-8, signalling NaNs, unknown values of closed enums,
unknown fields of every wire type.

Strategies are made once, not for each draw: hypothesis validates each new one, which takes longer
than drawing from it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st

from onnxtext.proto.descriptors import FieldSpec, MessageSpec, message_spec
from onnxtext.wire.writer import END_GROUP, GROUP, LENGTH, VARINT, delimited, tag, varint

Draw = Callable[[st.SearchStrategy[object]], object]

_FLOATS = [0, 1, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345]
_DOUBLES = [0, 1, 1 << 63, 0x3FF0000000000000, 0x7FF0000000000001, 0xFFF8000000000000]
_TEXTS = [
    b"", b"x", b"a/b:0", b"float", b"seq", b"nan", b"1x", b"a b", b'"', b"\\", b"\\n", b"a.b",
    b"\n", b"a\nb", b"  a\n\n b \n", b"\r\n", b"\t", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"#",
    b"@a", b'"""',
    "é".encode(), "\u202e".encode(), "\u00a0".encode(), "\U0001f600".encode(), b"{", b"...", b"=>",
]  # fmt: skip

ints = st.one_of(
    st.integers(-3, 20),
    st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 31, -(1 << 31), (1 << 31) - 1, 127, 128]),
)
texts = st.one_of(
    st.sampled_from(_TEXTS), st.binary(max_size=6), st.text(max_size=4).map(str.encode)
)
counts = st.integers(0, 3)
int32s = st.one_of(st.integers(-3, 30), st.sampled_from([-(1 << 31), (1 << 31) - 1, 255, 65535]))


def with_length(data: bytes) -> bytes:
    """Return the data of a length-delimited field, without its key."""
    return varint(len(data)) + data


def scalar(field: FieldSpec) -> st.SearchStrategy[bytes]:
    """Return a scalar value of a field, without its key."""
    match field.kind:
        case "float":
            return st.sampled_from(_FLOATS).map(lambda bits: struct.pack("<I", bits))
        case "double":
            return st.sampled_from(_DOUBLES).map(lambda bits: struct.pack("<Q", bits))
        case "int64":
            return ints.map(varint)
        case "uint64":
            return st.one_of(st.integers(0, 300), st.just((1 << 64) - 1)).map(varint)
        case "int32":
            return int32s.map(varint)
        case "enum":
            known = [number for _, number in field.enum]
            return st.one_of(st.sampled_from(known), st.just(77)).map(varint)
        case "string" | "bytes":
            return texts.map(with_length)
    raise AssertionError(field)


@st.composite
def any_unknown_field(draw: st.DrawFn, depth: int = 0) -> bytes:
    """Return an unknown field."""
    number = draw(st.sampled_from([100, 999, 5000, 536870911]))
    kind = draw(st.integers(0, 4 if depth < 2 else 3))
    match kind:
        case 0:
            return tag(number, VARINT) + varint(draw(st.integers(0, (1 << 64) - 1)))
        case 1:
            return tag(number, 1) + draw(st.binary(min_size=8, max_size=8))
        case 2:
            return delimited(tag(number, LENGTH), draw(texts))
        case 3:
            return tag(number, 5) + draw(st.binary(min_size=4, max_size=4))
    inside = b"".join(draw(st.lists(any_unknown_field(depth + 1), max_size=2)))
    return tag(number, GROUP) + inside + tag(number, END_GROUP)


def message(
    spec: MessageSpec, depth: int = 0, unknown_fields: bool = True
) -> st.SearchStrategy[bytes]:
    """Return any message of a type: any subset of its fields, maybe with unknown ones."""
    return _message(spec.name, depth, unknown_fields)


@cache
def _message(name: str, depth: int, unknown_fields: bool) -> st.SearchStrategy[bytes]:
    by_number = message_spec(name).by_number
    numbers = [n for n in sorted(by_number) if depth <= 6 or by_number[n].kind != "message"]
    if not numbers:
        return st.just(b"")
    any_numbers = st.lists(st.sampled_from(numbers), unique=True, max_size=5)
    # Choose the essential fields of a model more often than others.
    usual = [number for number in (1, 2, 4, 5, 7, 11, 20) if number in numbers]
    usual_numbers = st.lists(st.sampled_from(usual), max_size=4) if usual else st.just([])
    rarely = st.integers(0, 20).map(lambda number: number == 0)

    @st.composite
    def fields(draw: st.DrawFn) -> bytes:
        chosen = sorted({*draw(any_numbers), *draw(usual_numbers)})
        parts = [draw(_field(by_number[number], depth, unknown_fields)) for number in chosen]
        if unknown_fields and draw(rarely):
            parts.append(draw(any_unknown_field()))
        return b"".join(parts)

    return fields()


@cache
def _field(field: FieldSpec, depth: int, unknown_fields: bool) -> st.SearchStrategy[bytes]:
    """Return a known field: one value, or several of a list."""
    if field.kind == "message":
        value = _message(field.message, depth + 1, unknown_fields).map(with_length)
    else:
        value = scalar(field)
    if not field.repeated:
        return value.map(lambda data: tag(field.number, field.wire_type) + data)

    @st.composite
    def entries(draw: st.DrawFn) -> bytes:
        values = [draw(value) for _ in range(draw(counts))]
        if field.packed:
            return delimited(tag(field.number, LENGTH), b"".join(values)) if values else b""
        return b"".join([tag(field.number, field.wire_type) + data for data in values])

    return entries()


def models(*, unknown_fields: bool = True) -> st.SearchStrategy[bytes]:
    """Return any `ModelProto`."""
    return message(message_spec("ModelProto"), 0, unknown_fields)
