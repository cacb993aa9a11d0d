# SPDX-License-Identifier: Apache-2.0
"""Wire bytes to AST: nodes and attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from onnxtext.ast.model import Graph, Node, Presence
from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.values import Attribute, AttributeType
from onnxtext.proto.decode.attributes import AttributeFields, attribute_value
from onnxtext.proto.decode.residual_fields import difference
from onnxtext.proto.decode.values import (
    Data,
    check_depth,
    device_decorator,
    doc_decorator,
    lift_entry,
    text_of,
)
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import Habits
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import LENGTH

PLAIN = Presence(version=1)
"""What is absent is not stored; lifting spells out everything else (then `settle_habits`)."""

SMALL = 4096
"""Attributes of more bytes are hardly met twice."""

_NESTING = (AttributeType.GRAPH, AttributeType.GRAPHS)


class NodeLifter(ABC):
    """The part of lifting that is about nodes; `graph` is what attributes need of the rest.

    Attributes:
        careful: compare every item with its bytes, and add what its sugar does not carry.
    """

    def __init__(self, *, careful: bool) -> None:
        self.careful = careful
        self._attributes: dict[bytes, Attribute] = {}
        self._exact: dict[int, Attribute] = {}  # what lowers to the very bytes it was lifted from

    @cached_property
    def _lowering(self) -> Lowering:
        """Lowers what is compared with its bytes."""
        return Lowering(Habits(PLAIN))

    @abstractmethod
    def graph(self, data: Data, depth: int = 0, start: int = 0, end: int | None = None) -> Graph:
        """A `GraphProto`."""

    def node(self, data: Data, depth: int = 0) -> Node:
        """A `NodeProto`.

        Args:
            data: its bytes.
            depth: how many messages it is nested in.
        """
        node = self.tail(data, depth)
        if self.careful:
            node.decorators += difference("NodeProto", self._lowering.node(node), bytes(data))
        return node

    def tail(self, data: Data, depth: int) -> Node:
        """Any fields of a `NodeProto`, as a node."""
        inputs: list[str] = []
        outputs: list[str] = []
        attributes: list[Attribute] = []
        node = Node("")
        decorators: list[Decorator] = []
        devices: list[Decorator] = []
        for field in read_fields(data, 0, len(data)):
            if field.wire_type != LENGTH:
                continue
            inside = data[field.value : field.end]
            match field.number:
                case 1:
                    inputs.append(text_of(inside))
                case 2:
                    outputs.append(text_of(inside))
                case 3:
                    node.name = text_of(inside)
                case 4:
                    node.op_type = text_of(inside)
                case 5:
                    attribute = self.attribute(inside, depth + 1)
                    attributes.append(attribute)
                    if self.careful and id(attribute) in self._exact:
                        self._lowering.remember(attribute, data[field.start : field.end])
                case 6:
                    decorators.append(doc_decorator(inside))
                case 7:
                    node.domain = text_of(inside)
                case 8:
                    node.overload = text_of(inside)
                case 9:
                    node.metadata += (lift_entry(inside),)
                case 10:
                    devices.append(device_decorator(inside))
        node.inputs = tuple(inputs)
        node.outputs = tuple(outputs)
        node.attributes = tuple(attributes)
        if decorators or devices:
            node.decorators = (*decorators, *devices)
        return node

    def attribute(self, data: Data, depth: int = 0) -> Attribute:
        """An `AttributeProto`. Equal ones are one object, unless they hold a graph.

        Args:
            data: its bytes.
            depth: how many messages it is nested in.
        """
        small = b""  # its bytes, if they are few enough to be met again
        if len(data) <= SMALL:
            small = data = bytes(data)
            attribute = self._attributes.get(small)
            if attribute is not None:
                return attribute
        check_depth(depth, 0)
        fields = AttributeFields.read(data)
        value = attribute_value(fields, lambda graph: self.graph(graph, depth + 1))
        kind = fields.type if value is None or not isinstance(value, Record) else None
        attribute = Attribute(fields.name, kind, value, fields.decorators)
        if self.careful:
            attribute = self._careful_attribute(attribute, fields, data)
        if small and attribute.type not in _NESTING:
            self._attributes[small] = attribute
        return attribute

    def _careful_attribute(
        self, attribute: Attribute, fields: AttributeFields, data: Data
    ) -> Attribute:
        data = bytes(data)
        lowered = self._lowering.attribute(attribute)
        if lowered != data and not isinstance(attribute.value, Record):
            record = fields.record(data)
            attribute = Attribute(attribute.name, None, record, attribute.decorators)
            lowered = self._lowering.attribute(attribute)
        rest = difference("AttributeProto", lowered, data)
        if rest:
            attribute = Attribute(
                attribute.name, attribute.type, attribute.value, (*attribute.decorators, *rest)
            )
            lowered = self._lowering.attribute(attribute)
        if lowered == data:
            self._exact[id(attribute)] = attribute
        return attribute
