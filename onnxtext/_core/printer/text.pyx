# SPDX-License-Identifier: Apache-2.0
"""Collect text in a buffer; print names and strings like `onnxtext.printer.quoting`."""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memmove, memset

from onnxtext._core.tensor.decimals cimport MAX_NUMBER_LENGTH, write_integer

from onnxtext.printer.quoting import (
    SPECIAL_NUMBERS,
    SPECIAL_WORDS,
    quote_string,
    string_value,
    value_name,
)

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    uint32_t PyUnicode_READ(int, void*, Py_ssize_t)
    bint Py_UNICODE_ISPRINTABLE(uint32_t)
    bint PyUnicode_IS_COMPACT_ASCII(object)
    void* PyUnicode_1BYTE_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_ssize_t PyUnicode_FindChar(object, uint32_t, Py_ssize_t, Py_ssize_t, int) except -2
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef enum:
    LARGE = 1 << 16  # larger texts become parts of their own without a copy

cdef uint64_t ONES = 0x0101010101010101ULL, HIGHEST = 0x8080808080808080ULL

cdef enum Class:
    ODD = 0  # needs an escape
    PRINTABLE = 1
    LETTER = 2
    DIGIT = 3

cdef uint8_t[256] CLASSES
for _code in range(256):
    _one = chr(_code)
    CLASSES[_code] = (
        ODD if _code > 126 or _code < 32 or _one in '"\\'
        else DIGIT if _one.isdigit() else LETTER if _one.isidentifier() else PRINTABLE
    )

# For each first character, the lengths of the special words, as a bit set.
cdef uint64_t[256] LENGTHS
for _word in [*SPECIAL_WORDS, *SPECIAL_NUMBERS, *map(str.upper, SPECIAL_NUMBERS)]:
    LENGTHS[ord(_word[0])] |= 1ULL << len(_word)


