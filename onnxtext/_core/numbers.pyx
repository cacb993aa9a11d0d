# SPDX-License-Identifier: Apache-2.0
"""Lists of numbers as text: the layout of `onnxtext.printer.layout` and `onnxtext.printer.values`."""
cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from onnxtext._core.decimals cimport (
    LONGEST,
    write_float32,
    write_float64,
    write_integer,
    write_unsigned,
)
from onnxtext._core.text cimport Text

from functools import partial

from onnxtext.ast.types import TensorType
from onnxtext.printer.layout import ROWS, STEP, WIDTH
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.shortest import narrow_texts

cdef int LINE = WIDTH
cdef int INDENT = len(STEP)
cdef Py_ssize_t[4] SIZES
SIZES[:] = ROWS

_WIDTHS = {"float_data": 4, "double_data": 8, "int32_data": 4, "int64_data": 8, "uint64_data": 8}


@cython.final
cdef class Elements:
    def __cinit__(self, type, str text):
        """Describe a `TensorType` with this text."""
        cdef Py_ssize_t size
        self.type, self.text, self.text_width = type, text, len(text)
        self.count = -1
        if not isinstance(type, TensorType):
            return
        self.count = 1
        for dim in type.shape or ():
            if not isinstance(dim, int) or not 0 <= dim < 1 << 31 or self.count >> 31:
                self.count = -1
                break
            size = dim
            self.count *= size
            if size != 1:
                if self.rank == MOST_DIMS:
                    self.count = -1
                    break
                self.dims[self.rank] = size
                self.rank += 1
        self.is_scalar = not type.shape
        element = ELEMENTS.get(type.element)
        if element is None or element.bits not in (8, 16, 32, 64):
            return
        self.element, self.width = element.name, element.bits // 8
        self.typed_width = _WIDTHS[element.field]
        if element.kind == "float":
            self.raw = FLOAT if self.width >= 4 else CODE
            self.typed = FLOAT if self.width >= 4 else OTHER
            self.pages = partial(narrow_texts, element.name)
        elif element.kind in ("int", "uint"):
            self.raw = INTEGER if element.kind == "int" else UNSIGNED
            self.typed = UNSIGNED if element.field == "uint64_data" else INTEGER
        elif element.kind == "bool":
            self.raw = BOOL


