# SPDX-License-Identifier: Apache-2.0
"""Keep the order of value infos: the common case of `onnxtext.ast.compact_form.value_infos`."""
from cpython.pyport cimport PY_SSIZE_T_MAX

from onnxtext._core.ast.slots cimport NODE, OF_NODE, OF_VALUE, VALUE_INFO, get, record, replace

from onnxtext.ast.compact_form.list_order import BY_DEFAULT, DECORATOR, PARTS, ListEntry
from onnxtext.ast.records import Word

cdef type ENTRY = ListEntry


def place_named_types(list nodes, list infos, taken):
    """Set the types of nodes' outputs from a `value_info` list, which may be in any order.

    `onnxtext.ast.compact_form.output_types.place_named_types` describes the arguments and the result.
    """
    cdef dict places = {}, declared = {value.name: value.type for value in reversed(taken)}
    cdef Py_ssize_t last = len(infos), number = 0, index, left = last, before
    cdef list numbers = [None] * last, types, rest = []
    for index, value in enumerate(infos):
        if type(value) is not VALUE_INFO:
            return None
        name = get(value, OF_VALUE.name)
        places[name] = index
        if (
            get(value, OF_VALUE.type) is None
            or get(value, OF_VALUE.decorators) or get(value, OF_VALUE.metadata)
        ):
            places[name] = None  # it stays in the list
        elif name in declared:
            if declared[name] != get(value, OF_VALUE.type):
                return None
            places[name] = None
            numbers[index] = PY_SSIZE_T_MAX  # a copy: only `@value_info` can list it
            left -= 1
    if len(places) != last:
        return None
    for node in nodes:
        if type(node) is not NODE or get(node, OF_NODE.output_types):
            return None
        for name in get(node, OF_NODE.outputs):
            found = places.get(name)
            if found is not None:
                if numbers[found] is not None:
                    return None
                numbers[found] = number
                left -= 1
            number += 1
    if left:
        for index in range(last):
            if numbers[index] is None:
                numbers[index] = len(rest) - last  # negative: by default, such entries come first
                rest.append(infos[index])
    for node in nodes:
        types = None
        outputs = get(node, OF_NODE.outputs)
        for index, name in enumerate(outputs):
            found = places.get(name)
            if found is not None:
                if types is None:
                    types = [None] * len(outputs)
                types[index] = get(infos[found], OF_VALUE.type)
        if types is not None:
            replace(node, OF_NODE.output_types, tuple(types))
    before = number
    while last and <Py_ssize_t>numbers[last - 1] < before:
        before = numbers[last - 1]
        last -= 1
    return [get(value, OF_VALUE.name) for value in infos[:last]], rest


def node_entries(nodes):
    """Return the `value_info` entries of the typed outputs of some nodes."""
    cdef list result = []
    cdef Py_ssize_t index
    for node in nodes:
        types = get(node, OF_NODE.output_types) if type(node) is NODE else node.output_types
        if types:
            outputs = node.outputs
            if len(outputs) != len(types):
                raise ValueError("outputs and their types differ in number")
            for index in range(len(types)):
                if types[index] is not None:
                    entry = ("nodes", outputs[index], types[index], node.at, None)
                    result.append(record(ENTRY, entry))
    return result


def ordered_infos(graph, initializers):
    """Return the value infos of a graph with `@value_info` or `@initializers` in order.

    Args:
        graph: the graph.
        initializers: its initializers in order.

    Returns:
        For values of the `<…>` list, the `ValueInfo`; for values that are declared elsewhere,
        (name, type, offset). None for rare forms, such as `@value_info(…)` with both names and
        keywords, or with a name that is unknown or not unique.
    """
    decorators = [item for item in graph.decorators if item.name == DECORATOR]
    if len(decorators) > 1 or (decorators and not decorators[0].arguments):
        return None
    parts = ordered_parts(decorators[0].arguments if decorators else ())
    if parts is None:
        return infos_by_name(graph, initializers, decorators[0].arguments)
    cdef list result = []
    for part in parts:
        if part == "values":
            result += [value for value in graph.values if value.data is None]
        elif part == "nodes":
            result += [(entry.name, entry.type, entry.at) for entry in node_entries(graph.nodes)]
        else:
            values = initializers if part == "initializers" else getattr(graph, part)
            result += [(value.name, value.type, value.at) for value in values]
    return result


cdef list ordered_parts(arguments):
    """Return the parts of `value_info` in order; None unless all arguments are distinct parts."""
    cdef list parts = []
    for argument in arguments:
        word = argument.value
        if argument.key is not None or type(word) is not Word or word.text in parts:
            return None
        if word.text not in PARTS[DECORATOR]:
            return None
        parts.append(word.text)
    return parts + [part for part in BY_DEFAULT[DECORATOR] if part not in parts]


cdef list infos_by_name(graph, list initializers, arguments):
    """Return value infos in the order of the names in `arguments`, then the rest; None if rare."""
    cdef dict places = {}, copies = {}
    cdef list result = []
    cdef Py_ssize_t index
    for value in graph.values:
        if value.data is None:
            name = value.name
            if name in places:
                return None
            places[name] = value
    for node in graph.nodes:
        if type(node) is not NODE:
            return None
        types = get(node, OF_NODE.output_types)
        if not types:
            continue
        outputs = get(node, OF_NODE.outputs)
        if len(outputs) != len(types):
            return None
        for index in range(len(types)):
            if types[index] is not None:
                name = outputs[index]
                if name in places:
                    return None
                places[name] = (name, types[index], get(node, OF_NODE.at))
    for values in (graph.outputs, graph.inputs, initializers):
        for value in reversed(values):
            copies[value.name] = value
    for value in initializers:
        if value.name in places:
            return None
    for argument in arguments:
        if argument.key is not None or type(argument.value) is not bytes:
            return None
        name = (<bytes>argument.value).decode("utf-8", "surrogateescape")
        copied = copies.pop(name, None)
        entry = places.pop(name, None)
        if entry is not None:
            result.append(entry)
        elif copied is not None:
            result.append((name, copied.type, copied.at))
        else:
            return None
    result.extend(places.values())
    return result
