# SPDX-License-Identifier: Apache-2.0
"""Encode with the compiled core; the bytes are the same as those of `messages`."""

from __future__ import annotations

from onnxtext._core.encode import Encoder
from onnxtext._core.encode_values import TensorForm
from onnxtext.ast.model import Function, Graph
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import Attribute
from onnxtext.proto.encode.fields import TENSOR_FIELDS, tensor_head
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering, own_decorators
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.wire.writer import Piece


class CoreLowering(Lowering):
    """Lowers graphs and functions with the compiled core, which calls back for rare constructs."""

    def graph(self, graph: Graph) -> list[Piece]:
        """Return a `GraphProto` in pieces."""
        pieces = Encoder(self).graph(graph)
        return self.finish_pieces("GraphProto", pieces, own_decorators(graph), graph.at)

    def function_fields(self, functions: list[Function]) -> list[Piece]:
        """Return functions as fields of their model."""
        return [Encoder(self).functions(functions)]

    def function(self, function: Function) -> bytes:
        """Return a `FunctionProto`."""
        return Encoder(self).function(function)

    # ---- Called by the core -----------------------------------------------------------------

    def finish_graph(self, data: bytes, graph: Graph) -> bytes:
        """Apply presence defaults and decorators to a graph in an attribute."""
        return self.finish("GraphProto", data, own_decorators(graph), graph.at)

    def placed_attribute(self, attribute: Attribute, at: int) -> bytes:
        """Return an `AttributeProto`; errors are reported at the offset `at`."""
        try:
            return self.attribute(attribute)
        except LowerError as error:
            raise error.placed(at) from None

    def tensor_form(self, type: TensorType) -> TensorForm:
        """Return the encoding parameters of tensors of a type."""
        element = ELEMENTS.get(type.element)
        if element is None or element.kind == "string":
            return TensorForm(tensor_head(type), 0, 0)
        key, entries = TENSOR_FIELDS[element.field]
        return TensorForm(tensor_head(type), key[0], int(entries[2]) if entries else 0)
