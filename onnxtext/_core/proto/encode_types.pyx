# SPDX-License-Identifier: Apache-2.0
"""Encode types: the compiled part of `onnxtext.proto.encode.types_and_tensors`."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from onnxtext._core.proto.decorators cimport text_argument
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.ast.slots cimport (
    DECORATED_DIM, MAP, OF_TENSOR_TYPE, OPTIONAL, SEQUENCE, SPARSE_TYPE, TENSOR_TYPE, get,
)

from onnxtext.proto.encode.lower import lowering_class
from onnxtext.proto.encode.types_and_tensors import TENSOR_FIELDS, tensor_head
from onnxtext.tensor.element_types import ELEMENTS

cdef extern from "Python.h":
    int64_t PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef enum:
    DEEPEST = 16  # types that are nested deeper are encoded in Python
    LARGE = 1 << 30  # a limit for a dimension, and for a size in bits; Python computes larger sizes

cdef dict NUMBERS = {name: element.number for name, element in ELEMENTS.items()}

# By element type: its number, the `key` and `width` of a `TensorForm`, and its bits.
cdef dict FORMS = {"undefined": (0, 0, 0, 0)}
for _element in ELEMENTS.values():
    _key, _entries = TENSOR_FIELDS[_element.field]
    FORMS[_element.name] = (
        _element.number,
        0 if _element.kind == "string" else _key[0],
        int(_entries[2]) if _entries else 0,
        _element.bits,
    )


cdef class TensorForm:
    def __cinit__(self, bytes head, int key, int width, Py_ssize_t size):
        self.head = head
        self.key = key
        self.width = width
        self.size = size

    cdef int add_varints(self, Buffer out, bytes data) except -1:
        """Add the typed field, whose entries are varints, from little-endian entries."""
        cdef Py_ssize_t offset, start = out.open(self.key)
        cdef int32_t small
        cdef int64_t large
        for offset in range(0, PyBytes_GET_SIZE(data) - self.width + 1, self.width):
            if self.width == 4:
                memcpy(&small, PyBytes_AS_STRING(data) + offset, 4)
                large = small
            else:
                memcpy(&large, PyBytes_AS_STRING(data) + offset, 8)
            out.number(0, <uint64_t>large)
        return out.close(start)


cdef bint can_add_denotation(type_) except -1:
    """Whether a denotation can be appended to an encoded type.

    The type must have no decorators. The field numbers of sparse tensors and optionals are higher
    than that of `denotation`, so these types do not qualify.
    """
    cdef type kind = type(type_)
    if kind is TENSOR_TYPE:
        return not get(type_, OF_TENSOR_TYPE.decorators)
    return (kind is SEQUENCE or kind is MAP) and not type_.decorators


cdef class TypeEncoder:
    cdef object python(self):
        """Return the `CoreLowering` for rare forms; create it if no caller has set it."""
        if self.lowering is None:
            self.lowering = lowering_class("native")(*self.options)
            self.lowering.many_repetitions = self.many_repetitions
        self.lowering.depth = self.level
        return self.lowering

    cdef object blob(self, blob):
        """Return the bytes of a blob; Python searches for it, and verifies its digest."""
        data = None
        if len(self.options) == 5:
            _, resources, others, is_verified, guard = self.options
            if is_verified and others is None and guard is None:
                data = resources.get(blob.digest)
        return self.python().blob(blob, -1) if data is None else data

    cdef bytes type_field(self, type_):
        """Encode a type as the `type` field of a value info; None for rare types."""
        cdef Py_ssize_t start = self.out.size, type_start = self.out.open(VALUE_INFO_TYPE)
        if not self.type(type_, 0):
            self.out.size = start
            return None
        self.out.close(type_start)
        return self.out.take(start)

    cdef bint type(self, type_, int depth) except -1:
        """Add a type, which `depth` types enclose; for rare types, add nothing and return False."""
        cdef Buffer out = self.out
        cdef Py_ssize_t start = out.size, inside
        cdef type kind = type(type_)
        cdef bint is_encoded
        if self.types_in_python or depth > DEEPEST:
            return False
        if kind is TENSOR_TYPE:
            inside = out.open(TYPE_TENSOR_TYPE)
            is_encoded = self._tensor_type(
                get(type_, OF_TENSOR_TYPE.element), get(type_, OF_TENSOR_TYPE.shape)
            )
        elif kind is SPARSE_TYPE:
            inside = out.open(TYPE_SPARSE_TENSOR_TYPE)
            is_encoded = self._tensor_type(type_.element, type_.shape)
        elif kind is SEQUENCE or kind is OPTIONAL:
            inside = out.open(TYPE_SEQUENCE_TYPE if kind is SEQUENCE else TYPE_OPTIONAL_TYPE)
            is_encoded = self._inner(SEQUENCE_ELEM_TYPE, type_.element, depth + 1)
        elif kind is MAP:
            inside = out.open(TYPE_MAP_TYPE)
            number = NUMBERS.get(type_.key)
            is_encoded = number is not None
            if is_encoded:
                out.number(MAP_KEY_TYPE, number)
                is_encoded = self._inner(MAP_VALUE_TYPE, type_.value, depth + 1)
        else:
            return False
        if not is_encoded or (
            get(type_, OF_TENSOR_TYPE.decorators) if kind is TENSOR_TYPE else type_.decorators
        ):
            out.size = start
            return False
        out.close(inside)
        return True

    cdef bint _inner(self, int key, type_, int depth) except -1:
        cdef Py_ssize_t start = self.out.open(key)
        if not self.type(type_, depth):
            return False
        self.out.close(start)
        self.deepest_type = max(self.deepest_type, depth)
        return True

    cdef bint _tensor_type(self, element, shape) except -1:
        """Add the fields of a tensor type; return False for rare forms."""
        cdef Buffer out = self.out
        cdef Py_ssize_t dims
        number = NUMBERS.get(element)
        if number is None:
            return False
        out.number(TENSOR_TYPE_ELEM_TYPE, number)
        if shape is not None:
            dims = out.open(TENSOR_TYPE_SHAPE)
            for dim in shape:
                if not self._dim(dim):
                    return False
            out.close(dims)
        return True

    cdef bint _dim(self, dim) except -1:
        """Add a dimension; return False, with incomplete output, if Python must encode it."""
        cdef Py_ssize_t start = self.out.open(SHAPE_DIM)
        cdef bytes denotation = None
        if type(dim) is DECORATED_DIM:
            decorators = dim.decorators
            if len(decorators) != 1 or decorators[0].name != "denotation":
                return False
            denotation = text_argument(decorators[0])
            if denotation is None:
                return False
            dim = dim.value
        if type(dim) is int:
            if not self.integer(DIM_DIM_VALUE, dim):
                return False
        elif type(dim) is str:
            self.out.text(DIM_DIM_PARAM, dim)
        elif dim is not None:
            return False
        if denotation is not None:
            self.out.field(DIM_DENOTATION, denotation)
        self.out.close(start)
        return True

    cdef bint integer(self, int key, value) except -1:
        """Add a 64-bit integer; return False for other values."""
        cdef int overflow = 0
        cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return False
        self.out.number(key, <uint64_t>number)
        return True

    cdef TensorForm form(self, type_):
        """Return the encoding parameters of tensors of a type."""
        cdef Py_ssize_t start = self.out.size
        cdef int64_t size, dim
        if type(type_) is TENSOR_TYPE:
            element, shape = get(type_, OF_TENSOR_TYPE.element), get(type_, OF_TENSOR_TYPE.shape)
        else:
            element, shape = type_.element, type_.shape
        number, key, width, size = FORMS[element]
        if not size:
            size = -1
        for dim_object in shape or ():
            if not self.integer(TENSOR_DIMS, dim_object):
                self.out.size = start
                return TensorForm(tensor_head(type_), 0, 0, -1)
            dim = dim_object
            size = size * dim if 0 <= dim < LARGE and 0 <= size < LARGE else -1
        self.out.number(TENSOR_DATA_TYPE, number)
        return TensorForm(self.out.take(start), key, width, (size + 7) // 8 if size >= 0 else -1)
