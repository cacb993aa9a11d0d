# SPDX-License-Identifier: Apache-2.0
cimport cython
from libc.stdint cimport uint8_t

cdef enum:
    MIN_PLACES = 1 << 5
    PLACES = 1 << 12  # the maximum number of cache slots
    SPARSE = 16  # characters of the text per slot

cdef struct Key:
    int rule
    Py_ssize_t start
    Py_ssize_t size

@cython.final
cdef class Memo:
    """A bounded cache of rule results by the span's text."""
    cdef const uint8_t* text
    cdef Key* keys
    cdef list values
    cdef Py_ssize_t mask
    cdef object find(self, int rule, Py_ssize_t start, Py_ssize_t size, Py_ssize_t* place)
    cdef int keep(
        self, Py_ssize_t place, int rule, Py_ssize_t start, Py_ssize_t size, value
    ) except -1
