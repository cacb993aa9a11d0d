# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to graphs: what `onnxtext.proto.decode.messages` does message by message.

What is rare is read in Python, in its place among the others.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

from onnxtext._core.decode_values cimport (
    SMALL,
    Values,
    copied,
    text_of,
)
from onnxtext._core.keys cimport *
from onnxtext._core.slots cimport NODE, OF_NODE, PyType_GenericAlloc, put, record
from onnxtext._core.wire cimport LENGTH, Bytes, Field, read_field

from onnxtext.ast.values import AttributeType
from onnxtext.proto.decode.values import doc_decorator
from onnxtext.wire.reader import WireField, read_fields

cdef enum:
    UNINTERRUPTED = 1 << 12
    SHORT = 512  # what stands behind the names of a node is remembered if it is no longer

cdef object GRAPH = AttributeType.GRAPH, GRAPHS = AttributeType.GRAPHS


@cython.final
cdef class Tail:
    """What stands behind the names of nodes that are alike."""
    cdef object op_type, domain, overload
    cdef tuple attributes, decorators, metadata
    cdef object whole  # a node whose names stand there, too


@cython.final
cdef class Decoder:
    """One run of reading."""
    cdef Values values
    cdef dict tails
    cdef object lifter

    def __cinit__(self, dict types):
        """Begin a run.

        Args:
            types: to encoded types value infos that have them.
        """
        self.values = Values(types)
        self.tails = {}

    def value_info(self, bytes data):
        """A value info of a name and a plain type; None for any other."""
        return self.values.value_info(<Bytes><const char*>data, 0, len(data))

    def attribute(self, data):
        """An attribute without a graph or a record; None for any other."""
        cdef const unsigned char[::1] whole = data
        if not whole.shape[0]:
            return None
        return self.values.attribute(&whole[0], memoryview(data), 0, whole.shape[0])

    def fields(
        self, lifter, data, Py_ssize_t start, Py_ssize_t end, int depth, dict lists, list nodes,
        list initializers, dict texts,
    ):
        """Read the nodes, values and texts of a graph or function.

        Args:
            lifter: the `Lifter` that reads what is rare.
            data: holds the message.
            start: where it begins.
            end: where it ends.
            depth: how many messages it is nested in.
            lists: what takes the nodes, initializers and value infos, by the numbers of fields.
            nodes: which of them takes the nodes.
            initializers: which of them takes the initializers.
            texts: what takes the texts, likewise.

        Returns:
            The number and the payload of each other field that has a length.

        Raises:
            WireError: the bytes are no message.
        """
        cdef const unsigned char[::1] whole = data
        cdef Bytes start_of
        cdef Field field
        cdef Py_ssize_t at = start
        cdef int number, patience = UNINTERRUPTED
        cdef list into, others = []
        if not 0 <= start <= end <= whole.shape[0]:
            raise ValueError("a message outside of its data")
        if start == end:
            return others
        start_of = &whole[0]
        view = memoryview(data)
        caller, self.lifter = self.lifter, lifter
        try:
            while at < end:
                patience -= 1
                if not patience:
                    patience = UNINTERRUPTED
                    PyErr_CheckSignals()
                if not read_field(start_of, at, end, &field) or field.key & 7 != LENGTH:
                    found = next(read_fields(data, at, end))
                    at = found.end
                    if found.wire_type != LENGTH:
                        continue
                    number = found.number
                    field.value, field.end = found.value, at
                else:
                    number = field.key >> 3
                at = field.end
                into = lists.get(number)
                if into is None:
                    into = texts.get(number)
                    if into is not None:
                        into.append(text_of(start_of, field.value, at))
                    elif at - field.value > SMALL:
                        others.append((number, view[field.value:at]))
                    else:
                        others.append((number, copied(start_of, field.value, at)))
                elif into is nodes:
                    into.append(self._node(start_of, view, field.value, at, depth + 1))
                elif into is initializers:
                    made = self.values.initializer(start_of, view, field.value, at)
                    into.append(lifter.initializer(view[field.value:at]) if made is None else made)
                else:
                    made = self.values.value_info(start_of, field.value, at)
                    into.append(lifter.value_info(view[field.value:at]) if made is None else made)
            return others
        finally:
            self.lifter = caller

    cdef object _node(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth):
        cdef Field field
        cdef Py_ssize_t at = start
        cdef tuple inputs, outputs
        cdef object name = None
        cdef Tail tail = None
        inputs = texts_of(data, &at, end, NODE_INPUT)
        outputs = texts_of(data, &at, end, NODE_OUTPUT)
        while at < end and read_field(data, at, end, &field) and field.key == NODE_NAME:
            name = text_of(data, field.value, field.end)
            at = field.end
        if end - at > SHORT:
            tail = self._tail(data, view, at, end, depth, None)
        else:
            key = copied(data, at, end)
            tail = self.tails.get(key)
            if tail is None:
                tail = self._tail(data, view, at, end, depth, key)
        made = tail.whole
        if made is not None:  # in an order that nobody uses
            inputs += made.inputs
            outputs += made.outputs
            name = name if made.name is None else made.name
        made = PyType_GenericAlloc(NODE, 0)
        put(made, OF_NODE.op_type, tail.op_type)
        put(made, OF_NODE.inputs, inputs)
        put(made, OF_NODE.outputs, outputs)
        put(made, OF_NODE.attributes, tail.attributes)
        put(made, OF_NODE.name, name)
        put(made, OF_NODE.domain, tail.domain)
        put(made, OF_NODE.overload, tail.overload)
        put(made, OF_NODE.output_types, ())
        put(made, OF_NODE.decorators, tail.decorators)
        put(made, OF_NODE.metadata, tail.metadata)
        put(made, OF_NODE.at, -1)
        return made

    cdef Tail _tail(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth, key):
        """What stands behind the names of a node, remembered under a key unless it has graphs."""
        cdef Field field
        cdef Py_ssize_t at = start
        cdef Tail tail = Tail()
        cdef list attributes = [], entries = []
        cdef bint is_shared = key is not None
        if not is_usual(data, start, end):
            return self._rare_tail(view[start:end], depth, key)
        tail.op_type = ""
        tail.decorators = tail.metadata = ()
        while at < end:
            read_field(data, at, end, &field)
            at = field.end
            if field.key == NODE_OP_TYPE:
                tail.op_type = text_of(data, field.value, at)
            elif field.key == NODE_ATTRIBUTE:
                made = self.values.attribute(data, view, field.value, at)
                if made is None:
                    made = self.lifter.attribute(view[field.value:at], depth + 1)
                    is_shared = is_shared and made.type is not GRAPH and made.type is not GRAPHS
                attributes.append(made)
            elif field.key == NODE_DOMAIN:
                tail.domain = text_of(data, field.value, at)
            elif field.key == NODE_OVERLOAD:
                tail.overload = text_of(data, field.value, at)
            elif field.key == NODE_DOC_STRING:
                tail.decorators += (doc_decorator(view[field.value:at]),)
            else:
                entries.append(entry_of(data, field.value, at))
        tail.attributes = tuple(attributes)
        tail.metadata = tuple(entries)
        if is_shared:
            self.tails[key] = tail
        return tail

    cdef Tail _rare_tail(self, data, int depth, key):
        cdef Tail tail = Tail()
        node = self.lifter.tail(data, depth)
        tail.op_type, tail.domain, tail.overload = node.op_type, node.domain, node.overload
        tail.attributes, tail.decorators = node.attributes, node.decorators
        tail.metadata = node.metadata
        if node.inputs or node.outputs or node.name is not None:
            tail.whole = node
        if key is not None and not any(
            [item.type is GRAPH or item.type is GRAPHS for item in tail.attributes]
        ):
            self.tails[key] = tail
        return tail


