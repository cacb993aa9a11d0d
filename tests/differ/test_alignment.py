# SPDX-License-Identifier: Apache-2.0
"""Matching of nodes: a diff lists exactly the edits."""

from __future__ import annotations

import random
from dataclasses import replace

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast import Node
from onnxtext.differ import ModelDiff, ModelSide, compare
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.differ.graphs import axis, chain, diff, mesh, model, rename_inside, renamed
from tests.seeds import draws, sampled


def listed(result: ModelDiff) -> list[tuple[str, ...]]:
    """Return the actions on nodes with their positions in the new model, else in the old one."""
    found = []
    for item in result.items:
        place = item.new or item.old
        assert place is not None
        found.append((*item.actions, place.path))
    return found


def test_equal_models_have_no_differences() -> None:
    assert diff(model(chain(9)), model(chain(9))).verdict == "same"


def test_a_changed_attribute_is_one_difference() -> None:
    nodes = chain(9)
    changed = [*nodes[:4], replace(nodes[4], attributes=axis(1)), *nodes[5:]]
    assert listed(diff(model(nodes), model(changed))) == [("changed", "graph.node[4]")]


def test_a_changed_operator_is_one_difference() -> None:
    nodes = mesh(30, 1)
    changed = [*nodes[:14], replace(nodes[14], op_type="Erf"), *nodes[15:]]
    assert listed(diff(model(nodes), model(changed))) == [("changed", "graph.node[14]")]


def test_a_changed_operator_is_found_among_renamed_values() -> None:
    nodes = mesh(60, 1)
    changed = [*nodes[:14], replace(nodes[14], op_type="Erf", attributes=()), *nodes[15:]]
    result = diff(model(nodes), model(renamed(changed, lambda name: "w" + name)))
    assert listed(result) == [("changed", "graph.node[14]")]
    assert {(r.old, r.new) for r in result.renames} == {(f"v{i}", f"wv{i}") for i in range(59)}


def test_a_node_is_inserted_and_values_are_renumbered() -> None:
    """Exporters renumber: every name after the new node denotes another value than before."""
    nodes = mesh(60, 2)
    at = 20
    value = nodes[at].outputs[0]
    new = Node("Sigmoid", (value,), ("new",))
    behind = [
        replace(node, inputs=tuple(["new" if name == value else name for name in node.inputs]))
        for node in nodes[at + 1 :]
    ]
    before = [f"v{i}" for i in range(at + 1)]
    values = [*before, "new", *[f"v{i}" for i in range(at + 1, 59)]]
    numbers = {name: f"v{i}" for i, name in enumerate(values)}
    edited = renamed([*nodes[: at + 1], new, *behind], numbers.__getitem__)
    plain = [replace(node, name=None) for node in nodes]
    result = diff(model(plain), model([replace(node, name=None) for node in edited]))
    users = [i for i, node in enumerate(nodes) if i > at and value in node.inputs]
    assert sorted(listed(result)) == sorted(
        [("added", f"graph.node[{at + 1}]"), *[("changed", f"graph.node[{i + 1}]") for i in users]]
    )


def test_a_node_is_removed() -> None:
    nodes = mesh(40, 3)
    unused = [
        i for i, node in enumerate(nodes[:-1])
        if not any(node.outputs[0] in other.inputs for other in nodes)
    ]  # fmt: skip
    index = unused[0]
    result = diff(model(nodes), model(nodes[:index] + nodes[index + 1 :]))
    assert listed(result) == [("removed", f"graph.node[{index}]")]


def test_a_node_is_moved() -> None:
    nodes = [Node("Relu", ("x",), (f"r{i}",)) for i in range(10)]
    order = [*nodes[:2], *nodes[3:8], nodes[2], *nodes[8:]]
    result = diff(model(nodes), model(order))
    assert listed(result) == [("moved", "graph.node[7]")]
    assert result.without(["order"]).verdict == "same"


def test_two_swapped_inputs_are_one_difference() -> None:
    old = [
        Node("Relu", ("x",), ("a",)),
        Node("Tanh", ("x",), ("b",)),
        Node("Sub", ("a", "b"), ("y",)),
    ]
    new = [old[0], old[1], Node("Sub", ("b", "a"), ("y",))]
    result = diff(model(old), model(new))
    assert listed(result) == [("changed", "graph.node[2]")]
    assert [f.path for f in result.items[0].fields] == ["input[0]", "input[1]"]
    # But if the names change places everywhere, nothing else has changed.
    swapped = renamed(old, {"a": "b", "b": "a"}.__getitem__)
    assert diff(model(old), model(swapped)).verdict == "names-differ"


