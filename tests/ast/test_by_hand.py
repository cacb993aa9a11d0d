# SPDX-License-Identifier: Apache-2.0
"""The AST is public: users can build, print, encode and compare trees in Python."""

from __future__ import annotations

import copy
import struct

import onnx
import onnx.checker

import onnxtext
from onnxtext.ast import (
    Attribute,
    AttributeType,
    Decorator,
    Field,
    Float32,
    Floats,
    Fragment,
    Function,
    Graph,
    Model,
    Node,
    OpsetImport,
    Presence,
    RawData,
    TensorType,
    ValueInfo,
)
from onnxtext.ast.visit import walk_graphs, walk_nodes
from onnxtext.printer import print_attribute, print_model, print_type
from onnxtext.proto.encode.lower import lower_model

BATCH = TensorType("float", ("N", 2))


def build() -> Model:
    weights = RawData(struct.pack("<4f", 1, 0, 0, 1))
    branch = Graph("kept", outputs=[ValueInfo("k")], nodes=[Node("Identity", ("h",), ("k",))])
    graph = Graph(
        "main",
        inputs=[ValueInfo("x", BATCH), ValueInfo("use", TensorType("bool"))],
        outputs=[ValueInfo("y", BATCH)],
        values=[ValueInfo("w", TensorType("float", (2, 2)), weights)],
        nodes=[
            Node("MatMul", ("x", "w"), ("h",), output_types=(BATCH,), name="product"),
            Node(
                "If",
                ("use",),
                ("z",),
                (
                    Attribute("then_branch", AttributeType.GRAPH, branch),
                    Attribute("else_branch", AttributeType.GRAPH, copy.deepcopy(branch)),
                ),
            ),
            Node(
                "Scale",
                ("z",),
                ("y",),
                (Attribute("factor", AttributeType.FLOAT, Float32.of(0.5)),),
                domain="my.ops",
                decorators=(Decorator("doc", (Field(None, b"halves"),)),),
            ),
        ],
    )
    scale = Function(
        "Scale",
        [ValueInfo("a")],
        [ValueInfo("b")],
        ("factor",),
        nodes=[
            Node(
                "Constant",
                (),
                ("f",),
                (
                    onnxtext.parse("g () => () { y = C <value_float: float = @factor> () }")
                    .graph.nodes[0]
                    .attributes[0],
                ),
            ),
            Node("Mul", ("a", "f"), ("b",)),
        ],
        domain="my.ops",
        opset_imports=[OpsetImport("", 21)],
    )
    return Model(
        graph,
        [scale],
        Presence(version=1),
        ir_version=10,
        opset_imports=[OpsetImport("", 21), OpsetImport("my.ops", 1)],
    )


TEXT = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: ["": 21, "my.ops": 1],
>
main (
  float[N, 2] x,
  bool use,
) => (float[N, 2] y) <float[2, 2] w = [[1, 0], [0, 1]]> {
  [product] float[N, 2] h = MatMul (x, w)
  z = If (use) <
    then_branch = kept () => (k) {
      k = Identity (h)
    },
    else_branch = kept () => (k) {
      k = Identity (h)
    },
  >
  @doc("halves")
  y = my.ops.Scale <factor = 0.5> (z)
}

<domain: "my.ops", opset_import: ["": 21]>
Scale <factor> (a) => (b) {
  f = Constant <value_float: float = @factor> ()
  b = Mul (a, f)
}
"""


def test_a_tree_built_by_hand_prints_parses_and_lowers() -> None:
    model = build()
    assert print_model(model) == TEXT
    assert onnxtext.parse(TEXT) == model
    data = lower_model(model)
    assert onnxtext.to_binary(TEXT) == data
    onnx.checker.check_model(onnx.ModelProto.FromString(data))


def test_nodes_compare_by_value_and_floats_by_bits() -> None:
    left, right = build(), build()
    assert left == right
    right.graph.nodes[0].inputs = ("x", "v")
    assert left != right
    assert Float32.of(0.0) != Float32.of(-0.0)
    assert Float32(0x7FC00000) == Float32(0x7FC00000)
    assert float(Float32.of(0.5)) == 0.5


def test_offsets_do_not_affect_equality() -> None:
    parsed = onnxtext.parse("# a comment first\n" + TEXT)
    assert parsed == build()
    assert parsed.graph.nodes[0].at > 0
    assert build().graph.nodes[0].at == -1


def test_walk_visits_nested_graphs_and_functions() -> None:
    model = build()
    assert [graph.name for graph in walk_graphs(model)] == ["main", "kept", "kept", "Scale"]
    fragment = Fragment(model.graph.nodes)
    assert list(walk_graphs(fragment)) == list(walk_graphs(model.graph))[1:]
    assert list(walk_nodes(fragment)) == list(walk_nodes(model.graph))
    assert sorted(node.op_type for node in walk_nodes(model)) == [
        "Constant", "Identity", "Identity", "If", "MatMul", "Mul", "Scale",
    ]  # fmt: skip


def test_fragments_are_printed() -> None:
    assert print_type(BATCH) == "float[N, 2]"
    assert print_attribute(Attribute("a", AttributeType.INTS, (1, 2))) == "a = [1, 2]"
    assert print_attribute(Attribute("a", AttributeType.INTS, ())) == "a: ints = []"


def test_an_attribute_with_only_a_type_has_the_default_of_its_field() -> None:
    read = {kind: Attribute("a", kind, None).read() for kind in AttributeType}
    assert (read[AttributeType.INT], read[AttributeType.STRING]) == (0, b"")
    for kind in (AttributeType.INTS, AttributeType.FLOATS, AttributeType.STRINGS):
        value = read[kind]
        assert isinstance(value, (tuple, Floats))
        assert len(value) == 0
    assert read[AttributeType.TENSOR] is None
