# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire cimport Bytes

cdef enum:
    SMALL = 4096  # larger data is a view of the model instead of a copy

cdef bytes copied(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object text_of(Bytes data, Py_ssize_t start, Py_ssize_t end)

cdef class Values:
    """Decodes values; equal attributes and types are the same object."""
    cdef dict attributes, types, heads
    cdef object held, name  # of the last tensor
    cdef object tensor_type

    cdef object value_info(self, Bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef object initializer(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object attribute(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef bint _tensor(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end) except -1
    cdef object _attribute_value(
        self, int kind, int key, Bytes data, view, Py_ssize_t start, Py_ssize_t end
    )
