# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int16_t

from onnxtext._core.scanner cimport Scanner

cdef enum:
    MOST_CHILDREN = 12
    NO_ACTION = -(1 << 15)

cdef enum Op:
    CALL  # what the rule's function returns
    UNIT  # the only symbol under another name
    PASS  # the only child
    TEXT  # the text of a token
    INSIDE  # the text of a token without its first and last character
    LABEL  # the child, or "" if it is absent
    LATER  # as CALL, but only when somebody asks for it
    STAYS  # the child if it is a LATER, else as CALL
    REMEMBER  # as CALL, and the same again for the same text
    LIST_EMPTY
    LIST_FIRST
    LIST_MORE
    PAIR  # a tuple of the last and the first child
    VALUE  # a `ValueInfo`
    NODE  # a `Node`
    NODES  # as LIST_MORE, for nodes

cdef struct Rule:
    int size
    int origin
    int op
    int count
    bint located
    int[MOST_CHILDREN] take

cdef class Grammar:
    cdef Scanner scanner
    cdef int16_t* actions
    cdef int16_t* gotos
    cdef Rule* rules
    cdef Py_ssize_t states, rule_count
    cdef int kinds, origins
    cdef list functions, reductions
    cdef type node, value_info, raw_data, typed_data
    cdef object token, fault, layout, read_token
    cdef object _add_rules(self, list rules)
