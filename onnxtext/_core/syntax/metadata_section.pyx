# SPDX-License-Identifier: Apache-2.0
"""Build and bind metadata blocks: the common part of `onnxtext.syntax.actions.metadata_section`.

Each function returns the same as its Python version, and calls it for rare forms and errors.
"""
from onnxtext._core.ast.slots cimport (
    GRAPH, NODE, OF_NODE, OF_VALUE, VALUE_INFO, PyType_GenericAlloc, get, put, record, replace,
)

from onnxtext._core.ast.slots import slots_of
from onnxtext.ast.section_paths import PathStep
from onnxtext.syntax.actions.metadata_section import (
    BLOCKS, MetadataBlock, MetadataItem, AboveItem,
    metadata_block as python_block,
    metadata_section as python_section,
)

cdef struct BlockSlots:
    Py_ssize_t kind
    Py_ssize_t path
    Py_ssize_t overload
    Py_ssize_t items

cdef type STEP = PathStep, ENTRY = MetadataItem, ABOVE = AboveItem, BLOCK = MetadataBlock
cdef BlockSlots OF_BLOCK = slots_of(MetadataBlock)
cdef frozenset KINDS = frozenset(BLOCKS) - {"function"}


def plain_step(name):
    """Return the step of a metadata path that is a name without a label."""
    return record(STEP, (name, None, False))


def label_step(label):
    """Return the step of a metadata path for `[node_1]`, the label of a node."""
    return record(STEP, (label, None, True))


def metadata_block(kind, path, overload, list items):
    """Return the block for `node path { … }`; Python reads overloads, inner blocks and errors."""
    if overload is not None or kind not in KINDS or (path is None and kind != "graph"):
        return python_block(kind, path, overload, items)
    for item in items:
        if type(item) is BLOCK:
            return python_block(kind, path, overload, items)
    result = PyType_GenericAlloc(BLOCK, 0)
    put(result, OF_BLOCK.kind, kind)
    put(result, OF_BLOCK.path, () if path is None else tuple(path))
    put(result, OF_BLOCK.overload, None)
    put(result, OF_BLOCK.items, items)
    return result


def metadata_section(word, list items):
    """Return the keyword and the blocks of `metadata { … }`; Python reports misplaced entries."""
    for block in items:
        if type(block) is not BLOCK:
            return python_section(word, items)
    cdef list above = []
    for block in items:
        if not fill_above(get(block, OF_BLOCK.items), above):
            return python_section(word, items)
        above = get(block, OF_BLOCK.items)
    return word, list(items)


cdef bint fill_above(list items, list above) except -1:
    """Replace each item `key: above` by the entry in the block above; False if it has none."""
    cdef Py_ssize_t number
    cdef dict known = None
    for number, item in enumerate(items):
        if type(item) is ABOVE:
            if known is None:
                known = {
                    (<tuple>entry)[0]: (<tuple>entry)[1] for entry in above if type(entry) is ENTRY
                }
            key = (<tuple>item)[0]
            value = known.get(key)
            if value is None:
                return False
            items[number] = record(ENTRY, (key, value))
    return True


def bind_blocks(list blocks, names_of, owner, bind):
    """Attach metadata blocks to the nodes, values and nested graphs of a graph or function.

    Args:
        blocks: metadata blocks, and entries of the function itself.
        names_of: returns the names in a graph or function.
        owner: the graph or function.
        bind: the Python function that binds a block or entry; called for rare blocks, in order.
    """
    names = names_of(owner)
    for block in blocks:
        if type(block) is not BLOCK or not bind_block(block, names_of, names):
            bind(block)


cdef bint bind_block(block, names_of, names) except -1:
    """Attach a metadata block to its node, value or graph; return False if Python must do it."""
    cdef tuple path = get(block, OF_BLOCK.path)
    cdef Py_ssize_t index, last = len(path) - 1
    kind = get(block, OF_BLOCK.kind)
    if (last % 2 == 0) == (kind == "graph"):
        return False
    for index in range(0, last, 2):
        graph = graph_at(names, path[index], path[index + 1])
        if graph is None:
            return False
        names = names_of(graph)
    if kind == "graph":
        names.owner.metadata = entries_of(block)
        return True
    if type(path[last]) is not STEP:
        return False
    name, _, is_label = <tuple>path[last]
    if kind == "node":
        found = node_at(names, path[last])
        if found is None:
            return False
        replace(found, OF_NODE.metadata, entries_of(block))
        return True
    if is_label:
        return False
    if kind == "value":
        found = (<dict>names.values).get(name)
    elif kind == "output":
        found = (<dict>names.outputs).get(name)
    elif kind == "value_info":
        found = (<dict>names.declared).get(name)
    elif kind == "tensor":
        found = (<dict>names.tensors).get(name)
    else:
        return False
    if type(found) is VALUE_INFO:
        replace(found, OF_VALUE.metadata, entries_of(block))
        return True
    if found is not None or kind in ("output", "tensor") or name not in <set>names.generated:
        return False
    names.owner.value_metadata[name] = entries_of(block)
    return True


cdef object node_at(names, step):
    """Return the node that a step of a path names; None if there is none."""
    if type(step) is not STEP:
        return None
    name, _, is_label = <tuple>step
    found = (<dict>(names.labels if is_label else names.nodes)).get(name)
    return found if type(found) is NODE else None


cdef object graph_at(names, node_step, step):
    """Return the graph that an attribute of a node holds; None for an item of a list of graphs."""
    node = node_at(names, node_step)
    if node is None or type(step) is not STEP:
        return None
    name, number, _ = <tuple>step
    if number is not None:
        return None
    for attribute in get(node, OF_NODE.attributes):
        if attribute.name == name and type(attribute.value) is GRAPH:
            return attribute.value
    return None


cdef tuple entries_of(block):
    """Return the (key, value) entries of a `MetadataBlock`, without those of inner blocks."""
    return tuple([(<tuple>item)[:] for item in get(block, OF_BLOCK.items) if type(item) is ENTRY])
