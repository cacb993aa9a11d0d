# SPDX-License-Identifier: Apache-2.0
"""Decode models, graphs, functions and values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.compact_form.assemble import assemble_function, assemble_graph
from onnxtext.proto.decode.fields import all_fields, last_text, split_fields
from onnxtext.proto.decode.nodes import NO_DEFAULTS, NodeLifter
from onnxtext.proto.decode.residual_fields import residual_decorators, unknown_decorators
from onnxtext.proto.decode.types_and_tensors import (
    Data,
    doc_decorator,
    lift_annotation,
    lift_configuration,
    lift_entry,
    lift_opset,
    lift_sparse_tensor,
    lift_tensor,
    lift_type,
    meta_decorator,
)
from onnxtext.proto.presence_defaults import unset_decorator
from onnxtext.select_core import core, core_module
from onnxtext.wire.compare_pieces import pieces_equal
from onnxtext.wire.reader import check_depth, read_fields, read_varint, to_int64
from onnxtext.wire.writer import LENGTH, VARINT

if TYPE_CHECKING:
    from onnxtext._core.proto.decode_models import ModelDecoder

_FAST_LEVELS = 3
"""Graphs nested at most this deep are first decoded as a whole and compared as a whole.

If the comparison finds a difference, the graph is decoded again, and each item is compared.
Deeper graphs are only decoded with a comparison of each item: otherwise, a node could be decoded
once for each graph around it.
"""

_DEPTH_OF_MODEL_GRAPH = 1
"""The number of messages around a model's own graph; other graphs in a model are deeper."""

_DEEP = 90
"""Graphs and functions nested deeper than this are read in Python, which checks the depth limit."""


