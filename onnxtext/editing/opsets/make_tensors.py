# SPDX-License-Identifier: Apache-2.0
"""Read and create small tensors of numbers."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import isnan

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import (
    Attribute,
    AttributeType,
    Blob,
    Float32,
    Floats,
    RawData,
    Tensor,
    TypedData,
)
from onnxtext.ast.types import TensorType, Type
from onnxtext.tensor.element_count import count_elements

Number = int | float
MAX_NUMBERS = 1 << 12
"""Maximum number of elements of a tensor that `read_numbers` reads."""
_RAW = {
    "int64": "q", "int32": "i", "float": "f", "double": "d", "float16": "e", "bool": "?",
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip
"""The `struct` codes of elements in `raw_data`."""
_TYPED = {
    "int64": "q", "int32": "i", "float": "f", "double": "d", "bool": "i", "int8": "i",
    "uint8": "i", "int16": "i", "uint16": "i", "uint32": "Q", "uint64": "Q",
}  # fmt: skip
"""The `struct` codes of entries in typed fields such as `int32_data`."""


def read_numbers(
    type: Type | None, data: object, resources: Mapping[str, bytes | memoryview]
) -> tuple[Number, ...] | None:
    """Return the elements of a tensor; None if it is large, or cannot be read as numbers."""
    if not isinstance(type, TensorType) or type.shape is None:
        return None
    if isinstance(data, Blob):
        blobs = [blob for digest, blob in resources.items() if digest.startswith(data.digest)]
        data = RawData(blobs[0]) if blobs else None
    if isinstance(data, RawData):
        code, blob = _RAW.get(type.element), data.data
    elif isinstance(data, TypedData):
        code, blob = _TYPED.get(type.element), data.entries
    else:
        return None
    dims = [dim for dim in type.shape if isinstance(dim, int)]
    if code is None or len(dims) != len(type.shape) or count_elements(dims) > MAX_NUMBERS:
        return None
    if len(blob) != count_elements(dims) * struct.calcsize(f"<{code}"):
        return None
    return struct.unpack(f"<{count_elements(dims)}{code}", blob)


def make_tensor(element: str, numbers: Sequence[Number], dims: Sequence[int]) -> Tensor | None:
    """Return a tensor of numbers; None if the element type cannot hold them exactly.

    Also return None for an element type that is not in `_RAW`, except `bfloat16`.
    """
    if element == "bfloat16":
        data = struct.pack(f"<{len(numbers)}f", *numbers)
        if any(data[index : index + 2] != b"\0\0" for index in range(0, len(data), 4)):
            return None
        return Tensor(
            TensorType(element, tuple(dims)),
            RawData(b"".join([data[index + 2 : index + 4] for index in range(0, len(data), 4)])),
        )
    code = _RAW.get(element)
    if code is None:
        return None
    try:
        data = struct.pack(f"<{len(numbers)}{code}", *numbers)
    except (struct.error, OverflowError):
        return None
    same = struct.unpack(f"<{len(numbers)}{code}", data)
    if any(not isnan(left) and left != right for left, right in zip(numbers, same, strict=True)):
        return None
    return Tensor(TensorType(element, tuple(dims)), RawData(data))


def make_node(
    op_type: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Mapping[str, object]
) -> Node:
    """Return a node of the standard domain; `make_attribute` converts the values of attributes."""
    converted = tuple([make_attribute(name, value) for name, value in attributes.items()])
    return Node(op_type, tuple(inputs), tuple(outputs), converted)


def pack_floats(values: Sequence[float]) -> Floats:
    """Convert a list of floats to the form that attributes have in the syntax tree."""
    return Floats(struct.pack(f"<{len(values)}f", *values))


def make_attribute(name: str, value: object) -> Attribute:
    """Return an attribute; its type follows from the Python type of its value.

    `Floats` become a list of floats; another sequence becomes a list of integers if all items are
    integers, else a list of strings.
    """
    if isinstance(value, float):
        value = Float32.of(value)
    elif isinstance(value, str):
        value = value.encode()
    kinds: tuple[tuple[type, AttributeType], ...] = (
        (int, AttributeType.INT), (Float32, AttributeType.FLOAT), (bytes, AttributeType.STRING),
        (Floats, AttributeType.FLOATS), (Tensor, AttributeType.TENSOR),
    )  # fmt: skip
    for kind, attribute_type in kinds:
        if isinstance(value, kind):
            return Attribute(name, attribute_type, value)  # type: ignore[arg-type]
    assert isinstance(value, Sequence)
    of_ints = all(isinstance(item, int) for item in value)
    return Attribute(name, AttributeType.INTS if of_ints else AttributeType.STRINGS, tuple(value))
