# SPDX-License-Identifier: Apache-2.0
"""Parse comma-separated elements to arrays, in bulk if the text is plain.

Every reader has a fast and a slow path; both take linear time. The slow path reads element by
element; it defines the result and the errors. The fast path reads long texts as JSON, whose numbers
have the same meaning here. JSON lacks other spellings, such as ``1.`` and ``nan``.

The functions raise `LiteralError` for an invalid element.
"""

from __future__ import annotations

import functools
import re
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from onnxtext.tensor.element_types import ElementType
from onnxtext.tensor.errors import LiteralError, quote_token
from onnxtext.tensor.float_formats import FORMATS, round_doubles
from onnxtext.tensor.float_literals import FLOAT_PATTERN, float32_bits, float64_bits, narrow_bits
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.literal_brackets import BLANKS, Elements
from onnxtext.tensor.number_spellings import not_a_float, not_an_int, other_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT = 200
"""The length below which a text is read faster element by element than as JSON."""

_INT64_MAX = (1 << 63) - 1
_BOOL_BYTES, _INT_BYTES = b"truefals, \t\n\r", b"0123456789-, \t\n\r"
_FLOAT_BYTES = _INT_BYTES + b"+.eE"
_MINUS_ZERO = re.compile(rb"-0(?<![eE]-0)(?![.eE0-9])")
_INTEGER = re.compile(r"(-?)(?:([0-9]+)|0[xX]([0-9a-fA-F]+))")
_COMPLEX = re.compile(rf"(-?{FLOAT_PATTERN})(?:([+-]{FLOAT_PATTERN})j)?")

T = TypeVar("T")
Range = tuple[int, int]


class _Memo(dict[str, T]):
    """A cache of converted elements by text; `failed` is the last text passed to `convert`."""

    def __init__(self, convert: Callable[[str], T]) -> None:
        super().__init__()
        self.convert = convert
        self.failed = ""

    def __missing__(self, text: str) -> T:
        self.failed = text
        value = self[text] = self.convert(text)
        return value


def read_each(elements: Elements, convert: Callable[[str], T]) -> list[T]:
    """Convert the elements one by one.

    The offset of the errors of `convert` is relative to the element; `read_each` adds the offset of
    the element in the literal.

    Raises:
        LiteralError: The first error of `convert`.
    """
    tokens = elements.tokens()
    memo = _Memo(convert)
    try:
        return list(map(memo.__getitem__, tokens))
    except LiteralError as error:
        if memo.failed == "..":
            error.help = "write `...` after the last element to repeat it, such as `[0, ...]`"
        raise elements.located(tokens.index(memo.failed), error) from None


def one_int(
    text: str, low: int, high: int, *, hexadecimal: bool = True, shown: Range | None = None
) -> int:
    """Return the value of one integer literal, which must be from `low` to `high`.

    A hexadecimal literal such as ``0x7f`` is allowed only if `hexadecimal` is true. Errors mention
    the range `shown`; None for `low` and `high`.
    """
    match = _INTEGER.fullmatch(text)
    if match is None or (match[3] and not hexadecimal):
        raise not_an_int(text)
    digits, base = (match[2], 10) if match[2] else (match[3], 16)
    digits = digits.lstrip("0") or "0"
    value = int(digits, base) if len(digits) <= 20 else 1 << 99  # int() rejects very long texts
    if match[1]:
        value = -value
    if not low <= value <= high:
        least, greatest = shown or (low, high)
        message = f"expected {least} to {greatest}, found {quote_token(text)}"
        raise LiteralError(message, length=len(text), code="integer-out-of-range")
    return value


def read_ints(
    elements: Elements, low: int, high: int, *, hexadecimal: bool = True, shown: Range | None = None
) -> NDArray[Any]:
    """Read integers, which must be from `low` to `high`.

    `hexadecimal` tells whether ``0x7f`` and ``-0x80`` are allowed. Errors mention the range
    `shown`, or that from `low` to `high` if `shown` is None.

    Returns:
        An int64 array, or a uint64 array if `high` does not fit in int64. Negative integers in a
        uint64 array wrap around (modulo 2^64).
    """
    dtype = np.int64 if high <= _INT64_MAX else np.uint64
    values = _plain_ints(elements.data, dtype, low, high)
    if values is not None:
        return values
    convert = functools.partial(one_int, low=low, high=high, hexadecimal=hexadecimal, shown=shown)
    found = read_each(elements, convert)
    if dtype is np.uint64 and low < 0:
        found = [value & 0xFFFFFFFFFFFFFFFF for value in found]
    return np.array(found, dtype)


