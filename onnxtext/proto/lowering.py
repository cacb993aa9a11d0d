# SPDX-License-Identifier: Apache-2.0
"""AST to wire bytes, message by message: models, graphs, functions, nodes, values, attributes."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import prod

from onnxtext.ast.model import Function, Graph, Model, Node, OpsetImport, ValueInfo
from onnxtext.ast.records import Decorator, Record, Word
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.values import (
    Attribute,
    AttributeType,
    Blob,
    Float32,
    Floats,
    RawData,
    Reference,
    SparseTensor,
    Tensor,
    TensorData,
)
from onnxtext.proto.decorators import FieldTable, decorate
from onnxtext.proto.generic import RecordError, lower_record
from onnxtext.proto.habits import Habits
from onnxtext.proto.lower_values import entry, lower_tensor, lower_type, text_bytes
from onnxtext.tensor.blobs import BlobError, Blobs
from onnxtext.tensor.elements import ELEMENTS, raw_size
from onnxtext.wire.writer import (
    Piece,
    delimited,
    delimited_pieces,
    length,
    varint,
)

VALUE_INFO_OF_INITIALIZERS = "value_info"
_A = AttributeType


class LowerError(ValueError):
    """A statement cannot be lowered.

    Attributes:
        message: why.
        at: the statement's offset in its text, -1 if it has none.
    """

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class Lowering:
    """One run of lowering: the text's habits, and what was already lowered."""

    def __init__(self, habits: Habits, resources: Mapping[str, bytes] | None = None) -> None:
        self.habits = habits
        self._blobs = Blobs(resources or {})
        self._types: dict[Type, bytes] = {}
        self._attributes: dict[int, bytes] = {}
        self._lengths: dict[str, bytes] = {}

    # ---- Models, graphs, functions ----------------------------------------------------------

    def model(self, model: Model) -> list[Piece]:
        """A `ModelProto`, in pieces."""
        head = []
        if model.ir_version is not None:
            head.append(b"\x08" + varint(model.ir_version))
        for key, text in (
            (b"\x12", model.producer_name),
            (b"\x1a", model.producer_version),
            (b"\x22", model.domain),
        ):
            if text is not None:
                head.append(delimited(key, text_bytes(text)))
        if model.model_version is not None:
            head.append(b"\x28" + varint(model.model_version))
        if model.doc_string is not None:
            head.append(delimited(b"\x32", text_bytes(model.doc_string)))
        tail = [delimited(b"\x42", self.opset(item)) for item in model.opset_imports]
        tail += [delimited(b"\x72", entry(key, value)) for key, value in model.metadata]
        for function in model.functions:
            tail += (b"\xca\x01", delimited(b"", self.function(function)))
        pieces = [*head, *delimited_pieces(b"\x3a", self.graph(model.graph)), *tail]
        return self.finish_pieces("ModelProto", pieces, model.decorators, model.graph.at)

    def opset(self, item: OpsetImport) -> bytes:
        """An `OperatorSetIdProto`."""
        domain = b"" if item.domain is None else delimited(b"\x0a", text_bytes(item.domain))
        return self.finish("OperatorSetIdProto", domain + b"\x10" + varint(item.version), (), -1)

    def graph(self, graph: Graph) -> list[Piece]:
        """A `GraphProto`, in pieces."""
        pieces: list[Piece] = []
        lower_node = self.node
        for node in graph.nodes:
            try:
                data = lower_node(node)
            except LowerError as error:  # attributes have no place of their own
                raise LowerError(error.message, node.at if error.at < 0 else error.at) from None
            pieces += (b"\x0a", length(len(data)), data)
        pieces.append(delimited(b"\x12", text_bytes(graph.name)))
        with_data = [value for value in graph.inputs if value.data is not None]
        with_data += [value for value in graph.values if value.data is not None]
        sparse: list[Piece] = []
        for value in with_data:
            if isinstance(value.data, SparseTensor):
                sparse += delimited_pieces(b"\x7a", [self.initializer(value)[0]])
            else:
                pieces += delimited_pieces(b"\x2a", self.initializer(value))
        for value in graph.inputs:
            pieces.append(delimited(b"\x5a", self.value_info(value)))
        for value in graph.outputs:
            pieces.append(delimited(b"\x62", self.value_info(value)))
        for data in self.value_infos(graph, with_data):
            pieces += (b"\x6a", length(len(data)), data)
        decorators = [d for d in graph.decorators if d.name != VALUE_INFO_OF_INITIALIZERS]
        return self.finish_pieces("GraphProto", [*pieces, *sparse], decorators, graph.at)

    def value_infos(self, graph: Graph, initializers: list[ValueInfo]) -> list[bytes]:
        """The `value_info` list of a graph, in the order of SPELLINGS S6."""
        lowered: list[bytes] = []
        for decorator in graph.decorators:
            if decorator.name == VALUE_INFO_OF_INITIALIZERS:
                if [field.value for field in decorator.arguments] != [Word("initializers")]:
                    raise LowerError("write @value_info(initializers)", graph.at)
                for value in initializers:
                    lowered.append(self.value_info(ValueInfo(value.name, value.type)))
        lowered += [self.value_info(value) for value in graph.values if value.data is None]
        lowered += self.typed_outputs(graph.nodes)
        return lowered

    def typed_outputs(self, nodes: list[Node]) -> list[bytes]:
        """A `ValueInfoProto` for each output that has its type before it."""
        lowered = []
        plain = "ValueInfoProto" not in self.habits.others
        for node in nodes:
            if node.output_types:
                for name, type in zip(node.outputs, node.output_types, strict=True):
                    if type is not None:
                        if plain:
                            text = name.encode("utf-8", "surrogateescape")
                            lowered.append(b"\x0a" + length(len(text)) + text + self._typed(type))
                        else:
                            lowered.append(self.value_info(ValueInfo(name, type)))
        return lowered

    def _typed(self, type: Type) -> bytes:
        data = self._types.get(type)
        if data is None:
            inner = self.finish("TypeProto", lower_type(type), (), -1)
            data = self._types[type] = delimited(b"\x12", inner)
        return data

    def function(self, function: Function) -> bytes:
        """A `FunctionProto`."""
        parts = [delimited(b"\x0a", text_bytes(function.name))]
        parts += [delimited(b"\x22", text_bytes(value.name)) for value in function.inputs]
        parts += [delimited(b"\x2a", text_bytes(value.name)) for value in function.outputs]
        names = [item for item in function.attributes if isinstance(item, str)]
        parts += [delimited(b"\x32", text_bytes(name)) for name in names]
        parts += [delimited(b"\x3a", self.node(node)) for node in function.nodes]
        if function.doc_string is not None:
            parts.append(delimited(b"\x42", text_bytes(function.doc_string)))
        parts += [delimited(b"\x4a", self.opset(item)) for item in function.opset_imports]
        if function.domain is not None:
            parts.append(delimited(b"\x52", text_bytes(function.domain)))
        for item in function.attributes:
            if isinstance(item, Attribute):
                parts.append(delimited(b"\x5a", self.attribute(item)))
        typed = [value for value in (*function.inputs, *function.outputs) if value.type is not None]
        infos = [self.value_info(value) for value in (*typed, *function.values)]
        infos += self.typed_outputs(function.nodes)
        parts += [delimited(b"\x62", info) for info in infos]
        if function.overload is not None:
            parts.append(delimited(b"\x6a", text_bytes(function.overload)))
        return self.finish("FunctionProto", b"".join(parts), function.decorators, function.at)

    # ---- Values -----------------------------------------------------------------------------

    def value_info(self, value: ValueInfo) -> bytes:
        """A `ValueInfoProto`."""
        data = delimited(b"\x0a", text_bytes(value.name))
        decorators: Sequence[Decorator] = ()
        if value.decorators:
            type_decorators = targeted(value.decorators, "type")
            decorators = targeted(value.decorators, "")
            if type_decorators and value.type is not None:
                inner = self.finish("TypeProto", lower_type(value.type), type_decorators, value.at)
                data += delimited(b"\x12", inner)
            elif value.type is not None:
                data += self._typed(value.type)
            elif type_decorators:
                raise LowerError("`@type` decorators need a type", value.at)
        elif value.type is not None:
            data += self._typed(value.type)
        return self.finish("ValueInfoProto", data, decorators, value.at)

    def initializer(self, value: ValueInfo) -> list[Piece]:
        """A `TensorProto` or, in one piece, a `SparseTensorProto`."""
        is_input = any(d.name.startswith("data.") for d in value.decorators)
        decorators = targeted(value.decorators, "data" if is_input else "")
        if isinstance(value.data, SparseTensor):
            data = self.sparse_tensor(value.data, value.name)
            return [decorate("SparseTensorProto", data, decorators) if decorators else data]
        assert isinstance(value.type, TensorType)
        assert value.data is not None
        pieces = lower_tensor(value.type, value.name, self._data(value.type, value.data, value.at))
        return self.finish_pieces("TensorProto", pieces, decorators, value.at)

    def tensor(self, tensor: Tensor) -> bytes:
        """A `TensorProto` in an attribute."""
        name = self.habits.tensor_name if tensor.name is None else tensor.name
        pieces = lower_tensor(tensor.type, name, self._data(tensor.type, tensor.data, -1))
        return self.finish("TensorProto", b"".join(pieces), tensor.decorators, -1)

    def _data(self, type: TensorType, data: TensorData, at: int) -> TensorData:
        """A tensor's data, with the bytes of a blob."""
        if not isinstance(data, Blob):
            return data
        raw = self.blob(data, at)
        dims = [dim for dim in type.shape or () if isinstance(dim, int)]
        element = ELEMENTS.get(type.element)
        wanted = raw_size(element, prod(dims)) if element is not None and element.bits else -1
        if len(raw) != wanted and wanted >= 0:
            raise LowerError(
                f"the blob {data.digest} has {len(raw)} bytes, a tensor of this type has {wanted}",
                at,
            )
        return RawData(raw)

    def blob(self, blob: Blob, at: int) -> bytes:
        """The bytes of a blob.

        Raises:
            LowerError: they are nowhere, or not what the digest says.
        """
        try:
            return self._blobs.find(blob.digest)
        except BlobError as error:
            raise LowerError(str(error), at) from None

    def sparse_tensor(self, sparse: SparseTensor, name: str | None) -> bytes:
        """A `SparseTensorProto`; a sparse initializer's name is that of its values."""
        values = sparse.values
        if name is not None and values.name is None:
            values = Tensor(values.type, values.data, name, values.decorators)
        data = delimited(b"\x0a", self.tensor(values))
        data += delimited(b"\x12", self.tensor(sparse.indices))
        data += b"".join([b"\x18" + varint(dim) for dim in sparse.dims])
        return self.finish("SparseTensorProto", data, sparse.decorators, -1)

    # ---- Nodes and attributes ---------------------------------------------------------------

    def node(self, node: Node) -> bytes:
        """A `NodeProto`."""
        habits = self.habits
        parts: list[bytes] = []
        attributes = self._attributes
        for text in node.inputs:
            data = text.encode("utf-8", "surrogateescape")
            parts += (b"\x0a", length(len(data)), data)
        for text in node.outputs:
            data = text.encode("utf-8", "surrogateescape")
            parts += (b"\x12", length(len(data)), data)
        name = habits.node_name if node.name is None else node.name
        if name is not None:
            data = name.encode("utf-8", "surrogateescape")
            parts += (b"\x1a", length(len(data)), data)
        data = node.op_type.encode("utf-8", "surrogateescape")
        parts += (b"\x22", length(len(data)), data)
        for attribute in node.attributes:
            field = attributes.get(id(attribute))
            if field is None:
                field = delimited(b"\x2a", self.attribute(attribute))
                attributes[id(attribute)] = field
            parts.append(field)
        parts.append(habits.node_doc)
        if node.domain is None:
            parts.append(habits.node_domain)
        else:
            parts.append(delimited(b"\x3a", text_bytes(node.domain)))
        if node.overload is None:
            parts.append(habits.node_overload)
        else:
            parts.append(delimited(b"\x42", text_bytes(node.overload)))
        if node.decorators or "NodeProto" in habits.others:
            return self.finish("NodeProto", b"".join(parts), node.decorators, node.at)
        return b"".join(parts)

    def attribute(self, attribute: Attribute) -> bytes:
        """An `AttributeProto`."""
        name = delimited(b"\x0a", text_bytes(attribute.name))
        value = attribute.value
        kind = b"" if attribute.type is None else b"\xa0\x01" + varint(attribute.type)
        if isinstance(value, Record):
            data = self._record_attribute(name, value)
        elif value is None:
            data = name + kind
        elif isinstance(value, Reference):
            data = name + kind + delimited(b"\xaa\x01", text_bytes(value.name))
        elif attribute.type in (_A.SPARSE_TENSOR, _A.SPARSE_TENSORS):
            data = name + kind + self._value(attribute)
        else:
            data = name + self._value(attribute) + kind
        return self.finish("AttributeProto", data, attribute.decorators, -1)

    def _record_attribute(self, name: bytes, record: Record) -> bytes:
        from onnxtext.proto.schema import message_spec

        try:
            data = lower_record(message_spec("AttributeProto"), record)
        except RecordError as error:
            raise LowerError(str(error), -1) from None
        return name + data

    def _value(self, attribute: Attribute) -> bytes:
        value = attribute.value
        match attribute.type, value:
            case _A.INT, int():
                return b"\x18" + varint(value)
            case _A.FLOAT, Float32():
                return b"\x15" + value.bits.to_bytes(4, "little")
            case _A.STRING, bytes():
                return delimited(b"\x22", value)
            case _, Blob():
                return self._blob_value(attribute.type, self.blob(value, -1))
            case _A.TENSOR, Tensor():
                return delimited(b"\x2a", self.tensor(value))
            case _A.GRAPH, Graph():
                return b"".join(delimited_pieces(b"\x32", self.graph(value)))
            case _A.FLOATS, Floats(data):
                return b"".join(
                    [b"\x3d" + data[at : at + 4] for at in range(0, len(data), 4)]
                )  # fmt: skip
            case _A.INTS, tuple():
                return b"".join([b"\x40" + varint(item) for item in value])  # type: ignore[arg-type]
            case _A.SPARSE_TENSOR, SparseTensor():
                return delimited(b"\xb2\x01", self.sparse_tensor(value, None))
            case _A.TYPE_PROTO, _ if not isinstance(value, tuple):
                return delimited(b"\x72", self._plain_type(value))  # type: ignore[arg-type]
            case _, tuple():
                return self._list_value(attribute.type, value)
        raise LowerError(f"the value of the attribute `{attribute.name}` is not of its type", -1)

    def _blob_value(self, kind: AttributeType | None, data: bytes) -> bytes:
        """A string, or a list of numbers from its little-endian elements."""
        if kind is _A.STRING:
            return delimited(b"\x22", data)
        width = 4 if kind is _A.FLOATS else 8
        if len(data) % width:
            raise LowerError(f"the blob's size is no multiple of {width} bytes", -1)
        if kind is _A.FLOATS:
            return b"".join([b"\x3d" + data[at : at + 4] for at in range(0, len(data), 4)])
        items = struct.unpack(f"<{len(data) // 8}q", data)
        return b"".join([b"\x40" + varint(item) for item in items])

    def _plain_type(self, type: Type) -> bytes:
        return self.finish("TypeProto", lower_type(type), (), -1)

    def _list_value(self, kind: AttributeType | None, items: Sequence[object]) -> bytes:
        parts = []
        for item in items:
            match kind, item:
                case _A.STRINGS, bytes():
                    parts.append(delimited(b"\x4a", item))
                case _A.STRINGS, Blob():
                    parts.append(delimited(b"\x4a", self.blob(item, -1)))
                case _A.TENSORS, Tensor():
                    parts.append(delimited(b"\x52", self.tensor(item)))
                case _A.GRAPHS, Graph():
                    parts.append(b"".join(delimited_pieces(b"\x5a", self.graph(item))))
                case _A.SPARSE_TENSORS, SparseTensor():
                    parts.append(delimited(b"\xba\x01", self.sparse_tensor(item, None)))
                case _A.TYPE_PROTOS, _:
                    parts.append(delimited(b"\x7a", self._plain_type(item)))  # type: ignore[arg-type]
                case _:
                    raise LowerError("an item of an attribute's list is not of its type", -1)
        return b"".join(parts)

    # ---- Presence and decorators ------------------------------------------------------------

    def finish_pieces(
        self, message: str, pieces: list[Piece], decorators: Sequence[Decorator], at: int
    ) -> list[Piece]:
        """A message in pieces, after habits and decorators; joined only if it has any."""
        if not decorators and message not in self.habits.others:
            return pieces
        return [self.finish(message, b"".join(pieces), decorators, at)]

    def finish(self, message: str, data: bytes, decorators: Sequence[Decorator], at: int) -> bytes:
        """A message, after what the habits add and the decorators change."""
        extra = self.habits.others.get(message)
        if not decorators and not extra:
            return data
        table = FieldTable(message, data)
        for number, empty in extra or ():
            table.known.setdefault(number, empty)
        try:
            for decorator in decorators:
                table.apply(decorator)
        except RecordError as error:
            raise LowerError(str(error), at) from None
        return table.encode()


def targeted(decorators: Sequence[Decorator], target: str) -> list[Decorator]:
    """The decorators of the thing itself (""), of its `type` or of its `data`."""
    if target:
        prefix = target + "."
        return [
            Decorator(d.name.removeprefix(prefix), d.arguments)
            for d in decorators
            if d.name.startswith(prefix)
        ]
    return [d for d in decorators if not d.name.startswith(("type.", "data."))]
