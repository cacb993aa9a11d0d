# SPDX-License-Identifier: Apache-2.0
"""Reduce fields, strings and names to the official syntax.

The methods take canonical bytes and return the closest equivalent that the official syntax can
express; differences are recorded as losses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from onnxtext.ast.byte_strings import is_utf8
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.official.losses import ItemPath, Losses
from onnxtext.proto.unknown_fields import is_known
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.wire.reader import read_fields, read_varint, to_int64
from onnxtext.wire.writer import LENGTH, VARINT, delimited, tag

Data = bytes | memoryview
Fields = Mapping[str, list[Data]]

STRINGS = r"a string cannot contain NUL or invalid UTF-8: these bytes become escapes such as \x00"
UNKNOWN = "a field that the schema does not know is not part of the official syntax"
GRAPH_NAME = (
    "the name of a graph in an attribute must be an identifier, but not a type or number: "
    "it is renamed"
)
DOMAIN = "a domain must consist of identifiers and dots: it is renamed"

_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_ODD = re.compile(rb"[^A-Za-z0-9_]+")
_TYPES = "|".join((*ELEMENTS, "seq", "map", "optional", "sparse_tensor", "opaque"))
_TYPE_WORD = re.compile(rf"(?:{_TYPES})\Z|(?i:inf|infinity|nan)(?![A-Za-z0-9])".encode())
"""Matches names that a graph in an attribute cannot have: types, and names such as `inf_1`."""


def field(number: int, data: Data) -> bytes:
    """Encode a length-delimited field."""
    return delimited(tag(number, LENGTH), bytes(data))


def varint_field(number: int, value: Data) -> bytes:
    """Encode a varint field; `value` is the encoded varint."""
    return tag(number, VARINT) + bytes(value)


def integer(payloads: Sequence[Data], default: int = 0) -> int:
    """Decode the last varint of a field; return `default` for an absent field."""
    return to_int64(read_varint(payloads[-1], 0, len(payloads[-1]))[0]) if payloads else default


class FieldReducer:
    """Reduces strings and names to the official syntax, and records the fields that are lost.

    Attributes:
        losses: the losses so far.
    """

    def __init__(self) -> None:
        self.losses = Losses()

    def fields(self, message: str, data: Data, path: ItemPath, keep: frozenset[str]) -> Fields:
        """Return the values of the fields in `keep`, by name; record the loss of other fields.

        Args:
            message: the name of the message type.
            data: the canonical bytes of the message.
            path: the path of the message in the model, to report losses.
            keep: the names of the fields that the caller handles.
        """
        by_number = message_spec(message).by_number
        result: dict[str, list[Data]] = {}
        lost: dict[str, str] = {}
        for item in read_fields(data, 0, len(data)):
            spec = by_number.get(item.number)
            value = data[item.value : item.end]
            if spec is None or not is_known(spec, data, item):
                lost[str(item.number)] = UNKNOWN
            elif spec.name in keep:
                result.setdefault(spec.name, []).append(value)
            elif spec.repeated or not is_empty(value, item.wire_type):
                lost[spec.name] = f"`{spec.name}` of {message} is not part of the official syntax"
            else:
                self.losses.presence_changed(message, spec.name)
        for name, why in lost.items():
            self.losses.lost(path.at(name), why)
        return result

    def text(self, data: Data, path: ItemPath) -> bytes:
        """Reduce a string: escape NUL and invalid UTF-8."""
        data = bytes(data)
        if is_writable(data):
            return data
        self.losses.lost(path, STRINGS)
        return data.decode("utf-8", "backslashreplace").replace("\0", r"\x00").encode()

    def stored_text(self, message: str, name: str, fields: Fields, path: ItemPath) -> bytes:
        """Reduce a string field of a message; return b"" if the message does not have the field.

        If the field is missing, record that its presence changes, because `onnx.parser` always
        stores it.
        """
        if name not in fields:
            self.losses.presence_changed(message, name)
            return b""
        return self.text(fields[name][-1], path.at(name))

    def identifier(self, data: Data, path: ItemPath, kind: str) -> bytes:
        """Reduce a name to an identifier, because the syntax allows no quotes for it.

        Args:
            data: the name.
            path: the path of the name in the model, to report losses.
            kind: the kind of the named item, for the loss's message, such as "an operator".
        """
        data = bytes(data)
        if is_identifier(data):
            return data
        self.losses.lost(path, f"the name of {kind} must be an identifier: it is renamed")
        return _as_identifier(data)

    def dotted(self, data: Data, path: ItemPath) -> bytes:
        """Reduce an operator's domain to identifiers that are separated by dots."""
        data = bytes(data)
        if not data or is_dotted(data):
            return data
        self.losses.lost(path, DOMAIN)
        return b".".join([_as_identifier(part) for part in data.split(b".")])

    def graph_name(self, data: Data | None, path: ItemPath) -> bytes:
        """Reduce the name of an attribute's graph to an identifier that is not a type or number."""
        name = b"" if data is None else bytes(data)
        if is_identifier(name) and not _TYPE_WORD.match(name):
            return name
        self.losses.lost(path, GRAPH_NAME)
        return b"graph_" + _ODD.sub(b"_", name) if name else b"graph"

    def entries(self, payloads: Sequence[Data], path: ItemPath) -> list[bytes]:
        """Escape the strings of each `StringStringEntryProto` of a list; return the messages."""
        result = []
        for index, data in enumerate(payloads):
            entry_path = path._replace(key=index)
            message = "StringStringEntryProto"
            fields = self.fields(message, data, entry_path, frozenset(("key", "value")))
            key = self.stored_text(message, "key", fields, entry_path)
            value = self.stored_text(message, "value", fields, entry_path)
            result.append(field(1, key) + field(2, value))
        return result


def is_empty(value: Data, wire_type: int) -> bool:
    """Whether an encoded value is empty or zero, the default of its field."""
    return not len(value) if wire_type == LENGTH else not any(value)


def is_writable(data: bytes) -> bool:
    """Whether a string can be written in quotes."""
    return 0 not in data and is_utf8(data)


def is_identifier(data: bytes) -> bool:
    """Whether a name can be written without quotes."""
    return _IDENTIFIER.fullmatch(data) is not None


def is_dotted(data: bytes) -> bool:
    """Whether a name is one identifier, or several identifiers that are separated by dots."""
    return all(is_identifier(part) for part in data.split(b"."))


def _as_identifier(name: bytes) -> bytes:
    """Return an identifier that is similar to a name."""
    identifier = _ODD.sub(b"_", name)
    return identifier if identifier and not identifier[:1].isdigit() else b"_" + identifier
