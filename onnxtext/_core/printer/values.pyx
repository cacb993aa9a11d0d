# SPDX-License-Identifier: Apache-2.0
"""Print values and tensors: the compiled `onnxtext.printer.types_and_tensors`."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memchr, memcmp

from onnxtext._core.proto.decorators cimport text_argument
from onnxtext._core.tensor.parse_literals cimport is_external_number
from onnxtext._core.printer.numbers cimport BOOL, INTEGER, OTHER, Elements, Numbers
from onnxtext._core.tensor.packing cimport is_packed, unpacked
from onnxtext._core.ast.slots cimport (
    EXTERNAL_DATA, OF_EXTERNAL, OF_RAW, OF_STRINGS, OF_TENSOR, OF_TENSOR_TYPE, OF_TYPED, OF_VALUE,
    RAW_DATA, STRING_DATA, TENSOR, TENSOR_TYPE, TYPED_DATA, VALUE_INFO, get,
)
from onnxtext._core.printer.text cimport Text, is_wide
from onnxtext._core.printer.types cimport add_decorators, add_type

from onnxtext.ast.tensors_and_attributes import (
    EXTERNAL_KEYS, Blob, SparseTensor, TypedBlob,
)
from onnxtext.ast.types import SparseTensorType
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.decorators import decorator_lines, inline_decorators
from onnxtext.printer.statement_layout import DECORATOR_WIDTH
from onnxtext.printer.types_and_tensors import data_parts, sparse_text, type_text

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)

cdef enum:
    SIGNAL_INTERVAL = 1 << 12  # the number of nodes and values between two checks for signals

cdef frozenset PLAIN_DATA = frozenset((RAW_DATA, TYPED_DATA, STRING_DATA, Blob, TypedBlob))
cdef object value_parts = GraphPrinter.value_parts
cdef int LINE_WIDTH = WIDTH, INDENT = len(STEP), SHORT = DECORATOR_WIDTH


cdef class ValuePrinter:
    def __cinit__(self):
        self.numbers = Numbers()
        self.types, self.type_texts, self.alive = {}, {}, []
        self.countdown = SIGNAL_INTERVAL

    cdef object python(self):
        """Return the `GraphPrinter` for rare forms."""
        raise NotImplementedError

    cdef int _check_signals(self) except -1:
        self.countdown -= 1
        if not self.countdown:
            self.countdown = SIGNAL_INTERVAL
            PyErr_CheckSignals()
        return 0

    cdef int _value(self, value, int indent) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.position(), line = mark, column
        if type(value) is not VALUE_INFO:
            raise TypeError("expected a ValueInfo")
        kind, data = get(value, OF_VALUE.type), get(value, OF_VALUE.data)
        decorators = get(value, OF_VALUE.decorators)
        self.note(get(value, OF_VALUE.metadata))
        if decorators and not self._short_decorators(decorators, indent):
            margin = " " * indent
            text = inline_decorators(decorators, margin)
            out.text(text)
            if text.endswith("\n" + margin):
                line = out.position()
        if kind is None:
            out.name(value.name)
        else:
            out.text(self._type_text(kind))
            out.character(c" ")
            out.name(get(value, OF_VALUE.name))
        column = indent + out.width(line)
        if kind is None or data is None:
            if column < LINE_WIDTH:
                return 0
        elif column + 4 <= LINE_WIDTH:
            out.add(b" = ", 3)
            if isinstance(data, SparseTensor):
                if not self._sparse(data, indent, LINE_WIDTH - column - 4):
                    out.append_large(sparse_text(data, " " * indent, LINE_WIDTH - column - 4))
            else:
                self._data(kind, data, indent, LINE_WIDTH - column - 4)
            if not is_wide(out, line, indent, LINE_WIDTH):
                return 0
        out.size = mark - out.before
        for part in value_parts(self.python(), value, " " * indent):
            out.append_large(part)
        return 0

    cdef int _decorators(self, decorators, int indent) except -1:
        """Print the decorators of a node, usually on their own lines."""
        cdef Text out = self.out
        for decorator in decorators:
            if text_argument(decorator) is None or decorator.name != "doc":
                break
        else:
            for decorator in decorators:
                out.add(b"@doc(", 5)
                out.bytes_string(text_argument(decorator), indent)
                out.character(c")")
                out.line(indent)
            return 0
        text = decorator_lines(decorators, " " * indent)[indent:]
        out.text(text)
        return out.spaces(indent) if text.endswith("\n") else 0

    cdef bint _short_decorators(self, decorators, int indent) except -1:
        """Print decorators on one line; return False unless each has one short string, and all fit."""
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.begin_trial()
        return out.end_trial(
            mark, add_decorators(out, decorators, indent) and out.is_flat(mark, SHORT + 1)
        )

    cdef Elements _type(self, kind):
        cached = self.types.get(<size_t><void*>kind)
        if cached is None:
            cached = self.types[<size_t><void*>kind] = Elements(kind, self._type_text(kind))
        return <Elements>cached

    cdef str _type_text(self, kind):
        cached = self.type_texts.get(<size_t><void*>kind)
        if cached is None:
            cached = self.type_texts[<size_t><void*>kind] = self._new_type_text(kind)
            self.alive.append(kind)
        return <str>cached

    cdef str _new_type_text(self, kind):
        """Return the text of a type; the slower `type_text` prints only rare forms."""
        cdef Text out = self.numbers.items
        self.numbers.clear()
        if not add_type(out, kind, 0) or memchr(out.data, c"\n", out.size) is not NULL:
            return type_text(kind)
        return PyUnicode_DecodeUTF8(out.data, out.size, NULL)

    cdef int _data(self, kind, data, int indent, Py_ssize_t budget) except -1:
        """Print the literal of a tensor's data; if it is empty, remove the space before it."""
        cdef Text out = self.out
        cdef Elements elements
        cdef Py_buffer held
        cdef bint is_raw = type(data) is RAW_DATA
        if is_raw or type(data) is TYPED_DATA:
            elements = self._type(kind)
            content = get(data, OF_RAW if is_raw else OF_TYPED)
            PyObject_GetBuffer(content, &held, PyBUF_SIMPLE)
            self.numbers.content = content
            try:
                if elements.bits and elements.bits < 8:
                    if self._packed(elements, &held, is_raw, indent, budget):
                        return 0
                elif is_raw:
                    if self._fits(elements, <const char*>held.buf, held.len):
                        return self._raw(elements, <const char*>held.buf, held.len, indent, budget)
                elif elements.typed != OTHER and held.len % elements.typed_width == 0:
                    return self.numbers.typed_list(
                        out, elements, <const char*>held.buf, held.len, indent, budget
                    )
            finally:
                PyBuffer_Release(&held)
        elif type(data) is STRING_DATA:
            return self._strings(get(data, OF_STRINGS), indent, budget, True)
        elif type(data) is Blob or type(data) is TypedBlob:
            return self._blob(type(data), data)
        elif type(data) is EXTERNAL_DATA and self._external(data, budget):
            return 0
        parts = data_parts(kind, data, " " * indent, budget)
        out.size -= not parts[0]
        for part in parts:
            out.append_large(part)
        return 0

    cdef int _blob(self, cls, blob) except -1:
        """Print a `Blob` or `TypedBlob`."""
        cdef Text out = self.out
        if cls is TypedBlob:
            out.character(c"{")
        out.add(b'blob"', 5)
        out.text(blob.digest)
        out.character(c'"')
        return out.character(c"}") if cls is TypedBlob else 0

    cdef bint _external(self, data, Py_ssize_t budget) except -1:
        """Print `external(…)` on one line; return False if Python must print the data."""
        cdef Text out = self.out
        cdef tuple entries = get(data, OF_EXTERNAL)
        cdef Py_ssize_t mark, count = len(entries), index
        for index in range(count):
            key, value = entries[index]
            if index == len(EXTERNAL_KEYS) or key != EXTERNAL_KEYS[index]:
                return False
            if index and not is_external_number(value):
                return False
        mark = out.begin_trial()
        out.add(b"external(", 9)
        for index in range(count):
            if index:
                out.add(b", ", 2)
                out.text(entries[index][1])
            else:
                out._quoted(entries[index][1])
        out.character(c")")
        return out.end_trial(mark, count and out.is_flat(mark, budget))

    cdef bint _packed(
        self, Elements type, Py_buffer* held, bint is_raw, int indent, Py_ssize_t budget
    ) except -1:
        """Print elements of 2 or 4 bits; return False if Python must print them."""
        cdef bytes codes
        cdef int step = 1 if is_raw else 4
        cdef const char* data = <const char*>held.buf
        if type.count < 0 or not is_packed(
            <const unsigned char*>data, held.len, type.count, type.bits, step
        ):
            return False
        codes = unpacked(data, type.count, type.bits, step, type.raw == INTEGER)
        data = codes
        self.numbers.content = None
        if is_raw:
            self._raw(type, data, type.count, indent, budget)
        else:
            self.numbers._list(
                self.out, b"{}", type.raw, 1, data, type.count, type, indent, budget
            )
        return True

    cdef bint _fits(self, Elements type, const char* data, Py_ssize_t size) noexcept:
        """Whether the core can print raw data: its type is common, and its size is right."""
        cdef Py_ssize_t index
        if type.raw == OTHER or not 0 <= type.count <= size or type.count * type.width != size:
            return False
        if type.raw == BOOL:
            for index in range(type.count):
                if data[index] & ~1:
                    return False
        return True

    cdef int _raw(
        self, Elements type, const char* data, Py_ssize_t size, int indent, Py_ssize_t budget
    ) except -1:
        cdef Text out = self.out
        cdef Numbers numbers = self.numbers
        cdef Py_ssize_t first
        if not size:
            return out.add(b"[]", 2)
        if type.is_scalar or (
            type.count > 2 and memcmp(data, data + type.width, size - type.width) == 0
        ):
            numbers.clear()
            numbers.elements(type.raw, type.width, data, type.width, type)
            if type.is_scalar:
                return numbers.first(out)
            first = numbers.ends[0]
            if type.count * (first + 2) > first + 5:
                out.character(c"[")
                numbers.first(out)
                return out.add(b", ...]", 6)
        return numbers.raw_list(out, type, data, size, indent, budget)

    cdef bint _item(self, cls, value, int indent, Py_ssize_t budget) except -1:
        """Print a tensor or type in an attribute; return False if it must be printed in Python."""
        if cls is TENSOR:
            return self._tensor(value, indent, budget)
        if budget <= 0:
            return False
        if cls is SparseTensor:
            text = type_text(SparseTensorType(value.values.type.element, value.dims))
            self.out.text(text)
            self.out.character(c" ")
            return self._sparse(value, indent, budget - len(text) - 1)
        text = self._type_text(value)
        return len(text) <= budget and not self.out.text(text)

    cdef bint _tensor(self, tensor, int indent, Py_ssize_t budget) except -1:
        """Print a tensor in an attribute; return False if it must be printed in Python."""
        cdef Text out = self.out
        kind, data = get(tensor, OF_TENSOR.type), get(tensor, OF_TENSOR.data)
        name = get(tensor, OF_TENSOR.name)
        cdef Elements type = self._type(kind)
        cdef bint is_number = type.is_scalar and data.__class__ is RAW_DATA
        cdef Py_ssize_t mark = out.position()
        out.text(get(kind, OF_TENSOR_TYPE.element) if is_number else type.text)
        if name is not None:
            out.character(c" ")
            out.word(name)
        elif is_number:
            out.character(c"(")
            self._data(kind, data, indent, budget)
            out.character(c")")
            return True
        out.add(b" = ", 3 if is_number else 1)
        budget -= out.width(mark)
        if budget <= 0:
            return False
        self._data(kind, data, indent, budget)
        return True

    cdef bint _sparse(self, sparse, int indent, Py_ssize_t budget) except -1:
        """Print a sparse tensor without its type; return False if Python must print it."""
        cdef Text out = self.out
        cdef Py_ssize_t mark, start
        if not is_plain_tensor(sparse.values) or not is_plain_tensor(sparse.indices):
            return False
        mark = out.begin_trial()
        out.add(b"sparse(", 7)
        if not self._sparse_part(sparse.values, indent):
            return out.end_trial(mark, False)
        out.add(b", ", 2)
        if not self._sparse_part(sparse.indices, indent):
            return out.end_trial(mark, False)
        out.character(c")")
        if out.end_trial(mark, out.is_flat(mark, budget)):
            return True
        mark = out.begin_trial()
        out.add(b"sparse(", 7)
        for part in (sparse.values, sparse.indices):
            out.line(indent + INDENT)
            start = out.position()
            self._sparse_part(part, indent)
            if is_wide(out, start, indent + INDENT, LINE_WIDTH):
                return out.end_trial(mark, False)
            out.character(c",")
        out.line(indent)
        out.character(c")")
        return out.end_trial(mark, True)

    cdef bint _sparse_part(self, tensor, int indent) except -1:
        """Print the values or indices of a sparse tensor; return False if Python must do it."""
        return self._tensor(tensor, indent + INDENT, LINE_WIDTH - indent - INDENT - 1)

    cdef int _strings(
        self, tuple values, int indent, Py_ssize_t budget, bint in_braces
    ) except -1:
        """Print a list of strings like `layout.fill_list`."""
        cdef char opening = c"{" if in_braces else c"[", closing = c"}" if in_braces else c"]"
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.begin_trial(), item, taken = 0, size
        cdef bint several = False, long
        out.character(opening)
        for index, value in enumerate(values):
            if index:
                out.add(b", ", 2)
            out.bytes_string(value, indent + INDENT)
        out.character(closing)
        if out.end_trial(mark, out.is_flat(mark, budget)):
            return 0
        out.character(opening)
        out.line(indent + INDENT)
        for index, value in enumerate(values):
            item = out.begin_trial()
            if index:
                out.character(c" ")
            out.bytes_string(value, indent + INDENT)
            size = out.width(item)
            long = not out.is_flat(item, size)
            if not out.end_trial(
                item,
                not index
                or not (long or several or indent + INDENT + taken + size >= LINE_WIDTH),
            ):
                out.line(indent + INDENT)
                taken = out.position()
                out.bytes_string(value, indent + INDENT)
                size, taken = out.width(taken), 0
            out.character(c",")
            taken += size + 1
            several = long
        out.line(indent)
        return out.character(closing)


cdef bint is_plain_tensor(tensor) except -1:
    """Whether the core can print a tensor in an attribute."""
    if type(tensor) is not TENSOR or get(tensor, OF_TENSOR.decorators):
        return False
    return type(get(tensor, OF_TENSOR.data)) in PLAIN_DATA
