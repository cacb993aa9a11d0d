# SPDX-License-Identifier: Apache-2.0
"""Short literals of plain numbers to bytes.

Whatever is not plain (words, hexadecimals, comments, another number of elements, numbers that
would be rounded twice or do not fit) gives None, and `onnxtext.tensor.parse` reads it.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char*, char**, void*) except? -1.0

cdef Py_ssize_t MOST_ELEMENTS = 1 << 16

cdef double[23] POWERS
POWERS[:] = [float(f"1e{exponent}") for exponent in range(23)]


cdef class Layout:
    def __cinit__(self, type, str kind, int bits, bint braces, dims):
        """Describe a type.

        Args:
            type: the type.
            kind: `float`, `int`, `uint`, or anything else for what is read in Python.
            bits: of an element.
            braces: whether literals in braces are read, too.
            dims: the dimensions, or None if they are not all constant.
        """
        self.type = type
        if kind not in ("float", "int", "uint") or not dims or len(dims) > MOST_DIMS:
            return
        if bits not in (8, 16, 32, 64) or (kind == "float" and bits < 32):
            return
        self.braces = braces
        self.width = bits // 8
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
    if not layout.kind or (text[0] == c"{" and not layout.braces):
        return None
    reader.at = PyBytes_AS_STRING(text)
    made = PyBytes_FromStringAndSize(NULL, layout.count * layout.width)
    reader.out = PyBytes_AS_STRING(made)
    flat = after_blanks(reader.at + 1)[0] != c"["
    if not read_bracket(layout, 0, flat, &reader):
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


cdef bint read_element(Layout layout, Reader* reader) except -1:
    cdef double number
    cdef float single
    cdef int64_t integer
    cdef uint64_t bits, size
    if layout.kind == c"f":
        if not read_double(&reader.at, &number):
            return False
        memcpy(&bits, &number, 8)
        size = bits & 0x7FFFFFFFFFFFFFFFULL
        if size >= 0x7FF0000000000000ULL:
            return False
        if layout.width == 8:
            memcpy(reader.out, &number, 8)
        else:
            # Decimals are rounded to double first: that decides nothing but exactly halfway.
            if (bits & 0x1FFFFFFF) == 0x10000000 or size >= 0x47EFFFFFE0000000ULL:
                return False
            if 0 < size < 0x3810000000000000ULL:  # below the least normal number
                return False
            single = <float>number
            memcpy(reader.out, &single, 4)
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
