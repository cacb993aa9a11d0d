# SPDX-License-Identifier: Apache-2.0
"""Parser actions for functions and headers: the compiled part of `onnxtext.syntax.actions`."""
from onnxtext._core.slots cimport (
    OF_VALUE, VALUE_INFO, PyType_GenericAlloc, get, put, slot_of,
)

from onnxtext._core.slots import slots_of
from onnxtext.ast.model import Function, OpsetImport
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, PRESENCE_KEYS, Header
from onnxtext.syntax.actions.headers import header as python_header
from onnxtext.syntax.actions.models import function as python_function

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

cdef FunctionSlots OF_FUNCTION = slots_of(Function)
cdef Py_ssize_t OF_AT = slot_of(Header, "at"), OF_VALUES = slot_of(Header, "values")
cdef type FUNCTION = Function, HEADER = Header, OPSET_IMPORT = OpsetImport
cdef set STRING_KEYS = {"domain", "overload", "doc_string"}

if not STRING_KEYS | PRESENCE_KEYS | {"opset_import"} == FUNCTION_KEYS:
    raise ImportError("a function's header has other keys")


def header(list entries):
    """Return the same as `onnxtext.syntax.actions.headers.header`.

    Headers with other keys than those of functions, or with a repeated key, are read in Python.
    """
    cdef dict places = {}, values = {}
    for at, key, value in entries:
        if key in places:
            return python_header(entries)
        if key in STRING_KEYS:
            if type(value) is not str:
                return python_header(entries)
        elif key == "opset_import" and type(value) is list:
            for item in value:
                if type(item) is not OPSET_IMPORT:
                    return python_header(entries)
        else:
            return python_header(entries)
        places[key] = at
        values[key] = value
    made = PyType_GenericAlloc(HEADER, 0)
    put(made, OF_AT, places)
    put(made, OF_VALUES, values)
    return made


def function(
    at, decorators, head, name, parameters, list inputs, list outputs, list values, list nodes
):
    """Return the same as `onnxtext.syntax.actions.models.function`."""
    cdef dict known = {}
    if head is not None:
        known = get(head, OF_VALUES)
        for key in <dict?>get(head, OF_AT):
            if key != "opset_import" and key not in STRING_KEYS:
                known = None
                break
    if (
        known is None or not has_no_data(inputs, True) or not has_no_data(outputs, True)
        or values and not has_no_data(values, False)
    ):
        return python_function(
            at, decorators, head, name, parameters, inputs, outputs, values, nodes
        )
    made = PyType_GenericAlloc(FUNCTION, 0)
    put(made, OF_FUNCTION.name, name)
    put(made, OF_FUNCTION.inputs, inputs)
    put(made, OF_FUNCTION.outputs, outputs)
    put(made, OF_FUNCTION.attributes, tuple(parameters) if parameters else ())
    put(made, OF_FUNCTION.values, values or [])
    put(made, OF_FUNCTION.nodes, nodes)
    put(made, OF_FUNCTION.domain, known.get("domain"))
    put(made, OF_FUNCTION.overload, known.get("overload"))
    put(made, OF_FUNCTION.doc_string, known.get("doc_string"))
    opsets = known.get("opset_import")
    put(made, OF_FUNCTION.opset_imports, [] if opsets is None else opsets)
    put(made, OF_FUNCTION.decorators, tuple(decorators) if decorators else ())
    put(made, OF_FUNCTION.presence, None)
    put(made, OF_FUNCTION.metadata, ())
    put(made, OF_FUNCTION.value_metadata, {})
    put(made, OF_FUNCTION.at, at)
    return made


cdef bint has_no_data(list values, bint is_interface) except -1:
    """Whether no value info has data, and no input or output has decorators without a type."""
    for value in values:
        if type(value) is not VALUE_INFO or get(value, OF_VALUE.data) is not None:
            return False
        if is_interface and get(value, OF_VALUE.decorators) and get(value, OF_VALUE.type) is None:
            return False
    return True
