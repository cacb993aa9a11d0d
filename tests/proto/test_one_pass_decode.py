# SPDX-License-Identifier: Apache-2.0
"""The fast pass decodes fields that have no syntax of their own; other bytes need the slow pass."""

from __future__ import annotations

import pytest
from onnx import NodeProto

import onnxtext
from onnxtext.ast.model import Model, Node
from onnxtext.printer.models import print_model
from onnxtext.proto.decode import lift
from onnxtext.proto.decode.messages import Lifter
from onnxtext.select_core import core

HEADER = '<onnxtext: 1, ir_version: 10, opset_import: ["": 20]>\n'

ITEMS = {
    "graph without a name": '@unset(name) "" (float[N] x) => (float[N] x) {}',
    "nested graph without a name": (
        'g () => () {\n  y = If <\n    then_branch = @unset(name) "" () => (z) {\n'
        "      z = A ()\n    },\n  > (c)\n}"
    ),
    "empty type": "g (@set(type: {}) x) => (@set(type: {}) y) <@set(type: {}) z> {}",
    "stored default location": (
        "g () => () <\n  @set(data_location: DEFAULT) float[1] a = [1],\n"
        '  @doc("b") @set(data_location: DEFAULT) float[1] b = {1},\n'
        '  @set(data_location: DEFAULT) string[1] s = {"a"},\n'
        "  @set(data_location: DEFAULT) int4[3] i = [1, 2, 3],\n"
        '  @meta("k": "v") @set(data_location: DEFAULT) float[0] e = [],\n> {}'
    ),
    "default location of an input": (
        "g (@data.set(data_location: DEFAULT) float[1] a = [1]) => () {}"
    ),
    "data twice": (
        'g () => () <\n  @set(external_data: [{key: "location"}], data_location: EXTERNAL)\n'
        "  float[1] a = [1],\n> {}"
    ),
    "location of a tensor in an attribute": (
        "g () => () {\n  y = A <\n    t = {\n      t: {dims: [1], data_type: 1, raw_data: "
        'b"\\x00\\x00\\x00\\x00", data_location: DEFAULT}\n      type: TENSOR\n    },\n  > ()\n}'
    ),
    "unknown fields": (
        "g (@set(77: 1) x) => (@set(77: 5i32) y) <@set(77: 1) float[1] a = [1]> {\n"
        '  @set(77: b"a")\n  y = A (x)\n  @set(78: 9i64)\n  z = B <@set(77: 1) k = 1, l = 2> ()\n}'
    ),
    "doc strings": (
        'g (@doc("x") float[N] x) => (@doc("y") y) <\n  @doc("a") float[1] a = [1],\n'
        '  @doc("b") string[1] b = {"a"},\n  @doc("c") float[2] c = external("c"),\n'
        '  @doc("d") seq(float[N]) d,\n  @doc("e") @meta("k": "v") float e,\n> {}'
    ),
    "denotations": (
        'g (@type.denotation("IMAGE") float[N] x) => '
        '(@type.denotation("T") @doc("y") float[@denotation("C") N] y) {}'
    ),
    "denotations of dimensions": (
        'g (float[@denotation("A") N, @denotation("B") 3, @denotation("") ?] x) => '
        '(seq(sparse_tensor(float[@denotation("A") N])) y) {}'
    ),
    "empty domains": "g () => () {\n  y = .A ()\n  z = .B ()\n  u = C ()\n}",
    "an empty domain": "g () => () {\n  y = .A ()\n  z = B ()\n  u = C ()\n}",
    "empty doc strings": (
        'g () => () {\n  @doc("")\n  y = A ()\n  @doc("")\n  z = B ()\n  @doc("u")\n  u = C ()\n'
        "  v = D ()\n}"
    ),
    "empty names in sparse tensors": (
        'g () => () <sparse_tensor(float[4]) s = sparse(float[1] [7], int64[1] "" [2])> {\n'
        "  y = A <s: sparse_tensor = sparse_tensor(float[2])\n"
        '    sparse(float[1] "" [7], int64[1] "" [0])> ()\n}'
    ),
    "training and configurations": (
        "g () => () {}\n\ntraining {\n  algorithm: a () => () {\n    y = .A ()\n  }\n}\n\n"
        'configuration "c" {\n  num_devices: 2\n}'
    ),
    "empty names of tensors": (
        'g () => () {\n  y = A <t = [float[1] "" = [1], float[1] "" = [2], float[1] n = [3]]> ()\n'
        '  z = B <t = float[1] = [1]> ()\n  u = F (z)\n}\n\n<domain: "d">\n'
        'F <t: tensor = float[1] "" = [4]> (x) => (y) {\n  y = A (x)\n}'
    ),
}

