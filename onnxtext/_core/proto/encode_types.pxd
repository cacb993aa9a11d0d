# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.wire.buffer cimport Buffer

cdef class TensorForm:
    """The encoding parameters of tensors of a type.

    Attributes:
        head: the encoded dims and element type.
        key: the key of the typed field; 0 if Python encodes it.
        width: the bytes of an entry that becomes a varint: 4 for int32, 8 for 64 bits; 0 for
            entries of fixed width.
        size: the bytes of `raw_data`; -1 if Python computes them.
    """
    cdef bytes head
    cdef int key, width
    cdef Py_ssize_t size
    cdef int add_varints(self, Buffer out, bytes data) except -1


cdef class TypeEncoder:
    """Encodes types.

    Attributes:
        lowering: encodes rare forms in Python; None until `python` creates it.
        options: the arguments of `lowering`.
        many_repetitions: see `RepetitionLowering`.
        level: the nesting depth of graphs.
        deepest_type: the maximum nesting depth of types and records.
        types_in_python: whether presence defaults add fields to types.
        out: the bytes since the last piece.
    """
    cdef object lowering
    cdef tuple options
    cdef int level
    cdef readonly int deepest_type
    cdef public object many_repetitions
    cdef object python(self)
    cdef object blob(self, blob)
    cdef bint types_in_python
    cdef Buffer out
    cdef bytes type_field(self, type_)
    cdef bint type(self, type_, int depth) except -1
    cdef bint _inner(self, int key, type_, int depth) except -1
    cdef bint _tensor_type(self, element, shape) except -1
    cdef bint _dim(self, dim) except -1
    cdef bint integer(self, int key, value) except -1
    cdef TensorForm form(self, type_)

cdef bint can_add_denotation(type_) except -1


cdef inline object identity(object thing):
    """Return `id(thing)`."""
    return <size_t><void*>thing
