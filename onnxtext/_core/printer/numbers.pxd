# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t

from onnxtext._core.printer.text cimport Text

cdef enum:
    MAX_DIMS = 16

cdef enum Kind:
    OTHER = 0  # printed in Python
    FLOAT
    POINT  # a float that needs a decimal point
    INTEGER
    UNSIGNED
    BOOL
    COMPLEX
    CODE  # the code of a narrow float, printed by table lookup

cdef class Elements:
    """The text format of the elements of a tensor type."""
    cdef object type  # kept alive, because formats are cached by its id
    cdef readonly str text  # the text of the type
    cdef str element
    cdef Kind raw, typed  # the kinds of elements in `raw_data` and of entries in the typed field
    cdef int width, typed_width, rank
    cdef int bits  # the size of an element
    cdef Py_ssize_t count  # the number of elements; -1 if unknown
    cdef Py_ssize_t[MAX_DIMS] dims  # the dimensions other than 1
    cdef bint is_scalar
    cdef bytearray texts  # of all codes; see `TEXTS`

cdef class Numbers:
    """A list of numbers as text."""
    cdef Text items  # separated by commas and spaces
    cdef Py_ssize_t* ends
    cdef Py_ssize_t count, room
    cdef object content  # the object that the next numbers are read from; None if unknown
    cdef object loaded  # the object that these numbers were read from; None if unknown
    cdef Kind kind  # the form in which these numbers are printed
    cdef int width
    cdef Elements type

    cdef int clear(self) except -1
    cdef int one(self, Text out, value) except -1
    cdef int load(
        self, Kind kind, int width, const char* data, Py_ssize_t size, Elements type
    ) except -1
    cdef int integers(self, tuple values) except -1
    cdef int elements(self, Kind kind, int width, const char* data, Py_ssize_t size, Elements type) except -1
    cdef int _complex(self, const char* data, int width) except -1
    cdef int flat_list(self, Text out, const char* brackets, int indent, Py_ssize_t budget) except -1
    cdef int raw_list(
        self, Text out, Elements type, const char* data, Py_ssize_t size, int indent, Py_ssize_t budget
    ) except -1
    cdef int typed_list(
        self, Text out, Elements type, const char* data, Py_ssize_t size, int indent, Py_ssize_t budget
    ) except -1
    cdef int _list(
        self, Text out, const char* brackets, Kind kind, int width, const char* data,
        Py_ssize_t size, Elements type, int indent, Py_ssize_t budget
    ) except -1
    cdef bint _flat_rows(self, Text out, Elements type, Py_ssize_t row, Py_ssize_t budget) except -1
    cdef int _row(
        self, Text out, Elements type, Py_ssize_t number, Py_ssize_t first, Py_ssize_t count, int indent
    ) except -1
    cdef int first(self, Text out) except -1
    cdef int _reserve(self, Py_ssize_t count) except -1
    cdef int _end(self) except -1
    cdef Py_ssize_t _start(self, Py_ssize_t index) noexcept
    cdef Py_ssize_t _size(self, Py_ssize_t first, Py_ssize_t count) noexcept
    cdef Py_ssize_t _fill(
        self, Text out, int indent, Py_ssize_t first, Py_ssize_t last, Py_ssize_t taken
    ) except -1
