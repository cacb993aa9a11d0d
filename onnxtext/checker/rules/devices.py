# SPDX-License-Identifier: Apache-2.0
"""Rules for device configurations and sharding (IR version 11)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator

from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.model import Configuration, Node
from onnxtext.ast.records import FieldValue, Record
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, did_you_mean, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.resolved_fields import changed_fields, field_of, number_of
from onnxtext.checker.context.scopes import Scope
from onnxtext.plurals import count_noun
from onnxtext.proto.convert_records import lower_record
from onnxtext.proto.descriptors import message_spec
from onnxtext.proto.encode.decorators import device_record
from onnxtext.proto.unknown_fields import RecordError

Ranks = ChainMap[str, int]
"""The ranks of values by name; names of inner scopes hide equal names of outer scopes."""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the configurations of a model and the sharding of its nodes."""
    configurations: dict[str, Configuration] = {}
    for configuration in subject.model.configurations if subject.model else ():
        yield from _configuration(configuration, configurations)
        configurations.setdefault(configuration.name, configuration)
    ranks: dict[int, Ranks] = {}
    for scope in subject.scopes:
        for node in scope.nodes:
            if node.decorators:
                for record in _records(node):
                    yield from _node(subject, node, record, configurations, _ranks(scope, ranks))


def _number(record: Record, name: str) -> int | None:
    return number_of(field_of(record, name))


def _text(value: FieldValue | None) -> str:
    return to_text(value) if isinstance(value, bytes) else ""


def _items(record: Record, name: str) -> list[Record]:
    value = field_of(record, name)
    return [item for item in value if isinstance(item, Record)] if isinstance(value, tuple) else []


def _configuration(
    configuration: Configuration, configurations: dict[str, Configuration]
) -> Iterator[Finding]:
    places, name = (Place(configuration),), configuration.name
    if not name:
        help = "name it, so that nodes can refer to it"
        yield Finding("device-config-name", "a device configuration has no name", places, help)
    elif name in configurations:
        message = f"two device configurations are named {quote(name)}"
        yield Finding("device-config-name", message, places, "rename one of them")
    count = _number(configuration.record, "num_devices")
    devices = field_of(configuration.record, "device")
    if count is None:
        if not _is_valid(configuration.record):
            return  # the encoder reports the invalid record
        problem, help = "has no `num_devices`", "add it: `num_devices: 2`"
    elif count < 1:
        problem = f"has `num_devices: {count}`; it must be positive"
        help = "correct the number"
    elif isinstance(devices, tuple) and devices and len(devices) != count:
        listed = count_noun(len(devices), "device")
        problem = f"names {listed}, but its `num_devices` is {count}"
        help = f"list {count_noun(count, 'device')} or none, or correct `num_devices`"
    else:
        return
    subject = f"the configuration {quote(name)}" if name else "a configuration without a name"
    yield Finding("device-config-count", f"{subject} {problem}", places, help)


def _is_valid(record: Record) -> bool:
    """Whether the fields of a configuration have known names and the right types."""
    try:
        lower_record(message_spec("DeviceConfigurationProto"), record)
    except RecordError:
        return False
    return True


def _records(node: Node) -> Iterator[Record]:
    """Yield the device configurations of a node, from `@device(…)` and `@set(…)`."""
    for decorator in node.decorators:
        if decorator.name == "device":
            yield device_record(decorator)
    changed = changed_fields(node.decorators).get("device_configurations")
    for item in changed if isinstance(changed, tuple) else ():
        if isinstance(item, Record):
            yield item


def _ranks(scope: Scope, by_scope: dict[int, Ranks]) -> Ranks:
    """Return the declared ranks of the values that are visible in a scope.

    `by_scope` is a cache: it maps `id(scope)` to the result for this scope.
    """
    result = by_scope.get(id(scope))
    if result is not None:
        return result
    outer = scope.parent or scope.main_graph
    result = by_scope[id(scope)] = _ranks(outer, by_scope).new_child() if outer else ChainMap()
    for value in (*scope.inputs, *scope.outputs, *scope.infos, *scope.initializers):
        shape = getattr(value.type, "shape", None)
        if shape is not None:
            result[value.name] = len(shape)
    for node in scope.nodes:
        for name, type in zip(node.outputs, node.output_types, strict=False):
            shape = getattr(type, "shape", None)
            if shape is not None:
                result[name] = len(shape)
    return result


