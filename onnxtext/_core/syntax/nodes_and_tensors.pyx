# SPDX-License-Identifier: Apache-2.0
"""Build the AST of nodes, value infos and tensors in their most common forms.

Each `make_…` function returns None for rare forms, which Python builds. `base` is the stack index
of the rule's first symbol, `place` the stack index of a value, `offset` the offset of the statement
in the text, and `layouts` a cache of layouts by the id of the type.
"""
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int64_t, uint32_t

from onnxtext._core.syntax.grammar cimport (
    DOTTED, LAZY_OBJECT, OBJECT, ONE_INNER, ONE_STRING, TOKEN, Rule,
)
from onnxtext._core.tensor.parse_literals cimport Layout, is_external_number, read_literal
from onnxtext._core.ast.slots cimport (
    ATTRIBUTE, EXTERNAL_DATA, GRAPH, NODE, OF_ATTRIBUTE, OF_EXTERNAL, OF_NODE, OF_RAW, OF_STRINGS,
    OF_TENSOR, OF_TENSOR_TYPE, OF_TYPED, OF_VALUE, OPSET, RAW_DATA, STRING_DATA, TENSOR,
    TENSOR_TYPE, TYPED_DATA, VALUE_INFO, PyType_GenericAlloc, build, get, make_data,
    plain_value_info, put,
)
from onnxtext._core.syntax.stack cimport Entry, Stack

from onnxtext.ast.types import SparseTensorType, TensorType
from onnxtext.ast.tensors_and_attributes import (
    EXTERNAL_KEYS, AttributeType, Blob, DataFile, Float32, Floats, SparseTensor,
)
from onnxtext.syntax.actions.unparsed_literals import DataCall, RawText, TypedText
from onnxtext.tensor.element_types import ELEMENTS

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    uint32_t PyUnicode_READ(int, void*, Py_ssize_t)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)

cdef tuple EMPTY = ()
cdef dict SCALARS = {name: TensorType(name) for name in ELEMENTS}
cdef frozenset STORED_ELSEWHERE = frozenset((Blob, DataFile, EXTERNAL_DATA))
cdef frozenset PLAIN_VALUES = frozenset((int, bytes, Float32, Floats))


cdef make_value_info(Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset, dict layouts):
    """Build a value info from decorators, type, name and data; the type and data are optional."""
    cdef object type = None, data = None
    cdef tuple decorators = decorators_of(stack, rule, base)
    if rule.count > 2:
        type = stack.child(rule, base, 1)
    if rule.count > 3:
        if rule.take[3] < 0:
            return None
        data = tensor_data(stack, type, base + rule.take[3], layouts)
        if data is None:
            return None
    name = stack.child(rule, base, 1 if rule.count == 2 else 2)
    return plain_value_info(name, type, data, decorators, offset)


cdef tuple decorators_of(Stack stack, Rule* rule, Py_ssize_t base):
    """Return the decorators of a statement, which are the first child of its rule."""
    return tuple(stack.child(rule, base, 0)) if rule.take[0] >= 0 else EMPTY


cdef object tensor_data(Stack stack, object type, Py_ssize_t place, dict layouts):
    """Return the data of a tensor from its literal; None for rare forms."""
    cdef Layout layout
    cdef Entry* entry = &stack.entries[place]
    cdef const char* start
    cdef Py_ssize_t size = entry.end - entry.start
    cdef bytes copy = None
    if entry.form == OBJECT:
        data = stack.value(place)
        if data.__class__ is not RawText and data.__class__ is not TypedText:
            return parsed_data(type, data)
        copy = str(data.text).encode("utf-8", "surrogateescape")
        size = len(copy)
    elif entry.form >= 0 and stack.grammar.rules[entry.form].op == LAZY_OBJECT:
        data = string_data(type, stack.values[place])
        if data is not None:
            return data
    if copy is None and ((entry.form < 0 and entry.form != TOKEN) or size < 0):
        # not a literal, or its span is unknown
        return None
    key = <Py_ssize_t><void*>type
    layout = layouts.get(key)
    if layout is None:
        layout = layouts[key] = stack.grammar.layout(type)
    if copy is None and PyUnicode_KIND(stack.text) == 1:
        start = <const char*>PyUnicode_DATA(stack.text) + entry.start
    else:
        if copy is None:
            copy = PyUnicode_Substring(stack.text, entry.start, entry.end).encode()
            size = len(copy)
        start = PyBytes_AS_STRING(copy)
    data = read_literal(layout, start, size)
    if data is None:
        return None
    if start[0] == c"{":
        return make_data(TYPED_DATA, OF_TYPED, data)
    return make_data(RAW_DATA, OF_RAW, data)


