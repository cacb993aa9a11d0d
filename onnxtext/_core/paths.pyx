# SPDX-License-Identifier: Apache-2.0
"""Compute the paths of values and nodes with metadata: the compiled part of `onnxtext.ast.paths`."""
from onnxtext._core.slots cimport NODE, OF_NODE, OF_VALUE, VALUE_INFO, get, record
from onnxtext._core.walk cimport has_graph

from onnxtext.ast.paths import Named, Step

cdef type NAMED = Named, STEP = Step


def described_values(tuple lists, tuple prefix, bint tied):
    """Return the same as `onnxtext.ast.paths._described_values`; `lists` has kinds and values."""
    cdef list found = []
    cdef set earlier = set(), seen
    cdef bint fits
    cdef tuple path
    for kind, values in lists:
        seen = set()
        for value in values:
            if type(value) is VALUE_INFO:
                name = get(value, OF_VALUE.name)
                wanted = get(value, OF_VALUE.metadata) or get(value, OF_VALUE.decorators)
            else:
                name, wanted = value.name, value.metadata or value.decorators
            if wanted:
                own = kind if name in earlier else "value"
                path = prefix + (record(STEP, (name, None, False)),)
                fits = tied and name not in seen
                found.append(record(NAMED, (own, path, value, fits)))
            seen.add(name)
        earlier |= seen
    return found


def described_nodes(list nodes, tuple prefix, bint tied):
    """Return the same as `onnxtext.ast.paths._described_nodes`."""
    cdef list wanted = [node for node in nodes if is_described(node)], made = []
    cdef dict counts = {}, labels = {}
    cdef tuple path
    cdef bint fits
    if not wanted:
        return wanted
    for node in nodes:
        name = first_output(node)
        counts[name] = name not in counts
        label = get(node, OF_NODE.name) if type(node) is NODE else node.name
        if label:
            labels[label] = label not in labels
    for node in wanted:
        label = get(node, OF_NODE.name) if type(node) is NODE else node.name
        if label and labels[label] is True:
            path = prefix + (record(STEP, (label, None, True)),)
            fits = tied
        else:
            name = first_output(node)
            path = prefix + (record(STEP, (name, None, False)),)
            fits = tied and bool(name) and counts[name] is True
        made.append(record(NAMED, ("node", path, node, fits)))
    return made


cdef bint is_described(node) except -1:
    """Whether a node has metadata, decorators or graphs."""
    if type(node) is not NODE:
        return bool(node.metadata or node.decorators or has_graph(node.attributes))
    if get(node, OF_NODE.metadata) or get(node, OF_NODE.decorators):
        return True
    attributes = get(node, OF_NODE.attributes)
    return bool(attributes) and has_graph(attributes)


cdef object first_output(node):
    """Return the first output of a node that is not omitted, or ""."""
    for name in get(node, OF_NODE.outputs) if type(node) is NODE else node.outputs:
        if name:
            return name
    return ""
