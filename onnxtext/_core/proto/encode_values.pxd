# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.proto.decorators cimport Decorations
from onnxtext._core.proto.encode_types cimport TypeEncoder

cdef class ValueEncoder(TypeEncoder):
    """Encodes attributes and tensors; caches their fields.

    Attributes:
        pieces: the finished pieces; large data is a piece of its own.
        attributes: the encoded attributes of a node, by the id of their tuple.
        types: the encoded field of a type, by the id of the type.
        forms: the `TensorForm` of a type, by the id of the type.
        alive: the objects that are cached by id.
        omitted: `lowering.omitted` after the last attribute or node that Python encoded.
        depth: the nesting depth of graphs and functions.
        deepest: the maximum `level`.
    """
    cdef object node_name, tensor_name
    cdef readonly object omitted
    cdef bytes doc, domain, overload
    # Whether presence defaults add fields to these messages, which Python then encodes.
    cdef dict others
    cdef bint nodes_in_python, values_in_python, attributes_in_python, tensors_in_python
    cdef bint sparse_in_python
    cdef bint opsets_in_python
    cdef list pieces, alive
    cdef dict attributes, types, forms
    cdef int depth, countdown
    cdef readonly int deepest
    cdef int graph_fields(self, graph) except -1
    cdef int entries(self, int key, entries) except -1
    cdef int arguments(self, int key, tuple arguments) except -1
    cdef int optional_text(self, int key, text) except -1
    cdef int check_signals(self) except -1
    cdef int node_attributes(self, attributes, node) except -1
    cdef int attribute(self, int key, attribute, offset) except -1
    cdef int in_python(self, int key, encoded) except -1
    cdef bint value(self, attribute) except -1
    cdef bint item(self, int kind, int key, value) except -1
    cdef bint blob_value(self, int kind, bint is_typed, blob) except -1
    cdef int floats(self, bytes data) except -1
    cdef int initializers(self, list values, bint is_input) except -1
    cdef object resolved(self, value, data)
    cdef int add_initializer(self, list pieces) except -1
    cdef int flush_if_large(self) except -1
    cdef bint tensor(self, type_, name, data, bytes doc) except -1
    cdef bint sparse(self, sparse, name) except -1
