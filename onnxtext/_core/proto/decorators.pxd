# SPDX-License-Identifier: Apache-2.0

cdef object DEFAULT_LOCATION  # `@set(data_location: DEFAULT)`

cdef class Decorations:
    """The fields that the decorators of a value add to its message.

    Attributes:
        doc: the doc string; None if there is none.
        denotation: the denotation of the type; None if there is none.
        entries: the arguments of `@meta`.
        is_located: whether the message stores `data_location` with its default value.
    """
    cdef bytes doc, denotation
    cdef tuple entries
    cdef bint is_located

cdef Decorations decorations_of(decorators)
cdef bytes text_argument(decorator)
cdef object text_decorator(str name, bytes text)
