# SPDX-License-Identifier: Apache-2.0
"""Presence: which fields a file's writer stores even when they are empty (DESIGN 5.5)."""

from __future__ import annotations

from onnxtext.ast.model import Presence
from onnxtext.proto.generic import RecordError
from onnxtext.wire.writer import LENGTH, VARINT, tag

OFFICIAL = ("node.domain", "tensor.name")
"""What the official parser stores (reference, 1.4): the habits of a text without `onnxtext`."""

NODE_HABITS = ("name", "doc_string", "domain", "overload")
"""The habits of nodes, which are by far the most common; lowering has them built in."""


class Habits:
    """The habits of one text.

    Attributes:
        node_name: what is stored for a node without a name: None or "".
        node_doc: the bytes of an empty `doc_string`, or nothing.
        node_domain: the bytes of an empty `domain`, or nothing.
        node_overload: the bytes of an empty `overload`, or nothing.
        tensor_name: what is stored for a tensor without a name: None or "".
        others: message type to the empty fields it gets: number and encoding.
    """

    def __init__(self, presence: Presence) -> None:
        """Make sense of the header's `explicit`.

        Raises:
            RecordError: an item names no field that can be empty.
        """
        names = set(presence.explicit)
        if presence.version is None:
            names.update(OFFICIAL)
        self.node_name = "" if "node.name" in names else None
        self.node_doc = b"\x32\x00" if "node.doc_string" in names else b""
        self.node_domain = b"\x3a\x00" if "node.domain" in names else b""
        self.node_overload = b"\x42\x00" if "node.overload" in names else b""
        self.tensor_name = "" if "tensor.name" in names else None
        self.others: dict[str, list[tuple[int, bytes]]] = {}
        for name in sorted(names - {"tensor.name", *(f"node.{field}" for field in NODE_HABITS)}):
            self._add(name)

    def _add(self, name: str) -> None:
        from onnxtext.proto.schema import message_names, message_spec

        short, _, field_name = name.partition(".")
        message = message_names().get(short)
        field = message_spec(message).by_name.get(field_name) if message else None
        if message is None or field is None or field.repeated or field.wire_type not in (
            VARINT,
            LENGTH,
        ):  # fmt: skip
            raise RecordError(f"`{name}` in `explicit` names no field that can be stored empty")
        empty = tag(field.number, field.wire_type) + b"\x00"
        self.others.setdefault(message, []).append((field.number, empty))
