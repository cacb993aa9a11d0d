# SPDX-License-Identifier: Apache-2.0
"""`value_info` in any order: no bytes change, and no value is declared twice."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast.model import Graph, Model
from onnxtext.diagnostics import OnnxTextError

SIZES = st.sampled_from([1, 2, None])


def declare(value: onnx.ValueInfoProto, name: str, size: int | None) -> None:
    value.name = name
    value.type.tensor_type.elem_type = 1
    if size is not None:
        value.type.tensor_type.shape.dim.add(dim_value=size)


@st.composite
def listed(draw: st.DrawFn, *, odd: bool) -> onnx.ModelProto:
    """A model whose `value_info` repeats some of its values, in an order of exporters or any."""
    graph = onnx.GraphProto(name="g")
    known: dict[str, list[tuple[str, int | None]]] = {}
    for part, most in (("w", 4), ("x", 3), ("y", 3), ("t", 4)):
        known[part] = [(f"{part}{n}", draw(SIZES)) for n in range(draw(st.integers(0, most)))]
    known["w"] = [(name, 1) for name, _ in known["w"]]
    for name, _ in known["w"]:
        graph.initializer.add(name=name, dims=[1], data_type=1, raw_data=b"abcd")
    for part, values in (("x", graph.input), ("y", graph.output)):
        for name, size in known[part]:
            declare(values.add(), name, size)
    if draw(st.booleans()):  # an initializer, or an input, is an output too
        known["y"] += draw(
            st.lists(st.sampled_from([*known["w"], *known["x"], ("t0", 1)]), unique=True)
        )
    for name in dict.fromkeys([name for name, _ in [*known["t"], *known["y"]]]):
        if name[0] in "ty":
            graph.node.add(op_type="Op", output=[name])
    parts = draw(st.permutations([draw(st.permutations(v)) if draw(st.booleans()) else v
                                  for v in known.values()]))  # fmt: skip
    infos = [info for part in parts for info in part if draw(st.integers(0, 4))]
    if draw(st.booleans()):
        infos = draw(st.permutations(infos))
    if not odd:
        infos = list(dict.fromkeys(infos))
    elif infos:  # a name may have several values
        name, size = draw(st.sampled_from(infos))
        for values in draw(st.lists(st.sampled_from([graph.input, graph.output]), max_size=3)):
            declare(values.add(), name, size)
    for name, size in infos:
        info = graph.value_info.add()
        declare(info, name, draw(SIZES) if odd and draw(st.booleans()) else size)
        if draw(st.integers(0, 3)) == 0:
            info.metadata_props.add(key="pkg.k", value="v")
        if odd and draw(st.integers(0, 5)) == 0:
            info.doc_string = "d"
    return onnx.ModelProto(ir_version=10, graph=graph)


def kept(model: onnx.ModelProto, metadata: Any) -> Graph:
    """Check that a model keeps its bytes, and its text its layout; return its syntax tree."""
    data = model.SerializeToString()
    text = onnxtext.from_binary(data, metadata=metadata)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text
    tree = onnxtext.parse(text)
    assert isinstance(tree, Model)
    return tree.graph


def ambiguous() -> onnx.ModelProto:
    """A model with a list in an order of outputs, one of which has the name of two inputs."""
    graph = onnx.GraphProto(name="g")
    for values, names in ((graph.input, "aa"), (graph.output, "acb"), (graph.value_info, "abc")):
        for name in names:
            declare(values.add(), name, 1)
    return onnx.ModelProto(ir_version=10, graph=graph)


@example(ambiguous(), "auto")
@given(listed(odd=True), st.sampled_from(["auto", "section", "inline"]))
def test_any_list_is_kept(model: onnx.ModelProto, metadata: Any) -> None:
    kept(model, metadata)


@given(listed(odd=False))
def test_no_initializer_is_declared_twice(model: onnx.ModelProto) -> None:
    names = [info.name for info in model.graph.value_info]
    tree = kept(model, "auto")
    if len(set(names)) == len(names) and "t0" not in [y.name for y in model.graph.output]:
        data = {value.name for value in tree.values if value.data is not None}
        again = [value.name for value in tree.values if value.data is None]
        assert data.isdisjoint(again), again


@pytest.mark.parametrize(
    ("order", "infos"),
    [
        ("initializers", "v w t"),
        ("initializers, outputs", "v w y t"),
        ("inputs, initializers", "x v w t"),
        ("nodes, initializers", "t v w"),
        ('initializers, without: ["v"]', "w t"),
        ('initializers, without: ["w"]', "v t"),
        ('"w", initializers', "w v t"),
        ('"w", "t", "v"', "w t v"),
    ],
)
def test_orders(order: str, infos: str) -> None:
    head = f"@value_info({order})"
    text = (
        f"<\n  onnxtext: 1,\n>\n{head}\ng (float x) => (float y) <\n"
        "  float v = 1,\n  float w = 2,\n> {\n  float t = A (x)\n  y = B (t)\n}\n"
    )
    binary = onnxtext.to_binary(text)
    found = onnx.load_model_from_string(binary).graph.value_info
    assert " ".join([info.name for info in found]) == infos
    assert onnxtext.from_binary(binary) == text


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("initialisers", "write @value_info(initializers)"),
        ("initializers, initializers", "@value_info names a part twice"),
        ('"z"', "@value_info names `z`, which is no value of this graph"),
        ('initializers, without: ["z"]', "@value_info names `z`, which is no value"),
        ("", "write @value_info(initializers)"),
    ],
)
def test_errors(order: str, message: str) -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary(f"@value_info({order}) g () => () <float w = 1> {{}}")
    assert message in str(caught.value)
