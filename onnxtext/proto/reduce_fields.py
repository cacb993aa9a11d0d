# SPDX-License-Identifier: Apache-2.0
"""Fields, strings and names, reduced to what the official syntax can say.

Every function takes the canonical bytes of something and gives those of the nearest thing that
official text can say; what is not the same is noted (reference official-syntax.md, 1.4 and 1.8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from onnxtext.proto.losses import Losses, Place
from onnxtext.proto.schema import FieldSpec, message_spec
from onnxtext.wire.reader import WireField, read_fields, read_varint, signed
from onnxtext.wire.writer import LENGTH, VARINT, delimited, tag

Data = bytes | memoryview
Fields = Mapping[str, list[Data]]

STRINGS = (
    r"NUL and bytes that are not UTF-8 cannot be written in a string: they become \x00 and the like"
)
UNKNOWN = "a field that the schema does not know has no place in the official syntax"
GRAPH_NAME = (
    "the name of a graph in an attribute must be an identifier that is no type and no number: "
    "it gets another one"
)
DOMAIN = "a domain that is not identifiers and dots cannot be quoted: it gets another name"

_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_ODD = re.compile(rb"[^A-Za-z0-9_]+")
_TYPE_WORD = re.compile(
    rb"(?:float|uint8|int8|uint16|int16|int32|int64|string|bool|float16|double|uint32|uint64"
    rb"|complex64|complex128|bfloat16|float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz"
    rb"|float8e8m0|uint4|int4|float4e2m1|uint2|int2|float6e2m3|float6e3m2"
    rb"|seq|map|optional|sparse_tensor|opaque)\Z"
    rb"|(?i:inf|infinity|nan)(?![A-Za-z0-9])"
)
"""What no graph in an attribute can be called: it would be a type, or begin a number."""


def field(number: int, data: Data) -> bytes:
    """An encoded length-delimited field."""
    return delimited(tag(number, LENGTH), bytes(data))


def number(number: int, value: Data) -> bytes:
    """An encoded field whose value is a varint."""
    return tag(number, VARINT) + bytes(value)


def integer(payloads: Sequence[Data], default: int = 0) -> int:
    """The integer that a field holds."""
    return signed(read_varint(payloads[-1], 0, len(payloads[-1]))[0]) if payloads else default


class FieldReducer:
    """Reduces strings and names, and notes the fields that have no place.

    Attributes:
        losses: what is noted.
    """

    def __init__(self) -> None:
        self.losses = Losses()

    # ---- Messages ---------------------------------------------------------------------------

    def fields(self, message: str, data: Data, place: Place, keep: frozenset[str]) -> Fields:
        """The values of those fields of a message that are kept, by name; all others are lost.

        Args:
            message: name of the message type.
            data: its canonical bytes.
            place: where it is.
            keep: the names of the fields that the caller takes care of.
        """
        by_number = message_spec(message).by_number
        found: dict[str, list[Data]] = {}
        lost: dict[str, str] = {}
        for item in read_fields(data, 0, len(data)):
            spec = by_number.get(item.number)
            value = data[item.value : item.end]
            if spec is None or not _is_of(spec, item, value):
                lost[str(item.number)] = UNKNOWN
            elif spec.name in keep:
                found.setdefault(spec.name, []).append(value)
            elif spec.repeated or not is_empty(value, item.wire_type):
                lost[spec.name] = f"`{spec.name}` of {message} has no place in the official syntax"
            else:
                self.losses.silent(message, spec.name)
        for name, why in lost.items():
            self.losses.lost(place.at(name), why)
        return found

    # ---- Strings and names ------------------------------------------------------------------

    def text(self, data: Data, place: Place) -> bytes:
        """A string that is a name or for people."""
        data = bytes(data)
        if is_sayable(data):
            return data
        self.losses.lost(place, STRINGS)
        return data.decode("utf-8", "backslashreplace").replace("\0", r"\x00").encode()

    def stored_text(self, message: str, name: str, found: Fields, place: Place) -> bytes:
        """A string that official text always stores."""
        if name not in found:
            self.losses.silent(message, name)
            return b""
        return self.text(found[name][-1], place.at(name))

    def identifier(self, data: Data, place: Place, what: str) -> bytes:
        """A name that official text cannot quote.

        Args:
            data: the name.
            place: where it is.
            what: what it names.
        """
        data = bytes(data)
        if is_identifier(data):
            return data
        self.losses.lost(
            place, f"the name of {what} that is no identifier cannot be quoted: it gets another one"
        )
        return _made_up(data)

    def dotted(self, data: Data, place: Place) -> bytes:
        """An operator's domain."""
        data = bytes(data)
        if not data or is_dotted(data):
            return data
        self.losses.lost(place, DOMAIN)
        return b".".join([_made_up(part) for part in data.split(b".")])

    def graph_name(self, data: Data | None, place: Place) -> bytes:
        """The name of a graph in an attribute."""
        name = b"" if data is None else bytes(data)
        if is_identifier(name) and not _TYPE_WORD.match(name):
            return name
        self.losses.lost(place, GRAPH_NAME)
        return b"graph_" + _ODD.sub(b"_", name) if name else b"graph"

    def entries(self, payloads: Sequence[Data], place: Place) -> list[bytes]:
        """A list of `StringStringEntryProto`."""
        made = []
        for index, data in enumerate(payloads):
            here = place._replace(key=index)
            message = "StringStringEntryProto"
            found = self.fields(message, data, here, frozenset(("key", "value")))
            key = self.stored_text(message, "key", found, here)
            value = self.stored_text(message, "value", found, here)
            made.append(field(1, key) + field(2, value))
        return made


def is_empty(value: Data, wire_type: int) -> bool:
    """Whether a value is that of a field which is not stored."""
    return not len(value) if wire_type == LENGTH else not any(value)


def is_sayable(data: bytes) -> bool:
    """Whether a string can be written in quotes."""
    if 0 in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_identifier(data: bytes) -> bool:
    """Whether a name can be written without quotes."""
    return _IDENTIFIER.fullmatch(data) is not None


def is_dotted(data: bytes) -> bool:
    """Whether a name is one identifier or several with dots between them."""
    return all(is_identifier(part) for part in data.split(b"."))


def _made_up(name: bytes) -> bytes:
    """An identifier that looks like a name."""
    made = _ODD.sub(b"_", name)
    return made if made and not made[:1].isdigit() else b"_" + made


def _is_of(spec: FieldSpec, item: WireField, value: Data) -> bool:
    """Whether a canonical field is the schema's, and not one that only has its number."""
    if item.wire_type != (LENGTH if spec.packed else spec.wire_type):
        return False
    if spec.kind != "enum":
        return True
    known = integer((value,))
    return any(known == value for _, value in spec.enum)
