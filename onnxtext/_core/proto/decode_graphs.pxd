# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.proto.decode_values cimport Values
from onnxtext._core.wire.reader cimport Bytes, Field

cdef enum:
    SIGNAL_INTERVAL = 1 << 12  # the number of fields between two checks for signals
    MAX_KNOWN = 1 << 10  # fields with this number or a larger one are unknown

cdef class Tail:
    """The fields of a node after its leading inputs, outputs and name; cached by their bytes."""
    cdef object op_type, domain, overload
    cdef tuple attributes, decorators, metadata
    cdef object whole  # the decoded tail, if it has inputs, outputs or a name; else None
    cdef bint is_rare  # whether nodes with this tail are rare: see `ModelDecoder.facts`
    cdef bint has_empty_fields  # whether it stores an empty domain or doc string

cdef class Decoder:
    """Decodes the graphs and functions of one model."""
    cdef Values values
    cdef dict tails
    cdef list node_lists  # the nodes of each graph and function
    cdef tuple last_outputs  # of the last node; None before the first
    cdef bint has_empty_fields  # whether a node stores an empty domain or doc string
    cdef object lifter  # the `Lifter` for rare forms; None if it was not needed yet
    cdef object python(self)
    cdef object rare_lifter(self)
    cdef object _annotation(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object _graph(self, Bytes data, view, Py_ssize_t offset, Py_ssize_t end, int depth)
    cdef object _graph_attribute(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth
    )
    cdef object _value_info(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end)
    cdef object _rare(self, str method, data)
    cdef object _node(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth)
    cdef Tail _tail(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth, key)
    cdef Tail _rare_tail(self, data, int depth, key)

cdef int next_field(
    Bytes data, view, Py_ssize_t offset, Py_ssize_t end, Field* field
) except -1
