# SPDX-License-Identifier: Apache-2.0
"""Build attributes, and parse their numbers and flat lists of numbers."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from onnxtext._core.ast.slots cimport ATTRIBUTE, build, make_float32
from onnxtext._core.syntax.grammar cimport INNER_BYTES, OBJECT, SPAN, Rule
from onnxtext._core.syntax.stack cimport Entry, Stack
from onnxtext._core.tensor.parse_literals cimport (
    SIGNAL_INTERVAL, Layout, Reader, after_blanks, is_blank, is_digit, read_element,
)

from onnxtext.ast.tensors_and_attributes import AttributeType, Float32, Floats
from onnxtext.syntax.actions.attributes import CLASSES, LIST_OF

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    object PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)

cdef object A_FLOAT = AttributeType.FLOAT, A_FLOATS = AttributeType.FLOATS
cdef object AN_INT = AttributeType.INT, INTS = AttributeType.INTS
cdef dict KINDS = CLASSES, LISTS = LIST_OF
cdef Layout INT64 = Layout(None, "int", 64, 0, None, ())
cdef Layout FLOAT32 = Layout(None, "float", 32, 23, None, ())


cdef object make_attribute(Stack stack, Rule* rule, Py_ssize_t base):
    """Build an attribute from its name, an optional type and its value; None for rare forms."""
    if rule.take[0] >= 0 or rule.count != 4:
        return None
    cdef Entry* entry = &stack.entries[base + rule.take[3]]
    name, kind = stack.child(rule, base, 1), stack.child(rule, base, 2)
    value = found = None
    if entry.form == OBJECT or entry.form == INNER_BYTES:
        value = stack.child(rule, base, 3)
        found = KINDS.get(type(value))
        if type(value) is list and value:
            found = KINDS.get(type((<list>value)[0]))
            for item in <list>value:
                if KINDS.get(type(item)) is not found:
                    return None
            value = tuple(<list>value)
            found, kind = LISTS.get(found), LISTS.get(kind, kind)
        if found is None or (kind is not None and kind is not found):
            return None
    elif entry.form >= 0 and stack.grammar.rules[entry.form].op == SPAN and entry.end > entry.start:
        value = numbers_of(stack, entry, kind)
        if value is None:
            return None
        found = (
            A_FLOAT if type(value) is Float32 else AN_INT if type(value) is int
            else A_FLOATS if type(value) is Floats else INTS
        )
    if found is None or type(name) is not str:
        return None
    return build(ATTRIBUTE, (name, found, value, ()))


cdef object numbers_of(Stack stack, Entry* entry, kind):
    """Return the number or list of an attribute; None if Python must read it.

    `kind` is the declared type of the attribute; None if it has none.
    """
    cdef bytes copy
    cdef const char* text
    cdef bint is_list
    cdef char first = 0
    if PyUnicode_KIND(stack.text) == 1:
        text = <const char*>PyUnicode_DATA(stack.text) + entry.start
    else:
        copy = PyUnicode_Substring(stack.text, entry.start, entry.end).encode()
        text = PyBytes_AS_STRING(copy)
    is_list = text[0] == c"["
    if kind is not None:
        if kind is AN_INT or (is_list and kind is INTS):
            first = c"i"
        elif kind is A_FLOAT or (is_list and kind is A_FLOATS):
            first = c"f"
        else:
            return None
    return read_number(text, entry.end - entry.start, first)


cdef object read_number(const char* text, Py_ssize_t size, char kind):
    """Parse a number, or a flat list of numbers; return None for rare forms, which Python reads.

    Args:
        text: the literal, in a zero-terminated text.
        size: its size in bytes.
        kind: `i` for integers, `f` for floats; 0 to infer it from the first number.
    """
    cdef Reader reader
    cdef Layout layout
    cdef bint is_list = text[0] == c"["
    cdef const char* cursor = after_blanks(text + is_list)
    cdef const char* end = text + size - is_list
    cdef const char* next = cursor
    cdef const char* last = end - 1
    cdef bint has_comma  # whether a comma follows the last item
    cdef Py_ssize_t count = 1, index
    cdef int64_t integer = 0
    cdef bytes result = None
    if end <= cursor:
        return None
    if not kind:
        next += next[0] == c"-"
        while is_digit(next[0]):
            next += 1
        next = after_blanks(next)
        kind = c"i" if next >= end or next[0] == c"," else c"f"
    for index in range(size if is_list else 0):
        count += text[index] == c","
    while last > cursor and is_blank(last[0]):
        last -= 1
    has_comma = is_list and last[0] == c","
    count -= has_comma
    layout = INT64 if kind == c"i" else FLOAT32
    reader.at = cursor
    reader.out = <char*>&integer
    if is_list:
        result = PyBytes_FromStringAndSize(NULL, count * layout.width)
        reader.out = PyBytes_AS_STRING(result)
    reader.countdown = SIGNAL_INTERVAL
    reader.in_braces = False
    for index in range(count):
        if index:
            if reader.at[0] != c",":
                return None
            reader.at = after_blanks(reader.at + 1)
        if not read_element(layout, &reader):
            return None
        if is_list:
            reader.at = after_blanks(reader.at)
    if has_comma and reader.at[0] == c",":
        reader.at = after_blanks(reader.at + 1)
    if reader.at != end or (is_list and end[0] != c"]"):
        return None
    if not is_list:
        return integer if kind == c"i" else make_float32(<uint32_t>integer)
    if kind == c"f":
        return Floats(result)
    integers = []
    for index in range(count):
        memcpy(&integer, PyBytes_AS_STRING(result) + 8 * index, 8)
        integers.append(integer)
    return tuple(integers)
