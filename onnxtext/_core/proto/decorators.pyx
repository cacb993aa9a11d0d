# SPDX-License-Identifier: Apache-2.0
"""Read the decorators that models often have: the common part of `proto.encode.decorators`."""
from onnxtext._core.ast.slots cimport DECORATOR, FIELD, OF_DECORATOR, OF_FIELD, build, get

from onnxtext.ast.records import Decorator, Field, Word

DEFAULT_LOCATION = Decorator("set", (Field("data_location", Word("DEFAULT")),))


cdef class Decorations:
    pass


cdef Decorations decorations_of(decorators):
    """Return the fields that decorators add; None if one is rare, or two have the same name."""
    cdef Decorations result = Decorations()
    cdef str name
    for decorator in decorators:
        if type(decorator) is not DECORATOR:
            return None
        name = get(decorator, OF_DECORATOR.name)
        if name == "doc" and result.doc is None:
            result.doc = text_argument(decorator)
            if result.doc is None:
                return None
        elif name == "type.denotation" and result.denotation is None:
            result.denotation = text_argument(decorator)
            if result.denotation is None:
                return None
        elif name == "meta" and result.entries is None:
            result.entries = get(decorator, OF_DECORATOR.arguments)
            for argument in result.entries:
                if type(argument.key) is not str or type(argument.value) is not bytes:
                    return None
        elif name == "set" and not result.is_located and decorator == DEFAULT_LOCATION:
            result.is_located = True
        else:
            return None
    return result


cdef bytes text_argument(decorator):
    """Return the only argument of a decorator if it is a string without a key; otherwise None."""
    cdef tuple arguments
    if type(decorator) is not DECORATOR:
        return None
    arguments = get(decorator, OF_DECORATOR.arguments)
    if len(arguments) != 1 or type(arguments[0]) is not FIELD:
        return None
    argument = arguments[0]
    value = get(argument, OF_FIELD.value)
    return value if get(argument, OF_FIELD.key) is None and type(value) is bytes else None


cdef object text_decorator(str name, bytes text):
    """Return a decorator with this text as its only argument, such as `@doc("…")`."""
    return build(DECORATOR, (name, (build(FIELD, (None, text)),)))
