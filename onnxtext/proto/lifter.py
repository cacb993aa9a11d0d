# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to AST, message by message: models, graphs, functions and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from onnxtext.ast.assemble import assemble_function, assemble_graph
from onnxtext.ast.model import (
    Function,
    Graph,
    Model,
    Node,
    Training,
    ValueInfo,
)
from onnxtext.ast.records import Decorator
from onnxtext.ast.types import SparseTensorType
from onnxtext.ast.values import Attribute
from onnxtext.core import core
from onnxtext.proto.difference import difference
from onnxtext.proto.lift_nodes import PLAIN, NodeLifter
from onnxtext.proto.lift_values import (
    Data,
    check_depth,
    doc_decorator,
    lift_annotation,
    lift_configuration,
    lift_entry,
    lift_opset,
    lift_sparse_tensor,
    lift_tensor,
    lift_type,
    meta_decorator,
    text_of,
)
from onnxtext.proto.quick import SMALL, QuickTensors, quick_value_info
from onnxtext.wire.reader import read_fields, read_payloads, read_varint, signed
from onnxtext.wire.writer import LENGTH, VARINT

GRAPH_KEYS = (1, 13, 0x0A, 0x12, 0x1A, 0x0A, 0x12)
FUNCTION_KEYS = (7, 12, *GRAPH_KEYS[2:])
"""The numbers of a graph's or a function's nodes and value infos, and the keys of a node's inputs,
outputs and name, of a value info's name and of its type."""


