# SPDX-License-Identifier: Apache-2.0
"""Read the protobuf wire format, with bounds checks."""
from libc.stdint cimport uint64_t

ctypedef const unsigned char* Bytes

cdef enum WireType:
    VARINT = 0
    FIXED64 = 1
    LENGTH = 2
    FIXED32 = 5

cdef struct Field:
    int key  # number and wire type, as on the wire
    Py_ssize_t value  # the offset of its payload
    Py_ssize_t end  # the offset after its payload
    uint64_t number  # the value of a varint

cdef inline bint read_varint(
    Bytes data, Py_ssize_t* offset, Py_ssize_t end, uint64_t* value
) noexcept:
    """Read a varint of at most ten bytes; return False if it is invalid."""
    cdef int shift = 0
    cdef unsigned char byte
    value[0] = 0
    while offset[0] < end and shift < 70:
        byte = data[offset[0]]
        offset[0] += 1
        value[0] |= <uint64_t>(byte & 127) << shift
        if byte < 128:
            return True
        shift += 7
    return False

cdef inline bint read_field(Bytes data, Py_ssize_t at, Py_ssize_t end, Field* field) noexcept:
    """Read the field at an offset; return False if it is invalid, a group, or its key is large."""
    cdef uint64_t size
    field.key = 0
    field.value = field.end = at
    field.number = 0
    if not read_varint(data, &at, end, &size) or size >= 1 << 20:
        return False
    field.key = <int>size
    field.value = at
    if field.key & 7 == LENGTH:
        if not read_varint(data, &at, end, &size) or size > <uint64_t>(end - at):
            return False
        field.value = at
        field.end = at + <Py_ssize_t>size
        return True
    if field.key & 7 == VARINT:
        if not read_varint(data, &at, end, &field.number):
            return False
        field.end = at
        return True
    field.end = at + (4 if field.key & 7 == FIXED32 else 8)
    return field.end <= end and (field.key & 7 == FIXED32 or field.key & 7 == FIXED64)
