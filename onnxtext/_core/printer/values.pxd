# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.printer.numbers cimport Elements, Numbers
from onnxtext._core.printer.text cimport Text

cdef bint is_plain_tensor(tensor) except -1

cdef class ValuePrinter:
    """Prints values; caches types by id and keeps them alive."""
    cdef Text out
    cdef Numbers numbers
    cdef object owner  # the `GraphPrinter` for rare forms; None if it was not needed yet
    cdef dict types, type_texts
    cdef list alive
    cdef int countdown
    cdef readonly bint has_sections  # whether a part so far may have an entry in a section

    cdef inline int note(self, entries) except -1:
        """Set `has_sections` if a part has entries."""
        if entries:
            self.has_sections = True
        return 0

    cdef object python(self)
    cdef int _check_signals(self) except -1
    cdef int _value(self, value, int indent) except -1
    cdef int _decorators(self, decorators, int indent) except -1
    cdef bint _short_decorators(self, decorators, int indent) except -1
    cdef Elements _type(self, kind)
    cdef str _type_text(self, kind)
    cdef str _new_type_text(self, kind)
    cdef int _data(self, kind, data, int indent, Py_ssize_t budget) except -1
    cdef int _blob(self, cls, blob) except -1
    cdef bint _external(self, data, Py_ssize_t budget) except -1
    cdef bint _packed(
        self, Elements type, Py_buffer* held, bint is_raw, int indent, Py_ssize_t budget
    ) except -1
    cdef bint _fits(self, Elements type, const char* data, Py_ssize_t size) noexcept
    cdef int _raw(
        self, Elements type, const char* data, Py_ssize_t size, int indent, Py_ssize_t budget
    ) except -1
    cdef bint _item(self, cls, value, int indent, Py_ssize_t budget) except -1
    cdef bint _tensor(self, tensor, int indent, Py_ssize_t budget) except -1
    cdef bint _sparse(self, sparse, int indent, Py_ssize_t budget) except -1
    cdef bint _sparse_part(self, tensor, int indent) except -1
    cdef int _strings(
        self, tuple values, int indent, Py_ssize_t budget, bint in_braces
    ) except -1
