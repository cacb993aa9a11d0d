# SPDX-License-Identifier: Apache-2.0
"""Decode models of the most common form, and functions."""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from onnxtext._core.proto.decode_graphs cimport SIGNAL_INTERVAL, Decoder, next_field
from onnxtext._core.proto.decode_types cimport text_of
from onnxtext._core.proto.decode_values cimport SMALL, UNKNOWN, added
from onnxtext._core.proto.decode_entries cimport any_entry_of
from onnxtext._core.proto.field_keys cimport *
from onnxtext._core.ast.slots cimport FUNCTION, MODEL, OPSET, build, plain_value_info
from onnxtext._core.wire.reader cimport Bytes, Field, read_field

from onnxtext.ast.compact_form.assemble import assemble_function
from onnxtext.ast.metadata_decorators import meta_of
from onnxtext.proto.decode.nodes import NO_DEFAULTS
from onnxtext.proto.decode.residual_fields import unknown_decorators
from onnxtext.proto.decode.types_and_tensors import lift_configuration


@cython.final
cdef class ModelDecoder(Decoder):
    """Decodes the messages of one model."""

    def model(self, data):
        """Decode a `ModelProto` with one graph; None for others, and for unusual wire fields.

        Raises:
            NotCanonical: encoding the model again cannot give the same bytes.
            WireError: the bytes are not a message.
        """
        cdef const unsigned char[::1] buffer
        cdef Bytes start = NULL
        cdef Py_ssize_t end
        if type(data) is bytes:  # faster than a typed memoryview
            start, end = <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        else:
            buffer = data
            end = buffer.shape[0]
            if end:
                start = &buffer[0]
        if not has_one_graph(start, end):
            return None
        self.values.is_strict = True
        try:
            return self._model(start, memoryview(data), end)
        finally:
            self.lifter = None

    cdef object _model(self, Bytes data, view, Py_ssize_t end):
        cdef Field field
        cdef Py_ssize_t before, offset = 0
        cdef list opsets = [], functions = [], metadata = [], training = [], configurations = []
        cdef list rest = None
        graph = ir_version = model_version = None
        producer_name = producer_version = domain = doc_string = None
        while offset < end:
            read_field(data, offset, end, &field)
            before, offset = offset, field.end
            if field.key == MODEL_IR_VERSION:
                ir_version = <int64_t>field.number
            elif field.key == MODEL_MODEL_VERSION:
                model_version = <int64_t>field.number
            elif field.key == MODEL_PRODUCER_NAME:
                producer_name = text_of(data, field.value, offset)
            elif field.key == MODEL_PRODUCER_VERSION:
                producer_version = text_of(data, field.value, offset)
            elif field.key == MODEL_DOMAIN:
                domain = text_of(data, field.value, offset)
            elif field.key == MODEL_DOC_STRING:
                doc_string = text_of(data, field.value, offset)
            elif field.key == MODEL_GRAPH:
                graph = self._graph(data, view, field.value, offset, 1)
            elif field.key == MODEL_OPSET_IMPORT:
                opsets.append(self._opset(data, view, field.value, offset))
            elif field.key == MODEL_METADATA_PROPS:
                metadata.append(any_entry_of(data, view, field.value, offset))
            elif field.key == MODEL_FUNCTIONS:
                functions.append(self._function(data, view, field.value, offset, 1))
            elif field.key == MODEL_TRAINING_INFO:
                training.append(self.rare_lifter().training(view[field.value:offset]))
            elif field.key == MODEL_CONFIGURATION:
                configurations.append(lift_configuration(view[field.value:offset]))
            else:
                rest = added(rest, view[before:offset])
        decorators = () if rest is None else unknown_decorators("ModelProto", b"".join(rest))
        return build(MODEL, (
            graph, functions, NO_DEFAULTS, ir_version, opsets, producer_name, producer_version,
            domain, model_version, doc_string, metadata, decorators, training, configurations, (),
            None, {}, False, [], False, False,
        ))

    def facts(self):
        """Return the facts about the decoded model that `Facts` of `proto.decode.lift` describes."""
        return (
            self.values.largest if self.values.largest < UNKNOWN else -1,
            self.values.is_plain,
            self.node_lists if self.has_empty_fields else [],
            self.values.tensors,
        )

    def function(self, lifter, data, int depth):
        """Decode a `FunctionProto`.

        Args:
            lifter: the `Lifter` that decodes rare forms.
            data: the bytes of the message.
            depth: the number of messages that enclose it.

        Raises:
            WireError: the bytes are not a message.
        """
        cdef const unsigned char[::1] buffer = data
        cdef Py_ssize_t end = buffer.shape[0]
        caller, self.lifter = self.lifter, lifter
        try:
            return self._function(&buffer[0] if end else NULL, memoryview(data), 0, end, depth)
        finally:
            self.lifter = caller

    cdef object _function(self, Bytes data, view, Py_ssize_t offset, Py_ssize_t end, int depth):
        cdef Field field
        cdef Py_ssize_t before
        cdef int countdown = SIGNAL_INTERVAL
        cdef list inputs = [], outputs = [], parameters = [], nodes = [], opsets = []
        cdef list attributes = None, infos = None, entries = None, rest = None
        name = ""
        domain = overload = doc_string = None
        self.node_lists.append(nodes)
        while offset < end:
            countdown -= 1
            if not countdown:
                countdown = SIGNAL_INTERVAL
                PyErr_CheckSignals()
            next_field(data, view, offset, end, &field)
            before, offset = offset, field.end
            if field.key == FUNCTION_NODE:
                nodes.append(self._node(data, view, field.value, offset, depth + 1))
            elif field.key == FUNCTION_VALUE_INFO:
                infos = added(infos, self._value_info(data, view, field.value, offset))
            elif field.key == FUNCTION_ATTRIBUTE_PROTO:
                decoded = self.values.attribute(data, view, field.value, offset, SMALL)
                if decoded is None:
                    decoded = self.rare_lifter().attribute(view[field.value:offset], depth + 1)
                attributes = added(attributes, decoded)
            elif field.key == FUNCTION_OPSET_IMPORT:
                opsets.append(self._opset(data, view, field.value, offset))
            elif field.key == FUNCTION_METADATA_PROPS:
                entries = added(entries, any_entry_of(data, view, field.value, offset))
            elif field.key == FUNCTION_INPUT:
                inputs.append(plain_value_info(text_of(data, field.value, offset), None, None, ()))
            elif field.key == FUNCTION_OUTPUT:
                outputs.append(plain_value_info(text_of(data, field.value, offset), None, None, ()))
            elif field.key == FUNCTION_ATTRIBUTE:
                parameters.append(text_of(data, field.value, offset))
            elif field.key == FUNCTION_NAME:
                name = text_of(data, field.value, offset)
            elif field.key == FUNCTION_DOMAIN:
                domain = text_of(data, field.value, offset)
            elif field.key == FUNCTION_OVERLOAD:
                overload = text_of(data, field.value, offset)
            elif field.key == FUNCTION_DOC_STRING:
                doc_string = text_of(data, field.value, offset)
            else:
                rest = added(rest, view[before:offset])
        function = build(FUNCTION, (
            name, inputs, outputs, tuple(parameters + attributes if attributes else parameters), [],
            nodes, domain, overload, doc_string, opsets, (), None, (), {}, -1,
        ))
        if entries:
            self.values.is_plain = False
            function.decorators = (meta_of(tuple(entries)),)
        if infos:
            assemble_function(function, infos)
        if rest:
            self.values.is_plain = False
            function.decorators += unknown_decorators("FunctionProto", b"".join(rest))
        return function

    cdef object _opset(self, Bytes data, view, Py_ssize_t start, Py_ssize_t end):
        cdef Field field
        cdef Py_ssize_t offset = start
        domain = None
        if read_field(data, offset, end, &field) and field.key == OPERATOR_SET_ID_DOMAIN:
            domain = text_of(data, field.value, field.end)
            offset = field.end
        if read_field(data, offset, end, &field) and field.key == OPERATOR_SET_ID_VERSION:
            if field.end == end:
                return build(OPSET, (domain, <int64_t>field.number))
        return self.python().opset(view[start:end])


cdef bint has_one_graph(Bytes data, Py_ssize_t end) noexcept:
    """Whether a `ModelProto` has exactly one graph, and the core can read all its wire fields."""
    cdef Field field
    cdef Py_ssize_t offset = 0
    cdef int graphs = 0
    while offset < end:
        if not read_field(data, offset, end, &field) or field.key < 8:
            return False
        graphs += field.key == MODEL_GRAPH
        offset = field.end
    return graphs == 1
