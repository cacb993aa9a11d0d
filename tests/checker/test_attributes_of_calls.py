# SPDX-License-Identifier: Apache-2.0
"""Attribute types across calls: a finding marks the call, and its second label the body."""

from __future__ import annotations

import itertools

import onnx
import pytest

import onnxtext
from onnxtext import Diagnostic
from tests.checker.models import codes, errors, text
from tests.diagnostics.found import fix_of

VALUES = {
    "float": "1.5", "int": "2", "string": '"s"', "floats": "[1.5, 2.5]", "ints": "[1, 2]",
    "strings": '["a", "b"]',
}  # fmt: skip
CONSTANTS = {name: f"value_{name}" for name in VALUES}


def functions(*sources: str) -> str:
    header = '<domain: "l", opset_import: ["": 21, "l": 1]>'
    return "\n".join(f"{header}\n{source}" for source in sources)


def model(call: str, *sources: str) -> str:
    opsets = '"": 21, "l": 1'
    return text(call, opsets=opsets, outputs="y", rest=functions(*sources)).replace(
        "=> (y)", "=> (float[4] y)"
    )


def marked(source: str, found: Diagnostic) -> list[str]:
    return [source[label.span.start : label.span.end] for label in found.labels]


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("given", VALUES)
@pytest.mark.parametrize("wanted", VALUES)
def test_an_attribute_passes_through_calls(given: str, wanted: str, depth: int) -> None:
    """A wrong attribute type is one error, at the call."""
    inner = (
        f"F0 <k> (a) => (b) {{ c = Constant <{CONSTANTS[wanted]}: {wanted} = @k> ()\n"
        " b = Identity (a) }"
    )
    outer = [
        f"F{i} <k> (a) => (b) {{ b = l.F{i - 1} <k: {wanted} = @k> (a) }}" for i in range(1, depth)
    ]
    source = model(f"y = l.F{depth - 1} <k = {VALUES[given]}> (x)", inner, *outer)
    found = errors(onnxtext.check(source))
    assert [item.code for item in found] == ["function-call-attribute"] * (given != wanted)
    for item in found:
        assert marked(source, item) == [VALUES[given], "@k"]
        assert f"`{wanted}`, but has the type `{given}`" in item.message


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_finding_is_at_the_call_that_changes_the_type(level: int) -> None:
    """In a chain of calls, one call declares another type for the referenced attribute."""
    types = ["int" if i <= level else "float" for i in range(3)]
    chain = [
        "F0 <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }",
        *[f"F{i} <k> (a) => (b) {{ b = l.F{i - 1} <k: {types[3 - i]} = @k> (a) }}" for i in (1, 2)],
    ]
    source = model(f"y = l.F2 <k = {'1' if types[0] == 'int' else '1.0'}> (x)", *chain)
    found = errors(onnxtext.check(source))
    assert [item.code for item in found] == ["function-call-attribute"]
    primary = marked(source, found[0])[0]
    assert primary == ("1" if level == 0 else "@k")


def test_defaults_of_a_wrong_type_are_errors() -> None:
    inner = "F <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }"
    outer = "G <k: int = 1> (a) => (b) { b = l.F <k: int = @k> (a) }"
    assert codes(model("y = l.G (x)", inner, outer)) == {"function-call-attribute"}
    direct = "F <u: int = 3, k: int = 1> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }"
    source = model("y = l.F (x)", direct)
    (finding,) = errors(onnxtext.check(source))
    assert finding.code == "attribute-ref-unknown"
    assert marked(source, finding) == ["@k", "k: int = 1"]


def test_references_in_nested_graphs_of_a_body_are_checked() -> None:
    body = (
        "F <k> (a, c) => (b) { b = If (c) <then_branch = t () => (float[4] z)"
        " { z = LeakyRelu <alpha: float = @k> (a) }, else_branch = e () => (float[4] w)"
        " { w = Relu (a) }> }"
    )
    source = model("c = Constant <value = bool {1}> ()\ny = l.F <k = 1> (x, c)", body)
    (finding,) = errors(onnxtext.check(source))
    assert marked(source, finding) == ["1", "@k"]


