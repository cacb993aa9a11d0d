# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int16_t

from onnxtext._core.scanner cimport Scanner

cdef enum:
    MOST_CHILDREN = 12
    NO_ACTION = -(1 << 15)

cdef enum:
    # What an entry of the stack holds: an object, or a part of the text that becomes one when
    # somebody asks for it. Other numbers are those of rules: what a LATER makes of its token.
    OBJECT = -1
    TOKEN = -2
    STRING = -3
    INNER = -4  # as STRING, without the first and the last character
    ONE_STRING = -5  # a list of a STRING
    ONE_INNER = -6  # a list of an INNER

cdef enum Op:
    CALL  # what the rule's function returns
    UNIT  # the only symbol under another name
    PASS  # the only child
    TEXT  # the text of a token
    INSIDE  # the text of a token without its first and last character
    LABEL  # the child, or "" if it is absent
    LATER  # as CALL, but only when somebody asks for it
    KEEP  # one of the three before
    DEFER  # likewise, for a rule with one child of several symbols
    ITSELF  # the token of a LATER, or the token that the child is
    STAYS  # the child if it is a LATER, else as CALL
    REMEMBER  # as CALL, and the same again for the same text
    LIST_EMPTY
    LIST_FIRST
    LIST_MORE
    PAIR  # a tuple of the last and the first child
    VALUE  # a `ValueInfo`
    NODE  # a `Node`
    NODE_LAST  # likewise, with its attributes last
    TENSOR  # a `Tensor`
    DECORATED  # the last child, if there are no decorators
    NODES  # as LIST_MORE, for nodes

cdef struct Rule:
    int size
    int origin
    int op
    int form  # of what a KEEP or a DEFER makes
    int count
    bint located
    int[MOST_CHILDREN] take

cdef class Grammar:
    cdef Scanner scanner
    cdef int16_t* actions
    cdef int16_t* gotos
    cdef int16_t* jumps
    cdef Rule* rules
    cdef Py_ssize_t states, rule_count
    cdef int kinds, origins, end
    cdef list functions, reductions
    cdef object token, fault, layout, read_token, hole
    cdef int16_t* _targets(self, rows, dict origins) except NULL
    cdef object _add_rules(self, list rules)
