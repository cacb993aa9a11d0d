# SPDX-License-Identifier: Apache-2.0
"""Print types and short decorators.

Functions return False, with incomplete output, for rare forms, which are printed in Python.
"""
from onnxtext._core.ast.slots cimport (
    DECORATED_DIM, MAP, OF_TENSOR_TYPE, OPTIONAL, SEQUENCE, SPARSE_TYPE, TENSOR_TYPE, get,
)
from onnxtext._core.printer.text cimport Text
from onnxtext._core.proto.decorators cimport text_argument

from onnxtext.printer.statement_layout import DECORATOR_WIDTH

cdef enum:
    DEEPEST = 16  # types that are nested deeper are printed in Python

cdef int SHORT = DECORATOR_WIDTH


cdef bint add_type(Text out, kind, int depth) except -1:
    """Print a type without its own decorators; `depth` types enclose it."""
    cdef type cls = type(kind)
    if cls is TENSOR_TYPE:
        return add_tensor_type(
            out, get(kind, OF_TENSOR_TYPE.element), get(kind, OF_TENSOR_TYPE.shape)
        )
    if depth > DEEPEST:
        return False
    if cls is SPARSE_TYPE:
        out.add(b"sparse_tensor(", 14)
        return add_tensor_type(out, kind.element, kind.shape) and not out.character(c")")
    if cls is MAP:
        out.add(b"map(", 4)
        out.text(kind.key)
        out.add(b", ", 2)
        inner = kind.value
    elif cls is SEQUENCE or cls is OPTIONAL:
        out.text("seq(" if cls is SEQUENCE else "optional(")
        inner = kind.element
    else:
        return False
    if not add_decorators(out, inner.decorators, 0) or not add_type(out, inner, depth + 1):
        return False
    return not out.character(c")")


cdef bint add_tensor_type(Text out, element, shape) except -1:
    out.text(element)
    if shape is None:
        return not out.add(b"[]", 2)
    if not shape:
        return True
    out.character(c"[")
    for dim in shape:
        if type(dim) is DECORATED_DIM:
            if not add_decorators(out, dim.decorators, 0):
                return False
            dim = dim.value
        if type(dim) is int:
            out.integer(dim)
        elif type(dim) is str:
            out.word(dim)
        elif dim is None:
            out.character(c"?")
        else:
            return False
        out.add(b", ", 2)
    out.size -= 1
    out.data[out.size - 1] = c"]"
    return True


cdef bint add_decorators(Text out, decorators, int indent) except -1:
    """Print decorators, and a space after each; return False unless each has one short string."""
    for decorator in decorators:
        value = text_argument(decorator)
        if value is None or len(value) > SHORT:
            return False
        out.character(c"@")
        out.text(decorator.name)
        out.character(c"(")
        out.bytes_string(value, indent)
        out.add(b") ", 2)
    return True