cdef object string_data(type_, list items):
    """Return the data of a tensor of strings; None for other forms."""
    if type(type_) is not TENSOR_TYPE or get(type_, OF_TENSOR_TYPE.element) != "string":
        return None
    if not has_constant_dims(get(type_, OF_TENSOR_TYPE.shape)):
        return None
    for item in items:
        if type(item) is not bytes:
            return None
    return make_data(STRING_DATA, OF_STRINGS, tuple(items))


cdef object parsed_data(type_, data):
    """Return a blob, a data file, external data or the data of a sparse tensor; else None."""
    if type(data) is list:
        data = (<list>data)[0] if len(<list>data) == 1 else None
    if data.__class__ in STORED_ELSEWHERE:
        return data if type(type_) is TENSOR_TYPE and has_constant_dims(type_.shape) else None
    if type(data) is not DataCall:
        return None
    name, arguments = <tuple>data
    if type(type_) is TENSOR_TYPE and name == "external":
        return external_data(arguments) if has_constant_dims(type_.shape) else None
    if type(type_) is not SparseTensorType or not has_constant_dims(type_.shape):
        return None
    if name != "sparse" or len(arguments) != 2:
        return None
    values, indices = arguments
    if type(values) is not TENSOR or type(indices) is not TENSOR:
        return None
    if get(get(values, OF_TENSOR.type), OF_TENSOR_TYPE.element) != type_.element:
        return None
    return SparseTensor(type_.shape, values, indices)


cdef object external_data(arguments):
    """Return the external data for the arguments of `external(…)`; None if they are invalid."""
    cdef list entries = []
    if not 1 <= len(arguments) <= len(EXTERNAL_KEYS):
        return None
    for value in arguments:
        key = EXTERNAL_KEYS[len(entries)]
        if entries:
            if not is_external_number(value):
                return None
            value = str(value)
        elif type(value) is bytes:
            value = (<bytes>value).decode("utf-8", "surrogateescape")
        else:
            return None
        entries.append((key, value))
    return make_data(EXTERNAL_DATA, OF_EXTERNAL, tuple(entries))


cdef bint has_constant_dims(shape) except -1:
    """Whether a shape is known, and all its dimensions are constant."""
    if type(shape) is not tuple:
        return False
    for dim in <tuple>shape:
        if type(dim) is not int:
            return False
    return True


cdef tuple one_name(Stack stack, Py_ssize_t place):
    """Return the names in a list, if it has exactly one; None for other lists."""
    cdef Entry* entry = &stack.entries[place]
    cdef bint is_quoted = entry.form == ONE_INNER
    if not is_quoted and entry.form != ONE_STRING:
        return None
    return (stack.span(entry.start + is_quoted, entry.end - is_quoted),)


cdef tuple names_of(list names):
    """Return the names in a list; "" for an omitted name. A None at the end adds no name."""
    cdef Py_ssize_t count = len(names)
    if names[count - 1] is None:
        names = names[: count - 1]
    return tuple(["" if name is None else name for name in names]) if None in names else tuple(names)


cdef object make_tensor(Stack stack, Rule* rule, Py_ssize_t base, dict layouts):
    """Build a tensor; return None if Python must build it.

    Its children are the type (the element type in `float(0.5)`), a name if it has one, and the data.
    """
    cdef int last = rule.count - 1
    cdef Entry* first = &stack.entries[base]
    if rule.take[last] < 0:
        return None
    if first.form == TOKEN:
        type = SCALARS.get(PyUnicode_Substring(stack.text, first.start, first.end))
    else:
        type = stack.child(rule, base, 0)
    data = tensor_data(stack, type, base + rule.take[last], layouts)
    if data is None:
        return None
    if data.__class__ is SparseTensor:
        return data if last == 1 else None
    return build(TENSOR, (type, data, stack.child(rule, base, 1) if last == 2 else None, EMPTY))


cdef object make_graph_value(Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset):
    """Build a graph without decorators; return None for others, and if an output has data."""
    cdef int first = rule.count - 5  # 1 for the main graph, whose first child is its decorators
    cdef list outputs = stack.child(rule, base, first + 2)
    if first and rule.take[0] >= 0:
        return None
    for output in outputs:
        if type(output) is not VALUE_INFO or get(output, OF_VALUE.data) is not None:
            return None
    inputs, values = stack.child(rule, base, first + 1), stack.child(rule, base, first + 3)
    return build(GRAPH, (
        stack.child(rule, base, first), [] if inputs is None else inputs, outputs, values or [],
        stack.child(rule, base, first + 4), EMPTY, [], EMPTY, {}, offset,
    ))


