# SPDX-License-Identifier: Apache-2.0
"""What nearly all value infos and initializers look like, read at a glance.

Each function gives None for anything else, and the general way is taken. Whether nothing was
overlooked is proven for the whole model afterwards, as always (`lift`).
"""

from __future__ import annotations

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import Attribute, AttributeType, Float32, RawData
from onnxtext.proto.lift_values import Data, lift_tensor
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.wire.reader import WireError, read_varint

SMALL = 4096
"""Messages of more bytes are not copied to be read."""


def quick_value_info(data: Data, types: dict[bytes, ValueInfo]) -> ValueInfo | None:
    """A `ValueInfoProto` of a short name and a type that was met before.

    Args:
        data: its bytes.
        types: encoded types to values that have them.
    """
    end = len(data)
    if end > SMALL:
        return None
    data = bytes(data)
    if end < 4 or data[0] != 0x0A or data[1] > 127:
        return None
    at = data[1] + 2
    if at + 2 > end or data[at] != 0x12 or data[at + 1] != end - at - 2 or data[at + 1] > 127:
        return None
    known = types.get(data[at + 2 :])
    if known is None or known.decorators:
        return None
    return ValueInfo(data[2:at].decode("utf-8", "surrogateescape"), known.type)


def quick_attribute(data: bytes) -> Attribute | None:
    """An `AttributeProto` of a short name, one number, and the type of that.

    Args:
        data: its bytes.
    """
    if len(data) < 6 or data[0] != 0x0A or data[1] > 127:
        return None
    at = data[1] + 2
    kind = data[at : at + 1]
    if kind == b"\x15" and data[at + 5 :] == b"\xa0\x01\x01":
        number = int.from_bytes(data[at + 1 : at + 5], "little")
        return Attribute(str(data[2:at], "utf-8", "surrogateescape"), _FLOAT, Float32(number))
    if kind == b"\x18" and data[at + 2 :] == b"\xa0\x01\x02" and data[at + 1] < 128:
        return Attribute(str(data[2:at], "utf-8", "surrogateescape"), _INT, data[at + 1])
    return None


_FLOAT, _INT = AttributeType.FLOAT, AttributeType.INT


class QuickTensors:
    """Initializers: dims and an element type, a name, raw data that fits them, and no more."""

    def __init__(self) -> None:
        self._heads: dict[bytes, tuple[TensorType, int] | None] = {}

    def initializer(self, data: Data) -> ValueInfo | None:
        """A `TensorProto` in a graph's list."""
        end = len(data)
        at = 0
        while at + 1 < end and data[at] == 0x08:
            at += 2
            while at < end and data[at - 1] > 127:
                at += 1
        if at + 4 > end or data[at] != 0x10 or data[at + 1] > 127 or data[at + 2] != 0x42:
            return None
        at += 2
        head = self._head(bytes(data[:at]))
        if head is None or data[at + 1] > 127:
            return None
        start = at + 2
        at = start + data[at + 1]
        if at + 2 > end or data[at] != 0x4A:
            return None
        name = str(data[start:at], "utf-8", "surrogateescape")
        try:
            size, at = read_varint(data, at + 1, end)
        except WireError:
            return None
        type, wanted = head
        if size != wanted or at + size != end:
            return None
        raw = data[at:]
        return ValueInfo(name, type, RawData(bytes(raw) if size <= SMALL else raw))

    def _head(self, head: bytes) -> tuple[TensorType, int] | None:
        """The type that dims and an element type make, and the bytes that its raw data takes.

        None for types not all of whose bytes are elements.
        """
        if head not in self._heads:
            type = lift_tensor(head)[0]
            element = ELEMENTS.get(type.element)
            dims = [dim for dim in type.shape or () if isinstance(dim, int)]
            known = None
            if element is not None and element.bits >= 8 and element.kind != "bool":
                count = 1
                for dim in dims:
                    count *= dim
                if count > 0 and all(dim > 0 for dim in dims):
                    known = (type, count * element.bits // 8)
            self._heads[head] = known
        return self._heads[head]
