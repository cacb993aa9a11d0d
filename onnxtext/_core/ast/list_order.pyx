# SPDX-License-Identifier: Apache-2.0
"""Store value infos compactly: the common cases of `onnxtext.ast.compact_form`."""
from cpython.pyport cimport PY_SSIZE_T_MAX

from onnxtext._core.ast.slots cimport (
    FIELD, NODE, OF_NODE, OF_VALUE, VALUE_INFO, build, get, record, replace,
)

from onnxtext.ast.compact_form.list_order import BY_DEFAULT, DECORATOR, PARTS, ListEntry
from onnxtext.ast.records import Word

cdef type ENTRY = ListEntry


def place_all_types(list nodes, list infos, taken, bint with_metadata):
    """Set the types of nodes' outputs from all entries of a `value_info` list, or change nothing.

    `onnxtext.ast.compact_form.output_types.place_all_types` describes the arguments and result.
    """
    cdef set names = {value.name for value in taken}
    for value in infos:
        if (
            type(value) is not VALUE_INFO or get(value, OF_VALUE.type) is None
            or get(value, OF_VALUE.decorators)
            or (get(value, OF_VALUE.metadata) and not with_metadata)
            or (names and get(value, OF_VALUE.name) in names)
        ):
            return False
    cdef list places = [None] * len(infos)
    if find_outputs(nodes, infos, places, True) != 0:
        return False
    set_types(infos, places, 0)
    return True


def place_types(list nodes, list infos):
    """Set the types of nodes' outputs from the entries at the end of a `value_info` list.

    Returns:
        The number of entries that stay in the list, as in
        `onnxtext.ast.compact_form.output_types.place_types`; None, with nothing changed, if an
        object has an unusual class.
    """
    cdef list places = [None] * len(infos)
    cdef Py_ssize_t left = find_end(nodes, infos, places)
    if left < 0:
        return None
    set_types(infos, places, left)
    return left


def types_at_end(list nodes, list infos):
    """Find the entries for the types of nodes' outputs at the end of a `value_info` list.

    Returns:
        The same as `onnxtext.ast.compact_form.output_types.types_at_end`; None if an object has an
        unusual class.
    """
    cdef list places = [None] * len(infos), placed = []
    cdef Py_ssize_t left = find_end(nodes, infos, places), index
    if left < 0:
        return None
    for index in range(len(infos) - 1, left - 1, -1):
        node, number = places[index] if type(places[index]) is tuple else (places[index], 0)
        placed.append((node, number, infos[index]))
    return placed, left


cdef Py_ssize_t find_end(list nodes, list infos, list places) except -2:
    """Find the entries that `types_at_end` describes; for the arguments, see `find_outputs`.

    Returns:
        The number of entries before them; -1 if an object has an unusual class.
    """
    cdef Py_ssize_t left = find_outputs(nodes, infos, places, False), index
    cdef set names
    if left > 0:
        names = {infos[index].name for index in range(left)}
        for node in nodes:
            if not names.isdisjoint(node.outputs):
                return len(infos)
    return left


cdef Py_ssize_t find_outputs(list nodes, list infos, list places, bint with_metadata) except -2:
    """Find the longest suffix of a `value_info` list that has only node outputs, in node order.

    Args:
        nodes: the nodes.
        infos: the list. An entry without a type or with decorators is not in the suffix.
        places: receives the output of each entry in the suffix: a node with one output, or (node,
            index of the output).
        with_metadata: whether an entry with metadata may be in the suffix.

    Returns:
        The number of entries before the suffix; -1 if an object has an unusual class.
    """
    cdef Py_ssize_t left = len(infos), index
    for node in reversed(nodes):
        if not left:
            break
        if type(node) is not NODE:
            return -1
        outputs = get(node, OF_NODE.outputs)
        for index in range(len(outputs) - 1, -1, -1):
            if not left:
                break
            value = infos[left - 1]
            if type(value) is not VALUE_INFO:
                return -1
            if (
                get(value, OF_VALUE.name) == outputs[index]
                and get(value, OF_VALUE.type) is not None
                and not get(value, OF_VALUE.decorators)
                and (with_metadata or not get(value, OF_VALUE.metadata))
            ):
                left -= 1
                places[left] = node if len(outputs) == 1 else (node, index)
    return left


cdef int set_types(list infos, list places, Py_ssize_t first) except -1:
    """Set the types of outputs from the entries with an index of at least `first`.

    `find_outputs` describes `places`.
    """
    cdef tuple result = ()
    cdef Py_ssize_t at
    last = None
    for at in range(first, len(infos)):
        place, kind = places[at], get(infos[at], OF_VALUE.type)
        if type(place) is tuple:
            node, index = place
            types = list(get(node, OF_NODE.output_types)) or [None] * len(node.outputs)
            types[index] = kind
            replace(node, OF_NODE.output_types, tuple(types))
            continue
        if kind is not last:
            last, result = kind, (kind,)
        replace(place, OF_NODE.output_types, result)
    return 0


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
            places[name] = None  # the value info stays in the list
        elif name in declared:
            if declared[name] != get(value, OF_VALUE.type):
                return None
            places[name] = None
            numbers[index] = PY_SSIZE_T_MAX  # declared elsewhere: only `@value_info` can list it
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
    return [
        record(ENTRY, ("nodes", name, type, at, None)) for name, type, at in typed_outputs(nodes)
    ]


cdef list typed_outputs(nodes):
    """Return (name, type, offset) of each typed output of some nodes."""
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
                    result.append((outputs[index], types[index], node.at))
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
            result += typed_outputs(graph.nodes)
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


def positional_fields(list values):
    """Return the fields without keys that have these values."""
    return [build(FIELD, (None, value)) for value in values]
