# SPDX-License-Identifier: Apache-2.0
"""Draw wire inputs: random messages and real models, encoded in every way that protobuf allows.

Each input has a random set of quirks, such as over-long varints or fields in several pieces. With
all quirks at once, inputs would hide errors that need only two of them.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from onnxtext.proto.convert_records import known_values
from onnxtext.proto.descriptors import FieldSpec, message_spec
from onnxtext.wire.reader import WireError, read_fields, read_varint
from onnxtext.wire.writer import END_GROUP, FIXED32, FIXED64, GROUP, LENGTH, VARINT, varint

QUIRKS = (
    "packing",  # lists packed otherwise than the schema says, or in several pieces
    "split",  # a message in several pieces, which protobuf merges
    "twice",  # a singular field given several times
    "order",  # fields out of order
    "long_key",  # keys in more bytes than they need
    "long_size",  # lengths likewise
    "long_value",  # numbers likewise
    "wide",  # numbers of more bits than the field has
    "unknown_field",  # fields that the schema does not know, groups too
    "wire_type",  # known fields of another wire type
    "enum",  # values that a closed enum does not have
    "empty",  # empty strings, messages and packed lists
    "bytes",  # strings that are not UTF-8
    "nan",  # NaNs with payloads
)

_TEXTS = (
    b"", b"x", b"y", b"w", b"Add", b"If", b"a/b:0", b"float", b"seq", b"nan", b"1x", b"a b", b'"',
    b"\\", b"a.b", b"ai.onnx.ml", b"a\nb", b"  a\n\n b \n", b"\r\n", b"\t", b"\x00", b"#", b"@a",
    b'"""', b"...", b"=>", b"encoding", b"\xc3\xa9", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80",
    b"location", b"w.bin", b"A" * 70, b"0" * 130,
)  # fmt: skip
_BROKEN = (b"\xff\xfe", b"\xed\xa0\x80", b"a\xffb", b"\xc3", b"\x80\x80")
_FLOATS = (0, 1, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x4B000000, 0x00800000)
_FLOAT_NANS = (0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFC12345, 0x7FA00001)
_DOUBLES = (0, 1, 1 << 63, 0x3FF0000000000000, 0x7FF0000000000000)
_DOUBLE_NANS = (0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000000001)
_EDGES = (
    0, 1, 2, 3, 7, 127, 128, 255, 256, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
    1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2, (1 << 64) - (1 << 31),
)  # fmt: skip
_USUAL = {
    "ModelProto": (7, 7, 7, 8, 25, 1),
    "GraphProto": (1, 1, 5, 11, 12, 13, 2),
    "NodeProto": (1, 2, 4, 5, 5),
    "AttributeProto": (1, 20, 20),
    "TensorProto": (1, 2, 2, 5, 9, 4),
    "ValueInfoProto": (1, 2, 2),
    "TypeProto": (1, 1),
    "TypeProto.Tensor": (1, 1, 2),
    "FunctionProto": (1, 7, 4, 5),
}
"""The numbers of fields that are drawn more often, so that inputs resemble models."""


