# SPDX-License-Identifier: Apache-2.0
"""Apply the decorators `@set` and `@unset`, which override protobuf fields of a statement.

A statement with one of these decorators is encoded to protobuf and decoded again. The decoded
values of the changed fields are stored in a copy of the statement. So rules see the fields of the
binary model. `whole_lists` also expands the lists that attributes store in a short form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from onnxtext import ast
from onnxtext.ast.records import FieldValue
from onnxtext.proto.convert_records import lift_record, lower_record
from onnxtext.proto.decode.residual_fields import residual_decorators
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.encode.messages import Lowering
from onnxtext.proto.presence_defaults import PresenceDefaults
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.wire.reader import WireError, read_fields

if TYPE_CHECKING:
    from onnxtext.proto.decode.messages import Lifter

_FIELDS = {
    "name": "name", "op_type": "op_type", "domain": "domain", "overload": "overload",
    "input": "inputs", "output": "outputs", "node": "nodes", "opset_import": "opset_imports",
    "quantization_annotation": "quantization", "doc_string": "doc_string",
    **dict.fromkeys(("attribute", "attribute_proto"), "attributes"),
    **dict.fromkeys(("value_info", "initializer", "sparse_initializer"), "values"),
    **dict.fromkeys(("type", "data_type", "dims"), "type"),
    **dict.fromkeys(
        ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data",
         "string_data", "external_data", "data_location"),
        "data",
    ),
}  # fmt: skip
"""Maps the names of protobuf fields to the attributes of the syntax tree that hold the fields."""


def changed_fields(decorators: Iterable[ast.Decorator], target: str = "") -> dict[str, FieldValue]:
    """Return the protobuf fields that `@set` and `@unset` change: map each field to its new value.

    The new value of a field that `@unset` names is `UNSET`. `target` selects the decorators: `""`
    for `@set` and `@unset`, which change fields of the statement; `"type"` for `@type.set` and
    `@type.unset`, which change the type of a value; `"data"` for `@data.set` and `@data.unset`,
    which change the default value of an input.
    """
    prefix = f"{target}." if target else ""
    changed: dict[str, FieldValue] = {}
    for decorator in decorators:
        if decorator.name == f"{prefix}set":
            for argument in decorator.arguments:
                if isinstance(argument.key, str):
                    changed[argument.key] = argument.value
        elif decorator.name == f"{prefix}unset":
            for argument in decorator.arguments:
                if isinstance(argument.value, ast.Word):
                    changed[argument.value.text] = UNSET
    return changed


UNSET = ast.Word("")


S = TypeVar("S", ast.Node, ast.Graph, ast.Function, ast.ValueInfo)


_BLOBS = (ast.Blob, ast.TypedBlob)
_STORED = (*_BLOBS, ast.RepeatedList)
MAX_LIST_BYTES = 1 << 16
"""The maximum size in bytes of an expanded list: rules read shapes and axes, which are smaller."""
_MAX_TENSOR_BYTES = 1 << 13
"""The maximum size in bytes of an int64 or int32 blob that is read for a tensor.

