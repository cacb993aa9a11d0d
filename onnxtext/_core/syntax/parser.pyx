# SPDX-License-Identifier: Apache-2.0
"""The compiled LALR(1) loop.

A `LalrLoop` feeds tokens in place of a `Machine` (`onnxtext.syntax.parser.lalr`), up to the first
syntax error: it copies the machine's stacks, and copies them back at the unexpected token.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t

from onnxtext._core.syntax.actions cimport make_coarse_type
from onnxtext._core.syntax.attributes cimport make_attribute
from onnxtext._core.syntax.nodes_and_tensors cimport (
    integer_of, is_plain_node, is_shareable, make_graph_value, make_node, make_opset, make_tensor,
    make_value_info,
)
from onnxtext._core.syntax.grammar cimport (
    AS_TOKEN, ATTRIBUTE, BYTES, CALL_CACHED, COARSE_TYPE, DECORATED, DOTTED, ELEMENT, ENTRY, GRAPH,
    GRAPH_NAME, INNER, INNER_BYTES, INTEGER, LABEL, LAZY_OBJECT, LIST_DOTTED, LIST_EMPTY,
    LIST_FIRST, LIST_MORE, NO_ACTION, NODE, NODE_LAST, NODES, OBJECT, ONE_INNER, ONE_STRING, OPSET,
    PAIR, PASS, RECORD, SPAN, STRING, TENSOR, TOKEN, TUPLE, UNIT, VALUE, Grammar, Rule,
)
from onnxtext._core.syntax.memo cimport Memo
from onnxtext._core.syntax.scanner cimport END, LONG
from onnxtext._core.syntax.stack cimport SLACK, Entry, Stack, bytes_of

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    unsigned int PyUnicode_READ(int, void*, Py_ssize_t)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)

cdef enum:
    MAX_CACHED_LENGTH = 200  # in bytes of the text
    MAX_LOOKUPS = 64  # the maximum number of values of a text that may be shared with other texts
    MAX_SHARED_VALUES = 4096  # the next parse discards the shared values if there are more
    SHORT = 1 << 14  # only texts with fewer characters share layouts
    SIGNAL_INTERVAL = 1 << 14  # the number of tokens between two checks for signals


@cython.final
cdef class LalrLoop(Stack):
    """The state of a parse in the native core."""
    cdef object machine
    cdef Py_ssize_t max_depth
    cdef Py_ssize_t start, end  # the offsets of the current token
    cdef Py_ssize_t last_offset  # the last offset that was stored in a value
    cdef int state_before_span  # if a SPAN rule was applied last, the state before it; else -1
    cdef bint has_error_nodes
    cdef bint is_resumed  # after an error: the spans of earlier entries are unknown
    cdef bint is_faulty  # whether an action failed since `_cached_value` last began to build a value
    cdef Memo memo
    cdef int width  # bytes of a character
    cdef dict layouts
    cdef int lookups_left  # the number of further values that may be shared with other texts

    def __cinit__(self, Grammar grammar, machine, str text, Py_ssize_t max_depth):
        self.machine = machine
        self.max_depth = max_depth
        self.memo = Memo(text)
        self.width = PyUnicode_KIND(text)
        self.lookups_left = MAX_LOOKUPS
        if len(grammar.shared_values) > MAX_SHARED_VALUES:
            grammar.shared_values, grammar.layouts = {}, {}
        self.layouts = grammar.layouts if PyUnicode_GET_LENGTH(text) < SHORT else {}

    def advance(self, Py_ssize_t offset):
        """Feed tokens to the machine until the first syntax error.

        Args:
            offset: the offset to begin at.

        Returns:
            The offset of the first token that was not fed, or the end of the text.

        Raises:
            SemanticError: an action failed, and the machine keeps no errors or has too many.
        """
        self._copy_from_machine()
        try:
            return self._run(offset)
        finally:
            self._copy_to_machine()

    cdef _copy_from_machine(self):
        """Copy the stack from the machine. The end offsets of its values are unknown."""
        cdef list states = self.machine.states, values = self.machine.values
        cdef list where = self.machine.where
        cdef Py_ssize_t index
        if not len(values) == len(where) == len(states) - 1:
            raise ValueError("stacks differ in height")
        self.depth = len(values)
        self.grow(self.depth + 1)
        for index in range(len(states)):
            self.entries[index].state = states[index]
            if not 0 <= self.entries[index].state < self.grammar.states:
                raise ValueError("invalid state")
        for index in range(self.depth):
            self.entries[index + 1].form = OBJECT
            self.values[index + 1] = values[index]
            self.entries[index + 1].start = where[index]
            self.entries[index + 1].end = -1
        self.state_before_span = -1
        self.has_error_nodes = self.machine.has_error_nodes
        self.is_resumed = self.depth > 0

    cdef _copy_to_machine(self):
        """Copy the stack to the machine, in the machine's form.

        The machine applies a SPAN rule only at the next token. So if the loop has just applied one,
        this method restores the token and the state before the rule.
        """
        cdef Py_ssize_t index
        if self.state_before_span >= 0:
            self.entries[self.depth].state = self.state_before_span
            self.entries[self.depth].form = TOKEN
        self.machine.states[:] = [self.entries[index].state for index in range(self.depth + 1)]
        self.machine.where[:] = [self.entries[index].start for index in range(1, self.depth + 1)]
        self.machine.values[:] = [self.value(index) for index in range(1, self.depth + 1)]

    # ---- The loop ---------------------------------------------------------------------------

    cdef Py_ssize_t _run(self, Py_ssize_t offset) except -1:
        cdef int kind, action, countdown = SIGNAL_INTERVAL
        cdef int kinds = self.grammar.kinds
        cdef const void* data = PyUnicode_DATA(self.text)
        cdef Py_ssize_t length = PyUnicode_GET_LENGTH(self.text)
        while True:
            self.start = offset
            kind = self.grammar.scanner.scan(self.width, data, length, &self.start, &self.end)
            token = None
            if kind == LONG:
                token, kind = self.grammar.read_token(self.text, self.start)
                if token is not None:
                    self.start = token.at
                    self.end = self.start + PyUnicode_GET_LENGTH(token)
            if kind == END:
                self.start = length
                kind = self.grammar.end
            if kind < 0:
                return self.start
            while True:
                action = self.grammar.actions[self.entries[self.depth].state * kinds + kind]
                if action >= 0:
                    break
                if action == NO_ACTION:
                    return self.start
                self._reduce(~action)
            if kind == self.grammar.end:
                return length
            if self.depth + 2 > self.max_depth:
                return self.start
            self.depth += 1
            if self.depth + SLACK >= self.room:
                self.grow(self.depth + 1)
            self._shift(&self.entries[self.depth], action, token)
            offset = self.end
            countdown -= 1
            if not countdown:
                PyErr_CheckSignals()
                countdown = SIGNAL_INTERVAL

    cdef inline int _shift(self, Entry* entry, int state, token) except -1:
        """Set the entry of the current token, and apply the SPAN rule of its state, if any."""
        cdef int number = self.grammar.spans[state]
        cdef Rule* rule
        self.state_before_span = -1
        entry.state = state
        entry.start = self.start
        entry.end = self.end
        entry.form = TOKEN
        if token is not None:
            entry.form = OBJECT
            self.values[self.depth] = token
        elif number >= 0:
            rule = &self.grammar.rules[number]
            self.state_before_span = state
            entry.form = rule.form
            entry.state = self.grammar.gotos[
                self.entries[self.depth - 1].state * self.grammar.origins + rule.origin
            ]
        return 0

    cdef int _reduce(self, int number) except -1:
        """Reduce a rule: replace its symbols by its value."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef Py_ssize_t base = self.depth - rule.size + 1, start = self.start, end = self.start
        cdef Entry* entry
        cdef int state
        if not 1 <= base < self.room:
            raise ValueError("a rule needs more symbols than the stack has")
        entry = &self.entries[base]
        if rule.size:
            start = entry.start
            end = self.entries[self.depth].end
            if self.has_error_nodes or self.is_resumed:
                end = self._end_of(base)
        if self.has_error_nodes and rule.op != UNIT and self._has_error_child(rule, base):
            self.values[base] = self._by_machine(number, base, start)
            entry.form = OBJECT
            end = -1
        elif not self._reused(rule, entry):
            self.values[base] = self._make(number, base, start, end)
            entry.form = rule.form if rule.op == LAZY_OBJECT else OBJECT
        self.depth = base
        self.state_before_span = -1
        state = self.grammar.gotos[self.entries[base - 1].state * self.grammar.origins + rule.origin]
        if state < 0:
            raise ValueError("a rule has no goto state")
        entry.state = state
        entry.start = start
        entry.end = end
        return 0

    cdef Py_ssize_t _end_of(self, Py_ssize_t base) noexcept:
        """Return the end offset of the entries from `base` on; -1 if the span of one is unknown."""
        cdef Py_ssize_t index
        for index in range(base, self.depth):
            if self.entries[index].end < 0:
                return -1
        return self.entries[self.depth].end

    cdef bint _has_error_child(self, Rule* rule, Py_ssize_t base) except -1:
        """Whether a child of a rule is an error node."""
        cdef Py_ssize_t index
        cdef int number
        for number in range(rule.count):
            index = base + rule.take[number]
            if (
                rule.take[number] >= 0
                and self.entries[index].form == OBJECT
                and self.values[index] is self.grammar.error_node
            ):
                return True
        return False

    cdef inline bint _reused(self, Rule* rule, Entry* entry) noexcept:
        """Reuse the entry of the first symbol for the value of a rule, if this needs no object.

        Return whether the entry is reused.
        """
        cdef Entry* last
        cdef unsigned int first
        if rule.op == UNIT:
            return True
        if rule.op == SPAN and entry.form == TOKEN:
            entry.form = rule.form
            return True
        if rule.op == LIST_FIRST and rule.size == 1:
            if entry.form == STRING:
                entry.form = ONE_STRING
                return True
            if entry.form == INNER:
                entry.form = ONE_INNER
                return True
        if rule.op == LIST_DOTTED:
            last = &self.entries[self.depth]
            if (
                (entry.form == ONE_STRING or entry.form == DOTTED) and last.form == STRING
                and entry.end + 1 == last.start
            ):
                entry.form = DOTTED
                return True
            return False
        if rule.op == GRAPH_NAME and entry.form == TOKEN and entry.end > entry.start:
            # Python rejects some names that begin like `inf` or `nan`.
            first = PyUnicode_READ(self.width, PyUnicode_DATA(self.text), entry.start) | 32
            if first == c"i" or first == c"n":
                return False
            entry.form = STRING
            return True
        if (rule.op == BYTES or rule.op == ELEMENT) and entry.form == INNER:
            entry.form = INNER_BYTES
            return True
        if rule.op == AS_TOKEN and (entry.form == TOKEN or entry.form >= 0):
            entry.form = TOKEN
            return True
        return rule.op == ELEMENT and entry.form >= 0

    cdef object _make(self, int number, Py_ssize_t base, Py_ssize_t start, Py_ssize_t end):
        """Return the value of a rule."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef int op = rule.op
        cdef object result = None
        if op == LIST_MORE or op == LIST_DOTTED:
            result = self.child(rule, base, 0)
            (<list?>result).append(self.child(rule, base, 1))
        elif op == LIST_FIRST:
            return [self.child(rule, base, 0)]
        elif op == LIST_EMPTY:
            return []
        elif op == PASS or op == LAZY_OBJECT:
            return self.child(rule, base, 0)
        elif op == BYTES:
            return bytes_of(self.child(rule, base, 0))
        elif op == LABEL:
            return self.child(rule, base, 0) if rule.take[0] >= 0 else ""
        elif op == PAIR:
            return (self.child(rule, base, 1), self.child(rule, base, 0))
        elif op == CALL_CACHED or op == ATTRIBUTE or op == COARSE_TYPE or op == TUPLE:
            return self._cached_value(number, base, start, end)
        elif op == NODES:
            node = self.child(rule, base, 1)
            if is_plain_node(node):
                result = self.child(rule, base, 0)
                (<list?>result).append(node)
        elif op == ENTRY:
            return (start, self.child(rule, base, 0), self.child(rule, base, 1))
        elif op == INTEGER:
            result = integer_of(self, base + rule.take[0])
        elif op == RECORD:
            return self.children(rule, base, self.grammar.functions[number])
        elif op == OPSET:
            result = make_opset(self, rule, base)
        elif op == TENSOR:
            result = make_tensor(self, rule, base, self.layouts)
        elif op == DECORATED:
            if rule.take[0] < 0:
                return self.child(rule, base, 1)
        elif op == NODE or op == NODE_LAST or op == VALUE or op == GRAPH:
            if op == NODE:
                result = make_node(self, rule, base, start, of_attributes=5, of_inputs=6)
            elif op == NODE_LAST:
                result = make_node(self, rule, base, start, of_attributes=6, of_inputs=5)
            elif op == VALUE:
                result = make_value_info(self, rule, base, start, self.layouts)
            else:
                result = make_graph_value(self, rule, base, start)
            self.last_offset = start
        return self._call(number, base, start) if result is None else result

    # ---- The values -------------------------------------------------------------------------

    cdef object _call(self, int number, Py_ssize_t base, Py_ssize_t offset):
        """Return the result of the rule's function; the machine records a semantic error."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef tuple taken = self.children(rule, base, tuple)
        function = self.grammar.functions[number]
        try:
            if rule.located:
                self.last_offset = offset
                return function(offset, *taken)
            return function(*taken)
        except self.grammar.semantic_error as error:
            self.depth = base - 1
            self.state_before_span = -1
            self.is_faulty = True
            result = self.machine.keep(error, self.grammar.reductions[number], offset, taken)
            self.has_error_nodes = self.machine.has_error_nodes
            return result

    cdef object _by_machine(self, int number, Py_ssize_t base, Py_ssize_t offset):
        """Return the value that the machine builds from children that may be error nodes."""
        cdef tuple taken = self.children(&self.grammar.rules[number], base, tuple)
        return self.machine.run_action(self.grammar.reductions[number], offset, taken)

    cdef object _build_cached(self, int number, Py_ssize_t base, Py_ssize_t start):
        """Build the value of a cached rule: natively, if possible, else by `_call`."""
        cdef Rule* rule = &self.grammar.rules[number]
        result = None
        if rule.op == ATTRIBUTE:
            result = make_attribute(self, rule, base)
        elif rule.op == COARSE_TYPE:
            result = make_coarse_type(self, base + rule.take[0])
        elif rule.op == TUPLE:
            result = tuple(<list?>self.child(rule, base, 0))
        return self._call(number, base, start) if result is None else result

    cdef object _cached_value(self, int number, Py_ssize_t base, Py_ssize_t start, Py_ssize_t end):
        """Return the value of a rule from a cache, or build and cache it.

        There are two caches, both by rule and text: `memo` for this text, and
        `Grammar.shared_values` for immutable values that `is_shareable` accepts, for several texts.
        A value that contains an offset (`last_offset >= start`) or an error (`is_faulty`) is not
        cached.
        """
        cdef Py_ssize_t first = start * self.width, size = (end - start) * self.width
        cdef uint64_t hash
        if not 0 < size <= MAX_CACHED_LENGTH:
            return self._build_cached(number, base, start)
        result = self.memo.find(number, first, size, &hash)
        if result is not None:
            return result
        key = None
        if self.lookups_left:
            self.lookups_left -= 1
            key = (number, PyUnicode_Substring(self.text, start, end))
            result = self.grammar.shared_values.get(key)
        if result is None:
            self.is_faulty = False
            result = self._build_cached(number, base, start)
            if self.last_offset >= start or self.is_faulty:
                return result
            if key is not None and is_shareable(result):
                self.grammar.shared_values[key] = result
        self.memo.store(hash, number, first, size, result)
        return result