class Inputs:
    """Draws wire inputs.

    Attributes:
        quirks: the quirks of the input that is being drawn.
        rate: the probability of such a quirk where it is possible.
    """

    def __init__(self, rng: random.Random, quirks: Sequence[str] = ()) -> None:
        self.rng = rng
        self.quirks = frozenset(quirks)
        self.rate = 0.1

    def draw(self, models: Sequence[bytes] = ()) -> bytes:
        """Return an input with a random set of quirks.

        Args:
            models: messages to encode in another way; most inputs are random messages instead.
        """
        rng = self.rng
        share = rng.choice((0.0, 0.1, 0.2, 0.5))
        self.quirks = frozenset(quirk for quirk in QUIRKS if rng.random() < share)
        if not self.quirks and rng.random() < 0.9:
            self.quirks = frozenset((rng.choice(QUIRKS),))
        self.rate = rng.choice((0.02, 0.1, 0.4))
        if models and rng.random() < 0.3:
            data = self.again("ModelProto", rng.choice(models))
        else:
            data = self.message("ModelProto")
        return self.damaged(data) if rng.random() < 0.15 else data

    def _has(self, quirk: str) -> bool:
        return quirk in self.quirks and self.rng.random() < self.rate

    # ---- Messages ---------------------------------------------------------------------------

    def message(self, name: str, depth: int = 0) -> bytes:
        """Return a message with random fields."""
        rng, spec = self.rng, message_spec(name)
        numbers = sorted(spec.by_number)
        if depth > 6:
            numbers = [n for n in numbers if spec.by_number[n].kind != "message"]
        chosen = rng.sample(numbers, min(rng.choice((0, 0, 1, 1, 2, 5)), len(numbers)))
        usual = [n for n in _USUAL.get(name, ()) if n in numbers]
        if usual:
            chosen += rng.sample(usual, rng.randint(0, len(usual)))
        parts: list[bytes] = []
        for number in sorted(set(chosen)):
            field = spec.by_number[number]
            count = rng.choice((1, 1, 2, 3)) if field.repeated else 1
            parts += self.field(field, [self._value(field, depth) for _ in range(count)])
        return self.joined(parts)

    def again(self, name: str, data: bytes) -> bytes:
        """Return an existing message with another encoding."""
        spec = message_spec(name)
        values: dict[int, list[bytes]] = {}
        unknown_fields = []
        for item in read_fields(data, 0, len(data)):
            field = spec.by_number.get(item.number)
            if field is None or known_values(field, data, item) is None:
                unknown_fields.append(data[item.start : item.end])
                continue
            payload = data[item.value : item.end]
            if field.kind == "message":
                payload = self.again(field.message, payload)
            found = values.setdefault(item.number, [])
            found += _unpacked(field, payload) if item.wire_type != field.wire_type else [payload]
        parts: list[bytes] = []
        for number in sorted(values):
            parts += self.field(spec.by_number[number], values[number])
        return self.joined([*parts, *unknown_fields])

    def joined(self, parts: list[bytes]) -> bytes:
        """Return a message made of encoded fields."""
        rng = self.rng
        if self._has("order"):
            rng.shuffle(parts)
        while self._has("unknown_field"):
            parts.insert(rng.randint(0, len(parts)), self.unknown_field())
        return b"".join(parts)

    def field(self, field: FieldSpec, values: list[bytes]) -> list[bytes]:
        """Return the wire fields that encode the values of a field."""
        rng = self.rng
        if self._has("wire_type"):
            return [self._of_another_type(field.number)]
        if not field.repeated and self._has("twice"):
            values = [self._value(field, 7) for _ in range(rng.randint(1, 2))] + values
            if rng.random() < 0.5:
                values.reverse()
        packed = field.packed
        if field.repeated and field.wire_type != LENGTH and self._has("packing"):
            if rng.random() < 0.3 and len(values) > 1:  # encode one part packed, the other not
                at = rng.randrange(len(values) + 1)
                return [*self.field(field, values[:at]), *self.field(field, values[at:])]
            packed = not packed
        if packed:
            if not values and not self._has("empty"):
                return []
            return [self.delimited(field.number, b"".join(values))]
        if field.wire_type != LENGTH:
            return [self.key(field.number, field.wire_type) + value for value in values]
        fields: list[bytes] = []
        for value in values:
            for piece in self._pieces(value) if field.kind == "message" else [value]:
                fields.append(self.delimited(field.number, piece))
        return fields

    def _pieces(self, data: bytes) -> list[bytes]:
        if not self._has("split"):
            return [data]
        try:
            ends = [0, *[item.end for item in read_fields(data, 0, len(data))]]
        except WireError:
            return [data]
        at = self.rng.choice(ends)
        return [data[:at], *self._pieces(data[at:])]

    # ---- Values -----------------------------------------------------------------------------

    def _value(self, field: FieldSpec, depth: int) -> bytes:
        """Return a random value of a field, without key and length."""
        rng = self.rng
        match field.kind:
            case "message":
                return b"" if self._has("empty") else self.message(field.message, depth + 1)
            case "string" | "bytes":
                if self._has("empty"):
                    return b""
                if self._has("bytes"):
                    return rng.choice(_BROKEN)
                return (
                    rng.choice(_TEXTS) if rng.random() < 0.9 else rng.randbytes(rng.choice((4, 8)))
                )
            case "float":
                return struct.pack("<I", rng.choice(_FLOAT_NANS if self._has("nan") else _FLOATS))
            case "double":
                return struct.pack("<Q", rng.choice(_DOUBLE_NANS if self._has("nan") else _DOUBLES))
        return self.number(self._number(field))

    def _number(self, field: FieldSpec) -> int:
        rng = self.rng
        if self._has("wide"):
            return rng.choice(_EDGES) if rng.random() < 0.7 else rng.getrandbits(64)
        if field.kind == "enum":
            known = [number for _, number in field.enum]
            return rng.choice((-1, 15, 77, 1 << 31)) if self._has("enum") else rng.choice(known)
        if rng.random() < 0.8:
            return rng.randint(0, 30)
        return rng.choice((-1, -2, -(1 << 31), (1 << 31) - 1, 127, 128, 300))

    def number(self, value: int) -> bytes:
        """Return a varint, perhaps in more bytes than necessary."""
        return self._longer(varint(value), 10) if self._has("long_value") else varint(value)

    def key(self, number: int, wire_type: int) -> bytes:
        """Return the key of a field, perhaps in more bytes than necessary."""
        key = varint(number << 3 | wire_type)
        return self._longer(key, 5) if self._has("long_key") else key

    def delimited(self, number: int, data: bytes) -> bytes:
        """Return a length-delimited field."""
        size = varint(len(data))
        if self._has("long_size"):
            size = self._longer(size, 5)
        return self.key(number, LENGTH) + size + data

    def _longer(self, data: bytes, most: int) -> bytes:
        more = self.rng.randint(1, 10)
        if len(data) + more > most and self.rng.random() < 0.9:
            more = most - len(data)
        if more <= 0:
            return data
        return data[:-1] + bytes((data[-1] | 128,)) + b"\x80" * (more - 1) + b"\x00"

    # ---- Fields that the schema lacks ---------------------------------------------------------

    def unknown_field(self, depth: int = 0) -> bytes:
        """Return an unknown field."""
        rng = self.rng
        number = rng.choice((19, 100, 999, 5000, 18999, 536870911, *([0, 1] if depth else [])))
        return self._of_another_type(number, depth)

    def _of_another_type(self, number: int, depth: int = 0) -> bytes:
        rng = self.rng
        match rng.choice((VARINT, FIXED32, FIXED64, LENGTH, GROUP)):
            case 0:
                return self.key(number, VARINT) + self.number(rng.choice(_EDGES))
            case 5:
                return self.key(number, FIXED32) + rng.randbytes(4)
            case 1:
                return self.key(number, FIXED64) + rng.randbytes(8)
            case 2:
                return self.delimited(number, rng.choice((*_TEXTS, *_BROKEN, b"\x08\x01")))
        inside = b"".join([self.unknown_field(depth + 1) for _ in range(rng.randrange(3))])
        nested = rng.randint(1, 98) if rng.random() < 0.02 else 0
        if nested:
            key = varint(number << 3 | GROUP)
            inside = key * nested + inside + varint(number << 3 | END_GROUP) * nested
        return self.key(number, GROUP) + inside + self.key(number, END_GROUP)

    def damaged(self, data: bytes) -> bytes:
        """Return data with some bytes changed, inserted, removed, doubled or cut off."""
        rng = self.rng
        result = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            at = rng.randint(0, len(result))
            match rng.randrange(6):
                case 0:
                    result[at : at + 1] = rng.randbytes(1)
                case 1:
                    result[at:at] = rng.randbytes(rng.choice((1, 2, 5)))
                case 2:
                    del result[at : at + rng.choice((1, 1, 2, 8))]
                case 3:
                    del result[at:]
                case 4:
                    end = at + rng.randint(1, 20)
                    result[at:at] = result[at:end]
                case 5 if at < len(result):
                    result[at] ^= 1 << rng.randrange(8)
        return bytes(result)


def _unpacked(field: FieldSpec, payload: bytes) -> list[bytes]:
    """Return the values of a packed list."""
    if field.wire_type != VARINT:
        width = 4 if field.wire_type == FIXED32 else 8
        return [payload[index : index + width] for index in range(0, len(payload), width)]
    values = []
    at = 0
    while at < len(payload):
        start = at
        at = read_varint(payload, at, len(payload))[1]
        values.append(payload[start:at])
    return values
