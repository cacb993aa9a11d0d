# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

cdef extern from "Python.h":
    object PyType_GenericAlloc(type, Py_ssize_t)

cdef struct NodeSlots:
    Py_ssize_t op_type, inputs, outputs, attributes, name, domain, overload
    Py_ssize_t output_types, decorators, metadata, at

cdef struct ValueSlots:
    Py_ssize_t name, type, data, decorators, metadata, at

cdef struct AttributeSlots:
    Py_ssize_t name, type, value, decorators

cdef struct DataSlots:
    Py_ssize_t data

cdef type NODE, VALUE_INFO, ATTRIBUTE, RAW_DATA
cdef NodeSlots NODE_SLOTS
cdef ValueSlots VALUE_INFO_SLOTS
cdef AttributeSlots ATTRIBUTE_SLOTS
cdef DataSlots RAW_DATA_SLOTS

cdef inline void set_slot(object made, Py_ssize_t offset, object value) noexcept:
    """Store a field of an object that was just allocated."""
    Py_INCREF(value)
    (<PyObject**>(<char*><PyObject*>made + offset))[0] = <PyObject*>value

cdef inline object get_slot(object held, Py_ssize_t offset):
    """A field of an object of exactly that class."""
    cdef PyObject* value = (<PyObject**>(<char*><PyObject*>held + offset))[0]
    if value is NULL:
        raise AttributeError("a field was deleted")
    return <object>value
