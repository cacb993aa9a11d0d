# SPDX-License-Identifier: Apache-2.0
"""Format the bytes of elements as text, in bulk.

The result is the same as with `float_literals` and `shortest_decimals`. One call of orjson writes
all numbers; its output is then corrected: orjson writes ``null`` for infinities and NaNs, ``.0`` at
the end of integral floats, and in newer versions a plus in exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnxtext.tensor.element_types import ElementType, raw_size
from onnxtext.tensor.float_literals import float32_text, float64_text
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.packing import pack, unpack
from onnxtext.tensor.shortest_decimals import narrow_texts
from onnxtext.tensor.varints import VARINT_FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELD_TYPES = {**VARINT_FIELDS, "float_data": "<f4", "double_data": "<f8"}
"""The numpy type of the entries of each typed field."""
BLOCK = 1 << 16
"""Number of elements that `is_splat` compares at a time, after the first `_FEW`.

For elements narrower than a byte, it is the number of groups of three bytes.
"""
_FEW = 1 << 10
"""Number of elements that `is_splat` compares first."""


def format_rows(
    element: ElementType, data: bytes | memoryview, row: int | None = None, count: int | None = None
) -> list[str]:
    """Return the elements of ``raw_data`` as rows of text, without brackets.

    With brackets around them, the rows are a literal that `parse_literals.read_raw` can read.

    A row has `row` elements, separated by a comma and a blank; the last row may have fewer. None
    puts all elements into one row. `count` is the number of elements; None formats all of `data`,
    which may include padding of types narrower than a byte: the two bytes of three int4 elements
    give four.

    Raises:
        ValueError: No text reads as exactly `data`; see `is_expressible`.
    """
    if not is_expressible(element, data, count):
        raise ValueError(f"not the raw data of {element.name} elements")
    if element.bits < 8:
        codes = unpack(np.frombuffer(data, np.uint8), element.bits)[:count]
        return _code_rows(element, codes, row)
    if element.kind == "complex":
        return _complex_rows(_array(data, f"<f{element.bits // 16}"), row)
    values = _array(data, _raw_type(element))
    return _code_rows(element, values, row) if _is_narrow(element) else _number_rows(values, row)


def is_expressible(
    element: ElementType, data: bytes | memoryview, count: int | None = None
) -> bool:
    """Whether `format_rows` can write raw data as text that reads as the same bytes.

    The result is False if the size of `data` is wrong, a bool is neither 0 nor 1, the padding is
    not zero, or the type is string.

    `count` is the number of elements; None for all of `data`.
    """
    if not element.bits:
        return False
    size = memoryview(data).nbytes
    count = size * 8 // element.bits if count is None else count
    if raw_size(element, count) != size:
        return False
    if element.kind == "bool":
        return not size or int(np.frombuffer(data, np.uint8).max()) <= 1
    used = count * element.bits % 8
    return not used or data[size - 1] >> used == 0


def is_typed_expressible(element: ElementType, data: bytes | memoryview, count: int) -> bool:
    """Whether `format_typed` can write the entries of a typed field, such as ``int32_data``.

    The result is False if a complex number lacks its imaginary part, or if the entries of a type
    narrower than six bits are not exactly `count` packed elements.

    The type is not string. `count` is the number of elements that the dims give; negative if the
    dims are invalid.
    """
    if element.kind == "complex":
        return memoryview(data).nbytes % (element.bits // 8) == 0
    if element.elements_per_entry > 1:
        return count >= 0 and format_typed(element, data, count) is not None
    return True


def format_typed(
    element: ElementType, data: bytes | memoryview, count: int | None = None
) -> str | None:
    """Format the entries of a typed field as text that `parse_literals.parse_typed` reads.

    `data` has the entries of ``element.field``, little-endian, in the width of that field. `count`
    is the number of elements, used only for types narrower than six bits; None formats all entries.

    Returns:
        The text between the braces; None if no literal in braces reads as exactly these entries.
    """
    if element.kind == "string":
        return None
    entries = _array(data, _FIELD_TYPES[element.field])
    if element.kind == "complex":
        return None if entries.size % 2 else _only_row(_complex_rows(entries))
    if element.elements_per_entry > 1:
        return _packed_text(element, entries, count)
    if element.kind == "bool":
        if _within(entries, 2):
            return _only_row(_number_rows(entries.astype(np.bool_)))
        return _mixed_text(entries, 2, lambda code: "true" if code else "false")
    if _is_narrow(element):
        limit = 1 << element.bits
        if _within(entries, limit):
            return _only_row(_code_rows(element, entries))
        return _mixed_text(entries, limit, narrow_texts(element.name).__getitem__)
    return _only_row(_number_rows(entries))


def format_field(field: str, data: bytes | memoryview) -> str:
    """Return the entries of a typed field as plain numbers for `parse_literals.parse_field`.

    `field` is ``float_data``, ``int32_data``, ``int64_data``, ``double_data`` or ``uint64_data``.
    The entries are little-endian, in the width of the field.
    """
    return _only_row(_number_rows(_array(data, _FIELD_TYPES[field])))


def format_floats(data: bytes | memoryview) -> str:
    """Return the value of a ``floats`` attribute as text for `parse_literals.parse_floats`.

    The values are little-endian float32.

    Returns:
        The text between the brackets. Every value has a point or an exponent, or is a word such as
        ``inf``.
    """
    return _only_row(_number_rows(_array(data, "<f4"), point=True))


def is_splat(element: ElementType, data: bytes | memoryview, count: int) -> bool:
    """Whether ``[x, ...]`` can express raw data: two or more elements with the same bits."""
    width = element.bits // 8
    if count < 2 or (width and data[:width] != data[width : 2 * width]):
        return False  # in most tensors, the first two elements differ
    if not is_expressible(element, data, count):
        return False
    if element.bits < 8:
        packed, first = np.frombuffer(data, np.uint8), -1
        for start in range(0, packed.size, 3 * BLOCK):  # four codes of 6 bits fill three bytes
            codes = unpack(packed[start : start + 3 * BLOCK], element.bits)
            codes = codes[: count - start * 8 // element.bits]
            first = int(codes[0]) if first < 0 else first
            if not (codes == first).all():
                return False
        return True
    # Do not use numpy: its import takes longer than converting a small model.
    unit = bytes(data[:width])
    for size, start in ((_FEW, 0), *((BLOCK, start) for start in range(_FEW, count, BLOCK))):
        piece = bytes(data[start * len(unit) : (start + size) * len(unit)])
        if unit * (len(piece) // len(unit)) != piece:
            return False
    return True


def _is_narrow(element: ElementType) -> bool:
    """Whether elements are floats of at most 16 bits, whose text is looked up by code."""
    return element.kind == "float" and element.bits <= 16


def _raw_type(element: ElementType) -> str:
    """Return the numpy type of the elements, or of the unsigned codes of narrow floats."""
    if element.kind == "bool":
        return "?"
    letter = "u" if _is_narrow(element) else element.kind[0]
    return f"<{letter}{element.bits // 8}"


def _array(data: bytes | memoryview, dtype: str) -> NDArray[Any]:
    """Return little-endian data as an array for orjson: aligned, in native byte order."""
    values = np.frombuffer(data, dtype).astype(np.dtype(dtype).newbyteorder("="), copy=False)
    return values if values.flags.aligned else values.copy()


def _within(entries: NDArray[Any], limit: int) -> bool:
    """Whether all entries are at least 0 and less than `limit`."""
    return not entries.size or (int(entries.min()) >= 0 and int(entries.max()) < limit)


def _only_row(rows: list[str]) -> str:
    """Return the only row; "" if there is no row."""
    return rows[0] if rows else ""


def _join_rows(texts: list[str], row: int | None) -> list[str]:
    """Join texts to rows of `row` texts; None for one row."""
    row = row or max(len(texts), 1)
    return [", ".join(texts[start : start + row]) for start in range(0, len(texts), row)]


def _number_rows(values: NDArray[Any], row: int | None = None, *, point: bool = False) -> list[str]:
    """Return numbers as rows of text; `point` keeps integral floats from looking like integers."""
    row = row or max(values.size, 1)
    full_rows = values.size // row * row
    rows = []
    if full_rows:
        rows = _dump_rows(values[:full_rows].reshape(-1, row), point).split("], [")
    if full_rows < values.size:
        rows.append(_dump_rows(values[full_rows:].reshape(1, -1), point))
    return rows


def _dump_rows(rows: NDArray[Any], point: bool) -> str:
    """Return a table of numbers as text, with ``], [`` between rows and ``, `` between elements."""
    import orjson  # only here, because the import is slow

    text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2]
    if rows.dtype.kind == "f":
        if b"+" in text:
            text = text.replace(b"e+", b"e")
        if not point:
            text = text.replace(b".0,", b",").replace(b".0]", b"]").removesuffix(b".0")
        if b"n" in text:
            text = _with_specials(text, rows)
    return text.replace(b",", b", ").decode("ascii")


def _with_specials(text: bytes, values: NDArray[Any]) -> bytes:
    """Replace every ``null`` by the text of the infinity or NaN in `values`."""
    special = values[~np.isfinite(values)]
    word: Callable[[int], str] = float32_text if values.dtype.itemsize == 4 else float64_text
    codes = special.view(np.uint32 if values.dtype.itemsize == 4 else np.uint64).tolist()
    texts = {code: word(code).encode() for code in set(codes)}
    parts = text.split(b"null")
    parts[1:] = [texts[code] + part for code, part in zip(codes, parts[1:], strict=True)]
    return b"".join(parts)


def _complex_rows(parts: NDArray[Any], row: int | None = None) -> list[str]:
    """Return complex numbers, given as real and imaginary parts, as rows of text."""
    if not parts.size:
        return []
    text = _dump_rows(parts.reshape(-1, 2), point=True).replace("], [", "j;")
    text = text.replace(", -", "-").replace(", ", "+") + "j"
    return _join_rows(text.split(";"), row)


def _code_rows(element: ElementType, codes: NDArray[Any], row: int | None = None) -> list[str]:
    """Return rows of text for the codes of narrow floats, or of integers below 8 bits."""
    if element.kind == "float":
        texts = list(map(narrow_texts(element.name).__getitem__, codes.tolist()))
        return _join_rows(texts, row)
    if element.kind == "int":
        sign = 1 << (element.bits - 1)
        codes = (codes.astype(np.int8) ^ sign) - sign
    return _number_rows(codes, row)


def _mixed_text(entries: NDArray[Any], limit: int, text: Callable[[int], str]) -> str:
    """Return entries as text, separated by commas.

    An entry from 0 to `limit - 1` is a code, whose text `text` returns; others are integers.
    """
    return ", ".join([text(n) if 0 <= n < limit else str(n) for n in entries.tolist()])


def _packed_text(element: ElementType, entries: NDArray[Any], count: int | None) -> str | None:
    """Return the text of packed elements; None if it would not be read as exactly `entries`.

    `count` is the number of elements; None for all that are in `entries`.
    """
    if not _within(entries, 1 << 8):
        return None
    codes = unpack(entries.astype(np.uint8), element.bits)
    if count is not None:
        codes = codes[:count]
        if codes.size != count or not np.array_equal(pack(codes, element.bits), entries):
            return None
    return _only_row(_code_rows(element, codes))
