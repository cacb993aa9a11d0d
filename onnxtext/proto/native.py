# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes by the compiled core: the same bytes as `lowering` gives."""

from __future__ import annotations

from onnxtext._core.encode import (
    STORED,
    TensorForm,
    encode_initializers,
    encode_nodes,
    encode_types,
    encode_values,
)
from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import RawData, TypedData
from onnxtext.proto.lower_values import TENSOR_FIELDS, tensor_head
from onnxtext.proto.lowering import VALUE_INFO_OF_INITIALIZERS, Lowering
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.wire.writer import Piece

NODE_KEYS = (0x0A, 0x12, 0x1A)
"""The keys of a node's inputs, outputs and name."""
NAME_OF_VALUE, NAME_OF_TENSOR = 0x0A, 0x42
INITIALIZER = 0x2A


class CoreLowering(Lowering):
    """One run of lowering, whose loops over nodes, values and initializers are compiled."""

    def node_fields(self, key: bytes, nodes: list[Node]) -> list[Piece]:
        """Nodes as fields of their graph or function."""
        if "NodeProto" in self.habits.others:
            return super().node_fields(key, nodes)
        return [
            encode_nodes(
                nodes,
                key[0],
                NODE_KEYS,
                self.habits.node_name,
                self._tails,
                self._new_tail,
                self.node,
            )
        ]

    def value_info_fields(
        self, key: bytes, graph: Graph, initializers: list[ValueInfo]
    ) -> list[Piece]:
        """The `value_info` list of a graph as fields."""
        special = graph.value_metadata or any(
            decorator.name == VALUE_INFO_OF_INITIALIZERS for decorator in graph.decorators
        )
        if special or "ValueInfoProto" in self.habits.others:
            return super().value_info_fields(key, graph, initializers)
        values = [value for value in graph.values if value.data is None]
        number, types = key[0], self._types
        return [
            encode_values(values, number, NAME_OF_VALUE, types, self._typed, self.value_info),
            encode_types(graph.nodes, number, NAME_OF_VALUE, types, self._typed),
        ]

    def initializer_fields(self, values: list[ValueInfo], *, is_input: bool = False) -> list[Piece]:
        """Initializers that are not sparse, as fields of their graph."""
        if self.habits.others:
            return super().initializer_fields(values, is_input=is_input)
        forms: dict[tuple[int, bool], TensorForm | None] = {}

        def find_form(value: ValueInfo) -> tuple[TensorForm, Piece] | None:
            held: Piece
            if type(value.data) is RawData:
                held, raw = value.data.data, True
            elif type(value.data) is TypedData:
                held, raw = value.data.entries, False
            else:
                return None
            if value.decorators or value.metadata or len(held) > _LARGE:
                return None
            key = (id(value.type), raw)
            if key not in forms:
                assert isinstance(value.type, TensorType)
                forms[key] = _form(value.type, raw=raw)
            form = forms[key]
            return None if form is None else (form, held)

        def tensor(value: ValueInfo) -> list[Piece]:
            return self.initializer(value, is_input=is_input)

        return encode_initializers(values, INITIALIZER, find_form, tensor)


_LARGE = 4096
"""Data of more bytes is not copied."""


def _form(type: TensorType, *, raw: bool) -> TensorForm | None:
    """How initializers of a type are encoded; None if that depends on their data."""
    head = tensor_head(type)
    if raw:
        return TensorForm(head, NAME_OF_TENSOR, TENSOR_FIELDS["raw_data"][0][0], STORED)
    element = ELEMENTS.get(type.element)
    if element is None or element.kind == "string":
        return None
    key, entries = TENSOR_FIELDS[element.field]
    return TensorForm(head, NAME_OF_TENSOR, key[0], int(entries[2]) if entries else 0)
