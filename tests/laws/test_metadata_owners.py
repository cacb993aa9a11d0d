# SPDX-License-Identifier: Apache-2.0
"""Metadata in the section: every entry keeps its owner, whatever the names and labels."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.diagnostics import OnnxTextError

LONG = 'File "model.py", line 1, in forward: return x'
NAMES = st.sampled_from(["a", "b", "c", "a/b", "", "\u200b"])
PROPERTIES = st.lists(
    st.tuples(
        st.sampled_from(["k", "pkg.torch.k", "above", "a b"]),
        st.sampled_from(["v", "above", LONG, LONG + "\n" + LONG, "v" * 39, "v" * 40, "v" * 100]),
    ),
    max_size=3,
)


@st.composite
def crowded(draw: st.DrawFn) -> onnx.ModelProto:
    """A model whose names and labels collide, with metadata nearly everywhere."""

    def fill(owner: Any) -> Any:
        for key, value in draw(PROPERTIES):
            owner.metadata_props.add(key=key, value=value)
        return owner

    def graph(result: onnx.GraphProto, depth: int) -> None:
        fill(result).name = draw(NAMES)
        for values in (result.input, result.output, result.value_info):
            for _ in range(draw(st.integers(0, 3))):
                value = fill(values.add(name=draw(NAMES)))
                if draw(st.booleans()):
                    value.type.tensor_type.elem_type = 1
        for _ in range(draw(st.integers(0, 2))):
            fill(result.initializer.add(name=draw(NAMES), data_type=1, raw_data=b"abcd"))
        for _ in range(draw(st.integers(0, 3))):
            names = draw(st.lists(NAMES, max_size=2))
            node = fill(result.node.add(op_type="Op", name=draw(NAMES), output=names))
            if depth and draw(st.booleans()):
                body = node.attribute.add(name=draw(NAMES), type=onnx.AttributeProto.GRAPH)
                graph(body.g, depth - 1)

    model = onnx.ModelProto(ir_version=10)
    graph(model.graph, 2)
    for _ in range(draw(st.integers(0, 2))):
        function = fill(model.functions.add(name=draw(NAMES)))
        for _ in range(draw(st.integers(0, 2))):
            names = draw(st.lists(NAMES, max_size=2))
            fill(function.node.add(op_type="Op", name=draw(NAMES), output=names))
    return model


@given(crowded(), st.sampled_from(["auto", "section"]))
def test_every_entry_keeps_its_owner(model: onnx.ModelProto, metadata: Any) -> None:
    data = model.SerializeToString()
    text = onnxtext.from_binary(data, metadata=metadata)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.format_text(text) == text


def test_exporters_metadata_leaves_the_graph() -> None:
    outputs = ", ".join([f'@meta("kind": "o") y{index}' for index in range(9)])
    text = f"<onnxtext: 1> g (x) => ({outputs}) {{ [n] y = Op (x) }}"
    many = onnxtext.from_binary(onnxtext.to_binary(text))
    assert "@meta" not in many
    few = onnxtext.from_binary(onnxtext.to_binary(text.replace('@meta("kind": "o") y8', "y8")))
    assert few.count("@meta") == 8
    own = '<onnxtext: 1> g (x) => (@meta("pkg.torch.kind": "USER_OUTPUT") y) {}'
    assert "@meta" not in onnxtext.from_binary(onnxtext.to_binary(own))


@pytest.mark.parametrize(
    ("block", "wrong", "message"),
    [
        ("node [m1] { k: above }", "above", "no block directly above has the key `k`"),
        ('node [x1] { a: "b" }', "x1", "there is no node with the label `x1`"),
        ('value [m1] { a: "b" }', "value", "only a node can be named by its label"),
        ('nod y { a: "b" }', "nod", "`nod` is not a kind of metadata"),
        ('output w { a: "b" }', "w", "there is no output `w`"),
        ('value_info x { a: "b" }', "x", "`value_info` has no entry `x`"),
        ('node [m1] { k: "v" } node y { k: abov }', "abov", "a string or `above`"),
    ],
)
def test_wrong_blocks_are_located_errors(block: str, wrong: str, message: str) -> None:
    text = f"<onnxtext: 1> g (x) => (y) {{ [m1] y = Op (x) }} metadata {{ {block} }}"
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert text[slice(*found.labels[0].span)] == wrong
