# SPDX-License-Identifier: Apache-2.0
"""Encode and decode lists: the compiled parts of `onnxtext.tensor.varints` and `strings`."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from onnxtext._core.wire.buffer cimport Buffer
from onnxtext._core.wire.reader cimport Bytes, read_varint

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1


def pack(entries, int width):
    """Encode little-endian integers as varints; `width` is 4 (signed) or 8 bytes."""
    cdef Buffer out = Buffer()
    add_varints(out, 0, entries, width)
    return out.take(0)


def int_fields(int key, numbers):
    """Encode little-endian 64-bit integers as fields with the key `key`, one field per integer."""
    cdef Buffer out = Buffer()
    add_varints(out, key, numbers, 8)
    return out.take(0)


def pack_integers(tuple values):
    """Encode 64-bit integers as varints; None if there are other values."""
    cdef Buffer out = Buffer()
    cdef int64_t number
    cdef int overflow
    out.need(2 * len(values))
    for value in values:
        if type(value) is not int:
            return None
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return None
        out.number(0, <uint64_t>number)
    return out.take(0)


def fields_of_packed(int key, packed):
    """Encode each packed varint as a field with the key `key`; None if a varint is invalid."""
    cdef Buffer out = Buffer()
    return out.take(0) if add_packed(out, key, packed) else None


cdef bint add_packed(Buffer out, int key, packed) except -1:
    """Add the fields that `fields_of_packed` returns; return False if a varint is invalid."""
    cdef const unsigned char[::1] data = packed
    cdef Py_ssize_t offset = 0, end = data.shape[0]
    cdef uint64_t number
    out.need(2 * end)
    while offset < end:
        if not read_varint(&data[0], &offset, end, &number):
            return False
        out.number(key, number)
    return True


def float_fields(int key, numbers):
    """Encode little-endian 32-bit floats as fields, one per float; `key` fits in one byte."""
    cdef const unsigned char[::1] data = numbers
    cdef Buffer out = Buffer()
    cdef Py_ssize_t offset
    out.need(data.shape[0] // 4 * 5)
    for offset in range(0, data.shape[0] - 3, 4):
        out.data[out.size] = <char>key
        memcpy(out.data + out.size + 1, &data[offset], 4)
        out.size += 5
    return out.take(0)


def unpack(packed, int width):
    """Decode varints to little-endian integers of 4 or 8 bytes; None if one is invalid.

    Args:
        packed: the varints, one after the other.
        width: 4 or 8; with 4, a varint must be a signed 32-bit integer.
    """
    cdef const unsigned char[::1] data = packed
    cdef Py_ssize_t offset, end = data.shape[0], count = 0
    cdef uint64_t number
    cdef char* into
    for offset in range(end):
        count += data[offset] < 128
    result = PyBytes_FromStringAndSize(NULL, count * width)
    into = PyBytes_AS_STRING(result)
    offset = 0
    while offset < end:
        if not read_varint(&data[0], &offset, end, &number):
            return None
        if width == 4 and <int64_t>number != <int32_t>number:
            return None
        memcpy(into, &number, width)
        into += width
    return result


cdef int add_varints(Buffer out, int key, entries, int width) except -1:
    cdef const unsigned char[::1] data = entries
    cdef Py_ssize_t offset
    cdef int32_t small
    cdef int64_t large
    out.need(data.shape[0] // width * 2)
    for offset in range(0, data.shape[0] - width + 1, width):
        if width == 4:
            memcpy(&small, &data[offset], 4)
            large = small
        else:
            memcpy(&large, &data[offset], 8)
        out.number(key, <uint64_t>large)
    return 0


def string_fields(int key, values):
    """Encode each string as a field with this key; for the key 0, as its length and data."""
    cdef Buffer out = Buffer()
    cdef bytes value
    for value in values:
        out.head(key, len(value))
        out.add_bytes(value)
    return out.take(0)


def split_strings(joined):
    """Return the strings in a result of `join_strings`; None if the bytes are not such a result."""
    cdef const unsigned char[::1] data = joined
    cdef Py_ssize_t offset = 0, end = data.shape[0], size
    cdef list values = []
    while offset < end:
        if not next_string(&data[0], &offset, end, &size):
            return None
        values.append(PyBytes_FromStringAndSize(<const char*>&data[0] + offset, size))
        offset += size
    return tuple(values)


def fields_of_strings(int key, joined):
    """Encode each of some length-prefixed strings as a field; None if one is invalid."""
    cdef const unsigned char[::1] data = joined
    cdef Buffer out = Buffer()
    cdef Py_ssize_t offset = 0, end = data.shape[0], size
    out.need(2 * end)
    while offset < end:
        if not next_string(&data[0], &offset, end, &size):
            return None
        out.head(key, size)
        out.add(<const char*>&data[0] + offset, size)
        offset += size
    return out.take(0)


cdef bint next_string(Bytes data, Py_ssize_t* offset, Py_ssize_t end, Py_ssize_t* size) noexcept:
    """Read the length of a length-prefixed string; return False if it is invalid or padded."""
    cdef Py_ssize_t start = offset[0], width
    cdef uint64_t found
    if not read_varint(data, offset, end, &found):
        return False
    width = offset[0] - start
    size[0] = <Py_ssize_t>found
    return width <= 5 and found <= <uint64_t>(end - offset[0]) and (
        width == 1 or data[offset[0] - 1] != 0
    )
