# SPDX-License-Identifier: Apache-2.0
"""Parser actions for strings, types and decorators: the compiled part of `onnxtext.syntax.actions`."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcmp, memcpy, memset

from onnxtext._core.proto.decode_types cimport new_tensor_type
from onnxtext._core.tensor.parse_literals cimport after_blanks, is_digit
from onnxtext._core.syntax.grammar cimport TOKEN
from onnxtext._core.syntax.stack cimport Entry, Stack
from onnxtext._core.ast.slots cimport (
    DECORATED_DIM, DECORATOR, FIELD, MAP, OF_TENSOR_TYPE, OPTIONAL, SEQUENCE, SPARSE_TYPE,
    TENSOR_TYPE, build, get, make_data, slot_of,
)

from onnxtext.ast.tensors_and_attributes import Blob
from onnxtext.syntax.actions.attribute_values import blob as python_blob
from onnxtext.syntax.actions.integers import int64
from onnxtext.syntax.actions.resources import long_resource as python_long_resource
from onnxtext.syntax.actions.strings import triple as python_triple
from onnxtext.syntax.actions.types import container_type as python_container_type

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    str PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    object PyUnicode_DecodeLatin1(const char*, Py_ssize_t, const char*)

cdef enum:
    LONG = 1 << 16  # Python reads longer resources: it copies them less often
    BLANK = 64
    OTHER = 65

cdef type BLOB = Blob
cdef Py_ssize_t OF_BLOB = slot_of(Blob, "digest")
cdef uint8_t[256] BASE64
memset(BASE64, OTHER, 256)
for _index, _digit in enumerate(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
):
    BASE64[ord(_digit)] = _index
BASE64[c" "] = BASE64[c"\n"] = BLANK


def decorator(opening, fields):
    """Return the decorator for `@name(arguments)`; `opening` is the token `@name(`."""
    return build(DECORATOR, (opening[1:-1], tuple(fields)))


def positional_field(value):
    """Return the field for an argument of a decorator that has no key, as in `@doc("text")`."""
    return build(FIELD, (None, value))


def named_dim(decorators, value):
    """Return a dimension with its decorators."""
    return build(DECORATED_DIM, (value, tuple(decorators))) if decorators else value


def sized_dim(decorators, token):
    """Return the dimension for a size, with its decorators."""
    is_short = len(token) < 18 and token.isdigit()
    return named_dim(decorators, int(token) if is_short else int64(token))


def fine_type(element, shape):
    """Return the tensor type for an element type and dimensions that are separate tokens."""
    return new_tensor_type(str(element), shape)


def container_type(name, list arguments):
    """Return the type for `seq(…)`, `map(…)` or others; Python handles rare types and errors."""
    first, last = arguments[0], arguments[len(arguments) - 1]
    if type(first) is TENSOR_TYPE and type(last) is TENSOR_TYPE:
        element, shape = get(first, OF_TENSOR_TYPE.element), get(first, OF_TENSOR_TYPE.shape)
        decorators = get(first, OF_TENSOR_TYPE.decorators)
        if len(arguments) == 2:
            if name == "map" and shape == () and not decorators:
                return build(MAP, (element, last, ()))
        elif len(arguments) == 1:  # equal arguments are the same object: their texts are cached
            if name == "seq" or name == "optional":
                return build(SEQUENCE if name == "seq" else OPTIONAL, (last, ()))
            if name == "sparse_tensor":
                return build(SPARSE_TYPE, (element, shape, decorators))
    return python_container_type(name, arguments)


def triple(token):
    '''Return the value of a string in triple quotes; Python reads rare forms.'''
    cdef const char* data
    cdef const char* line
    cdef const char* stop
    cdef const char* last
    cdef Py_ssize_t end, indent, size
    cdef char* result
    cdef char* cursor
    if not isinstance(token, str):
        raise TypeError("expected a str")
    end = PyUnicode_GET_LENGTH(token) - 3
    if PyUnicode_KIND(token) != 1 or end < 4:
        return python_triple(token)
    data = <const char*>PyUnicode_DATA(token)
    line = <const char*>memchr(data, c"\n", end)
    if line is NULL or not is_blank(data + 3, line):
        return python_triple(token)
    if memchr(data, c"\r", end) is not NULL:
        return python_triple(token)
    last = data + end
    while last[-1] != c"\n":
        last -= 1
    if not is_blank(last, data + end):
        return python_triple(token)
    indent = data + end - last
    last -= 1  # the last line break
    if line == last:
        return ""
    result = <char*>PyMem_Malloc(last - line)
    if result is NULL:
        raise MemoryError
    cursor = result
    try:
        while line < last:
            line += 1
            stop = <const char*>memchr(line, c"\n", last + 1 - line)
            size = stop - line
            if size >= indent and memcmp(line, last + 1, indent) == 0:
                memcpy(cursor, line + indent, size - indent)
                cursor += size - indent
            elif not is_blank(line, stop):
                return python_triple(token)
            cursor[0] = c"\n"
            cursor += 1
            line = stop
        size = unescape(result, cursor - 1 - result)
        return python_triple(token) if size < 0 else PyUnicode_DecodeLatin1(result, size, NULL)
    finally:
        PyMem_Free(result)


def blob(token):
    """Return the reference for `blob"9f2c…"`; Python reports a wrong number of digits."""
    if not isinstance(token, str) or not 16 <= len(token) - 6 <= 64:
        return python_blob(token)
    return make_data(BLOB, OF_BLOB, token[5 : len(token) - 1])


def long_resource(digest, encoding, token):
    """Return the digest and the bytes of a short resource; Python reads all others."""
    cdef Py_ssize_t index = 3, end = len(token) - 3, count = 0, pads
    cdef const uint8_t* data
    cdef uint32_t bits = 0, code
    cdef char* cursor
    if (
        encoding != "base64" or not is_digest(digest) or end > LONG
        or not isinstance(token, str) or PyUnicode_KIND(token) != 1
    ):
        return python_long_resource(digest, encoding, token)
    data = <const uint8_t*>PyUnicode_DATA(token)
    while index < end and data[index] == c" ":
        index += 1
    if index >= end or data[index] != c"\n":
        return python_long_resource(digest, encoding, token)
    result = PyBytes_FromStringAndSize(NULL, end)
    cursor = PyBytes_AS_STRING(result)
    while index < end:
        code = BASE64[data[index]]
        if code < BLANK:
            bits = bits << 6 | code
            count += 1
            if not count & 3:
                cursor[0], cursor[1], cursor[2] = bits >> 16, bits >> 8, bits
                cursor += 3
        elif code != BLANK:
            break
        index += 1
    pads = -count & 3
    if pads:
        bits <<= 6 * pads
        cursor[0], cursor[1] = bits >> 16, bits >> 8
        cursor += 3 - pads
    while index < end and pads and data[index] == c"=":
        index += 1
        pads -= 1
    while index < end and BASE64[data[index]] == BLANK:
        index += 1
    if pads or index < end or count & 3 == 1:
        return python_long_resource(digest, encoding, token)
    return digest, result[: cursor - PyBytes_AS_STRING(result)]


cdef bint is_digest(text) except -1:
    """Whether a text has 16 to 64 hexadecimal digits in lower case."""
    cdef Py_ssize_t index, size = PyUnicode_GET_LENGTH(<str?>text)
    cdef const uint8_t* data = <const uint8_t*>PyUnicode_DATA(text)
    if PyUnicode_KIND(text) != 1 or not 16 <= size <= 64:
        return False
    for index in range(size):
        if not (c"0" <= data[index] <= c"9" or c"a" <= data[index] <= c"f"):
            return False
    return True


cdef object make_coarse_type(Stack stack, Py_ssize_t place):
    """Build the tensor type for a token such as `float[N, 3]`; None for rare forms and errors."""
    cdef Entry* entry = &stack.entries[place]
    cdef const char *data, *cursor, *first
    cdef Py_ssize_t bracket, size = entry.end - entry.start
    cdef int64_t number
    cdef list dims = []
    cdef str text = stack.text
    if entry.form != TOKEN or size <= 0:
        return None
    data = <const char*>PyUnicode_DATA(text)  # the text ends in a zero byte
    if PyUnicode_KIND(text) == 1:
        data += entry.start
    else:
        text = PyUnicode_Substring(text, entry.start, entry.end)
        if PyUnicode_KIND(text) != 1:
            return None
        data = <const char*>PyUnicode_DATA(text)
    cursor = <const char*>memchr(data, c"[", size)
    if cursor is NULL:
        return None
    bracket = cursor - data
    while cursor[0] == c"[" or cursor[0] == c",":
        first = cursor = after_blanks(cursor + 1)
        if cursor[0] == c"?":
            dims.append(None)
            cursor += 1
        elif is_digit(cursor[0]):
            number = 0
            while is_digit(cursor[0]) and cursor - first < 18:
                number = 10 * number + (cursor[0] - c"0")
                cursor += 1
            dims.append(number)
        else:
            while cursor[0] == c"_" or is_digit(cursor[0]) or c"a" <= cursor[0] | 32 <= c"z":
                cursor += 1
            if cursor == first:
                return None
            dims.append(PyUnicode_DecodeLatin1(first, cursor - first, NULL))
        cursor = after_blanks(cursor)
    if cursor[0] != c"]" or cursor + 1 != data + size:
        return None
    return new_tensor_type(PyUnicode_DecodeLatin1(data, bracket, NULL), tuple(dims))


cdef Py_ssize_t unescape(char* text, Py_ssize_t size) noexcept:
    """Replace escapes of one character in place; return the new size, -1 for other escapes."""
    cdef Py_ssize_t offset = 0, end = 0
    cdef char found
    while offset < size:
        found = text[offset]
        offset += 1
        if found == c"\\":
            if offset == size:
                return -1
            found = text[offset]
            offset += 1
            if found == c"n":
                found = c"\n"
            elif found == c"t":
                found = c"\t"
            elif found == c"r":
                found = c"\r"
            elif found != c"\\" and found != c'"':
                return -1
        text[end] = found
        end += 1
    return end


cdef inline bint is_blank(const char* cursor, const char* end) noexcept:
    """Whether all characters from `cursor` to `end` are spaces or tabs."""
    while cursor < end:
        if cursor[0] != c" " and cursor[0] != c"\t":
            return False
        cursor += 1
    return True
