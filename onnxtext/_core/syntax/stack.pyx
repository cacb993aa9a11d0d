# SPDX-License-Identifier: Apache-2.0
"""The LALR stack: states, and the symbols that led to them.

`Entry.form` describes the value of an entry:

- OBJECT: `values` has it.
- another negative form: a span of the text, which `Stack.value` converts.
- 0 or more: the number of the LAZY_TOKEN or LAZY_OBJECT rule whose function makes it.
"""
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from onnxtext._core.syntax.grammar cimport (
    DOTTED, INNER, INNER_BYTES, LAZY_OBJECT, OBJECT, ONE_INNER, ONE_STRING, RECENT_BITS,
    STRING, TOKEN,
)
from onnxtext._core.ast.slots cimport new_tuple, put

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        object (*tp_new)(type, tuple, void*)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    object PyBytes_FromStringAndSize(const char*, Py_ssize_t)
    bint PyUnicode_IS_ASCII(object)
    int PyUnicode_KIND(object)
    unsigned int PyUnicode_READ(int, void*, Py_ssize_t)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)


cdef class Stack:
    def __cinit__(self, Grammar grammar, machine, str text, max_depth):
        """Create the stack.

        Args:
            grammar: the tables.
            machine: not used; Cython passes the arguments of `LalrLoop` here, too.
            text: the text.
            max_depth: not used, like `machine`.
        """
        self.grammar = grammar
        self.text = text
        self.grow(1)

    def __dealloc__(self):
        PyMem_Free(self.entries)

    cdef int grow(self, Py_ssize_t depth) except -1:
        """Make room for `depth` entries, and for those that empty rules add after them."""
        cdef Py_ssize_t room = self.room or INITIAL_ROOM
        cdef Entry* entries
        while room < depth + SLACK:
            room *= 2
        if room > self.room:
            entries = <Entry*>PyMem_Realloc(self.entries, room * sizeof(Entry))
            if entries is NULL:
                raise MemoryError
            self.entries = entries
            more = [None] * (room - self.room)
            self.values = self.values + more if self.room else more
            self.room = room
        return 0

    cdef object span(self, Py_ssize_t start, Py_ssize_t end):
        """Return a span of the text. Equal spans near each other share one string."""
        cdef Py_ssize_t slot, size = end - start
        cdef const char* data
        cdef uint64_t word = 0
        if not 2 <= size <= 64 or end < 8 or PyUnicode_KIND(self.text) != 1:
            return PyUnicode_Substring(self.text, start, end)
        data = <const char*>PyUnicode_DATA(self.text) + start
        memcpy(&word, data + size - 8, 8)
        if size < 8:
            word >>= 8 * (8 - size)
        slot = (word ^ <uint64_t>size) * 0x9E3779B97F4A7C15ULL >> (64 - RECENT_BITS)
        found = self.grammar.recent[slot]
        if (
            PyUnicode_GET_LENGTH(found) != size or PyUnicode_KIND(found) != 1
            or memcmp(PyUnicode_DATA(found), data, size)
        ):
            self.grammar.recent[slot] = found = PyUnicode_Substring(self.text, start, end)
        return found

    cdef object token(self, Py_ssize_t start, Py_ssize_t end):
        """Return a span of the text as a token."""
        text = PyUnicode_Substring(self.text, start, end)
        result = (<PyTypeObject*>str).tp_new(<type>self.grammar.token, (text,), NULL)
        put(result, self.grammar.token_at, start)
        put(result, self.grammar.token_kind, "")
        return result

    cdef object value(self, Py_ssize_t index):
        """Return the value of an entry."""
        cdef Entry* entry = &self.entries[index]
        cdef int form = entry.form
        if form == OBJECT:
            return self.values[index]
        if form >= 0 and self.grammar.rules[form].op == LAZY_OBJECT:
            return self.grammar.functions[form](self.values[index])
        if form == INNER or form == STRING:
            return self.span(entry.start + (form == INNER), entry.end - (form == INNER))
        if form == INNER_BYTES:
            return self._inner_bytes(entry)
        if form == ONE_INNER or form == ONE_STRING:
            return [self.span(entry.start + (form == ONE_INNER), entry.end - (form == ONE_INNER))]
        if form == DOTTED:
            return PyUnicode_Substring(self.text, entry.start, entry.end).split(".")
        token = self.token(entry.start, entry.end)
        return token if form == TOKEN else self.grammar.functions[form](token)

    cdef bytes _inner_bytes(self, Entry* entry):
        """Return a string token without its quotes, in UTF-8."""
        cdef Py_ssize_t start = entry.start + 1, end = entry.end - 1
        if PyUnicode_IS_ASCII(self.text):
            return PyBytes_FromStringAndSize(
                <const char*>PyUnicode_DATA(self.text) + start, end - start
            )
        return bytes_of(PyUnicode_Substring(self.text, start, end))

    cdef tuple dotted(self, Py_ssize_t index):
        """Split an entry of the form DOTTED at its last dot into (domain, (operator,))."""
        cdef Entry* entry = &self.entries[index]
        cdef int kind = PyUnicode_KIND(self.text)
        cdef void* data = PyUnicode_DATA(self.text)
        cdef Py_ssize_t dot = entry.end - 1
        while PyUnicode_READ(kind, data, dot) != c".":
            dot -= 1
        return self.span(entry.start, dot), (self.span(dot + 1, entry.end),)

    cdef object child(self, Rule* rule, Py_ssize_t base, int number):
        """Return child `number` of a rule; None if the child is absent.

        `base` is the index of the entry of the rule's first symbol.
        """
        return None if rule.take[number] < 0 else self.value(base + rule.take[number])

    cdef tuple children(self, Rule* rule, Py_ssize_t base, type kind):
        """Return all children of a rule in a `tuple`, or in the subclass `kind` of it."""
        cdef int number
        result = new_tuple(kind, rule.count)
        for number in range(rule.count):
            item = self.child(rule, base, number)
            Py_INCREF(item)
            PyTuple_SET_ITEM(result, number, item)
        return <tuple>result


cdef bytes bytes_of(str text):
    """Encode a string value as UTF-8; a surrogate stands for a byte that is not UTF-8."""
    return text.encode("utf-8", "surrogateescape")
