# SPDX-License-Identifier: Apache-2.0
"""Compute the paths of values and nodes with metadata: the compiled part of `onnxtext.ast.section_paths`."""
from onnxtext._core.ast.slots cimport (
    NODE, OF_NODE, OF_VALUE, VALUE_INFO, data_of, get, plain_value_info, record, replace,
)
from onnxtext._core.ast.visit cimport has_graph

from onnxtext.ast.model import Graph
from onnxtext.ast.section_paths import Named, PathStep
from onnxtext.ast.tensors_and_attributes import SparseTensor

cdef str EXPORTED = "pkg."
cdef type NAMED = Named, STEP = PathStep


def described_parts(owner, tuple prefix, bint tied, bint to_place):
    """Return the same as `onnxtext.ast.section_paths.described_parts`."""
    cdef list result = []
    add_parts(result, owner, prefix, tied, to_place)
    return result


cdef int add_parts(list result, owner, tuple prefix, bint tied, bint to_place) except -1:
    """Add the parts that `described_parts` returns to a list."""
    cdef list lists = [owner.inputs, owner.outputs, owner.values]
    metadata = owner.value_metadata
    if metadata or any_is_described(lists):
        add_values(result, owner, prefix, tied, to_place)
    add_nodes(result, owner.nodes, prefix, tied, to_place)
    return 0


cdef int add_values(list result, owner, tuple prefix, bint tied, bint to_place) except -1:
    """Add the values that have metadata or decorators."""
    cdef set earlier = set(), seen = set()
    cdef list declared = [], data = []
    for value in owner.values:
        (declared if data_of(value) is None else data).append(value)
    for name, entries in owner.value_metadata.items():
        value = plain_value_info(name, None, None, ())
        replace(value, OF_VALUE.metadata, entries)
        declared.append(value)
    for kind, values in (
        ("value", owner.inputs), ("output", owner.outputs), ("value_info", declared)
    ):
        earlier |= seen
        seen = set()
        for value in values:
            name = get(value, OF_VALUE.name) if type(value) is VALUE_INFO else value.name
            if is_described(value):
                own = kind if name in earlier else "value"
                add_part(result, own, prefix, name, tied and name not in seen, value, to_place)
            seen.add(name)
    seen = set()
    for value in data:
        name = get(value, OF_VALUE.name) if type(value) is VALUE_INFO else value.name
        if is_described(value):
            is_tied = tied and name not in seen and not isinstance(value.data, SparseTensor)
            add_part(result, "tensor", prefix, name, is_tied, value, to_place)
        seen.add(name)
    return 0


cdef int add_nodes(list result, list nodes, tuple prefix, bint tied, bint to_place) except -1:
    """Add the nodes with metadata or decorators, and the graphs in nodes with their parts."""
    cdef list wanted = [node for node in nodes if is_described(node) or has_graphs(node)]
    cdef dict counts = None, labels = {}
    cdef bint is_tied, is_label
    if not wanted:
        return 0
    for node in nodes:
        label = get(node, OF_NODE.name) if type(node) is NODE else node.name
        if label:
            labels[label] = label not in labels
    for node in wanted:
        name = get(node, OF_NODE.name) if type(node) is NODE else node.name
        is_label, is_tied = name and labels[name] is True, tied
        if not is_label:
            if counts is None:
                counts = {}
                for other in nodes:
                    name = first_output(other)
                    counts[name] = name not in counts
            name = first_output(node)
            is_tied = tied and bool(name) and counts[name] is True
        if to_place and is_tied and is_always_in_section(node) and not has_graphs(node):
            continue
        path = prefix + (record(STEP, (name, None, is_label)),)
        if is_described(node) and not (to_place and is_tied and is_always_in_section(node)):
            result.append(record(NAMED, ("node", path, node, is_tied)))
        if has_graphs(node):
            add_graphs(result, node.attributes, path, is_tied, to_place)
    return 0


cdef int add_graphs(list result, attributes, tuple path, bint tied, bint to_place) except -1:
    """Add the graphs in the attributes of a node, and their parts."""
    cdef set seen = set()
    for attribute in attributes:
        value, name = attribute.value, attribute.name
        graphs = value if isinstance(value, tuple) else (value,)
        for index, graph in enumerate(graphs):
            if isinstance(graph, Graph):
                step = record(STEP, (name, None if graphs is not value else index, False))
                inner = path + (step,)
                is_tied = tied and name not in seen
                if not (to_place and is_tied and is_always_in_section(graph)):
                    result.append(record(NAMED, ("graph", inner, graph, is_tied)))
                add_parts(result, graph, inner, is_tied, to_place)
        seen.add(name)
    return 0


cdef int add_part(
    list result, kind, tuple prefix, name, bint tied, item, bint to_place
) except -1:
    if not (to_place and tied and is_always_in_section(item)):
        result.append(
            record(NAMED, (kind, prefix + (record(STEP, (name, None, False)),), item, tied))
        )
    return 0


cdef bint is_always_in_section(item) except -1:
    """Whether the metadata of an item is always printed in the section, given a unique path."""
    if type(item) is NODE:
        metadata = get(item, OF_NODE.metadata)
    elif type(item) is VALUE_INFO:
        metadata = get(item, OF_VALUE.metadata)
    else:
        metadata = item.metadata
    return bool(metadata) and (
        len(metadata) != 1 or metadata[0][0].startswith(EXPORTED)
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


cdef bint any_is_described(list lists) except -1:
    """Whether a value in one of the lists has metadata or decorators."""
    for values in lists:
        for value in values:
            if is_described(value):
                return True
    return False


cdef bint is_described(item) except -1:
    """Whether a node or value has metadata or decorators."""
    if type(item) is NODE:
        return bool(get(item, OF_NODE.metadata)) or bool(get(item, OF_NODE.decorators))
    if type(item) is VALUE_INFO:
        return bool(get(item, OF_VALUE.metadata)) or bool(get(item, OF_VALUE.decorators))
    return bool(item.metadata or item.decorators)


cdef bint has_graphs(node) except -1:
    """Whether a node has graphs in its attributes."""
    attributes = get(node, OF_NODE.attributes) if type(node) is NODE else node.attributes
    return bool(attributes) and has_graph(attributes)


cdef object first_output(node):
    """Return the first nonempty output name of a node; "" if there is none."""
    for name in get(node, OF_NODE.outputs) if type(node) is NODE else node.outputs:
        if name:
            return name
    return ""