def read_floats(elements: Elements) -> NDArray[np.uint32]:
    """Read float32 elements; return the IEEE bits of each. Every decimal is rounded only once."""
    fast = functools.partial(_plain_codes, name="float", convert=float32_bits)
    return _bits(elements, np.uint32, fast, float32_bits)


def read_doubles(elements: Elements) -> NDArray[np.uint64]:
    """Read float64 elements; return the IEEE bits of each."""

    def fast(data: bytes) -> NDArray[Any] | None:
        values = _decimals(data, integers=True)
        return None if values is None else values.view(np.uint64)

    return _bits(elements, np.uint64, fast, float64_bits)


def read_narrow_floats(elements: Elements, element: ElementType) -> NDArray[np.uint32]:
    """Read floats of at most 16 bits; return the code of each. Bare integers are errors."""
    convert = functools.partial(narrow_bits, element)
    fast = functools.partial(_plain_codes, name=element.name, convert=convert)
    return _bits(elements, np.uint32, fast, convert)


def narrow_typed(
    elements: Elements, element: ElementType, low: int, high: int, shown: Range
) -> NDArray[np.int64]:
    """Read floats of at most 16 bits; return the ``int32_data`` entry of each element.

    A bare integer is a code from `low` to `high`, as in the official syntax; other elements are
    read as by `read_narrow_floats`. Errors mention the range `shown`.
    """
    if not any(mark in elements.data for mark in (b".", b"e", b"E", b"n", b"N", b"x", b"X")):
        codes = _plain_ints(elements.data, np.int64, low, high)
        if codes is not None:
            return codes
    convert = functools.partial(narrow_bits, element)

    def entry(text: str) -> int:
        if re.fullmatch("-?[0-9]+", text):
            return one_int(text, low, high, shown=shown)
        return convert(text)

    fast = functools.partial(_plain_codes, name=element.name, convert=convert)
    return _bits(elements, np.int64, fast, entry)


def read_bools(elements: Elements) -> NDArray[np.uint8]:
    """Read elements ``true`` and ``false``; return 1 and 0."""
    values = _load(elements.data, _BOOL_BYTES)
    return np.array(read_each(elements, one_bool) if values is None else values, np.uint8)


def one_bool(text: str) -> int:
    """Read one element, ``true`` or ``false``; return 1 or 0."""
    if text in ("true", "false"):
        return int(text == "true")
    fix = {"0": "write `false`", "1": "write `true`"}.get(text)
    raise LiteralError(f"expected `true` or `false`, found {quote_token(text)}", 0, len(text), fix)


def read_complexes(elements: Elements, bits: int, *, pairs: bool) -> NDArray[Any]:
    """Read complex numbers; return the IEEE bits of their real and imaginary parts.

    `bits` is the width of a part, 32 or 64. `pairs` tells whether an element without ``j`` is a
    complex number with the imaginary part 0. Otherwise the element is one part, real or imaginary:
    the official form in braces.

    Returns:
        The parts in text order: real, imaginary, real, imaginary, ….
    """
    read, one = (read_floats, float32_bits) if bits == 32 else (read_doubles, float64_bits)
    if b"j" not in elements.data and not pairs:
        return read(elements)
    split = functools.partial(_split_complex, pairs=pairs)
    texts = [part for number in read_each(elements, split) for part in number]
    try:
        return read(Elements(",".join(texts).encode()))
    except LiteralError:
        # Raise the error with the offset of its element in `elements`.
        read_each(elements, lambda text: [one(part) for part in split(text)])
        raise  # pragma: no cover


