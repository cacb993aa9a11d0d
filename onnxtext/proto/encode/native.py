# SPDX-License-Identifier: Apache-2.0
"""Encode with the native core; the result is the same as with `proto.encode.messages`."""

from __future__ import annotations

from dataclasses import replace

from onnxtext._core.proto.encode_graphs import Encoder
from onnxtext.ast.model import Function, Graph, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, TensorData
from onnxtext.ast.types import Type
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering, own_decorators
from onnxtext.wire.writer import Piece


class CoreLowering(Lowering):
    """Encodes messages with the native core, which leaves rare constructs to this class."""

    def graph(self, graph: Graph) -> list[Piece]:
        """Return a `GraphProto` in pieces."""
        pieces = Encoder(self.defaults, lowering=self).graph(graph)
        return self.finish_pieces("GraphProto", pieces, own_decorators(graph), graph.at)

    def function_fields(self, functions: list[Function]) -> list[Piece]:
        """Return the encoded `functions` fields of a `ModelProto`."""
        return [Encoder(self.defaults, lowering=self).functions(functions)]

    def function(self, function: Function) -> bytes:
        """Return a `FunctionProto`."""
        return Encoder(self.defaults, lowering=self).function(function)

    # ---- Called by the core -----------------------------------------------------------------

    def finish_graph(self, data: bytes, graph: Graph) -> bytes:
        """Apply presence defaults and decorators to a graph in an attribute."""
        return self.finish("GraphProto", data, own_decorators(graph), graph.at)

    def initializer_with(
        self, value: ValueInfo, data: TensorData | SparseTensor, is_input: bool
    ) -> list[Piece]:
        """Encode a value as an initializer, with `data` in place of the value's own data."""
        if data is not value.data:
            value = replace(value, data=data)
        return self.initializer(value, is_input=is_input)

    def plain_type(self, type: Type, offset: int) -> bytes:
        """Return a `TypeProto`; the core then appends the denotation from the value's decorator."""
        return self.type_proto(type, (), offset)

    def placed_attribute(self, attribute: Attribute, offset: int) -> bytes:
        """Return an `AttributeProto`; an error without an offset is raised with `offset`."""
        try:
            return self.attribute(attribute)
        except LowerError as error:
            raise error.placed(offset) from None
