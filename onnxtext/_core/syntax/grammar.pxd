# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int16_t

from onnxtext._core.syntax.scanner cimport Scanner

cdef enum:
    MAX_CHILDREN = 12
    NO_ACTION = -(1 << 15)
    RECENT_BITS = 8

cdef enum:
    # The forms of a stack entry: an object, or a span of the text that is converted on demand.
    # A form >= 0 is the number of a LAZY_TOKEN or LAZY_OBJECT rule, whose function is called on
    # demand.
    OBJECT = -1
    TOKEN = -2
    STRING = -3
    INNER = -4  # like STRING, without the first and the last character
    ONE_STRING = -5  # a list with one STRING
    ONE_INNER = -6  # a list with one INNER
    INNER_BYTES = -7  # like INNER, in UTF-8
    DOTTED = -8  # a list of the names between dots

cdef enum Op:
    CALL  # the result of the rule's function
    UNIT  # the value of the only symbol, unchanged
    PASS  # the only child
    TEXT  # the text of a token
    INSIDE  # the text of a token without its first and last character
    LABEL  # the child, or "" if it is absent
    BYTES  # a string in UTF-8
    LAZY_TOKEN  # like CALL, but on demand; the only child is a token
    SPAN  # TEXT, INSIDE or LAZY_TOKEN: the entry stays a span of the text
    LAZY_OBJECT  # like CALL, but on demand; the only child is an object
    AS_TOKEN  # the child as a token, without the function of its LAZY_TOKEN rule
    ELEMENT  # unchanged if its form is >= 0; a plain string in UTF-8; other children like CALL
    CALL_CACHED  # like CALL, cached by text
    ATTRIBUTE  # an `Attribute`, cached by text
    COARSE_TYPE  # a tensor type, cached by text
    TUPLE  # the list of the only child as a tuple, cached by text
    GRAPH_NAME  # the text of a token, unless Python must check it
    LIST_EMPTY
    LIST_FIRST
    LIST_MORE
    LIST_DOTTED  # like LIST_MORE, for names with dots between them
    PAIR  # a tuple of the second and the first child
    VALUE  # a `ValueInfo`
    GRAPH  # a `Graph`
    NODE  # a `Node`
    NODE_LAST  # a `Node` with its attributes last
    TENSOR  # a `Tensor`
    DECORATED  # the last child, if there are no decorators; otherwise like CALL
    NODES  # like LIST_MORE, for plain nodes; otherwise like CALL
    ENTRY  # a tuple of the offset and the two children
    INTEGER  # the integer of a token, if it is short; otherwise like CALL
    OPSET  # an `OpsetImport` of an optional domain and a version
    RECORD  # an instance of a tuple subclass from all children

cdef struct Rule:
    int size
    int origin
    int op
    int form  # the form of the result of a SPAN or LAZY_OBJECT rule
    int count
    bint located
    int[MAX_CHILDREN] take

cdef class Grammar:
    cdef Scanner scanner
    cdef int16_t* actions
    cdef int16_t* gotos  # the states after the unit reductions that follow
    cdef int16_t* spans  # by the state after a shift, the SPAN rule to apply at once, or -1
    cdef Rule* rules
    cdef Py_ssize_t states, rule_count
    cdef int kinds, origins, end
    cdef list functions, reductions
    cdef object token, semantic_error, layout, read_token, error_node
    cdef Py_ssize_t token_at, token_kind  # slots of a token
    cdef dict shared_values  # immutable values that parses of several texts share, by rule and text
    cdef list recent  # the last short strings of texts, by their hash, see `Stack.span`
    cdef dict layouts  # layouts that parses of several texts share, by the id of the type
    cdef int16_t* _cells(self, bytes data, Py_ssize_t width, int least) except NULL
    cdef int _skip_units(self, int16_t* gotos) except -1
    cdef int _add_spans(self) except -1
    cdef int _only_rule(self, int state) except -2
    cdef int _unit_of(self, int state) except -2
    cdef object _add_rules(self, list rules)
