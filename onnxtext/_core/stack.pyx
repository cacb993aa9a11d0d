# SPDX-License-Identifier: Apache-2.0
"""The LALR stack: states, and the symbols that led to them."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc

from onnxtext._core.grammar cimport DEFER, INNER, OBJECT, ONE_INNER, ONE_STRING, STRING, TOKEN

cdef extern from "Python.h":
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)


cdef class Stack:
    def __cinit__(self, Grammar grammar, machine, str text, Py_ssize_t most):
        """Create the stack.

        Args:
            grammar: the tables.
            machine: the machine that owns the stacks between calls.
            text: the text.
            most: the maximum number of states after a token.
        """
        self.grammar = grammar
        self.text = text
        self.room = most + SLACK
        self.entries = <Entry*>PyMem_Malloc(self.room * sizeof(Entry))
        if self.entries is NULL:
            raise MemoryError
        self.values = [None] * self.room

    def __dealloc__(self):
        PyMem_Free(self.entries)

    cdef object value(self, Py_ssize_t at):
        """Return the value of an entry."""
        cdef Entry* entry = &self.entries[at]
        cdef int form = entry.form
        if form == OBJECT:
            return self.values[at]
        if form >= 0 and self.grammar.rules[form].op == DEFER:
            return self.grammar.functions[form](self.values[at])
        if form == INNER:
            return PyUnicode_Substring(self.text, entry.start + 1, entry.end - 1)
        if form == ONE_INNER:
            return [PyUnicode_Substring(self.text, entry.start + 1, entry.end - 1)]
        text = PyUnicode_Substring(self.text, entry.start, entry.end)
        if form == STRING:
            return text
        if form == ONE_STRING:
            return [text]
        token = self.grammar.token(text, entry.start)
        return token if form == TOKEN else self.grammar.functions[form](token)

    cdef object child(self, Rule* rule, Py_ssize_t base, int number):
        """Return a child of a rule whose first symbol is at `base`; None if it is absent."""
        return None if rule.take[number] < 0 else self.value(base + rule.take[number])

    cdef list children(self, Rule* rule, Py_ssize_t base):
        """Return all children of a rule."""
        cdef int number
        return [self.child(rule, base, number) for number in range(rule.count)]
