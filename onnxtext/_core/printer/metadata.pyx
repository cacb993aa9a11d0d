# SPDX-License-Identifier: Apache-2.0
"""Print sections of metadata and annotations: the compiled part of `onnxtext.printer.sections`."""
from onnxtext._core.printer.text cimport Text

from onnxtext.ast.section_paths import PathStep
from onnxtext.printer.layout import WIDTH
from onnxtext.printer.quoting import value_name

cdef int LINE_WIDTH = WIDTH

cdef enum:
    FEW = 16  # with more entries than this, a dictionary is faster


def metadata_blocks(blocks):
    """Return the text of metadata blocks in parts, like `onnxtext.printer.sections`."""
    cdef Text out = Text()
    cdef int indent
    cdef tuple above = ()
    for index, (before, block) in enumerate(blocks):
        indent = len(before)
        if index:
            out.character(c"\n")
        if isinstance(block, str):
            out.spaces(indent)
            out.text(block)
            above = ()
        elif block.kind == "function":
            _entries(out, block.item.metadata, indent, ())
            above = ()
        else:
            out.spaces(indent)
            out.text(block.kind)
            _path(out, block.path)
            out.add(b" {\n", 3)
            entries = block.item.metadata
            _entries(out, entries, indent + 2, above)
            above = entries
            out.line(indent)
            out.character(c"}")
        out.flush_if_large()
    return out.take()


def annotation_lines(graphs):
    """Return the lines of a `quantization` section in parts; `graphs` has (path, graph) pairs."""
    cdef Text out = Text()
    for path, graph in graphs:
        for annotation in graph.quantization:
            out.add(b"\n ", 2)
            _path(out, (*path, PathStep(annotation.tensor_name)))
            out.add(b": ", 2)
            pairs(out, annotation.entries, LINE_WIDTH - out.column())
            out.flush_if_large()
    return out.take()


cdef int pairs(Text out, tuple entries, Py_ssize_t budget) except -1:
    """Add a list of `"key": "value"` pairs like `layout.bracket_list`."""
    cdef Py_ssize_t mark = out.position()
    if not entries and budget > 1:
        return out.add(b"[]", 2)
    out.character(c"[")
    for key, value in entries:
        out.line(4)
        out._quoted(<str?>key)
        out.add(b": ", 2)
        out.string(value, 4)
        out.character(c",")
    out.line(2)
    out.character(c"]")
    return out.join_items(mark, len(entries), 2, 4, budget)


cdef int _path(Text out, tuple steps) except -1:
    """Add a space and the path of an item; nothing for the model itself."""
    cdef char between = c" "
    for name, number, is_label in steps:
        out.character(between)
        between = c"."
        if is_label:
            out.character(c"[")
        if number is None:
            out.word(name)
        if is_label:
            out.character(c"]")
        if number is not None:
            out.text(value_name(name))  # with quotes for `float`, because `float[1]` is a type
            out.character(c"[")
            out.integer(number)
            out.character(c"]")
    return 0


cdef int _entries(Text out, tuple entries, int indent, tuple above) except -1:
    """Add metadata entries, each on its own lines; `above` has the entries of the block above."""
    cdef str key, value
    cdef dict known = dict(above) if len(above) > FEW else None
    for index, (key, value) in enumerate(entries):
        if index:
            out.character(c"\n")
        out.spaces(indent)
        out.word(key)
        out.add(b": ", 2)
        if above and "\n" in value and value == _value_above(above, known, key):
            out.add(b"above", 5)
        else:
            out.string(value, indent)
    return 0


cdef str _value_above(tuple above, dict known, str key):
    """Return the last value of a key in the block above; None if it lacks the key."""
    cdef Py_ssize_t index
    if known is not None:
        return known.get(key)
    for index in range(len(above) - 1, -1, -1):
        if <str>above[index][0] == key:
            return above[index][1]
    return None
