# SPDX-License-Identifier: Apache-2.0
"""Mutations that keep a model valid: models that the official checker accepts have no errors.

Exceptions are requirements of the specification that the official checker does not verify.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

import onnxtext
from tests.checker.models import errors
from tests.checker.test_real_models import official
from tests.corpus import backend_cases, onnx_directory, wheel_models
from tests.seeds import seeded

STRICTER = {
    # proto Version: constructs of later IR versions; FunctionProto.opset_import: one operator.
    "needs-ir-version",
    # Optional: an omitted input in a list of inputs, which crashes onnxruntime.
    "optional-input-missing",
    "function-opset-conflict",
}
Mutation = Callable[[ModelProto, random.Random], None]


def repeat_value_info(model: ModelProto, chosen: random.Random) -> None:
    if model.graph.value_info:
        model.graph.value_info.append(chosen.choice(model.graph.value_info))


def drop_value_infos(model: ModelProto, chosen: random.Random) -> None:
    del model.graph.value_info[:]


def declare_an_output(model: ModelProto, chosen: random.Random) -> None:
    if model.graph.output:
        model.graph.value_info.append(chosen.choice(model.graph.output))


def declare_an_input(model: ModelProto, chosen: random.Random) -> None:
    if model.graph.input:
        model.graph.value_info.append(chosen.choice(model.graph.input))


def name_dimensions(model: ModelProto, chosen: random.Random) -> None:
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if chosen.random() < 0.3:
                dim.dim_param = chosen.choice(["N", "M", "batch", ""])


def raise_ir_version(model: ModelProto, chosen: random.Random) -> None:
    least = max(model.ir_version, 3)
    model.ir_version = chosen.randint(least, max(least, 12))


def spell_the_domain(model: ModelProto, chosen: random.Random) -> None:
    for node in model.graph.node:
        if not node.domain:
            node.domain = "ai.onnx"
    for item in model.opset_import:
        if not item.domain:
            item.domain = "ai.onnx"


def import_more(model: ModelProto, chosen: random.Random) -> None:
    model.opset_import.add(domain=chosen.choice(["ai.onnx.ml", "q"]), version=1)


def omit_inputs(model: ModelProto, chosen: random.Random) -> None:
    for node in model.graph.node:
        if chosen.random() < 0.3:
            node.input.append("")


def omit_outputs(model: ModelProto, chosen: random.Random) -> None:
    for node in model.graph.node:
        # onnx aborts this process at a `Split` with more outputs than its `num_outputs`.
        if chosen.random() < 0.3 and node.op_type != "Split":
            node.output.append("")


def omit_zeros(model: ModelProto, chosen: random.Random) -> None:
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.INT and not attribute.i:
                attribute.ClearField("i")


def declare_initializers(model: ModelProto, chosen: random.Random) -> None:
    names = {value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        if tensor.name not in names:
            shape = list(tensor.dims)
            value = helper.make_tensor_value_info(tensor.name, tensor.data_type, shape)
            model.graph.input.append(value)


def return_an_input(model: ModelProto, chosen: random.Random) -> None:
    if model.graph.input:
        model.graph.output.append(chosen.choice(model.graph.input))


def return_twice(model: ModelProto, chosen: random.Random) -> None:
    if model.graph.output:
        model.graph.output.append(model.graph.output[0])


def add_a_tensor(model: ModelProto, chosen: random.Random) -> None:
    names = ("FLOAT", "UINT8", "INT8", "BOOL", "FLOAT16", "DOUBLE", "UINT32", "UINT64", "INT64")
    kind = getattr(TensorProto, chosen.choice(names))
    if model.ir_version >= 10:
        kind = chosen.choice([kind, TensorProto.UINT4, TensorProto.INT4, TensorProto.BFLOAT16])
    model.graph.initializer.append(helper.make_tensor("more", kind, [2], [0, 1]))


def add_a_function(model: ModelProto, chosen: random.Random) -> None:
    standard = [item for item in model.opset_import if item.domain in ("", "ai.onnx")]
    if not standard:
        return
    function = model.functions.add(name="Unused", domain="unused", input=["a"], output=["b"])
    function.attribute.append("k")
    function.opset_import.append(standard[0])
    function.node.append(helper.make_node("Identity", ["a"], ["b"]))


def repeat_names_of_nodes(model: ModelProto, chosen: random.Random) -> None:
    for node in model.graph.node:
        node.name = "same"


MUTATIONS: list[Mutation] = [
    repeat_value_info, drop_value_infos, declare_an_output, declare_an_input, name_dimensions,
    raise_ir_version, spell_the_domain, import_more, omit_inputs, omit_outputs,
    omit_zeros, declare_initializers, return_an_input, return_twice, add_a_tensor,
    add_a_function, repeat_names_of_nodes,
]  # fmt: skip


def models(*, everything: bool) -> list[tuple[str, bytes]]:
    found = [(file, (onnx_directory() / file).read_bytes()) for file in wheel_models()]
    if everything:
        found += backend_cases()
    return [(name, data) for name, data in found if len(data) < 20_000]


def sweep(count: int, *, everything: bool) -> int:
    chosen = seeded()
    candidates = models(everything=everything)
    accepted = 0
    for _ in range(count):
        name, data = chosen.choice(candidates)
        model = ModelProto.FromString(data)
        done = chosen.sample(MUTATIONS, chosen.choice((1, 1, 2)))
        for mutation in done:
            mutation(model, chosen)
        result = model.SerializeToString()
        if official(result) is None:
            accepted += 1
            found = {item.code for item in errors(onnxtext.check(result))}
            names = [mutation.__name__ for mutation in done]
            assert found <= STRICTER, (name, names, found)
    return accepted


@pytest.mark.thorough
def test_accepted_mutants_have_no_errors() -> None:
    assert sweep(1_200, everything=False) > 500


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # numpy warns while onnx makes the cases
def test_accepted_mutants_have_no_errors_at_length() -> None:
    assert sweep(10_000, everything=True) > 5_000
