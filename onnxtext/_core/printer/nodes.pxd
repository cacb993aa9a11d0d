# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.printer.values cimport ValuePrinter
from onnxtext._core.wire.buffer cimport Growing

cdef struct Flat:
    # A node on one line. All offsets except `line` are from the beginning of the line.
    Py_ssize_t line  # the offset of the line in the text
    Py_ssize_t label, operator, attributes  # the end offsets of these parts
    Py_ssize_t outputs, inputs  # the numbers of outputs and inputs
    bint is_ascii
    bint attributes_last  # whether the attributes follow the inputs, one per line
    int indent  # the indentation of the line on which such attributes begin

cdef class NodePrinter(ValuePrinter):
    """Prints nodes and their attributes."""
    cdef dict texts
    cdef Growing flat  # the last node that was too long for a line, as one line; None if none was
    cdef Py_ssize_t* ends  # the end offsets of the outputs and inputs of a node
    cdef Py_ssize_t room

    cdef int _graph(self, graph, int indent) except -1
    cdef int _node(self, node, int indent) except -1
    cdef int _reserve(self, Py_ssize_t count) except -1
    cdef bint _wrap(self, Flat* flat, types, int indent) except -1
    cdef char* _outputs(self, char* at, Flat* flat, types, int indent) except? NULL
    cdef bint _flat_attributes(self, attributes) except -1
    cdef int _attribute(self, attribute, int indent) except -1
    cdef bint _attribute_value(
        self, attribute, cls, value, int indent, Py_ssize_t budget
    ) except -1
    cdef bint _items(self, tuple items, int indent, Py_ssize_t budget) except -1
    cdef bint _is_plain(self, cls, value) except -1
