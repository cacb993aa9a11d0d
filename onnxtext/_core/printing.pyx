# SPDX-License-Identifier: Apache-2.0
"""Graphs to text: what `onnxtext.printer.graphs` prints, written to one buffer.

What is rare (decorators, records, sparse tensors, long tensors) is printed in Python, in its place.
"""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcmp

from onnxtext._core.decimals cimport LONGEST, write_float32
from onnxtext._core.numbers cimport BOOL, FLOAT, OTHER, POINT, Elements, Numbers
from onnxtext._core.text cimport Text

from onnxtext.ast.model import Graph
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import (
    AttributeType,
    Float32,
    Floats,
    RawData,
    Reference,
    SparseTensor,
    Tensor,
    TypedData,
)
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.graphs import (
    ATTRIBUTE_WIDTH,
    NAME_WIDTH,
    operator_text,
    opsets_text,
    parameters_text,
)
from onnxtext.printer.layout import STEP, WIDTH, bracketed
from onnxtext.printer.records import inline_decorators
from onnxtext.printer.strings import quoted
from onnxtext.printer.values import LARGE, data_parts, sparse_text, type_text

cdef enum:
    MOST_GRAPHS = 50  # graphs nested deeper than this are printed in Python
    UNINTERRUPTED = 1 << 12
    REST = 0
    VALUE = 1
    FUNCTION = 2

cdef object GRAPH = AttributeType.GRAPH, GRAPHS = AttributeType.GRAPHS
cdef int LINE = WIDTH, INDENT = len(STEP), SHORT = ATTRIBUTE_WIDTH, NAME = NAME_WIDTH
cdef Py_ssize_t MOST_ELEMENTS = LARGE


