# SPDX-License-Identifier: Apache-2.0
"""Encode values, tensors, their blobs, and attributes; apply presence defaults and decorators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from onnxtext import ast
from onnxtext.ast.nesting import nesting
from onnxtext.ast.tensors_and_attributes import SplatData
from onnxtext.ast.typed_blobs import data_of_blob, list_of_blob, split_repetition
from onnxtext.proto.convert_records import lower_record
from onnxtext.proto.encode.decorators import finish_message, select_decorators
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.repetitions import RepetitionLowering
from onnxtext.proto.encode.types_and_tensors import lower_tensor, lower_type, metadata_fields
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.tensor import varints
from onnxtext.tensor.blobs import BlobError, Blobs, BlobSource
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.tensor.strings import fields_of_strings
from onnxtext.wire.writer import Piece, delimited, delimited_pieces, signed_varint, text_field

_A = ast.AttributeType
_SPARSE = (_A.SPARSE_TENSOR, _A.SPARSE_TENSORS)

_SMALL = 4096
"""Maximum size of cached attributes and messages, in bytes."""
_MAX_FINISHED = 4096
"""Maximum number of cached messages."""
_SHAPE_LIMIT = 8 << 16
"""Size in bits (64 KiB); larger tensors cannot be shapes, so type inference can omit them."""


class ValueLowering(RepetitionLowering, ABC):
    """Encodes values, tensors and attributes to wire bytes. A subclass implements `graph`.

    Methods raise `LowerError` if they cannot encode their argument. Subclasses may override public
    methods: each tensor goes through `tensor_data` or `raw_initializer`, each blob through `blob`.

    Attributes:
        depth: the nesting depth of the graph that is being encoded.
        deepest: the maximum nesting depth of graphs so far.
        deepest_type: the maximum nesting depth of types and records so far.
    """

    depth = deepest = deepest_type = 0
    _blobs: Blobs | None = None
    _unguarded = 1 << 20  # bytes; the guard takes longer than reading the data of small models

    def __init__(
        self,
        defaults: PresenceDefaults,
        resources: Mapping[str, bytes | memoryview] | None = None,
        blob_source: BlobSource | None = None,
        verified: bool = False,
        guard: Callable[[], object] | None = None,
        omit_weights: bool = False,
    ) -> None:
        """Create the encoder.

        Args:
            defaults: the presence defaults of the text.
            resources: blobs by digest.
            blob_source: finds blobs that are not in the resources.
            verified: whether the digests of the resources have been verified before.
            guard: called once, when blobs, files and repetitions exceed 1 MiB in total.
            omit_weights: whether to replace large data by a reference to a nonexistent file.
        """
        self._resources, self._verified = resources or {}, verified
        self.defaults, self._blob_source = defaults, blob_source
        self._guard, self._omit_weights = guard, omit_weights
        # Encoded items by id; messages with decorators by (type, encoding without decorators, ids
        # of the decorators). The objects are stored, too, so that their ids are not reused.
        self._fields: dict[int, tuple[Piece, object]] = {}
        self._finished: dict[tuple[object, ...], tuple[bytes, object]] = {}

    def enter_graph(self) -> None:
        """Update the nesting depth at the beginning of a graph."""
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)

    def leave_graph(self) -> None:
        """Update the nesting depth at the end of a graph."""
        self.depth -= 1

    def _reserve(self, size: int) -> None:
        """Count `size` bytes to read; call the guard when the total first exceeds 1 MiB."""
        self._unguarded -= size
        if self._unguarded < 0 and (guard := self._guard) is not None:
            self._guard = None
            guard()

    @abstractmethod
    def graph(self, graph: ast.Graph) -> list[Piece]:
        """Return a `GraphProto` in pieces."""

    # ---- Values -----------------------------------------------------------------------------

    def value_info(self, value: ast.ValueInfo) -> bytes:
        """Return a `ValueInfoProto`."""
        data = text_field(b"\x0a", value.name)
        decorators: Sequence[ast.Decorator] = ()
        type_decorators: Sequence[ast.Decorator] = ()
        if value.decorators:
            decorators = select_decorators(value.decorators, "")
            type_decorators = select_decorators(value.decorators, "type")
        if value.type is None:
            if type_decorators:
                raise LowerError("a `@type` decorator needs a value with a type", value.at)
        elif type_decorators:
            data += delimited(b"\x12", self.type_proto(value.type, type_decorators, value.at))
        else:
            data += self.typed(value.type, value.at)
        if value.metadata:
            data += b"".join(metadata_fields(b"\x22", value.metadata))
        return self.finish("ValueInfoProto", data, decorators, value.at)

    def initializer(self, value: ast.ValueInfo, *, is_input: bool = False) -> list[Piece]:
        """Return a `TensorProto` or `SparseTensorProto` in pieces.

        Args:
            value: a value with data.
            is_input: whether the value is an input; then only its `@data.…` decorators are applied.
        """
        decorators = select_decorators(value.decorators, "data" if is_input else "")
        if isinstance(value.data, ast.SparseTensor):
            try:
                data = self.sparse_tensor(value.data, value.name)
            except LowerError as error:
                raise error.placed(value.at) from None
            return [self.finish("SparseTensorProto", data, decorators, value.at)]
        assert isinstance(value.type, ast.TensorType)
        assert value.data is not None
        changes = decorators or value.metadata or self.defaults.others
        if type(value.data) is ast.RawData and not changes:
            return self.raw_initializer(value.type, value.name, value.data.data)
        stored = self.tensor_data(value.type, value.data, value.at, value.name)
        pieces = lower_tensor(value.type, value.name, stored)
        if not is_input:
            pieces = [*pieces, *metadata_fields(b"\x82\x01", value.metadata)]
        return self.finish_pieces("TensorProto", pieces, decorators, value.at)

    def raw_initializer(self, type: ast.TensorType, name: str, data: Piece) -> list[Piece]:
        """Return a `TensorProto` of the most common form: raw data, no decorators."""
        return lower_tensor(type, name, ast.RawData(data))

    def tensor(self, tensor: ast.Tensor) -> bytes:
        """Return a `TensorProto` in an attribute."""
        name = self.defaults.tensor_name if tensor.name is None else tensor.name
        pieces = lower_tensor(tensor.type, name, self.tensor_data(tensor.type, tensor.data, -1))
        return self.finish("TensorProto", b"".join(pieces), tensor.decorators, -1)

    def tensor_data(
        self, type: ast.TensorType, data: ast.TensorData, offset: int, name: str | None = None
    ) -> ast.TensorData:
        """Return a tensor's data; read its blob or file, or replace large data (`omit_weights`)."""
        if not isinstance(data, (ast.Blob, ast.TypedBlob, ast.DataFile, SplatData)):
            return data
        element = ELEMENTS.get(type.element)
        count = count_elements(type.integer_dims)
        if self._omit_weights and element is not None and element.bits * count > _SHAPE_LIMIT:
            return ast.ExternalData((("location", "left-out"),))
        needed = raw_size(element, count) if element is not None and element.bits else -1
        if isinstance(data, (SplatData, ast.DataFile)):
            self._reserve(needed)
        if isinstance(data, SplatData):
            return data
        prefix = f"tensor `{name}`: " if name else ""
        if isinstance(data, ast.DataFile):
            return ast.RawData(self._array(type, data, offset, prefix))
        try:
            raw = self.blob(data if isinstance(data, ast.Blob) else ast.Blob(data.digest), offset)
            if isinstance(data, ast.TypedBlob):
                return data_of_blob(type, data, raw)
        except LowerError as error:
            error.message = prefix + error.message
            raise
        except BlobError as error:
            raise LowerError(prefix + str(error), offset, error.code, data.digest) from None
        if len(raw) != needed and needed >= 0:
            raise LowerError.of_blob(data.digest, raw, f"but the tensor needs {needed:,}", offset)
        return ast.RawData(raw)

    def _array(
        self, type: ast.TensorType, file: ast.DataFile, offset: int, prefix: str
    ) -> bytes | memoryview:
        """Return the elements of a tensor in a data file; error messages begin with `prefix`."""
        if self._blob_source is None:
            why = "the directory of the text is unknown; save the text, or pass `base_dir`"
            message = f"{prefix}cannot read the data file `{file.path}`: {why}"
            raise LowerError(message, offset, "weights-unreadable", file.path)
        try:
            return self._blob_source.array(file, type)
        except BlobError as error:
            raise LowerError(prefix + str(error), offset, error.code, file.path) from None

    def blob(self, blob: ast.Blob, offset: int) -> bytes | memoryview:
        """Return the bytes of a blob.

        Raises:
            LowerError: the blob is missing, ambiguous, unreadable or damaged.
        """
        digest, others, blobs = blob.digest, self._blob_source, self._blobs
        if blobs is None:
            blobs = self._blobs = Blobs(self._resources, verified=self._verified)
        try:
            find = blobs.find if others is None or blobs.knows(digest) else others.find
            data = find(digest)
        except BlobError as error:
            raise LowerError(str(error), offset, error.code, digest) from None
        self._reserve(len(data))
        return data

    def sparse_tensor(self, sparse: ast.SparseTensor, name: str | None) -> bytes:
        """Return a `SparseTensorProto`; if its `values` have no name, they get `name`."""
        values = sparse.values
        if name is not None and values.name is None:
            values = ast.Tensor(values.type, values.data, name, values.decorators)
        data = delimited(b"\x0a", self.tensor(values))
        data += delimited(b"\x12", self.tensor(sparse.indices))
        data += b"".join([b"\x18" + signed_varint(dim) for dim in sparse.dims])
        return self.finish("SparseTensorProto", data, sparse.decorators, -1)

    def typed(self, type: ast.Type, offset: int) -> Piece:
        """Return the encoded `type` field of a `ValueInfoProto`."""
        known = self._fields.get(id(type))
        if known is None:
            field = delimited(b"\x12", self.type_proto(type, (), offset))
            known = self._fields[id(type)] = (field, type)
        return known[0]

    def type_proto(self, type: ast.Type, decorators: Sequence[ast.Decorator], offset: int) -> bytes:
        """Return a `TypeProto`."""
        try:
            data = lower_type(type)
        except RecordError as error:
            raise LowerError.of_record(error, offset) from None
        self.deepest_type = max(self.deepest_type, nesting(type))
        return self.finish("TypeProto", data, decorators, offset)

    # ---- Attributes -------------------------------------------------------------------------

    def attribute_field(self, attribute: ast.Attribute) -> Piece:
        """Return an attribute encoded as a field of a `NodeProto`: key, length and message."""
        known = self._fields.get(id(attribute))
        if known is not None:
            return known[0]
        omitted = self.omitted
        field = delimited(b"\x2a", self.attribute(attribute))
        # Do not cache a field with omitted repetitions: `omitted` must count them at each use.
        if len(field) <= _SMALL and self.omitted == omitted:
            self.remember(attribute, field)
        return field

    def remember(self, item: ast.Attribute | ast.Graph | ast.Function, encoded: Piece) -> None:
        """Cache the result of `attribute_field`, `graph` or `function` for an item."""
        self._fields[id(item)] = (encoded, item)

    def attribute(self, attribute: ast.Attribute) -> bytes:
        """Return an `AttributeProto`."""
        name = text_field(b"\x0a", attribute.name)
        value = attribute.value
        kind = b"" if attribute.type is None else b"\xa0\x01" + signed_varint(attribute.type)
        if isinstance(value, ast.Record):
            self.deepest_type = max(self.deepest_type, nesting(value))
            data = self._record_attribute(name, value)
        elif value is None:
            data = name + kind
        elif isinstance(value, ast.Reference):
            data = name + kind + text_field(b"\xaa\x01", value.name)
        elif attribute.type in _SPARSE:
            data = name + kind + self.attribute_value(attribute)
        else:
            data = b"".join((name, self.attribute_value(attribute), kind))
        return self.finish("AttributeProto", data, attribute.decorators, -1)

    def _record_attribute(self, name: bytes, record: ast.Record) -> bytes:
        from onnxtext.proto.descriptors import message_spec

        try:
            return name + lower_record(message_spec("AttributeProto"), record)
        except RecordError as error:
            raise LowerError.of_record(error, -1) from None

    def attribute_value(self, attribute: ast.Attribute) -> bytes:
        """Return the encoded fields of an `AttributeProto` that hold its value."""
        value = attribute.value
        match value, attribute.type:  # the classes first: looking up a member of `_A` is slow
            case int(), _A.INT:
                return b"\x18" + signed_varint(value)
            case ast.Float32(), _A.FLOAT:
                return b"\x15" + value.bits.to_bytes(4, "little")
            case bytes(), _A.STRING:
                return delimited(b"\x22", value)
            case ast.Blob(), (_A.STRING | _A.FLOATS | _A.INTS):
                return self._blob_value(attribute.type, self.blob(value, -1), value.digest)
            case ast.TypedBlob(), _:
                return self._typed_value(attribute.type, value)
            case ast.RepeatedList(), _:
                self._reserve(2 * value.count)
                stored, last = map(self.attribute_value, split_repetition(attribute, value))
                return stored + self.repeat(last, value.count - len(value.items))
            case ast.Tensor(), _A.TENSOR:
                return delimited(b"\x2a", self.tensor(value))
            case ast.Graph(), _A.GRAPH:
                return b"".join(delimited_pieces(b"\x32", self.graph(value)))
            case ast.Floats(data), _A.FLOATS:
                return varints.float_fields(b"\x3d", data)
            case tuple(), _A.INTS:
                return varints.int_fields(b"\x40", value)  # type: ignore[arg-type]
            case ast.SparseTensor(), _A.SPARSE_TENSOR:
                return delimited(b"\xb2\x01", self.sparse_tensor(value, None))
            case _, _A.TYPE_PROTO if isinstance(value, ast.Type):
                return delimited(b"\x72", self.type_proto(value, (), -1))
            case tuple(), _:
                return self._list_value(attribute.type, value)
        raise LowerError(f"the value of `{attribute.name}` does not match the attribute's type", -1)

    def _blob_value(
        self, kind: ast.AttributeType | None, data: bytes | memoryview, digest: str
    ) -> bytes:
        """Return the value field of an attribute of type `kind`, given the data of a blob."""
        data = bytes(data)
        if kind is _A.STRING:
            return delimited(b"\x22", data)
        width = 4 if kind is _A.FLOATS else 8
        if len(data) % width:
            raise LowerError.of_blob(digest, data, f"which is not a multiple of {width}", -1)
        if kind is _A.FLOATS:
            return varints.float_fields(b"\x3d", data)
        return varints.int_fields(b"\x40", data)

    def _typed_value(self, kind: ast.AttributeType | None, blob: ast.TypedBlob) -> bytes:
        """Return the value field of a list attribute from a typed blob, `{blob"9f2c…"}`."""
        raw = self.blob(ast.Blob(blob.digest), -1)
        fields = None
        if kind is _A.INTS:
            fields = varints.fields_of_packed(b"\x40", raw)
        elif kind is _A.STRINGS:
            fields = fields_of_strings(b"\x4a", raw)
        if fields is not None:
            return fields
        try:
            values = list_of_blob(kind, blob, raw)
        except BlobError as error:
            raise LowerError(str(error), -1, error.code, blob.digest) from None
        assert isinstance(values, bytes)  # valid strings were encoded above, invalid ones raise
        return self._blob_value(kind, values, blob.digest)

    def _list_value(self, kind: ast.AttributeType | None, items: Sequence[object]) -> bytes:
        """Return the encoded items of an attribute whose value is a list."""
        parts = []
        for item in items:
            match kind, item:
                case _A.STRINGS, bytes():
                    parts.append(delimited(b"\x4a", item))
                case _A.STRINGS, ast.Blob():
                    parts.append(delimited(b"\x4a", bytes(self.blob(item, -1))))
                case _A.TENSORS, ast.Tensor():
                    parts.append(delimited(b"\x52", self.tensor(item)))
                case _A.GRAPHS, ast.Graph():
                    parts.append(b"".join(delimited_pieces(b"\x5a", self.graph(item))))
                case _A.SPARSE_TENSORS, ast.SparseTensor():
                    parts.append(delimited(b"\xba\x01", self.sparse_tensor(item, None)))
                case _A.TYPE_PROTOS, _ if isinstance(item, ast.Type):
                    parts.append(delimited(b"\x7a", self.type_proto(item, (), -1)))
                case _:
                    raise LowerError("an item of a list does not match the attribute's type", -1)
        return b"".join(parts)

    # ---- Presence and decorators ------------------------------------------------------------

    def finish_pieces(
        self, message: str, pieces: list[Piece], decorators: Sequence[ast.Decorator], offset: int
    ) -> list[Piece]:
        """Apply presence defaults and decorators to a message; join its pieces only if needed."""
        if not decorators and message not in self.defaults.others:
            return pieces
        return [self.finish(message, b"".join(pieces), decorators, offset)]

    def finish(
        self, message: str, data: bytes, decorators: Sequence[ast.Decorator], offset: int
    ) -> bytes:
        """Apply presence defaults and decorators to a message."""
        extra = self.defaults.others.get(message)
        if not decorators and not extra:
            return data
        key = (message, data, *map(id, decorators)) if len(data) <= _SMALL else ()
        known = self._finished.get(key)
        if known is not None:
            return known[0]
        self.deepest_type = max(self.deepest_type, nesting((*decorators,)))
        result = finish_message(message, data, extra or (), decorators, offset)
        if key and len(self._finished) < _MAX_FINISHED:
            self._finished[key] = (result, decorators)
        return result
