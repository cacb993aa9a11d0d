# SPDX-License-Identifier: Apache-2.0
"""Walk over nodes: compiled parts of `onnxtext.ast` and `checker.inference.kind_facts`."""
from onnxtext._core.ast.slots cimport (
    ATTRIBUTE, NODE, OF_ATTRIBUTE, OF_GRAPH, OF_NODE, OF_TENSOR, OF_TENSOR_TYPE, OF_VALUE,
    RAW_DATA, TENSOR, TENSOR_TYPE, TYPED_DATA, VALUE_INFO, build, data_of, get, graph_part, part_of,
    replace, value_part,
)

from onnxtext.ast.model import Function, Graph
from onnxtext.ast.tensors_and_attributes import PLAIN_VALUES, Float32, Floats, Reference
from onnxtext.ast.visit import INLINE_BYTES
from onnxtext.tensor.element_types import ELEMENTS

cdef Py_ssize_t MAX_BYTES = INLINE_BYTES
cdef object NUMBERS = PLAIN_VALUES - {bytes}
cdef dict BITS = {name: element.bits for name, element in ELEMENTS.items()}


def attribute_lists(nodes):
    """Return the distinct attribute tuples of nodes, in order."""
    cdef dict found = {}
    last = None
    for node in nodes:
        attributes = get(node, OF_NODE.attributes) if type(node) is NODE else node.attributes
        if attributes and attributes is not last:
            last = attributes
            found[<size_t><void*>attributes] = attributes
    return list(found.values())


def rich_lists(nodes):
    """Return the same as `onnxtext.ast.visit.rich_lists`."""
    return [item for item in attribute_lists(nodes) if not is_plain(item, False)]


def non_numeric_lists(nodes):
    """Return the same as `onnxtext.ast.visit.non_numeric_lists`."""
    return [item for item in attribute_lists(nodes) if not is_plain(item, True)]


cdef bint is_plain(attributes, bint numeric) except -1:
    """Whether `rich_lists` leaves out a list; if `numeric`, whether `non_numeric_lists` does."""
    allowed = NUMBERS if numeric else PLAIN_VALUES
    for attribute in attributes:
        if type(attribute) is not ATTRIBUTE:
            return False
        if numeric and (
            not get(attribute, OF_ATTRIBUTE.name) or get(attribute, OF_ATTRIBUTE.type) is None
        ):
            return False
        value = get(attribute, OF_ATTRIBUTE.value)
        if type(value) is tuple:
            for item in <tuple>value:
                if type(item) not in allowed:
                    return False
        elif type(value) not in allowed:
            return False
    return True


def large_lists(nodes, Py_ssize_t most):
    """Return the same as `onnxtext.ast.visit.large_lists`."""
    cdef list result = []
    for attributes in attribute_lists(nodes):
        for attribute in attributes:
            if type(attribute) is not ATTRIBUTE or not is_small(
                get(attribute, OF_ATTRIBUTE.value), most
            ):
                result.append(attributes)
                break
    return result


def rewrite_list(attributes, Py_ssize_t most, dict cache, value_of):
    """Return the same as `Rewriter.rewrite_list`; None if an item is not exactly an `Attribute`."""
    cdef list result = []
    cdef bint is_changed = False
    for attribute in attributes:
        rewritten = cache.get(<size_t><void*>attribute)
        if rewritten is None:
            if type(attribute) is not ATTRIBUTE:
                return None
            rewritten = attribute
            value = get(attribute, OF_ATTRIBUTE.value)
            if not is_small(value, most):
                name, kind = get(attribute, OF_ATTRIBUTE.name), get(attribute, OF_ATTRIBUTE.type)
                new = value_of(kind, value, name)
                if new is not value:
                    decorators = get(attribute, OF_ATTRIBUTE.decorators)
                    rewritten = build(ATTRIBUTE, (name, kind, new, decorators))
            cache[<size_t><void*>attribute] = rewritten
        is_changed |= rewritten is not attribute
        result.append(rewritten)
    return tuple(result) if is_changed else attributes


cdef bint is_small(value, Py_ssize_t most) except -1:
    """Whether the value of an attribute is small; see `onnxtext.ast.visit.large_lists`."""
    if type(value) is tuple:
        if len(<tuple>value) > most:
            return False
        for item in <tuple>value:
            if not is_small(item, most):
                return False
        return True
    if type(value) is TENSOR:
        return is_small_data(get(value, OF_TENSOR.type), get(value, OF_TENSOR.data), most)
    if type(value) is bytes:
        return len(<bytes>value) <= min(most, MAX_BYTES)
    if type(value) is Floats:
        return len(value) <= most
    return type(value) in PLAIN_VALUES


