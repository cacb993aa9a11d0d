# SPDX-License-Identifier: Apache-2.0
"""Parse literals of plain numbers and words to bytes.

Other literals (hexadecimals, comments, a wrong number of elements, out-of-range numbers, numbers
that would be rounded twice) give None; `onnxtext.tensor.parse_literals` reads them.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport HUGE_VAL, ldexp
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset, strncmp

from onnxtext._core.tensor.decimals cimport scaled_decimal
from onnxtext._core.tensor.packing cimport packed

cdef extern from "math.h":
    float nextafterf(float, float) noexcept

cdef extern from "Python.h":
    double PyOS_string_to_double(const char*, char**, void*) except? -1.0

cdef enum:
    FEW_ELEMENTS = 1 << 16  # Python reads more elements if the text is too short to list them
    MAX_EXPANDED = 1 << 16  # in bytes; Python reads larger tensors with `...`

cdef double[23] POWERS
POWERS[:] = [float(f"1e{exponent}") for exponent in range(23)]


cdef class Layout:
    def __cinit__(self, type, str kind, int bits, int fraction, Layout entries, dims,
                  Layout element=None, bint in_entries=False):
        """Compute the storage layout of a tensor type.

        Args:
            type: the type.
            kind: `float`, `int`, `uint`, `bool` or `complex`; Python reads others.
            bits: the bits of an element.
            fraction: the fraction bits of a float.
            entries: the layout of entries of the typed field; None if Python reads them.
            dims: the dimensions; None if they are not all constant.
            element: for complex numbers, the layout of their parts. For `int32_data`, the layout
                with which words and decimals become codes; None if it has only integers.
            in_entries: whether packed elements are in entries of `int32_data`.
        """
        self.type, self.entries, self.element = type, entries, element
        if kind not in ("float", "int", "uint", "bool", "complex") or dims is None or len(dims) > MAX_DIMS:
            return
        if bits not in (2, 4, 8, 16, 32, 64, 128) or (kind == "float" and not fraction):
            return
        self.bits, self.width = bits, max(1, bits // 8)
        if bits < 8:
            self.step = 4 if in_entries else 1
        self.fraction = fraction
        self.bias = (1 << (bits - fraction - 2)) - 1 if fraction else 0
        self.rank = len(dims)
        self.count = 1
        for axis, size in enumerate(dims):
            if not 0 <= size < 1 << 31 or self.count >> 31:
                return
            self.dims[axis] = size
            self.count *= size
        if not self.count >> 31:
            self.kind = ord(kind[0])


cdef bytes read_literal(Layout layout, const char* text, Py_ssize_t size):
    """Return the elements of a literal, little-endian; None if it is not plain.

    Args:
        layout: the layout of the literal's type.
        text: the text from the literal on, terminated by a zero byte.
        size: the size of the literal.
    """
    cdef Reader reader
    cdef bint flat
    if text[0] == c"{":
        layout = layout.entries
    if layout is None or not layout.kind:
        return None
    if not layout.count:  # `[]` or `{}`
        return b"" if size == 2 and (text[0] == c"[" or text[0] == c"{") else None
    if layout.count > FEW_ELEMENTS and layout.count > size // 2:
        return None
    result = PyBytes_FromStringAndSize(NULL, layout.count * layout.width)
    reader.at = text
    reader.out = PyBytes_AS_STRING(result)
    reader.countdown = SIGNAL_INTERVAL
    reader.in_braces = text[0] == c"{"
    if text[0] != c"{" and text[0] != c"[":
        if layout.rank or not read_element(layout, &reader):
            return None
    else:
        flat = after_blanks(text + 1)[0] != c"["
        if not layout.rank and not (flat and reader.in_braces):
            return None
        if not read_bracket(layout, 0, flat, &reader):
            return None
    if reader.at != text + size:
        return None
    return packed(result, layout.bits, layout.step) if layout.step else result


cdef bint read_bracket(Layout layout, int axis, bint flat, Reader* reader) except -1:
    """Read a bracket and its contents, at most MAX_DIMS deep; return False if not plain."""
    cdef Py_ssize_t count = layout.count if flat else layout.dims[axis], index
    cdef bint is_inner = flat or axis + 1 == layout.rank
    cdef const char* cursor = reader.at + 1
    for index in range(count):
        cursor = after_blanks(cursor)
        if index:
            if cursor[0] != c",":
                return False
            cursor = after_blanks(cursor + 1)
            if cursor[0] == c".":
                if reader.in_braces or not flat:
                    return False
                if not read_splat(layout, &cursor, count - index, reader):
                    return False
                break
        reader.at = cursor
        if is_inner:
            if not read_element(layout, reader):
                return False
        elif cursor[0] != c"[" or not read_bracket(layout, axis + 1, False, reader):
            return False
        cursor = reader.at
    cursor = after_blanks(cursor)
    if cursor[0] == c",":
        cursor = after_blanks(cursor + 1)
    reader.at = cursor + 1
    return cursor[0] == c"]" or cursor[0] == c"}"


cdef bint read_splat(
    Layout layout, const char** place, Py_ssize_t times, Reader* reader
) noexcept:
    """Read `...`, and add `times` copies of the last element; return False if Python must do it."""
    cdef const char* cursor = place[0]
    cdef Py_ssize_t index
    if cursor[1] != c"." or cursor[2] != c"." or layout.count * layout.width > MAX_EXPANDED:
        return False
    for index in range(times):
        memcpy(reader.out, reader.out - layout.width, layout.width)
        reader.out += layout.width
    place[0] = cursor + 3
    return True


cdef bint read_element(Layout layout, Reader* reader) except -1:
    cdef uint64_t integer, limit
    cdef bint negative
    reader.countdown -= 1
    if not reader.countdown:
        reader.countdown = SIGNAL_INTERVAL
        PyErr_CheckSignals()
    if layout.kind == c"f":
        if not read_float(layout, reader):
            return False
    elif layout.kind == c"b":
        if not read_word(reader):
            return False
    elif layout.kind == c"c":
        if not read_complex(layout.element, reader):
            return False
    elif layout.element is None or not read_code(layout.element, layout.width, reader):
        if not read_integer(&reader.at, &integer, &negative):
            return False
        if layout.kind == c"u":
            if (negative and integer) or (layout.bits < 64 and integer >> layout.bits):
                return False
        else:
            limit = 1ULL << (layout.bits - 1)
            if integer > limit or (integer == limit and not negative):
                return False
        write_integer(reader.out, 0 - integer if negative else integer, layout.width)
    reader.out += layout.width
    return True


cdef bint read_complex(Layout part, Reader* reader) except -1:
    """Read a number with both parts, such as `1.0-2.0j`; `reader.out` stays at the first part."""
    if not read_float(part, reader):
        return False
    if reader.at[0] == c"+" and reader.at[1] != c"-":
        reader.at += 1
    elif reader.at[0] != c"-":
        return False
    reader.out += part.width
    if not read_float(part, reader) or reader.at[0] != c"j":
        return False
    reader.out -= part.width
    reader.at += 1
    return True


cdef bint read_code(Layout layout, int width, Reader* reader) except -1:
    """Read a word or a decimal as a code of `width` bytes; return False for other texts."""
    cdef const char* start = reader.at
    memset(reader.out, 0, width)
    if read_word(reader) if layout.kind == c"b" else read_float(layout, reader):
        return True
    reader.at = start
    return False


cdef bint read_word(Reader* reader) noexcept:
    """Read `true` or `false`."""
    if strncmp(reader.at, "true", 4) == 0:
        reader.at += 4
        reader.out[0] = 1
    elif strncmp(reader.at, "false", 5) == 0:
        reader.at += 5
        reader.out[0] = 0
    else:
        return False
    return True


cdef bint read_float(Layout layout, Reader* reader) except -1:
    """Read a decimal number: round it to a double, then to the type.

    Double rounding is wrong only if the double is halfway between two numbers of the type. Python
    reads these and numbers that are too large.
    """
    cdef const char* start = reader.at
    cdef double number
    cdef float single
    cdef uint64_t bits
    if not is_digit(start[start[0] == c"-"]):
        return read_special(layout, reader)
    if not read_double(&reader.at, &number):
        return False
    memcpy(&bits, &number, 8)
    if layout.width == 8:
        write_integer(reader.out, bits, 8)
        return not is_infinite(number)
    if layout.width == 4:
        single = <float>number
        if is_infinite(single) or (not bits & 0xFFFFFFF and is_halfway(number, single)):
            return False
        memcpy(reader.out, &single, 4)
        return True
    while is_digit(start[0]) or start[0] == c"-":
        start += 1  # an integer is a bit pattern here
    return start != reader.at and write_narrow(layout, bits, reader.out)


cdef bint read_special(Layout layout, Reader* reader) noexcept:
    """Read `inf`, `nan`, `-inf` or `-nan`, if the type has at least 16 bits."""
    cdef bint minus = reader.at[0] == c"-"
    cdef bint is_nan = strncmp(reader.at + minus, "nan", 3) == 0
    cdef uint64_t code = (1ULL << (layout.bits - 1)) - (1ULL << layout.fraction)
    if layout.bits < 16 or not (is_nan or strncmp(reader.at + minus, "inf", 3) == 0):
        return False
    code |= <uint64_t>is_nan << (layout.fraction - 1) | <uint64_t>minus << (layout.bits - 1)
    write_integer(reader.out, code, layout.width)
    reader.at += 3 + minus
    return True


cdef inline bint is_infinite(double number) noexcept:
    return number - number != 0


cdef bint is_halfway(double number, float nearest) noexcept:
    """Whether a number is halfway between two float32 values, one of which is `nearest`."""
    if number == nearest:
        return False
    return <double>nearest + nextafterf(nearest, (number - nearest) * HUGE_VAL) == 2 * number


cdef bint write_narrow(Layout layout, uint64_t bits, char* out) noexcept:
    """Round a double to 8 or 16 bits; return False if it is halfway or too large."""
    cdef int surplus = 52 - layout.fraction
    cdef uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFULL
    cdef double number
    if magnitude >> 52 < <uint64_t>(1024 - layout.bias):  # subnormal
        # The result is a multiple of the type's minimum.
        memcpy(&number, &magnitude, 8)
        number = ldexp(number, layout.bias - 1 + layout.fraction)
        magnitude = <uint64_t>number
        if number - magnitude == 0.5:
            return False
        magnitude += number - magnitude > 0.5
    else:
        if bits & ((1ULL << surplus) - 1) == 1ULL << (surplus - 1):
            return False
        magnitude += 1ULL << (surplus - 1)
        if <int64_t>(magnitude >> 52) > 1023 + layout.bias:
            return False
        magnitude = (magnitude >> surplus) - (<uint64_t>(1023 - layout.bias) << layout.fraction)
    write_integer(out, (bits >> 63) << (layout.bits - 1) | magnitude, layout.width)
    return True


cdef inline void write_integer(char* out, uint64_t bits, int width) noexcept:
    cdef int index
    for index in range(width):
        out[index] = <char>(bits >> (8 * index) & 0xFF)


cdef bint read_integer(const char** place, uint64_t* result, bint* negative) noexcept:
    """Read an integer as its absolute value and its sign; return False if it is invalid."""
    cdef const char* cursor = place[0]
    cdef const char* start = cursor + (cursor[0] == c"-")
    cdef uint64_t value = 0, digit
    negative[0] = start != cursor
    cursor = start
    while is_digit(cursor[0]):
        digit = cursor[0] - c"0"
        if value > (~<uint64_t>0 - digit) // 10:
            return False
        value = value * 10 + digit
        cursor += 1
    if cursor == start:
        return False
    result[0] = value
    place[0] = cursor
    return True


cdef bint read_double(const char** place, double* result) except -1:
    """Read a decimal number: by one exact operation or from its first bits, else like Python."""
    cdef const char* cursor = place[0]
    cdef bint is_negative = cursor[0] == c"-"
    cdef const char* first = cursor + is_negative
    cdef const char* fraction
    cdef const char* end
    cdef uint64_t mantissa = 0
    cdef Py_ssize_t scale = 0
    cdef int exponent = 0
    cdef bint minus
    cdef double number = -1
    end = after_digits(first, &mantissa)
    if end == first:
        return False
    if end[0] == c".":
        fraction = end + 1
        end = after_digits(fraction, &mantissa)
        scale = fraction - end
        if not scale:
            return False
    cursor = end
    if cursor[0] == c"e" or cursor[0] == c"E":
        minus = cursor[1] == c"-"
        cursor += 2 if minus or cursor[1] == c"+" else 1
        if not is_digit(cursor[0]):
            return False
        while is_digit(cursor[0]) and exponent < 1000:
            exponent = exponent * 10 + (cursor[0] - c"0")
            cursor += 1
        scale += -exponent if minus else exponent
    if is_digit(cursor[0]) or cursor[0] == c".":
        return False
    while end - first > 19 and (first[0] == c"0" or first[0] == c"."):
        first += 1
    # With more characters, the mantissa may have overflowed.
    if end - first < 20 and mantissa <= 1ULL << 53 and -22 <= scale <= 22:
        number = <double>mantissa / POWERS[-scale] if scale < 0 else <double>mantissa * POWERS[scale]
    elif end - first < 20 and mantissa and -292 <= scale <= 288:
        number = scaled_decimal(mantissa, <int>scale)
    if number < 0:
        number = PyOS_string_to_double(place[0] + is_negative, <char**>&end, NULL)
        if end != cursor:
            return False
    result[0] = -number if is_negative else number
    place[0] = cursor
    return True


cdef inline const char* after_digits(const char* cursor, uint64_t* mantissa) noexcept:
    """Append decimal digits to a number; return the first character after them."""
    cdef uint64_t value = mantissa[0]
    cdef uint8_t digit = <uint8_t>(cursor[0] - c"0")
    while digit < 10:
        value = value * 10 + digit
        cursor += 1
        digit = <uint8_t>(cursor[0] - c"0")
    mantissa[0] = value
    return cursor
