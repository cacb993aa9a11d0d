# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.buffer cimport Buffer

cdef class TypeEncoder:
    """Encodes types.

    Attributes:
        lowering: encodes rare forms in Python.
        types_in_python: whether presence defaults add fields to types.
        out: the bytes since the last piece.
    """
    cdef object lowering
    cdef bint types_in_python
    cdef Buffer out
    cdef bytes type_field(self, type_)
    cdef bint type(self, type_, int depth) except -1
    cdef bint _inner(self, int key, type_, int depth) except -1
    cdef bint _tensor_type(self, element, shape) except -1
    cdef bint _dim(self, dim) except -1
    cdef bint integer(self, int key, value) except -1

cdef bint is_denoted(type_) except -1


cdef inline object identity(object thing):
    """Return `id(thing)`."""
    return <size_t><void*>thing