def _node(
    subject: CheckedModel,
    node: Node,
    record: Record,
    configurations: dict[str, Configuration],
    ranks: Ranks,
) -> Iterator[Finding]:
    place = Place(node, ("op_type",))
    name = _text(field_of(record, "configuration_id"))
    configuration = configurations.get(name)
    if configuration is None and subject.model is not None:
        message = f"a device configuration of this {quote(node.op_type)} has no `configuration_id`"
        help = "write the name of a configuration of the model in `configuration_id`"
        if name:
            refers = f"this {quote(node.op_type)} refers to the device configuration {quote(name)}"
            message = f"{refers}, which the model does not define"
            add = f"add {quote(name)} to the section `configuration`"
            help = f"{add}, or refer to an existing configuration"
        help = did_you_mean(subject.nearest(name, configurations), help)
        yield Finding("device-config-unknown", message, (place,), help)
    count = _number(configuration.record, "num_devices") if configuration is not None else None
    names = {*node.inputs, *node.outputs}
    for spec in _items(record, "sharding_spec"):
        yield from _sharding(node, spec, names, ranks, count, place)


def _sharding(
    node: Node, spec: Record, names: set[str], ranks: Ranks, count: int | None, place: Place
) -> Iterator[Finding]:
    name = _text(field_of(spec, "tensor_name"))
    if not name or name not in names:
        problem = "has a sharding without a tensor name"
        if name:
            problem = f"shards {quote(name)}, which is not one of its inputs or outputs"
        yield Finding(
            "sharding-tensor",
            f"this {quote(node.op_type)} {problem}",
            (place,),
            help="name an input or output of this node in `tensor_name`",
        )
    tensor = quote(name) if name else "a tensor without a name"
    rank = ranks.get(name)
    axes: set[int] = set()
    for dim in _items(spec, "sharded_dim"):
        axis = _number(dim, "axis")
        message = help = ""
        if axis is None:
            message = f"a `sharded_dim` of {tensor} has no `axis`"
            help = "write the axis, even if it is 0: `axis: 0`"
        elif rank is not None and not -rank <= axis < rank:
            message = f"axis {axis} is out of range for {tensor}, which has rank {rank}"
            help = "remove the sharding: a scalar has no axes"
            if rank:
                help = f"write an axis from {-rank} to {rank - 1}"
            yield Finding("sharding-axis", message, (place,), help)
            continue
        else:
            plain = axis + rank if rank is not None and axis < 0 else axis
            if plain in axes:
                message = f"axis {axis} of {tensor} is split twice"
                help = "remove one of the two `sharded_dim` entries"
            axes.add(plain)
        if message:
            yield Finding("sharding-axis", message, (place,), help)
        for simple in _items(dim, "simple_sharding"):
            shards = _number(simple, "num_shards")
            if shards is None or shards < 1:
                problem = "no `num_shards`" if shards is None else f"`num_shards: {shards}`"
                message = f"a sharding of {tensor} has {problem}"
                yield Finding("sharding-shards", message, (place,), "write `num_shards: 1` or more")
    yield from _devices(spec, tensor, count, place)


def _devices(spec: Record, tensor: str, count: int | None, place: Place) -> Iterator[Finding]:
    """Find unknown device indices, also in device groups, and device groups with equal keys.

    `spec` is the sharding spec of a tensor, and `tensor` its name for messages. `count` is the
    number of devices of the configuration; None if unknown.
    """
    allowed = "write the index of a device"
    if count is not None and count > 0:
        allowed += f", from 0 to {count - 1}"
    groups: set[int | None] = set()
    for group in _items(spec, "index_to_device_group_map"):
        key = _number(group, "key")
        shown_key = "without a key" if key is None else f"with the key {key}"
        if key in groups:
            message = f"`index_to_device_group_map` of {tensor} has two entries {shown_key}"
            help = "remove one of them, or change its key"
            yield Finding("sharding-shards", message, (place,), help)
        groups.add(key)
        for index in _out_of_range(group, "value", count):
            device = f"device {index}, which is not in the configuration"
            message = f"the device group {shown_key} of {tensor} contains {device}"
            yield Finding("sharding-shards", message, (place,), allowed)
    for index in _out_of_range(spec, "device", count):
        if index not in groups:
            message = f"{tensor} is on device {index}, which is not in the configuration"
            help = f"{allowed}, or the key of a group in `index_to_device_group_map`"
            yield Finding("sharding-shards", message, (place,), help)


def _out_of_range(record: Record, name: str, count: int | None) -> Iterator[int]:
    """Yield the indices in the list field `name` that are negative, or `count` or more.

    If `count` is None, yield only the negative indices.
    """
    items = field_of(record, name)
    for item in items if isinstance(items, tuple) else ():
        index = number_of(item)
        if index is not None and (index < 0 or (count is not None and index >= count)):
            yield index


RULES = (
    Rule("device-config-name"),
    Rule("device-config-count"),
    Rule("device-config-unknown"),
    Rule("sharding-tensor"),
    Rule("sharding-axis"),
    Rule("sharding-shards"),
)
