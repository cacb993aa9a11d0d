# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t

cdef enum:
    # Results that are not terminal numbers.
    END = -1  # only whitespace and comments are left
    BAD = -2  # no token begins here
    LONG = -3  # a token that the Python lexer must read
    IGNORED = -4  # whitespace or a comment
    NOT_ACCEPTING = -5  # not an accepting state

cdef class Scanner:
    cdef uint8_t[256] classes
    cdef int16_t* moves
    cdef int16_t* accepts
    cdef uint8_t* loops  # by state and character, whether the state stays; false for brackets
    cdef int width
    cdef int nested
    cdef int scan(self, int size, const void* text, Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* end) noexcept
