# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)

cdef enum:
    MAX_DIMS = 8
    SIGNAL_INTERVAL = 1 << 18  # the number of elements between two checks for signals

cdef class Layout:
    """The storage layout of a tensor type."""
    cdef readonly object type  # kept alive, because layouts are cached by its id
    cdef uint8_t kind  # `f`, `i`, `u`, `b` or `c` (complex); 0 if Python reads these literals
    cdef Layout entries  # the layout of literals in braces; None if Python reads them
    cdef Layout element  # see `__cinit__`
    cdef int width, rank, bits
    cdef int step  # the distance between packed bytes; 0 for types that are not packed
    cdef int fraction, bias  # for floats: the number of fraction bits, and the exponent bias
    cdef Py_ssize_t count
    cdef Py_ssize_t[8] dims


cdef struct Reader:
    const char* at
    char* out
    int countdown
    bint in_braces

cdef bytes read_literal(Layout layout, const char* text, Py_ssize_t size)
cdef bint read_element(Layout layout, Reader* reader) except -1


cdef inline bint is_external_number(text):
    """Whether `external(…)` can express a number: decimal, without sign or leading zeros."""
    cdef const char* digits
    cdef Py_ssize_t index, size
    if not isinstance(text, str) or not PyUnicode_IS_ASCII(text):
        return False
    digits, size = <const char*>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
    for index in range(size):
        if not c"0" <= digits[index] <= c"9":
            return False
    return size > 0 and (size == 1 or digits[0] != c"0")


cdef inline bint is_blank(char character) noexcept:
    return character == c" " or c"\t" <= character <= c"\r"


cdef inline const char* after_blanks(const char* cursor) noexcept:
    while is_blank(cursor[0]):
        cursor += 1
    return cursor


cdef inline bint is_digit(char character) noexcept:
    return c"0" <= character <= c"9"
