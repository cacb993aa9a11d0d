# SPDX-License-Identifier: Apache-2.0
"""Write the protobuf wire format into a growing buffer, with the shortest varints."""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.string cimport memcpy, memmove

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    void* PyUnicode_1BYTE_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)


cdef inline char* write_varint(char* cursor, uint64_t value) noexcept:
    while value > 127:
        cursor[0] = <char>(value & 127 | 128)
        cursor += 1
        value >>= 7
    cursor[0] = <char>value
    return cursor + 1


cdef class Growing:
    def __cinit__(self):
        self.room = 1024
        self.data = <char*>PyMem_Malloc(self.room)
        if self.data is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int grow(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t room = 2 * (self.size + more)
        cdef char* data = <char*>PyMem_Realloc(self.data, room)
        if data is NULL:
            raise MemoryError
        self.data = data
        self.room = room
        return 0


@cython.final
cdef class Buffer(Growing):
    cdef int add_bytes(self, bytes data) except -1:
        return self.add(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef int number(self, int key, uint64_t value) except -1:
        """Add a varint field; with the key 0, only the varint."""
        self.need(HEAD)
        cdef char* cursor = self.data + self.size
        if key:
            cursor = write_varint(cursor, key)
        self.size = write_varint(cursor, value) - self.data
        return 0

    cdef int head(self, int key, Py_ssize_t size) except -1:
        """Add the key and the length of a field."""
        return self.number(key, size)

    cdef int field(self, int key, bytes data) except -1:
        self.head(key, PyBytes_GET_SIZE(data))
        return self.add_bytes(data)

    cdef int text(self, int key, text) except -1:
        cdef Py_ssize_t size
        cdef char* cursor
        if not isinstance(text, str):
            raise TypeError(f"expected a str, found {type(text).__name__}")
        if not PyUnicode_IS_COMPACT_ASCII(text):
            return self.field(key, (<str>text).encode("utf-8", "surrogateescape"))
        size = PyUnicode_GET_LENGTH(text)
        self.need(HEAD + size)
        cursor = write_varint(write_varint(self.data + self.size, key), size)
        memcpy(cursor, PyUnicode_1BYTE_DATA(text), size)
        self.size = cursor + size - self.data
        return 0

    cdef Py_ssize_t open(self, int key) except -1:
        """Begin a field of unknown length; return the offset of its data, which `close` needs."""
        self.number(key, 0)
        return self.size

    cdef int close(self, Py_ssize_t start) except -1:
        """End the field whose data begins at offset `start`, and insert its length."""
        cdef char[HEAD] length
        cdef Py_ssize_t size = self.size - start, width = write_varint(length, size) - length
        if width > 1:
            self.need(width)
            memmove(self.data + start + width - 1, self.data + start, size)
            self.size += width - 1
        memcpy(self.data + start - 1, length, width)
        return 0

    cdef bytes take(self, Py_ssize_t start):
        """Remove and return the bytes from an offset on."""
        result = PyBytes_FromStringAndSize(self.data + start, self.size - start)
        self.size = start
        return result
