# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.reader cimport Bytes

cdef bint is_narrow(int key) noexcept
cdef bytes typed_entries(Bytes data, Py_ssize_t start, Py_ssize_t end, int key)
cdef bint is_entry(Bytes data, Py_ssize_t start, Py_ssize_t end) noexcept
cdef list add_entry(list entries, tuple like, Bytes data, Py_ssize_t start, Py_ssize_t end)
cdef tuple any_entry_of(Bytes data, view, Py_ssize_t start, Py_ssize_t end)
