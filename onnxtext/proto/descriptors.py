# SPDX-License-Identifier: Apache-2.0
"""The protobuf schema of ONNX: the descriptors of the installed onnx, plus known newer fields.

Importing onnx takes longer than converting a small model. So only its module of message classes is
loaded, and only when the spec of a message is needed, for example for records, `@set` and residual
fields.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from operator import attrgetter
from typing import Any, NamedTuple

from onnxtext.wire.writer import FIXED32, FIXED64, LENGTH, VARINT

_SCALARS = {
    1: ("double", FIXED64), 2: ("float", FIXED32), 3: ("int64", VARINT), 4: ("uint64", VARINT),
    5: ("int32", VARINT), 6: ("fixed64", FIXED64), 7: ("fixed32", FIXED32), 8: ("bool", VARINT),
    9: ("string", LENGTH), 11: ("message", LENGTH), 12: ("bytes", LENGTH), 13: ("uint32", VARINT),
    14: ("enum", VARINT),
}  # fmt: skip
"""The name and the wire type of each `FieldDescriptorProto.Type`."""

NEWER_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    "ModelProto": (("configuration", 26, "DeviceConfigurationProto*"),),
    "NodeProto": (("device_configurations", 10, "NodeDeviceConfigurationProto*"),),
    "DeviceConfigurationProto": (
        ("name", 1, "string"), ("num_devices", 2, "int32"), ("device", 3, "string*"),
    ),
    "NodeDeviceConfigurationProto": (
        ("configuration_id", 1, "string"), ("sharding_spec", 2, "ShardingSpecProto*"),
        ("pipeline_stage", 3, "int32"),
    ),
    "ShardingSpecProto": (
        ("tensor_name", 1, "string"), ("device", 2, "int64*"),
        ("index_to_device_group_map", 3, "IntIntListEntryProto*"),
        ("sharded_dim", 4, "ShardedDimProto*"),
    ),
    "ShardedDimProto": (("axis", 1, "int64"), ("simple_sharding", 2, "SimpleShardedDimProto*")),
    "SimpleShardedDimProto": (
        ("dim_value", 1, "int64"), ("dim_param", 2, "string"), ("num_shards", 3, "int64"),
    ),
    "IntIntListEntryProto": (("key", 1, "int64"), ("value", 2, "int64*")),
}  # fmt: skip
"""The fields that onnx 1.17, the oldest supported version, lacks: device configurations.