@pytest.mark.parametrize(("operator", "is_used"), [("Relu", False), ("Relu", True), ("Tanh", True)])
@pytest.mark.parametrize("label", ["", "n"])
@pytest.mark.parametrize("at", [0, 3])
def test_a_copy_does_not_match_the_changed_original(
    operator: str, label: str, is_used: bool, at: int
) -> None:
    """A node is copied under a new name, and the original is changed."""
    nodes = [replace(node, name=label and node.outputs[0]) for node in chain(6)]
    if not is_used:
        nodes[at + 1] = replace(nodes[at + 1], inputs=nodes[at].inputs)
    copy = replace(nodes[at], outputs=("copy",), name=label)
    changed = list(nodes)
    changed[at] = replace(nodes[at], op_type=operator, attributes=axis(7))
    old, new = model(nodes), model([*changed, copy])
    assert listed(diff(old, new)) == [
        ("changed", f"graph.node[{at}]"),
        ("added", f"graph.node[{len(nodes)}]"),
    ]
    assert not diff(old, new).renames


@pytest.mark.parametrize("operator", ["Add", "Mul"])
def test_a_name_that_has_another_value_is_shown_with_a_remark(operator: str) -> None:
    text = "g (float x) => (float y) {{ a = {0} (x) b = {1} (x) c = Sum (a, b) y = {2} (a, c) }}"
    old = ModelSide.of_text(text.format("Abs", "Neg", "Add"))
    result = compare(old, ModelSide.of_text(text.format("Neg", "Abs", operator)))
    notes = [[f.note for f in item.fields if f.path == "input[0]"] for item in result.items]
    assert notes[1:] == [["the old `a` is now `b`"]] * 2
    assert str(result).count("#  the old `a` is now `b`\n") == 2
    assert "-  input[0]: a\n+  input[0]: a\n" in str(result)


def test_a_value_that_takes_the_name_of_another_one_is_a_difference() -> None:
    old = "g (float a, float b) => (float y) { c = Neg (a) y = Add (b, c) }"
    new = "g (float a) => (float y) { b = Neg (a) y = Add (b, b) }"
    result = compare(ModelSide.of_text(old), ModelSide.of_text(new))
    assert [f.path for item in result.items for f in item.fields] == ["input[0]"]
    assert "#  the new `b` is the old `c`\n" in str(result)
    body = "{{ y = If (x) <t = t () => (z) {{ {0} = A () z = B (v, {0}) }}> }}"
    nested = [ModelSide.of_text(f"g (bool x, float v) => (y) {body.format(name)}") for name in "wv"]
    assert compare(*nested).verdict == "differ"


def test_a_renamed_output_is_one_difference() -> None:
    nodes = chain(5)
    result = diff(model(nodes), model([*nodes[:4], replace(nodes[4], outputs=("z",))]))
    assert listed(result) == [("changed", 'graph.output["y"]')]
    assert [(r.kind, r.old, r.new) for r in result.renames] == [("value", "y", "z")]
    assert result.without(["names"]).verdict == "differ"


def test_an_input_is_renamed() -> None:
    result = diff(
        model(chain(5)), model([replace(chain(5)[0], inputs=("z",)), *chain(5)[1:]], ["z"])
    )
    assert result.items == ()
    assert [(r.kind, r.old, r.new, r.category) for r in result.renames] == [
        ("input", "x", "z", "model")
    ]
    assert result.verdict == "differ"  # names of inputs and outputs are not internal
    assert result.without(["names"]).verdict == "differ"


def test_texts_printed_without_metadata_are_equal() -> None:
    text = (
        '<onnxtext: 1>\n@meta("a": "b")\ng () => (float y) {\n'
        '  @meta("k": "v", "l": "w")\n  y = Neg (x)\n}\n'
    )
    short = onnxtext.from_binary(onnxtext.to_binary(text), metadata="none")
    result = compare(ModelSide.of_text(text), ModelSide.of_text(short, label="short"))
    assert result.verdict == "same"
    assert result.notes == ("short was printed without its metadata",)
    other = short.replace("Neg", "Abs")
    assert compare(ModelSide.of_text(text), ModelSide.of_text(other)).verdict == "differ"


