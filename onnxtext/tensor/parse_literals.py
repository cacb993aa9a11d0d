# SPDX-License-Identifier: Apache-2.0
"""Read whole literals of tensors and of numeric attributes.

Literals of tensors in square brackets are converted to ``raw_data``, those in braces to the entries
of a typed field of `TensorProto`, such as ``int32_data``. Literals may have blanks and comments
between tokens, and a trailing comma in every list. Errors are `LiteralError`s; their offset is
relative to the start of the literal.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack
from typing import TYPE_CHECKING, Any

from onnxtext.tensor import number_lists
from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.literal_brackets import (
    BLANKS,
    Elements,
    checked_element_count,
    flat_elements,
    nested_elements,
    wrong_count,
)
from onnxtext.tensor.packing import pack
from onnxtext.tensor.repeated_bytes import Repetition
from onnxtext.tensor.small_arrays import MAX_SMALL_LENGTH, flatten, parse_small
from onnxtext.tensor.varints import VARINT_FIELDS
from onnxtext.wire.writer import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INT32 = (-(1 << 31), (1 << 31) - 1)
_INT64 = (-(1 << 63), (1 << 63) - 1)
_OFFICIAL_UINT64 = (1 - (1 << 64), (1 << 64) - 1)
"""The range that ``std::stoull`` accepts; the official parser uses it for uint32 and uint64."""

_FIELD_TYPES = {**VARINT_FIELDS, "float_data": "<u4", "double_data": "<u8"}
"""Maps a typed field to the numpy type of its entries; float entries are bits here."""
ENTRIES_ARE_ELEMENTS = ("float", "double", "int64", "int32")
"""Element types for which numbers in braces are read exactly as numbers in brackets."""

_EXPANDED = 1 << 16
"""Maximum size in bytes of a repetition that is expanded immediately."""


def read_raw(element: ElementType, text: str, dims: Sequence[int]) -> bytes | Repetition:
    """Convert a literal in square brackets to ``raw_data``.

    The literal must be flat, or nested for all `dims`, or nested for the dims other than 1. A flat
    literal may end in ``...``, which repeats the last element.

    Returns:
        The elements, little-endian, packed if they are narrower than a byte. If a literal with
        ``...`` stands for more than `_EXPANDED` bytes, it is returned as a `Repetition`.

    Raises:
        LiteralError: `text` is not a valid literal of this type, it does not match `dims`, or its
            elements would take more than 2 GiB.
    """
    if element.kind == "string":
        raise _string_error(text)
    count = checked_element_count(dims)
    if text == "[]" and not count:
        return b""
    short = flatten(text, dims) if text.find("[", 1, MAX_SMALL_LENGTH) > 0 else text
    small = None if short is None else parse_small(element, short, count)
    if small is not None:
        return small
    elements = nested_elements(text, dims)
    values = _raw_elements(element, elements)
    found = len(values)
    if found != count and not (elements.splat and found < count):
        raise wrong_count(dims, found).at(0, len(text))
    if found < count:
        if raw_size(element, count) > MAX_MESSAGE_BYTES:
            raise LiteralError("expected at most 2 GiB of data", help="use smaller dimensions")
        if raw_size(element, count) > _EXPANDED:
            return _repeat_last(element, values, count)
        if element.bits >= 8:
            data = _raw_bytes(element, values)
            return data + data[-(len(data) // found) :] * (count - found)
        values = np.concatenate([values, np.repeat(values[-1:], count - found, axis=0)])
    return _raw_bytes(element, values)


def _repeat_last(element: ElementType, values: NDArray[Any], count: int) -> Repetition:
    """Return `values`, with the last one repeated until there are `count` elements."""
    group = 1 if element.bits >= 8 else 4 if element.bits == 6 else 8 // element.bits

    def last(times: int) -> NDArray[Any]:
        return np.repeat(values[-1:], times, axis=0)

    missing = -len(values) % group  # the repeated units begin at a byte boundary
    start = _raw_bytes(element, np.concatenate([values, last(missing)]))
    times, rest = divmod(count - len(values) - missing, group)
    return Repetition.of(
        start, _raw_bytes(element, last(group)), times, _raw_bytes(element, last(rest))
    )


def parse_scalar(element: ElementType, text: str) -> bytes:
    """Convert an element without brackets to the ``raw_data`` of a tensor of rank 0.

    Raises:
        LiteralError: `text` is not one element of this type.
    """
    if element.kind == "string":
        raise _string_error(text)
    if not text.isascii() or "," in text:
        offset = next(i for i, c in enumerate(text) if c == "," or not c.isascii())
        raise LiteralError(f"expected one element, found `{repr(text[offset])[1:-1]}`", offset, 1)
    small = parse_small(element, f"[{text}]", 1)
    if small is not None:
        return small
    values = _raw_elements(element, Elements(text.encode("ascii")))
    if len(values) != 1:
        raise LiteralError("expected an element, found nothing")
    return _raw_bytes(element, values)


def parse_typed(element: ElementType, text: str) -> bytes:
    """Convert a literal in braces to the entries of the element type's typed field.

    Elements have the same meaning as in the official parser, with one exception: elements narrower
    than six bits must be in range and are packed, as the schema requires. In ``int32_data``, wider
    elements may have any int32 value; for floats, an integer is the code (bit pattern). uint32 and
    uint64 accept integers between -2^64 and 2^64 (exclusive); negative ones wrap around modulo
    2^64. The number of elements is not checked.

    Returns:
        The entries, little-endian, in the width of ``element.field``.

    Raises:
        LiteralError: `text` is not a valid literal.
    """
    if element.kind == "string":
        raise LiteralError("expected numbers, found strings")
    if element.name in ENTRIES_ARE_ELEMENTS:
        small = parse_small(element, text, None, "{}")
        if small is not None:
            return small
    values = _typed_entries(element, flat_elements(text, "{", "}"))
    if element.elements_per_entry > 1:
        codes = values & ((1 << element.bits) - 1)
        values = pack(codes.astype(np.uint8), element.bits)
    return values.astype(_FIELD_TYPES[element.field], copy=False).tobytes()


def parse_field(field: str, text: str) -> bytes:
    """Convert a literal in braces to the entries of a typed field, given by its name.

    `field` is ``float_data``, ``int32_data``, ``int64_data``, ``double_data`` or ``uint64_data``.
    The numbers must be in the range of the field's protobuf type.

    Returns:
        The entries, little-endian, in the width of the field.

    Raises:
        LiteralError: `text` is not a valid literal.
    """
    element = ELEMENTS[field.removesuffix("_data")]
    if element.kind == "float":
        return parse_typed(element, text)
    values = number_lists.read_ints(
        flat_elements(text, "{", "}"), *_range(element), hexadecimal=False
    )
    return values.astype(_FIELD_TYPES[field], copy=False).tobytes()


def parse_ints(text: str) -> tuple[int, ...]:
    """Read the value of an attribute of type ``ints``: decimal integers, as in ``[1, -2, 3]``.

    Raises:
        LiteralError: `text` is not a valid literal, or an integer does not fit in int64.
    """
    small = parse_small(ELEMENTS["int64"], text, None)
    if small is not None:
        return unpack(f"<{len(small) // 8}q", small)
    return tuple(
        number_lists.read_ints(flat_elements(text, "[", "]"), *_INT64, hexadecimal=False).tolist()
    )


def parse_floats(text: str) -> bytes:
    """Read the value of an attribute of type ``floats``, ``[1.0, 2, nan]``.

    Returns:
        The elements as little-endian float32.

    Raises:
        LiteralError: `text` is not a valid literal, or a number is out of range.
    """
    small = parse_small(ELEMENTS["float"], text, None)
    if small is not None:
        return small
    return (
        number_lists.read_floats(flat_elements(text, "[", "]")).astype("<u4", copy=False).tobytes()
    )


def _range(element: ElementType) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type, or code of a float type."""
    if element.kind in ("uint", "float"):
        return 0, (1 << element.bits) - 1
    return -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1


