# SPDX-License-Identifier: Apache-2.0
"""Where the attributes of the syntax tree's commonest classes are in memory.

Setting and reading them there takes a tenth of the time that it takes by name, and a node has
eleven of them.
"""
from types import MemberDescriptorType

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.values import Attribute, RawData, Tensor, TypedData

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
    """Where an attribute is in the objects of a class."""
    descriptor = cls.__dict__[name]
    cdef PyMemberDef* member
    if type(descriptor) is not MemberDescriptorType or descriptor.__objclass__ is not cls:
        raise ImportError(f"{cls.__name__}.{name} is no slot")
    member = (<PyMemberDescrObject*><void*>descriptor).d_member
    if member.type != T_OBJECT_EX or not 0 < member.offset < cls.__basicsize__:
        raise ImportError(f"{cls.__name__}.{name} is no slot of an object")
    return member.offset


NODE, VALUE_INFO, ATTRIBUTE = Node, ValueInfo, Attribute
RAW_DATA, TYPED_DATA, TENSOR = RawData, TypedData, Tensor
OF_TENSOR = TensorSlots(
    type=slot_of(Tensor, "type"),
    data=slot_of(Tensor, "data"),
    name=slot_of(Tensor, "name"),
    decorators=slot_of(Tensor, "decorators"),
)
OF_NODE = NodeSlots(
    op_type=slot_of(Node, "op_type"),
    inputs=slot_of(Node, "inputs"),
    outputs=slot_of(Node, "outputs"),
    attributes=slot_of(Node, "attributes"),
    name=slot_of(Node, "name"),
    domain=slot_of(Node, "domain"),
    overload=slot_of(Node, "overload"),
    output_types=slot_of(Node, "output_types"),
    decorators=slot_of(Node, "decorators"),
    metadata=slot_of(Node, "metadata"),
    at=slot_of(Node, "at"),
)
OF_VALUE = ValueSlots(
    name=slot_of(ValueInfo, "name"),
    type=slot_of(ValueInfo, "type"),
    data=slot_of(ValueInfo, "data"),
    decorators=slot_of(ValueInfo, "decorators"),
    metadata=slot_of(ValueInfo, "metadata"),
    at=slot_of(ValueInfo, "at"),
)
OF_ATTRIBUTE = AttributeSlots(
    name=slot_of(Attribute, "name"),
    type=slot_of(Attribute, "type"),
    value=slot_of(Attribute, "value"),
    decorators=slot_of(Attribute, "decorators"),
)
OF_RAW = slot_of(RawData, "data")
OF_TYPED = slot_of(TypedData, "entries")
