# SPDX-License-Identifier: Apache-2.0
"""Store the parse tables and actions in the form that the loop in `_core.syntax.parser` uses.

A rule's action becomes an operation (`Op`). The stack stores most tokens as spans of the text;
`Entry.form` describes how to make the object when it is needed. Three operations only set the form:
TEXT, INSIDE and LAZY_TOKEN. `_add_rules` replaces them by SPAN.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy

from onnxtext._core.ast.slots cimport slot_of

OPS = {
    "CALL": CALL,
    "UNIT": UNIT,
    "PASS": PASS,
    "TEXT": TEXT,
    "INSIDE": INSIDE,
    "LABEL": LABEL,
    "BYTES": BYTES,
    "LAZY_TOKEN": LAZY_TOKEN,
    "LAZY_OBJECT": LAZY_OBJECT,
    "AS_TOKEN": AS_TOKEN,
    "ELEMENT": ELEMENT,
    "CALL_CACHED": CALL_CACHED,
    "ATTRIBUTE": ATTRIBUTE,
    "COARSE_TYPE": COARSE_TYPE,
    "TUPLE": TUPLE,
    "GRAPH_NAME": GRAPH_NAME,
    "LIST_EMPTY": LIST_EMPTY,
    "LIST_FIRST": LIST_FIRST,
    "LIST_MORE": LIST_MORE,
    "LIST_DOTTED": LIST_DOTTED,
    "PAIR": PAIR,
    "VALUE": VALUE,
    "GRAPH": GRAPH,
    "NODE": NODE,
    "NODE_LAST": NODE_LAST,
    "TENSOR": TENSOR,
    "DECORATED": DECORATED,
    "NODES": NODES,
    "ENTRY": ENTRY,
    "INTEGER": INTEGER,
    "OPSET": OPSET,
    "RECORD": RECORD,
}


cdef class Grammar:
    """The parse tables, validated on creation, so that the parser needs no bounds checks."""

    def __cinit__(self, Scanner scanner, bytes actions, bytes gotos, list rules, dict terminals,
                  str end, dict origins, dict types):
        """Copy the tables.

        Args:
            scanner: finds tokens.
            actions: by state and terminal, a state, ~rule or NO_ACTION, as 16-bit integers.
            gotos: by state and origin (the left side of a rule), a state or NO_ACTION.
                Unlike those of `Automaton`, they do not skip unit rules yet.
            rules: for each rule, its size, origin, operation, whether it is located, the symbols
                of its children, its function and its `Reduction`.
            terminals: the numbers of the terminals, by name.
            end: the terminal at the end of a text.
            origins: the numbers of the origins, by name.
            types: the Python classes and functions that the core uses.
        """
        cdef Py_ssize_t index
        cdef int kinds = len(terminals)
        self.scanner = scanner
        self.rule_count = len(rules)
        self.kinds = kinds
        self.end = terminals[end]
        check(sorted(terminals.values()) == list(range(kinds)))
        self.origins = len(origins)
        check(sorted(origins.values()) == list(range(self.origins)))
        self.states = len(actions) // (2 * kinds)
        check(0 < self.states < 1 << 15 and 0 < self.rule_count < 1 << 15)
        self.actions = self._cells(actions, kinds, -self.rule_count)
        self.gotos = self._cells(gotos, self.origins, 0)
        self.rules = <Rule*>PyMem_Calloc(self.rule_count, sizeof(Rule))
        if self.rules is NULL:
            raise MemoryError
        self._add_rules(rules)
        for index in range(self.states):
            self._skip_units(&self.gotos[index * self.origins])
        self.spans = <int16_t*>PyMem_Malloc(2 * self.states)
        if self.spans is NULL:
            raise MemoryError
        self._add_spans()
        self.token = types["Token"]
        self.token_at, self.token_kind = slot_of(self.token, "at"), slot_of(self.token, "kind")
        self.shared_values, self.layouts = {}, {}
        self.recent = [""] * (1 << RECENT_BITS)
        self.semantic_error = types["SemanticError"]
        self.layout = types["layout"]
        self.read_token = types["read_token"]
        self.error_node = types["error_node"]

    cdef int16_t* _cells(self, bytes data, Py_ssize_t width, int least) except NULL:
        """Return a copy of a table, whose cells are NO_ACTION or from `least` to the last state."""
        cdef Py_ssize_t index, count = self.states * width
        cdef int16_t* result
        check(len(data) == 2 * count)
        result = <int16_t*>PyMem_Malloc(2 * count)
        if result is NULL:
            raise MemoryError
        memcpy(result, <const char*>data, 2 * count)
        for index in range(count):
            if result[index] != NO_ACTION and not least <= result[index] < self.states:
                PyMem_Free(result)
                raise ValueError("invalid parse tables")
        return result

    cdef int _skip_units(self, int16_t* gotos) except -1:
        """Replace the gotos of a state by the states after the unit reductions that follow.

        `Automaton.gotos` (`onnxtext.syntax.parser.lalr`) does the same.
        """
        cdef Py_ssize_t index, steps_left
        cdef int state, origin
        for index in range(self.origins):
            state = gotos[index]
            steps_left = self.states
            while state != NO_ACTION:
                origin = self._unit_of(state)
                if origin < 0 or gotos[origin] == NO_ACTION:
                    break
                state = gotos[origin]
                steps_left -= 1
                check(steps_left > 0)
            gotos[index] = state
        return 0

    cdef int _add_spans(self) except -1:
        """Find the SPAN rules that the parser applies as soon as their token is shifted."""
        cdef int state, kind, shifted, rule, following
        for state in range(self.states):
            rule = self._only_rule(state)
            self.spans[state] = rule if rule >= 0 and self.rules[rule].op == SPAN else -1
        for state in range(self.states):
            for kind in range(self.kinds):
                shifted = self.actions[state * self.kinds + kind]
                if shifted < 0 or self.spans[shifted] < 0:
                    continue
                rule = self.spans[shifted]
                following = self.gotos[state * self.origins + self.rules[rule].origin]
                if following == NO_ACTION:
                    self.spans[shifted] = -1
        return 0

    cdef int _unit_of(self, int state) except -2:
        """Return the origin of the unit rule whose reduction is a state's only action; else -1."""
        cdef int rule = self._only_rule(state)
        return self.rules[rule].origin if rule >= 0 and self.reductions[rule].unit else -1

    cdef int _only_rule(self, int state) except -2:
        """Return the rule whose reduction is a state's only action; else -1."""
        cdef int index, target = 0
        cdef const int16_t* row = &self.actions[state * self.kinds]
        for index in range(self.kinds):
            if row[index] != NO_ACTION:
                if row[index] >= 0 or (target and row[index] != target):
                    return -1
                target = row[index]
        return ~target

    cdef object _add_rules(self, list rules):
        cdef Rule* rule
        self.functions = []
        self.reductions = []
        for number, (size, origin, op, located, take, function, reduction) in enumerate(rules):
            rule = &self.rules[<int>number]
            check(0 <= origin < self.origins and len(take) <= MAX_CHILDREN and size >= 0)
            rule.size = size
            rule.origin = origin
            rule.op = op
            if op in (TEXT, INSIDE, LAZY_TOKEN):
                rule.op = SPAN
                rule.form = STRING if op == TEXT else INNER if op == INSIDE else number
            elif op == LAZY_OBJECT:
                check(len(take) == 1 and take[0] >= 0)
                rule.form = number
            rule.located = located
            rule.count = len(take)
            for index, child in enumerate(take):
                check(-1 <= child < size)
                rule.take[<int>index] = child
            check(op != RECORD or is_record(function, rule.count))
            if rule.op in (UNIT, SPAN, BYTES, ELEMENT, AS_TOKEN, GRAPH_NAME):
                check(size == 1 and list(take) == [0])
            self.functions.append(function)
            self.reductions.append(reduction)

    def __dealloc__(self):
        PyMem_Free(self.actions)
        PyMem_Free(self.gotos)
        PyMem_Free(self.spans)
        PyMem_Free(self.rules)


cdef bint is_record(kind, int count) except -1:
    """Whether a class is a named tuple of `count` fields, without other attributes."""
    return (
        isinstance(kind, type) and issubclass(kind, tuple) and len(kind._fields) == count
        and kind.__basicsize__ == tuple.__basicsize__
    )


cdef inline int check(bint right) except -1:
    if not right:
        raise ValueError("invalid parse tables")
    return 0
