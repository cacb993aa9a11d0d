# SPDX-License-Identifier: Apache-2.0
"""Decode types and strings: the compiled part of `onnxtext.proto.decode.types_and_tensors`.

Functions of types return None for rare forms, which are decoded in Python.
"""
cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from onnxtext._core.proto.decorators cimport text_decorator
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.ast.slots cimport (
    DECORATED_DIM, MAP, OF_TENSOR_TYPE, OPTIONAL, SEQUENCE, SPARSE_TYPE, TENSOR_TYPE,
    PyType_GenericAlloc, build, get, plain_value_info, put,
)
from onnxtext._core.wire.reader cimport Bytes, Field, read_field

from onnxtext.proto.decode.types_and_tensors import lift_tensor
from onnxtext.tensor.element_types import ELEMENT_NUMBERS, ELEMENTS

cdef enum:
    DEEPEST = 16  # types that are nested deeper are decoded in Python

cdef int64_t ELEMENT_LIMIT = 1 << 40  # Python decodes tensors with this number of elements or more

cdef dict TYPED_KEYS = {
    "float_data": TENSOR_FLOAT_DATA,
    "int32_data": TENSOR_INT32_DATA,
    "int64_data": TENSOR_INT64_DATA,
    "double_data": TENSOR_DOUBLE_DATA,
    "uint64_data": TENSOR_UINT64_DATA,
    "string_data": 0,
}
# By element type: its bits, the key of its typed field, and whether it is bool, string or complex.
cdef dict LAYOUTS = {
    _element.name: (
        _element.bits, TYPED_KEYS[_element.field], _element.kind == "bool",
        _element.kind == "string", _element.kind == "complex",
    )
    for _element in ELEMENTS.values()
}
cdef dict NAMES = {number: element.name for number, element in ELEMENT_NUMBERS.items()}

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    void* PyUnicode_1BYTE_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)


cdef object text_of(Bytes data, Py_ssize_t start, Py_ssize_t end):
    if start == end:
        return ""
    return PyUnicode_DecodeUTF8(<const char*>data + start, end - start, b"surrogateescape")


cdef object shared_text(text, Bytes data, Py_ssize_t start, Py_ssize_t end):
    """Return `text`, a string or None, if it is the ASCII string in a field; else a new string."""
    if (
        text is not None and PyUnicode_IS_COMPACT_ASCII(<str?>text)
        and PyUnicode_GET_LENGTH(text) == end - start
        and memcmp(PyUnicode_1BYTE_DATA(text), data + start, end - start) == 0
    ):
        return text
    return text_of(data, start, end)


cdef tuple texts_of(Bytes data, Py_ssize_t* offset, Py_ssize_t end, int key, tuple likely):
    """Return the strings of the next fields that have this key; advance `offset` after them.

    A string that is equal to the first one of `likely` is shared.
    """
    cdef Field field
    cdef Py_ssize_t start = offset[0], count = 0, index
    likely_text = likely[0] if likely else None
    while offset[0] < end and read_field(data, offset[0], end, &field) and field.key == key:
        count += 1
        offset[0] = field.end
    if not count:
        return ()
    result = PyTuple_New(count)
    for index in range(count):
        read_field(data, start, end, &field)
        text = shared_text(likely_text, data, field.value, field.end)
        Py_INCREF(text)
        PyTuple_SET_ITEM(result, index, text)
        start = field.end
    return result