def test_a_parameter_used_with_two_types_is_an_error() -> None:
    body = (
        "F <k> (a) => (b) { c = LeakyRelu <alpha: float = @k> (a)\n"
        " b = Softmax <axis: int = @k> (c) }"
    )
    for value in ("1", "1.0"):
        source = model(f"y = l.F <k = {value}> (x)", body)
        assert [item.code for item in errors(onnxtext.check(source))] == ["attribute-ref-unknown"]


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize(
    "body",
    [
        "b = Concat <axis: int = @k> (a)",
        "c = Constant <value_int: int = @k> ()\n b = Identity (a)",
        "b = Split <num_outputs: int = @k> (a)",
        "b = Cast <to: int = @k> (a)",
    ],
)
def test_a_call_that_omits_a_required_argument_is_an_error(body: str, depth: int) -> None:
    chain = [f"F0 <k> (a) => (b) {{ {body} }}"]
    middle = "F{} <k> (a) => (b) {{ b = l.F{} <k: int = @k> (a) }}"
    chain += [middle.format(i, i - 1) for i in range(1, depth)]
    source = model(f"y = l.F{depth - 1} (x)", *chain)
    (finding,) = errors(onnxtext.check(source))
    assert finding.code == "function-call-attribute"
    assert marked(source, finding)[0] == f"l.F{depth - 1}"
    value = 0 if "Concat" in body else 1
    assert not errors(onnxtext.check(source.replace("(x)", f"<k = {value}> (x)", 1)))


def test_inputs_that_the_body_does_not_require_may_be_omitted() -> None:
    body = "F <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }"
    assert not codes(model("y = l.F (x)", body))


@pytest.mark.parametrize("node", ["Add (a, b)", "Concat <axis = 0> (a, b)", "Max (a, b)"])
def test_a_call_that_omits_a_required_input_is_an_error(node: str) -> None:
    inner = f"F (a, b) => (c) {{ c = {node} }}"
    outer = "G (a, b) => (c) { c = l.F (a, b) }"
    source = model("y = l.G (x)", inner, outer)
    (finding,) = errors(onnxtext.check(source))
    assert (finding.code, marked(source, finding)[0]) == ("function-call-arity", "l.G")


@pytest.mark.parametrize(
    ("node", "fixed"),
    [
        ("y = l.S <k = 3> (x)", "<k = 3.0>"),
        ("y = l.S <k = -1> (x)", "<k = -1.0>"),
        ("y = l.T <k = [1, 2]> (x)", "<k = [1.0, 2.0]>"),
        ("y = LeakyRelu <alpha = 3> (x)", "<alpha = 3.0>"),
        ("y = l.F <k = 3> (x)", "<k = 3.0>"),
    ],
)
def test_the_fix_of_an_integer_for_a_float_is_a_float(node: str, fixed: str) -> None:
    sources = (
        "S <k: float = 1.0> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }",
        "T <k: floats = [1.0]> (a) => (b) { c = Constant <value_floats: floats = @k> ()\n"
        " b = Identity (a) }",
        "F <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }",
    )
    source = model(node, *sources)
    (finding,) = errors(onnxtext.check(source))
    after = fix_of(finding).apply(source)
    assert fixed in after
    assert not codes(after)


@pytest.mark.parametrize(
    ("body", "spelled"),
    [
        ("c = Constant <value_float = @k> ()\n b = Identity (a)", "value_float: float = @k"),
        ("b = Concat <axis = @k> (a)", "axis: int = @k"),
        ("b = Upsample <scales = @k> (a)", "scales: floats = @k"),
        ("b = l.S <k = @k> (a)", "k: float = @k"),
    ],
)
def test_the_fix_of_an_untyped_reference_is_its_type(body: str, spelled: str) -> None:
    sources = (
        f"F <k> (a) => (b) {{ {body} }}",
        "S <k: float = 1.0> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }",
    )
    opset = '"": 7, "l": 1'
    source = model("y = Identity (x)", *sources)
    if "Upsample" in body:
        source = source.replace('"": 21, "l": 1', opset)
    found = [item for item in onnxtext.check(source) if item.code == "attribute-type-missing"]
    assert [item.help for item in found] == [f"write its type: `{spelled}`"]
    assert found[0].fix is not None
    assert spelled in found[0].fix.apply(source)
    assert "attribute-type-missing" not in codes(found[0].fix.apply(source))


