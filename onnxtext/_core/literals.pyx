# SPDX-License-Identifier: Apache-2.0
"""Short literals of plain numbers to bytes.

Whatever is not plain (words, hexadecimals, comments, another number of elements, numbers that
would be rounded twice or do not fit) gives None, and `onnxtext.tensor.parse` reads it.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, strncmp

cdef extern from "Python.h":
    double PyOS_string_to_double(const char*, char**, void*) except? -1.0

cdef enum:
    MOST_ELEMENTS = 1 << 16
    MOST_EXPANDED = 1 << 16  # bytes; Python does not expand more

cdef double[23] POWERS
POWERS[:] = [float(f"1e{exponent}") for exponent in range(23)]


cdef class Layout:
    def __cinit__(self, type, str kind, int bits, int fraction, bint braces, dims):
        """Describe a type.

        Args:
            type: the type.
            kind: `float`, `int`, `uint`, `bool`, or anything else for what is read in Python.
            bits: of an element.
            fraction: how many bits the fraction of a float has.
            braces: whether literals in braces are read, too.
            dims: the dimensions, or None if they are not all constant.
        """
        self.type = type
        if kind not in ("float", "int", "uint", "bool") or dims is None or len(dims) > MOST_DIMS:
            return
        if bits not in (8, 16, 32, 64) or (kind == "float" and not fraction):
            return
        self.braces = braces
        self.width = bits // 8
        self.fraction = fraction
        if fraction:
            self.bias = (1 << (bits - fraction - 2)) - 1
        self.rank = len(dims)
        self.count = 1
        for axis, size in enumerate(dims):
            if not 0 < size <= MOST_ELEMENTS or self.count > MOST_ELEMENTS:
                return
            self.dims[axis] = size
            self.count *= size
        if self.count <= MOST_ELEMENTS:
            self.kind = ord(kind[0])


cdef struct Reader:
    const char* at  # the text ends with a zero byte, which no step passes
    char* out


cdef bytes read_literal(Layout layout, bytes text):
    """The elements that a literal holds, little-endian; None if it is not as plain as that."""
    cdef Reader reader
    cdef bint flat
    cdef char first = PyBytes_AS_STRING(text)[0]
    if not layout.kind or (first == c"{" and not layout.braces):
        return None
    reader.at = PyBytes_AS_STRING(text)
    made = PyBytes_FromStringAndSize(NULL, layout.count * layout.width)
    reader.out = PyBytes_AS_STRING(made)
    if first != c"{" and first != c"[":
        if layout.rank or not read_element(layout, &reader):
            return None
    else:
        flat = after_blanks(reader.at + 1)[0] != c"["
        if not layout.rank or not read_bracket(layout, 0, flat, &reader):
            return None
    if reader.at != PyBytes_AS_STRING(text) + len(text):
        return None
    return made


cdef inline const char* after_blanks(const char* at) noexcept:
    while at[0] == c" " or c"\t" <= at[0] <= c"\r":
        at += 1
    return at


cdef inline bint is_digit(char character) noexcept:
    return c"0" <= character <= c"9"


cdef bint read_bracket(Layout layout, int axis, bint flat, Reader* reader) except -1:
    """One bracket and all in it, at most MOST_DIMS deep; False for what is not plain."""
    cdef Py_ssize_t count = layout.count if flat else layout.dims[axis], index
    cdef bint is_inner = flat or axis + 1 == layout.rank
    cdef const char* at = reader.at + 1
    for index in range(count):
        at = after_blanks(at)
        if index:
            if at[0] != c",":
                return False
            at = after_blanks(at + 1)
            if at[0] == c".":
                if not flat or not read_splat(layout, &at, count - index, reader):
                    return False
                break
        reader.at = at
        if is_inner:
            if not read_element(layout, reader):
                return False
        elif at[0] != c"[" or not read_bracket(layout, axis + 1, False, reader):
            return False
        at = reader.at
    at = after_blanks(at)
    if at[0] == c",":
        at = after_blanks(at + 1)
    if at[0] != c"]" and at[0] != c"}":
        return False
    reader.at = at + 1
    return True


cdef bint read_splat(
    Layout layout, const char** place, Py_ssize_t times, Reader* reader
) noexcept:
    """`...`: the last element again and again."""
    cdef const char* at = place[0]
    cdef Py_ssize_t index
    if at[1] != c"." or at[2] != c"." or layout.count * layout.width > MOST_EXPANDED:
        return False
    for index in range(times):
        memcpy(reader.out, reader.out - layout.width, layout.width)
        reader.out += layout.width
    place[0] = at + 3
    return True


cdef bint read_element(Layout layout, Reader* reader) except -1:
    cdef int64_t integer
    if layout.kind == c"f":
        if not read_float(layout, reader):
            return False
    elif layout.kind == c"b":
        if not read_word(reader):
            return False
    else:
        if not read_integer(&reader.at, &integer):
            return False
        if layout.kind == c"u":
            if integer < 0 or (layout.width < 8 and integer >> (8 * layout.width)):
                return False
        elif layout.width < 8 and not -1 <= integer >> (8 * layout.width - 1) <= 0:
            return False
        write_integer(reader.out, <uint64_t>integer, layout.width)
    reader.out += layout.width
    return True


cdef bint read_word(Reader* reader) noexcept:
    """`true` or `false`."""
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
    """A decimal number, which is rounded to a double first, and then to the type.

    Both decide the same, but where the double lies exactly between two numbers of the type. Those,
    what is too large, and what is below the least normal number, are read in Python.
    """
    cdef const char* start = reader.at
    cdef double number
    cdef uint64_t bits, size
    cdef int surplus = 52 - layout.fraction
    if not read_double(&reader.at, &number):
        return False
    memcpy(&bits, &number, 8)
    size = bits & 0x7FFFFFFFFFFFFFFFULL
    if layout.width == 2:  # where an integer means bits
        while is_digit(start[0]) or start[0] == c"-":
            start += 1
        if start == reader.at:
            return False
    if surplus and size:
        if bits & ((1ULL << surplus) - 1) == 1ULL << (surplus - 1):
            return False
        size += 1ULL << (surplus - 1)
        if not 1024 - layout.bias <= <int64_t>(size >> 52) <= 1023 + layout.bias:
            return False
        size = (size >> surplus) - (<uint64_t>(1023 - layout.bias) << layout.fraction)
    elif size >> 52 == 2047:
        return False
    write_integer(reader.out, (bits >> 63) << (8 * layout.width - 1) | size, layout.width)
    return True


cdef inline void write_integer(char* out, uint64_t bits, int width) noexcept:
    cdef int index
    for index in range(width):
        out[index] = <char>(bits >> (8 * index) & 0xFF)


cdef bint read_integer(const char** place, int64_t* made) noexcept:
    """An integer of at most eighteen digits."""
    cdef const char* at = place[0]
    cdef int64_t value = 0
    cdef int digits = 0
    cdef bint negative = at[0] == c"-"
    if negative:
        at += 1
    while is_digit(at[0]):
        if digits == 18:
            return False
        value = value * 10 + (at[0] - c"0")
        digits += 1
        at += 1
    if not digits:
        return False
    made[0] = -value if negative else value
    place[0] = at
    return True


cdef bint read_double(const char** place, double* made) except -1:
    """A decimal number: by one exact operation where that is enough, else as Python reads it."""
    cdef const char* at = place[0]
    cdef uint64_t mantissa = 0
    cdef int digits = 0, scale = 0, exponent = 0
    cdef bint negative = at[0] == c"-", minus = False
    cdef char* end
    if negative:
        at += 1
    if not is_digit(at[0]):
        return False
    while is_digit(at[0]) and digits < 19:
        mantissa = mantissa * 10 + (at[0] - c"0")
        digits += mantissa != 0
        at += 1
    if at[0] == c".":
        at += 1
        if not is_digit(at[0]):
            return False
        while is_digit(at[0]) and digits < 19 and scale > -400:
            mantissa = mantissa * 10 + (at[0] - c"0")
            digits += mantissa != 0
            scale -= 1
            at += 1
    if at[0] == c"e":
        at += 1
        minus = at[0] == c"-"
        if minus:
            at += 1
        if not is_digit(at[0]):
            return False
        while is_digit(at[0]) and exponent < 1000:
            exponent = exponent * 10 + (at[0] - c"0")
            at += 1
        scale += -exponent if minus else exponent
    if is_digit(at[0]) or at[0] == c"." or at[0] == c"e" or at[0] == c"E":
        return False  # longer than what is read here
    if digits < 19 and mantissa <= 1ULL << 53 and -22 <= scale <= 22:
        made[0] = <double>mantissa / POWERS[-scale] if scale < 0 else <double>mantissa * POWERS[scale]
        if negative:
            made[0] = -made[0]
    else:
        made[0] = PyOS_string_to_double(place[0], &end, NULL)
        if <const char*>end != at:
            return False
    place[0] = at
    return True
