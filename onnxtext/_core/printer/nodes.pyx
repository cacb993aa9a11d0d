# SPDX-License-Identifier: Apache-2.0
"""Print nodes and attributes: the compiled `printer.attributes` and `printer.graphs_and_nodes`.

Rare forms, such as records and types that need several lines, are printed in Python.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.string cimport memcmp, memcpy, memset

from onnxtext._core.printer.numbers cimport POINT
from onnxtext._core.printer.values cimport is_plain_tensor
from onnxtext._core.ast.slots cimport ATTRIBUTE, NODE, OF_ATTRIBUTE, OF_NODE, get
from onnxtext._core.printer.text cimport Text, characters, is_wide
from onnxtext._core.wire.buffer cimport Growing

from onnxtext.ast.model import Graph
from onnxtext.ast.types import (
    MapType, OptionalType, SequenceType, SparseTensorType, TensorType,
)
from onnxtext.ast.tensors_and_attributes import (
    ITEM_TYPES, AttributeType, Blob, Float32, Floats, Reference, RepeatedList, SparseTensor, Tensor,
    TypedBlob,
)
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.graphs_and_nodes import GraphPrinter, domain_text
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.statement_layout import ATTRIBUTE_WIDTH

cdef frozenset TYPES = frozenset(
    (TensorType, SparseTensorType, SequenceType, OptionalType, MapType)
)
cdef frozenset ITEMS = TYPES | {Tensor, SparseTensor, Graph}
cdef frozenset PLAIN = frozenset(
    (int, Float32, bytes, Reference, Graph, Blob, TypedBlob, RepeatedList)
)
cdef object GRAPH = AttributeType.GRAPH, GRAPHS = AttributeType.GRAPHS
cdef object node_text = GraphPrinter.node_text
cdef dict KINDS = {kind: kind.name.lower() for kind in AttributeType}
cdef int LINE_WIDTH = WIDTH, INDENT = len(STEP), SHORT = ATTRIBUTE_WIDTH


cdef class NodePrinter(ValuePrinter):
    def __cinit__(self):
        """Create the cache."""
        self.texts = {}

    def __dealloc__(self):
        PyMem_Free(self.ends)

    cdef int _graph(self, graph, int indent) except -1:
        """Print a graph in an attribute."""
        raise NotImplementedError

    # ---- Nodes ----------------------------------------------------------------------------------

    cdef int _node(self, node, int indent) except -1:
        """Print a node on one line; lay it out like `statement_layout.node_lines` if it does not fit."""
        cdef Text out = self.out
        cdef Py_ssize_t start = out.size, line_end, count, names
        cdef Flat flat
        if type(node) is not NODE:
            raise TypeError("expected a Node")
        self.note(get(node, OF_NODE.metadata))
        op_type = get(node, OF_NODE.op_type)
        outputs = get(node, OF_NODE.outputs)
        types = get(node, OF_NODE.output_types)
        if not op_type or not outputs:
            return out.append_large(self.python().node_text(node, " " * indent))
        if types and len(types) != len(outputs):
            raise ValueError("outputs and their types differ in number")
        inputs = get(node, OF_NODE.inputs)
        flat.outputs, flat.inputs = len(outputs), len(inputs)
        self._reserve(flat.outputs + flat.inputs)
        out.trying += 1
        try:
            decorators = get(node, OF_NODE.decorators)
            if decorators:
                self._decorators(decorators, indent)
            flat.line = out.size
            line_end = out.size - indent - 1
            if out.size > start and (line_end < start or out.data[line_end] != c"\n"):
                flat.line = start  # a single `@unset(…)` is on the line of the node
            label = get(node, OF_NODE.name)
            if label is not None:
                out.character(c"[")
                if label:
                    out.word(label)
                out.add(b"] ", 2)
            flat.label = out.size - flat.line
            for count, name in enumerate(outputs):
                if count:
                    out.add(b", ", 2)
                if types and types[count] is not None:
                    out.text(self._type_text(types[count]))
                    out.character(c" ")
                out.name(name)
                self.ends[count] = out.size - flat.line
            out.add(b" = ", 3)
            domain = get(node, OF_NODE.domain)
            overload = get(node, OF_NODE.overload)
            if domain is not None:
                text = self.texts.get(domain)
                if text is None:
                    text = self.texts[domain] = domain_text(domain)
                out.text(text)
            out.word(op_type)
            if overload is not None:
                out.character(c":")
                out.word(overload)
            flat.operator = out.size - flat.line
            attributes = get(node, OF_NODE.attributes)
            flat.attributes_last = attributes and not self._flat_attributes(attributes)
            flat.attributes = out.size - flat.line
            out.add(b" (", 2)
            for count, name in enumerate(inputs):
                if count:
                    out.add(b", ", 2)
                out.name(name)
                self.ends[flat.outputs + count] = out.size - flat.line
            out.character(c")")
            if flat.attributes_last or indent + out.size - flat.line > LINE_WIDTH:
                count = out.width(flat.line + out.before)
                flat.is_ascii = count == out.size - flat.line
                if flat.attributes_last or indent + count > LINE_WIDTH:
                    if not self._wrap(&flat, types or (), indent):
                        out.size = start
                        return out.text(node_text(self.python(), node, " " * indent))
        finally:
            out.trying -= 1
        if flat.attributes_last:
            indent = flat.indent
            out.add(b" <", 2)
            for attribute in attributes:
                out.line(indent + INDENT)
                self._attribute(attribute, indent + INDENT)
                out.character(c",")
            out.line(indent)
            out.character(c">")
        return 0

    cdef int _reserve(self, Py_ssize_t count) except -1:
        """Reserve space for the end offsets of `count` names."""
        cdef Py_ssize_t* ends
        if count > self.room:
            ends = <Py_ssize_t*>PyMem_Realloc(self.ends, 2 * count * sizeof(Py_ssize_t))
            if ends is NULL:
                raise MemoryError
            self.ends, self.room = ends, 2 * count
        return 0

    cdef bint _wrap(self, Flat* flat, types, int indent) except -1:
        """Break the node on the last line into lines; return False if Python must print it."""
        cdef Text out = self.out
        cdef Py_ssize_t head = self.ends[flat.outputs - 1], call = flat.attributes
        cdef Py_ssize_t size = out.size - flat.line, width, inputs, index, start
        cdef int end = 0
        cdef const char* data
        cdef char* cursor
        if self.flat is None:
            self.flat = Growing()
        self.flat.size = 0
        self.flat.add(out.data + flat.line, size)
        data = self.flat.data
        out.size = flat.line
        width = width_between(flat, data, flat.operator, call)
        if not flat.attributes_last and width and (
            width - 3 > SHORT
            or indent
            + width_between(flat, data, head + 1 if flat.outputs else 0, call)
            + (2 if flat.inputs else 3)
            > LINE_WIDTH
        ):
            flat.attributes_last = True
        if flat.attributes_last:
            call, end = flat.operator, 2
        width = indent + width_between(flat, data, 0, call)
        inputs = width_between(flat, data, flat.attributes, size)
        flat.indent = indent
        # Room for all pieces, with a line break before and a comma after each name.
        out.need(size + (flat.outputs + flat.inputs + 4) * (indent + 2 * INDENT + 4))
        cursor = out.data + out.size
        if width + (2 if flat.inputs else 3 + end) > LINE_WIDTH:
            cursor = self._outputs(cursor, flat, types, indent)
            if cursor is NULL:
                return False
            flat.indent = indent + INDENT
            cursor = put(put_line(cursor, flat.indent), data + head + 1, call - head - 1)
            width = flat.indent + width_between(flat, data, head + 1, call)
        else:
            cursor = put(cursor, data, call)
        if flat.inputs and width + inputs + end > LINE_WIDTH:
            cursor = put(cursor, b" (", 2)
            start = flat.attributes + 2
            for index in range(flat.outputs, flat.outputs + flat.inputs):
                cursor = put_line(cursor, flat.indent + INDENT)
                cursor = put(cursor, data + start, self.ends[index] + 1 - start)
                (cursor - 1)[0] = c","
                start = self.ends[index] + 2
            cursor = put(put_line(cursor, flat.indent), b")", 1)
        else:
            cursor = put(cursor, data + flat.attributes, size - flat.attributes)
        out.size = cursor - out.data
        return True

    cdef char* _outputs(self, char* cursor, Flat* flat, types, int indent) except? NULL:
        """Write the label and one output per line; return the end, NULL if a type is too wide."""
        cdef const char* data = self.flat.data
        cdef Py_ssize_t index, start = 0, width, column = indent
        cdef int after = flat.outputs > 1
        for index in range(flat.outputs):
            width = column + width_between(flat, data, start, self.ends[index])
            if width + after > LINE_WIDTH and not index and flat.label:
                cursor = put_line(put(cursor, data, flat.label - 1), indent + INDENT)
                start = flat.label
                width = indent + INDENT + width_between(flat, data, start, self.ends[0])
            if width + after > LINE_WIDTH and types and types[index] is not None:
                return NULL
            cursor = put(cursor, data + start, self.ends[index] - start)
            start = self.ends[index] + 2
            column = indent + INDENT
            if index + 1 < flat.outputs:
                cursor = put_line(put(cursor, b",", 1), column)
        return cursor

    cdef bint _flat_attributes(self, attributes) except -1:
        """Print attributes on one line; return False if they do not fit, or have graphs."""
        cdef Text out = self.out
        cdef Py_ssize_t start, mark
        cdef bint is_first = True
        start = out.begin_trial()
        out.add(b" <", 2)
        mark = out.position()
        for attribute in attributes:
            if type(attribute) is not ATTRIBUTE:
                raise TypeError("expected an Attribute")
            kind = get(attribute, OF_ATTRIBUTE.type)
            if kind is GRAPH or kind is GRAPHS:  # print graphs once: twice per level is exponential
                return out.end_trial(start, False)
            if not is_first:
                out.add(b", ", 2)
            is_first = False
            self._attribute(attribute, 0)
            if not out.is_flat(mark, LINE_WIDTH - 2):
                return out.end_trial(start, False)
        if out.size >= 12 and memcmp(out.data + out.size - 12, b" undefined =", 12) == 0:
            out.character(c" ")
        out.character(c">")
        return out.end_trial(start, True)

    # ---- Attributes -----------------------------------------------------------------------------

    cdef int _attribute(self, attribute, int indent) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.position(), budget
        if type(attribute) is not ATTRIBUTE:
            raise TypeError("expected an Attribute")
        value = get(attribute, OF_ATTRIBUTE.value)
        name = get(attribute, OF_ATTRIBUTE.name)
        cls = type(value)
        if get(attribute, OF_ATTRIBUTE.decorators) or not self._is_plain(cls, value):
            return out.append_large(attribute_text(attribute, " " * indent, self.python().graph_value))
        out.word(name)
        budget = LINE_WIDTH - indent - out.width(mark) - 4
        if cls is Graph or (cls is tuple and value and type(value[0]) is Graph):
            out.add(b" = ", 3)
            return self._graph(value, indent) if cls is Graph else self._items(value, indent, budget)
        if not self._attribute_value(attribute, cls, value, indent, budget) or is_wide(
            out, mark, indent, LINE_WIDTH
        ):
            out.size = mark - out.before
            return out.append_large(attribute_text(attribute, " " * indent, self.python().graph_value))
        return 0

    cdef bint _attribute_value(
        self, attribute, cls, value, int indent, Py_ssize_t budget
    ) except -1:
        """Print the value of an attribute; return False if it must be printed in Python."""
        cdef Text out = self.out
        kind = get(attribute, OF_ATTRIBUTE.type)
        if cls is Reference:
            if kind is not None:
                out.add(b": ", 2)
                out.text(KINDS[kind])
            out.add(b" = @", 4)
            out.word(value.name)
            return True
        if (cls is tuple and not value) or (cls is Floats and not value.data):
            if kind is None:
                return False
            out.add(b": ", 2)
            out.text(KINDS[kind])
            out.add(b" = []", 5)
            return True
        if cls is RepeatedList:
            if kind is None or len(value.items) != 1 or type(value.items[0]) is bytes:
                return False
            out.add(b": ", 2)
            out.text(KINDS[kind])
            out.character(c"[")
            out.integer(value.count)
            out.add(b"] = [", 5)
            self.numbers.one(out, value.items[0])
            out.add(b", ...]", 6)
            return True
        if (cls is TypedBlob and kind is not None) or (cls is Blob and kind in ITEM_TYPES):
            out.add(b": ", 2)
            out.text(KINDS[kind])
        out.add(b" = ", 3)
        if cls is TypedBlob or cls is Blob:
            self._blob(cls, value)
        elif cls is int or cls is Float32:
            self.numbers.one(out, value)
        elif cls is bytes:
            out.bytes_string(value, indent)
        elif cls is not tuple and cls is not Floats:
            return self._item(cls, value, indent, budget)
        elif budget <= 0:
            return False
        elif cls is Floats:
            data = self.numbers.content = value.data
            self.numbers.load(POINT, 4, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), None)
            self.numbers.flat_list(out, b"[]", indent, budget)
        elif type(value[0]) is bytes:
            self._strings(value, indent, budget, False)
        elif type(value[0]) is int:
            self.numbers.integers(value)
            self.numbers.flat_list(out, b"[]", indent, budget)
        else:
            return self._items(value, indent, budget)
        return True

    cdef bint _items(self, tuple items, int indent, Py_ssize_t budget) except -1:
        """Print a list like `layout.bracket_list`; return False if Python must print it.

        Each item is printed once: printing nested graphs twice per level is exponential.
        """
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.position(), start
        cdef int inner = indent + INDENT
        out.character(c"[")
        for item in items:
            self._check_signals()
            out.line(inner)
            start = out.position()
            if type(item) is Graph:
                self._graph(item, inner)
            elif not self._item(type(item), item, inner, LINE_WIDTH - inner - 1) or is_wide(
                out, start, inner, LINE_WIDTH
            ):
                return False
            out.character(c",")
        out.line(indent)
        out.character(c"]")
        out.join_items(mark, len(items), indent, inner, budget)
        return True

    cdef bint _is_plain(self, cls, value) except -1:
        """Whether the core can print the value of an attribute."""
        if cls in PLAIN:
            return True
        if cls is Tensor:
            return is_plain_tensor(value)
        if cls is SparseTensor or cls in TYPES:
            return not value.decorators
        if cls is Floats:
            return type(value.data) is bytes and len(value.data) % 4 == 0
        if cls is not tuple:
            return False
        if not value or type(value[0]) is int:
            return True
        cls = type(value[0])
        for item in value:
            if type(item) is not cls and not (cls in TYPES and type(item) in TYPES):
                return False
            if cls is not bytes and not (cls in ITEMS and self._is_plain(type(item), item)):
                return False
        return True


cdef inline Py_ssize_t width_between(Flat* flat, const char* data, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Return the width of the text of a node between two byte offsets."""
    return end - start if flat.is_ascii else characters(data + start, end - start)


cdef inline char* put(char* cursor, const char* data, Py_ssize_t size) noexcept:
    """Copy a text to `cursor`; return the end of the copy."""
    memcpy(cursor, data, size)
    return cursor + size


cdef inline char* put_line(char* cursor, int indent) noexcept:
    """Write a line break and an indentation to `cursor`; return their end."""
    cursor[0] = c"\n"
    memset(cursor + 1, c" ", indent)
    return cursor + 1 + indent
