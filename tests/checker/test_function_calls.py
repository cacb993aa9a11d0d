# SPDX-License-Identifier: Apache-2.0
"""Bodies and calls of functions have the types and shapes of each call."""

from __future__ import annotations

import pytest
from onnx import ModelProto

import onnxtext
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.checker.models import codes, problems, text
from tests.checker.variants import in_function, in_nested_graph, in_training

INPUTS = "float[4] x, int64[4] i, bool c, float[1] s"


def test_shapes_are_checked_in_bodies_and_calls() -> None:
    source = text("w = Constant <value = float[3] [1, 2, 3]> ()\ny = Add (x, w)")
    model = ModelProto.FromString(onnxtext.to_binary(source))
    for moved in (model, *[place(model) for place in (in_nested_graph, in_function, in_training)]):
        assert codes(moved) == {"shape-mismatch"}


def test_functions_are_polymorphic() -> None:
    function = (
        '<domain: "my.ops", opset_import: ["": 21]>\ntwice (a) => (b) {\n  b = Add (a, a)\n}\n'
    )
    calls = "y = my.ops.twice (x)\nj = my.ops.twice (i)\nk = Add (j, i)"
    opsets = '21, "my.ops": 1'
    assert not codes(text(calls, inputs=INPUTS, opsets=opsets, rest=function))
    wrong = calls.replace("Add (j, i)", "Add (j, x)")
    assert codes(text(wrong, inputs=INPUTS, opsets=opsets, rest=function)) == {"type-mismatch"}
    strings = "y = Relu (x)\nz = my.ops.twice (c)"
    assert codes(text(strings, inputs=INPUTS, opsets=opsets, rest=function)) == {"type-mismatch"}


def test_overloads_are_functions_of_their_own() -> None:
    functions = "".join(
        f'<domain: "my.ops", overload: "{overload}", opset_import: ["": 21]>\n'
        f"f (a) => (b) {{\n  b = Cast <to = {number}> (a)\n}}\n"
        for overload, number in (("float", 1), ("int", 7))
    )
    opsets = '21, "my.ops": 1'
    good = "y = my.ops.f:float (i)\nj = my.ops.f:int (x)\nk = Add (j, i)"
    assert not codes(text(good, inputs=INPUTS, opsets=opsets, rest=functions))
    bad = good.replace("f:float", "f:int")
    assert codes(text(bad, inputs=INPUTS, opsets=opsets, rest=functions)) == {"type-mismatch"}


def test_operators_of_other_versions_are_one_finding_for_each_function() -> None:
    function = (
        '<domain: "l", opset_import: [11]>\nf (a) => (b) {\n  c = Clip (a)\n  b = Abs (c)\n}\n'
    )
    source = text("y = l.f (x)", opsets='21, "l": 1', rest=function)
    (finding,) = onnxtext.check(source)
    assert finding.code == "function-opset-conflict"
    assert finding.message.startswith("`Abs` and 1 other operator differ between version 11")
    assert [source[label.span.start : label.span.end] for label in finding.labels] == [
        "Abs", "Clip"
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("operator", "wrong"),
    [("Softmax <axis = 3>", "i"), ("Softmax <axis = 3>", "m"), ("LRN <size = 3>", "m")],
)
def test_an_error_in_a_function_names_the_calls(operator: str, wrong: str, depth: int) -> None:
    header = '<domain: "f", opset_import: [21, "f": 1]>\n'
    bodies = ["b = f.f2 (a)", f"b = {operator} (a)"][-depth:]
    source = text(
        f"y = f.f1 (x)\nz = f.f1 ({wrong})\nw = f.f1 ({wrong})",
        inputs="float[1, 2, 3, 4] x, int64[1, 2, 3, 4] i, float[2, 3] m",
        outputs="float[1, 2, 3, 4] y",
        opsets='21, "f": 1',
        rest="".join(f"{header}f{n} (a) => (b) {{ {body} }}\n" for n, body in enumerate(bodies, 1)),
    )
    (finding,) = problems(source)
    called = [label for label in finding.labels if label.message == "in this call"]
    starts = [source.find("f.f2"), source.index("f.f1 (", source.index("z ="))][-depth:]
    assert [label.span.start for label in called] == starts


@pytest.mark.parametrize(
    ("parameter", "result"), [("float[2, 9] a", "b"), ("a", "float[2, 9] c = Neg (a)\nb")]
)
def test_a_wrong_declared_shape_in_a_function_names_the_calls(parameter: str, result: str) -> None:
    header = '<domain: "f", opset_import: [21, "f": 1]>\n'
    outer = f"{header}f1 (a) => (b) {{ b = f.f2 (a) }}\n"
    source = text(
        "y = f.f1 (x)\nz = f.f1 (m)",
        inputs="float[2, 9] x, float[2, 3] m",
        outputs="float[2, 9] y",
        opsets='21, "f": 1',
        rest=f"{outer}{header}f2 ({parameter}) => (b) {{ {result} = Relu (a) }}\n",
    )
    (finding,) = onnxtext.check(source)
    assert "is declared `[2, 9]`, but" in finding.message
    called = [label for label in finding.labels if label.message == "in this call"]
    starts = [source.index("f.f2"), source.index("f.f1 (m)")]
    assert [label.span.start for label in called] == starts


@pytest.mark.parametrize("operator", ["LRN <size = 3>", "Softmax <axis = 3>", "Not"])
def test_many_errors_in_a_function_share_the_places_of_the_calls(operator: str) -> None:
    """Each error has up to 100 of these places."""
    header = '<domain: "f", opset_import: [21, "f": 1]>\n'
    bodies = [f"b = f.f{depth} (a)" for depth in range(2, 30)]
    bodies.append("\n".join(f"c{index} = {operator} (a)" for index in range(50)) + "\nb = Neg (a)")
    source = text(
        "y = f.f1 (x)",
        opsets='21, "f": 1',
        rest="".join(f"{header}f{n} (a) => (b) {{ {body} }}\n" for n, body in enumerate(bodies, 1)),
    )
    _, found = run_rules(parse_model(Source(source, "m")))
    assert len(found) == 50
    assert len({id(place) for finding in found for place in finding.places[-29:]}) == 29
