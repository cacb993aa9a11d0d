# SPDX-License-Identifier: Apache-2.0
from onnxtext._core.syntax.grammar cimport Grammar, Rule

cdef enum:
    SLACK = 64  # the maximum number of entries that empty rules add before the next token
    INITIAL_ROOM = 96  # the initial number of entries

cdef struct Entry:
    int state
    int form
    Py_ssize_t start
    Py_ssize_t end  # -1: the span is unknown

cdef class Stack:
    """The stack of a parse. Entry 0 is the start state; the others are a state and a symbol each.

    In all modules, `base` is the index of the entry of a rule's first symbol.
    """
    cdef Grammar grammar
    cdef str text
    cdef Entry* entries
    cdef list values
    cdef Py_ssize_t room, depth
    cdef int grow(self, Py_ssize_t depth) except -1
    cdef object span(self, Py_ssize_t start, Py_ssize_t end)
    cdef object token(self, Py_ssize_t start, Py_ssize_t end)
    cdef object value(self, Py_ssize_t index)
    cdef bytes _inner_bytes(self, Entry* entry)
    cdef tuple dotted(self, Py_ssize_t index)
    cdef object child(self, Rule* rule, Py_ssize_t base, int number)
    cdef tuple children(self, Rule* rule, Py_ssize_t base, type kind)

cdef bytes bytes_of(str text)