def _split_complex(text: str, *, pairs: bool) -> tuple[str, ...]:
    """Return the texts of the parts of one complex number; for `pairs`, see `read_complexes`."""
    match = _COMPLEX.fullmatch(text)
    if match is None:
        if other_spelling(text) is not None:
            raise not_a_float(text)
        message = f"expected a complex number, found {quote_token(text)}"
        raise LiteralError(message, 0, len(text), "write both parts, as `1.0+2.0j`")
    if match[2] is None:
        return (match[1], "0") if pairs else (match[1],)
    return match[1], match[2].removeprefix("+")


def _load(data: bytes, allowed: bytes) -> list[Any] | None:
    """Read a long text as JSON; None if it is short, invalid, or has bytes that are not allowed."""
    if len(data) < SHORT or data.translate(None, allowed):
        return None
    import orjson  # only here, because the import is slow

    try:
        values: list[Any] = orjson.loads(b"[%b]" % data)
    except ValueError:
        return None
    return values or None


def _plain_ints(
    data: bytes, dtype: type[np.int64] | type[np.uint64], low: int, high: int
) -> NDArray[Any] | None:
    """Read integers from `low` to `high` on the fast path; None if only the slow path can."""
    found = _load(data, _INT_BYTES)
    try:
        values = np.frombuffer(array("q" if dtype is np.int64 else "Q", found or ()), dtype)
    except (TypeError, OverflowError):  # TypeError: an integer of more than 64 bits is a float
        return None
    if not values.size or not low <= int(values.min()) <= int(values.max()) <= high:
        return None
    return values


def _decimals(data: bytes, *, integers: bool) -> NDArray[np.float64] | None:
    """Read decimals as doubles on the fast path; None if only the slow path can.

    Without `integers`, also return None if an element has neither a point nor an exponent.
    """
    if integers and b"-0" in data:
        data = _MINUS_ZERO.sub(b"-0.0", data)  # JSON integers have no minus zero
    found = _load(data, _FLOAT_BYTES)
    if found is None or (not integers and int in map(type, found)):
        return None
    values = np.array(found, np.float64)
    # Integers of more than 64 bits are read as floats.
    return values if integers or np.abs(values).max() < 2.0**63 else None


def _bits(
    elements: Elements,
    dtype: type[np.generic],
    fast: Callable[[bytes], NDArray[Any] | None],
    convert: Callable[[str], int],
) -> NDArray[Any]:
    """Read elements as bits: in long texts, if possible, with `fast`; else with `convert`."""
    if len(elements.data) >= SHORT:
        codes = fast(elements.data)
        if codes is None:
            codes = _read_specials_apart(elements, fast, convert)
        if codes is not None:
            return codes.astype(dtype, copy=False)
    return np.array(read_each(elements, convert), dtype)


def _read_specials_apart(
    elements: Elements, fast: Callable[[bytes], NDArray[Any] | None], convert: Callable[[str], int]
) -> NDArray[Any] | None:
    """Read words and hexadecimal numbers one by one, and the other elements in bulk.

    Return None if `elements` has no words or hexadecimal numbers, or if `fast` or `convert` fails.
    """
    tokens = elements.tokens()
    special = {i: t for i, t in enumerate(tokens) if "n" in t or "x" in t or "N" in t or "X" in t}
    if not special:
        return None
    for index in special:
        tokens[index] = "1.0"  # 1.0 is exact in every format
    codes = fast(",".join(tokens).encode())
    if codes is None:
        return None
    memo = _Memo(convert)
    try:
        codes[list(special)] = [memo[text] for text in special.values()]
    except LiteralError:
        return None
    return codes


def _plain_codes(
    data: bytes, name: str, convert: Callable[[str], int]
) -> NDArray[np.uint32] | None:
    """Read decimals as codes of the format `name` on the fast path.

    `convert` reads the decimals that are halfway between two codes. Return None if the slow path
    must read the elements.
    """
    form = FORMATS[name]
    values = _decimals(data, integers=form.bits == 32)
    rounded = None if values is None else round_doubles(form, values)
    if rounded is None:
        return None
    codes, halfway = rounded
    texts = data.decode().split(",") if halfway.size else []
    try:
        for index in halfway.tolist():
            codes[index] = convert(texts[index].strip(BLANKS))
    except LiteralError:
        return None
    return codes
