# SPDX-License-Identifier: Apache-2.0
"""Cache the results of rules by the text of their spans, so that equal spans are built once.

Each span has two possible slots; a new entry evicts the older one. So a lookup takes constant time
for a span of bounded length, and the number of slots is bounded.
"""
cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    void* PyUnicode_DATA(object)


@cython.final
cdef class Memo:
    def __cinit__(self, str text):
        """Create the cache of a text, which must stay alive."""
        cdef Py_ssize_t slots = MIN_SLOTS
        while slots < MAX_SLOTS and slots * CHARACTERS_PER_SLOT < len(text):
            slots *= 2
        self.text = <const uint8_t*>PyUnicode_DATA(text)
        self.mask = slots - 2
        self.keys = <Key*>PyMem_Calloc(slots, sizeof(Key))
        if self.keys is NULL:
            raise MemoryError
        self.values = [None] * slots

    def __dealloc__(self):
        PyMem_Free(self.keys)

    cdef object find(self, int rule, Py_ssize_t start, Py_ssize_t size, uint64_t* key_hash):
        """Return the cached result of a rule for a span; None if there is none.

        Args:
            rule: the number of the rule.
            start: the byte offset of the span.
            size: its size in bytes, at least one.
            key_hash: receives the hash for `store`.
        """
        cdef const uint8_t* data = self.text + start
        cdef uint64_t hash = <uint64_t>(rule * MAX_SLOTS + size), word = 0
        cdef Py_ssize_t offset = 0, first, index
        cdef Key* key
        while offset + 8 <= size:
            memcpy(&word, data + offset, 8)
            hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL
            hash ^= hash >> 32
            offset += 8
        word = 0
        memcpy(&word, data + offset, size - offset)
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL
        key_hash[0] = hash
        first = <Py_ssize_t>(hash >> 32) & self.mask
        for index in range(first, first + 2):
            key = &self.keys[index]
            if (
                key.hash == <uint32_t>hash and key.size == size and key.rule == rule
                and memcmp(self.text + key.start, data, size) == 0
            ):
                return self.values[index]
        return None

    cdef int store(
        self, uint64_t hash, int rule, Py_ssize_t start, Py_ssize_t size, value
    ) except -1:
        """Cache the result of a rule for a span; evict the older entry. Arguments as for `find`."""
        cdef Py_ssize_t slot = <Py_ssize_t>(hash >> 32) & self.mask
        cdef Key* key = &self.keys[slot]
        if key.size:
            self.keys[slot ^ 1] = key[0]
            self.values[slot ^ 1] = self.values[slot]
        key.rule = rule
        key.hash = <uint32_t>hash
        key.start = start
        key.size = size
        self.values[slot] = value
        return 0