@cython.final
cdef class Printer:
    """One run of printing. Types are known by their identity, and kept alive."""
    cdef Text out
    cdef Numbers numbers
    cdef object owner, names
    cdef dict types, operators
    cdef int patience
    cdef readonly int depth  # of the graphs in attributes that are being printed

    def __cinit__(self, names):
        """Begin a run; `names` gives the texts of names of values."""
        self.names = names
        self.numbers = Numbers()
        self.types, self.operators = {}, {}
        self.patience = UNINTERRUPTED

    def rest(self, owner, graph, str indent):
        """The values and the body of a graph or function, in parts.

        Args:
            owner: the `GraphPrinter` that prints what is rare.
            graph: the graph or function.
            indent: the indentation of its statement.

        Returns:
            None for graphs that are nested too deep.
        """
        if self.depth == MOST_GRAPHS:
            return None
        return self._print(owner, graph, len(indent), REST)

    def value(self, owner, value, str indent):
        """A declaration or an initializer, in parts."""
        return self._print(owner, value, len(indent), VALUE)

    def function(self, owner, function):
        """A function, in parts; None for one with decorators or a text of several lines."""
        if function.decorators or function.doc_string is not None:
            return None
        return self._print(owner, function, 0, FUNCTION)

    cdef list _print(self, owner, thing, int indent, int what):
        cdef Text outer = self.out
        caller = self.owner
        self.out, self.owner = Text(self.names), owner
        try:
            if what == REST:
                self._rest(thing, indent)
            elif what == VALUE:
                self._value(thing, indent)
            else:
                self._function(thing)
            return self.out.take()
        finally:
            self.out, self.owner = outer, caller

    cdef int _wait(self) except -1:
        self.patience -= 1
        if not self.patience:
            self.patience = UNINTERRUPTED
            PyErr_CheckSignals()
        return 0

    # ---- Graphs ---------------------------------------------------------------------------------

    cdef int _rest(self, graph, int indent) except -1:
        cdef Text out = self.out
        cdef list values = graph.values, nodes = graph.nodes
        if values:
            out.character(c" ")
            self._values(values, indent)
        if not nodes:
            return out.add(b" {}", 3)
        out.add(b" {", 2)
        for node in nodes:
            self._wait()
            out.line(indent + INDENT)
            self._node(node, indent + INDENT)
        out.line(indent)
        return out.character(c"}")

    cdef int _graph(self, graph, int indent) except -1:
        """A graph in an attribute."""
        cdef Text out = self.out
        if self.depth == MOST_GRAPHS:
            return out.part(self.owner.graph_value(graph, " " * indent))
        if graph.decorators:
            out.text(inline_decorators(graph.decorators, " " * indent))
        out.name(graph.name)
        out.character(c" ")
        self._interface(graph.inputs, indent)
        out.add(b" => ", 4)
        self._interface(graph.outputs, indent)
        self.depth += 1
        try:
            return self._rest(graph, indent)
        finally:
            self.depth -= 1

    cdef int _function(self, function) except -1:
        cdef Text out = self.out
        head = []
        if function.domain is not None:
            head.append(f"domain: {quoted(function.domain)}")
        if function.overload is not None:
            head.append(f"overload: {quoted(function.overload)}")
        opsets = function.opset_imports
        if opsets:
            key = tuple([(item.domain, item.version) for item in opsets])
            text = self.operators.get(key)
            if text is None:
                text = self.operators[key] = f"opset_import: {opsets_text(opsets, STEP)}"
            head.append(text)
        if head:
            out.text(bracketed(head, "<>", "", LINE - 20))
            out.character(c"\n")
        out.name(function.name)
        parameters = function.attributes
        if parameters:
            out.character(c" ")
            out.text(parameters_text(parameters, self.owner.graph_value))
        out.character(c" ")
        self._interface(function.inputs, 0)
        out.add(b" => ", 4)
        self._interface(function.outputs, 0)
        return self._rest(function, 0)

    cdef int _interface(self, list values, int indent) except -1:
        """The inputs or outputs of such a graph: on one line if they are short."""
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.begin_trial(), extra = 2 - 2 * (len(values) > 0)
        out.character(c"(")
        for index, value in enumerate(values):
            if index:
                out.add(b", ", 2)
            self._value(value, indent + INDENT)
            extra += len(value.name) + 2 - NAME
        out.character(c")")
        if not out.end_trial(mark, out.is_flat(mark, LINE - 20 + extra)):
            out.character(c"(")
            for value in values:
                out.line(indent + INDENT)
                self._value(value, indent + INDENT)
                out.character(c",")
            out.line(indent)
            out.character(c")")
        return 0

    cdef int _values(self, list values, int indent) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark
        out.character(c"<")
        if len(values) == 1:
            mark = out.begin_trial()
            self._value(values[0], indent + INDENT)
            if out.end_trial(mark, out.is_flat(mark, SHORT + len(values[0].name))):
                return out.character(c">")
        for value in values:
            self._wait()
            out.line(indent + INDENT)
            self._value(value, indent + INDENT)
            out.character(c",")
        out.line(indent)
        return out.character(c">")

    # ---- Values ---------------------------------------------------------------------------------

    cdef int _value(self, value, int indent) except -1:
        cdef Text out = self.out
        cdef Elements type
        cdef Py_ssize_t budget
        if value.decorators:
            out.text(inline_decorators(value.decorators, " " * indent))
        if value.type is None:
            return out.name(value.name)
        type = self._type(value.type)
        out.text(type.text)
        out.character(c" ")
        out.name(value.name)
        data = value.data
        if data is None:
            return 0
        out.add(b" = ", 3)
        budget = LINE - indent - type.text_width - NAME
        if isinstance(data, SparseTensor):
            return out.part(sparse_text(data, " " * indent, budget))
        return self._data(type, data, indent, budget)

    cdef Elements _type(self, type):
        known = self.types.get(<size_t><void*>type)
        if known is None:
            known = self.types[<size_t><void*>type] = Elements(type, type_text(type))
        return <Elements>known

    cdef int _data(self, Elements type, data, int indent, Py_ssize_t budget) except -1:
        """The literal of a tensor's data; without one, the blank before it goes too."""
        cdef Text out = self.out
        cls = data.__class__
        if cls is RawData:
            held = data.data
            if len(held) <= 8 * MOST_ELEMENTS:
                held = bytes(held)
                if self._fits(type, held):
                    return self._raw(type, held, indent, budget)
        elif cls is TypedData:
            held = data.entries
            if type.typed != OTHER and len(held) % type.typed_width == 0:
                self.numbers.clear()
                self.numbers.elements(
                    type.typed, type.typed_width, PyBytes_AS_STRING(held), PyBytes_GET_SIZE(held),
                    None,
                )
                return self.numbers.flat_list(out, b"{}", indent, budget)
        parts = data_parts(type.type, data, " " * indent, budget)
        out.size -= not parts[0]
        for part in parts:
            out.part(part)
        return 0

    cdef bint _fits(self, Elements type, bytes data) except -1:
        """Whether raw data is printed here."""
        cdef Py_ssize_t at
        if type.raw == OTHER or not 0 <= type.count <= MOST_ELEMENTS:
            return False
        if type.count * type.width != PyBytes_GET_SIZE(data):
            return False
        if type.raw == BOOL:
            for at in range(type.count):
                if PyBytes_AS_STRING(data)[at] & ~1:
                    return False
        return True

    cdef int _raw(self, Elements type, bytes data, int indent, Py_ssize_t budget) except -1:
        cdef Text out = self.out
        cdef Numbers numbers = self.numbers
        cdef const char* start = PyBytes_AS_STRING(data)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(data), first
        numbers.clear()
        if not size:
            return out.add(b"[]", 2)
        if type.is_scalar or (
            type.count > 2 and memcmp(start, start + type.width, size - type.width) == 0
        ):
            numbers.elements(type.raw, type.width, start, type.width, type.pages)
            if type.is_scalar:
                return numbers.first(out)
            first = numbers.ends[0]
            if type.count * (first + 2) > first + 5:
                out.character(c"[")
                numbers.first(out)
                return out.add(b", ...]", 6)
            numbers.clear()
        numbers.elements(type.raw, type.width, start, size, type.pages)
        if type.rank < 2:
            return numbers.flat_list(out, b"[]", indent, budget)
        return numbers.nested_list(out, type, indent, budget)

    # ---- Nodes ----------------------------------------------------------------------------------

    cdef int _node(self, node, int indent) except -1:
        cdef Text out = self.out
        op_type, outputs, types = node.op_type, node.outputs, node.output_types
        if node.decorators or not op_type or not outputs:
            return out.part(self.owner.node_text(node, " " * indent))
        if types and len(types) != len(outputs):
            raise ValueError("outputs and their types differ in number")
        label = node.name
        if label is not None:
            out.character(c"[")
            if label:
                out.word(label)
            out.add(b"] ", 2)
        for index, name in enumerate(outputs):
            if index:
                out.add(b", ", 2)
            if types and types[index] is not None:
                out.text(self._type(types[index]).text)
                out.character(c" ")
            out.name(name)
        out.add(b" = ", 3)
        domain, overload = node.domain, node.overload
        if domain is None and overload is None:
            out.word(op_type)
        else:
            key = (op_type, domain, overload)
            operator = self.operators.get(key)
            if operator is None:
                operator = self.operators[key] = operator_text(node)
            out.text(operator)
        attributes = node.attributes
        if attributes and self._flat_attributes(attributes):
            attributes = ()
        out.add(b" (", 2)
        for index, name in enumerate(node.inputs):
            if index:
                out.add(b", ", 2)
            out.name(name)
        out.character(c")")
        if attributes:
            out.add(b" <", 2)
            for attribute in attributes:
                out.line(indent + INDENT)
                self._attribute(attribute, indent + INDENT)
                out.character(c",")
            out.line(indent)
            out.character(c">")
        return 0

    cdef bint _flat_attributes(self, attributes) except -1:
        """Attributes on one line; False if they do not fit there, or one needs several."""
        cdef Text out = self.out
        cdef Py_ssize_t start, mark
        cdef bint is_first = True
        start = out.begin_trial()
        out.add(b" <", 2)
        mark = out.here()
        for attribute in attributes:
            kind = attribute.type
            if kind is GRAPH or kind is GRAPHS:  # is printed once only: nested ones take time
                return out.end_trial(start, False)
            if not is_first:
                out.add(b", ", 2)
            is_first = False
            self._attribute(attribute, 0)
            if not out.is_flat(mark, SHORT - 2):
                return out.end_trial(start, False)
        if out.size >= 12 and memcmp(out.data + out.size - 12, b" undefined =", 12) == 0:
            out.character(c" ")
        out.character(c">")
        return out.end_trial(start, True)

    # ---- Attributes -----------------------------------------------------------------------------

    cdef int _attribute(self, attribute, int indent) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark, budget
        value, name = attribute.value, attribute.name
        cls = value.__class__
        if attribute.decorators or not self._is_plain(cls, value):
            return out.part(attribute_text(attribute, " " * indent, self.owner.graph_value))
        mark = out.here()
        out.word(name)
        budget = LINE - indent - out.width(mark) - 4
        if cls is Reference:
            if attribute.type is not None:
                out.add(b": ", 2)
                out.text(attribute.type.name.lower())
            out.add(b" = @", 4)
            return out.word(value.name)
        out.add(b" = ", 3)
        if cls is int:
            return out.integer(value)
        if cls is Float32:
            out.need(LONGEST)
            out.size += write_float32(out.data + out.size, value.bits, True)
            return 0
        if cls is bytes:
            return out.bytes_string(value, indent)
        if cls is Graph:
            return self._graph(value, indent)
        if cls is Tensor:
            return self._tensor(value, indent, budget)
        if cls is Floats:
            self.numbers.clear()
            data = value.data
            self.numbers.elements(POINT, 4, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), None)
            return self.numbers.flat_list(out, b"[]", indent, budget)
        if value[0].__class__ is bytes:
            return self._strings(value, indent, budget)
        self.numbers.clear()
        self.numbers.integers(value)
        return self.numbers.flat_list(out, b"[]", indent, budget)

    cdef bint _is_plain(self, cls, value) except -1:
        """Whether the value of an attribute is printed here."""
        if cls is int or cls is Float32 or cls is bytes or cls is Reference or cls is Graph:
            return True
        if cls is Tensor:
            data = value.data.__class__
            return not value.decorators and (data is RawData or data is TypedData)
        if cls is Floats:
            return value.data.__class__ is bytes and len(value.data) >= 4
        if cls is not tuple or not value:
            return False
        cls = value[0].__class__
        if cls is int:
            return True
        for item in value:
            if item.__class__ is not bytes:
                return False
        return True

    cdef int _tensor(self, tensor, int indent, Py_ssize_t budget) except -1:
        cdef Text out = self.out
        cdef Elements type = self._type(tensor.type)
        cdef bint is_number = type.is_scalar and tensor.data.__class__ is RawData
        budget -= type.text_width + 12
        out.text(tensor.type.element if is_number else type.text)
        if tensor.name is not None:
            out.character(c" ")
            out.word(tensor.name)
        elif is_number:
            out.character(c"(")
            self._data(type, tensor.data, indent, budget)
            return out.character(c")")
        out.add(b" = ", 3 if is_number else 1)
        return self._data(type, tensor.data, indent, budget)

    cdef int _strings(self, tuple values, int indent, Py_ssize_t budget) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark = out.begin_trial()
        out.character(c"[")
        for index, value in enumerate(values):
            if index:
                out.add(b", ", 2)
            out.bytes_string(value, indent + INDENT)
        out.character(c"]")
        if not out.end_trial(mark, out.is_flat(mark, budget)):
            out.character(c"[")
            for value in values:
                out.line(indent + INDENT)
                out.bytes_string(value, indent + INDENT)
                out.character(c",")
            out.line(indent)
            out.character(c"]")
        return 0
