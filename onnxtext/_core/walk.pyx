# SPDX-License-Identifier: Apache-2.0
"""Walks over nodes: what `onnxtext.ast.visit` does."""


from onnxtext.ast.model import Graph
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import RawData
from onnxtext.tensor.elements import ELEMENTS


def attribute_lists(nodes):
    """The lists of attributes of some nodes, each object once, in the order of the nodes."""
    cdef dict found = {}
    last = None
    for node in nodes:
        attributes = node.attributes
        if attributes and attributes is not last:
            last = attributes
            found[<size_t><void*>attributes] = attributes
    return list(found.values())


def nested_graphs(nodes):
    """The graphs that the attributes of some nodes hold."""
    cdef list found = []
    for attributes in attribute_lists(nodes):
        for attribute in attributes:
            value = attribute.value
            if value.__class__ is Graph:
                found.append(value)
            elif value.__class__ is tuple and value and value[0].__class__ is Graph:
                found.extend(value)
    return found


def large_values(values, Py_ssize_t most):
    """What `onnxtext.ast.visit.large_values` gives."""
    cdef list found = []
    cdef Py_ssize_t bits = 0
    last = None
    for value in values:
        data = value.data
        if data is None:
            continue
        if data.__class__ is RawData:
            if value.type is not last:
                last = value.type
                element = ELEMENTS.get(last.element) if last.__class__ is TensorType else None
                bits = -1 if element is None else element.bits
            if bits >= 0 and 8 * len(data.data) <= most * bits:
                continue
        found.append(value)
    return found


def named_nodes(nodes, tuple prefix, bint tied, type named, type step):
    """What `onnxtext.ast.paths.named_nodes` gives; `named` and `step` are the types it is made of."""
    cdef dict counts = {}
    cdef list names = [], made = []
    cdef str name
    for node in nodes:
        name = ""
        for output in node.outputs:
            if output:
                name = output
                break
        names.append(name)
        counts[name] = counts.get(name, 0) + 1
    for node, name in zip(nodes, names):
        path = (*prefix, of_type(step, (name, None)))
        fits = tied and bool(name) and counts[name] == 1
        made.append(of_type(named, ("node", path, node, fits)))
    return made


cdef inline object of_type(type kind, tuple items):
    return tuple.__new__(kind, items)
