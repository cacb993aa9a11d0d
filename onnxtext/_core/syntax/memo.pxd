# SPDX-License-Identifier: Apache-2.0
cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    MIN_SLOTS = 1 << 5
    MAX_SLOTS = 1 << 12
    CHARACTERS_PER_SLOT = 16  # of the text, between the two limits

cdef struct Key:
    int rule
    uint32_t hash
    Py_ssize_t start
    Py_ssize_t size

@cython.final
cdef class Memo:
    """A bounded cache of rule results by the span's text."""
    cdef const uint8_t* text
    cdef Key* keys
    cdef list values
    cdef Py_ssize_t mask
    cdef object find(self, int rule, Py_ssize_t start, Py_ssize_t size, uint64_t* hash)
    cdef int store(
        self, uint64_t hash, int rule, Py_ssize_t start, Py_ssize_t size, value
    ) except -1