@cython.final
cdef class Text(Growing):
    def __cinit__(self):
        self.parts = []

    cdef int line(self, int indent) except -1:
        """Start a new line."""
        self.character(c"\n")
        return self.spaces(indent)

    cdef int spaces(self, int count) except -1:
        self.need(count)
        memset(self.data + self.size, c" ", count)
        self.size += count
        return 0

    cdef int text(self, text) except -1:
        """Add a text unchanged."""
        cdef Py_ssize_t size
        if PyUnicode_IS_COMPACT_ASCII(<str?>text):
            return self.add(<const char*>PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text))
        cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
        return self.add(data, size)

    cdef int append_large(self, text) except -1:
        """Add a text; outside of trials, a large text becomes a part of its own, without a copy."""
        if PyUnicode_GET_LENGTH(<str?>text) < LARGE or self.trying:
            return self.text(text)
        self._flush()
        self.parts.append(text)
        self.before += PyUnicode_GET_LENGTH(text)
        return 0

    cdef int flush_if_large(self) except -1:
        """Flush the buffer if it is large and no trial is active."""
        if self.size >= LARGE and not self.trying:
            self._flush()
        return 0

    cdef int _flush(self) except -1:
        self.start = self.column()
        self.parts.append(PyUnicode_DecodeUTF8(self.data, self.size, NULL))
        self.before += self.size
        self.size = 0
        return 0

    cdef int integer(self, value) except -1:
        cdef int overflow
        cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return self.text(str(value))
        self.need(MAX_NUMBER_LENGTH)
        self.size += write_integer(self.data + self.size, number)
        return 0

    cdef int word(self, text) except -1:
        """Add the name of an operator, attribute, label or dimension, like `quote_word`."""
        if not self._ascii_name(text, True):
            self._quoted(text)
        return 0

    cdef int name(self, text) except -1:
        """Add the name of a value, graph or function, like `value_name`."""
        if not self._ascii_name(text, False):
            self._quoted(text)
        return 0

    cdef bint _ascii_name(self, text, bint allow_special) except -1:
        """Add a printable ASCII name, quoted if necessary; return False for others.

        `allow_special`: whether special words, such as `float` and `nan`, need no quotes.
        """
        cdef const uint8_t* data
        cdef Py_ssize_t size, index = 0
        if not PyUnicode_IS_COMPACT_ASCII(<str?>text):
            return False
        data = <const uint8_t*>PyUnicode_1BYTE_DATA(text)
        size = PyUnicode_GET_LENGTH(text)
        if size and CLASSES[data[0]] == LETTER:
            while index < size and CLASSES[data[index]] >= LETTER:
                index += 1
            if index == size and (
                allow_special or size >= 64 or not LENGTHS[data[0]] >> size & 1
                or (text not in SPECIAL_WORDS and text.lower() not in SPECIAL_NUMBERS)
            ):
                return not self.add(<const char*>data, size)
        if printable_run(data + index, size - index) < size - index:
            return False
        return self._quote(<const char*>data, size)

    cdef bint _quote(self, const char* data, Py_ssize_t size) except -1:
        self.need(size + 2)
        self.data[self.size] = c'"'
        memcpy(self.data + self.size + 1, data, size)
        self.data[self.size + size + 1] = c'"'
        self.size += size + 2
        return True

    cdef int string(self, text, int indent) except -1:
        """Add a string value, like `string_value`."""
        if PyUnicode_IS_COMPACT_ASCII(<str?>text) and self._quoted_ascii(
            <const char*>PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text)
        ):
            return 0
        if self._several_lines(text, indent) or self._quoted(text):
            return 0
        return self.text(string_value(text, " " * indent))

    cdef int character_of(self, uint32_t character) except -1:
        """Add a character, which must not be a surrogate."""
        cdef int more, shift
        self.need(4)
        if character < 0x80:
            more = 0
            self.data[self.size] = <char>character
        elif character < 0x800:
            more = 1
            self.data[self.size] = <char>(0xC0 | character >> 6)
        elif character < 0x10000:
            more = 2
            self.data[self.size] = <char>(0xE0 | character >> 12)
        else:
            more = 3
            self.data[self.size] = <char>(0xF0 | character >> 18)
        self.size += 1
        for shift in range(6 * more - 6, -1, -6):
            self.data[self.size] = <char>(0x80 | (character >> shift & 0x3F))
            self.size += 1
        return 0

    cdef Py_ssize_t _run(self, int kind, void* data, Py_ssize_t offset, Py_ssize_t size) except -1:
        """Add the ASCII characters from `offset` on that need no escape; return their number.

        The number is 0 for a string with characters above U+00FF.
        """
        cdef Py_ssize_t count = 0
        if kind == 1:
            count = printable_run(<const uint8_t*>data + offset, size - offset)
            self.add(<const char*>data + offset, count)
        return count

    cdef bint _quoted(self, text) except -1:
        """Add a text in quotes, like `quote_string`."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t offset = 0, size = PyUnicode_GET_LENGTH(text), start = self.size
        cdef uint32_t character
        self.character(c'"')
        while offset < size:
            offset += self._run(kind, data, offset, size)
            if offset == size:
                break
            character = PyUnicode_READ(kind, data, offset)
            offset += 1
            if not Py_UNICODE_ISPRINTABLE(character):
                self.size = start
                self.text(quote_string(text))
                return True
            if character == c'"' or character == c"\\":
                self.character(c"\\")
            self.character_of(character)
        self.character(c'"')
        return True

    cdef bint _several_lines(self, text, int indent) except -1:
        """Add a multi-line string in triple quotes; return False for others."""
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t offset = 0, size = PyUnicode_GET_LENGTH(text), start = self.size, more
        cdef uint32_t character, last = c"\n"
        if PyUnicode_FindChar(text, c"\n", 0, size, 1) < 0:
            return False
        self.add(b'"""\n', 4)
        while offset <= size:
            character = c"\n" if offset == size else PyUnicode_READ(kind, data, offset)
            if last == c"\n" and character != c"\n":
                self.spaces(indent + 2)
            more = self._run(kind, data, offset, size)
            if more:
                offset += more
                last = PyUnicode_READ(kind, data, offset - 1)
                continue
            if character == c"\n":
                if last == c" ":
                    self.size -= 1
                    self.add(b"\\u{20}", 6)
                self.character(c"\n")
            elif character == c"\\":
                self.add(b"\\\\", 2)
            elif character == c'"' and offset + 2 < size and (
                PyUnicode_READ(kind, data, offset + 1) == c'"'
                and PyUnicode_READ(kind, data, offset + 2) == c'"'
            ):
                self.add(b'""\\"', 4)
                offset += 2
            elif Py_UNICODE_ISPRINTABLE(character):
                self.character_of(character)
            elif 0xD800 <= character < 0xE000:
                self.size = start
                return False
            elif character == c"\t":
                self.add(b"\\t", 2)
            elif character == c"\r":
                self.add(b"\\r", 2)
            else:
                self.text(f"\\u{{{character:x}}}")
            last = character
            offset += 1
        self.spaces(indent + 2)
        self.add(b'"""', 3)
        return True

    cdef int bytes_string(self, bytes data, int indent) except -1:
        """Add a string value that is given as bytes."""
        if self._quoted_ascii(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)):
            return 0
        return self.string(data.decode("utf-8", "surrogateescape"), indent)

    cdef bint _quoted_ascii(self, const char* data, Py_ssize_t size) except -1:
        """Add a quoted printable ASCII string; return False for others."""
        if printable_run(<const uint8_t*>data, size) < size:
            return False
        return self._quote(data, size)

    cdef Py_ssize_t position(self) noexcept:
        """Return a mark of the current position."""
        return self.before + self.size

    cdef Py_ssize_t begin_trial(self) noexcept:
        """Begin a trial: text that `end_trial` can remove; return the mark of its start."""
        self.trying += 1
        return self.before + self.size

    cdef bint end_trial(self, Py_ssize_t mark, bint kept) noexcept:
        """End a trial: keep or remove the text since its mark; return `kept`."""
        self.trying -= 1
        if not kept:
            self.size = mark - self.before
        return kept

    cdef Py_ssize_t width(self, Py_ssize_t mark) noexcept:
        """Return the number of characters since a mark."""
        return characters(self.data + mark - self.before, self.before + self.size - mark)

    cdef Py_ssize_t column(self) noexcept:
        """Return the column after the last character of the text."""
        cdef Py_ssize_t offset = self.size
        while offset and self.data[offset - 1] != c"\n":
            offset -= 1
        return characters(self.data + offset, self.size - offset) + (0 if offset else self.start)

    cdef bint is_flat(self, Py_ssize_t mark, Py_ssize_t most) noexcept:
        """Whether the text since a mark is one line of at most `most` characters."""
        cdef Py_ssize_t start = mark - self.before
        return self.width(mark) <= most and not memchr(self.data + start, c"\n", self.size - start)

    cdef bint fits(
        self, Py_ssize_t mark, Py_ssize_t column, Py_ssize_t most, Py_ssize_t after
    ) noexcept:
        """Whether each line since a mark has at most `most` columns.
        The first line begins at `column`; `after` more columns follow the last.
        """
        cdef const char* cursor = self.data + mark - self.before
        cdef const char* end = self.data + self.size
        cdef const char* stop = <const char*>memchr(cursor, c"\n", end - cursor)
        while stop is not NULL:
            if column + characters(cursor, stop - cursor) > most:
                return False
            cursor, column = stop + 1, 0
            stop = <const char*>memchr(cursor, c"\n", end - cursor)
        return column + characters(cursor, end - cursor) + after <= most

    cdef int join_items(
        self, Py_ssize_t mark, Py_ssize_t count, int indent, int inner, Py_ssize_t most
    ) except -1:
        """Put the list since a mark on one line of at most `most` characters, if possible.

        Each of its `count` items is on a line of its own, indented by `inner`; the line of the
        closing bracket is indented by `indent`.
        """
        cdef Py_ssize_t start = mark - self.before, size = self.size - start, lines = 0
        cdef Py_ssize_t offset, index
        cdef Py_ssize_t excess = count * inner + indent + 3  # the characters that joining removes
        cdef char* cursor = self.data + start + 1
        cdef const char* item = cursor
        if not count or start < 0 or size - excess > 4 * most or self.width(mark) - excess > most:
            return 0
        for offset in range(start, self.size):
            lines += self.data[offset] == c"\n"
        if lines != count + 1:
            return 0
        for index in range(count):
            item += 1 + inner
            if index:
                cursor[0] = c" "
                cursor += 1
            size = <const char*>memchr(item, c"\n", self.data + self.size - item) - item
            memmove(cursor, item, size)
            cursor += size
            item += size
        (cursor - 1)[0] = self.data[self.size - 1]  # the bracket instead of the last comma
        self.size = cursor - self.data
        return 0

    cdef list take(self):
        """Return the whole text in parts."""
        self._flush()
        return self.parts


cdef inline bint escapes(const uint8_t* data) noexcept:
    """Whether one of eight characters needs an escape."""
    cdef uint64_t word
    memcpy(&word, data, 8)
    # The terms are for control characters, quotes, backslashes and bytes above `~`. Each sets the
    # highest bit of the first byte that matches, and perhaps of bytes after it.
    return (
        (word - 0x20 * ONES)
        | ((word ^ c'"' * ONES) - ONES)
        | ((word ^ c"\\" * ONES) - ONES)
        | (word + ONES)
        | word
    ) & HIGHEST != 0


cdef Py_ssize_t printable_run(const uint8_t* data, Py_ssize_t size) noexcept:
    """Return the number of leading characters that need no escape; test eight at a time."""
    cdef Py_ssize_t offset = 0
    while offset + 8 <= size and not escapes(data + offset):
        offset += 8
    if 0 < size - offset < 8 <= size and not escapes(data + size - 8):
        return size
    while offset < size and CLASSES[data[offset]]:
        offset += 1
    return offset