class Lifter(NodeLifter):
    """One run of lifting."""

    def __init__(self, *, careful: bool, native: bool = True) -> None:
        """Start a run.

        Args:
            careful: compare every item with its bytes, and add what its sugar does not carry.
            native: whether the compiled core may be used.
        """
        super().__init__(careful=careful)
        self._native = native and not careful and core() == "native"
        self._tensors = QuickTensors()
        self._value_types: dict[bytes, ValueInfo] = {}

    # ---- Models -----------------------------------------------------------------------------

    def model(self, data: Data) -> Model:
        """A `ModelProto`.

        Raises:
            WireError: the bytes are no message.
        """
        model = Model(Graph(""), presence=PLAIN)
        view = memoryview(data)
        for field in read_fields(data, 0, len(data)):
            number = field.number
            if field.wire_type == VARINT:
                value = signed(read_varint(data, field.value, field.end)[0])
                if number == 1:
                    model.ir_version = value
                elif number == 5:
                    model.model_version = value
            elif field.wire_type == LENGTH:
                inside = view[field.value : field.end]
                match number:
                    case 2:
                        model.producer_name = text_of(inside)
                    case 3:
                        model.producer_version = text_of(inside)
                    case 4:
                        model.domain = text_of(inside)
                    case 6:
                        model.doc_string = text_of(inside)
                    case 7:
                        model.graph = self.graph(data, 1, field.value, field.end)
                    case 8:
                        model.opset_imports.append(lift_opset(inside))
                    case 14:
                        model.metadata.append(lift_entry(inside))
                    case 20:
                        model.training.append(self.training(inside))
                    case 25:
                        model.functions.append(self.function(inside, 1))
                    case 26:
                        model.configurations.append(lift_configuration(inside))
        if self.careful:
            lowered = b"".join(self._lowering.model(model))
            model.decorators = difference("ModelProto", lowered, bytes(data))
        return model

    def training(self, data: Data) -> Training:
        """A `TrainingInfoProto`."""
        made = Training()
        for field in read_fields(data, 0, len(data)):
            if field.wire_type == LENGTH:
                inside = data[field.value : field.end]
                match field.number:
                    case 1:
                        made.initialization = self.graph(inside, 2)
                    case 2:
                        made.algorithm = self.graph(inside, 2)
                    case 3:
                        made.initialization_binding.append(lift_entry(inside))
                    case 4:
                        made.update_binding.append(lift_entry(inside))
        return made

    # ---- Graphs and functions ---------------------------------------------------------------

    def graph(self, data: Data, depth: int = 0, start: int = 0, end: int | None = None) -> Graph:
        """A `GraphProto`.

        Args:
            data: holds its bytes.
            depth: how many messages it is nested in.
            start: where it begins.
            end: where it ends; None for where the data ends.
        """
        end = len(data) if end is None else end
        check_depth(depth, 0)
        graph = Graph("")
        initializers: list[ValueInfo] = []
        infos: list[ValueInfo] = []
        decorators: list[Decorator] = []
        entries: list[Data] = []
        nodes = graph.nodes
        lift_node = self.node
        lift_value = self.value_info
        types = self._value_types
        careful = self.careful
        for number, inside in self._fields(data, start, end, GRAPH_KEYS, depth, nodes, infos):
            match number:
                case 1:
                    nodes.append(lift_node(inside, depth + 1))
                case 13:
                    quick = None if careful else quick_value_info(inside, types)
                    infos.append(lift_value(inside) if quick is None else quick)
                case 5:
                    initializers.append(self.initializer(inside))
                case 11:
                    graph.inputs.append(lift_value(inside))
                case 12:
                    graph.outputs.append(lift_value(inside))
                case 2:
                    graph.name = text_of(inside)
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
        decorators = [*assemble_graph(graph, initializers, infos), *decorators]
        graph.decorators = tuple(decorators)
        if self.careful:
            lowered = b"".join(self._lowering.graph(graph))
            graph.decorators += difference("GraphProto", lowered, bytes(data[start:end]))
        return graph

    def _fields(
        self,
        data: Data,
        start: int,
        end: int,
        keys: tuple[int, int, int, int, int, int, int],
        depth: int,
        nodes: list[Node],
        infos: list[ValueInfo],
    ) -> Iterator[tuple[int, Data]]:
        """The fields of a graph or function that have a length.

        The compiled core adds plain nodes and value infos to their lists itself.
        """
        if not self._native:
            return chain.from_iterable(read_payloads(data, start, end, SMALL))
        from onnxtext._core.decode import decode_graph

        def make_tail(tail: bytes) -> Node:
            return self._node_tail(tail, 0, len(tail), depth + 1)

        return decode_graph(
            data, start, end, SMALL, keys, nodes, infos, self._tails, self._value_types,
            make_tail,
        )  # fmt: skip

    def function(self, data: Data, depth: int = 0) -> Function:
        """A `FunctionProto`.

        Args:
            data: its bytes.
            depth: how many messages it is nested in.
        """
        function = Function("")
        names: list[str] = []
        attributes: list[Attribute] = []
        infos: list[ValueInfo] = []
        decorators: list[Decorator] = []
        entries: list[Data] = []
        nodes = function.nodes
        for number, inside in self._fields(data, 0, len(data), FUNCTION_KEYS, depth, nodes, infos):
            match number:
                case 1:
                    function.name = text_of(inside)
                case 4:
                    function.inputs.append(ValueInfo(text_of(inside)))
                case 5:
                    function.outputs.append(ValueInfo(text_of(inside)))
                case 6:
                    names.append(text_of(inside))
                case 7:
                    nodes.append(self.node(inside, depth + 1))
                case 8:
                    function.doc_string = text_of(inside)
                case 9:
                    function.opset_imports.append(lift_opset(inside))
                case 10:
                    function.domain = text_of(inside)
                case 11:
                    attributes.append(self.attribute(inside, depth + 1))
                case 12:
                    infos.append(self.value_info(inside))
                case 13:
                    function.overload = text_of(inside)
                case 14:
                    entries.append(inside)
        function.attributes = (*names, *attributes)
        if entries:
            decorators.append(meta_decorator(entries))
        assemble_function(function, infos)
        function.decorators = tuple(decorators)
        if self.careful:
            lowered = self._lowering.function(function)
            function.decorators += difference("FunctionProto", lowered, bytes(data))
        return function

    # ---- Values -----------------------------------------------------------------------------

    def value_info(self, data: Data) -> ValueInfo:
        """A `ValueInfoProto`."""
        if not self.careful:
            quick = quick_value_info(data, self._value_types)
            if quick is not None:
                return quick
        value = ValueInfo("")
        decorators: list[Decorator] = []
        entries: list[Data] = []
        for field in read_fields(data, 0, len(data)):
            if field.wire_type != LENGTH:
                continue
            inside = data[field.value : field.end]
            match field.number:
                case 1:
                    value.name = text_of(inside)
                case 2:
                    self._set_type(value, bytes(inside), decorators)
                case 3:
                    decorators.append(doc_decorator(inside))
                case 4:
                    entries.append(inside)
        if entries:
            decorators.append(meta_decorator(entries))
        value.decorators = tuple(decorators)
        if self.careful:
            lowered = self._lowering.value_info(value)
            value.decorators += difference("ValueInfoProto", lowered, bytes(data))
        return value

    def _set_type(self, value: ValueInfo, data: bytes, decorators: list[Decorator]) -> None:
        """Types are shared by the values that have them; a type's decorators stand at the value."""
        known = self._value_types.get(data)
        if known is None:
            known = ValueInfo("", lift_type(data))
            if known.type is not None and known.type.decorators:
                known.decorators = tuple(
                    [Decorator("type." + d.name, d.arguments) for d in known.type.decorators]
                )
                known.type = replace(known.type, decorators=())
            self._value_types[data] = known
        value.type = known.type
        decorators += known.decorators

    def initializer(self, data: Data) -> ValueInfo:
        """A `TensorProto` in a graph's initializer list."""
        if not self.careful:
            quick = self._tensors.initializer(data)
            if quick is not None:
                return quick
        type, name, values, decorators = lift_tensor(data)
        value = ValueInfo(name or "", type, values, tuple(decorators))
        if self.careful:
            lowered = b"".join(self._lowering.initializer(value))
            value.decorators += difference("TensorProto", lowered, bytes(data))
        return value

    def sparse_initializer(self, data: Data) -> list[ValueInfo]:
        """A `SparseTensorProto`; nothing if it has no spelling of its own."""
        sparse, name = lift_sparse_tensor(data)
        if sparse is None or name is None:
            return []
        sparse = replace(sparse, values=replace(sparse.values, name=None))
        type = SparseTensorType(sparse.values.type.element, sparse.dims)
        value = ValueInfo(name, type, sparse)
        if self.careful and b"".join(self._lowering.initializer(value)) != data:
            return []
        return [value]
