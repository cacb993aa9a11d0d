# SPDX-License-Identifier: Apache-2.0
"""Compute the paths of values and nodes with metadata: the compiled part of `onnxtext.ast.section_paths`."""
from onnxtext._core.ast.slots cimport NODE, OF_NODE, OF_VALUE, VALUE_INFO, get, record
from onnxtext._core.ast.visit cimport has_graph

from onnxtext.ast.section_paths import Named, PathStep

cdef str EXPORTED = "pkg."
cdef type NAMED = Named, STEP = PathStep


def described_values(tuple lists, tuple prefix, bint tied):
    """Return the values with metadata or decorators, and their paths.

    It is the compiled loop of `onnxtext.ast.section_paths._described_values`; `described_parts`
    there describes `prefix` and `tied`.
    """
    cdef list result = []
    cdef set earlier = set(), seen
    cdef bint is_tied
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
                is_tied = tied and name not in seen
                result.append(record(NAMED, (own, path, value, is_tied)))
            seen.add(name)
        earlier |= seen
    return result


def described_nodes(list nodes, tuple prefix, bint tied):
    """Return the nodes with metadata, decorators or graphs, and their paths.

    It is the compiled part of `onnxtext.ast.section_paths._described_nodes`; `described_parts`
    there describes `prefix` and `tied`.
    """
    cdef list wanted = [node for node in nodes if is_described(node)], result = []
    cdef dict counts = {}, labels = {}
    cdef tuple path
    cdef bint is_tied
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
            is_tied = tied
        else:
            name = first_output(node)
            path = prefix + (record(STEP, (name, None, False)),)
            is_tied = tied and bool(name) and counts[name] is True
        result.append(record(NAMED, ("node", path, node, is_tied)))
    return result


def parts_to_place(list parts):
    """Return the parts whose metadata may have to be printed in a decorator."""
    return [part for part in parts if not is_moved(part)]


cdef bint is_moved(part) except -1:
    """Whether the metadata of a part is always printed in the `metadata` section."""
    if type(part) is not NAMED or not (<tuple>part)[3]:
        return False
    item = (<tuple>part)[2]
    if type(item) is NODE:
        metadata = get(item, OF_NODE.metadata)
    elif type(item) is VALUE_INFO:
        metadata = get(item, OF_VALUE.metadata)
    else:
        metadata = item.metadata
    return bool(metadata) and (
        len(metadata) != 1 or (<str>(<tuple>(<tuple>metadata)[0])[0]).startswith(EXPORTED)
    )


def has_metadata(graphs):
    """Whether some graph or function, or a node or value in it, has metadata."""
    for graph in graphs:
        if graph.metadata or has_meta(graph.decorators):
            return True
        for node in graph.nodes:
            if type(node) is not NODE:
                if node.metadata or has_meta(node.decorators):
                    return True
            elif get(node, OF_NODE.metadata) or has_meta(get(node, OF_NODE.decorators)):
                return True
        for values in (graph.inputs, graph.outputs, graph.values):
            for value in values:
                if type(value) is not VALUE_INFO:
                    if value.metadata or has_meta(value.decorators):
                        return True
                elif get(value, OF_VALUE.metadata) or has_meta(get(value, OF_VALUE.decorators)):
                    return True
    return False


cdef inline bint has_meta(decorators) except -1:
    """Whether one of the decorators is `@meta(…)` with entries."""
    for decorator in decorators or ():
        if decorator.name == "meta" and decorator.arguments:
            return True
    return False


cdef bint is_described(node) except -1:
    """Whether a node has metadata, decorators or graphs."""
    if type(node) is not NODE:
        return bool(node.metadata or node.decorators or has_graph(node.attributes))
    if get(node, OF_NODE.metadata) or get(node, OF_NODE.decorators):
        return True
    attributes = get(node, OF_NODE.attributes)
    return bool(attributes) and has_graph(attributes)


cdef object first_output(node):
    """Return the first nonempty output name of a node; "" if there is none."""
    for name in get(node, OF_NODE.outputs) if type(node) is NODE else node.outputs:
        if name:
            return name
    return ""
