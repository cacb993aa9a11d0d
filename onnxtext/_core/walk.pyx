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
