# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to nodes and value infos: what `onnxtext.proto.lifter` does one by one.

What is not of the plainest form is handed to Python, in its place among the others. No step reads
beyond the end of its message.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.wire.reader import WireError, read_fields, read_varint

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)
    object PyType_GenericAlloc(type, Py_ssize_t)

ctypedef const unsigned char[::1] Bytes

cdef enum:
    LENGTH = 2  # the wire type of what has a length
    UNINTERRUPTED = 1 << 14

cdef type NODE = Node
cdef type VALUE_INFO = ValueInfo
cdef tuple EMPTY = ()


def decode_graph(
    data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t small, tuple keys, nodes, infos, dict tails,
    dict types, make_tail,
):
    """Read a graph's nodes and value infos; give its other fields that have a length.

    Args:
        data: holds the message.
        start: where it begins.
        end: where it ends.
        small: payloads of more bytes are views of the data, not copied.
        keys: the numbers of the fields of nodes and value infos, and then the keys of a node's
            inputs, outputs and name, of a value info's name and of its type.
        nodes: takes the nodes.
        infos: takes the value infos.
        tails: to what stands behind a node's names, a node that has it.
        types: to a type, a value info that has it.
        make_tail: reads what is not in `tails`.

    Yields:
        The number and the payload of each other field, and of each node and value info that is
        not of the plainest form.

    Raises:
        WireError: the bytes are no message.
    """
    cdef Bytes bytes_ = data
    cdef Py_ssize_t at = start, begin, value, size
    cdef int key, patience = UNINTERRUPTED
    cdef int node_number, info_number
    cdef Names names
    if not 0 <= start <= end <= bytes_.shape[0]:
        raise ValueError("a message outside of its data")
    node_number, info_number = keys[:2]
    names.input, names.output, names.node, names.value, names.type = keys[2:]
    view = memoryview(data)
    while at < end:
        patience -= 1
        if not patience:
            PyErr_CheckSignals()
            patience = UNINTERRUPTED
        begin = at
        key = bytes_[at]
        if key & 0x87 == LENGTH and key > 7 and at + 1 < end:
            key >>= 3
            size = bytes_[at + 1]
            value = at + 2
            if size > 127:
                size, value = read_varint(data, at + 1, end)
            if size > end - value:
                raise WireError("a field reaches beyond the end of its message", begin)
            at = value + size
            if size <= small:
                made = None
                if key == node_number:
                    made = plain_node(bytes_, value, at, &names, tails, make_tail)
                elif key == info_number:
                    made = plain_value_info(bytes_, value, at, &names, types)
                if made is not None:
                    (nodes if key == node_number else infos).append(made)
                    continue
            yield key, view[value:at] if size > small else data[value:at]
            continue
        field = next(read_fields(data, at, end))
        at = field.end
        if field.wire_type == LENGTH:
            yield field.number, view[field.value : at]


cdef struct Names:
    int input
    int output
    int node
    int value
    int type


cdef inline bytes copied(Bytes data, Py_ssize_t start, Py_ssize_t end):
    if start == end:
        return b""
    return PyBytes_FromStringAndSize(<const char*>&data[start], end - start)


cdef inline object text_of(Bytes data, Py_ssize_t start, Py_ssize_t end):
    if start == end:
        return ""
    return PyUnicode_DecodeUTF8(<const char*>&data[start], end - start, NULL)


cdef object plain_node(
    Bytes data, Py_ssize_t start, Py_ssize_t end, Names* names, dict tails, make_tail
):
    """A node whose short names come first; None for any other."""
    cdef list inputs = [], outputs = []
    cdef object name = None
    cdef Py_ssize_t at = start, size
    cdef int key
    try:
        while end - at > 1:
            key = data[at]
            size = data[at + 1]
            if key not in (names.input, names.output, names.node) or size > 127:
                break
            if size > end - at - 2:
                break
            text = text_of(data, at + 2, at + 2 + size)
            at += 2 + size
            if key == names.input:
                inputs.append(text)
            elif key == names.output:
                outputs.append(text)
            else:
                name = text
    except UnicodeDecodeError:
        return None
    behind = copied(data, at, end)
    tail = tails.get(behind)
    if tail is None:
        tail = make_tail(behind)
    if tail.inputs or tail.outputs or tail.name is not None:  # in an order that nobody uses
        inputs.extend(tail.inputs)
        outputs.extend(tail.outputs)
        name = name if tail.name is None else tail.name
    made = PyType_GenericAlloc(NODE, 0)
    made.op_type = tail.op_type
    made.inputs = tuple(inputs)
    made.outputs = tuple(outputs)
    made.attributes = tail.attributes
    made.name = name
    made.domain = tail.domain
    made.overload = tail.overload
    made.output_types = EMPTY
    made.decorators = tail.decorators
    made.metadata = EMPTY
    made.at = -1
    return made


cdef object plain_value_info(
    Bytes data, Py_ssize_t start, Py_ssize_t end, Names* names, dict types
):
    """A value info of a short name and a type that was met before; None for any other."""
    cdef Py_ssize_t at
    if end - start < 4 or data[start] != names.value or data[start + 1] > 127:
        return None
    at = start + 2 + data[start + 1]
    if at + 2 > end or data[at] != names.type or data[at + 1] > 127 or data[at + 1] != end - at - 2:
        return None
    known = types.get(copied(data, at + 2, end))
    if known is None or known.decorators:
        return None
    try:
        name = text_of(data, start + 2, at)
    except UnicodeDecodeError:
        return None
    made = PyType_GenericAlloc(VALUE_INFO, 0)
    made.name = name
    made.type = known.type
    made.data = None
    made.decorators = EMPTY
    made.metadata = EMPTY
    made.at = -1
    return made
