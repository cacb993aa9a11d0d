# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes by the compiled core: the same bytes as `lowering` gives."""

from __future__ import annotations

from onnxtext._core.encode import Encoder
from onnxtext._core.encode_values import TensorForm
from onnxtext.ast.model import Function, Graph
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import Attribute
from onnxtext.proto.encode.fields import TENSOR_FIELDS, tensor_head
from onnxtext.proto.encode.messages import Lowering, own_decorators
from onnxtext.proto.encode.values import LowerError
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.wire.writer import Piece


class CoreLowering(Lowering):
    """One run of lowering, in which graphs and functions are encoded by the core.

    It asks here for what is not plain.
    """

    def graph(self, graph: Graph) -> list[Piece]:
        """A `GraphProto`, in pieces."""
        pieces = Encoder(self).graph(graph)
        return self.finish_pieces("GraphProto", pieces, own_decorators(graph), graph.at)

    def function_fields(self, functions: list[Function]) -> list[Piece]:
        """Functions as fields of their model."""
        return [Encoder(self).functions(functions)]

    def function(self, function: Function) -> bytes:
        """A `FunctionProto`."""
        return Encoder(self).function(function)

    # ---- For the core -----------------------------------------------------------------------

    def finish_graph(self, data: bytes, graph: Graph) -> bytes:
        """A graph in an attribute, after habits and decorators."""
        return self.finish("GraphProto", data, own_decorators(graph), graph.at)

    def placed_attribute(self, attribute: Attribute, at: int) -> bytes:
        """An `AttributeProto`, which has no place of its own."""
        try:
            return self.attribute(attribute)
        except LowerError as error:
            raise error.placed(at) from None

    def tensor_form(self, type: TensorType) -> TensorForm:
        """How tensors of a type are encoded."""
        element = ELEMENTS.get(type.element)
        if element is None or element.kind == "string":
            return TensorForm(tensor_head(type), 0, 0)
        key, entries = TENSOR_FIELDS[element.field]
        return TensorForm(tensor_head(type), key[0], int(entries[2]) if entries else 0)