Maps a message to (name, number, type) of these fields; `*` marks a list. The language has syntax
for them even if the installed onnx keeps them as unknown fields.
"""


class FieldSpec(NamedTuple):
    """The definition of a field in the schema.

    Attributes:
        kind: the type of a value: `int64`, `string`, `message`, `enum`, …
        wire_type: the wire type of one value.
        repeated: whether the field is a list.
        packed: whether the list is encoded as one length-delimited field.
        message: for kind `message`, the full name of the message type without its package.
        enum: for kind `enum`, the (name, number) pairs of the values.
    """

    name: str
    number: int
    kind: str
    wire_type: int
    repeated: bool
    packed: bool
    message: str = ""
    enum: tuple[tuple[str, int], ...] = ()

    def accepts(self, wire_type: int) -> bool:
        """Whether protobuf accepts a wire type for the field; lists of numbers may be packed."""
        return wire_type == self.wire_type or (self.repeated and wire_type == LENGTH)


class MessageSpec(NamedTuple):
    """A message type: its fields by name and by number."""

    name: str
    by_name: dict[str, FieldSpec]
    by_number: dict[int, FieldSpec]


@cache
def message_spec(name: str) -> MessageSpec:
    """Return the spec of a message type.

    Args:
        name: the name of the type without its package, such as `NodeProto` or `TypeProto.Tensor`.

    Raises:
        KeyError: the schema has no message called `name`.
    """
    newer = NEWER_FIELDS.get(name, ())
    fields = installed_fields(name)
    if not fields and not newer:
        raise KeyError(name)
    numbers = {field.number for field in fields}
    fields += [newer_field(*field) for field in newer if field[1] not in numbers]
    return MessageSpec(
        name, {field.name: field for field in fields}, {field.number: field for field in fields}
    )


def installed_fields(name: str) -> list[FieldSpec]:
    """Return the fields of a message in the installed onnx; empty for an unknown message."""
    descriptor = _descriptors().get(name) or _other_descriptors().get(name)
    return [] if descriptor is None else [_field_spec(field) for field in descriptor.fields]


def newer_field(name: str, number: int, type: str) -> FieldSpec:
    """Return the `FieldSpec` of an entry (name, number, type) of `NEWER_FIELDS`."""
    kind = type.removesuffix("*")
    repeated = kind != type
    wire_type = dict(_SCALARS.values()).get(kind)
    if wire_type is None:
        return FieldSpec(name, number, "message", LENGTH, repeated, packed=False, message=kind)
    return FieldSpec(name, number, kind, wire_type, repeated, packed=False)


@cache
def message_names() -> dict[str, str]:
    """Map the message names that headers use in `explicit: [node.domain]` to schema names.

    For example, `node` → `NodeProto`.
    """
    return {_short_name(name): name for name in _all_names() if "." not in name}


@cache
def spelled_messages() -> dict[str, str]:
    """Map the message names that headers use in `encoding: [order(node, 1, 2)]` to schema names.

    Unlike `message_names`, include nested types: `type.tensor` → `TypeProto.Tensor`.
    """
    return {".".join(_short_name(part) for part in name.split(".")): name for name in _all_names()}


def _all_names() -> list[str]:
    return list(dict.fromkeys([*_descriptors(), *NEWER_FIELDS]))


def _short_name(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Proto")).lower()


@cache
def message_classes() -> Any:
    """Return `onnx_ml_pb2`, onnx's module of message classes, without importing the onnx package.

    The package imports numpy and the operator schemas, which takes 100 ms. The classes are those
    that a later `import onnx` uses, because protobuf creates one class for each descriptor. In
    several threads, only its implementation in C (upb) does this, so the one in Python imports the
    package.

    Raises:
        ModuleNotFoundError: onnx is not installed.
    """
    from google.protobuf.internal import api_implementation

    is_safe = api_implementation.Type() == "upb" and "onnx" not in sys.modules
    if is_safe and (package := find_spec("onnx")) is not None:
        locations = package.submodule_search_locations
        spec = PathFinder.find_spec("onnx.onnx_ml_pb2", locations)
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    from onnx import onnx_ml_pb2

    return onnx_ml_pb2


def message_class(name: str) -> Any:
    """Return the class of a message, also of one outside of models, such as `SequenceProto`.

    Args:
        name: the name of the type without its package, such as `NodeProto` or `TypeProto.Tensor`.
    """
    outer, classes = name.partition(".")[0], message_classes()
    if not hasattr(classes, outer):
        classes = next(module for module in _other_modules() if hasattr(module, outer))
    return attrgetter(name)(classes)


def _other_modules() -> tuple[Any, ...]:
    """Return the modules of onnx with the messages that no model contains."""
    from onnx import onnx_data_pb2, onnx_operators_ml_pb2

    return onnx_data_pb2, onnx_operators_ml_pb2


@cache
def _descriptors() -> dict[str, Any]:
    return _messages_of(message_classes())


@cache
def _other_descriptors() -> dict[str, Any]:
    """Map the names of messages outside of models, such as `SequenceProto`, to descriptors."""
    data, operators = map(_messages_of, _other_modules())
    return data | operators


def _messages_of(module: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}

    def add(descriptor: Any) -> None:
        result[descriptor.full_name.removeprefix("onnx.")] = descriptor
        for nested in descriptor.nested_types:
            add(nested)

    for descriptor in module.DESCRIPTOR.message_types_by_name.values():
        add(descriptor)
    return result


def _field_spec(field: Any) -> FieldSpec:
    kind, wire_type = _SCALARS[field.type]
    enum: tuple[tuple[str, int], ...] = ()
    if field.enum_type is not None:
        enum = tuple((value.name, value.number) for value in field.enum_type.values)
    repeated = getattr(field, "is_repeated", None)
    if repeated is None:  # protobuf before 5.29
        repeated = field.label == field.LABEL_REPEATED
    packed = getattr(field, "is_packed", None)
    if packed is None:
        packed = bool(field.GetOptions().packed)
    message = field.message_type.full_name.removeprefix("onnx.") if field.message_type else ""
    return FieldSpec(field.name, field.number, kind, wire_type, repeated, packed, message, enum)