cdef tuple texts_of(Bytes data, Py_ssize_t* at, Py_ssize_t end, int key):
    """The texts of all fields of a key up to another one, which is then at the offset."""
    cdef Field field
    cdef Py_ssize_t start = at[0], count = 0, index
    while at[0] < end and read_field(data, at[0], end, &field) and field.key == key:
        count += 1
        at[0] = field.end
    if not count:
        return ()
    made = PyTuple_New(count)
    for index in range(count):
        read_field(data, start, end, &field)
        text = text_of(data, field.value, field.end)
        Py_INCREF(text)
        PyTuple_SET_ITEM(made, index, text)
        start = field.end
    return made


def message_fields(data, Py_ssize_t start, int most):
    """Some fields of a message from an offset on, as `read_fields` gives them.

    Raises:
        WireError: the bytes are no message.
    """
    cdef const unsigned char[::1] whole = data
    cdef Py_ssize_t at = start, end = whole.shape[0]
    cdef Field field
    cdef list found = []
    if start < 0:
        raise ValueError("an offset outside of the message")
    while at < end and len(found) < most:
        if not read_field(&whole[0], at, end, &field) or field.key < 8:
            other = next(read_fields(data, at, end))
            at = other.end
        else:
            other = record(WireField, (field.key >> 3, field.key & 7, at, field.value, field.end))
            at = field.end
        found.append(other)
    return found


cdef bint is_usual(Bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether the core reads all fields behind the names of a node.

    It is known before a nested graph is read: one that is read twice at each level takes
    exponential time.
    """
    cdef Field field
    while start < end:
        if not read_field(data, start, end, &field):
            return False
        if field.key == NODE_METADATA_PROPS:
            if not is_entry(data, field.value, field.end):
                return False
        elif field.key not in (
            NODE_OP_TYPE, NODE_ATTRIBUTE, NODE_DOMAIN, NODE_OVERLOAD, NODE_DOC_STRING
        ):
            return False
        start = field.end
    return True


cdef bint is_entry(Bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether an entry has a key and a value, and nothing else."""
    cdef Field key, value
    return (
        read_field(data, start, end, &key)
        and key.key == STRING_STRING_ENTRY_KEY
        and read_field(data, key.end, end, &value)
        and value.key == STRING_STRING_ENTRY_VALUE
        and value.end == end
    )


cdef tuple entry_of(Bytes data, Py_ssize_t start, Py_ssize_t end):
    """The key and the value of an entry that has both."""
    cdef Field key, value
    read_field(data, start, end, &key)
    read_field(data, key.end, end, &value)
    return text_of(data, key.value, key.end), text_of(data, value.value, end)
