# SPDX-License-Identifier: Apache-2.0
"""Print graphs to one buffer: the compiled `onnxtext.printer.graphs`.

Rare forms (decorators, records, sparse tensors, long tensors) are printed in Python, in order.
"""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.string cimport memcmp

from onnxtext._core.decimals cimport LONGEST, write_float32
from onnxtext._core.numbers cimport POINT
from onnxtext._core.printing_values cimport ValuePrinter
from onnxtext._core.slots cimport ATTRIBUTE, NODE, OF_ATTRIBUTE, OF_NODE, get
from onnxtext._core.text cimport Text

from onnxtext.ast.model import Graph
from onnxtext.ast.values import (
    AttributeType,
    Float32,
    Floats,
    RawData,
    Reference,
    Tensor,
    TypedData,
)
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.graphs import (
    ATTRIBUTE_WIDTH,
    NAME_WIDTH,
    head_text,
    operator_text,
    parameters_text,
)
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.records import decorator_lines, inline_decorators

cdef enum:
    MOST_GRAPHS = 50  # the nesting limit; deeper graphs are printed in Python
    REST = 0
    VALUE = 1
    FUNCTIONS = 2

cdef object GRAPH = AttributeType.GRAPH, GRAPHS = AttributeType.GRAPHS
cdef int LINE = WIDTH, INDENT = len(STEP), SHORT = ATTRIBUTE_WIDTH, NAME = NAME_WIDTH


@cython.final
cdef class Printer(ValuePrinter):
    """Prints the graphs and functions of one model."""
    cdef dict texts
    cdef readonly int depth  # the nesting depth of graphs in attributes

    def __cinit__(self):
        """Create the caches."""
        self.texts = {}

    def rest(self, owner, graph, str indent):
        """Return the values and the body of a graph or function, in parts.

        Args:
            owner: the `GraphPrinter` for rare forms.
            graph: the graph or function.
            indent: the indentation of its statement.

        Returns:
            The parts; None for graphs that are nested too deeply.
        """
        if self.depth == MOST_GRAPHS:
            return None
        return self._print(owner, graph, len(indent), REST)

    def value(self, owner, value, str indent):
        """Return a declaration or an initializer, in parts."""
        return self._print(owner, value, len(indent), VALUE)

    def functions(self, owner, functions):
        """Return the functions of a model, with a blank line before each, in parts."""
        return self._print(owner, functions, 0, FUNCTIONS)

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
                for function in thing:
                    self.out.character(c"\n")
                    if is_plain(function):
                        self._function(function)
                    else:
                        self.out.part(owner.function_statement(function))
                    self.out.character(c"\n")
                    self.out.settle()
            return self.out.take()
        finally:
            self.out, self.owner = outer, caller

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
        """Print a graph in an attribute."""
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
        opsets = tuple([(item.domain, item.version) for item in function.opset_imports])
        key = (function.domain, function.overload, opsets)
        text = self.texts.get(key)
        if text is None:
            text = self.texts[key] = head_text(function)
        out.text(text)
        out.name(function.name)
        parameters = function.attributes
        if parameters:
            out.character(c" ")
            text = self.texts.get(parameters)
            if text is None:
                text = self.texts[parameters] = parameters_text(
                    parameters, self.owner.graph_value
                )
            out.text(text)
        out.character(c" ")
        self._interface(function.inputs, 0)
        out.add(b" => ", 4)
        self._interface(function.outputs, 0)
        return self._rest(function, 0)

    cdef int _interface(self, list values, int indent) except -1:
        """Print the inputs or outputs of such a graph: on one line if they are short."""
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

    # ---- Nodes ----------------------------------------------------------------------------------

    cdef int _node(self, node, int indent) except -1:
        cdef Text out = self.out
        if node.__class__ is not NODE:
            raise TypeError("expected a Node")
        op_type = get(node, OF_NODE.op_type)
        outputs = get(node, OF_NODE.outputs)
        types = get(node, OF_NODE.output_types)
        if not op_type or not outputs:
            return out.part(self.owner.node_text(node, " " * indent))
        decorators = get(node, OF_NODE.decorators)
        if decorators:
            self._decorators(decorators, indent)
        if types and len(types) != len(outputs):
            raise ValueError("outputs and their types differ in number")
        label = get(node, OF_NODE.name)
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
        domain = get(node, OF_NODE.domain)
        overload = get(node, OF_NODE.overload)
        if domain is None and overload is None:
            out.word(op_type)
        else:
            key = (op_type, domain, overload)
            operator = self.texts.get(key)
            if operator is None:
                operator = self.texts[key] = operator_text(node)
            out.text(operator)
        attributes = get(node, OF_NODE.attributes)
        if attributes and self._flat_attributes(attributes):
            attributes = ()
        out.add(b" (", 2)
        for index, name in enumerate(get(node, OF_NODE.inputs)):
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

    cdef int _decorators(self, decorators, int indent) except -1:
        """Print the decorators of a node, usually on their own lines."""
        cdef Text out = self.out
        for decorator in decorators:
            arguments = decorator.arguments
            if decorator.name != "doc" or len(arguments) != 1 or arguments[0].key is not None:
                break
            if arguments[0].value.__class__ is not bytes:
                break
        else:
            for decorator in decorators:
                out.add(b"@doc(", 5)
                value = decorator.arguments[0].value
                out.string(value.decode("utf-8", "surrogateescape"), indent)
                out.character(c")")
                out.line(indent)
            return 0
        text = decorator_lines(decorators, " " * indent)[indent:]
        out.text(text)
        return out.spaces(indent) if text.endswith("\n") else 0

    cdef bint _flat_attributes(self, attributes) except -1:
        """Print attributes on one line; return False if they do not fit."""
        cdef Text out = self.out
        cdef Py_ssize_t start, mark
        cdef bint is_first = True
        start = out.begin_trial()
        out.add(b" <", 2)
        mark = out.here()
        for attribute in attributes:
            kind = attribute.type
            if kind is GRAPH or kind is GRAPHS:  # printing them twice is exponential
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
        if attribute.__class__ is not ATTRIBUTE:
            raise TypeError("expected an Attribute")
        value = get(attribute, OF_ATTRIBUTE.value)
        name = get(attribute, OF_ATTRIBUTE.name)
        cls = value.__class__
        if get(attribute, OF_ATTRIBUTE.decorators) or not self._is_plain(cls, value):
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
        """Whether the core can print the value of an attribute."""
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


cdef bint is_plain(function) except -1:
    """Whether a function has no decorators, doc string or default values."""
    if function.decorators or function.doc_string is not None:
        return False
    for parameter in function.attributes:
        if parameter.__class__ is not str:
            return False
    return True
