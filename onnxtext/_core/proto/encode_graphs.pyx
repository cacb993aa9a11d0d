# SPDX-License-Identifier: Apache-2.0
"""Encode graphs, functions and nodes: the compiled `onnxtext.proto.encode.messages`.

Python encodes rare forms; their bytes keep their position in the output.
"""
cimport cython
from libc.stdint cimport int64_t, uint64_t

from onnxtext._core.wire.buffer cimport Buffer
from onnxtext._core.proto.decorators cimport Decorations, decorations_of, text_argument
from onnxtext._core.proto.encode_types cimport identity, can_add_denotation
from onnxtext._core.proto.encode_values cimport ValueEncoder
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.ast.slots cimport (
    FUNCTION, MODEL, NODE, OF_FUNCTION, OF_GRAPH, OF_MODEL, OF_NODE, OF_OPSET, OF_VALUE, OPSET,
    VALUE_INFO, data_of, get, graph_part, part_of, value_part,
)

from onnxtext._core.ast.list_order import ordered_infos
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.proto.encode.messages import own_decorators
from onnxtext.proto.presence_defaults import unset_decorator

cdef enum:
    DEEPEST = 100  # the maximum nesting of graphs; protobuf reads about 33

cdef type SPARSE_TENSOR = SparseTensor
cdef object UNSET_DOMAIN = unset_decorator("domain")