Rules read shapes and indices of up to 1,024 elements, but not weights.
"""
_MAX_OTHER_BYTES = 1 << 7
"""The same for other types, of which rules read only a few elements, such as scales."""
MAX_BYTES = 1 << 22
"""The maximum total size in bytes of the lists and tensors that are expanded for rules."""


class ResolvedFields:
    """Copies statements and applies their decorators `@set` and `@unset` to the copies.

    The methods return the statement itself if its decorators change nothing, or if the statement
    cannot be encoded (the encoder reports this error). `resources` are the blobs of the text, by
    digest; `verified` tells whether the digests have been compared with the bytes.

    Attributes:
        originals: maps the `id()` of each copy to the statement that it was made from.
    """

    def __init__(
        self, resources: Mapping[str, bytes | memoryview], *, verified: bool = False
    ) -> None:
        defaults = PresenceDefaults(ast.Presence(version=1))
        self._lowering = Lowering(defaults, resources, verified=verified)
        self.originals: dict[int, object] = {}
        self._kept: list[object] = []  # keeps objects alive, so that no `id()` is reused
        self._resources = resources
        self._left = MAX_BYTES
        self._read: set[str] = set()  # the digests of the blobs read for tensors
        self._attributes: dict[int, ast.Attribute] = {}

    @cached_property
    def _lifter(self) -> Lifter:
        from onnxtext.proto.decode.messages import Lifter  # a slow import, rarely needed

        return Lifter(compare_items=False)

    def node(self, node: ast.Node) -> ast.Node:
        """Copy a node and apply its own `@set` and `@unset`, but not those of its parts."""
        return self._copy(node, lambda: self._lifter.node(memoryview(self._lowering.node(node))))

    def _copy(self, item: S, decoded: Callable[[], S]) -> S:
        """Return a copy of a statement in which the changed fields have their decoded values.

        `decoded` is a function that encodes the statement and returns the decoded result.
        """
        changed = changed_fields(item.decorators).keys() & _FIELDS.keys()
        if not changed:
            return item
        try:
            return self._record(item, _with_fields(item, decoded(), changed))
        except (LowerError, WireError):
            return item

    def whole_lists(
        self, nodes: list[ast.Node], rich: Sequence[tuple[ast.Attribute, ...]]
    ) -> list[ast.Node]:
        """Return the nodes; expand the lists that their attributes store in a short form.

        A list has a short form if it is stored in a blob, or ends in `...`, such as
        `ints[64] = [0, ...]`. A list stays unexpanded if it has more than `MAX_LIST_BYTES` bytes,
        or if it would raise the total size of all expanded lists above `MAX_BYTES`. The data of
        tensors in blobs is expanded like that of initializers; see `small_data`.

        `rich` are the attribute lists that `ast.visit.rich_lists` returns for the nodes.
        """
        lists: dict[int, tuple[ast.Attribute, ...]] = {}
        for attributes in rich:
            if any(
                isinstance(item.value, _STORED)
                or (isinstance(item.value, ast.Tensor) and isinstance(item.value.data, _BLOBS))
                for item in attributes
            ):
                lists[id(attributes)] = tuple([self._expand_list(item) for item in attributes])
        if not lists:
            return nodes
        return [
            self._record(self.original(node), replace(node, attributes=lists[id(node.attributes)]))
            if id(node.attributes) in lists
            else node
            for node in nodes
        ]

    def _expand_list(self, attribute: ast.Attribute) -> ast.Attribute:
        """Return a copy of an attribute with its list expanded, as described at `whole_lists`.

        Return the attribute itself if it has no list in a short form, or if the list is too long or
        cannot be encoded.
        """
        value = attribute.value
        if isinstance(value, ast.RepeatedList):
            size = 8 * value.count
        elif isinstance(value, _BLOBS):
            size = self._size(value)
        elif isinstance(value, ast.Tensor) and isinstance(value.data, _BLOBS):
            size = 0  # `_small` counts it
        else:
            return attribute
        cached = self._attributes.get(id(attribute))
        if cached is None:
            cached = attribute
            if isinstance(value, ast.Tensor) and isinstance(value.data, _BLOBS):
                data = self._small(value.type, value.data)
                if data is not value.data:
                    cached = replace(attribute, value=replace(value, data=data))
            elif size <= min(MAX_LIST_BYTES, self._left):
                self._left -= size
                with suppress(LowerError, WireError):  # the encoder reports the error
                    encoded = self._lowering.attribute(replace(attribute, decorators=()))
                    lifted = self._lifter.attribute(memoryview(encoded), 0)
                    cached = replace(attribute, value=lifted.value)
            self._attributes[id(attribute)] = cached
            self._kept.append(attribute)
        return cached

    def _size(self, blob: ast.Blob | ast.TypedBlob) -> int:
        """Return the size of a blob in the text; `MAX_BYTES` for other blobs."""
        return len(self._resources.get(blob.digest, b"")) or MAX_BYTES

    def small_data(self, value: ast.ValueInfo) -> ast.ValueInfo:
        """Copy an initializer, with its data if a small blob stores it.

        The total size of such data is limited as in `whole_lists`, but the first use of each blob
        does not count.
        """
        if not isinstance(value.type, ast.TensorType) or not isinstance(value.data, _BLOBS):
            return value
        data = self._small(value.type, value.data)
        if data is value.data:
            return value
        copy = ast.ValueInfo(
            value.name, value.type, data, value.decorators, value.metadata, value.at
        )
        return self._record(self.original(value), copy)  # faster than `replace`

    def _small(self, type: ast.TensorType, data: ast.Blob | ast.TypedBlob) -> ast.TensorData:
        size = self._size(data)
        if size > (_MAX_TENSOR_BYTES if type.element in ("int64", "int32") else _MAX_OTHER_BYTES):
            return data
        if data.digest in self._read:  # the first use takes no longer than reading the text
            if size > self._left:
                return data
            self._left -= size
        self._read.add(data.digest)
        return self.stored(type, data)

    def graph(self, graph: ast.Graph) -> ast.Graph:
        """Copy a graph and apply its own `@set` and `@unset`, but not those of its parts."""
        lower = self._lowering.graph
        resolved = self._copy(graph, lambda: self._lifter.graph(memoryview(b"".join(lower(graph)))))
        sparse = changed_fields(graph.decorators).get("sparse_initializer")
        if isinstance(sparse, tuple) and resolved is not graph:
            plain = [v for v in resolved.values if not isinstance(v.data, ast.SparseTensor)]
            for tensor in map(self._sparse_tensor, sparse):
                type = ast.SparseTensorType(tensor.values.type.element, tensor.dims)
                plain.append(ast.ValueInfo(tensor.values.name or "", type, tensor))
            resolved.values = plain
        return resolved

    def function(self, function: ast.Function) -> ast.Function:
        """Copy a function and apply its own `@set` and `@unset`, but not those of its parts."""
        lower = self._lowering.function
        return self._copy(function, lambda: self._lifter.function(memoryview(lower(function))))

    def value(self, value: ast.ValueInfo) -> ast.ValueInfo:
        """Copy an input, output or value info and apply its decorators `@set` and `@unset`.

        Return a value with data unchanged; see `initializer`.
        """
        if value.data is not None:
            return value
        lower = self._lowering.value_info
        return self._copy(value, lambda: self._lifter.value_info(memoryview(lower(value))))

    def type_record(self, value: ast.ValueInfo) -> ast.Record | None:
        """Return the type of a value info as a `TypeProto` record; None if it has no valid type."""
        try:
            data = self._lowering.value_info(value)
            type = field_of(lift_record(message_spec("ValueInfoProto"), data), "type")
        except (LowerError, RecordError, WireError):
            return None
        return type if isinstance(type, ast.Record) else None

    def initializer(self, value: ast.ValueInfo, *, is_input: bool) -> ast.ValueInfo:
        """Copy an initializer and apply its decorators `@set` and `@unset`.

        If `is_input`, the initializer is the default value of an input: apply `@data.set` and
        `@data.unset` instead. Return a sparse initializer unchanged, and any initializer without
        such decorators or with fields that cannot be encoded.
        """
        changed = changed_fields(value.decorators, "data" if is_input else "").keys()
        if not changed & _FIELDS.keys() or isinstance(value.data, ast.SparseTensor):
            return value
        try:
            pieces = self._lowering.initializer(value, is_input=is_input)
            decoded = self._lifter.initializer(b"".join(pieces))
        except (LowerError, WireError):
            return value
        copy = replace(decoded, decorators=value.decorators, metadata=value.metadata, at=value.at)
        return self._record(value, copy)

    def tensor(self, tensor: ast.Tensor) -> ast.Tensor:
        """Copy a tensor in an attribute and apply its decorators `@set` and `@unset`.

        Return a tensor unchanged if it has no such decorators, or fields that cannot be encoded.
        """
        if not changed_fields(tensor.decorators).keys() & _FIELDS.keys():
            return tensor
        try:
            decoded = self._decode_tensor(self._lowering.tensor(tensor))
            return replace(decoded, decorators=tensor.decorators)
        except (LowerError, WireError):
            return tensor

    def stored(self, type: ast.TensorType, data: ast.TensorData) -> ast.TensorData:
        """Return the data of a tensor; if a blob in the text stores it, read the blob.

        A reference to a blob in a file, or to a missing or damaged blob, is returned unchanged.
        """
        if isinstance(data, _BLOBS):
            with suppress(LowerError):  # the encoder reports it
                return self._lowering.tensor_data(type, data, -1)
        return data

    def tensors(self, record: ast.Record) -> Iterator[ast.Tensor | ast.SparseTensor]:
        """Yield the tensors of an attribute that is a record.

        An attribute is a record if no other syntax can express it, for example if a tensor has
        both external data and inline data. Dense tensors that cannot be encoded are omitted.
        """
        for field in record.fields:
            for item in field.value if isinstance(field.value, tuple) else (field.value,):
                if field.key in ("sparse_tensor", "sparse_tensors"):
                    yield self._sparse_tensor(item)
                elif field.key in ("t", "tensors") and isinstance(item, ast.Record):
                    with suppress(LowerError, RecordError, WireError):  # the encoder reports it
                        yield self._decode_tensor(lower_record(message_spec("TensorProto"), item))

    def _decode_tensor(self, data: bytes) -> ast.Tensor:
        """Decode a `TensorProto`."""
        from onnxtext.proto.decode.types_and_tensors import lift_tensor

        type, name, stored, decorators, is_whole = lift_tensor(data)
        tensor = ast.Tensor(type, stored, name, tuple(decorators))
        if not is_whole:
            lowered = self._lowering.tensor(tensor)
            rest = residual_decorators("TensorProto", lowered, data)
            tensor = replace(tensor, decorators=(*decorators, *rest))
        return tensor

    def _sparse_tensor(self, record: FieldValue) -> ast.SparseTensor:
        """Decode a `SparseTensorProto` record; missing or invalid parts become empty tensors."""
        nothing = ast.Tensor(ast.TensorType("undefined", ()), ast.NoData())
        parts = {1: nothing, 2: ast.Tensor(ast.TensorType("int64", (0,)), ast.NoData())}
        dims: tuple[int, ...] = ()
        if isinstance(record, ast.Record):
            try:
                data = lower_record(message_spec("SparseTensorProto"), record)
                for field in read_fields(data, 0, len(data)):
                    if field.number in parts:
                        parts[field.number] = self._decode_tensor(data[field.value : field.end])
            except (LowerError, RecordError, WireError):
                pass
            numbers = field_of(record, "dims")
            if isinstance(numbers, tuple):
                dims = tuple([number_of(item) or 0 for item in numbers])
        return ast.SparseTensor(dims, parts[1], parts[2])

    def original(self, item: object) -> object:
        """Return the statement that `item` was copied from; `item` itself if it is not a copy."""
        return self.originals.get(id(item), item)

    def _record(self, original: object, resolved: S) -> S:
        self.originals[id(resolved)] = original
        self._kept.append(resolved)
        return resolved


def _with_fields(original: S, decoded: S, fields: Iterable[str]) -> S:
    """Copy `original`, but take the protobuf fields in `fields` from `decoded`.

    `fields` are keys of `_FIELDS`.
    """
    result = replace(original)
    for name in [_FIELDS[field] for field in fields]:
        if hasattr(result, name):
            setattr(result, name, getattr(decoded, name))
    return result


def field_of(record: ast.Record, name: str) -> FieldValue | None:
    """Return the value of the last field called `name` in a record; None if there is none."""
    return next((field.value for field in reversed(record.fields) if field.key == name), None)


def number_of(value: FieldValue | None) -> int | None:
    """Return the value of a record's field as an integer; None if it is not an integer."""
    if not isinstance(value, ast.Number):
        return None
    try:
        return int(value.text, 0 if "x" in value.text else 10)
    except ValueError:
        return None
