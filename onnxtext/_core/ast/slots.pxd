# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_SET_ITEM

cdef extern from "Python.h":
    object PyType_GenericAlloc(type, Py_ssize_t)

cdef extern from *:
    """
    /* Return a tuple of a subclass of tuple, without its items. */
    static CYTHON_INLINE PyObject *new_tuple(PyTypeObject *kind, Py_ssize_t size) {
        PyObject *made = PyType_GenericAlloc(kind, size);
    #if PY_VERSION_HEX >= 0x030E0000
        if (made != NULL) {
            ((PyTupleObject *)made)->ob_hash = -1; /* the hash is unknown */
        }
    #endif
        return made;
    }
    """
    object new_tuple(type, Py_ssize_t)

cdef enum:
    POINTER = sizeof(void*)

cdef struct NodeSlots:
    Py_ssize_t op_type
    Py_ssize_t inputs
    Py_ssize_t outputs
    Py_ssize_t attributes
    Py_ssize_t name
    Py_ssize_t domain
    Py_ssize_t overload
    Py_ssize_t output_types
    Py_ssize_t decorators
    Py_ssize_t metadata
    Py_ssize_t at

cdef struct ValueSlots:
    Py_ssize_t name
    Py_ssize_t type
    Py_ssize_t data
    Py_ssize_t decorators
    Py_ssize_t metadata
    Py_ssize_t at

cdef struct GraphSlots:
    Py_ssize_t name
    Py_ssize_t inputs
    Py_ssize_t outputs
    Py_ssize_t values
    Py_ssize_t nodes
    Py_ssize_t decorators
    Py_ssize_t quantization
    Py_ssize_t metadata
    Py_ssize_t value_metadata
    Py_ssize_t at

cdef struct FunctionSlots:
    Py_ssize_t name
    Py_ssize_t inputs
    Py_ssize_t outputs
    Py_ssize_t attributes
    Py_ssize_t values
    Py_ssize_t nodes
    Py_ssize_t domain
    Py_ssize_t overload
    Py_ssize_t doc_string
    Py_ssize_t opset_imports
    Py_ssize_t decorators
    Py_ssize_t presence
    Py_ssize_t metadata
    Py_ssize_t value_metadata
    Py_ssize_t at

cdef struct ModelSlots:
    Py_ssize_t graph
    Py_ssize_t functions
    Py_ssize_t presence
    Py_ssize_t ir_version
    Py_ssize_t opset_imports
    Py_ssize_t producer_name
    Py_ssize_t producer_version
    Py_ssize_t domain
    Py_ssize_t model_version
    Py_ssize_t doc_string
    Py_ssize_t metadata
    Py_ssize_t decorators
    Py_ssize_t training
    Py_ssize_t configurations
    Py_ssize_t encoding_habits
    Py_ssize_t encoding
    Py_ssize_t resources
    Py_ssize_t metadata_left_out
    Py_ssize_t places
    Py_ssize_t resources_left_out
    Py_ssize_t has_order

cdef struct OpsetSlots:
    Py_ssize_t domain
    Py_ssize_t version

cdef struct AttributeSlots:
    Py_ssize_t name
    Py_ssize_t type
    Py_ssize_t value
    Py_ssize_t decorators

cdef struct TensorSlots:
    Py_ssize_t type
    Py_ssize_t data
    Py_ssize_t name
    Py_ssize_t decorators

cdef struct TensorTypeSlots:
    Py_ssize_t element
    Py_ssize_t shape
    Py_ssize_t decorators

cdef struct DecoratorSlots:
    Py_ssize_t name
    Py_ssize_t arguments

cdef struct FieldSlots:
    Py_ssize_t key
    Py_ssize_t value

cdef Py_ssize_t slot_of(cls, str name) except -1

cdef type MODEL, OPSET, GRAPH, FUNCTION, NODE, VALUE_INFO, ATTRIBUTE, TENSOR, TENSOR_TYPE, DECORATOR, FIELD
cdef type DECORATED_DIM, SPARSE_TYPE, SEQUENCE, OPTIONAL, MAP
cdef type RAW_DATA, TYPED_DATA, STRING_DATA, EXTERNAL_DATA
cdef DecoratorSlots OF_DECORATOR
cdef FieldSlots OF_FIELD
cdef TensorSlots OF_TENSOR
cdef TensorTypeSlots OF_TENSOR_TYPE
cdef ModelSlots OF_MODEL
cdef OpsetSlots OF_OPSET
cdef GraphSlots OF_GRAPH
cdef FunctionSlots OF_FUNCTION
cdef Py_ssize_t[64] IN_FUNCTION  # for a slot of `Graph`, the slot of the same name in `Function`
cdef NodeSlots OF_NODE
cdef ValueSlots OF_VALUE
cdef AttributeSlots OF_ATTRIBUTE
cdef Py_ssize_t OF_RAW, OF_TYPED, OF_STRINGS, OF_EXTERNAL

cdef object build(type kind, tuple values)
cdef object plain_value_info(object name, object type_, object data, tuple decorators, object at=*)
cdef object make_float32(uint32_t bits)
cdef object make_data(type kind, Py_ssize_t slot, content)


cdef inline void put(object made, Py_ssize_t slot, object value) noexcept:
    """Set an empty slot of a new object."""
    Py_INCREF(value)
    (<PyObject**>(<char*><PyObject*>made + slot))[0] = <PyObject*>value


cdef inline void replace(object owner, Py_ssize_t slot, object value) noexcept:
    """Set a slot of an object of a known class."""
    cdef PyObject** place = <PyObject**>(<char*><PyObject*>owner + slot)
    cdef PyObject* before = place[0]
    Py_INCREF(value)
    place[0] = <PyObject*>value
    Py_XDECREF(before)


cdef inline object get(object made, Py_ssize_t slot):
    """Return the value in a slot of an object of a known class."""
    cdef PyObject* value = (<PyObject**>(<char*><PyObject*>made + slot))[0]
    if value is NULL:
        raise AttributeError("an attribute was removed")
    return <object>value


cdef inline object part_of(owner, type kind, Py_ssize_t slot):
    """Return an attribute, given its slot, of an object that must be of the class `kind`."""
    if type(owner) is not kind:
        raise TypeError(f"expected an object of class {kind.__name__}")
    return get(owner, slot)


cdef inline object graph_part(owner, Py_ssize_t slot, str name):
    """Return an attribute of a graph or function, given its slot in graphs and its name."""
    if type(owner) is GRAPH:
        return get(owner, slot)
    if type(owner) is FUNCTION and IN_FUNCTION[slot // POINTER]:
        return get(owner, IN_FUNCTION[slot // POINTER])
    return getattr(owner, name)


cdef inline object record(type kind, tuple items):
    """Return an instance of a tuple subclass that has no attributes besides its items."""
    cdef Py_ssize_t index, size = PyTuple_GET_SIZE(items)
    made = new_tuple(kind, size)
    for index in range(size):
        item = <object>PyTuple_GET_ITEM(items, index)
        Py_INCREF(item)
        PyTuple_SET_ITEM(made, index, item)
    return made


cdef inline object value_part(value, Py_ssize_t slot, str name):
    """Return an attribute of a value info, given its slot and its name."""
    return get(value, slot) if type(value) is VALUE_INFO else getattr(value, name)


cdef inline object data_of(value):
    """Return the data of a value info; None if it has none."""
    return value_part(value, OF_VALUE.data, "data")