cdef object make_node(
    Stack stack, Rule* rule, Py_ssize_t base, Py_ssize_t offset, int of_attributes, int of_inputs
):
    """Build a node from label, outputs, operator, overload, attributes and inputs.

    `of_attributes` and `of_inputs` are the indexes of these children. Return None for nodes without
    an operator or with omitted outputs.
    """
    cdef object op_type, domain = None, types = EMPTY, attributes
    cdef tuple outputs, operator, inputs
    if rule.take[3] < 0:
        return None
    operator = one_name(stack, base + rule.take[3])
    if operator is None and stack.entries[base + rule.take[3]].form == DOTTED:
        domain, operator = stack.dotted(base + rule.take[3])
    elif operator is None:
        operator = tuple(stack.value(base + rule.take[3]))
        if len(operator) > 1:
            domain = ".".join(operator[len(operator) > 2 and operator[0] == "":-1])
    inputs = one_name(stack, base + rule.take[of_inputs])
    if inputs is None:
        inputs = names_of(stack.value(base + rule.take[of_inputs]))
    outputs = one_name(stack, base + rule.take[2])
    if outputs is None:
        outputs = tuple(stack.value(base + rule.take[2]))
        for output in outputs:
            if output is None:
                return None
            if type(output) is tuple:
                types = None
        if types is None:
            types = tuple([output[1] if type(output) is tuple else None for output in outputs])
            outputs = tuple([output[0] if type(output) is tuple else output for output in outputs])
    attributes = stack.child(rule, base, of_attributes)
    result = PyType_GenericAlloc(NODE, 0)
    put(result, OF_NODE.op_type, operator[len(operator) - 1])
    put(result, OF_NODE.inputs, inputs)
    put(result, OF_NODE.outputs, outputs)
    put(result, OF_NODE.attributes, EMPTY if attributes is None else tuple(attributes))
    put(result, OF_NODE.name, stack.child(rule, base, 1))
    put(result, OF_NODE.domain, domain)
    put(result, OF_NODE.overload, stack.child(rule, base, 4))
    put(result, OF_NODE.output_types, types)
    put(result, OF_NODE.decorators, decorators_of(stack, rule, base))
    put(result, OF_NODE.metadata, EMPTY)
    put(result, OF_NODE.at, offset)
    return result


cdef object integer_of(Stack stack, Py_ssize_t place):
    """Return the integer in a token of at most 18 characters; None for other entries."""
    cdef Entry* entry = &stack.entries[place]
    cdef int kind = PyUnicode_KIND(stack.text)
    cdef void* data = PyUnicode_DATA(stack.text)
    cdef Py_ssize_t offset = entry.start
    cdef int64_t number = 0
    cdef bint is_negative
    if entry.form != TOKEN or entry.end <= offset or entry.end - offset > 18:
        return None
    is_negative = PyUnicode_READ(kind, data, offset) == c"-"
    offset += is_negative
    if offset == entry.end:
        return None
    while offset < entry.end:
        if not c"0" <= PyUnicode_READ(kind, data, offset) <= c"9":
            return None
        number = number * 10 + <int>PyUnicode_READ(kind, data, offset) - c"0"
        offset += 1
    return -number if is_negative else number


cdef object make_opset(Stack stack, Rule* rule, Py_ssize_t base):
    """Build an `OpsetImport` from a version, or from a domain and a version."""
    version = integer_of(stack, base + rule.take[rule.count - 1])
    if version is None:
        return None
    return build(OPSET, (stack.child(rule, base, 0) if rule.count == 2 else None, version))


cdef bint is_shareable(object item):
    """Whether all parts of a value are plain and immutable, so that several texts may share it."""
    if type(item) is ATTRIBUTE:
        if get(item, OF_ATTRIBUTE.decorators) or type(get(item, OF_ATTRIBUTE.name)) is not str:
            return False
        item = get(item, OF_ATTRIBUTE.value)
        if type(item) is tuple:
            item = (<tuple>item)[0] if item else 0
        return type(item) in PLAIN_VALUES
    if type(item) is TENSOR_TYPE:
        return not get(item, OF_TENSOR_TYPE.decorators)
    return type(item) is AttributeType


cdef bint is_plain_node(object node):
    """Whether an object is a `Node` whose outputs are exactly a `tuple`."""
    return type(node) is NODE and type(get(node, OF_NODE.outputs)) is tuple
