# SPDX-License-Identifier: Apache-2.0
"""Parser actions for models, functions and headers: the compiled part of `onnxtext.syntax.actions`."""
from onnxtext._core.ast.slots cimport (
    FUNCTION, MODEL, OF_FUNCTION, OF_VALUE, OPSET, VALUE_INFO, PyType_GenericAlloc, build, get, put,
    slot_of,
)

from onnxtext._core.ast.slots import slots_of
from onnxtext.ast.model import OpsetImport
from onnxtext.syntax.actions.headers import (
    FUNCTION_KEYS, LANGUAGE_VERSION, MODEL_KEYS, PRESENCE_KEYS, Header, presence_of,
)
from onnxtext.syntax.actions.headers import header as python_header
from onnxtext.syntax.actions.headers import header_numbers as python_header_numbers
from onnxtext.syntax.actions.models import function as python_function
from onnxtext.syntax.actions.models import model as python_model
from onnxtext.syntax.actions.resources import Resources

cdef struct ResourcesSlots:
    Py_ssize_t blobs
    Py_ssize_t places
    Py_ssize_t left_out

cdef Py_ssize_t OF_AT = slot_of(Header, "at"), OF_VALUES = slot_of(Header, "values")
cdef type HEADER = Header, RESOURCES = Resources
cdef ResourcesSlots OF_RESOURCES = slots_of(Resources)
cdef set STRING_KEYS = {"domain", "overload", "doc_string"}
cdef set NUMBER_KEYS = {"ir_version", "model_version", "onnxtext"}
cdef set TEXT_KEYS = STRING_KEYS | {"producer_name", "producer_version"}
cdef dict LIST_KEYS = {"opset_import": OpsetImport, "metadata_props": tuple, "explicit": str}
cdef int NEWEST = LANGUAGE_VERSION

if not STRING_KEYS | PRESENCE_KEYS | {"opset_import"} == FUNCTION_KEYS:
    raise ImportError("a function's header has other keys")
if not NUMBER_KEYS | TEXT_KEYS <= MODEL_KEYS | FUNCTION_KEYS:
    raise ImportError("a header has other keys")


def header(list entries):
    """Return the header for (offset of the key, key, value) entries.

    Headers with rare or repeated keys, and invalid headers, are read in Python.
    """
    cdef dict places = {}, values = {}
    for at, key, value in entries:
        if key in places:
            return python_header(entries)
        if key in TEXT_KEYS:
            if type(value) is not str:
                return python_header(entries)
        elif key in NUMBER_KEYS:
            if type(value) is not int or key == "onnxtext" and not 1 <= value <= NEWEST:
                return python_header(entries)
        elif key in LIST_KEYS and type(value) is list:
            for item in value:
                if not isinstance(item, LIST_KEYS[key]):
                    return python_header(entries)
        else:
            return python_header(entries)
        places[key] = at
        values[key] = value
    result = PyType_GenericAlloc(HEADER, 0)
    put(result, OF_AT, places)
    put(result, OF_VALUES, values)
    return result


def header_numbers(token):
    """Return the opset imports for the token `[21]`; Python reads all other tokens."""
    cdef str number = token[1 : len(token) - 1]
    if number.isascii() and number.isdigit() and len(number) < 18:
        return [build(OPSET, (None, int(number)))]
    return python_header_numbers(token)


def model(decorators, head, graph, list functions, sections):
    """Return the model for its parts; Python builds rare models, and reports errors.

    `onnxtext.syntax.actions.models.model` describes the parts.
    """
    cdef bint is_plain = head is not None
    cdef dict entries
    resources = sections[0][1] if sections and len(sections) == 1 else None
    if sections and type(resources) is not RESOURCES:
        is_plain = False
    if is_plain:
        for key in <dict?>get(head, OF_AT):
            is_plain = is_plain and key in MODEL_KEYS and key != "encoding"
    for item in functions:
        is_plain = (
            is_plain and type(item) is FUNCTION and get(item, OF_FUNCTION.presence) is None
        )
    if not is_plain:
        return python_model(decorators, head, graph, functions, sections)
    entries = get(head, OF_VALUES)
    opsets, metadata = entries.get("opset_import"), entries.get("metadata_props")
    blobs, places, left_out = {}, [], False
    presence = presence_of(entries.get("onnxtext"), tuple(entries.get("explicit", ())))
    if resources is not None:
        blobs, places = get(resources, OF_RESOURCES.blobs), get(resources, OF_RESOURCES.places)
        left_out = get(resources, OF_RESOURCES.left_out)
    return build(MODEL, (
        graph, functions, presence, entries.get("ir_version"), [] if opsets is None else opsets,
        entries.get("producer_name"), entries.get("producer_version"), entries.get("domain"),
        entries.get("model_version"), entries.get("doc_string"),
        [] if metadata is None else metadata, tuple(decorators) if decorators else (), [], [], (),
        None, blobs, False, places, left_out, False,
    ))


def function(
    offset, decorators, head, name, parameters, list inputs, list outputs, list values, list nodes
):
    """Return the function for its parts; Python reads rare headers and reports errors.

    `onnxtext.syntax.actions.models.function` describes the parts.
    """
    cdef dict entries = {}
    if head is not None:
        entries = get(head, OF_VALUES)
        for key in <dict?>get(head, OF_AT):
            if key != "opset_import" and key not in STRING_KEYS:
                entries = None
                break
    if (
        entries is None or not are_plain_values(inputs, True) or not are_plain_values(outputs, True)
        or values and not are_plain_values(values, False)
    ):
        return python_function(
            offset, decorators, head, name, parameters, inputs, outputs, values, nodes
        )
    opsets = entries.get("opset_import")
    return build(FUNCTION, (
        name, inputs, outputs, tuple(parameters) if parameters else (), values or [], nodes,
        entries.get("domain"), entries.get("overload"), entries.get("doc_string"),
        [] if opsets is None else opsets, tuple(decorators) if decorators else (), None, (), {},
        offset,
    ))


cdef bint are_plain_values(list values, bint is_interface) except -1:
    """Whether no value info has data, and each input or output with decorators has a type."""
    for value in values:
        if type(value) is not VALUE_INFO or get(value, OF_VALUE.data) is not None:
            return False
        if is_interface and get(value, OF_VALUE.decorators) and get(value, OF_VALUE.type) is None:
            return False
    return True
