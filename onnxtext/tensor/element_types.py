# SPDX-License-Identifier: Apache-2.0
"""The table of ONNX element types: names, numbers, widths and typed fields.

The names come from the official text syntax, the numbers from ``TensorProto.DataType``. A typed
field is the field that the official parser fills for a literal in braces (``onnx/defs/parser.cc``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ElementType(NamedTuple):
    """One element type.

    Attributes:
        name: The name in text, as in ``float[2] x``.
        number: The value of ``TensorProto.DataType``.
        bits: Bits per element in ``raw_data``; 0 for strings, which are never raw.
        kind: "float", "int", "uint", "bool", "complex" or "string".
        field: The name of the typed field of ``TensorProto`` for this type, such as ``int32_data``.
    """

    name: str
    number: int
    bits: int
    kind: str
    field: str

    @property
    def elements_per_entry(self) -> int:
        """The number of elements in one entry of `field`: more than 1 if several share a byte."""
        return 8 // self.bits if 0 < self.bits < 8 and 8 % self.bits == 0 else 1


_TYPES = (
    ElementType("float", 1, 32, "float", "float_data"),
    ElementType("uint8", 2, 8, "uint", "int32_data"),
    ElementType("int8", 3, 8, "int", "int32_data"),
    ElementType("uint16", 4, 16, "uint", "int32_data"),
    ElementType("int16", 5, 16, "int", "int32_data"),
    ElementType("int32", 6, 32, "int", "int32_data"),
    ElementType("int64", 7, 64, "int", "int64_data"),
    ElementType("string", 8, 0, "string", "string_data"),
    ElementType("bool", 9, 8, "bool", "int32_data"),
    ElementType("float16", 10, 16, "float", "int32_data"),
    ElementType("double", 11, 64, "float", "double_data"),
    ElementType("uint32", 12, 32, "uint", "uint64_data"),
    ElementType("uint64", 13, 64, "uint", "uint64_data"),
    ElementType("complex64", 14, 64, "complex", "float_data"),
    ElementType("complex128", 15, 128, "complex", "double_data"),
    ElementType("bfloat16", 16, 16, "float", "int32_data"),
    ElementType("float8e4m3fn", 17, 8, "float", "int32_data"),
    ElementType("float8e4m3fnuz", 18, 8, "float", "int32_data"),
    ElementType("float8e5m2", 19, 8, "float", "int32_data"),
    ElementType("float8e5m2fnuz", 20, 8, "float", "int32_data"),
    ElementType("uint4", 21, 4, "uint", "int32_data"),
    ElementType("int4", 22, 4, "int", "int32_data"),
    ElementType("float4e2m1", 23, 4, "float", "int32_data"),
    ElementType("float8e8m0", 24, 8, "float", "int32_data"),
    ElementType("uint2", 25, 2, "uint", "int32_data"),
    ElementType("int2", 26, 2, "int", "int32_data"),
    ElementType("float6e2m3", 27, 6, "float", "int32_data"),
    ElementType("float6e3m2", 28, 6, "float", "int32_data"),
)

ELEMENTS: Mapping[str, ElementType] = MappingProxyType({t.name: t for t in _TYPES})
"""Every element type by its name in text."""

ELEMENT_NUMBERS: Mapping[int, ElementType] = MappingProxyType({t.number: t for t in _TYPES})
"""Every element type by its ``TensorProto.DataType`` value."""


def raw_size(element: ElementType, count: int) -> int:
    """Return the size of ``raw_data`` with `count` elements, in bytes.

    Elements narrower than a byte form one bit stream, lowest bits first, padded with zeros to a
    whole byte. For example, four six-bit floats take three bytes. See the comments of
    ``TensorProto.raw_data`` in ``onnx.proto``. The count must not be negative.

    Raises:
        ValueError: `element` is the string type, which has no raw form.
    """
    if not element.bits:
        raise ValueError("strings have no raw form")
    return (element.bits * count + 7) // 8
