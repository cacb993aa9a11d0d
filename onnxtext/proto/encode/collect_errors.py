# SPDX-License-Identifier: Apache-2.0
"""Find every reason why a model cannot be encoded, not only the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from onnxtext.ast.model import Configuration, Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.tensors_and_attributes import Attribute, NoData, TensorData
from onnxtext.ast.types import TensorType, Type
from onnxtext.proto.encode.lower import lower_item
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.tensor.blobs import BlobSource
from onnxtext.wire.writer import Piece

T = TypeVar("T")


class _Collecting(Lowering):
    """An encoder that collects errors and continues; its result is not a valid model."""

    def __init__(self, model: Model, blob_source: BlobSource | None) -> None:
        super().__init__(PresenceDefaults(model.presence), model.resources, blob_source)
        self.errors: list[LowerError] = []
        self._at = model.graph.at

    def collect(self, root: Model | Fragment) -> None:
        """Encode a model or a fragment, and record its errors; skip a fragment that is a record."""
        if isinstance(root, Model):
            self.model(root)
        elif not isinstance(root.item, Record):
            self._try(-1, lambda: lower_item(self, root), b"")

    def node(self, node: Node) -> bytes:
        """Encode a node; if it cannot be encoded, record the error and return no bytes."""
        return self._try(node.at, lambda: super(_Collecting, self).node(node), b"")

    def value_info(self, value: ValueInfo) -> bytes:
        """Encode a value info; if it cannot be encoded, record the error and return no bytes."""
        return self._try(value.at, lambda: super(_Collecting, self).value_info(value), b"")

    def initializer(self, value: ValueInfo, *, is_input: bool = False) -> list[Piece]:
        """Encode an initializer; if it cannot be encoded, record the error and return no pieces."""

        def lower() -> list[Piece]:
            return super(_Collecting, self).initializer(value, is_input=is_input)

        return self._try(value.at, lower, [])

    def graph(self, graph: Graph) -> list[Piece]:
        """Encode a graph; if it cannot be encoded, record the error and return no pieces."""
        return self._try(graph.at, lambda: super(_Collecting, self).graph(graph), [])

    def function(self, function: Function) -> bytes:
        """Encode a function; if it cannot be encoded, record the error and return no bytes."""
        return self._try(function.at, lambda: super(_Collecting, self).function(function), b"")

    def configuration(self, configuration: Configuration, offset: int) -> bytes:
        """Encode a configuration; if it cannot be encoded, record the error and return no bytes."""
        return self._try(
            offset, lambda: super(_Collecting, self).configuration(configuration, offset), b""
        )

    def type_proto(self, type: Type, decorators: Sequence[Decorator], offset: int) -> bytes:
        """Encode a type; if it cannot be encoded, record the error and return no bytes."""

        def lower() -> bytes:
            return super(_Collecting, self).type_proto(type, decorators, offset)

        return self._try(offset, lower, b"")

    def attribute(self, attribute: Attribute) -> bytes:
        """Encode an attribute; if it cannot be encoded, record the error and return no bytes."""
        return self._try(-1, lambda: super(_Collecting, self).attribute(attribute), b"")

    def finish(
        self, message: str, data: bytes, decorators: Sequence[Decorator], offset: int
    ) -> bytes:
        """Apply decorators; if a decorator is invalid, record the error and return `data`."""

        def lower() -> bytes:
            return super(_Collecting, self).finish(message, data, decorators, offset)

        return self._try(offset, lower, data)

    def tensor_data(
        self, type: TensorType, data: TensorData, offset: int, name: str | None = None
    ) -> TensorData:
        """Return a tensor's data; if it cannot be read, record the error and return no data."""

        def lower() -> TensorData:
            return super(_Collecting, self).tensor_data(type, data, offset, name)

        nothing: TensorData = NoData()
        return self._try(offset, lower, nothing)

    def _try(self, offset: int, lower: Callable[[], T], otherwise: T) -> T:
        """Return `lower()`; if it fails, record the error and return `otherwise`."""
        before = self._at
        self._at = offset if offset >= 0 else before
        try:
            return lower()
        except LowerError as error:
            self.errors.append(error.placed(self._at))
        except RecordError as error:
            self.errors.append(LowerError.of_record(error, self._at))
        finally:
            self._at = before
        return otherwise


def find_errors(root: Model | Fragment, blob_source: BlobSource | None = None) -> list[LowerError]:
    """Return the errors of all items that cannot be encoded, in text order.

    Return an empty list for a fragment that is a record.
    """
    model = root if isinstance(root, Model) else Model(graph=Graph(""), presence=root.presence)
    try:
        lowering = _Collecting(model, blob_source)
    except RecordError as error:
        return [LowerError.of_record(error, 0)]
    lowering.collect(root)
    return sorted(lowering.errors, key=lambda error: error.at)
