# SPDX-License-Identifier: Apache-2.0
"""Access the `__slots__` of the most common AST classes by their memory offsets.

This is ten times faster than access by name, and a node has eleven slots.
"""
from types import MemberDescriptorType

from onnxtext.ast.model import Function, Graph, Model, Node, OpsetImport, ValueInfo
from onnxtext.ast.records import Decorator, Field
from onnxtext.ast.types import (
    DecoratedDim, MapType, OptionalType, SequenceType, SparseTensorType, TensorType,
)
from onnxtext.ast.tensors_and_attributes import (
    Attribute, ExternalData, Float32, RawData, StringData, Tensor, TypedData,
)

cdef extern from "structmember.h":
    cdef enum:
        T_OBJECT_EX
    ctypedef struct PyMemberDef:
        Py_ssize_t offset
        int type

cdef extern from "Python.h":
    ctypedef struct PyMemberDescrObject:
        PyMemberDef* d_member


cdef Py_ssize_t slot_of(cls, str name) except -1:
    """Return the memory offset of a slot of a class."""
    descriptor = cls.__dict__[name]
    cdef PyMemberDef* member
    if type(descriptor) is not MemberDescriptorType or descriptor.__objclass__ is not cls:
        raise ImportError(f"{cls.__name__}.{name} is not a slot")
    member = (<PyMemberDescrObject*><void*>descriptor).d_member
    if member.type != T_OBJECT_EX or not 0 < member.offset < cls.__basicsize__:
        raise ImportError(f"{cls.__name__}.{name} is not an object slot")
    return member.offset


def slots_of(cls):
    """Return the memory offsets of all slots by name; Cython converts the result to a struct."""
    return {name: slot_of(cls, name) for name in cls.__slots__}


MODEL, OPSET = Model, OpsetImport
GRAPH, FUNCTION, NODE, VALUE_INFO, ATTRIBUTE = Graph, Function, Node, ValueInfo, Attribute
TENSOR, TENSOR_TYPE = Tensor, TensorType
RAW_DATA, TYPED_DATA, STRING_DATA = RawData, TypedData, StringData
EXTERNAL_DATA = ExternalData
DECORATOR, FIELD = Decorator, Field
DECORATED_DIM, SPARSE_TYPE, SEQUENCE = DecoratedDim, SparseTensorType, SequenceType
OPTIONAL, MAP = OptionalType, MapType
cdef dict SLOTS = {
    _kind: bytes([slot_of(_kind, name) // POINTER for name in _kind.__slots__])
    for _kind in (
        Model, OpsetImport, Graph, Function, Attribute, Tensor, Decorator, Field, DecoratedDim,
        SparseTensorType, SequenceType, OptionalType, MapType,
    )
}
OF_DECORATOR = slots_of(Decorator)
OF_FIELD = slots_of(Field)
OF_TENSOR = slots_of(Tensor)
OF_TENSOR_TYPE = slots_of(TensorType)
OF_MODEL = slots_of(Model)
OF_OPSET = slots_of(OpsetImport)
OF_GRAPH = slots_of(Graph)
OF_FUNCTION = slots_of(Function)
for _name in set(Graph.__slots__).intersection(Function.__slots__):
    if slot_of(Graph, _name) // POINTER >= 64:
        raise ImportError("a graph has too many slots")
    IN_FUNCTION[slot_of(Graph, _name) // POINTER] = slot_of(Function, _name)
OF_NODE = slots_of(Node)
OF_VALUE = slots_of(ValueInfo)
OF_ATTRIBUTE = slots_of(Attribute)
OF_RAW = slot_of(RawData, "data")
OF_EXTERNAL = slot_of(ExternalData, "entries")
OF_TYPED = slot_of(TypedData, "entries")
OF_STRINGS = slot_of(StringData, "values")
cdef type FLOAT32 = Float32
cdef Py_ssize_t OF_FLOAT32 = slot_of(Float32, "bits")


cdef object build(type kind, tuple values):
    """Return an object of a class of `SLOTS`, given the values of all its slots in their order."""
    cdef bytes slots = SLOTS[kind]
    cdef const unsigned char* places = slots
    cdef Py_ssize_t index, size = PyTuple_GET_SIZE(values)
    if size != len(slots):
        raise ValueError("values and slots differ in number")
    result = PyType_GenericAlloc(kind, 0)
    for index in range(size):
        put(result, places[index] * POINTER, <object>PyTuple_GET_ITEM(values, index))
    return result


cdef object plain_value_info(object name, object type_, object data, tuple decorators, object at=-1):
    """Return a `ValueInfo` without metadata."""
    result = PyType_GenericAlloc(VALUE_INFO, 0)
    put(result, OF_VALUE.name, name)
    put(result, OF_VALUE.type, type_)
    put(result, OF_VALUE.data, data)
    put(result, OF_VALUE.decorators, decorators)
    put(result, OF_VALUE.metadata, ())
    put(result, OF_VALUE.at, at)
    return result


cdef object make_float32(uint32_t bits):
    """Return a `Float32`."""
    result = PyType_GenericAlloc(FLOAT32, 0)
    put(result, OF_FLOAT32, bits)
    return result


cdef object make_data(type kind, Py_ssize_t slot, content):
    """Return a `RawData`, `TypedData`, `StringData` or `ExternalData`."""
    result = PyType_GenericAlloc(kind, 0)
    put(result, slot, content)
    return result
