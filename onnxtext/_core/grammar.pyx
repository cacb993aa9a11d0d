# SPDX-License-Identifier: Apache-2.0
"""The parse tables and actions in the form that the loop in `parser` uses."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memset

from onnxtext._core.slots cimport slot_of

OPS = {
    "CALL": CALL,
    "UNIT": UNIT,
    "PASS": PASS,
    "TEXT": TEXT,
    "INSIDE": INSIDE,
    "LABEL": LABEL,
    "LATER": LATER,
    "DEFER": DEFER,
    "ITSELF": ITSELF,
    "STAYS": STAYS,
    "REMEMBER": REMEMBER,
    "LIST_EMPTY": LIST_EMPTY,
    "LIST_FIRST": LIST_FIRST,
    "LIST_MORE": LIST_MORE,
    "PAIR": PAIR,
    "VALUE": VALUE,
    "NODE": NODE,
    "NODE_LAST": NODE_LAST,
    "TENSOR": TENSOR,
    "DECORATED": DECORATED,
    "NODES": NODES,
    "ENTRY": ENTRY,
    "INTEGER": INTEGER,
    "OPSET": OPSET,
}


cdef class Grammar:
    """The parse tables, validated on creation, so that the parser needs no bounds checks."""

    def __cinit__(self, Scanner scanner, actions, gotos, jumps, list rules, dict terminals,
                  str end, dict origins, dict types):
        """Copy the tables.

        Args:
            scanner: finds tokens.
            actions: for each state, a state or ~rule by terminal name.
            gotos: for each state, a state by rule name.
            jumps: like `gotos`, but to the state after all unit rules.
            rules: for each rule, its size, origin, operation, whether it is located, the symbols
                of its children, its function and its `Reduction`.
            terminals: the numbers of the terminals, by name.
            end: the terminal at the end of a text.
            origins: the numbers of the origins, by name.
            types: the Python classes and functions that the core uses.
        """
        cdef Py_ssize_t state
        cdef int at, to, kinds = len(terminals)
        self.scanner = scanner
        self.states = len(actions)
        self.rule_count = len(rules)
        self.kinds = kinds
        self.end = terminals[end]
        check(sorted(terminals.values()) == list(range(kinds)))
        self.origins = len(origins)
        check(0 < self.states < 1 << 15 and 0 < self.rule_count < 1 << 15)
        check(len(gotos) == len(jumps) == self.states)
        self.actions = <int16_t*>PyMem_Malloc(self.states * kinds * sizeof(int16_t))
        self.gotos = self._targets(gotos, origins)
        self.jumps = self._targets(jumps, origins)
        self.rules = <Rule*>PyMem_Malloc(self.rule_count * sizeof(Rule))
        if self.actions is NULL or self.rules is NULL:
            raise MemoryError
        for state in range(self.states):
            for at in range(kinds):
                self.actions[state * kinds + at] = NO_ACTION
            for name, target in (<dict?>actions[state]).items():
                to = target
                check(-self.rule_count <= to < self.states)
                self.actions[state * kinds + <int>terminals[name]] = to
        self._add_rules(rules)
        self.token = types["Token"]
        self.token_at, self.token_kind = slot_of(self.token, "at"), slot_of(self.token, "kind")
        self.known, self.layouts = {}, {}
        self.fault = types["SemanticError"]
        self.layout = types["layout"]
        self.read_token = types["read_token"]
        self.error_node = types["error_node"]

    cdef int16_t* _targets(self, rows, dict origins) except NULL:
        """Return a table of goto states by origin."""
        cdef Py_ssize_t state
        cdef int origin, to
        cdef int16_t* made = <int16_t*>PyMem_Malloc(self.states * self.origins * sizeof(int16_t))
        if made is NULL:
            raise MemoryError
        memset(made, 0xFF, self.states * self.origins * sizeof(int16_t))  # -1
        for state in range(self.states):
            for name, target in (<dict?>rows[state]).items():
                origin, to = origins[name], target
                check(0 <= origin < self.origins and 0 <= to < self.states)
                made[state * self.origins + origin] = to
        return made

    cdef object _add_rules(self, list rules):
        cdef Rule* rule
        self.functions = []
        self.reductions = []
        for number, (size, origin, op, located, take, function, reduction) in enumerate(rules):
            rule = &self.rules[<int>number]
            check(0 <= origin < self.origins and len(take) <= MOST_CHILDREN and size >= 0)
            rule.size = size
            rule.origin = origin
            rule.op = op
            if op in (TEXT, INSIDE, LATER):
                rule.op = KEEP
                rule.form = STRING if op == TEXT else INNER if op == INSIDE else number
            elif op == DEFER:
                check(len(take) == 1 and take[0] >= 0)
                rule.form = number
            rule.located = located
            rule.count = len(take)
            for at, child in enumerate(take):
                check(-1 <= child < size)
                rule.take[<int>at] = child
            check(rule.op not in (UNIT, KEEP, STAYS, ITSELF) or (size == 1 and list(take) == [0]))
            self.functions.append(function)
            self.reductions.append(reduction)

    def __dealloc__(self):
        PyMem_Free(self.actions)
        PyMem_Free(self.gotos)
        PyMem_Free(self.jumps)
        PyMem_Free(self.rules)


cdef inline int check(bint right) except -1:
    if not right:
        raise ValueError("invalid parse tables")
    return 0