def _typed_range(element: ElementType) -> tuple[int, int]:
    """Return the least and the greatest integer allowed in the typed field of an element type."""
    if element.kind == "float" and element.bits == 4:
        return 0, 15
    if element.field == "int32_data":
        return _INT32 if element.kind == "float" or element.bits >= 8 else _range(element)
    return _INT64 if element.kind == "int" else _OFFICIAL_UINT64


def _raw_elements(element: ElementType, elements: Elements) -> NDArray[Any]:
    """Read elements as integers: a float as its bits, a complex number as a row of two."""
    if element.kind == "complex":
        return number_lists.read_complexes(elements, element.bits // 2, pairs=True).reshape(-1, 2)
    if element.kind == "bool":
        return number_lists.read_bools(elements)
    if element.kind != "float":
        return number_lists.read_ints(elements, *_range(element))
    if element.name == "float":
        return number_lists.read_floats(elements)
    return (
        number_lists.read_doubles(elements)
        if element.name == "double"
        else number_lists.read_narrow_floats(elements, element)
    )


def _typed_entries(element: ElementType, elements: Elements) -> NDArray[Any]:
    """Read the entries of a typed field; elements of two or four bits are not packed yet."""
    if element.kind == "complex":
        return number_lists.read_complexes(elements, element.bits // 2, pairs=False)
    if element.kind == "bool":
        return _typed_bools(elements)
    if element.kind != "float":
        return number_lists.read_ints(elements, *_typed_range(element), shown=_range(element))
    if element.bits < 32:
        return number_lists.narrow_typed(elements, element, *_typed_range(element), _range(element))
    return (
        number_lists.read_floats(elements)
        if element.name == "float"
        else number_lists.read_doubles(elements)
    )


def _raw_bytes(element: ElementType, values: NDArray[Any]) -> bytes:
    """Convert the elements of `_raw_elements` to the width of ``raw_data``."""
    if element.bits < 8:
        codes = values & ((1 << element.bits) - 1)
        return pack(codes.astype(np.uint8), element.bits).tobytes()
    width = element.bits // (16 if element.kind == "complex" else 8)
    return values.astype(f"<u{width}", copy=False).tobytes()


def _typed_bools(elements: Elements) -> NDArray[Any]:
    """Read integers, and ``true`` and ``false`` as 1 and 0."""
    if b"t" not in elements.data and b"f" not in elements.data:
        return number_lists.read_ints(elements, *_INT32, shown=(0, 1))
    if not any(digit in elements.data for digit in b"0123456789"):
        return number_lists.read_bools(elements)

    def entry(text: str) -> int:
        if text in ("true", "false"):
            return number_lists.one_bool(text)
        return number_lists.one_int(text, *_INT32, shown=(0, 1))

    return np.array(number_lists.read_each(elements, entry), np.int64)


def _string_error(text: str) -> LiteralError:
    start = len(text) - len(text.lstrip(BLANKS))
    fix = "write `{…}`"
    return LiteralError("expected strings in braces", start, len(text.strip(BLANKS)), fix)
