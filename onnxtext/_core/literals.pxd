# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t

cdef enum:
    MOST_DIMS = 8

cdef class Layout:
    """How the elements of a type with constant dimensions are stored."""
    cdef readonly object type  # kept: it is known by its identity
    cdef uint8_t kind  # `f`, `i`, `u` or `b`; 0 if literals of this type are read in Python
    cdef Layout entries  # of literals in braces; None if they are read in Python
    cdef int width, rank
    cdef int fraction, bias  # of floats: how many bits it has, and that of the exponent
    cdef Py_ssize_t count
    cdef Py_ssize_t[8] dims

cdef bytes read_literal(Layout layout, const char* text, Py_ssize_t size)
