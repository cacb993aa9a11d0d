# SPDX-License-Identifier: Apache-2.0
"""Pack elements of 2 or 4 bits: the compiled `onnxtext.tensor.packing`.

Packed bytes are `step` bytes apart: 1 in `raw_data`; 4 in `int32_data`, one in each entry.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, uint8_t
from libc.string cimport memset


cdef bytes packed(bytes codes, int bits, int step):
    """Pack the lowest `bits` bits of each byte of `codes`."""
    cdef Py_ssize_t count = PyBytes_GET_SIZE(codes), index, offset
    cdef Py_ssize_t size = (count * bits + 7) // 8 * step
    cdef uint8_t* out
    cdef const uint8_t* code = <const uint8_t*>PyBytes_AS_STRING(codes)
    result = PyBytes_FromStringAndSize(NULL, size)
    out = <uint8_t*>PyBytes_AS_STRING(result)
    memset(out, 0, size)
    for index in range(count):
        offset = index * bits
        out[offset // 8 * step] |= <uint8_t>((code[index] & ((1 << bits) - 1)) << (offset & 7))
    return result


cdef bytes unpacked(const char* data, Py_ssize_t count, int bits, int step, bint is_signed):
    """Unpack `count` elements to a byte each."""
    cdef Py_ssize_t index, offset
    cdef const uint8_t* taken = <const uint8_t*>data
    cdef int code, sign = 1 << (bits - 1) if is_signed else 0
    result = PyBytes_FromStringAndSize(NULL, count)
    cdef char* out = PyBytes_AS_STRING(result)
    for index in range(count):
        offset = index * bits
        code = (taken[offset // 8 * step] >> (offset & 7)) & ((1 << bits) - 1)
        out[index] = <char><int8_t>((code ^ sign) - sign)
    return result


cdef bint is_packed(
    const unsigned char* data, Py_ssize_t size, Py_ssize_t count, int bits, int step
) noexcept:
    """Whether bytes are `count` packed elements: of the right size, with zeros as padding."""
    cdef Py_ssize_t index, used = count * bits % 8
    if size != (count * bits + 7) // 8 * step:
        return False
    if step > 1:
        for index in range(size):
            if index % step and data[index]:
                return False
    return not used or not size or data[size - step] >> used == 0