cdef bytes copied(Bytes data, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(<const char*>data + start, end - start)


cdef object plain_head(Bytes data, Py_ssize_t start, Py_ssize_t end):
    """Return the type of a tensor from its dims and then `data_type`; None for other fields."""
    cdef Field field = Field(0, 0, 0, 0)
    cdef list dims = []
    while start < end and read_field(data, start, end, &field) and field.key == TENSOR_DIMS:
        dims.append(<int64_t>field.number)
        start = field.end
    if start == end or not read_field(data, start, end, &field) or field.end != end:
        return None
    element = NAMES.get(field.number) if field.key == TENSOR_DATA_TYPE else None
    return None if element is None else new_tensor_type(element, tuple(dims))


cdef object typed_value(bytes key):
    """Return a value info without a name for the bytes of its type; None for rare forms."""
    cdef Bytes data = <Bytes><const char*>key
    cdef Py_ssize_t end = len(key)
    cdef Field field, last
    cdef tuple decorators = ()
    if read_field(data, 0, end, &field) and field.end < end:
        if not read_field(data, field.end, end, &last) or last.key != TYPE_DENOTATION:
            return None
        if last.end != end:
            return None
        decorators = (text_decorator("type.denotation", copied(data, last.value, end)),)
        end = field.end
    type = type_of(data, 0, end, 0)
    return None if type is None else plain_value_info("", type, None, decorators)


cdef object type_of(Bytes data, Py_ssize_t start, Py_ssize_t end, int depth):
    """Decode a `TypeProto`; None for rare forms, such as a type with a denotation.

    `depth` types enclose it.
    """
    cdef Field field
    if not read_field(data, start, end, &field) or field.end != end or depth > DEEPEST:
        return None
    if field.key == TYPE_TENSOR_TYPE or field.key == TYPE_SPARSE_TENSOR_TYPE:
        return tensor_type(data, field.value, end, field.key == TYPE_SPARSE_TENSOR_TYPE)
    if field.key == TYPE_SEQUENCE_TYPE or field.key == TYPE_OPTIONAL_TYPE:
        kind = SEQUENCE if field.key == TYPE_SEQUENCE_TYPE else OPTIONAL
        start = field.value
        if not read_field(data, start, end, &field) or field.key != SEQUENCE_ELEM_TYPE:
            return None
        element = type_of(data, field.value, end, depth + 1) if field.end == end else None
        return None if element is None else build(kind, (element, ()))
    if field.key != TYPE_MAP_TYPE:
        return None
    start = field.value
    if not read_field(data, start, end, &field) or field.key != MAP_KEY_TYPE:
        return None
    key = NAMES.get(field.number)
    start = field.end
    if not read_field(data, start, end, &field) or field.key != MAP_VALUE_TYPE:
        return None
    element = type_of(data, field.value, end, depth + 1) if field.end == end else None
    return None if key is None or element is None else build(MAP, (key, element, ()))


cdef object tensor_type(Bytes data, Py_ssize_t start, Py_ssize_t end, bint is_sparse):
    """Decode the element type and the optional shape of a tensor type."""
    cdef Field field
    cdef Py_ssize_t offset = start
    element = shape = None
    while offset < end:
        if not read_field(data, offset, end, &field):
            return None
        offset = field.end
        if field.key == TENSOR_TYPE_ELEM_TYPE and element is None:
            element = NAMES.get(field.number)
            if element is None:
                return None
        elif field.key == TENSOR_TYPE_SHAPE and shape is None:
            shape = dims_of(data, field.value, offset)
            if shape is None:
                return None
        else:
            return None
    if element is None:
        return None
    if is_sparse:
        return build(SPARSE_TYPE, (element, shape, ()))
    return new_tensor_type(element, shape)


cdef object new_tensor_type(element, shape):
    result = PyType_GenericAlloc(TENSOR_TYPE, 0)
    put(result, OF_TENSOR_TYPE.element, element)
    put(result, OF_TENSOR_TYPE.shape, shape)
    put(result, OF_TENSOR_TYPE.decorators, ())
    return result


cdef tuple dims_of(Bytes data, Py_ssize_t start, Py_ssize_t end):
    cdef Field field
    cdef Py_ssize_t offset = start, inside
    cdef list dims = []
    while offset < end:
        if not read_field(data, offset, end, &field) or field.key != SHAPE_DIM:
            return None
        inside, offset = field.value, field.end
        dim = None
        while inside < offset:
            if not read_field(data, inside, offset, &field):
                return None
            if field.key == DIM_DENOTATION and field.end == offset:
                denotation = text_decorator("denotation", copied(data, field.value, offset))
                dim = build(DECORATED_DIM, (dim, (denotation,)))
            elif field.key == DIM_DIM_VALUE and dim is None:
                dim = <int64_t>field.number
            elif field.key == DIM_DIM_PARAM and dim is None:
                dim = text_of(data, field.value, field.end)
            else:
                return None
            inside = field.end
        dims.append(dim)
    return tuple(dims)


@cython.final
cdef class Head:
    def __cinit__(self, bytes data):
        """Decode the dims and the element type."""
        cdef int64_t count = 1, dim
        cdef bint is_empty = False
        self.type = plain_head(data, 0, len(data))
        if self.type is None:
            self.type = lift_tensor(data)[0]
        self.size = -1
        layout = LAYOUTS.get(get(self.type, OF_TENSOR_TYPE.element))
        if layout is None:
            return
        for item in get(self.type, OF_TENSOR_TYPE.shape):
            dim = item
            if not 0 <= dim < ELEMENT_LIMIT:
                return
            if not dim:
                is_empty = True
            elif count <= (ELEMENT_LIMIT - 1) // dim:
                count *= dim
            else:
                count = ELEMENT_LIMIT
        bits, self.typed_key, self.is_bool, self.is_string, self.is_complex = <tuple>layout
        if bits not in (2, 4) and bits < 8:
            return
        if is_empty or count < ELEMENT_LIMIT:
            self.count, self.bits = 0 if is_empty else count, bits
            self.size = (self.count * self.bits + 7) // 8
