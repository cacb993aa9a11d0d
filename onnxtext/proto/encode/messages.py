# SPDX-License-Identifier: Apache-2.0
"""Encode models, graphs, functions and nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from onnxtext import ast
from onnxtext.ast.compact_form import list_order
from onnxtext.ast.nesting import nesting
from onnxtext.proto.convert_records import lower_record
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.types_and_tensors import entry, metadata_fields
from onnxtext.proto.encode.values_blobs_and_attributes import ValueLowering
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.wire.writer import Piece, delimited, delimited_pieces, signed_varint, text_field


class Lowering(ValueLowering):
    """Encodes all messages of one model to wire bytes.

    Methods that return a list of pieces do not copy weights. Methods raise `LowerError` if a
    message cannot be encoded.
    """

    def model(self, model: ast.Model) -> list[Piece]:
        """Return a `ModelProto` in pieces."""
        head: list[Piece] = []
        if model.ir_version is not None:
            head.append(b"\x08" + signed_varint(model.ir_version))
        for key, text in (
            (b"\x12", model.producer_name),
            (b"\x1a", model.producer_version),
            (b"\x22", model.domain),
        ):
            if text is not None:
                head.append(text_field(key, text))
        if model.model_version is not None:
            head.append(b"\x28" + signed_varint(model.model_version))
        if model.doc_string is not None:
            head.append(text_field(b"\x32", model.doc_string))
        tail: list[Piece] = [delimited(b"\x42", self.opset(item)) for item in model.opset_imports]
        tail += [delimited(b"\x72", entry(key, value)) for key, value in model.metadata]
        tail += [delimited(b"\xa2\x01", self.training(item)) for item in model.training]
        tail += self.function_fields(model.functions)
        tail += [
            delimited(b"\xd2\x01", self.configuration(item, model.graph.at))
            for item in model.configurations
        ]
        pieces = [*head, *delimited_pieces(b"\x3a", self.graph(model.graph)), *tail]
        return self.finish_pieces("ModelProto", pieces, model.decorators, model.graph.at)

    def opset(self, item: ast.OpsetImport) -> bytes:
        """Return an `OperatorSetIdProto`."""
        domain = b"" if item.domain is None else text_field(b"\x0a", item.domain)
        version = b"\x10" + signed_varint(item.version)
        return self.finish("OperatorSetIdProto", domain + version, (), -1)

    def training(self, training: ast.Training) -> bytes:
        """Return a `TrainingInfoProto`."""
        parts: list[Piece] = []
        if training.initialization is not None:
            parts += delimited_pieces(b"\x0a", self.graph(training.initialization))
        if training.algorithm is not None:
            parts += delimited_pieces(b"\x12", self.graph(training.algorithm))
        parts += metadata_fields(b"\x1a", training.initialization_binding)
        parts += metadata_fields(b"\x22", training.update_binding)
        return b"".join(parts)

    def configuration(self, configuration: ast.Configuration, offset: int) -> bytes:
        """Return a `DeviceConfigurationProto`."""
        from onnxtext.proto.descriptors import message_spec

        try:
            rest = lower_record(message_spec("DeviceConfigurationProto"), configuration.record)
            self.deepest_type = max(self.deepest_type, nesting(configuration.record))
        except RecordError as error:
            raise LowerError.of_record(error, offset, "configuration") from None
        return text_field(b"\x0a", configuration.name) + rest

    def annotation(self, annotation: ast.Annotation) -> bytes:
        """Return a `TensorAnnotation`."""
        name = text_field(b"\x0a", annotation.tensor_name)
        return name + b"".join(metadata_fields(b"\x12", annotation.entries))

    def graph(self, graph: ast.Graph) -> list[Piece]:
        """Return a `GraphProto` in pieces."""
        known = self._fields.get(id(graph))
        if known is not None:
            return [known[0]]
        self.enter_graph()
        pieces: list[Piece] = [delimited(b"\x0a", self.node(node)) for node in graph.nodes]
        pieces.append(text_field(b"\x12", graph.name))
        data = self.initializers(graph)
        for value, is_input in data:
            if not isinstance(value.data, ast.SparseTensor):
                pieces += delimited_pieces(b"\x2a", self.initializer(value, is_input=is_input))
        pieces += [delimited(b"\x5a", self.value_info(value)) for value in graph.inputs]
        pieces += [delimited(b"\x62", self.value_info(value)) for value in graph.outputs]
        pieces += [delimited(b"\x6a", self.value_info(info)) for info in self.listed_infos(graph)]
        pieces += [delimited(b"\x72", self.annotation(item)) for item in graph.quantization]
        for value, is_input in data:
            if isinstance(value.data, ast.SparseTensor):
                pieces += delimited_pieces(b"\x7a", self.initializer(value, is_input=is_input))
        pieces += metadata_fields(b"\x82\x01", graph.metadata)
        self.leave_graph()
        return self.finish_pieces("GraphProto", pieces, own_decorators(graph), graph.at)

    def initializers(self, graph: ast.Graph) -> list[tuple[ast.ValueInfo, bool]]:
        """Return the initializers of a graph in order, as (value, whether it is an input)."""
        inputs = {id(value) for value in graph.inputs}
        try:
            return [(value, id(value) in inputs) for value in list_order.with_data(graph)]
        except list_order.ValueInfoError as error:
            raise _order_error(error, graph.at) from None

    def listed_infos(self, graph: ast.Graph) -> Iterator[ast.ValueInfo]:
        """Yield the `value_info` list of a graph, in the order that SPEC 10 defines.

        Raises:
            LowerError: `@value_info` is invalid, or a value has metadata, but no declared type.
        """
        metadata = dict(graph.value_metadata)
        try:
            order = list_order.order_of(graph)
            for _, name, type, index, statement in list_order.value_info_entries(graph, order):
                if statement is not None:
                    yield statement
                    continue
                entries = metadata.pop(name, ()) if metadata else ()
                yield ast.ValueInfo(name, type, None, (), entries, index)
        except list_order.ValueInfoError as error:
            raise _order_error(error, graph.at) from None
        self.check_used(metadata, graph)

    def typed_outputs(
        self, owner: ast.Graph | ast.Function, metadata: dict[str, tuple[tuple[str, str], ...]]
    ) -> Iterator[bytes]:
        """Yield a `ValueInfoProto` for each node output with a type.

        Args:
            owner: the graph or function.
            metadata: maps the name of a value to its metadata; entries are removed when used.

        Raises:
            LowerError: `metadata` has entries left for values without a `ValueInfoProto`.
        """
        for node in owner.nodes:
            if node.output_types:
                for name, type in zip(node.outputs, node.output_types, strict=True):
                    if type is not None:
                        entries = metadata.pop(name, ())
                        yield self.value_info(ast.ValueInfo(name, type, None, (), entries, node.at))
        self.check_used(metadata, owner)

    def check_used(self, metadata: Collection[str], owner: ast.Graph | ast.Function) -> None:
        """Raise a `LowerError` if `metadata` is not empty: its values have no value info."""
        if metadata:
            name = next(iter(metadata))
            raise LowerError(f"`{name}` has metadata, but no declared type", owner.at)

    def function_fields(self, functions: list[ast.Function]) -> list[Piece]:
        """Return the encoded `functions` fields of a `ModelProto`."""
        return [delimited(b"\xca\x01", self.function(function)) for function in functions]

    def function(self, function: ast.Function) -> bytes:
        """Return a `FunctionProto`."""
        known = self._fields.get(id(function))
        if known is not None:
            return bytes(known[0])
        parts = [text_field(b"\x0a", function.name)]
        parts += [text_field(b"\x22", value.name) for value in function.inputs]
        parts += [text_field(b"\x2a", value.name) for value in function.outputs]
        names = [item for item in function.attributes if isinstance(item, str)]
        parts += [text_field(b"\x32", name) for name in names]
        parts += [delimited(b"\x3a", self.node(node)) for node in function.nodes]
        if function.doc_string is not None:
            parts.append(text_field(b"\x42", function.doc_string))
        parts += [delimited(b"\x4a", self.opset(item)) for item in function.opset_imports]
        if function.domain is not None:
            parts.append(text_field(b"\x52", function.domain))
        for item in function.attributes:
            if isinstance(item, ast.Attribute):
                try:
                    parts.append(delimited(b"\x5a", self.attribute(item)))
                except LowerError as error:
                    raise error.placed(function.at) from None
        typed = [value for value in (*function.inputs, *function.outputs) if value.type is not None]
        infos = [self.value_info(value) for value in (*typed, *function.values)]
        infos += self.typed_outputs(function, dict(function.value_metadata))
        parts += [delimited(b"\x62", info) for info in infos]
        if function.overload is not None:
            parts.append(text_field(b"\x6a", function.overload))
        parts += metadata_fields(b"\x72", function.metadata)
        return self.finish("FunctionProto", b"".join(parts), function.decorators, function.at)

    def node(self, node: ast.Node) -> bytes:
        """Return a `NodeProto`."""
        parts: list[Piece] = [text_field(b"\x0a", text) for text in node.inputs]
        parts += [text_field(b"\x12", text) for text in node.outputs]
        name = self.defaults.node_name if node.name is None else node.name
        if name is not None:
            parts.append(text_field(b"\x1a", name))
        try:
            parts += self.tail(node)
        except LowerError as error:  # report the node's offset: attributes have none
            raise error.placed(node.at) from None
        if node.metadata:
            parts += metadata_fields(b"\x4a", node.metadata)
        if node.decorators or "NodeProto" in self.defaults.others:
            return self.finish("NodeProto", b"".join(parts), node.decorators, node.at)
        return b"".join(parts)

    def tail(self, node: ast.Node) -> list[Piece]:
        """Return the encoded fields of a node from `op_type` to `overload`."""
        defaults = self.defaults
        parts: list[Piece] = [text_field(b"\x22", node.op_type)]
        parts += map(self.attribute_field, node.attributes)
        parts.append(defaults.node_doc)
        if node.domain is None:
            parts.append(defaults.node_domain)
        else:
            parts.append(text_field(b"\x3a", node.domain))
        if node.overload is None:
            parts.append(defaults.node_overload)
        else:
            parts.append(text_field(b"\x42", node.overload))
        return parts


def own_decorators(graph: ast.Graph) -> list[ast.Decorator]:
    """Return a graph's decorators without `@value_info` and `@initializers`."""
    return [d for d in graph.decorators if d.name not in list_order.ORDERS]


def _order_error(error: list_order.ValueInfoError, offset: int) -> LowerError:
    """Return the error of a graph with an invalid `@value_info` or `@initializers`."""
    return LowerError(str(error), offset, mark=f"@{error.decorator}", expected=error.expected)
