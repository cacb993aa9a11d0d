# SPDX-License-Identifier: Apache-2.0
"""Encode attributes and tensors: the compiled `onnxtext.proto.encode.values_blobs_and_attributes`."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_REFCNT
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from onnxtext._core.wire.buffer cimport Buffer
from onnxtext._core.proto.decorators cimport Decorations, decorations_of
from onnxtext._core.proto.encode_types cimport TensorForm, identity
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.tensor.varints cimport add_packed
from onnxtext._core.ast.slots cimport (
    EXTERNAL_DATA, OF_ATTRIBUTE, OF_EXTERNAL, OF_NODE, OF_RAW, OF_STRINGS, OF_TENSOR, OF_TYPED,
    OF_VALUE, RAW_DATA, STRING_DATA, TYPED_DATA, VALUE_INFO, data_of, get,
)

from onnxtext._core.tensor.varints import fields_of_strings
from onnxtext.ast.model import Graph
from onnxtext.ast.tensors_and_attributes import (
    Attribute, Blob, DataFile, Float32, Floats, Reference, RepeatedList, SparseTensor,
    Tensor, TypedBlob,
)
from onnxtext.ast.typed_blobs import expand_repetition
from onnxtext.proto.encode.lower_error import LowerError

cdef enum:
    LARGE = 1 << 16  # the minimum size of a piece, in bytes; malloc reuses blocks of this size
    SMALL = 4096  # in bytes; larger attributes are not cached, larger data is not copied
    SIGNAL_INTERVAL = 1 << 14  # the number of nodes and values between two checks for signals
    # Types of attributes.
    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13

cdef type ATTRIBUTE = Attribute, A_GRAPH = Graph, A_TENSOR = Tensor, A_FLOAT = Float32
cdef Decorations PLAIN = Decorations()
cdef type A_BLOB = Blob, A_TYPED_BLOB = TypedBlob, A_DATA_FILE = DataFile
cdef type A_REFERENCE = Reference, A_FLOATS = Floats, A_SPARSE = SparseTensor


cdef class ValueEncoder(TypeEncoder):
    def __cinit__(self, *options, lowering=None):
        defaults = options[0]
        self.options, self.lowering = options, lowering
        if lowering is not None:
            self.level = lowering.depth
        self.node_name, self.tensor_name, self.doc, self.domain, self.overload, self.others = (
            defaults.parts
        )
        others = self.others
        if others:
            self.nodes_in_python = "NodeProto" in others
            self.values_in_python = "ValueInfoProto" in others
            self.attributes_in_python = "AttributeProto" in others
            self.tensors_in_python = "TensorProto" in others
            self.sparse_in_python = "SparseTensorProto" in others
            self.opsets_in_python = "OperatorSetIdProto" in others
            self.types_in_python = "TypeProto" in others
        self.out = Buffer()
        self.pieces, self.alive = [], []
        self.attributes, self.types, self.forms = {}, {}, {}
        self.countdown, self.omitted = SIGNAL_INTERVAL, 0

    cdef int graph_fields(self, graph) except -1:
        raise NotImplementedError

    cdef int entries(self, int key, entries) except -1:
        cdef Py_ssize_t start
        for name, value in entries:
            start = self.out.open(key)
            self.out.text(STRING_STRING_ENTRY_KEY, name)
            self.out.text(STRING_STRING_ENTRY_VALUE, value)
            self.out.close(start)
        return 0

    cdef int arguments(self, int key, tuple arguments) except -1:
        """Add the arguments of `@meta` as entries."""
        cdef Py_ssize_t start
        for argument in arguments:
            start = self.out.open(key)
            self.out.text(STRING_STRING_ENTRY_KEY, argument.key)
            self.out.field(STRING_STRING_ENTRY_VALUE, argument.value)
            self.out.close(start)
        return 0

    cdef int optional_text(self, int key, text) except -1:
        """Add a string field unless the string is None."""
        return 0 if text is None else self.out.text(key, text)

    cdef int check_signals(self) except -1:
        """Count a node or value; check for signals, such as Ctrl-C, every `SIGNAL_INTERVAL`."""
        self.countdown -= 1
        if not self.countdown:
            self.countdown = SIGNAL_INTERVAL
            PyErr_CheckSignals()
        return 0

    # ---- Attributes -------------------------------------------------------------------------

    cdef int node_attributes(self, attributes, node) except -1:
        """Add the attributes of a node; cache their encoding if other nodes may share them."""
        cdef Buffer out = self.out
        cdef Py_ssize_t start = out.size
        cdef bint is_shared = Py_REFCNT(attributes) > 2  # the node and the caller hold one each
        cached = self.attributes.get(identity(attributes)) if is_shared else None
        if cached is not None:
            return out.add_bytes(<bytes>cached)
        omitted = self.omitted
        for attribute in attributes:
            self.attribute(NODE_ATTRIBUTE, attribute, get(node, OF_NODE.at))
        # If repetitions were left out, they must be counted again for the next node.
        if is_shared and out.size - start <= SMALL and self.omitted == omitted:
            cached = out.take(start)
            self.attributes[identity(attributes)] = cached
            self.alive.append(attributes)
            out.add_bytes(<bytes>cached)
        return 0

    cdef int attribute(self, int key, attribute, offset) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t before = out.size, start
        if not (
            self.attributes_in_python
            or type(attribute) is not ATTRIBUTE
            or get(attribute, OF_ATTRIBUTE.decorators)
        ):
            start = out.open(key)
            out.text(ATTRIBUTE_NAME, get(attribute, OF_ATTRIBUTE.name))
            if self.value(attribute):
                return out.close(start)
            out.size = before
        return self.in_python(key, self.python().placed_attribute(attribute, offset))

    cdef int in_python(self, int key, encoded) except -1:
        """Add a field that Python encoded."""
        self.omitted = self.lowering.omitted
        return self.out.field(key, encoded)

    cdef bint value(self, attribute) except -1:
        """Add the value and the type of an attribute.

        Return False, with incomplete output, if Python must encode it.
        """
        cdef Buffer out = self.out
        cdef bint is_sparse
        cdef int kind
        number = get(attribute, OF_ATTRIBUTE.type)
        if number is None:
            return False
        kind, value = number, get(attribute, OF_ATTRIBUTE.value)
        held = type(value)
        if held is A_REFERENCE:
            out.number(ATTRIBUTE_TYPE, kind)
            out.text(ATTRIBUTE_REF_ATTR_NAME, value.name)
            return True
        if not 0 < kind < 15:
            return False
        is_sparse = kind == SPARSE_TENSOR or kind == SPARSE_TENSORS
        if is_sparse:  # fields are ordered by number: `type` precedes the value
            out.number(ATTRIBUTE_TYPE, kind)
        if held is RepeatedList and value.count <= SMALL:
            value = expand_repetition(value)
            held = type(value)
        if held is A_BLOB or held is A_TYPED_BLOB:
            if not self.blob_value(kind, held is A_TYPED_BLOB, value):
                return False
        elif kind == FLOATS and held is A_FLOATS:
            self.floats(value.data)
        elif held is tuple and ITEM_KINDS[kind]:
            for item in <tuple>value:
                if not self.item(ITEM_KINDS[kind], VALUE_KEYS[kind], item):
                    return False
        elif ITEM_KINDS[kind] or not self.item(kind, VALUE_KEYS[kind], value):
            return False
        if not is_sparse:
            out.number(ATTRIBUTE_TYPE, kind)
        return True

    cdef bint item(self, int kind, int key, value) except -1:
        """Add a value of an attribute as a field.

        Return False, with incomplete output, if Python must encode it.
        """
        cdef Buffer out = self.out
        cdef Py_ssize_t start
        cdef uint32_t bits
        held = type(value)
        if kind == INT:
            return held is int and self.integer(key, value)
        if kind == STRING and held is bytes:
            return not out.field(key, value)
        if kind == FLOAT and held is A_FLOAT:
            bits = value.bits
            out.need(5)
            out.data[out.size] = key
            memcpy(out.data + out.size + 1, &bits, 4)
            out.size += 5
            return True
        start = out.open(key)
        if kind == TENSOR and held is A_TENSOR:
            name = get(value, OF_TENSOR.name)
            if name is None:
                name = self.tensor_name
            if get(value, OF_TENSOR.decorators) or not self.tensor(
                get(value, OF_TENSOR.type), name, get(value, OF_TENSOR.data), None
            ):
                return False
        elif kind == GRAPH and held is A_GRAPH:
            self.graph_fields(value)
        elif kind == SPARSE_TENSOR and held is A_SPARSE:
            if not self.sparse(value, None):
                return False
        elif kind != TYPE_PROTO or not self.type(value, 0):
            return False
        out.close(start)
        return True

    cdef bint blob_value(self, int kind, bint is_typed, blob) except -1:
        """Add the value of an attribute from a blob; return False if Python must encode it."""
        try:
            data = self.blob(blob)
        except LowerError:
            return False  # Python raises it again, with the offset of the node
        if kind == FLOATS and len(data) % 4 == 0:
            return not self.floats(bytes(data))
        if is_typed and kind == INTS:
            return add_packed(self.out, VALUE_KEYS[kind], data)
        if not is_typed or kind != STRINGS:
            return False
        fields = fields_of_strings(VALUE_KEYS[kind], data)
        return fields is not None and not self.out.add_bytes(<bytes>fields)

    cdef int floats(self, bytes data) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t offset
        for offset in range(0, PyBytes_GET_SIZE(data) - 3, 4):
            out.need(5)
            out.data[out.size] = ATTRIBUTE_FLOATS
            memcpy(out.data + out.size + 1, PyBytes_AS_STRING(data) + offset, 4)
            out.size += 5
        return 0

    # ---- Tensors ----------------------------------------------------------------------------

    cdef int initializers(self, list values, bint is_input) except -1:
        """Add the dense initializers as fields of their graph."""
        cdef Buffer out = self.out
        cdef Py_ssize_t before, start
        cdef Decorations added
        for value in values:
            self.check_signals()
            self.flush_if_large()
            before = out.size
            data = data_of(value)
            if type(data) is A_SPARSE:
                continue
            added = None
            if type(value) is VALUE_INFO:
                added, decorators = PLAIN, get(value, OF_VALUE.decorators)
                if decorators:
                    added = None if is_input else decorations_of(decorators)
                if added is not None and not self.tensors_in_python:
                    data = self.resolved(value, data)
            if (
                added is not None and added.denotation is None
                and not (added.is_located and type(data) is EXTERNAL_DATA)
            ):
                start = out.open(GRAPH_INITIALIZER)
                kind = get(value, OF_VALUE.type)
                if self.tensor(kind, get(value, OF_VALUE.name), data, added.doc):
                    if added.is_located:
                        out.number(TENSOR_DATA_LOCATION, 0)
                    if not is_input:
                        self.entries(TENSOR_METADATA_PROPS, get(value, OF_VALUE.metadata))
                    if added.entries is not None:
                        self.arguments(TENSOR_METADATA_PROPS, added.entries)
                    out.close(start)
                    continue
                out.size = before
            self.add_initializer(self.python().initializer_with(value, data, is_input))
        return 0

    cdef object resolved(self, value, data):
        """Return the data of an initializer; read it if it is in a typed blob or a data file."""
        kind = type(data)
        if kind is A_TYPED_BLOB or kind is A_DATA_FILE:
            return self.python().tensor_data(
                get(value, OF_VALUE.type), data, get(value, OF_VALUE.at), get(value, OF_VALUE.name)
            )
        return data

    cdef int add_initializer(self, list pieces) except -1:
        """Add an initializer that Python encoded; large data in the main graph is not copied."""
        self.out.head(GRAPH_INITIALIZER, sum(map(len, pieces)))
        for piece in pieces:
            if len(piece) > SMALL and self.depth == 1:
                self.pieces += (self.out.take(0), piece)
            else:
                self.out.add_bytes(bytes(piece))
        return 0

    cdef int flush_if_large(self) except -1:
        """Make a piece of a large buffer; not in a nested graph, whose length is inserted later."""
        if self.out.size >= LARGE and self.depth == 1:
            self.pieces.append(self.out.take(0))
        return 0

    cdef bint tensor(self, type_, name, data, bytes doc) except -1:
        """Add a tensor with short data, strings or external data; return False for others."""
        cdef Buffer out = self.out
        cdef TensorForm form
        cdef type kind = type(data)
        cdef bint raw = kind is RAW_DATA
        cdef int key = TENSOR_RAW_DATA
        if self.tensors_in_python:
            return False
        if raw or kind is TYPED_DATA:
            held = get(data, OF_RAW if raw else OF_TYPED)
            if len(held) > SMALL:
                return False
        elif kind is not STRING_DATA and kind is not EXTERNAL_DATA and kind is not A_BLOB:
            return False
        form = self.forms.get(identity(type_))
        if form is None:
            form = self.forms[identity(type_)] = self.form(type_)
            self.alive.append(type_)
        if kind is A_BLOB and 0 <= form.size <= SMALL:
            try:
                held = self.blob(data)
            except LowerError:
                return False  # Python raises it again, with the name of the tensor
            raw = len(held) == form.size
        if kind is A_BLOB and not raw:
            return False
        if kind is STRING_DATA or kind is EXTERNAL_DATA:
            out.add_bytes(form.head)
            if kind is STRING_DATA:
                for item in get(data, OF_STRINGS):
                    out.field(TENSOR_STRING_DATA, item)
            self.optional_text(TENSOR_NAME, name)
            if doc is not None:
                out.field(TENSOR_DOC_STRING, doc)
            if kind is EXTERNAL_DATA:
                self.entries(TENSOR_EXTERNAL_DATA, get(data, OF_EXTERNAL))
                out.number(TENSOR_DATA_LOCATION, 1)
            return True
        if not raw:
            key = form.key
            if not key:
                return False
        out.add_bytes(form.head)
        if key > TENSOR_NAME:
            self.optional_text(TENSOR_NAME, name)
        if raw or (len(held) and not form.width):
            out.field(key, held if type(held) is bytes else bytes(held))
        elif len(held):
            form.add_varints(out, held)
        if key < TENSOR_NAME:
            self.optional_text(TENSOR_NAME, name)
        if doc is not None:
            out.field(TENSOR_DOC_STRING, doc)
        return True

    cdef bint sparse(self, sparse, name) except -1:
        """Add the fields of a plain sparse tensor; return False for others.

        `name` is the name of a sparse initializer, which its values tensor stores; None otherwise.
        """
        cdef Py_ssize_t start
        if self.sparse_in_python or sparse.decorators:
            return False
        for key, part in (
            (SPARSE_TENSOR_VALUES, sparse.values), (SPARSE_TENSOR_INDICES, sparse.indices)
        ):
            if type(part) is not A_TENSOR or part.decorators:
                return False
            if name is None:
                name = self.tensor_name
            start = self.out.open(key)
            if not self.tensor(
                part.type, name if part.name is None else part.name, part.data, None
            ):
                return False
            self.out.close(start)
            name = None
        for dim in sparse.dims:
            if not self.integer(SPARSE_TENSOR_DIMS, dim):
                return False
        return True