@cython.final
cdef class Numbers:
    def __cinit__(self):
        self.items = Text(None)

    def __dealloc__(self):
        PyMem_Free(self.ends)

    cdef int clear(self) except -1:
        self.items.size = self.count = 0
        return 0

    cdef int _reserve(self, Py_ssize_t count) except -1:
        """Make room for so many more."""
        cdef Py_ssize_t* ends
        if count > self.room - self.count:
            ends = <Py_ssize_t*>PyMem_Realloc(
                self.ends, (self.count + count) * sizeof(Py_ssize_t)
            )
            if ends is NULL:
                raise MemoryError
            self.ends, self.room = ends, self.count + count
        return 0

    cdef int _end(self) except -1:
        """End a number: a comma and a blank stand behind it."""
        self.ends[self.count] = self.items.size
        self.count += 1
        self.items.need(2)
        self.items.data[self.items.size] = c","
        self.items.data[self.items.size + 1] = c" "
        self.items.size += 2
        return 0

    cdef int integers(self, tuple values) except -1:
        self._reserve(len(values))
        for value in values:
            self.items.integer(value)
            self._end()
        return 0

    cdef int elements(
        self, Kind kind, int width, const char* data, Py_ssize_t size, pages
    ) except -1:
        """Add little-endian numbers of so many bytes each."""
        cdef Py_ssize_t index
        cdef uint64_t bits
        cdef char* out
        cdef tuple texts
        self._reserve(size // width)
        for index in range(size // width):
            bits = 0
            memcpy(&bits, data + index * width, width)
            self.items.need(LONGEST)
            out = self.items.data + self.items.size
            if kind == CODE:
                texts = pages(bits >> 8 if width == 2 else 0)
                self.items.text(texts[bits & 255])
            elif kind == BOOL:
                self.items.text("true" if bits else "false")
            elif kind == UNSIGNED:
                self.items.size += write_unsigned(out, bits)
            elif kind == INTEGER:
                self.items.size += write_integer(out, signed(bits, width))
            elif width == 4:
                self.items.size += write_float32(out, <uint32_t>bits, kind == POINT)
            else:
                self.items.size += write_float64(out, bits, kind == POINT)
            self._end()
        return 0

    cdef int first(self, Text out) except -1:
        """The first number alone."""
        return out.add(self.items.data, self.ends[0])

    cdef int flat_list(
        self, Text out, const char* brackets, int indent, Py_ssize_t budget
    ) except -1:
        """As `layout.numbers`: on one line if it fits in the budget."""
        if not self.count:
            return out.add(brackets, 2)
        if self.count <= budget and self.ends[self.count - 1] + 2 <= budget:
            out.character(brackets[0])
            out.add(self.items.data, self.ends[self.count - 1])
        else:
            out.character(brackets[0])
            out.line(indent + INDENT)
            self._lines(out, indent + INDENT, 0, self.count)
            out.line(indent)
        return out.character(brackets[1])

    cdef Py_ssize_t _start(self, Py_ssize_t index) noexcept:
        return self.ends[index - 1] + 2 if index else 0

    cdef int _lines(self, Text out, int indent, Py_ssize_t first, Py_ssize_t last) except -1:
        """Some numbers in lines of the most that fit, each line with a comma."""
        cdef Py_ssize_t at, size = 1
        cdef int choice
        for choice in range(4):
            size = SIZES[choice]
            if size == 1:
                break
            at = first
            while at < last and self._size(at, min(size, last - at)) + indent < LINE:
                at += size
            if at >= last:
                break
        at = first
        while at < last:
            if at > first:
                out.line(indent)
            out.add(self.items.data + self._start(at), self._size(at, min(size, last - at)))
            out.character(c",")
            at += size
        return 0

    cdef int nested_list(self, Text out, Elements type, int indent, Py_ssize_t budget) except -1:
        """A literal of two dimensions or more, as `values.flat_rows` or `values.nested_lines`."""
        cdef Py_ssize_t row = type.dims[type.rank - 1], rows = self.count // row, index, mark
        cdef int opened, closed, level
        if self.count <= budget:
            mark = out.begin_trial()
            for index in range(rows):
                for level in range(starting(type, index) + 1):
                    out.character(c"[")
                out.add(self.items.data + self._start(index * row), self._size(index * row, row))
                closed = starting(type, index + 1)
                for level in range(closed + 1):
                    out.character(c"]")
                if index + 1 < rows:
                    out.add(b", ", 2)
            if out.end_trial(mark, out.width(mark) <= budget):
                return 0
        for index in range(rows):
            opened = type.rank - 1 - starting(type, index)
            for level in range(opened, type.rank - 1):
                if index or level:
                    out.line(indent + INDENT * level)
                out.character(c"[")
            level = indent + INDENT * (type.rank - 1)
            out.line(level)
            if self._size(index * row, row) + level + 3 <= LINE:
                out.character(c"[")
                out.add(self.items.data + self._start(index * row), self._size(index * row, row))
            else:
                out.character(c"[")
                out.line(level + INDENT)
                self._lines(out, level + INDENT, index * row, (index + 1) * row)
                out.line(level)
            out.add(b"],", 2)
            closed = starting(type, index + 1)
            for level in range(type.rank - 2, type.rank - 2 - closed, -1):
                out.line(indent + INDENT * level)
                out.add(b"],", 2 if level else 1)
        return 0

    cdef Py_ssize_t _size(self, Py_ssize_t first, Py_ssize_t count) noexcept:
        """The width of so many numbers with what stands between them."""
        return self.ends[first + count - 1] - self._start(first)


cdef inline int64_t signed(uint64_t bits, int width) noexcept:
    if width == 1:
        return <int8_t>bits
    if width == 2:
        return <int16_t>bits
    return <int32_t>bits if width == 4 else <int64_t>bits


cdef int starting(Elements type, Py_ssize_t row) noexcept:
    """How many lists around rows start with a row, and end before it."""
    cdef int level
    for level in range(type.rank - 2, -1, -1):
        if row % type.dims[level]:
            return type.rank - 2 - level
        row //= type.dims[level]
    return type.rank - 1
