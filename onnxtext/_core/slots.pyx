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


def slots_of(cls):
    """Where all attributes of a class are; a struct takes those it has, and needs no other."""
    return {name: slot_of(cls, name) for name in cls.__slots__}


NODE, VALUE_INFO, ATTRIBUTE = Node, ValueInfo, Attribute
RAW_DATA, TYPED_DATA, TENSOR = RawData, TypedData, Tensor
OF_TENSOR = slots_of(Tensor)
OF_NODE = slots_of(Node)
OF_VALUE = slots_of(ValueInfo)
OF_ATTRIBUTE = slots_of(Attribute)
OF_RAW = slot_of(RawData, "data")
OF_TYPED = slot_of(TypedData, "entries")
