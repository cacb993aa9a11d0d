# SPDX-License-Identifier: Apache-2.0
"""The fields of syntax nodes, read and stored where their classes have them.

That is several times as fast as by their names.
"""
from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.values import Attribute, RawData

cdef extern from *:
    """
    #include <structmember.h>
    static Py_ssize_t slot_offset(PyObject *descriptor) {
        return ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    """
    Py_ssize_t slot_offset(object) noexcept


cdef int find_slots(type kind, Py_ssize_t* offsets, dict fields) except -1:
    """Find the places of the fields of a class with slots, for a struct of these fields."""
    for at, name in enumerate(fields):
        descriptor = kind.__dict__[name]
        if type(descriptor).__name__ != "member_descriptor":
            raise TypeError(f"{kind.__name__}.{name} is no slot")
        offsets[at] = slot_offset(descriptor)
    return 0


NODE, VALUE_INFO, ATTRIBUTE, RAW_DATA = Node, ValueInfo, Attribute, RawData
find_slots(NODE, <Py_ssize_t*>&NODE_SLOTS, NODE_SLOTS)
find_slots(VALUE_INFO, <Py_ssize_t*>&VALUE_INFO_SLOTS, VALUE_INFO_SLOTS)
find_slots(ATTRIBUTE, <Py_ssize_t*>&ATTRIBUTE_SLOTS, ATTRIBUTE_SLOTS)
find_slots(RAW_DATA, <Py_ssize_t*>&RAW_DATA_SLOTS, RAW_DATA_SLOTS)
