# SPDX-License-Identifier: Apache-2.0
"""Random merges of real models: the joint model or a conflict, in both orders, in any spelling."""

from __future__ import annotations

import warnings

import pytest

import onnxtext
from benchmarks.merge_trial import models, resolved, trials, verdict
from onnxtext.merger import merge
from tests.corpus import SHARED
from tests.seeds import draws, fresh_seed


def merge_random_edits(count: int, seed: int) -> None:
    """Run trials; `python -m benchmarks.merge_trial --seed S --only N` repeats one."""
    assert SHARED is not None
    merged = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in trials(models(SHARED), count, seed):
            found = verdict(trial)
            assert not found.startswith("wrong: ") or found == UNJUDGED, f"{found}: {trial.name}"
            merged += found.startswith("merged")
    assert merged > count * 0.3


UNJUDGED = "wrong: merged, but the edits do not fit together"
"""A verdict that may be a false alarm: each side may have made the same change in another way."""


@pytest.mark.thorough
@pytest.mark.data
def test_random_edits_merge_or_conflict() -> None:
    merge_random_edits(draws(50), fresh_seed())


# ---- One case of each class ---------------------------------------------------------------------

HEAD = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"


def both(base: str, ours: str, theirs: str) -> str | None:
    """Merge in both orders, with the same result; None for a conflict."""
    texts = [HEAD + text for text in (base, ours, theirs)]
    one = merge(*[text.encode() for text in texts])
    other = merge(*[texts[at].encode() for at in (0, 2, 1)])
    assert bool(one.conflicts) == bool(other.conflicts)
    found, swapped = one.content.decode(), other.content.decode()
    if one.conflicts:
        for side, opposite in (("ours", "theirs"), ("theirs", "ours")):
            assert onnxtext.to_binary(resolved(found, side)) == onnxtext.to_binary(
                resolved(swapped, opposite)
            )
        return None
    assert onnxtext.to_binary(found) == onnxtext.to_binary(swapped)
    return found


def assert_equivalent(found: str | None, wanted: str) -> None:
    assert found is not None
    assert onnxtext.to_binary(found) == onnxtext.to_binary(HEAD + wanted)


BODY = "=> (float[1] y) { y = Add (a, b) }"


def test_a_deleted_default_stays_deleted() -> None:
    base = f"g (float[1] a = {{1}}, float[1] b) {BODY}"
    plain = "=> (float[1] y) <float[1] a = {1}> { y = Add (a, b) }"
    ours = f'g (@doc("d") float[1] a, float[1] b) {plain}'
    theirs = f"g (float[1] a, float[1] b) {BODY}"
    assert_equivalent(both(base, ours, theirs), f'g (@doc("d") float[1] a, float[1] b) {BODY}')


def test_deleted_value_infos_of_initializers_stay_deleted() -> None:
    values = "float[1] v = {1}, float[1] w = {2}"
    body = "{ y = Sum (x, v, w) }"
    graph = "g (float[1] x) => (float[1] y)"
    base = f"@value_info(initializers) {graph} <{values}> {body}"
    ours, theirs = [f"{graph} <{values}, float[1] {name}> {body}" for name in "wv"]
    assert_equivalent(both(base, ours, theirs), f"{graph} <{values}> {body}")


def test_a_renamed_initializer_does_not_come_back() -> None:
    graph = "g (float[1] x) => (float[1] y)"
    base = f"{graph} <float[1] w = {{1}}> {{ y = Add (x, w) }}"
    renamed = f"{graph} <float[1] w2 = {{1}}> {{ y = Add (x, w2) }}"
    assert both(base, renamed, f"{graph} <float[1] w = {{2}}> {{ y = Add (x, w) }}") is not None
    assert both(base, renamed, f"{graph} <float[1] w3 = {{1}}> {{ y = Add (x, w3) }}") is None
    unused = f"{graph} <float[1] w = {{1}}> {{ y = Neg (x) }}"
    other = f"{graph} <float[1] w2 = {{1}}> {{ y = Neg (x) }}"
    assert both(unused, other, f"{graph} {{ y = Neg (x) }}") is None


def test_a_doc_and_a_label_merge() -> None:
    graph = "g (float[1] x) => (float[1] y)"
    ours, theirs = '@doc("d") y = Neg (x)', "[n] y = Neg (x)"
    found = both(*[f"{graph} {{ {node} }}" for node in ("y = Neg (x)", ours, theirs)])
    assert_equivalent(found, f'{graph} {{ @doc("d") [n] y = Neg (x) }}')