cdef bint is_small_data(kind, data, Py_ssize_t most) except -1:
    """Whether the data of a tensor is small; see `onnxtext.ast.visit.large_values`."""
    cdef Py_ssize_t bits
    if type(data) is TYPED_DATA:
        return (len(data.entries) + 3) // 4 <= most
    if type(data) is not RAW_DATA or type(kind) is not TENSOR_TYPE:
        return False
    bits = BITS.get(get(kind, OF_TENSOR_TYPE.element), 0)
    return bits and (8 * len(data.data) + bits - 1) // bits <= most  # a product might overflow


def settle_names(tensors, unset):
    """Make `""` the default name of tensors if more of them store `""` than store no name.

    Returns:
        Whether `""` became the default. Then a tensor without a name has the decorator `unset`.
    """
    cdef Py_ssize_t excess = 0
    for tensor in tensors:
        name = part_of(tensor, TENSOR, OF_TENSOR.name)
        excess += -1 if name is None else not name
    if excess <= 0:
        return False
    for tensor in tensors:
        name = get(tensor, OF_TENSOR.name)
        if name is None:
            replace(
                tensor, OF_TENSOR.decorators, (*get(tensor, OF_TENSOR.decorators), unset)
            )
        elif not name:
            replace(tensor, OF_TENSOR.name, None)
    return True


def list_graphs(list stack):
    """Empty `stack` from its end; return its graphs and functions, each before its inner graphs."""
    cdef list result = [], inner
    while stack:
        graph = stack.pop()
        result.append(graph)
        inner = []
        if isinstance(graph, Function):
            add_graphs(graph.attributes, inner)
        inner += nested_graphs(graph_part(graph, OF_GRAPH.nodes, "nodes"))
        inner.reverse()
        stack += inner
    return result


cpdef list nested_graphs(nodes):
    """Return the graphs in the attributes of nodes; visit shared attributes once."""
    cdef list result = []
    cdef dict seen = {}
    last = None
    for node in nodes:
        attributes = get(node, OF_NODE.attributes) if type(node) is NODE else node.attributes
        if not attributes or attributes is last:
            continue
        last = attributes
        if has_graph(attributes) and <size_t><void*>attributes not in seen:
            seen[<size_t><void*>attributes] = attributes
            add_graphs(attributes, result)
    return result


cdef bint has_graph(attributes) except -1:
    for attribute in attributes:
        if type(attribute) is not ATTRIBUTE:
            return True
        value = get(attribute, OF_ATTRIBUTE.value)
        if type(value) is Graph or (type(value) is tuple and value and type(value[0]) is Graph):
            return True
    return False


cdef int add_graphs(attributes, list found) except -1:
    """Add the graphs in attributes to `found`; skip parameters without a default."""
    for attribute in attributes:
        if type(attribute) is str:
            continue
        value = (
            get(attribute, OF_ATTRIBUTE.value) if type(attribute) is ATTRIBUTE else attribute.value
        )
        if type(value) is Graph:
            found.append(value)
        elif type(value) is tuple and value and type(value[0]) is Graph:
            found.extend(value)
    return 0


def large_values(values, Py_ssize_t most):
    """Return the same as `onnxtext.ast.visit.large_values`."""
    cdef list result = []
    for value in values:
        data = data_of(value)
        if data is not None and not is_small_data(
            value_part(value, OF_VALUE.type, "type"), data, most
        ):
            result.append(value)
    return result


def kind_key(node, target, dict types, typed, parameters, Py_ssize_t longest):
    """Return the first part of the cache key of a node.

    `onnxtext.checker.inference.kind_facts.kind_key` describes the arguments.
    """
    cdef bint slots = type(node) is NODE
    cdef list key = [], given = []
    inputs = get(node, OF_NODE.inputs) if slots else node.inputs
    outputs = get(node, OF_NODE.outputs) if slots else node.outputs
    for name in inputs:
        given.append(types[name])
    key.append(<size_t><void*>target)
    key.append(len(outputs))
    key.append(tuple(given))
    key.append(typed)
    for attribute in get(node, OF_NODE.attributes) if slots else node.attributes:
        if type(attribute) is ATTRIBUTE:
            name = get(attribute, OF_ATTRIBUTE.name)
            value = get(attribute, OF_ATTRIBUTE.value)
        else:
            name, value = attribute.name, attribute.value
        if type(value) is Reference:
            given_value = parameters.get(value.name)
            if given_value is None or type(given_value.value) is not Float32:
                key.append(
                    None if given_value is None else (name, <size_t><void*>given_value)
                )
                continue
            value = given_value.value
        if type(value) is int or (
            type(value) is tuple
            and 0 < len(<tuple>value) <= longest
            and type((<tuple>value)[0]) is int
        ):
            key.append((name, value))
        else:
            key.append(name if type(value) is Float32 else <size_t><void*>attribute)
    return tuple(key)
