# SPDX-License-Identifier: Apache-2.0
"""Required parts must be present: element types and fields of device shardings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from onnx import ModelProto, NodeProto, TypeProto, helper

import onnxtext
from tests.checker.models import errors

WRONG = {"type-missing", "elem-type-undefined", "map-key-type"}


def complete(kind: str) -> TypeProto:
    result = TypeProto()
    match kind:
        case "tensor_type" | "sparse_tensor_type":
            getattr(result, kind).elem_type = 1
            getattr(result, kind).shape.dim.add().dim_value = 2
        case "map_type":
            result.map_type.key_type = 7
            result.map_type.value_type.CopyFrom(complete("tensor_type"))
        case _:
            getattr(result, kind).elem_type.CopyFrom(complete("tensor_type"))
    return result


CONTAINERS = ("sequence_type", "optional_type", "map_type")
INCOMPLETE: dict[str, Callable[[TypeProto], None]] = {
    "sequence without element": lambda made: made.sequence_type.SetInParent(),
    "optional without element": lambda made: made.optional_type.SetInParent(),
    "map without value": lambda made: setattr(made.map_type, "key_type", 7),
    "map without key": lambda made: made.map_type.value_type.CopyFrom(complete("tensor_type")),
    "tensor without element": lambda made: made.tensor_type.SetInParent(),
    "sparse without element": lambda made: made.sparse_tensor_type.SetInParent(),
    "sequence of nothing": lambda made: made.sequence_type.elem_type.SetInParent(),
    "denotation alone": lambda made: setattr(made, "denotation", "TENSOR"),
}


def around(inner: TypeProto, containers: tuple[str, ...]) -> TypeProto:
    for name in containers:
        result = TypeProto()
        if name == "map_type":
            result.map_type.key_type = 7
            result.map_type.value_type.CopyFrom(inner)
        else:
            getattr(result, name).elem_type.CopyFrom(inner)
        inner = result
    return inner


def place_input(model: ModelProto, type: TypeProto) -> None:
    model.graph.input.add(name="more").type.CopyFrom(type)


def place_info(model: ModelProto, type: TypeProto) -> None:
    model.graph.value_info.add(name="x").type.CopyFrom(type)


def place_output_type(model: ModelProto, type: TypeProto) -> None:
    model.graph.node[1].output[:] = ["made"]
    model.graph.value_info.add(name="made").type.CopyFrom(type)


def node(model: ModelProto) -> NodeProto:
    return model.graph.node[1]


def place_attribute(model: ModelProto, type: TypeProto) -> None:
    node(model).attribute.add(name="a", type=13).tp.CopyFrom(type)


def place_list(model: ModelProto, type: TypeProto) -> None:
    attribute = node(model).attribute.add(name="a", type=14)
    attribute.type_protos.add().CopyFrom(complete("tensor_type"))
    attribute.type_protos.add().CopyFrom(type)


def place_nested(model: ModelProto, type: TypeProto) -> None:
    graph = helper.make_graph([], "inner", [], [])
    graph.value_info.add(name="x").type.CopyFrom(type)
    attribute = node(model).attribute.add(name="a", type=5)
    attribute.g.CopyFrom(graph)


def place_parameter(model: ModelProto, type: TypeProto) -> None:
    function = model.functions.add(name="F", domain="l")
    function.opset_import.append(helper.make_opsetid("", 21))
    function.attribute_proto.add(name="t", type=13).tp.CopyFrom(type)


PLACES = (
    place_input, place_info, place_output_type, place_attribute, place_list, place_nested,
    place_parameter,
)  # fmt: skip


def model() -> ModelProto:
    x = helper.make_tensor_value_info("x", 1, [2])
    y = helper.make_tensor_value_info("y", 1, [2])
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Op", ["x"], ["z"], domain="e"),
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("e", 1)]
    result = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets)
    result.ir_version = 11
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("what", INCOMPLETE)
def test_incomplete_types_are_found_everywhere(
    place: Callable[[ModelProto, TypeProto], None], what: str
) -> None:
    for containers in ((), *[(name,) for name in CONTAINERS], ("map_type", "optional_type")):
        if what == "denotation alone" and not containers:
            continue  # a value info may have an empty type
        inner = TypeProto()
        INCOMPLETE[what](inner)
        result = model()
        place(result, around(inner, containers))
        data = result.SerializeToString()
        found = {item.code for item in errors(onnxtext.check(data))} & WRONG
        assert found, containers
        in_text = errors(onnxtext.check(onnxtext.from_binary(data)))
        assert {item.code for item in in_text} & WRONG == found
        assert all(item.span is not None for item in in_text)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("kind", ["tensor_type", "sparse_tensor_type", *CONTAINERS])
def test_complete_types_have_no_findings(
    place: Callable[[ModelProto, TypeProto], None], kind: str
) -> None:
    result = model()
    place(result, around(complete(kind), ("sequence_type",)))
    assert not {item.code for item in errors(onnxtext.check(result.SerializeToString()))} & WRONG


def sharded() -> ModelProto:
    result = model()
    result.configuration.add(name="two", num_devices=2)
    configuration = result.graph.node[0].device_configurations.add(configuration_id="two")
    spec = configuration.sharding_spec.add(tensor_name="x", device=[0, -1])
    spec.index_to_device_group_map.add(key=-1, value=[0, 1])
    spec.sharded_dim.add(axis=0).simple_sharding.add(num_shards=2, dim_value=2)
    return result


BROKEN: dict[str, tuple[str, Callable[[ModelProto], None]]] = {
    "configuration_id": (
        "device-config-unknown",
        lambda m: _config(m).ClearField("configuration_id"),
    ),
    "tensor_name": ("sharding-tensor", lambda m: _spec(m).ClearField("tensor_name")),
    "axis": ("sharding-axis", lambda m: _spec(m).sharded_dim[0].ClearField("axis")),
    "num_shards": (
        "sharding-shards",
        lambda m: _spec(m).sharded_dim[0].simple_sharding[0].ClearField("num_shards"),
    ),
    "name": ("device-config-name", lambda m: m.configuration[0].ClearField("name")),
    "num_devices": ("device-config-count", lambda m: m.configuration[0].ClearField("num_devices")),
    "device": ("device-config-count", lambda m: m.configuration[0].device.append("only")),
    "an absent device": ("sharding-shards", lambda m: _spec(m).device.append(2)),
    "an absent device in a group": (
        "sharding-shards",
        lambda m: _spec(m).index_to_device_group_map[0].value.append(5),
    ),
    "a negative device in a group": (
        "sharding-shards",
        lambda m: _spec(m).index_to_device_group_map[0].value.append(-2),
    ),
    "two groups with one key": (
        "sharding-shards",
        lambda m: _spec(m).index_to_device_group_map.add(key=-1, value=[0]),
    ),
}  # fmt: skip


def _config(model: ModelProto):  # type: ignore[no-untyped-def]
    return model.graph.node[0].device_configurations[0]


def _spec(model: ModelProto):  # type: ignore[no-untyped-def]
    return _config(model).sharding_spec[0]


@pytest.mark.parametrize("what", BROKEN)
def test_incomplete_shardings_are_found(what: str) -> None:
    code, break_it = BROKEN[what]
    result = sharded()
    assert not errors(onnxtext.check(result.SerializeToString()))
    break_it(result)
    data = result.SerializeToString()
    for source in (data, onnxtext.from_binary(data)):
        found = {item.code for item in errors(onnxtext.check(source))}
        assert code in found
        # Nodes cannot refer to a configuration without a name.
        assert found <= {code, "device-config-unknown"}


@pytest.mark.parametrize("count", [0, -1])
def test_device_counts_below_1_are_shown(count: int) -> None:
    result = sharded()
    result.configuration[0].num_devices = count
    found = {item.code: item for item in onnxtext.check(result)}["device-config-count"]
    assert found.message.endswith(f"has `num_devices: {count}`; it must be positive")


@pytest.mark.parametrize("number", ["0 1", "0x", "-", "1.5", "1e3", "99999999999999999999999", "x"])
def test_invalid_device_counts_are_found(number: str) -> None:
    """Rules read records that were not yet checked against the schema."""
    source = onnxtext.from_binary(sharded().SerializeToString())
    assert source.count("device: [0, -1]") == 1
    found = onnxtext.check(source.replace("device: [0, -1]", f"device: [0, {number}]"))
    assert errors(found)
