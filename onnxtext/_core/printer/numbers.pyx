# SPDX-License-Identifier: Apache-2.0
"""Print lists of numbers: compiled parts of `printer.layout` and `printer.types_and_tensors`."""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from onnxtext._core.tensor.decimals cimport (
    MAX_NUMBER_LENGTH, write_float32, write_float64, write_integer, write_unsigned
)
from onnxtext._core.ast.slots cimport OF_TENSOR_TYPE, TENSOR_TYPE, get
from onnxtext._core.printer.text cimport Text

from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.shortest_decimals import narrow_text

cdef enum:
    BLOCK = 1 << 12  # longer lists are printed in blocks of about this many elements
    ENTRY = 24  # bytes per code in `TEXTS`; the longest text has 19 characters

cdef int LINE_WIDTH = WIDTH
cdef int INDENT = len(STEP)

cdef dict FIELD_WIDTHS = {
    "float_data": 4, "double_data": 8, "int32_data": 4, "int64_data": 8, "uint64_data": 8
}


cdef tuple format_of(element):
    """Return the bits of an element type, its `typed_width`, `raw` and `typed`; see `Elements`."""
    cdef Kind raw, typed
    cdef int width = FIELD_WIDTHS[element.field]
    if element.kind == "complex":
        return element.bits, 2 * width, <int>COMPLEX, <int>COMPLEX
    if element.kind == "bool":
        raw = typed = BOOL
    elif element.kind == "float":
        raw = typed = FLOAT if element.bits >= 32 else CODE
    else:
        raw = INTEGER if element.kind == "int" else UNSIGNED
        typed = UNSIGNED if element.field == "uint64_data" else INTEGER
    return element.bits, width, <int>raw, <int>typed


# By element type; types that Python prints are left out.
cdef dict FORMATS = {
    _element.name: format_of(_element)
    for _element in ELEMENTS.values()
    if _element.bits in (2, 4, 8, 16, 32, 64, 128)
}

# By element type, for each code the length of its text, 0 until it is needed, and the text. Strings
# would be scattered in memory, so that large tensors would be printed more slowly.
cdef dict TEXTS = {}


