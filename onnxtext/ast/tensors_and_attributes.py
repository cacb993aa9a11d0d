# SPDX-License-Identifier: Apache-2.0
"""Data classes of attributes and tensors: immutable and shared."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Union

from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.types import TensorType, Type
from onnxtext.quick_dataclass import dataclass
from onnxtext.tensor.repeated_bytes import Repetition

if TYPE_CHECKING:
    from onnxtext.ast.model import Graph


class AttributeType(IntEnum):
    """`AttributeProto.AttributeType`; texts write the names in lower case."""

    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    TENSORS = 9
    GRAPHS = 10
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13
    TYPE_PROTOS = 14


GRAPH_TYPES = (AttributeType.GRAPH, AttributeType.GRAPHS)
ITEM_TYPES = {
    kind: AttributeType[kind.name.removesuffix("S")]
    for kind in AttributeType
    if kind.name.endswith("S")
}
"""For each attribute type whose values are lists, the type of their items: `INTS` → `INT`."""


@dataclass(frozen=True, slots=True)
class Float32:
    """A float32, stored as its bits, so that -0.0 and NaNs compare exactly.

    Attributes:
        bits: the IEEE 754 pattern, 0 <= bits < 2**32.
    """

    bits: int

    @classmethod
    def of(cls, value: float) -> Float32:
        """Return the float32 nearest to a Python float, which must not overflow."""
        return cls(int.from_bytes(struct.pack("<f", value), "little"))

    def __float__(self) -> float:
        value: float = struct.unpack("<f", self.bits.to_bytes(4, "little"))[0]
        return value


@dataclass(frozen=True, slots=True)
class Floats:
    """A list of float32 as little-endian bytes, four per element."""

    data: bytes

    def __len__(self) -> int:
        return len(self.data) // 4


@dataclass(frozen=True, slots=True)
class RawData:
    """Data in the field `raw_data`: little-endian elements, packed if narrower than a byte."""

    data: bytes | memoryview

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawData) and self.data == other.data

    def __hash__(self) -> int:
        return hash(bytes(self.data[:64])) ^ len(self.data)


class SplatData(RawData):
    """`raw_data` of a splat, a literal that repeats its last element: `[0, ...]`.

    Attributes:
        repetition: the bytes of the tensor, with the repeated part stored once.
    """

    __slots__ = ("repetition",)
    repetition: Repetition

    def __init__(self, repetition: Repetition) -> None:
        object.__setattr__(self, "repetition", repetition)

    @property
    def data(self) -> bytes:
        """All bytes of the tensor; they are computed again at each access."""
        return self.repetition.expand()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SplatData) and self.repetition == other.repetition:
            return True
        return isinstance(other, RawData) and self.repetition.equals(other.data)

    def __hash__(self) -> int:
        head = b"".join([self.repetition.start[:64], self.repetition.unit * 64])
        return hash(head[:64]) ^ len(self.repetition)

    def __repr__(self) -> str:
        return f"SplatData({self.repetition!r})"

    def __reduce__(self) -> tuple[type[SplatData], tuple[Repetition]]:
        return SplatData, (self.repetition,)


@dataclass(frozen=True, slots=True)
class TypedData:
    """Data in the typed field of the element type, such as `float_data` for floats: `{1, 2}`.

    Attributes:
        entries: the field's entries as a little-endian array. The width of an entry depends on the
            field: 4 bytes in `float_data` and `int32_data`, 8 in `double_data`, `int64_data` and
            `uint64_data`.
    """

    entries: bytes


@dataclass(frozen=True, slots=True)
class StringData:
    """Data in the field `string_data`: `{"a", "b"}`."""

    values: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ExternalData:
    """Data in another file: `external_data` with `data_location` EXTERNAL.

    A text writes `external("w.bin", 0)`.
    """

    entries: tuple[tuple[str, str], ...]

    def arguments(self) -> tuple[str, ...] | None:
        """Return the arguments of `external(…)`: the values of the entries, without the keys.

        Return None if `external(…)` cannot express the entries. It can express the keys `location`,
        `offset` and `length`, in this order, if the numbers are decimal, without a sign or leading
        zeros. `length`, or `offset` and `length`, may be missing.
        """
        keys = tuple([key for key, _ in self.entries])
        values = tuple([value for _, value in self.entries])
        if not keys or keys != EXTERNAL_KEYS[: len(keys)]:
            return None
        return values if all(map(is_external_number, values[1:])) else None


EXTERNAL_KEYS = ("location", "offset", "length")
"""The keys of the arguments of `external(…)`, in order."""


def is_external_number(text: str) -> bool:
    """Whether `external(…)` can express a number: it is decimal, without sign or leading zeros."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


@dataclass(frozen=True, slots=True)
class NoData:
    """The data of a tensor that has no data: `float[2] w =`."""


