# SPDX-License-Identifier: Apache-2.0
"""onnx's inference ignores input values and single floats wherever onnxtext assumes it does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
import onnx.defs
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from onnxtext.checker.symbolic.operators import OPERATORS, depends_on_types_alone
from tests.seeds import seeded

TRIES = 20
FLOAT = onnx.defs.OpSchema.AttrType.FLOAT
KINDS = {
    "tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_,
    "tensor(uint8)": np.uint8, "tensor(int32)": np.int32, "tensor(int8)": np.int8,
}  # fmt: skip
VALUES: dict[Any, Any] = {
    AttributeProto.INT: 1, AttributeProto.FLOAT: 1.0, AttributeProto.INTS: [1, 1],
    AttributeProto.STRING: "x",
}  # fmt: skip


def answer(schema: Any, node: Any, types: dict[str, bytes], constants: dict[str, bytes]) -> Any:
    """Return onnx's answer for a node."""
    opsets = {"": schema.since_version}
    try:
        return schema._infer_node_outputs(node, types, constants, {}, opsets, 10)
    except Exception as error:  # onnx raises many classes
        return str(error)


def request(schema: Any, choose: random.Random) -> tuple[Any, dict[str, bytes], dict[str, bytes]]:
    """Return a random node of an operator with the types and values of its inputs."""
    shape = [choose.randint(1, 3) for _ in range(choose.randint(0, 3))]
    types, constants, names = {}, {}, []
    bound: dict[str, str] = {}
    variables = {item.type_param_str: item.allowed_type_strs for item in schema.type_constraints}
    count = choose.randint(schema.min_input, min(schema.max_input, max(5, schema.min_input)))
    for index in range(max(count, 1)):
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        allowed = [kind for kind in KINDS if kind in variables.get(formal.type_str, KINDS)]
        kind = bound.setdefault(formal.type_str, choose.choice(allowed or ["tensor(float)"]))
        own = shape if choose.random() < 0.7 else [choose.randint(1, 3)]
        array = np.array(np.random.default_rng(choose.randrange(99)).integers(0, 3, own))
        tensor = numpy_helper.from_array(array.astype(KINDS[kind]), f"i{index}")
        type = helper.make_tensor_type_proto(tensor.data_type, own)
        names.append(tensor.name)
        types[tensor.name], constants[tensor.name] = (
            type.SerializeToString(), tensor.SerializeToString()
        )  # fmt: skip
    attributes = {
        name: VALUES[item.type]
        for name, item in schema.attributes.items()
        if item.required and item.type in VALUES
    }
    if schema.name == "Cast" and schema.since_version > 1:
        attributes["to"] = TensorProto.FLOAT
    outputs = [f"o{index}" for index in range(max(1, schema.min_output))]
    node = helper.make_node(schema.name, names, outputs, **attributes)
    return node, types, constants


def test_values_of_inputs_do_not_change_the_answer() -> None:
    choose = seeded()
    answered = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain or schema.name not in OPERATORS or not schema.inputs:
            continue
        for _ in range(TRIES):
            node, types, constants = request(schema, choose)
            if not depends_on_types_alone(schema.name, len(node.input)):
                continue
            data = node.SerializeToString()
            alone = answer(schema, data, types, {})
            assert answer(schema, data, types, constants) == alone, schema.name
            if isinstance(alone, dict) and alone:
                answered.add(schema.name)
    wanted = {name for name in OPERATORS if depends_on_types_alone(name, 2)}
    assert len(answered) > 0.8 * len(wanted), wanted - answered


def test_single_floats_do_not_change_the_answer() -> None:
    choose = seeded()
    answered = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        floats = [name for name, item in schema.attributes.items() if item.type == FLOAT]
        if schema.domain or schema.name not in OPERATORS or not floats or not schema.inputs:
            continue
        for _ in range(TRIES):
            node, types, _ = request(schema, choose)
            answers = []
            for number in (0.0, 1.0, -3.5, float("nan"), choose.gauss(0, 1e9)):
                changed = onnx.NodeProto()
                changed.CopyFrom(node)
                for name in floats:
                    changed.attribute.append(helper.make_attribute(name, number))
                answers.append(answer(schema, changed.SerializeToString(), types, {}))
            assert all(found == answers[0] for found in answers), schema.name
            if isinstance(answers[0], dict) and answers[0]:
                answered.add(schema.name)
    assert len(answered) > 15, answered


def test_values_of_inputs_change_the_answer_for_reshape() -> None:
    """Show that the test above can fail."""
    schema = onnx.defs.get_schema("Reshape", 21)
    shape = numpy_helper.from_array(np.array([2, 3]), "s")
    types = {
        "x": helper.make_tensor_type_proto(TensorProto.FLOAT, [6]).SerializeToString(),
        "s": helper.make_tensor_type_proto(TensorProto.INT64, [2]).SerializeToString(),
    }
    node = helper.make_node("Reshape", ["x", "s"], ["y"]).SerializeToString()
    constants = {"s": shape.SerializeToString()}
    assert not depends_on_types_alone("Reshape", 2)
    assert answer(schema, node, types, constants) != answer(schema, node, types, {})