@cython.final
cdef class Encoder(ValueEncoder):
    """Encodes the graphs and functions of one model."""
    cdef bint is_model  # whether to apply the decorators of the main graph

    def model(self, model):
        """Encode a `ModelProto`; return its bytes in pieces."""
        cdef Py_ssize_t size = 0
        cdef list pieces
        graph = part_of(model, MODEL, OF_MODEL.graph)
        rare = get(model, OF_MODEL.training) or get(model, OF_MODEL.configurations) or self.others
        decorators = graph_part(graph, OF_GRAPH.decorators, "decorators")
        if rare or decorators and self._decorations(graph) is None:
            return self._noted(self.python().model(model))
        self.is_model = True
        # In the order of `messages.Lowering.model`, so that the same error is raised first.
        for item in get(model, OF_MODEL.opset_imports):
            self._opset(MODEL_OPSET_IMPORT, item)
        self.entries(MODEL_METADATA_PROPS, get(model, OF_MODEL.metadata))
        self._functions(get(model, OF_MODEL.functions))
        tail = self.out.take(0)
        self.depth = 0
        pieces = self.graph(graph)
        self.optional_integer(MODEL_IR_VERSION, get(model, OF_MODEL.ir_version))
        self.optional_text(MODEL_PRODUCER_NAME, get(model, OF_MODEL.producer_name))
        self.optional_text(MODEL_PRODUCER_VERSION, get(model, OF_MODEL.producer_version))
        self.optional_text(MODEL_DOMAIN, get(model, OF_MODEL.domain))
        self.optional_integer(MODEL_MODEL_VERSION, get(model, OF_MODEL.model_version))
        self.optional_text(MODEL_DOC_STRING, get(model, OF_MODEL.doc_string))
        for piece in pieces:
            size += len(piece)
        self.out.head(MODEL_GRAPH, size)
        pieces = [self.out.take(0), *pieces, tail]
        rest = get(model, OF_MODEL.decorators)
        if rest:
            pieces = self._noted(self.python().finish_pieces("ModelProto", pieces, rest, graph.at))
        return pieces

    cpdef list graph(self, graph):
        """Encode a `GraphProto`; return its bytes in pieces."""
        self.graph_fields(graph)
        return self._noted([*self.pieces, self.out.take(0)])

    def functions(self, functions):
        """Encode functions as fields of their `ModelProto`."""
        self._functions(functions)
        return self._noted(self.out.take(0))

    def function(self, function):
        """Encode a `FunctionProto`."""
        self.depth = 1
        self._function(function)
        return self._noted(self.out.take(0))

    cdef object _noted(self, encoded):
        """Exchange the nesting depths with the lowering; return `encoded`."""
        low = self.lowering
        if low is not None:
            low.depth, self.omitted = self.level, low.omitted
            low.deepest = self.deepest = max(self.deepest, low.deepest)
            low.deepest_type = self.deepest_type = max(self.deepest_type, low.deepest_type)
        return encoded

    # ---- Graphs and functions ---------------------------------------------------------------

    cdef int graph_fields(self, graph) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t start = out.size, inside, before
        cdef list data
        cdef Decorations added = None
        cdef bint is_ordered
        inputs = graph_part(graph, OF_GRAPH.inputs, "inputs")
        values = graph_part(graph, OF_GRAPH.values, "values")
        decorators = graph_part(graph, OF_GRAPH.decorators, "decorators")
        is_ordered = has_orders(decorators)
        if decorators and (self.depth or self.is_model):
            added = self._decorations(graph)
        if self.depth == DEEPEST:
            raise RecursionError("graphs are nested too deeply")
        self.depth += 1
        self.level += 1
        self.deepest = max(self.deepest, self.level)
        for node in graph_part(graph, OF_GRAPH.nodes, "nodes"):
            self._node(GRAPH_NODE, node)
            self.flush_if_large()
        out.text(GRAPH_NAME, graph_part(graph, OF_GRAPH.name, "name"))
        if is_ordered:
            data = [(is_input, [value]) for value, is_input in self.python().initializers(graph)]
        else:
            data = []
            if inputs:
                data.append((True, [value for value in inputs if data_of(value) is not None]))
            if values:
                data.append((False, [value for value in values if data_of(value) is not None]))
        for is_input, items in data:
            self.initializers(items, is_input)
        if added is not None and added.doc is not None:
            out.field(GRAPH_DOC_STRING, added.doc)
        for value in inputs:
            self._value(GRAPH_INPUT, value)
        for value in graph_part(graph, OF_GRAPH.outputs, "outputs"):
            self._value(GRAPH_OUTPUT, value)
        self.flush_if_large()
        if is_ordered and self._ordered(graph, [items[0] for _, items in data]):
            pass
        elif self.values_in_python or is_ordered:
            for value in self.python().listed_infos(graph):
                self._value(GRAPH_VALUE_INFO, value)
        else:
            for value in values:
                if data_of(value) is None:
                    self._value(GRAPH_VALUE_INFO, value)
                    self.flush_if_large()
            self._typed_outputs(GRAPH_VALUE_INFO, graph)
        for item in graph_part(graph, OF_GRAPH.quantization, "quantization"):
            inside = out.open(GRAPH_QUANTIZATION_ANNOTATION)
            out.text(ANNOTATION_TENSOR_NAME, item.tensor_name)
            self.entries(ANNOTATION_QUANT_PARAMETER_TENSOR_NAMES, item.entries)
            out.close(inside)
        for is_input, items in data:
            for value in items:
                if type(data_of(value)) is SPARSE_TENSOR:
                    self.check_signals()
                    before = out.size
                    inside = out.open(GRAPH_SPARSE_INITIALIZER)
                    if not value.decorators and self.sparse(value.data, value.name):
                        out.close(inside)
                        continue
                    out.size = before
                    encoded = self.python().initializer(value, is_input=is_input)
                    out.field(GRAPH_SPARSE_INITIALIZER, b"".join(encoded))
        self.entries(GRAPH_METADATA_PROPS, graph_part(graph, OF_GRAPH.metadata, "metadata"))
        if added is not None and added.entries is not None:
            self.arguments(GRAPH_METADATA_PROPS, added.entries)
        self.depth -= 1
        self.level -= 1
        if self.depth and added is None and (decorators or self.others):
            out.add_bytes(self.python().finish_graph(out.take(start), graph))
        return 0

    cdef Decorations _decorations(self, graph):
        """Return the fields that decorators add to a graph; None if Python must apply them."""
        cdef Decorations added
        added = None if self.others else decorations_of(own_decorators(graph))
        if added is None or added.denotation is not None or added.is_located:
            return None
        return added

    cdef bint _ordered(self, graph, list initializers) except -1:
        """Add value infos in the order of `@value_info(…)`; return False if Python must do it."""
        cdef dict metadata
        if self.values_in_python:
            return False
        result = ordered_infos(graph, initializers)
        if result is None:
            return False
        metadata = dict(graph.value_metadata)
        for entry in result:
            self.check_signals()
            if type(entry) is tuple:
                name, kind, offset = entry
                entries = metadata.pop(name, ()) if metadata else ()
                self._typed(GRAPH_VALUE_INFO, name, kind, entries, offset, None)
            else:
                self._value(GRAPH_VALUE_INFO, entry)
            self.flush_if_large()
        if metadata:
            self.python().check_used(metadata, graph)
        return True

    cdef int _functions(self, functions) except -1:
        cdef Py_ssize_t start
        self.depth = 1
        for function in functions:
            start = self.out.open(MODEL_FUNCTIONS)
            self._function(function)
            self.out.close(start)
        return 0

    cdef int _function(self, function) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t start = out.size
        if type(function) is not FUNCTION:
            raise TypeError("expected a Function")
        inputs, outputs = get(function, OF_FUNCTION.inputs), get(function, OF_FUNCTION.outputs)
        parameters, offset = get(function, OF_FUNCTION.attributes), get(function, OF_FUNCTION.at)
        decorators = get(function, OF_FUNCTION.decorators)
        out.text(FUNCTION_NAME, get(function, OF_FUNCTION.name))
        for value in inputs:
            out.text(FUNCTION_INPUT, value_part(value, OF_VALUE.name, "name"))
        for value in outputs:
            out.text(FUNCTION_OUTPUT, value_part(value, OF_VALUE.name, "name"))
        for item in parameters:
            if isinstance(item, str):
                out.text(FUNCTION_ATTRIBUTE, item)
        for node in get(function, OF_FUNCTION.nodes):
            self._node(FUNCTION_NODE, node)
        self.optional_text(FUNCTION_DOC_STRING, get(function, OF_FUNCTION.doc_string))
        for item in get(function, OF_FUNCTION.opset_imports):
            self._opset(FUNCTION_OPSET_IMPORT, item)
        self.optional_text(FUNCTION_DOMAIN, get(function, OF_FUNCTION.domain))
        for item in parameters:
            if not isinstance(item, str):
                self.attribute(FUNCTION_ATTRIBUTE_PROTO, item, offset)
        for values in (inputs, outputs):
            for value in values:
                if value_part(value, OF_VALUE.type, "type") is not None:
                    self._value(FUNCTION_VALUE_INFO, value)
        for value in get(function, OF_FUNCTION.values):
            self._value(FUNCTION_VALUE_INFO, value)
        if self.values_in_python:
            metadata = dict(get(function, OF_FUNCTION.value_metadata))
            for encoded in self.python().typed_outputs(function, metadata):
                out.field(FUNCTION_VALUE_INFO, encoded)
        else:
            self._typed_outputs(FUNCTION_VALUE_INFO, function)
        self.optional_text(FUNCTION_OVERLOAD, get(function, OF_FUNCTION.overload))
        self.entries(FUNCTION_METADATA_PROPS, get(function, OF_FUNCTION.metadata))
        if decorators or self.others:
            encoded = out.take(start)
            out.add_bytes(self.python().finish("FunctionProto", encoded, decorators, offset))
        return 0

    cdef int optional_integer(self, int key, value) except -1:
        """Add an integer field unless the value is None."""
        cdef int64_t number
        if value is not None:
            number = value
            self.out.number(key, <uint64_t>number)
        return 0

    cdef int _opset(self, int key, item) except -1:
        cdef Py_ssize_t start
        cdef int64_t version
        if self.opsets_in_python or type(item) is not OPSET:
            return self.out.field(key, self.python().opset(item))
        version = get(item, OF_OPSET.version)
        start = self.out.open(key)
        self.optional_text(OPERATOR_SET_ID_DOMAIN, get(item, OF_OPSET.domain))
        self.out.number(OPERATOR_SET_ID_VERSION, <uint64_t>version)
        return self.out.close(start)

    # ---- Nodes and values -------------------------------------------------------------------

    cdef int _node(self, int key, node) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t start
        self.check_signals()
        if self.nodes_in_python or type(node) is not NODE:
            return self.in_python(key, self.python().node(node))
        decorators = get(node, OF_NODE.decorators)
        doc, is_unset, domain = None, False, get(node, OF_NODE.domain)
        if len(decorators) == 1 and decorators[0].name == "doc":
            doc = text_argument(decorators[0])
        elif len(decorators) == 1 and domain is None:
            is_unset = decorators[0] == UNSET_DOMAIN
        if decorators and doc is None and not is_unset:
            return self.in_python(key, self.python().node(node))
        start = out.open(key)
        for text in get(node, OF_NODE.inputs):
            out.text(NODE_INPUT, text)
        for text in get(node, OF_NODE.outputs):
            out.text(NODE_OUTPUT, text)
        name = get(node, OF_NODE.name)
        self.optional_text(NODE_NAME, self.node_name if name is None else name)
        out.text(NODE_OP_TYPE, get(node, OF_NODE.op_type))
        attributes = get(node, OF_NODE.attributes)
        if attributes:
            self.node_attributes(attributes, node)
        if doc is None:
            out.add_bytes(self.doc)
        else:
            out.field(NODE_DOC_STRING, doc)
        if domain is not None:
            out.text(NODE_DOMAIN, domain)
        elif not is_unset:
            out.add_bytes(self.domain)
        overload = get(node, OF_NODE.overload)
        if overload is None:
            out.add_bytes(self.overload)
        else:
            out.text(NODE_OVERLOAD, overload)
        metadata = get(node, OF_NODE.metadata)
        if metadata:
            self.entries(NODE_METADATA_PROPS, metadata)
        return out.close(start)

    cdef int _typed_outputs(self, int key, owner) except -1:
        """Add a value info for each node output that has a type."""
        cdef Py_ssize_t index
        part = graph_part(owner, OF_GRAPH.value_metadata, "value_metadata")
        cdef dict metadata = dict(part) if part else None
        for node in graph_part(owner, OF_GRAPH.nodes, "nodes"):
            types = get(node, OF_NODE.output_types) if type(node) is NODE else node.output_types
            if types:
                self.check_signals()
                outputs = node.outputs
                if len(outputs) != len(types):
                    raise ValueError("outputs and their types differ in number")
                for index in range(len(types)):
                    if types[index] is not None:
                        name = outputs[index]
                        entries = metadata.pop(name, ()) if metadata else ()
                        self._typed(key, name, types[index], entries, node.at, None)
                if key == GRAPH_VALUE_INFO:
                    self.flush_if_large()
        if metadata:
            self.python().check_used(metadata, owner)
        return 0

    cdef int _value(self, int key, value) except -1:
        cdef Decorations added = None
        self.check_signals()
        if self.values_in_python or type(value) is not VALUE_INFO:
            return self.out.field(key, self.python().value_info(value))
        decorators = get(value, OF_VALUE.decorators)
        if decorators:
            added = decorations_of(decorators)
            if added is None or added.is_located or (
                added.denotation is not None and not can_add_denotation(get(value, OF_VALUE.type))
            ):
                return self.out.field(key, self.python().value_info(value))
        return self._typed(
            key,
            get(value, OF_VALUE.name),
            get(value, OF_VALUE.type),
            get(value, OF_VALUE.metadata),
            get(value, OF_VALUE.at),
            added,
        )

    cdef int _typed(self, int key, name, type, metadata, offset, Decorations added) except -1:
        """Add a value info; `added` has the fields of its decorators, None if it has none."""
        cdef Buffer out = self.out
        cdef Py_ssize_t start = out.open(key), type_start
        out.text(VALUE_INFO_NAME, name)
        if added is not None and added.denotation is not None:
            type_start = out.open(VALUE_INFO_TYPE)
            if not self.type(type, 0):
                out.add_bytes(self.python().plain_type(type, offset))
            out.field(TYPE_DENOTATION, added.denotation)
            out.close(type_start)
        elif type is not None:
            encoded = self.types.get(identity(type))
            if encoded is None:
                encoded = self.type_field(type)
                if encoded is None:
                    encoded = self.python().typed(type, offset)
                self.types[identity(type)] = encoded
                self.alive.append(type)
            out.add_bytes(<bytes?>encoded)
        if added is not None and added.doc is not None:
            out.field(VALUE_INFO_DOC_STRING, added.doc)
        if metadata:
            self.entries(VALUE_INFO_METADATA_PROPS, metadata)
        if added is not None and added.entries is not None:
            self.arguments(VALUE_INFO_METADATA_PROPS, added.entries)
        return out.close(start)


cdef bint has_orders(decorators) except -1:
    """Whether a decorator defines the order of a list."""
    for decorator in decorators:
        if decorator.name in ORDERS:
            return True
    return False