def test_a_name_defined_in_two_ways_is_a_conflict() -> None:
    body = "=> (float[1] y) { y = Neg (x) }"
    with_value = body.replace("{ y", "<float[1] c = {1}> { y")
    ours, theirs = f"g (float[1] x, float[1] c) {body}", f"g (float[1] x) {with_value}"
    assert both(f"g (float[1] x) {body}", ours, theirs) is None


def test_a_description_of_a_renamed_value_gets_its_new_name() -> None:
    base = "g (float[1] x) => (float[1] y) { a = Neg (x) y = Neg (a) }"
    renamed = "g (float[1] x) => (float[1] y) { b = Neg (x) y = Neg (b) }"
    added = ' quantization {{ {}: ["SCALE_TENSOR": "x"] }}'
    assert_equivalent(both(base, renamed, base + added.format("a")), renamed + added.format("b"))


def test_inputs_moved_in_two_ways_are_a_conflict() -> None:
    def graph(names: str) -> str:
        inputs = ", ".join([f"float {name}" for name in names])
        return f"g ({inputs}) => (float y) {{ y = Sum (a, b, c) }}"

    assert both(graph("abc"), graph("bac"), graph("acb")) is None
    assert_equivalent(both(graph("abcd"), graph("bacd"), graph("abdc")), graph("badc"))


def test_one_of_several_equal_nodes_deleted_twice_is_a_conflict() -> None:
    graph = "g (float x) => (float y) {{ {} y = Neg (x) }}"
    three, two = [graph.format("= Print (x) " * count) for count in (3, 2)]
    wanted = both(three, two, graph.format("= Print (x) " * 2 + "z = Abs (x) "))
    assert wanted is None


def test_data_is_equal_wherever_it_is_stored() -> None:
    values = ", ".join([f"{index}.0" for index in range(100)])
    graph = "g (float[100] x) => (float[100] y)"
    base = HEAD + f"{graph} <float[100] w = [{values}]> {{ y = Add (x, w) }}"
    blob = onnxtext.from_binary(onnxtext.to_binary(base))
    assert 'blob"' in blob
    stored = blob[: blob.index("\nresources")] + '\nresources { store: "m.weights" }\n'
    edited = base.replace("Add", "Mul")
    for other in (blob, stored):
        commented = other.replace("{\n", "{\n  # Theirs.\n", 1)
        result = merge(base.encode(), commented.encode(), edited.encode())
        assert not result.conflicts
        assert "# Theirs." in result.content.decode()
        assert onnxtext.parse(result.content.decode()).graph.nodes[0].op_type == "Mul"


@pytest.mark.parametrize("typed", ["int8", "float16", "int64", "double", "string"])
def test_typed_data_is_equal_inline_and_as_a_blob(typed: str) -> None:
    value = '"a", "b"' if typed == "string" else "1, 2"
    base = f"g () => () <{typed}[2] w = {{{value}}}> {{}}"
    blob = onnxtext.from_binary(onnxtext.to_binary(HEAD + base), inline_limit=0, weights="section")
    assert "{blob" in blob
    reshaped = HEAD + base.replace("[2]", "[1, 2]")
    documented = blob.replace(f"{typed}[2] w", f'@doc("d") {typed}[2] w')
    wanted = reshaped.replace(f"{typed}[1", f'@doc("d") {typed}[1')
    for ancestor in (HEAD + base, blob):
        for sides in ((reshaped, documented), (documented, reshaped)):
            result = merge(*[text.encode() for text in (ancestor, *sides)])
            assert not result.conflicts
            merged = onnxtext.to_binary(result.content.decode())
            assert merged == onnxtext.to_binary(wanted)


@pytest.mark.parametrize("data", ["{0.5}", "[0.5]"])
def test_sparse_data_survives_a_merge_of_other_changes(data: str) -> None:
    graph = "g (float[1] x) => (float[1] y)"
    sparse = f"sparse_tensor(float[9]) s = sparse(float[1] {data}, int64[1] i {{3}})"
    node = "y = Neg (x)"
    base = f"{graph} {{ {node} }}"
    ours = f"{graph} <{sparse}> {{ [a] {node} }}"
    theirs = f'{graph} <{sparse}> {{ @doc("d") {node} }}'
    found = both(base, ours, theirs)
    assert_equivalent(found, f'{graph} <{sparse}> {{ @doc("d") [a] {node} }}')
    blobs = [
        onnxtext.from_binary(onnxtext.to_binary(HEAD + text), inline_limit=0, weights="section")
        for text in (ours, theirs)
    ]
    for sides in ((blobs[0], HEAD + theirs), (HEAD + ours, blobs[1])):
        result = merge(*[text.encode() for text in (HEAD + base, *sides)])
        assert not result.conflicts
        assert found is not None
        assert onnxtext.to_binary(result.content.decode()) == onnxtext.to_binary(found)


