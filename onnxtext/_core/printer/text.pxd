# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

from onnxtext._core.wire.buffer cimport Growing

cdef class Text(Growing):
    """A growing UTF-8 text."""
    cdef list parts  # the finished parts before `data`
    cdef Py_ssize_t before  # the offset of `data` in the whole text; marks are such offsets, too
    cdef int trying  # the number of active trials
    cdef Py_ssize_t start  # the column at which `data` begins

    cdef inline int character(self, char character) except -1:
        self.need(1)
        self.data[self.size] = character
        self.size += 1
        return 0

    cdef int line(self, int indent) except -1
    cdef int spaces(self, int count) except -1
    cdef int character_of(self, uint32_t character) except -1
    cdef Py_ssize_t _run(self, int kind, void* data, Py_ssize_t offset, Py_ssize_t size) except -1
    cdef bint _quoted(self, text) except -1
    cdef bint _several_lines(self, text, int indent) except -1
    cdef int text(self, text) except -1
    cdef int append_large(self, text) except -1
    cdef int integer(self, value) except -1
    cdef int word(self, text) except -1
    cdef int name(self, text) except -1
    cdef int string(self, text, int indent) except -1
    cdef int bytes_string(self, bytes data, int indent) except -1
    cdef Py_ssize_t position(self) noexcept
    cdef Py_ssize_t begin_trial(self) noexcept
    cdef bint end_trial(self, Py_ssize_t mark, bint kept) noexcept
    cdef Py_ssize_t width(self, Py_ssize_t mark) noexcept
    cdef Py_ssize_t column(self) noexcept
    cdef bint fits(
        self, Py_ssize_t mark, Py_ssize_t column, Py_ssize_t most, Py_ssize_t after
    ) noexcept
    cdef bint is_flat(self, Py_ssize_t mark, Py_ssize_t most) noexcept
    cdef int join_items(
        self, Py_ssize_t mark, Py_ssize_t count, int indent, int inner, Py_ssize_t most
    ) except -1
    cdef list take(self)
    cdef int flush_if_large(self) except -1
    cdef int _flush(self) except -1
    cdef bint _ascii_name(self, text, bint allow_special) except -1
    cdef bint _quote(self, const char* data, Py_ssize_t size) except -1
    cdef bint _quoted_ascii(self, const char* data, Py_ssize_t size) except -1


cdef inline Py_ssize_t characters(const char* data, Py_ssize_t size) noexcept:
    """Return the number of characters of UTF-8."""
    cdef Py_ssize_t offset = 0, count = size
    cdef uint64_t some
    while offset < size:
        if offset + 8 <= size:
            memcpy(&some, data + offset, 8)
            if not some & 0x8080808080808080ULL:
                offset += 8
                continue
        count -= (<uint8_t>data[offset] & 0xC0) == 0x80
        offset += 1
    return count


cdef inline bint is_wide(Text text, Py_ssize_t mark, Py_ssize_t before, int most) noexcept:
    """Whether the first line since a mark is wider than `most`; a comma follows a single line.

    `before` is the column of the mark. If the text at the mark was flushed, return False: it begins
    a long literal, whose first line was tested earlier.
    """
    cdef const char* end
    cdef Py_ssize_t start = mark - text.before, size = text.size - start
    if start < 0 or before + size < most:
        return False
    end = <const char*>memchr(text.data + start, c"\n", size)
    if end is not NULL:
        return before + characters(text.data + start, end - text.data - start) > most
    return before + characters(text.data + start, size) >= most
