# SPDX-License-Identifier: Apache-2.0
"""Parse comma-separated elements to arrays, in bulk if the text is plain.

Every reader has a fast and a slow path; both take linear time. The slow path reads element by
element; it defines the result and the errors. The fast path passes the whole text to
``np.fromstring``. It is used for long texts, after a few scans that exclude what numpy reads
differently. For example, numpy accepts ``+1``, reads 0 or -1 from the gap in ``1, , 2``, converts
``1e400`` to infinity, and clamps integers.

The functions raise `LiteralError` for an invalid element.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from onnxtext.tensor.element_types import ElementType
from onnxtext.tensor.errors import LiteralError, quote_token
from onnxtext.tensor.float_formats import FORMATS, round_doubles
from onnxtext.tensor.float_literals import FLOAT_PATTERN, float32_bits, float64_bits, narrow_bits
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.literal_brackets import BLANKS, Elements, preceding_offsets
from onnxtext.tensor.number_spellings import not_a_float, not_an_int, other_spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHORT = 200
"""The length below which a text is read faster element by element than with numpy."""

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_BLANK_BYTES = BLANKS.encode()
_INTEGER = re.compile(r"(-?)(?:([0-9]+)|0[xX]([0-9a-fA-F]+))")
_COMPLEX = re.compile(rf"(-?{FLOAT_PATTERN})(?:([+-]{FLOAT_PATTERN})j)?")
_BOOL_LETTERS = b"truefals," + _BLANK_BYTES


@functools.cache
def _numpy_raises() -> bool:
    """Whether ``np.fromstring`` raises for invalid text; old versions warn."""
    return bool(np.lib.NumpyVersion(np.__version__) >= "2.3.0")


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

    Args:
        elements: The elements.
        convert: Converts the text of one element. The offset of its errors is relative to that
            text; `read_each` adds the offset of the element in the literal.

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

    Args:
        elements: The elements.
        low: The minimum.
        high: The maximum.
        hexadecimal: Whether ``0x7f`` and ``-0x80`` are allowed.
        shown: The range that errors mention; None for `low` and `high`.

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
        values = _plain_doubles(data)
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

    Args:
        elements: The elements. A bare integer is a code, as in the official syntax; other elements
            are read as by `read_narrow_floats`.
        element: The element type.
        low: The minimum of bare integers.
        high: The maximum of bare integers.
        shown: The range that errors mention.
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
    data = elements.data
    if len(data) >= _SHORT and not data.translate(None, _BOOL_LETTERS):
        # Use 1 and 2, so that "falsetrue" becomes 12, which is neither.
        digits = data.replace(b"true", b"2").replace(b"false", b"1")
        values = _fromstring(digits, np.int64) if _ends_in(digits, b"12") else None
        if values is not None and ((values == 1) | (values == 2)).all():
            return (values - 1).astype(np.uint8)
    return np.array(read_each(elements, one_bool), np.uint8)


def one_bool(text: str) -> int:
    """Read one element, ``true`` or ``false``; return 1 or 0."""
    if text in ("true", "false"):
        return int(text == "true")
    fix = {"0": "write `false`", "1": "write `true`"}.get(text)
    raise LiteralError(f"expected `true` or `false`, found {quote_token(text)}", 0, len(text), fix)


def read_complexes(elements: Elements, bits: int, *, pairs: bool) -> NDArray[Any]:
    """Read complex numbers; return the IEEE bits of their real and imaginary parts.

    Args:
        elements: The elements.
        bits: The width of a part, 32 or 64.
        pairs: Whether an element without ``j`` is a complex number with the imaginary part 0.
            Otherwise the element is one part, real or imaginary: the official form in braces.

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


def _fromstring(data: bytes, dtype: type[np.generic]) -> NDArray[Any] | None:
    """Let numpy read the whole text; return None if it fails."""
    try:
        if _numpy_raises():
            return np.fromstring(data, dtype, sep=",")
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            return np.fromstring(data, dtype, sep=",")
    except (ValueError, DeprecationWarning):
        return None


def _ends_in(data: bytes, allowed: bytes) -> bool:
    """Whether the last character before any final whitespace is one of `allowed`."""
    end = data[-_SHORT:].rstrip(_BLANK_BYTES) or data.rstrip(_BLANK_BYTES)
    return bool(end) and end[-1] in allowed


