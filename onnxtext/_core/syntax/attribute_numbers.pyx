# SPDX-License-Identifier: Apache-2.0
"""Parse the number or the flat list of numbers of an attribute."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from onnxtext._core.tensor.parse_literals cimport (
    UNINTERRUPTED, Layout, Reader, after_blanks, is_blank, is_digit, read_element,
)

cdef Layout INT64 = Layout(None, "int", 64, 0, None, ())
cdef Layout FLOAT32 = Layout(None, "float", 32, 23, None, ())


cdef object read_number(const char* text, Py_ssize_t size, char kind):
    """Return a number in an attribute, or a flat list: integers, or the bytes of float32.

    Args:
        text: the literal, terminated by a zero byte.
        size: its size.
        kind: `i` or `f`; 0 if the first number decides.

    Returns:
        An integer, a tuple of integers or bytes; None if the literal is not plain.
    """
    cdef Reader reader
    cdef Layout layout
    cdef bint is_list = text[0] == c"["
    cdef const char* cursor = after_blanks(text + is_list)
    cdef const char* end = text + size - is_list
    cdef const char* next = cursor
    cdef const char* last = end - 1
    cdef bint has_comma  # after the last item
    cdef Py_ssize_t count = 1, index
    cdef int64_t integer
    cdef bytes result
    if end <= cursor:
        return None
    if not kind:
        next += next[0] == c"-"
        while is_digit(next[0]):
            next += 1
        next = after_blanks(next)
        kind = c"i" if next == end or next[0] == c"," else c"f"
    for index in range(size if is_list else 0):
        count += text[index] == c","
    while last > cursor and is_blank(last[0]):
        last -= 1
    has_comma = is_list and last[0] == c","
    count -= has_comma
    layout = INT64 if kind == c"i" else FLOAT32
    result = PyBytes_FromStringAndSize(NULL, count * layout.width)
    reader.at = cursor
    reader.out = PyBytes_AS_STRING(result)
    reader.patience = UNINTERRUPTED
    reader.in_braces = False
    for index in range(count):
        if index:
            if reader.at[0] != c",":
                return None
            reader.at = after_blanks(reader.at + 1)
        if not read_element(layout, &reader):
            return None
        if is_list:
            reader.at = after_blanks(reader.at)
    if has_comma and reader.at[0] == c",":
        reader.at = after_blanks(reader.at + 1)
    if reader.at != end or (is_list and end[0] != c"]"):
        return None
    if kind == c"f":
        return result
    integers = []
    for index in range(count):
        memcpy(&integer, PyBytes_AS_STRING(result) + 8 * index, 8)
        integers.append(integer)
    return tuple(integers) if is_list else integers[0]
