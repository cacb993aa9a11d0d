# SPDX-License-Identifier: Apache-2.0
"""Scan tokens with the DFA of `onnxtext.syntax.grammar.scanner_tables`."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)

ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t


cdef Py_ssize_t LIMIT = 4096  # Python reads longer comments, and longer tokens except lists
cdef int DEEPEST = 100  # nested brackets; the Python lexer reads deeper ones

SPECIAL_KINDS = {
    "END": END, "BAD": BAD, "LONG": LONG, "IGNORED": IGNORED, "NOT_ACCEPTING": NOT_ACCEPTING,
}


cdef class Scanner:
    """The tables of the DFA, validated, so that the scanner needs no bounds checks."""

    def __cinit__(self, list classes, bytes moves, list accepts, int nested):
        """Copy the tables.

        Args:
            classes: the character class of each ASCII character, then the class of all others.
            moves: the transitions of each state as little-endian 16-bit integers.
                (The core runs only on little-endian machines, see `select_core`.)
            accepts: for each state, a terminal number or a special result.
            nested: the terminal of nested lists, whose token ends at the matching bracket.
        """
        cdef Py_ssize_t states = len(accepts), index
        cdef int state, column
        self.width = max(classes) + 1
        self.nested = nested
        if len(classes) != 129 or min(classes) < 0 or not states or states >= 1 << 15:
            raise ValueError("invalid token tables")
        if len(moves) != states * self.width * 2:
            raise ValueError("invalid token tables")
        for index in range(256):
            self.classes[index] = classes[min(index, 128)]
        self.moves = <int16_t*>PyMem_Malloc(len(moves))
        self.accepts = <int16_t*>PyMem_Malloc(states * sizeof(int16_t))
        self.loops = <uint8_t*>PyMem_Malloc(states * 256)
        if self.moves is NULL or self.accepts is NULL or self.loops is NULL:
            raise MemoryError
        memcpy(self.moves, <const char*>moves, len(moves))
        for index in range(states * self.width):
            if not -1 <= self.moves[index] < states:
                raise ValueError("invalid token tables")
        for index in range(states):
            self.accepts[index] = accepts[index]
        for state in range(states):
            for column in range(256):
                self.loops[state * 256 + column] = (
                    column != c"[" and column != c"]"
                    and self.moves[state * self.width + self.classes[column]] == state
                )

    def __dealloc__(self):
        PyMem_Free(self.moves)
        PyMem_Free(self.accepts)
        PyMem_Free(self.loops)

    cdef int scan(
        self, int size, const void* text, Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* end
    ) noexcept:
        """Find the next token.

        Args:
            size: the bytes per character: 1, 2 or 4.
            text: the characters.
            length: the number of characters.
            start: the start offset; set to the start of the token.
            end: set to the end of the token.

        Returns:
            The number of its terminal, or END, BAD or LONG.
        """
        if size == 1:
            return find_token(self, <const uint8_t*>text, length, start, end)
        if size == 2:
            return find_token(self, <const uint16_t*>text, length, start, end)
        return find_token(self, <const uint32_t*>text, length, start, end)

    def tokens(self, str text):
        """Return (terminal, start, end) of each token, and the offset where the core stops."""
        cdef Py_ssize_t start = 0, end = 0
        cdef int kind
        result = []
        while True:
            kind = self.scan(PyUnicode_KIND(text), PyUnicode_DATA(text), len(text), &start, &end)
            if kind < 0:
                return result, start
            result.append((kind, start, end))
            start = end


cdef inline uint8_t column_of(Character character) noexcept nogil:
    """Return an index at which `classes` has the class of a character."""
    if Character is uint8_t:
        return character
    else:
        return <uint8_t>(character if character < 128 else 128)


cdef int find_token(
    Scanner tables, const Character* text, Py_ssize_t length, Py_ssize_t* start, Py_ssize_t* end
) noexcept:
    """Find the next token, as `Scanner.scan` does: the longest match of the DFA.

    The DFA runs until it has no transition; the token ends at its last accepting state.
    """
    cdef const int16_t* moves = tables.moves
    cdef const int16_t* accepts = tables.accepts
    cdef const uint8_t* classes = tables.classes
    cdef const uint8_t* loop
    cdef int width = tables.width
    cdef Py_ssize_t offset, stop
    cdef int state, result, depth
    cdef bint is_nested
    while True:  # skip whitespace and comments
        offset = start[0]
        if offset >= length:
            return END
        is_nested = text[offset] == c"["
        # Python reads long tokens, except lists in brackets or braces.
        stop = length if is_nested or text[offset] == c"{" else min(length, offset + LIMIT)
        state = depth = 0
        result = BAD
        if is_nested:
            # Nested brackets are not regular; find the matching one.
            while offset < stop:
                state = moves[state * width + classes[column_of(text[offset])]]
                if state < 0:
                    break
                depth += (text[offset] == c"[") - (text[offset] == c"]")
                if depth > DEEPEST:
                    return LONG
                offset += 1
                if accepts[state] >= 0 and (depth == 0 or accepts[state] != tables.nested):
                    result = accepts[state]
                    end[0] = offset
                if depth == 0:
                    break
                loop = tables.loops + state * 256
                while offset < stop and loop[column_of(text[offset])]:
                    offset += 1
        else:
            while offset < stop:
                state = moves[state * width + classes[column_of(text[offset])]]
                if state < 0:
                    break
                offset += 1
                loop = tables.loops + state * 256
                while offset < stop and loop[column_of(text[offset])]:
                    offset += 1
                if accepts[state] != NOT_ACCEPTING:
                    result = accepts[state]
                    end[0] = offset
        if offset == stop < length and state >= 0 and not (is_nested and depth == 0):
            return LONG
        if result != IGNORED:
            return result
        start[0] = end[0]
