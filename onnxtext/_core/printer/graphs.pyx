# SPDX-License-Identifier: Apache-2.0
"""Print graphs to one buffer: the compiled `onnxtext.printer.graphs_and_nodes`.

Rare forms, such as records and most decorators, are printed in Python, in order.
"""
cimport cython
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.string cimport strlen

from onnxtext._core.printer.metadata cimport pairs
from onnxtext._core.printer.nodes cimport NodePrinter
from onnxtext._core.ast.slots cimport (
    FUNCTION, MODEL, OF_FUNCTION, OF_GRAPH, OF_MODEL, OF_OPSET, OPSET, get, graph_part, part_of,
)
from onnxtext._core.printer.text cimport Text

from onnxtext.printer.graphs_and_nodes import parameters_text
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.models import header_text, main_graph
from onnxtext.printer.decorators import inline_decorators

cdef enum:
    MAX_GRAPHS = 50  # the nesting limit; deeper graphs are printed in Python
    REST, VALUE, FUNCTIONS, STATEMENT, WHOLE_MODEL  # what `_print` prints

cdef int LINE_WIDTH = WIDTH, INDENT = len(STEP)


@cython.final
cdef class Printer(NodePrinter):
    """Prints the graphs and functions of one model."""
    cdef readonly int depth  # the nesting depth of graphs in attributes

    def model(self, model):
        """Return the text of a model before its sections, as parts to be joined."""
        return self._print(None, model, 0, WHOLE_MODEL, 0)

    def statement(self, owner, graph):
        """Return the text of the main graph, as parts to be joined."""
        return self._print(owner, graph, 0, STATEMENT, 0)

    def rest(self, owner, graph, str indent, Py_ssize_t start):
        """Return the text of a graph or function after its outputs: `<…> {…}`, as parts to join.

        Return None for graphs that are nested too deeply.

        Args:
            owner: the `GraphPrinter` for rare forms.
            graph: the graph or function.
            indent: the indentation of its statement.
            start: the column after its outputs.
        """
        if self.depth == MAX_GRAPHS:
            self.has_sections = True  # unknown: Python prints the nodes
            return None
        return self._print(owner, graph, len(indent), REST, start)

    def value(self, owner, value, str indent):
        """Return the text of a value info or initializer, as parts to be joined."""
        return self._print(owner, value, len(indent), VALUE, 0)

    def functions(self, owner, functions):
        """Return the text of functions, each after a blank line, as parts to be joined."""
        return self._print(owner, functions, 0, FUNCTIONS, 0)

    cdef list _print(self, owner, thing, int indent, int what, Py_ssize_t start):
        cdef Text outer = self.out
        caller = self.owner
        self.out, self.owner = Text(), owner
        self.out.start = start
        try:
            if what == REST:
                self._rest(thing, indent)
            elif what == VALUE:
                self._value(thing, indent)
            elif what == STATEMENT:
                self._statement(thing)
            elif what == WHOLE_MODEL:
                self._model(thing)
            else:
                self._functions(thing)
            return self.out.take()
        finally:
            self.out, self.owner = outer, caller

    cdef object python(self):
        """Return the `GraphPrinter` for rare forms; create it if no caller has set it."""
        if self.owner is None:
            from onnxtext.printer.native import CorePrinter

            self.owner = CorePrinter(self)
        return self.owner

    # ---- Models ---------------------------------------------------------------------------------

    cdef int _model(self, model) except -1:
        cdef Text out = self.out
        presence = part_of(model, MODEL, OF_MODEL.presence)
        opsets, metadata = get(model, OF_MODEL.opset_imports), get(model, OF_MODEL.metadata)
        if presence.version is None:
            out.text(header_text(model))
        else:
            if get(model, OF_MODEL.decorators):
                self._decorators(get(model, OF_MODEL.decorators), 0)
            out.add(b"<", 1)
            self._entry(b"onnxtext", presence.version)
            self._texts(b"explicit", presence.explicit)
            self._texts(b"encoding", list(map(str, get(model, OF_MODEL.encoding_habits))))
            self._entry(b"ir_version", get(model, OF_MODEL.ir_version))
            if opsets:
                self._opsets(opsets)
            self._entry(b"producer_name", get(model, OF_MODEL.producer_name))
            self._entry(b"producer_version", get(model, OF_MODEL.producer_version))
            self._entry(b"domain", get(model, OF_MODEL.domain))
            self._entry(b"model_version", get(model, OF_MODEL.model_version))
            self._doc_string(get(model, OF_MODEL.doc_string))
            if metadata:
                self._key(b"metadata_props")
                pairs(out, tuple(metadata), LINE_WIDTH - 20)
                out.character(c",")
            out.add(b"\n>\n", 3)
        has_order = get(model, OF_MODEL.has_order)
        self.note(has_order or get(model, OF_MODEL.metadata_left_out))
        self.note(get(model, OF_MODEL.training) or get(model, OF_MODEL.configurations))
        self._statement(main_graph(model) if has_order else get(model, OF_MODEL.graph))
        out.character(c"\n")
        return self._functions(get(model, OF_MODEL.functions))

    cdef int _key(self, const char* key) except -1:
        """Print the key of an entry of a header."""
        self.out.line(INDENT)
        self.out.add(key, strlen(key))
        return self.out.add(b": ", 2)

    cdef int _doc_string(self, value) except -1:
        """Print the entry `doc_string` of a header, unless it is None."""
        if value is None:
            return 0
        self._key(b"doc_string")
        self.out.string(value, INDENT)
        return self.out.character(c",")

    cdef int _entry(self, const char* key, value) except -1:
        """Print an entry of a header, unless its value is None."""
        if value is None:
            return 0
        self._key(key)
        if isinstance(value, int):
            self.out.integer(value)
        else:
            self.out._quoted(<str?>value)
        return self.out.character(c",")

    cdef int _opsets(self, opsets) except -1:
        """Print the entry `opset_import` of a header."""
        cdef Text out = self.out
        cdef Py_ssize_t mark
        self._key(b"opset_import")
        mark = out.position()
        out.character(c"[")
        for item in opsets:
            self._check_signals()
            out.line(2 * INDENT)
            domain = part_of(item, OPSET, OF_OPSET.domain)
            if domain is not None:
                out._quoted(<str?>domain)
                out.add(b": ", 2)
            out.integer(get(item, OF_OPSET.version))
            out.character(c",")
        return self._end_list(mark, len(opsets))

    cdef int _texts(self, const char* key, texts) except -1:
        """Print a list of texts as an entry of a header, unless it is empty."""
        cdef Py_ssize_t mark
        if not texts:
            return 0
        self._key(key)
        mark = self.out.position()
        self.out.character(c"[")
        for text in texts:
            self.out.line(2 * INDENT)
            self.out.text(text)
            self.out.character(c",")
        return self._end_list(mark, len(texts))

    cdef int _end_list(self, Py_ssize_t mark, Py_ssize_t count) except -1:
        """Print the end of a list in a header; put the list on one line if it fits."""
        self.out.line(INDENT)
        self.out.character(c"]")
        self.out.join_items(mark, count, INDENT, 2 * INDENT, LINE_WIDTH - 20)
        return self.out.character(c",")

    cdef int _functions(self, functions) except -1:
        for function in functions:
            self.out.character(c"\n")
            if part_of(function, FUNCTION, OF_FUNCTION.decorators):
                self.out.append_large(self.python().function_statement(function))
            else:
                self._function(function)
            self.out.character(c"\n")
            self.out.flush_if_large()
        return 0

    # ---- Graphs ---------------------------------------------------------------------------------

    cdef int _rest(self, graph, int indent) except -1:
        cdef Text out = self.out
        cdef list values = graph_part(graph, OF_GRAPH.values, "values")
        cdef list nodes = graph_part(graph, OF_GRAPH.nodes, "nodes")
        self.note(graph_part(graph, OF_GRAPH.metadata, "metadata"))
        self.note(graph_part(graph, OF_GRAPH.value_metadata, "value_metadata"))
        self.note(type(graph) is not FUNCTION and graph.quantization)  # a `Graph` or a subclass
        if values:
            out.character(c" ")
            self._values(graph, indent)
        if not nodes:
            return out.add(b" {}", 3)
        out.add(b" {", 2)
        for node in nodes:
            self._check_signals()
            out.line(indent + INDENT)
            self._node(node, indent + INDENT)
            if not self.depth:
                out.flush_if_large()
        out.line(indent)
        return out.character(c"}")

    cdef int _statement(self, graph) except -1:
        """Print the main graph."""
        cdef Text out = self.out
        decorators = graph_part(graph, OF_GRAPH.decorators, "decorators")
        if decorators:
            self._decorators(decorators, 0)
        out.name(graph_part(graph, OF_GRAPH.name, "name"))
        self._interface(graph, 0, True)
        return self._rest(graph, 0)

    cdef int _graph(self, graph, int indent) except -1:
        """Print a graph in an attribute."""
        cdef Text out = self.out
        cdef Py_ssize_t mark, before
        if self.depth == MAX_GRAPHS:
            return out.append_large(self.python().graph_value(graph, " " * indent, out.column()))
        mark, before = out.begin_trial(), out.column()
        decorators = graph_part(graph, OF_GRAPH.decorators, "decorators")
        if decorators:
            out.text(inline_decorators(decorators, " " * indent))
        out.name(graph_part(graph, OF_GRAPH.name, "name"))
        self._interface(graph, indent, False)
        if not out.end_trial(mark, not decorators or self._is_line(graph, mark, indent)):
            out.text(self.python().graph_head(graph, " " * indent, before))
        self.depth += 1
        try:
            return self._rest(graph, indent)
        finally:
            self.depth -= 1

    cdef int _function(self, function) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark
        self._header(function)
        mark = out.begin_trial()
        out.name(get(function, OF_FUNCTION.name))
        parameters = get(function, OF_FUNCTION.attributes)
        if parameters:
            out.character(c" ")
            key = parameters if are_names(parameters) else id(parameters)
            text = self.texts.get(key)
            if text is None:
                lists = parameters_text(parameters, self.python().graph_value)
                text = self.texts[key] = lists.broken if lists.flat is None else lists.flat
            out.text(text)
        self._interface(function, 0, False)
        if not out.end_trial(mark, not parameters or self._is_line(function, mark, 0)):
            out.text(self.python().function_head(function))
        return self._rest(function, 0)

    cdef int _header(self, function) except -1:
        """Print the `<…>` header of a function, if it has entries."""
        cdef Text out = self.out
        opsets = get(function, OF_FUNCTION.opset_imports)
        domain, overload = get(function, OF_FUNCTION.domain), get(function, OF_FUNCTION.overload)
        doc_string = get(function, OF_FUNCTION.doc_string)
        cdef Py_ssize_t mark = out.position(), count = len(opsets) > 0
        count += (domain is not None) + (overload is not None) + (doc_string is not None)
        if not count:
            return 0
        out.character(c"<")
        self._entry(b"domain", domain)
        self._entry(b"overload", overload)
        self._doc_string(doc_string)
        if opsets:
            self._opsets(opsets)
        out.line(0)
        out.character(c">")
        out.join_items(mark, count, 0, INDENT, LINE_WIDTH - 20)
        return out.character(c"\n")

    cdef bint _is_line(self, graph, Py_ssize_t mark, int indent) except -1:
        """Whether the text since a mark, the head of a graph or function, fits on one line."""
        cdef Text out = self.out
        if not out.is_flat(mark, LINE_WIDTH):
            return False
        return out.column() + after_head(graph, indent, False) <= LINE_WIDTH

    cdef int _interface(self, graph, int indent, bint several) except -1:
        """Print the inputs and outputs like `statement_layout.arrange_lists`.

        If `several` is true, a list of more than one value has one value per line.
        """
        cdef Text out = self.out
        cdef list inputs = graph_part(graph, OF_GRAPH.inputs, "inputs")
        cdef list outputs = graph_part(graph, OF_GRAPH.outputs, "outputs")
        cdef bint tall_inputs = several and len(inputs) > 1
        cdef bint tall_outputs = several and len(outputs) > 1
        cdef Py_ssize_t column = out.column(), after = after_head(graph, indent, False)
        cdef Py_ssize_t mark, middle, input_width, output_width
        cdef bint fits
        while True:
            mark = out.begin_trial()
            self._list(inputs, indent, b" (", tall_inputs)
            fits = tall_inputs or out.is_flat(mark, PY_SSIZE_T_MAX)
            input_width = 0 if tall_inputs else out.width(mark) - 1
            middle = out.position()
            self._list(outputs, indent, b" => (", tall_outputs)
            output_width = 0 if tall_outputs else out.width(middle) - 4
            if not fits:
                tall_inputs = True
            elif not tall_outputs and not out.is_flat(middle, PY_SSIZE_T_MAX):
                tall_outputs = True
            elif max(input_width, output_width) <= 2 or out.fits(mark, column, LINE_WIDTH, after):
                out.end_trial(mark, True)
                return 0
            elif input_width >= output_width:
                tall_inputs = True
            else:
                tall_outputs = True
            out.end_trial(mark, False)

    cdef int _list(self, list values, int indent, bytes opening, bint is_tall) except -1:
        """Print a list of values: on one line, or one per line if `is_tall`."""
        cdef Text out = self.out
        out.add(opening, len(opening))
        for index, value in enumerate(values):
            if is_tall:
                out.line(indent + INDENT)
            elif index:
                out.add(b", ", 2)
            self._value(value, indent + INDENT)
            if is_tall:
                out.character(c",")
        if is_tall:
            out.line(indent)
        return out.character(c")")

    cdef int _values(self, graph, int indent) except -1:
        cdef Text out = self.out
        cdef Py_ssize_t mark
        cdef list values = graph_part(graph, OF_GRAPH.values, "values")
        out.character(c"<")
        if len(values) == 1:
            mark = out.begin_trial()
            self._value(values[0], indent + INDENT)
            out.character(c">")
            if out.end_trial(
                mark,
                out.is_flat(mark, LINE_WIDTH)
                and out.column() + after_head(graph, indent, True) <= LINE_WIDTH,
            ):
                return 0
        for value in values:
            self._check_signals()
            out.line(indent + INDENT)
            self._value(value, indent + INDENT)
            out.character(c",")
            if not self.depth:
                out.flush_if_large()
        out.line(indent)
        return out.character(c">")


cdef int after_head(graph, int indent, bint is_last) except -1:
    """Return the width of the text after the outputs (or the `<…>` list) on the same line.

    The text is ` {`, ` <` or ` {}`. `is_last` means that the `<…>` list is already printed. If
    `indent` is not 0, the graph is in an attribute, and a comma follows ` {}`.
    """
    if graph_part(graph, OF_GRAPH.nodes, "nodes"):
        return 2
    if not is_last and graph_part(graph, OF_GRAPH.values, "values"):
        return 2
    return 4 if indent else 3


cdef bint are_names(parameters) except -1:
    """Whether all parameters of a function are names without defaults."""
    for parameter in parameters:
        if type(parameter) is not str:
            return False
    return True