@cython.final
cdef class Elements:
    def __cinit__(self, kind, str text):
        """Compute the text format of a tensor type, which is printed as `text`."""
        cdef Py_ssize_t size
        self.type, self.text = kind, text
        self.count = -1
        if type(kind) is not TENSOR_TYPE:
            return
        self.count = 1
        shape = get(kind, OF_TENSOR_TYPE.shape) or ()
        for dim in shape:
            if type(dim) is not int or not 0 <= dim < 1 << 31 or self.count >> 31:
                self.count = -1
                break
            size = dim
            self.count *= size
            if size != 1:
                if self.rank == MAX_DIMS:
                    self.count = -1
                    break
                self.dims[self.rank] = size
                self.rank += 1
        self.is_scalar = not shape
        found = FORMATS.get(get(kind, OF_TENSOR_TYPE.element))
        if found is None:
            return
        self.element = get(kind, OF_TENSOR_TYPE.element)
        self.bits, self.typed_width, raw, typed = <tuple>found
        self.raw, self.typed = <Kind><int>raw, <Kind><int>typed
        self.width = max(1, self.bits // 8)
        if self.raw == CODE:
            if self.element not in TEXTS:
                TEXTS[self.element] = bytearray(ENTRY << self.bits)
            self.texts = TEXTS[self.element]


@cython.final
cdef class Numbers:
    def __cinit__(self):
        self.items = Text()

    def __dealloc__(self):
        PyMem_Free(self.ends)

    cdef int clear(self) except -1:
        self.items.size = self.count = 0
        self.content = self.loaded = None
        return 0

    cdef int one(self, Text out, value) except -1:
        """Add a single number in an attribute: an int or a `Float32`."""
        if type(value) is int:
            return out.integer(value)
        out.need(MAX_NUMBER_LENGTH)
        out.size += write_float32(out.data + out.size, value.bits, True)
        return 0

    cdef int load(
        self, Kind kind, int width, const char* data, Py_ssize_t size, Elements type
    ) except -1:
        """Load all numbers of `content`, unless they are already loaded.

        A list that does not fit on one line is printed twice, but loaded once.
        """
        content = self.content
        if (
            content is not None and self.loaded is content and self.type is type
            and self.kind == kind and self.width == width
        ):
            return 0
        self.clear()
        self.elements(kind, width, data, size, type)
        self.content = self.loaded = content
        self.kind, self.width, self.type = kind, width, type
        return 0

    cdef int _reserve(self, Py_ssize_t count) except -1:
        """Reserve space for more numbers."""
        cdef Py_ssize_t* ends
        if count > self.room - self.count:
            ends = <Py_ssize_t*>PyMem_Realloc(self.ends, (self.count + count) * sizeof(Py_ssize_t))
            if ends is NULL:
                raise MemoryError
            self.ends, self.room = ends, self.count + count
        return 0

    cdef int _end(self) except -1:
        """End a number: add a comma and a space, and reserve space for the next."""
        self.ends[self.count] = self.items.size
        self.count += 1
        self.items.need(MAX_NUMBER_LENGTH)
        self.items.data[self.items.size] = c","
        self.items.data[self.items.size + 1] = c" "
        self.items.size += 2
        return 0

    cdef int integers(self, tuple values) except -1:
        if self.loaded is values:
            return 0
        self.clear()
        self._reserve(len(values))
        for value in values:
            self.items.integer(value)
            self._end()
        self.loaded = values
        return 0

    cdef int elements(
        self, Kind kind, int width, const char* data, Py_ssize_t size, Elements type
    ) except -1:
        """Add little-endian numbers of `width` bytes each; `type` is only used for codes."""
        cdef Py_ssize_t index
        cdef uint64_t bits, most = <uint64_t>1 << type.bits if kind == CODE else 0
        cdef char* out
        cdef char* entry
        cdef char* texts = <char*>type.texts if kind == CODE else NULL
        self._reserve(size // width)
        self.items.need(MAX_NUMBER_LENGTH)
        for index in range(size // width):
            if kind == COMPLEX:
                self._complex(data + index * width, width // 2)
                self._end()
                continue
            bits = 0
            memcpy(&bits, data + index * width, width)
            out = self.items.data + self.items.size
            if kind == CODE and bits < most:
                entry = texts + ENTRY * bits
                if not entry[0]:
                    text = narrow_text(type.element, bits).encode()
                    memcpy(entry + 1, <const char*>text, min(len(text), ENTRY - 1))
                    entry[0] = len(text)
                memcpy(out, entry + 1, ENTRY - 1)
                self.items.size += entry[0]
            elif kind == BOOL and bits < 2:
                self.items.text("true" if bits else "false")
            elif kind == UNSIGNED:
                self.items.size += write_unsigned(out, bits)
            elif kind == INTEGER or kind == CODE or kind == BOOL:
                self.items.size += write_integer(out, signed(bits, width))
            elif width == 4:
                self.items.size += write_float32(out, <uint32_t>bits, kind == POINT)
            else:
                self.items.size += write_float64(out, bits, kind == POINT)
            self._end()
        return 0

    cdef int _complex(self, const char* data, int width) except -1:
        """Add a complex number with parts of `width` bytes."""
        cdef int part, size
        cdef uint64_t bits = 0
        cdef char* out
        for part in range(2):
            memcpy(&bits, data + part * width, width)
            self.items.need(MAX_NUMBER_LENGTH + 2)
            out = self.items.data + self.items.size
            if width == 4:
                size = write_float32(out, <uint32_t>bits, True)
            else:
                size = write_float64(out, bits, True)
            if part and out[0] != c"-":
                memmove(out + 1, out, size)
                out[0] = c"+"
                size += 1
            self.items.size += size
        return self.items.character(c"j")

    cdef int first(self, Text out) except -1:
        """Print only the first number."""
        return out.add(self.items.data, self.ends[0])

    cdef int flat_list(
        self, Text out, const char* brackets, int indent, Py_ssize_t budget
    ) except -1:
        """Print a list like `layout.fill_list_text`: on one line if it fits into the budget."""
        if not self.count:
            return out.add(brackets, 2)
        out.character(brackets[0])
        if self.count <= budget and self.ends[self.count - 1] + 2 <= budget:
            out.add(self.items.data, self.ends[self.count - 1])
        else:
            out.line(indent + INDENT)
            self._fill(out, indent + INDENT, 0, self.count, 0)
            out.line(indent)
        return out.character(brackets[1])

    cdef Py_ssize_t _start(self, Py_ssize_t index) noexcept:
        return self.ends[index - 1] + 2 if index else 0

    cdef Py_ssize_t _fill(
        self, Text out, int indent, Py_ssize_t first, Py_ssize_t last, Py_ssize_t taken
    ) except -1:
        """Print some numbers, each with a comma, in lines that are filled like `layout.wrap_text`.

        `taken` is the number of columns that the current line already has after its indentation;
        return the same for the last line.
        """
        cdef Py_ssize_t offset = first, stop, room = LINE_WIDTH - indent, before
        while offset < last:
            before = taken + 1 if taken else 0
            stop = offset
            while stop < last and before + self._size(offset, stop + 1 - offset) < room:
                stop += 1
            if stop == offset and not taken:
                stop += 1
            if stop > offset:
                if taken:
                    out.character(c" ")
                taken = before + self._size(offset, stop - offset) + 1
                out.add(self.items.data + self._start(offset), self._size(offset, stop - offset))
                out.character(c",")
                offset = stop
            if offset < last:
                out.line(indent)
                taken = 0
        return taken

    # ---- Whole tensors ----------------------------------------------------------------------

    cdef int typed_list(
        self, Text out, Elements type, const char* data, Py_ssize_t size, int indent,
        Py_ssize_t budget
    ) except -1:
        """Print the entries of a data field such as `int32_data`, in braces."""
        return self._list(
            out, b"{}", type.typed, type.typed_width, data, size, type, indent, budget
        )

    cdef int raw_list(
        self, Text out, Elements type, const char* data, Py_ssize_t size, int indent,
        Py_ssize_t budget
    ) except -1:
        """Print raw data block by block, like `flat_rows` or `nested_lines` in Python."""
        cdef Py_ssize_t row, rows, some, first = 0, index
        cdef bint is_loaded = type.count <= budget
        if type.rank < 2:
            return self._list(out, b"[]", type.raw, type.width, data, size, type, indent, budget)
        row = type.dims[type.rank - 1]
        rows = type.count // row
        if is_loaded:
            self.load(type.raw, type.width, data, size, type)
            if self._flat_rows(out, type, row, budget):
                return 0
        while first < rows:
            some = rows if is_loaded else min(max(1, BLOCK // row), rows - first)
            if not is_loaded:
                self.clear()
                self.elements(
                    type.raw, type.width, data + first * row * type.width,
                    some * row * type.width, type,
                )
            for index in range(some):
                self._row(out, type, first + index, index * row, row, indent)
            first += some
            out.flush_if_large()
            PyErr_CheckSignals()
        return 0

    cdef int _list(
        self, Text out, const char* brackets, Kind kind, int width, const char* data,
        Py_ssize_t size, Elements type, int indent, Py_ssize_t budget
    ) except -1:
        """Print a list like `flat_list`, but block by block."""
        cdef Py_ssize_t offset = 0, some, taken = 0
        if size <= BLOCK * width:
            self.load(kind, width, data, size, type)
            return self.flat_list(out, brackets, indent, budget)
        out.character(brackets[0])
        out.line(indent + INDENT)
        while offset < size:
            PyErr_CheckSignals()
            some = min(BLOCK * width, size - offset)
            self.clear()
            self.elements(kind, width, data + offset, some, type)
            taken = self._fill(out, indent + INDENT, 0, some // width, taken)
            offset += some
            out.flush_if_large()
        out.line(indent)
        return out.character(brackets[1])

    cdef bint _flat_rows(self, Text out, Elements type, Py_ssize_t row, Py_ssize_t budget) except -1:
        """Print all rows on one line; return False if they do not fit into the budget."""
        cdef Py_ssize_t index, rows = self.count // row, mark = out.begin_trial()
        cdef int level
        for index in range(rows):
            for level in range(starting(type, index) + 1):
                out.character(c"[")
            out.add(self.items.data + self._start(index * row), self._size(index * row, row))
            for level in range(starting(type, index + 1) + 1):
                out.character(c"]")
            if index + 1 < rows:
                out.add(b", ", 2)
        return out.end_trial(mark, out.width(mark) <= budget)

    cdef int _row(
        self, Text out, Elements type, Py_ssize_t number, Py_ssize_t first, Py_ssize_t count,
        int indent
    ) except -1:
        """Print a row on its own lines, and the brackets that open before it or close after it."""
        cdef int level
        for level in range(type.rank - 1 - starting(type, number), type.rank - 1):
            if number or level:
                out.line(indent + INDENT * level)
            out.character(c"[")
        level = indent + INDENT * (type.rank - 1)
        out.line(level)
        out.character(c"[")
        if self._size(first, count) + level + 3 <= LINE_WIDTH:
            out.add(self.items.data + self._start(first), self._size(first, count))
        else:
            level += INDENT
            out.line(level)
            self._fill(out, level, first, first + count, 0)
            out.line(level - INDENT)
        out.add(b"],", 2)
        for level in range(type.rank - 2, type.rank - 2 - starting(type, number + 1), -1):
            out.line(indent + INDENT * level)
            out.add(b"],", 2 if level else 1)
        return 0

    cdef Py_ssize_t _size(self, Py_ssize_t first, Py_ssize_t count) noexcept:
        """Return the width of numbers with their separators."""
        return self.ends[first + count - 1] - self._start(first)


cdef inline int64_t signed(uint64_t bits, int width) noexcept:
    if width == 1:
        return <int8_t>bits
    if width == 2:
        return <int16_t>bits
    return <int32_t>bits if width == 4 else <int64_t>bits


cdef int starting(Elements type, Py_ssize_t row) noexcept:
    """Return the number of lists that begin with a row; as many end before it."""
    cdef int level
    for level in range(type.rank - 2, -1, -1):
        if row % type.dims[level]:
            return type.rank - 2 - level
        row //= type.dims[level]
    return type.rank - 1
