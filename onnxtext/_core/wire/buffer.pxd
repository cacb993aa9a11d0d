# SPDX-License-Identifier: Apache-2.0
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef enum:
    HEAD = 20  # the maximum size of a field's key and length, in bytes

cdef class Growing:
    """A growing byte buffer."""
    cdef char* data
    cdef Py_ssize_t size, room
    cdef int grow(self, Py_ssize_t more) except -1

    cdef inline int need(self, Py_ssize_t more) except -1:
        """Reserve space for `more` bytes at the end."""
        return self.grow(more) if more > self.room - self.size else 0

    cdef inline int add(self, const char* data, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

@cython.final
cdef class Buffer(Growing):
    """The bytes of an encoded message."""
    cdef int add_bytes(self, bytes data) except -1
    cdef int number(self, int key, uint64_t value) except -1
    cdef int head(self, int key, Py_ssize_t size) except -1
    cdef int field(self, int key, bytes data) except -1
    cdef int text(self, int key, text) except -1
    cdef Py_ssize_t open(self, int key) except -1
    cdef int close(self, Py_ssize_t start) except -1
    cdef bytes take(self, Py_ssize_t start)