@settings(deadline=None, max_examples=draws(60))
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 5))
def test_edited_attributes_are_found_whatever_is_renamed(
    seed: int, rename: bool, edits: int
) -> None:
    nodes = mesh(60, seed)
    chosen = random.Random(seed).sample(range(len(nodes)), edits)
    edited = [
        replace(node, attributes=axis(1000 + i)) if i in chosen else node
        for i, node in enumerate(nodes)
    ]
    if rename:
        edited = renamed(edited, lambda name: "other_" + name)
    result = diff(model(nodes), model(edited))
    actions = {(*item.actions, item.new and item.new.path) for item in result.items}
    if not rename:
        assert actions == {("changed", f"graph.node[{i}]") for i in chosen}
    else:
        # Two nodes with the same operator and inputs may be matched with each other.
        assert len(actions) <= 4 * edits


@pytest.mark.parametrize("file", wheel_models())
def test_renamed_wheel_models_are_matched(file: str) -> None:
    _check_renamed((onnx_directory() / file).read_bytes())


@pytest.mark.data
@pytest.mark.parametrize("file", sampled(shared_models(), 3))
def test_renamed_shared_models_are_matched(file: str) -> None:
    _check_renamed(shared_model(file))


def _check_renamed(data: bytes) -> None:
    proto = onnx.ModelProto.FromString(data)
    if rename_inside(proto):
        result = compare(ModelSide.of_binary(data), ModelSide.of_binary(proto.SerializeToString()))
        assert result.verdict == "names-differ"
        assert result.items == ()
        assert result.without(["names"]).verdict in ("same", "stored-differently")


def test_functions_of_both_names_of_the_standard_domain_are_matched() -> None:
    text = """\
<onnxtext: 1, ir_version: 10, opset_import: ["": 21]>
g (float[N] x) => (float[N] y) { y = f (x) }
<domain: "%s", opset_import: ["": 21]>
f (a) => (b) { b = %s (a) }
"""
    old, new = [ModelSide.of_text(text % pair) for pair in (("", "Relu"), ("ai.onnx", "Neg"))]
    result = compare(old, new)
    found = [
        (item.kind, item.actions, [each.path for each in item.fields]) for item in result.items
    ]
    assert [pair[:2] for pair in found] == [("function", ("changed",)), ("node", ("changed",))]
    assert found[0][2] == ["domain"]


@pytest.mark.parametrize("operator", ["Relu", "Neg"])
def test_a_node_inserted_before_one_of_the_same_operator_can_be_removed(operator: str) -> None:
    """The remaining node computes what the removed one did, but has a name of its own."""
    head = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float z) {\n"
    long = f"{head}  a = Exp (x)\n  b = {operator} (a)\n  y = {operator} (b)\n  z = Log (y)\n}}\n"
    short = long.replace(f"  b = {operator} (a)\n", "").replace("(b)", "(a)")
    removed = listed(onnxtext.diff(long, short))
    assert removed == [("removed", "graph.node[1]"), ("changed", "graph.node[1]")]
    added = listed(onnxtext.diff(short, long))
    assert added == [("added", "graph.node[1]"), ("changed", "graph.node[2]")]


TRAINING = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
main (float[2] x) => (float[2] y) <float[2] MAIN = {1, 2}> { y = Mul (x, MAIN) }
training {
  initialization: init () => (float[2] t) {
    INIT = Constant <value_floats = [1.0, 1.0]> ()
    t = Neg (INIT)
  }
  algorithm: step (float[2] d) => (float[2] u) { u = Mul (d, MAIN) }
  initialization_binding: ["MAIN": "t"]
  update_binding: ["MAIN": "u"]
}
"""


@pytest.mark.parametrize(("old", "new"), [("w", "w"), ("a", "w")])
def test_names_of_the_initialization_do_not_concern_the_algorithm(old: str, new: str) -> None:
    before = TRAINING.replace("MAIN", "w").replace("INIT", old)
    after = TRAINING.replace("MAIN", "v").replace("INIT", new)
    shown = str(onnxtext.diff(before, after))
    assert "initializer w → v" in shown
    assert "update_binding" not in shown
    assert "u = Mul" not in shown
