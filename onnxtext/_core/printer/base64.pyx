# SPDX-License-Identifier: Apache-2.0
"""Encode bytes as lines of base64: the compiled part of `onnxtext.printer.resources`."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memset

from onnxtext.printer.resources import BASE64_WIDTH

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 max_character)
    void* PyUnicode_DATA(object text)

cdef const unsigned char* DIGITS = (
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)
cdef Py_ssize_t WIDTH = BASE64_WIDTH


def base64_lines(data, int indent):
    """Return bytes as base64, in lines of `BASE64_WIDTH` characters after `indent` spaces."""
    cdef Py_buffer buffer
    cdef Py_ssize_t size, count, at = 0, end
    cdef const unsigned char* source
    cdef unsigned char* out
    PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
    try:
        source = <const unsigned char*>buffer.buf
        size = buffer.len
        count = (size + 2) // 3 * 4
        result = PyUnicode_New(count + (count + WIDTH - 1) // WIDTH * (indent + 1), 127)
        out = <unsigned char*>PyUnicode_DATA(result)
        while at < size:
            memset(out, c" ", indent)
            out += indent
            end = min(at + WIDTH // 4 * 3, size)
            while at + 3 <= end:
                digits_of(out, source[at], source[at + 1], source[at + 2])
                at += 3
                out += 4
            if at < end:
                digits_of(out, source[at], source[at + 1] if at + 1 < end else 0, 0)
                out[3] = c"="
                if at + 1 == end:
                    out[2] = c"="
                at = end
                out += 4
            out[0] = c"\n"
            out += 1
    finally:
        PyBuffer_Release(&buffer)
    return result


cdef inline void digits_of(
    unsigned char* out, unsigned int first, unsigned int second, unsigned int third
) noexcept nogil:
    """Write the four characters for three bytes."""
    out[0] = DIGITS[first >> 2]
    out[1] = DIGITS[(first & 3) << 4 | second >> 4]
    out[2] = DIGITS[(second & 15) << 2 | third >> 6]
    out[3] = DIGITS[third & 63]
