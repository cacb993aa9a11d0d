# SPDX-License-Identifier: Apache-2.0
"""Decode graphs and functions: the compiled `onnxtext.proto.decode.messages`.

Rare forms are decoded in Python, in order with the others.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t

from onnxtext._core.proto.decode_entries cimport add_entry, any_entry_of, is_entry
from onnxtext._core.proto.decode_types cimport copied, text_of, texts_of
from onnxtext._core.proto.decode_values cimport SHORT, SMALL, UNKNOWN, Values, added
from onnxtext._core.proto.decorators cimport text_decorator
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.ast.slots cimport (
    ATTRIBUTE, GRAPH as GRAPH_CLASS, NODE, OF_NODE, OF_VALUE, PyType_GenericAlloc, build, get, put,
    record, value_part,
)
from onnxtext._core.wire.reader cimport LENGTH, Bytes, Field, read_field

from onnxtext.ast.compact_form.assemble import assemble_graph
from onnxtext.ast.metadata_decorators import meta_of
from onnxtext.ast.model import Annotation
from onnxtext.ast.tensors_and_attributes import AttributeType
from onnxtext.proto.decode.residual_fields import unknown_decorators
from onnxtext.proto.decode.types_and_tensors import NotCanonical, lift_annotation
from onnxtext.proto.presence_defaults import unset_decorator
from onnxtext.wire.reader import WireField, read_fields

cdef enum:
    LARGEST_CACHED_TAIL = 512  # in bytes; see `Tail`
    NEAR = 8  # the number of nodes in which `after_output` searches
    DEEPEST = 90  # messages that are nested deeper are read in Python, which checks the limit

cdef object GRAPH = AttributeType.GRAPH, GRAPHS = AttributeType.GRAPHS


cdef class Decoder:
    def __cinit__(self, dict types, Py_ssize_t most_ints=UNKNOWN):
        """Create the caches; `Values` describes the arguments."""
        self.values = Values(types, most_ints)
        self.tails, self.last_outputs, self.node_lists = {}, None, []

    cdef object python(self):
        """Return the `Lifter` for rare forms; create it if no caller has set it."""
        if self.lifter is None:
            from onnxtext.proto.decode.messages import Lifter

            self.lifter = Lifter(compare_items=False, decoder=self)
        return self.lifter

    cdef object rare_lifter(self):
        """Return the `Lifter` for a rare item; record what is unknown about the item."""
        self.values.is_plain, self.values.largest = False, UNKNOWN
        self.values.tensors = None
        return self.python()

    cdef object _annotation(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        """Decode a quantization annotation; Python decodes rare forms."""
        cdef Field field
        cdef Py_ssize_t offset
        cdef list entries = []
        self.values.is_plain = False
        if not read_field(data, start, end, &field) or field.key != ANNOTATION_TENSOR_NAME:
            return lift_annotation(view[start:end])
        name = text_of(data, field.value, field.end)
        offset = field.end
        while offset < end:
            if (
                not read_field(data, offset, end, &field)
                or field.key != ANNOTATION_QUANT_PARAMETER_TENSOR_NAMES
            ):
                return lift_annotation(view[start:end])
            entries.append(any_entry_of(data, view, field.value, field.end))
            offset = field.end
        return Annotation(name, tuple(entries))

    def graph(self, lifter, data, Py_ssize_t start, Py_ssize_t end, int depth):
        """Decode a `GraphProto`.

        Args:
            lifter: the `Lifter` that decodes rare forms.
            data: the bytes that contain the message.
            start: the offset of its first byte.
            end: the offset after its last byte.
            depth: the number of messages that enclose it.

        Raises:
            WireError: the bytes are not a message.
        """
        cdef const unsigned char[::1] buffer = data
        if not 0 <= start <= end <= buffer.shape[0]:
            raise ValueError("message out of bounds")
        caller, self.lifter = self.lifter, lifter
        try:
            return self._graph(
                &buffer[0] if start < end else NULL, memoryview(data), start, end, depth
            )
        finally:
            self.lifter = caller

    cdef object _graph(self, Bytes data, view, Py_ssize_t offset, Py_ssize_t end, int depth):
        cdef Field field
        cdef Py_ssize_t before, place = 0  # the next node whose output may have a value info
        cdef int countdown = SIGNAL_INTERVAL
        cdef list nodes = [], initializers = [], inputs = [], outputs = [], annotations = []
        cdef list infos = None, docs = None, sparse = [], metadata = None, rest = None, values
        name = None
        self.node_lists.append(nodes)
        while offset < end:
            countdown -= 1
            if not countdown:
                countdown = SIGNAL_INTERVAL
                PyErr_CheckSignals()
            next_field(data, view, offset, end, &field)
            before, offset = offset, field.end
            if field.key == GRAPH_NODE:
                nodes.append(self._node(data, view, field.value, offset, depth + 1))
            elif field.key == GRAPH_INITIALIZER:
                decoded = self.values.initializer(data, view, field.value, offset)
                initializers.append(decoded or self._rare("initializer", view[field.value:offset]))
            elif field.key == GRAPH_SPARSE_INITIALIZER:
                decoded = self.values.sparse_initializer(data, view, field.value, offset)
                if decoded is not None:
                    sparse.append(decoded)
                else:
                    sparse += self.rare_lifter().sparse_initializer(view[field.value:offset])
            elif field.key == GRAPH_VALUE_INFO:
                self.values.likely_name = output_at(nodes, place)
                decoded = self._value_info(data, view, field.value, offset)
                infos = added(infos, decoded)
                place = after_output(nodes, place, value_part(decoded, OF_VALUE.name, "name"))
            elif field.key == GRAPH_INPUT or field.key == GRAPH_OUTPUT:
                values = inputs if field.key == GRAPH_INPUT else outputs
                values.append(self._value_info(data, view, field.value, offset))
            elif field.key == GRAPH_QUANTIZATION_ANNOTATION:
                annotations.append(self._annotation(data, view, field.value, offset))
            elif field.key == GRAPH_NAME:
                name = text_of(data, field.value, offset)
            elif field.key == GRAPH_METADATA_PROPS:
                metadata = added(metadata, any_entry_of(data, view, field.value, offset))
                self.values.is_plain = False
            elif field.key == GRAPH_DOC_STRING:
                docs = added(docs, text_decorator("doc", copied(data, field.value, offset)))
            else:
                rest = added(rest, view[before:offset])
                self.values.is_plain = False
        initializers += sparse
        label = "" if name is None else name
        graph = build(GRAPH_CLASS, (
            label, inputs, outputs, initializers, nodes, (), annotations, (), {}, -1
        ))
        if infos or share_names(initializers, inputs):
            graph.decorators = assemble_graph(graph, initializers, infos or [])
        if metadata:
            docs = added(docs, meta_of(tuple(metadata)))
        if name is None:
            docs = added(docs, unset_decorator("name"))
        if docs:
            graph.decorators += tuple(docs)
        if rest:
            graph.decorators += unknown_decorators("GraphProto", b"".join(rest))
        return graph

    cdef object _value_info(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        decoded = self.values.value_info(data, start, end)
        return self._rare("value_info", view[start:end]) if decoded is None else decoded

    cdef object _graph_attribute(
        self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth
    ):
        """Decode an attribute that is a graph or a list of graphs; None for rare forms."""
        cdef Field field
        cdef Py_ssize_t offset = start, before, first = -1, last = -1
        cdef int key = 0
        cdef uint64_t kind = 0
        cdef list graphs = []
        name = None
        while offset < end:
            if not read_field(data, offset, end, &field):
                return None
            before, offset = offset, field.end
            if field.key == ATTRIBUTE_NAME and name is None:
                name = text_of(data, field.value, offset)
            elif not key and (field.key == ATTRIBUTE_G or field.key == ATTRIBUTE_GRAPHS):
                key, first, last = field.key, before, offset
            elif field.key == ATTRIBUTE_GRAPHS and key == ATTRIBUTE_GRAPHS and before == last:
                last = offset
            elif field.key == ATTRIBUTE_TYPE and not kind:
                kind = field.number
            else:
                return None
        if name is None or not key or depth >= DEEPEST or kind > 14 or VALUE_KEYS[kind] != key:
            return None
        while first < last:
            read_field(data, first, last, &field)
            first = field.end
            graphs.append(self._graph(data, view, field.value, first, depth + 1))
        if key == ATTRIBUTE_G:
            return build(ATTRIBUTE, (name, GRAPH, graphs[0], ()))
        return build(ATTRIBUTE, (name, GRAPHS, tuple(graphs), ()))

    cdef object _rare(self, str method, data):
        """Decode an initializer or value info with the lifter; record whether it is rare."""
        result = getattr(self.python(), method)(data)
        if result.decorators or result.metadata or result.data is not None:
            self.values.is_plain, self.values.largest = False, UNKNOWN
        return result

    cdef object _node(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth):
        cdef Field field
        cdef Py_ssize_t offset = start
        cdef object name = None
        cdef Tail tail = None
        cdef tuple inputs = texts_of(data, &offset, end, NODE_INPUT, self.last_outputs)
        cdef tuple outputs = texts_of(data, &offset, end, NODE_OUTPUT, None)
        while offset < end and read_field(data, offset, end, &field) and field.key == NODE_NAME:
            name = text_of(data, field.value, field.end)
            offset = field.end
        if end - offset > LARGEST_CACHED_TAIL:
            tail = self._tail(data, view, offset, end, depth, None)
        else:
            key = copied(data, offset, end)
            tail = self.tails.get(key)
            if tail is None:
                tail = self._tail(data, view, offset, end, depth, key)
        self.last_outputs = outputs
        result = tail.whole
        if tail.is_rare:
            self.values.is_plain = False
        self.has_empty_fields |= tail.has_empty_fields
        if result is not None:  # inputs, outputs or the name follow other fields
            inputs += result.inputs
            outputs += result.outputs
            name = name if result.name is None else result.name
        result = PyType_GenericAlloc(NODE, 0)
        put(result, OF_NODE.op_type, tail.op_type)
        put(result, OF_NODE.inputs, inputs)
        put(result, OF_NODE.outputs, outputs)
        put(result, OF_NODE.attributes, tail.attributes)
        put(result, OF_NODE.name, name)
        put(result, OF_NODE.domain, tail.domain)
        put(result, OF_NODE.overload, tail.overload)
        put(result, OF_NODE.output_types, ())
        put(result, OF_NODE.decorators, tail.decorators)
        put(result, OF_NODE.metadata, tail.metadata)
        put(result, OF_NODE.at, -1)
        return result

    cdef Tail _tail(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end, int depth, key):
        """Decode the tail of a node; cache it by `key` (None: not at all) unless it has graphs."""
        cdef Field field
        cdef Py_ssize_t offset = start
        cdef Tail tail = Tail.__new__(Tail)  # faster than a call
        cdef list attributes = [], docs = None, entries = None
        cdef bint is_shared = key is not None
        cdef Py_ssize_t most = SHORT if is_shared else SMALL
        if not is_usual(data, start, end):
            return self._rare_tail(view[start:end], depth, key)
        tail.op_type = ""
        while offset < end:
            read_field(data, offset, end, &field)
            offset = field.end
            if field.key == NODE_OP_TYPE:
                tail.op_type = text_of(data, field.value, offset)
            elif field.key == NODE_ATTRIBUTE:
                decoded = self.values.attribute(data, view, field.value, offset, most)
                if decoded is None:
                    decoded = self._graph_attribute(data, view, field.value, offset, depth + 1)
                    if decoded is None:
                        tail.is_rare = True
                        decoded = self.rare_lifter().attribute(view[field.value:offset], depth + 1)
                    if decoded.type is GRAPH or decoded.type is GRAPHS:
                        is_shared = False
                attributes.append(decoded)
            elif field.key == NODE_DOMAIN:
                tail.domain = text_of(data, field.value, offset)
            elif field.key == NODE_OVERLOAD:
                tail.overload = text_of(data, field.value, offset)
            elif field.key == NODE_DOC_STRING:
                docs = added(docs, text_decorator("doc", copied(data, field.value, offset)))
                tail.has_empty_fields = tail.has_empty_fields or field.value == offset
            else:
                entries = add_entry(entries, self.values.last_entries, data, field.value, offset)
        tail.attributes = tuple(attributes)
        tail.decorators = () if docs is None else tuple(docs)
        tail.metadata = self.values.finished(entries)
        tail.is_rare = tail.is_rare or entries is not None
        tail.has_empty_fields = tail.has_empty_fields or tail.domain == ""
        if is_shared:
            self.tails[key] = tail
        return tail

    cdef Tail _rare_tail(self, data, int depth, key):
        cdef Tail tail = Tail.__new__(Tail)  # faster than a call
        tail.is_rare = tail.has_empty_fields = True  # the latter is unknown
        node = self.rare_lifter().node(data, depth)
        tail.op_type, tail.domain, tail.overload = node.op_type, node.domain, node.overload
        tail.attributes, tail.metadata, tail.decorators = node.attributes, node.metadata, node.decorators
        if node.inputs or node.outputs or node.name is not None:
            if self.values.is_strict:
                raise NotCanonical
            tail.whole = node
        if key is not None and not any([item.type in (GRAPH, GRAPHS) for item in tail.attributes]):
            self.tails[key] = tail
        return tail


cdef object output_at(list nodes, Py_ssize_t place):
    """Return the name of the first output of the node at an index; None if there is none."""
    outputs = get(nodes[place], OF_NODE.outputs) if place < len(nodes) else ()
    return (<tuple>outputs)[0] if outputs else None


cdef Py_ssize_t after_output(list nodes, Py_ssize_t place, str name) except -1:
    """Return the index after the first node from `place` on whose first output is `name`.

    Return `place` if none of the next `NEAR` nodes is one.
    """
    cdef Py_ssize_t index
    for index in range(place, place + NEAR):
        if name == output_at(nodes, index):
            return index + 1
    return place


cdef bint share_names(list left, list right) except -1:
    """Whether a value in one list has the same name as a value in the other list."""
    if not left or not right:
        return False
    return not {value.name for value in right}.isdisjoint([value.name for value in left])


def message_fields(data, Py_ssize_t start, int most):
    """Return up to `most` fields of a message from offset `start` on, like `read_fields`.

    Raises:
        WireError: the bytes are not a message.
    """
    cdef const unsigned char[::1] buffer = data
    cdef Py_ssize_t position = start, end = buffer.shape[0]
    cdef Field field
    cdef list result = []
    if start < 0:
        raise ValueError("offset out of bounds")
    while position < end and len(result) < most:
        if not read_field(&buffer[0], position, end, &field) or field.key < 8:
            other = next(read_fields(data, position, end))
            position = other.end
        else:
            other = record(WireField, (field.key >> 3, field.key & 7, position, field.value, field.end))
            position = field.end
        result.append(other)
    return result


cdef bint is_usual(Bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether the core can decode all fields in the tail of a node.

    Checked before nested graphs are read, because reading them twice per level would take
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


cdef int next_field(
    Bytes data, view, Py_ssize_t offset, Py_ssize_t end, Field* field
) except -1:
    """Read the field at an offset.

    Args:
        data: the bytes.
        view: the same bytes, for fields of unusual form, which Python reads.
        offset: the offset of the field.
        end: the end of its message.
        field: set to the field, with the key 0 if its number is unknown or its wire type is not
            `LENGTH`.

    Raises:
        WireError: the bytes at the offset are not a field.
    """
    if read_field(data, offset, end, field) and field.key & 7 == LENGTH:
        return 0
    found = next(read_fields(view, offset, end))
    field.value, field.end = found.value, found.end
    field.key = 0
    if found.wire_type == LENGTH and found.number < MAX_KNOWN:
        field.key = found.number << 3 | LENGTH
    return 0