def test_long_and_cyclic_chains_terminate() -> None:
    chain = ["F0 <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }"]
    chain += [f"F{i} <k> (a) => (b) {{ b = l.F{i - 1} <k: float = @k> (a) }}" for i in range(1, 60)]
    assert codes(model("y = l.F59 <k = 1> (x)", *chain)) == {"function-call-attribute"}
    circle = [
        f"F{i} <k> (a) => (b) {{ b = l.F{j} <k: float = @k> (a) }}"
        for i, j in itertools.pairwise([0, 1, 2, 0])
    ]
    assert codes(model("y = l.F0 <k = 1> (x)", *circle)) == {
        "function-call-attribute",
        "function-recursive",
    }


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("float[4] a", None),
        ("float[N] a", None),
        ("a", None),
        ("float[3] a", "shape-mismatch"),
        ("float[4, 1] a", "shape-mismatch"),
        ("int64[4] a", "type-mismatch"),
        ("seq(float) a", "type-mismatch"),
    ],
)
def test_declared_types_of_function_inputs_are_compared_with_calls(
    declared: str, code: str | None
) -> None:
    """onnx and onnxruntime ignore the declared types."""
    body = f'<domain: "l", opset_import: ["": 21]>\nF ({declared}) => (b) {{ b = Relu (a) }}'
    source = text("z = l.F (x)\ny = l.F (x)", opsets='21, "l": 1', rest=body)
    onnx.checker.check_model(onnx.load_from_string(onnxtext.to_binary(source)), full_check=True)
    found = onnxtext.check(source, select=["shape-mismatch", "type-mismatch"])
    assert [item.code for item in found] == [code] * (code is not None)
    for item in found:
        assert item.severity == ("info" if code == "shape-mismatch" else "warning")
        assert marked(source, item)[0] + " a" == declared


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("F (a) => (b) { float[5] c = Relu (a) b = Neg (c) }", "shape-mismatch"),
        ("F (a) => (float[4, 1] b) { b = Relu (a) }", "shape-mismatch"),
        ("F (a) => (b) { int64[4] c = Relu (a) b = Neg (c) }", "type-mismatch"),
        ("F (a) => (seq(float) b) { b = Relu (a) }", "type-mismatch"),
    ],
)
@pytest.mark.parametrize("operator", ["Neg", "com.microsoft.Gelu"])
def test_declared_types_in_functions_are_compared_with_computed_ones(
    body: str, code: str, operator: str
) -> None:
    """onnx and onnxruntime ignore the declared types, whichever operators the model has."""
    rest = f'<domain: "l", opset_import: ["": 21]>\n{body}'
    opsets = '21, "l": 1, "com.microsoft": 1'
    source = text(f"z = l.F (x)\ny = {operator} (z)", opsets=opsets, rest=rest)
    onnx.checker.check_model(onnx.load_from_string(onnxtext.to_binary(source)), full_check=True)
    found = onnxtext.check(source, select=["shape-mismatch", "type-mismatch"])
    assert [(item.code, item.severity) for item in found] == [(code, "warning")]


def test_outputs_of_functions_that_are_inputs_are_a_warning() -> None:
    """onnxruntime does not load the model, even if no node calls the function."""
    source = model("y = l.F (x)", "F (a) => (a) {}", "G (a, b) => (c, b) { c = Relu (a) }")
    onnx.checker.check_model(onnx.load_from_string(onnxtext.to_binary(source)), full_check=True)
    found = onnxtext.check(source)
    assert [(item.code, item.severity) for item in found] == [
        ("function-output-undefined", "warning")
    ] * 2
    assert [marked(source, item) for item in found] == [["a"], ["b"]]
    assert not codes(model("y = l.F (x)", "F (a) => (b) { b = Identity (a) }"))
