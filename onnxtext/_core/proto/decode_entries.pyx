# SPDX-License-Identifier: Apache-2.0
"""Decode `StringStringEntryProto` messages and packed fields of numbers."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from onnxtext._core.proto.decode_types cimport copied, shared_text
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.wire.reader cimport Bytes, Field, read_field, read_varint

from onnxtext.proto.decode.types_and_tensors import lift_entry


cdef bint is_narrow(int key) noexcept:
    """Whether the numbers of a data field (such as `float_data`) take 4 bytes, not 8."""
    return key == TENSOR_FLOAT_DATA or key == TENSOR_INT32_DATA


cdef bytes typed_entries(Bytes data, Py_ssize_t start, Py_ssize_t end, int key):
    """Return the numbers of a packed field as 4 or 8 bytes each; None if they are corrupt."""
    cdef Py_ssize_t offset, count = 0
    cdef int width = 4 if is_narrow(key) else 8
    cdef uint64_t number
    cdef bytes result
    if key == TENSOR_FLOAT_DATA or key == TENSOR_DOUBLE_DATA:
        return None if (end - start) % width else copied(data, start, end)
    for offset in range(start, end):
        count += data[offset] < 128
    result = PyBytes_FromStringAndSize(NULL, count * width)
    offset = start
    count = 0
    while offset < end:
        if not read_varint(data, &offset, end, &number):
            return None
        memcpy(PyBytes_AS_STRING(result) + count * width, &number, width)
        count += 1
    return result


cdef bint is_entry(Bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether a `StringStringEntryProto` has exactly a key and then a value."""
    cdef Field key, value
    return (
        read_field(data, start, end, &key)
        and key.key == STRING_STRING_ENTRY_KEY
        and read_field(data, key.end, end, &value)
        and value.key == STRING_STRING_ENTRY_VALUE
        and value.end == end
    )


cdef list add_entry(list entries, tuple like, Bytes data, Py_ssize_t start, Py_ssize_t end):
    """Add an entry that `is_entry` accepts to a list, which is created if it is None.

    Strings that are equal to those of the entry at the same place in `like` are shared.
    """
    cdef Field key, value
    entries = [] if entries is None else entries
    one = like[len(entries)] if len(entries) < len(like) else (None, None)
    read_field(data, start, end, &key)
    read_field(data, key.end, end, &value)
    entries.append((
        shared_text(one[0], data, key.value, key.end), shared_text(one[1], data, value.value, end)
    ))
    return entries


cdef tuple any_entry_of(Bytes data, view, Py_ssize_t start, Py_ssize_t end):
    """Return the key and the value of an entry of any form; an absent key or value is ""."""
    if is_entry(data, start, end):
        return add_entry(None, (), data, start, end)[0]
    return lift_entry(view[start:end])
