# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.reader cimport Bytes

cdef bytes copied(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object text_of(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object plain_head(Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef object type_of(Bytes data, Py_ssize_t start, Py_ssize_t end, int depth)
cdef object new_tensor_type(element, shape)
