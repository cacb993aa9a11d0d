# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.reader cimport Bytes

cdef bytes copied(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object text_of(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object shared_text(text, Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef tuple texts_of(Bytes data, Py_ssize_t* offset, Py_ssize_t end, int key, tuple likely)
cdef object typed_value(bytes key)
cdef object type_of(Bytes data, Py_ssize_t start, Py_ssize_t end, int depth)
cdef object new_tensor_type(element, shape)


cdef class Head:
    """The properties of all tensors whose encodings begin with the same dims and element type."""
    cdef object type
    cdef Py_ssize_t size  # the size of the raw data in bytes; -1 if Python decodes the tensors
    cdef Py_ssize_t count  # the number of elements
    cdef int typed_key, bits
    cdef bint is_bool, is_string, is_complex
