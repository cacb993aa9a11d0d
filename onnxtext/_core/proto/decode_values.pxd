# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.reader cimport Bytes

cdef enum:
    SHORT = 64  # in bytes; in a cached tail, larger attributes are not cached on their own
    SMALL = 4096  # in bytes; larger data is a view of the model instead of a copy
    UNKNOWN = 0x7FFFFFFF  # see `Values`

cdef class Values:
    """Decodes value infos, tensors and attributes; equal types or attributes share an object.

    Attributes:
        largest: the number of elements of the largest tensor, or list in an attribute, so far;
            `UNKNOWN` after a string of more than `SMALL` bytes, and after an item that Python
            decoded.
        is_strict: whether a packed list that the schema declares unpacked raises `NotCanonical`;
            the same for an input, an output or the name after later fields of a node.
        is_plain: whether no item so far has metadata or is rare, such as an annotation.
        tensors: the tensors in attributes; None after an item that Python decoded.
    """
    cdef dict attributes, types, heads, sparse_types
    cdef Py_ssize_t largest, most_ints
    cdef bint is_plain, is_strict
    cdef list tensors
    cdef object held, name  # the data and the name of the last tensor
    cdef object sparse_name  # the name of the last sparse initializer
    cdef object tensor_type
    cdef tuple decorators
    cdef object likely_name  # the name that the next value info probably has, or None
    cdef tuple last_entries  # of the last item with metadata or external data, for `add_entry`

    cdef tuple finished(self, list entries)
    cdef object value_info(self, Bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef object initializer(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object attribute(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, Py_ssize_t most
    )
    cdef bint _tensor(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end) except -1
    cdef object _attribute_value(
        self, int kind, int key, Bytes data, view, Py_ssize_t start, Py_ssize_t end
    )
    cdef object _packed(self, Bytes data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t count)
    cdef bytes _string(self, Bytes data, Py_ssize_t start, Py_ssize_t end)
    cdef object _item(self, int key, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object sparse_initializer(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object _sparse(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, bint is_initializer
    )

cdef list added(list items, item)
