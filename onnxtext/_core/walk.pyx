# SPDX-License-Identifier: Apache-2.0
"""Walks over nodes: what `onnxtext.ast.visit` does."""


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