@dataclass(frozen=True, slots=True)
class FieldData:
    """Tensor data in fields that do not fit its type: `raw_data(b"…") float_data{1}`.

    Attributes:
        fields: (name, content) of each field: bytes as in `RawData` or `TypedData`, or strings.
    """

    fields: tuple[tuple[str, bytes | tuple[bytes, ...]], ...]


@dataclass(frozen=True, slots=True)
class Blob:
    """A reference to bytes that are stored elsewhere: `blob"9f2c…"`.

    In a tensor, the bytes are its `raw_data`. In an attribute, the bytes are a string, or the
    little-endian elements of a list of floats or ints.

    Attributes:
        digest: the first 16 or more hexadecimal digits of the SHA-256 of the bytes.
    """

    digest: str


@dataclass(frozen=True, slots=True)
class TypedBlob:
    """A reference to a list that is stored elsewhere, as a blob: `{blob"9f2c…"}`.

    In a tensor, the list is the content of a typed field, such as `float_data`; in an attribute, it
    is a list of floats, ints or strings. The blob contains the values one after the other: floats
    as in `raw_data`, integers as varints, each string as its length and its bytes.

    Attributes:
        digest: the first 16 or more hexadecimal digits of the SHA-256 of the bytes.
    """

    digest: str


@dataclass(frozen=True, slots=True)
class RepeatedList:
    """A list in an attribute whose last item is repeated: `a: ints[64] = [0, ...]`.

    Attributes:
        items: the items before `...`.
        count: the length of the whole list; must be at least the length of `items`.
    """

    items: tuple[int, ...] | tuple[Float32, ...] | tuple[bytes, ...]
    count: int


@dataclass(frozen=True, slots=True)
class DataFile:
    """A reference to an array in a data file: `file"weights.npy"`, `file"w.safetensors#q"`.

    Attributes:
        path: the path relative to the directory of the text, with `/` between its parts.
        entry: the name of the array if the file has several arrays; None if it has only one.
    """

    path: str
    entry: str | None = None


TensorData = (
    Blob
    | TypedBlob
    | DataFile
    | RawData
    | TypedData
    | StringData
    | ExternalData
    | NoData
    | FieldData
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A `TensorProto` in an attribute: `float[2] t = {1, 2}`.

    Attributes:
        type: the element type and the dimensions; every dimension is an int.
        data: the elements and how they are stored.
        name: the name of the tensor; None if the text omits it.
    """

    type: TensorType
    data: TensorData
    name: str | None = None
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class SparseTensor:
    """A `SparseTensorProto`: `sparse_tensor(float[4]) sparse(float[1] [7], int64[1] [2])`.

    Attributes:
        dims: the shape of the sparse tensor.
        values: the stored elements, which have the element type of the sparse tensor.
        indices: the positions of the stored elements.
    """

    dims: tuple[int, ...]
    values: Tensor
    indices: Tensor
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an attribute parameter of the enclosing function: `@alpha`."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An `AttributeProto`: `axis = 1`.

    Attributes:
        type: the type; None if no type is stored (a reference without a type), or if `value` is a
            record.
        value: the value, whose class depends on `type`. None if only the type is stored (`a: int`).
            A `Record` has all fields except the name; it is used for attributes that no other
            syntax can express.
    """

    name: str
    type: AttributeType | None
    value: AttributeValue | None
    decorators: tuple[Decorator, ...] = ()

    def read(self) -> AttributeValue | None:
        """Return the value; if only the type is stored, return the type's default (0 for int).

        Return None for a type without a default in `_DEFAULTS`, such as a tensor.
        """
        return _DEFAULTS.get(self.type) if self.value is None else self.value


_DEFAULTS: dict[AttributeType | None, AttributeValue] = {
    AttributeType.INT: 0,
    AttributeType.FLOAT: Float32(0),
    AttributeType.STRING: b"",
    AttributeType.FLOATS: Floats(b""),
    AttributeType.INTS: (),
    AttributeType.STRINGS: (),
}
"""The protobuf defaults of the value fields of `AttributeProto` (onnx.proto, proto2)."""


def attribute_value(attributes: Iterable[Attribute], name: str) -> AttributeValue | None:
    """Return `Attribute.read()` of the first attribute with this name; None if there is none."""
    return next((item.read() for item in attributes if item.name == name), None)


PLAIN_VALUES = frozenset((int, bytes, Float32, Floats))
"""The Python classes of attribute values that are numbers, strings or lists of floats."""

AttributeValue = Union[
    int, Float32, bytes, Blob, TypedBlob, RepeatedList, Tensor, SparseTensor, "Graph", Type,
    Reference, Record, Floats, "tuple[int, ...]", "tuple[bytes | Blob, ...]", "tuple[Tensor, ...]",
    "tuple[SparseTensor, ...]", "tuple[Graph, ...]", "tuple[Type, ...]",
]  # fmt: skip
