# SPDX-License-Identifier: Apache-2.0
"""Find the runs of fields of a message: the compiled part of `onnxtext.proto.encode.decorators`."""
from onnxtext._core.wire.reader cimport Bytes, Field, read_field


def field_runs(bytes data):
    """Return (field number, start, end) of each run of fields with the same number.

    Return None if a field has an unusual form, which Python reads.
    """
    cdef Bytes start = <Bytes><const char*>data
    cdef Py_ssize_t offset = 0, end = len(data), first = 0
    cdef int number = 0
    cdef Field field
    cdef list runs = []
    while offset < end:
        if not read_field(start, offset, end, &field) or field.key < 8:
            return None
        if field.key >> 3 != number:
            if number:
                runs.append((number, first, offset))
            number, first = field.key >> 3, offset
        offset = field.end
    if number:
        runs.append((number, first, offset))
    return runs