class Lifter(NodeLifter):
    """Decodes the messages of one model; caches types, attributes and operator sets."""

    def __init__(
        self,
        *,
        compare_items: bool,
        native: bool = True,
        decoder: ModelDecoder | None = None,
        graph_differs: bool = False,
    ) -> None:
        """Create the caches.

        Args:
            compare_items: whether to compare every item with its bytes and add residual decorators.
            native: whether the native core may be used.
            decoder: decodes with the native core; None for a new one.
            graph_differs: whether the fast path is known to fail for the model's graph. Then
                it is not tried if `compare_items`.
        """
        super().__init__(compare_items=compare_items)
        self._native = native and not compare_items and core() == "native"
        self._value_types: dict[bytes, ast.ValueInfo] = {}
        self._opsets: dict[bytes, ast.OpsetImport] = {}
        if self._native:
            new = core_module("proto.decode_models").ModelDecoder
            self._decoder: ModelDecoder = decoder or new(self._value_types)
        self._fast = Lifter(compare_items=False, native=native) if compare_items else None
        self._graph_differs = graph_differs
        self._level = 0  # the number of enclosing graphs whose items are compared

    # ---- Models -----------------------------------------------------------------------------

    def model(self, data: Data) -> ast.Model:
        """Decode a `ModelProto`.

        Raises:
            WireError: the bytes are not a message.
        """
        model = ast.Model(ast.Graph(""), presence=NO_DEFAULTS)
        view = memoryview(data)
        rest: list[Data] = []
        for field in all_fields(data) if self._native else read_fields(data, 0, len(data)):
            number = field.number
            if field.wire_type == VARINT:
                value = to_int64(read_varint(data, field.value, field.end)[0])
                if number == 1:
                    model.ir_version = value
                elif number == 5:
                    model.model_version = value
                else:
                    rest.append(view[field.start : field.end])
            elif field.wire_type == LENGTH:
                inside = view[field.value : field.end]
                match number:
                    case 2:
                        model.producer_name = to_text(inside)
                    case 3:
                        model.producer_version = to_text(inside)
                    case 4:
                        model.domain = to_text(inside)
                    case 6:
                        model.doc_string = to_text(inside)
                    case 7:
                        model.graph = self.graph(
                            data, _DEPTH_OF_MODEL_GRAPH, field.value, field.end
                        )
                    case 8:
                        model.opset_imports.append(self.opset(inside))
                    case 14:
                        model.metadata.append(lift_entry(inside))
                    case 20:
                        model.training.append(self.training(inside))
                    case 25:
                        model.functions.append(self.function(inside, 1))
                    case 26:
                        model.configurations.append(lift_configuration(inside))
                    case _:
                        rest.append(view[field.start : field.end])
            else:
                rest.append(view[field.start : field.end])
        if self.compare_items:
            lowered = b"".join(self._lowering.model(model))
            model.decorators = residual_decorators("ModelProto", lowered, bytes(data))
        elif rest:
            model.decorators = unknown_decorators("ModelProto", b"".join(rest))
        return model

    def training(self, data: Data) -> ast.Training:
        """Decode a `TrainingInfoProto`."""
        result = ast.Training()
        for field in read_fields(data, 0, len(data)):
            if field.wire_type == LENGTH:
                inside = data[field.value : field.end]
                match field.number:
                    case 1:
                        result.initialization = self.graph(inside, 2)
                    case 2:
                        result.algorithm = self.graph(inside, 2)
                    case 3:
                        result.initialization_binding.append(lift_entry(inside))
                    case 4:
                        result.update_binding.append(lift_entry(inside))
        return result

    # ---- Graphs and functions ---------------------------------------------------------------

    def graph(
        self, data: Data, depth: int = 0, start: int = 0, end: int | None = None
    ) -> ast.Graph:
        """Decode a `GraphProto`.

        Args:
            data: the bytes that contain the message.
            depth: the number of enclosing messages.
            start: the offset of the first byte of the message.
            end: the offset after its last byte; None for the end of `data`.
        """
        end = len(data) if end is None else end
        check_depth(depth)
        if self._native and depth <= _DEEP:
            return self._decoder.graph(self, data, start, end, depth)
        # Try the fast path first: most graphs have no fields that need residual decorators.
        has_failed = self._graph_differs and depth == _DEPTH_OF_MODEL_GRAPH
        if self._fast is not None and self._level < _FAST_LEVELS and not has_failed:
            result = self._fast.graph(data, depth, start, end)
            if self._encodes(result, "GraphProto", memoryview(data)[start:end]):
                return result
        graph = ast.Graph("")
        texts: dict[int, list[str]] = {2: []}
        others, rest = split_fields(data, start, end, texts, _GRAPH_FIELDS)
        graph.name = last_text(texts[2]) or ""
        self._level += 1
        self._finish_graph(graph, others, depth, is_named=bool(texts[2]))
        self._level -= 1
        if self.compare_items:
            lowered = b"".join(self._lowering.graph(graph))
            self._add_residue(graph, "GraphProto", lowered, memoryview(data)[start:end])
        elif rest:
            graph.decorators += unknown_decorators("GraphProto", b"".join(rest))
        return graph

    def _finish_graph(
        self, graph: ast.Graph, others: Iterable[tuple[int, Data]], depth: int, *, is_named: bool
    ) -> None:
        """Decode all fields of a graph but its name, and assemble its lists (`assemble_graph`).

        Args:
            graph: the graph; changed in place.
            others: the (number, payload) of each field.
            depth: the number of enclosing messages.
            is_named: whether the message stores a name, which may be empty.
        """
        initializers: list[ast.ValueInfo] = []
        infos: list[ast.ValueInfo] = []
        decorators: list[ast.Decorator] = []
        entries: list[Data] = []
        values = {11: graph.inputs, 12: graph.outputs, 13: infos}
        for number, inside in others:
            match number:
                case 1:
                    graph.nodes.append(self.node(inside, depth + 1))
                case 5:
                    initializers.append(self.initializer(inside))
                case 11 | 12 | 13:
                    values[number].append(self.value_info(inside))
                case 15:
                    initializers += self.sparse_initializer(inside)
                case 14:
                    graph.quantization.append(lift_annotation(inside))
                case 10:
                    decorators.append(doc_decorator(inside))
                case 16:
                    entries.append(inside)
        if entries:
            decorators.append(meta_decorator(entries))
        if not is_named:
            decorators.append(unset_decorator("name"))
        graph.decorators = (*assemble_graph(graph, initializers, infos), *decorators)

    def _encodes(self, lifted: ast.Graph | ast.Function, message: str, data: memoryview) -> bool:
        """Whether `data` is the encoding of a graph or function; if so, remember the encoding.

        `data` is a view, because a copy for each level of nested graphs would take much memory.
        """
        from onnxtext.proto.encode.lower import LowerError, lower_fragment

        try:
            lowered = lower_fragment(ast.Fragment(lifted, NO_DEFAULTS), message)
        except LowerError:
            return False
        is_complete = pieces_equal([lowered], data)
        if is_complete:
            self._lowering.remember(lifted, data)
        return is_complete

    def _add_residue(
        self, lifted: ast.Graph | ast.Function, message: str, lowered: bytes, data: memoryview
    ) -> None:
        """Add residual decorators to a graph or function; if its encoding is `data`, remember it.

        `lowered` is its encoding without these decorators.
        """
        rest = residual_decorators(message, lowered, bytes(data))
        lifted.decorators += rest
        if pieces_equal([self._lowering.finish(message, lowered, rest, -1)], data):
            self._lowering.remember(lifted, data)

    def function(self, data: Data, depth: int = 0) -> ast.Function:
        """Decode a `FunctionProto`."""
        if self._native and depth <= _DEEP:
            return self._decoder.function(self, data, depth)
        if self._fast is not None:
            result = self._fast.function(data, depth)
            if self._encodes(result, "FunctionProto", memoryview(data)):
                return result
        function = ast.Function("")
        attributes: list[ast.Attribute] = []
        infos: list[ast.ValueInfo] = []
        entries: list[Data] = []
        texts: dict[int, list[str]] = {number: [] for number in (1, 4, 5, 6, 8, 10, 13)}
        others, rest = split_fields(data, 0, len(data), texts, _FUNCTION_FIELDS)
        for number, inside in others:
            match number:
                case 7:
                    function.nodes.append(self.node(inside, depth + 1))
                case 9:
                    function.opset_imports.append(self.opset(inside))
                case 11:
                    attributes.append(self.attribute(inside, depth + 1))
                case 12:
                    infos.append(self.value_info(inside))
                case 14:
                    entries.append(inside)
        names, inputs, outputs, parameters, doc_strings, domains, overloads = texts.values()
        function.name = last_text(names) or ""
        function.inputs = [ast.ValueInfo(name) for name in inputs]
        function.outputs = [ast.ValueInfo(name) for name in outputs]
        function.doc_string, function.domain = last_text(doc_strings), last_text(domains)
        function.overload = last_text(overloads)
        function.attributes = (*parameters, *attributes)
        if entries:
            function.decorators = (meta_decorator(entries),)
        assemble_function(function, infos)
        if self.compare_items:
            lowered = self._lowering.function(function)
            self._add_residue(function, "FunctionProto", lowered, memoryview(data))
        elif rest:
            function.decorators += unknown_decorators("FunctionProto", b"".join(rest))
        return function

    def opset(self, data: Data) -> ast.OpsetImport:
        """Decode an `OperatorSetIdProto`; cached, as functions often import the same opsets."""
        data = bytes(data)
        cached = self._opsets.get(data)
        if cached is None:
            cached = self._opsets[data] = lift_opset(data)
        return ast.OpsetImport(cached.domain, cached.version)

    # ---- Values -----------------------------------------------------------------------------

    def value_info(self, data: Data) -> ast.ValueInfo:
        """Decode a `ValueInfoProto`."""
        value = ast.ValueInfo("")
        decorators: list[ast.Decorator] = []
        entries: list[Data] = []
        is_whole = True
        for field in read_fields(data, 0, len(data)):
            inside = data[field.value : field.end]
            match field.number if field.wire_type == LENGTH else 0:
                case 1:
                    value.name = to_text(inside)
                case 2:
                    self._set_type(value, bytes(inside), decorators)
                    is_whole = value.type is not None
                case 3:
                    decorators.append(doc_decorator(inside))
                case 4:
                    entries.append(inside)
                case _:
                    is_whole = False
        value.metadata = tuple(map(lift_entry, entries))
        value.decorators = tuple(decorators)
        if self.compare_items or not is_whole:
            lowered = self._lowering.value_info(value)
            value.decorators += residual_decorators("ValueInfoProto", lowered, bytes(data))
        return value

    def _set_type(self, value: ast.ValueInfo, data: bytes, decorators: list[ast.Decorator]) -> None:
        """Set the type of a value; equal types share one object.

        The decorators of the type are appended to `decorators`, with the prefix `type.`.
        """
        cached = self._value_types.get(data)
        if cached is None:
            cached = ast.ValueInfo("", lift_type(data))
            if cached.type is not None and cached.type.decorators:
                cached.decorators = tuple(
                    [ast.Decorator("type." + d.name, d.arguments) for d in cached.type.decorators]
                )
                cached.type = replace(cached.type, decorators=())
            self._value_types[data] = cached
        value.type = cached.type
        decorators += cached.decorators

    def initializer(self, data: Data) -> ast.ValueInfo:
        """Decode a `TensorProto` in a graph's initializer list."""
        type, name, values, decorators, is_whole = lift_tensor(data)
        value = ast.ValueInfo(name or "", type, values, tuple(decorators))
        if self.compare_items or not is_whole:
            lowered = b"".join(self._lowering.initializer(value))
            value.decorators += residual_decorators("TensorProto", lowered, bytes(data))
        return value

    def sparse_initializer(self, data: Data) -> list[ast.ValueInfo]:
        """Decode a `SparseTensorProto` to a list of one value.

        Return an empty list if only a residual field can express the tensor.
        """
        sparse, name = lift_sparse_tensor(data)
        if sparse is None or name is None:
            return []
        sparse = replace(sparse, values=replace(sparse.values, name=None))
        type = ast.SparseTensorType(sparse.values.type.element, sparse.dims)
        value = ast.ValueInfo(name, type, sparse)
        if self.compare_items and b"".join(self._lowering.initializer(value)) != data:
            return []
        return [value]


_GRAPH_FIELDS = frozenset((1, 5, *range(10, 17)))
_FUNCTION_FIELDS = frozenset((7, 9, 11, 12, 14))