FACTS: dict[str, tuple[int, bool, bool, list[str | None] | None]] = {
    "g () => () {\n  y = A <l = [1, 2, 3]> ()\n}": (3, True, False, []),
    'g () => () {\n  @doc("y")\n  y = A ()\n}': (0, True, False, []),
    '@doc("g")\ng (@doc("x") float x) => () <@doc("w") float[1] w = [1]> {}': (1, True, False, []),
    '@unset(name) "" () => () {}': (0, True, False, []),
    "g () => () {\n  y = .A ()\n}": (0, True, True, []),
    'g () => () {\n  @doc("")\n  y = A ()\n}': (0, True, True, []),
    'g () => () {\n  y = A <t = float[1] "" = [1]> ()\n}': (1, True, False, [""]),
    'g () => () {\n  @meta("k": "v")\n  y = A <l = [1, 2]> ()\n}': (2, False, False, []),
    'g () => () <@meta("k": "v") float[1] w = [1]> {}': (1, False, False, []),
    '@meta("k": "v")\ng () => () {}': (0, False, False, []),
    f'g () => () {{\n  y = A <s = "{"s" * 4097}", l = [1]> ()\n}}': (-1, True, False, []),
    ITEMS["empty names of tensors"]: (3, True, False, ["", "", "n", None, ""]),
    ITEMS["unknown fields"]: (-1, False, True, None),
    'g () => () {}\n\nconfiguration "c" {\n  num_devices: 2\n}': (0, True, False, []),
    ITEMS["location of a tensor in an attribute"]: (-1, False, False, None),
}


@pytest.mark.parametrize("text", ITEMS.values(), ids=ITEMS)
def test_one_pass_gives_the_tree_of_the_careful_pass(text: str) -> None:
    data = onnxtext.to_binary(HEADER + text + "\n")
    result, _ = lift.lift_in_one_pass(data, "ModelProto", None)
    assert isinstance(result, Model)
    compared = lift.lift_with(Lifter(compare_items=True), data, "ModelProto", None)
    assert result == compared
    assert isinstance(compared, Model)
    assert print_model(result) == print_model(compared)
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


@pytest.mark.skipif(core() != "native", reason="the native core does not run")
@pytest.mark.parametrize(("text", "facts"), FACTS.items())
def test_facts_of_a_decoded_model(
    text: str, facts: tuple[int, bool, bool, list[str | None] | None]
) -> None:
    from onnxtext._core.proto.decode_models import ModelDecoder

    decoder = ModelDecoder({})
    assert decoder.model(onnxtext.to_binary(HEADER + text + "\n")) is not None
    largest, is_plain, nodes, tensors = decoder.facts()
    names = None if tensors is None else [tensor.name for tensor in tensors]
    assert (largest, is_plain, bool(nodes), names) == facts


def test_a_node_alone_has_presence_defaults() -> None:
    node = NodeProto(op_type="A", domain="", output=["y"])
    fragment = lift.lift_fragment(node.SerializeToString(), "NodeProto")
    assert isinstance(fragment.item, Node)
    assert fragment.item.domain is None
    assert fragment.presence.explicit == ("node.domain",)


def test_the_python_lifter_gives_the_same_tree() -> None:
    """The lifter in Python gives the same tree as the fast path of the enabled core."""
    for text in ITEMS.values():
        data = onnxtext.to_binary(HEADER + text + "\n")
        for model in (data, data.removeprefix(b"\x08\x0a"), data + b"\xa0\x06\x01"):
            plain = lift.lift_with(
                Lifter(compare_items=False, native=False), model, "ModelProto", None
            )
            assert plain == lift.lift_in_one_pass(model, "ModelProto", None)[0]
    assert core() in ("native", "python")
