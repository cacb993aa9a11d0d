# SPDX-License-Identifier: Apache-2.0
"""Cache the results of rules by the text of their spans, so that equal spans are built once.

Each span has two possible slots, and the older entry is evicted: time and memory are bounded for
every text.
"""
cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    void* PyUnicode_DATA(object)


@cython.final
cdef class Memo:
    def __cinit__(self, str text):
        """Create the cache of a text, which must stay alive."""
        cdef Py_ssize_t places = MIN_PLACES
        while places < PLACES and places * SPARSE < len(text):
            places *= 2
        self.text = <const uint8_t*>PyUnicode_DATA(text)
        self.mask = places - 2
        self.keys = <Key*>PyMem_Calloc(places, sizeof(Key))
        if self.keys is NULL:
            raise MemoryError
        self.values = [None] * places

    def __dealloc__(self):
        PyMem_Free(self.keys)

    cdef object find(self, int rule, Py_ssize_t start, Py_ssize_t size, Py_ssize_t* place):
        """Return the cached result of a rule for a span; None if there is none.

        Args:
            rule: the number of the rule.
            start: the byte offset of the span.
            size: its size in bytes, at least one.
            place: set to the slot for `keep`.
        """
        cdef const uint8_t* data = self.text + start
        cdef uint64_t hash = <uint64_t>(rule * PLACES + size), word = 0
        cdef Py_ssize_t offset = 0, index, slot
        cdef Key* key
        while offset + 8 <= size:
            memcpy(&word, data + offset, 8)
            hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL
            hash ^= hash >> 32
            offset += 8
        word = 0
        memcpy(&word, data + offset, size - offset)
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL
        place[0] = index = <Py_ssize_t>(hash >> 32) & self.mask
        for slot in range(index, index + 2):
            key = &self.keys[slot]
            if (
                key.size == size and key.rule == rule
                and memcmp(self.text + key.start, data, size) == 0
            ):
                return self.values[slot]
        return None

    cdef int keep(
        self, Py_ssize_t place, int rule, Py_ssize_t start, Py_ssize_t size, value
    ) except -1:
        """Cache the result of a rule for a span; evict the older entry. Arguments as for `find`."""
        cdef Key* key = &self.keys[place]
        if key.size:
            self.keys[place ^ 1] = key[0]
            self.values[place ^ 1] = self.values[place]
        key.rule = rule
        key.start = start
        key.size = size
        self.values[place] = value
        return 0
