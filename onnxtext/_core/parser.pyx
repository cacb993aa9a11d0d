# SPDX-License-Identifier: Apache-2.0
"""The LALR(1) loop.

A `Parser` goes on for a `Machine` (`onnxtext.syntax.machine`) as long as nothing is wrong: it takes
the machine's stacks over, and gives them back before the first token that fits nowhere, for which
Python finds out what is wrong.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject_GenericSetAttr

from onnxtext._core.grammar cimport (
    INSIDE, LABEL, LATER, LIST_EMPTY, LIST_FIRST, LIST_MORE, NO_ACTION, NODE, NODES, PAIR, PASS,
    REMEMBER, STAYS, TEXT, UNIT, VALUE, Grammar, Rule,
)
from onnxtext._core.literals cimport Layout, read_literal
from onnxtext._core.scanner cimport END, LONG

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    object PyType_GenericAlloc(type, Py_ssize_t)

cdef enum:
    # What an entry of the stack holds: an object, or a part of the text that becomes one when
    # somebody asks for it. Other numbers are those of rules: what a LATER makes of its token.
    OBJECT = -1
    TOKEN = -2
    STRING = -3
    INNER = -4  # as STRING, without the first and the last character
    LONGEST_REMEMBERED = 200
    MOST_REMEMBERED = 1 << 16
    UNINTERRUPTED = 1 << 14
    SLACK = 64  # what empty rules may add to a stack before the next token

cdef tuple EMPTY = ()


@cython.final
cdef class Parser:
    """A parse in progress.

    Entry 0 of the stack is the start state alone; each other one a state and what led to it.
    """
    cdef Grammar grammar
    cdef object machine
    cdef str text
    cdef const void* data
    cdef int size
    cdef Py_ssize_t length
    cdef Py_ssize_t most, room, depth
    cdef int* states
    cdef int* forms
    cdef Py_ssize_t* starts
    cdef Py_ssize_t* ends
    cdef list values
    cdef Py_ssize_t start, end  # of the token at hand
    cdef Py_ssize_t placed  # the last offset that went into a value
    cdef bint has_holes
    cdef list remembered
    cdef dict layouts

    def __cinit__(self, Grammar grammar, machine, str text, Py_ssize_t most):
        """Start.

        Args:
            grammar: the tables.
            machine: whose stacks are taken over and given back.
            text: the text.
            most: how many states the stack may hold after a token.
        """
        cdef Py_ssize_t room
        self.grammar = grammar
        self.machine = machine
        self.text = text
        self.data = PyUnicode_DATA(text)
        self.size = PyUnicode_KIND(text)
        self.length = PyUnicode_GET_LENGTH(text)
        self.most = most
        self.room = room = most + SLACK
        self.states = <int*>PyMem_Malloc(room * sizeof(int))
        self.forms = <int*>PyMem_Malloc(room * sizeof(int))
        self.starts = <Py_ssize_t*>PyMem_Malloc(room * sizeof(Py_ssize_t))
        self.ends = <Py_ssize_t*>PyMem_Malloc(room * sizeof(Py_ssize_t))
        if self.states is NULL or self.forms is NULL or self.starts is NULL or self.ends is NULL:
            raise MemoryError
        self.values = [None] * room
        self.remembered = [None] * len(grammar.functions)
        self.layouts = {}

    def __dealloc__(self):
        PyMem_Free(self.states)
        PyMem_Free(self.forms)
        PyMem_Free(self.starts)
        PyMem_Free(self.ends)

    def advance(self, Py_ssize_t at):
        """Feed tokens to the machine as long as they fit.

        Args:
            at: the offset to begin at.

        Returns:
            The offset of the first token that was not fed, or the end of the text.
        """
        self._take_over()
        try:
            return self._run(at)
        finally:
            self._give_back()

    cdef _take_over(self):
        cdef list states = self.machine.states, values = self.machine.values
        cdef list where = self.machine.where
        cdef Py_ssize_t at
        if not len(values) == len(where) == len(states) - 1 < self.room:
            raise ValueError("stacks of different heights")
        self.depth = len(values)
        for at in range(len(states)):
            self.states[at] = states[at]
            if not 0 <= self.states[at] < self.grammar.states:
                raise ValueError("a state that is none")
        for at in range(self.depth):
            self.forms[at + 1] = OBJECT
            self.values[at + 1] = values[at]
            self.starts[at + 1] = where[at]
            self.ends[at + 1] = -1
        self.has_holes = self.machine.holes

    cdef _give_back(self):
        cdef Py_ssize_t at
        self.machine.states[:] = [self.states[at] for at in range(self.depth + 1)]
        self.machine.where[:] = [self.starts[at] for at in range(1, self.depth + 1)]
        self.machine.values[:] = [self._value(at) for at in range(1, self.depth + 1)]
        for at in range(self.room):
            self.values[at] = None

    # ---- The stack --------------------------------------------------------------------------

    cdef inline object _value(self, Py_ssize_t at):
        """What an entry holds."""
        cdef int form = self.forms[at]
        if form == OBJECT:
            return self.values[at]
        if form == INNER:
            return PyUnicode_Substring(self.text, self.starts[at] + 1, self.ends[at] - 1)
        text = PyUnicode_Substring(self.text, self.starts[at], self.ends[at])
        if form == STRING:
            return text
        token = self.grammar.token(text, self.starts[at])
        return token if form == TOKEN else self.grammar.functions[form](token)

    cdef inline object _child(self, Rule* rule, Py_ssize_t base, int number):
        return None if rule.take[number] < 0 else self._value(base + rule.take[number])

    cdef inline list _children(self, Rule* rule, Py_ssize_t base):
        cdef int number
        return [self._child(rule, base, number) for number in range(rule.count)]

    # ---- The loop ---------------------------------------------------------------------------

    cdef Py_ssize_t _run(self, Py_ssize_t at) except -1:
        cdef Grammar grammar = self.grammar
        cdef int kind, action, patience = UNINTERRUPTED
        while True:
            self.start = at
            kind = grammar.scanner.scan(self.size, self.data, self.length, &self.start, &self.end)
            token = None
            if kind == LONG:
                token, kind = grammar.read_token(self.text, self.start)
                if token is not None:
                    self.start = token.at
                    self.end = self.start + PyUnicode_GET_LENGTH(token)
            if kind < 0:
                return self.length if kind == END else self.start
            while True:
                action = grammar.actions[self.states[self.depth] * grammar.kinds + kind]
                if action >= 0:
                    break
                if action == NO_ACTION:
                    return self.start
                self._reduce(~action)
            if self.depth + 2 > self.most:
                return self.start
            self.depth += 1
            self.states[self.depth] = action
            self.starts[self.depth] = self.start
            self.ends[self.depth] = self.end
            self.forms[self.depth] = TOKEN
            if token is not None:
                self.forms[self.depth] = OBJECT
                self.values[self.depth] = token
            at = self.end
            patience -= 1
            if not patience:
                PyErr_CheckSignals()
                patience = UNINTERRUPTED

    cdef int _reduce(self, int number) except -1:
        """Replace a rule's symbols by its value."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef int op = rule.op, form = OBJECT
        cdef Py_ssize_t base = self.depth - rule.size + 1
        cdef Py_ssize_t start = self.start, end = self.start, first
        cdef object made = None
        if not 1 <= base < self.room:
            raise ValueError("a rule that takes more than there is")
        if op == UNIT:
            self.states[self.depth] = self._goto(self.depth - 1, rule)
            return 0
        if rule.size:
            start = self.starts[base]
            end = self.ends[self.depth]
        first = base + rule.take[0] if rule.count and rule.take[0] >= 0 else 0
        if self.has_holes:
            made = self._by_machine(number, base, start)
        elif op == TEXT and self.forms[first] == TOKEN:
            form = STRING
        elif op == INSIDE and self.forms[first] == TOKEN:
            form = INNER
        elif op == LATER and self.forms[first] == TOKEN:
            form = number
        elif op == STAYS and self.forms[first] >= 0:
            form = self.forms[first]
        elif op == PASS:
            made = self._value(first)
        elif op == LIST_EMPTY:
            made = []
        elif op == LIST_FIRST:
            made = [self._child(rule, base, 0)]
        elif op == LIST_MORE:
            made = self._value(first)
            (<list?>made).append(self._child(rule, base, 1))
        elif op == LABEL:
            made = self._value(first) if first else ""
        elif op == PAIR:
            made = (self._child(rule, base, 1), self._child(rule, base, 0))
        elif op == VALUE:
            made = self._value_info(number, base, start)
        elif op == NODE:
            made = self._node(number, base, start)
        elif op == NODES:
            made = self._nodes(number, base, start)
        elif op == REMEMBER:
            made = self._remember(number, base, start, end)
        else:
            made = self._call(number, base, start)
        self.depth = base
        self.states[base] = self._goto(base - 1, rule)
        self.forms[base] = form
        self.starts[base] = start
        self.ends[base] = end
        self.values[base] = made
        return 0

    cdef inline int _goto(self, Py_ssize_t at, Rule* rule) except -1:
        cdef Grammar grammar = self.grammar
        cdef int state = grammar.gotos[self.states[at] * grammar.origins + rule.origin]
        if state < 0:
            raise ValueError("a rule that leads nowhere")
        return state

    # ---- The values -------------------------------------------------------------------------

    cdef object _call(self, int number, Py_ssize_t base, Py_ssize_t at):
        """What the rule's function makes; what it finds wrong is kept by the machine."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef list taken = self._children(rule, base)
        function = self.grammar.functions[number]
        try:
            if rule.located:
                self.placed = at
                return function(at, *taken)
            return function(*taken)
        except self.grammar.fault as fault:
            self.depth = base - 1
            made = self.machine.keep(fault, self.grammar.reductions[number], at, taken)
            self.has_holes = self.machine.holes
            return made

    cdef object _by_machine(self, int number, Py_ssize_t base, Py_ssize_t at):
        """What the machine makes of children that may be holes."""
        cdef list taken = self._children(&self.grammar.rules[number], base)
        return self.machine.value(self.grammar.reductions[number], at, taken)

    cdef object _remember(self, int number, Py_ssize_t base, Py_ssize_t start, Py_ssize_t end):
        """A value that depends on the text alone: for equal texts it is made once."""
        cdef dict known = self.remembered[number]
        if not 0 < end - start <= LONGEST_REMEMBERED:
            return self._call(number, base, start)
        if known is None:
            known = self.remembered[number] = {}
        text = PyUnicode_Substring(self.text, start, end)
        made = known.get(text)
        if made is None:
            made = self._call(number, base, start)
            if self.placed < start and not self.has_holes:  # it holds no offset
                if len(known) >= MOST_REMEMBERED:
                    known.clear()
                known[text] = made
        return made

    cdef object _value_info(self, int number, Py_ssize_t base, Py_ssize_t at):
        """Of decorators, a type, a name and data; with fewer children the type and data lack."""
        cdef Rule* rule = &self.grammar.rules[number]
        cdef object type = None, data = None
        if rule.take[0] >= 0:
            return self._call(number, base, at)
        if rule.count > 2:
            type = self._child(rule, base, 1)
        if rule.count > 3:
            if rule.take[3] < 0:
                return self._call(number, base, at)
            data = self._tensor_data(type, base + rule.take[3])
            if data is None:
                return self._call(number, base, at)
        self.placed = at
        made = PyType_GenericAlloc(self.grammar.value_info, 0)
        made.name = self._child(rule, base, 1 if rule.count == 2 else 2)
        made.type = type
        made.data = data
        made.decorators = EMPTY
        made.metadata = EMPTY
        made.at = at
        return made

    cdef object _tensor_data(self, object type, Py_ssize_t entry):
        """What a short plain literal says; None if Python has to read it."""
        cdef Layout layout
        cdef bytes text
        if self.forms[entry] < 0:
            return None
        key = <Py_ssize_t><void*>type
        layout = self.layouts.get(key)
        if layout is None:
            layout = self.layouts[key] = self.grammar.layout(type)
        if not layout.kind:
            return None
        text = PyUnicode_Substring(self.text, self.starts[entry], self.ends[entry]).encode()
        data = read_literal(layout, text)
        if data is None:
            return None
        if text[0] == c"{":
            made = PyType_GenericAlloc(self.grammar.typed_data, 0)
            PyObject_GenericSetAttr(made, "entries", data)
        else:
            made = PyType_GenericAlloc(self.grammar.raw_data, 0)
            PyObject_GenericSetAttr(made, "data", data)
        return made

    cdef object _node(self, int number, Py_ssize_t base, Py_ssize_t at):
        """Of decorators, a label, outputs, an operator, an overload, attributes and inputs.

        Nodes with decorators or an overload, or with names left out, are made in Python.
        """
        cdef Rule* rule = &self.grammar.rules[number]
        cdef list outputs, operator, inputs
        cdef object types = EMPTY, attributes
        cdef bint typed = False
        if rule.take[0] >= 0 or rule.take[3] < 0 or rule.take[4] >= 0:
            return self._call(number, base, at)
        outputs = self._child(rule, base, 2)
        operator = self._child(rule, base, 3)
        inputs = self._child(rule, base, 6)
        if len(operator) > 2 or None in outputs or (None in inputs and len(inputs) > 1):
            return self._call(number, base, at)
        for output in outputs:
            if type(output) is tuple:
                typed = True
        if typed:
            types = tuple([output[1] if type(output) is tuple else None for output in outputs])
            outputs = [output[0] if type(output) is tuple else output for output in outputs]
        attributes = self._child(rule, base, 5)
        self.placed = at
        made = PyType_GenericAlloc(self.grammar.node, 0)
        made.op_type = operator[len(operator) - 1]
        made.inputs = EMPTY if inputs[0] is None else tuple(inputs)
        made.outputs = tuple(outputs)
        made.attributes = EMPTY if attributes is None else tuple(attributes)
        made.name = self._child(rule, base, 1)
        made.domain = operator[0] if len(operator) == 2 else None
        made.overload = None
        made.output_types = types
        made.decorators = EMPTY
        made.metadata = EMPTY
        made.at = at
        return made

    cdef object _nodes(self, int number, Py_ssize_t base, Py_ssize_t at):
        """A list with its next node, unless Python has to look at that."""
        cdef Rule* rule = &self.grammar.rules[number]
        node = self._child(rule, base, 1)
        if type(node.outputs) is not tuple:
            return self._call(number, base, at)
        made = self._child(rule, base, 0)
        (<list?>made).append(node)
        return made