def test_a_new_call_of_a_renamed_function_gets_its_new_name() -> None:
    def model(name: str, *calls: str) -> str:
        nodes = " ".join([f"y{index} = l.{call} (x)" for index, call in enumerate(calls)])
        function = f'<domain: "l", opset_import: ["": 20]> {name} (a) => (b) {{ b = Neg (a) }}'
        return f"g (float[1] x) => (float[1] y0) {{ {nodes} }} {function}"

    ours = model("F", "F", "F", "F")
    assert both(model("F", "F", "F"), ours, model("R", "R", "F")) is None  # one call is not renamed
    found = both(model("F", "F", "F"), ours, model("R", "R", "R"))
    assert_equivalent(found, model("R", "R", "R", "R"))


@pytest.mark.parametrize("renamed", ['domain: "l"> G', 'domain: "m"> F', 'overload: "o"> F'])
@pytest.mark.parametrize("edited", ["b = Abs (a)", "# why\n b = Neg (a)", "c = Abs (a) b = C (c)"])
def test_a_renamed_function_keeps_the_edits_of_its_body(renamed: str, edited: str) -> None:
    def model(name: str, body: str) -> str:
        function = f'<opset_import: ["": 20], {name} (a) => (b) {{ {body} }}'
        return f"g (float[1] x) => (float[1] y) {{ y = Neg (x) }}\n{function}"

    base, body = 'domain: "l"> F', "b = Neg (a)"
    found = both(model(base, body), model(renamed, body), model(base, edited))
    assert_equivalent(found, model(renamed, edited))
    assert found is not None
    assert ("# why" in found) == ("# why" in edited)


@pytest.mark.parametrize("name", ["output", "node", "graph", "attribute", "section", "record"])
def test_values_can_be_named_like_constructs(name: str) -> None:
    def graph(value: str, operator: str, data: str) -> str:
        return (
            f"g (float[1] x) => (float[1] {value}) <float[1] {value}2 = {{{data}}}> "
            f"{{ {value} = {operator} <{value} = {data}> (x, {value}2) }}"
        )

    named, z, other = [graph(value, "Add", "1") for value in (name, "z", "other")]
    assert both(named, z, other) is None
    assert both(z, named, other) is None
    assert both(named, z, graph(name, "Mul", "2")) is None
    assert_equivalent(both(z, named, named), named)


def test_inputs_added_on_one_side_and_shifted_on_the_other_are_a_conflict() -> None:
    base, ours, theirs = [
        f"g (float a, float b, float c) => (float y) {{ y = Sum ({names}) }}"
        for names in ("a, b, c", "a, c, y0", "a, b, c, b")
    ]
    assert both(base, ours, theirs) is None
    assert_equivalent(
        both(base, ours.replace("c, y0", "d, c"), theirs), theirs.replace("b, c, b", "d, c, b")
    )


def test_a_description_of_a_renamed_output_is_a_conflict() -> None:
    """This also holds if no side has a node that computes the output."""
    base = "g (float[1] x) => (float[1] y) { y = Abs (x) }"
    ours = "g (float[1] x) => (float[1] z) {}"
    theirs = "g (float[1] x) => (float[1] y) <float[1] y> {}"
    assert both(base, ours, theirs) is None
    about = 'g (float[1] x) => (float[1] y) {}\nquantization { y: ["SCALE_TENSOR": "x"] }'
    assert both(base, ours, about) is None


def test_an_error_about_weights_is_a_conflict_of_binary_models_too() -> None:
    """The rule for ranks needs the lengths of the lists, which are blobs."""

    def model(value: str, shape: str) -> bytes:
        numbers = ", ".join([f"{index}.5" for index in range(200)])
        return onnxtext.to_binary(
            f'<onnxtext: 1, ir_version: 8, opset_import: [15, "ai.onnx.ml": 1]> '
            f"g (float[1, 100] x, float{shape} z) => (label, s) {{\n"
            f"label, s = ai.onnx.ml.LinearClassifier <coefficients: floats = [{numbers}], "
            f"intercepts = [0.5, 1.5], classlabels_ints = [1, 2]> ({value}) }}"
        )

    versions = model("x", "[1, 100]"), model("z", "[1, 100]"), model("x", "[1, 100, 7]")
    assert merge(*versions).conflicts
    assert merge(*[onnxtext.from_binary(data).encode() for data in versions]).conflicts
