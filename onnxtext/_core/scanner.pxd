# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    # What is no terminal's number.
    END = -1  # only blanks and comments are left
    BAD = -2  # no token begins here
    LONG = -3  # a token that Python's lexer has to read
    IGNORED = -4  # a blank or a comment
    NOTHING = -5  # nothing ends here

cdef class Scanner:
    cdef uint8_t[256] classes
    cdef int16_t* moves
    cdef int16_t* accepts
    cdef uint64_t* loops  # for each state the classes, as bits, that lead back to it
    cdef int width
    cdef int nested
    cdef int scan(self, int size, const void* text, Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* end) noexcept
