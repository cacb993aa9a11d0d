# SPDX-License-Identifier: Apache-2.0
"""Decode nodes and attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.model import Graph, Node, Presence
from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.tensors_and_attributes import GRAPH_TYPES, Attribute
from onnxtext.proto.decode.attributes import AttributeFields, attribute_value
from onnxtext.proto.decode.residual_fields import residual_decorators, unknown_decorators
from onnxtext.proto.decode.types_and_tensors import (
    Data,
    device_decorator,
    doc_decorator,
    lift_entry,
)
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import presence_defaults
from onnxtext.wire.reader import check_depth, read_fields
from onnxtext.wire.writer import LENGTH

NO_DEFAULTS = Presence(version=1)
"""The `presence` of a decoded message before `settle_presence` chooses its presence defaults."""

SMALL = 4096
"""Maximum size, in bytes, of attributes to cache; larger attributes rarely repeat."""


class NodeLifter(ABC):
    """Decodes nodes and attributes. A subclass implements `graph`, for graphs in attributes.

    The methods raise `WireError` if the bytes are not a message, or nested too deeply.

    Attributes:
        compare_items: whether to encode every item again, compare it with its original bytes, and
            record differences in decorators.
    """

    def __init__(self, *, compare_items: bool) -> None:
        self.compare_items = compare_items
        self._attributes: dict[bytes, Attribute] = {}
        self._exact: dict[int, Attribute] = {}  # by id; they encode to their original bytes

    @cached_property
    def _lowering(self) -> Lowering:
        """The encoder of items, whose results are compared with the original bytes.

        It is always the Python encoder, which can reuse encodings (`remember`). The native encoder
        would encode a nested graph again for each enclosing graph.
        """
        return Lowering(presence_defaults(NO_DEFAULTS.version, NO_DEFAULTS.explicit))

    @abstractmethod
    def graph(self, data: Data, depth: int = 0, start: int = 0, end: int | None = None) -> Graph:
        """Decode a `GraphProto`."""

    def node(self, data: Data, depth: int = 0) -> Node:
        """Decode a `NodeProto`."""
        node, is_whole = self.read_node(data, depth)
        if self.compare_items:
            lowered = self._lowering.node(node)
            node.decorators += residual_decorators("NodeProto", lowered, bytes(data))
        elif not is_whole:
            # Only `compare_items` adds the residual fields of attributes, to the attributes.
            node.decorators += unknown_decorators("NodeProto", bytes(data))
        return node

    def read_node(self, data: Data, depth: int) -> tuple[Node, bool]:
        """Decode a `NodeProto`; return the node, and whether it has all fields of the message."""
        inputs: list[str] = []
        outputs: list[str] = []
        attributes: list[Attribute] = []
        node = Node("")
        decorators: list[Decorator] = []
        devices: list[Decorator] = []
        metadata: list[tuple[str, str]] = []
        is_whole = True
        for field in read_fields(data, 0, len(data)):
            inside = data[field.value : field.end]
            match field.number if field.wire_type == LENGTH else 0:
                case 1:
                    inputs.append(to_text(inside))
                case 2:
                    outputs.append(to_text(inside))
                case 3:
                    node.name = to_text(inside)
                case 4:
                    node.op_type = to_text(inside)
                case 5:
                    attribute = self.attribute(inside, depth + 1)
                    attributes.append(attribute)
                    if self.compare_items and id(attribute) in self._exact:
                        self._lowering.remember(attribute, data[field.start : field.end])
                case 6:
                    decorators.append(doc_decorator(inside))
                case 7:
                    node.domain = to_text(inside)
                case 8:
                    node.overload = to_text(inside)
                case 9:
                    metadata.append(lift_entry(inside))
                case 10:
                    devices.append(device_decorator(inside))
                case _:
                    is_whole = False
        node.inputs = tuple(inputs)
        node.outputs = tuple(outputs)
        node.attributes = tuple(attributes)
        node.metadata = tuple(metadata)
        if decorators or devices:
            node.decorators = (*decorators, *devices)
        return node, is_whole

    def attribute(self, data: Data, depth: int = 0) -> Attribute:
        """Decode an `AttributeProto`; equal small attributes without graphs share one object."""
        small: bytes | None = None  # the cache key; None for a large attribute
        if len(data) <= SMALL:
            small = data = bytes(data)
            attribute = self._attributes.get(small)
            if attribute is not None:
                return attribute
        check_depth(depth)
        fields = AttributeFields.read(data)
        value = attribute_value(fields, lambda graph: self.graph(graph, depth + 1))
        kind = fields.type if value is None or not isinstance(value, Record) else None
        attribute = Attribute(fields.name, kind, value, fields.decorators)
        if self.compare_items or not fields.is_whole:
            attribute = self._careful_attribute(attribute, fields, data)
        if small is not None and attribute.type not in GRAPH_TYPES:
            self._attributes[small] = attribute
        return attribute

    def _careful_attribute(
        self, attribute: Attribute, fields: AttributeFields, data: Data
    ) -> Attribute:
        """If an attribute does not encode to `data`, use a record or residual decorators."""
        data = bytes(data)
        lowered = self._lowering.attribute(attribute)
        if lowered != data and not isinstance(attribute.value, Record):
            attribute = Attribute(attribute.name, None, fields.record(), attribute.decorators)
            lowered = self._lowering.attribute(attribute)
        rest = residual_decorators("AttributeProto", lowered, data)
        if rest:
            attribute = Attribute(
                attribute.name, attribute.type, attribute.value, (*attribute.decorators, *rest)
            )
            lowered = self._lowering.attribute(attribute)
        if lowered == data:
            self._exact[id(attribute)] = attribute
        return attribute