def _has_gap(data: bytes) -> bool:
    """Whether an element is missing before a comma; numpy would read it as 0 or -1."""
    start = data[:_SHORT].lstrip(_BLANK_BYTES) or data.lstrip(_BLANK_BYTES)
    if start[:1] == b",":
        return True
    codes = np.frombuffer(data, np.uint8)
    # A gap is a missing number: `1, , 2`. It ends in a comma after a blank or another comma. The
    # comparison also selects commas after other characters, which does no harm.
    places = np.flatnonzero((codes[1:] == ord(",")) & (codes[:-1] <= ord(","))) + 1
    return bool((codes[preceding_offsets(codes, places)] == ord(",")).any())


def _plain_ints(
    data: bytes, dtype: type[np.int64] | type[np.uint64], low: int, high: int
) -> NDArray[Any] | None:
    """Read integers from `low` to `high` on the fast path; None if only the slow path can."""
    if len(data) < _SHORT or b"+" in data or not _ends_in(data, b"0123456789") or _has_gap(data):
        return None
    if b"-" in data:
        codes = np.frombuffer(data, np.uint8)
        after = codes[np.flatnonzero(codes == ord("-")) + 1]
        if ((after < ord("0")) | (after > ord("9"))).any():
            return None
    values = _fromstring(data, dtype)
    if values is None:
        return None
    smallest, greatest = int(values.min()), int(values.max())
    # numpy clamps integers, so a value at a limit of the type may come from an overflow.
    end = _INT64_MAX if dtype is np.int64 else (1 << 64) - 1
    if not low <= smallest or not greatest <= high or smallest == _INT64_MIN or greatest == end:
        return None
    return values


def _plain_doubles(data: bytes) -> NDArray[np.float64] | None:
    """Read decimals and words as doubles on the fast path; None if only the slow path can."""
    if len(data) < _SHORT or b"(" in data or not _ends_in(data, b"0123456789.fFnNyY"):
        return None
    if _has_gap(data):
        return None
    if b"+" in data and data.count(b"+") != data.count(b"e+") + data.count(b"E+"):
        return None
    codes = np.frombuffer(data, np.uint8)
    if ((codes[1:] == ord(".")) & (codes[:-1] < ord("0"))).any() or codes[0] == ord("."):
        return None
    infinities = 0
    if b"n" in data or b"N" in data:
        words = data.lower()
        if b"-nan" in words:
            return None
        infinities = words.count(b"inf")
    values: NDArray[np.float64] | None = _fromstring(data, np.float64)
    # If there are more infinities than words `inf`, a decimal was out of range.
    if values is None or np.count_nonzero(np.isinf(values)) != infinities:
        return None
    return values


def _bits(
    elements: Elements,
    dtype: type[np.generic],
    fast: Callable[[bytes], NDArray[Any] | None],
    convert: Callable[[str], int],
) -> NDArray[Any]:
    """Read elements as bits: in long texts, if possible, with `fast`; else with `convert`."""
    if len(elements.data) >= _SHORT:
        codes = fast(elements.data)
        if codes is None:
            codes = _read_specials_apart(elements, fast, convert)
        if codes is not None:
            return codes.astype(dtype, copy=False)
    return np.array(read_each(elements, convert), dtype)


def _read_specials_apart(
    elements: Elements,
    fast: Callable[[bytes], NDArray[Any] | None],
    convert: Callable[[str], int],
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
    """Read decimals and words as codes of the format `name` on the fast path.

    `convert` reads the decimals that are halfway between two codes. Return None if the slow path
    must read the elements.
    """
    form = FORMATS[name]
    values = _plain_doubles(data)
    if values is None or (form.bits < 32 and not _has_no_bare_integer(data, values.size)):
        return None
    rounded = round_doubles(form, values)
    if rounded is None:
        return None
    codes, halfway = rounded
    if halfway.size:
        commas = np.flatnonzero(np.frombuffer(data, np.uint8) == ord(","))
        starts = np.concatenate(([0], commas + 1))
        ends = np.concatenate((commas, [len(data)]))
        try:
            for index in halfway.tolist():
                text = data[starts[index] : ends[index]].decode()
                codes[index] = convert(text.strip(BLANKS))
        except LiteralError:
            return None
    return codes


def _has_no_bare_integer(data: bytes, count: int) -> bool:
    """Whether none of `count` elements is a bare integer: each has a point, exponent or letter."""
    if data.count(b".") == count:  # every number has a point: numpy rejects numbers with two
        return True
    codes = np.frombuffer(data, np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(codes == ord(",")) + 1))
    marks = (codes == ord(".")) | (codes >= ord("A"))
    return bool(np.logical_or.reduceat(marks, starts).all())
