# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t

cdef enum:
    MOST_DIMS = 8

cdef class Layout:
    """The storage layout of a tensor type."""
    cdef readonly object type  # kept alive, because it is cached by id
    cdef uint8_t kind  # `f`, `i`, `u` or `b`; 0 if Python reads literals of this type
    cdef Layout entries  # of literals in braces; None if Python reads them
    cdef Layout element  # of entries: how words and decimals are read; None if Python reads them
    cdef int width, rank, bits
    cdef int step  # of packed elements: bytes for each packed byte; otherwise 0
    cdef int fraction, bias  # of floats: the fraction bits and the exponent bias
    cdef Py_ssize_t count
    cdef Py_ssize_t[8] dims

cdef bytes read_literal(Layout layout, const char* text, Py_ssize_t size)
cdef object read_number(const char* text, Py_ssize_t size, char kind)
