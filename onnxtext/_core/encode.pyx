# SPDX-License-Identifier: Apache-2.0
"""Nodes, values and initializers to wire bytes: what `onnxtext.proto.lowering` does one by one.

The keys of all fields are given by the caller. What is not of the plainest form is lowered in
Python, by functions that are also given.
"""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    bint PyUnicode_IS_COMPACT_ASCII(object)
    void* PyUnicode_1BYTE_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)

cdef enum:
    HEAD = 20  # bytes that a key and a length take at most
    LARGE = 4096  # data of more bytes is a piece of its own, and not copied
    UNINTERRUPTED = 1 << 14


@cython.final
cdef class Buffer:
    """Bytes that grow at the end."""
    cdef char* data
    cdef Py_ssize_t size, room

    def __cinit__(self):
        self.room = 256
        self.data = <char*>PyMem_Malloc(self.room)
        if self.data is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef inline int need(self, Py_ssize_t more) except -1:
        """Make room for so many bytes more."""
        cdef Py_ssize_t room
        cdef char* data
        if more > self.room - self.size:
            room = 2 * (self.size + more)
            data = <char*>PyMem_Realloc(self.data, room)
            if data is NULL:
                raise MemoryError
            self.data = data
            self.room = room
        return 0

    cdef inline void varint(self, uint64_t value) noexcept:
        """Add a varint, for which there is room."""
        while value > 127:
            self.data[self.size] = <char>(value & 127 | 128)
            self.size += 1
            value >>= 7
        self.data[self.size] = <char>value
        self.size += 1

    cdef inline int add(self, const char* data, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef inline int add_bytes(self, bytes data) except -1:
        return self.add(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    cdef inline int head(self, int key, Py_ssize_t size) except -1:
        """Add the key and the length of a field."""
        self.need(HEAD)
        self.varint(key)
        self.varint(size)
        return 0

    cdef inline int field(self, int key, bytes data) except -1:
        self.head(key, PyBytes_GET_SIZE(data))
        return self.add_bytes(data)

    cdef inline int text(self, int key, text) except -1:
        cdef Py_ssize_t size
        if not isinstance(text, str):
            raise TypeError(f"expected a text, found {type(text).__name__}")
        if not PyUnicode_IS_COMPACT_ASCII(text):
            return self.field(key, (<str>text).encode("utf-8", "surrogateescape"))
        size = PyUnicode_GET_LENGTH(text)
        self.head(key, size)
        return self.add(<const char*>PyUnicode_1BYTE_DATA(text), size)

    cdef bytes take(self):
        """All bytes; none are left."""
        made = PyBytes_FromStringAndSize(self.data, self.size)
        self.size = 0
        return made


cdef inline object identity(object thing):
    """As `id` gives it."""
    return <size_t><void*>thing


def encode_nodes(nodes, int key, tuple keys, name, dict tails, make_tail, make_node):
    """Nodes as fields of their graph.

    Args:
        nodes: the nodes.
        key: of the field.
        keys: those of inputs, outputs and names in a node.
        name: that of nodes without one, or None.
        tails: what was lowered already by operator, identity of attributes, domain and overload.
        make_tail: lowers what stands behind a node's names.
        make_node: lowers a node with decorators or metadata.
    """
    cdef Buffer out = Buffer(), inside = Buffer()
    cdef int of_input, of_output, of_name, patience = UNINTERRUPTED
    of_input, of_output, of_name = keys
    for node in nodes:
        patience -= 1
        if not patience:
            PyErr_CheckSignals()
            patience = UNINTERRUPTED
        if node.decorators or node.metadata:
            out.field(key, make_node(node))
            continue
        for text in node.inputs:
            inside.text(of_input, text)
        for text in node.outputs:
            inside.text(of_output, text)
        label = node.name
        if label is None:
            label = name
        if label is not None:
            inside.text(of_name, label)
        tail = tails.get((node.op_type, identity(node.attributes), node.domain, node.overload))
        if tail is None:
            tail = make_tail(node)
        out.head(key, inside.size + PyBytes_GET_SIZE(<bytes?>tail))
        out.add(inside.data, inside.size)
        out.add_bytes(tail)
        inside.size = 0
    return out.take()


def encode_types(nodes, int key, int of_name, dict types, make_type):
    """The types of nodes' outputs as fields of their graph.

    Args:
        nodes: the nodes.
        key: of the field.
        of_name: the key of a name in it.
        types: what was lowered already by identity, with its key and length.
        make_type: lowers a type, for what stands at an offset of the text.
    """
    cdef Buffer out = Buffer(), inside = Buffer()
    for node in nodes:
        if not node.output_types:
            continue
        for text, type in zip(node.outputs, node.output_types, strict=True):
            if type is not None:
                add_value(out, inside, key, of_name, text, type, node.at, types, make_type)
    return out.take()


def encode_values(values, int key, int of_name, dict types, make_type, make_value):
    """Declarations as fields of their graph; those with decorators or metadata by `make_value`."""
    cdef Buffer out = Buffer(), inside = Buffer()
    for value in values:
        if value.decorators or value.metadata:
            out.field(key, make_value(value))
        else:
            add_value(
                out, inside, key, of_name, value.name, value.type, value.at, types, make_type
            )
    return out.take()


cdef int add_value(
    Buffer out, Buffer inside, int key, int of_name, text, type, at, dict types, make_type
) except -1:
    inside.text(of_name, text)
    if type is not None:
        tail = types.get(identity(type))
        if tail is None:
            tail = make_type(type, at)
        inside.add_bytes(<bytes?>tail)
    out.head(key, inside.size)
    out.add(inside.data, inside.size)
    inside.size = 0
    return 0


STORED = -1


@cython.final
cdef class TensorForm:
    """How initializers of a type with plain data are encoded."""
    cdef bytes head
    cdef int of_name, of_data, width

    def __cinit__(self, bytes head, int of_name, int of_data, int width):
        """Describe them.

        Args:
            head: dims and element type.
            of_name: the key of the name.
            of_data: the key of the data; fields stand in the order of their keys.
            width: bytes of an entry that becomes a varint: 4 for int32, 8 for 64 bits; 0 for data
                that is stored as it is, if there is any; STORED for data that is stored always.
        """
        self.head = head
        self.of_name = of_name
        self.of_data = of_data
        self.width = width


def encode_initializers(values, int key, find_form, make_tensor):
    """Initializers as fields of their graph, in pieces.

    Args:
        values: the initializers.
        key: of the field.
        find_form: gives a `TensorForm`, and the data for it, for what is encoded here, else None.
        make_tensor: lowers any other, in pieces.
    """
    cdef Buffer out = Buffer(), inside = Buffer()
    cdef TensorForm form
    cdef const char* start
    cdef Py_ssize_t size
    cdef list pieces = []
    for value in values:
        found = find_form(value)
        if found is None:
            made = make_tensor(value)
            size = sum(map(len, made))
            out.head(key, size)
            for piece in made:
                if len(piece) > LARGE:
                    pieces.append(out.take())
                    pieces.append(piece)
                else:
                    out.add_bytes(bytes(piece))
            continue
        form = found[0]
        data = bytes(found[1])
        start, size = PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        inside.add_bytes(form.head)
        if form.of_name < form.of_data:
            inside.text(form.of_name, value.name)
        if form.width > 0:
            add_packed(inside, form, start, size)
        elif size or form.width < 0:
            inside.head(form.of_data, size)
            inside.add(start, size)
        if form.of_name >= form.of_data:
            inside.text(form.of_name, value.name)
        out.head(key, inside.size)
        out.add(inside.data, inside.size)
        inside.size = 0
    pieces.append(out.take())
    return pieces


cdef int add_packed(Buffer out, TensorForm form, const char* data, Py_ssize_t size) except -1:
    """Add a packed field of varints; nothing if it is empty, as protobuf writes it."""
    cdef Buffer packed
    cdef Py_ssize_t at
    cdef int32_t small
    cdef int64_t large
    if not size:
        return 0
    packed = Buffer()
    for at in range(0, size - size % form.width, form.width):
        if form.width == 4:
            memcpy(&small, data + at, 4)
            large = small
        else:
            memcpy(&large, data + at, 8)
        packed.need(10)
        packed.varint(<uint64_t>large)
    out.head(form.of_data, packed.size)
    return out.add(packed.data, packed.size)
