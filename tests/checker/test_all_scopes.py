# SPDX-License-Identifier: Apache-2.0
"""Rules apply to nodes in the main graph, nested graphs, functions and training graphs."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import pytest

from tests.checker.models import codes, text
from tests.checker.test_pages import select

OK = "y = Relu (x)"
BROKEN = {
    "value-redefined": "y = Relu (x)\ny = Neg (x)",
    "value-undefined": "y = Relu (nothing)",
    "node-order": "y = Neg (a)\na = Relu (x)",
    "graph-cycle": "a = Add (x, y)\ny = Neg (a)",
    "node-name-duplicate": "[n] a = Relu (x)\n[n] y = Neg (a)",
    "op-type-missing": "y = Relu (x)\n@unset(op_type) z = Relu (x)",
    "op-unknown": "y = Rellu (x)",
    "op-deprecated": 'y = Relu (x)\nz = Upsample <mode = "nearest"> (x, s)',
    "input-count": "y = Add (x)",
    "output-count": "y, z = Relu (x)",
    "optional-input-missing": 'y = Add (x, "")',
    "output-empty-required": 'y = Relu (x)\n"" = Relu (x)',
    "node-no-output": "y = Relu (x)\n= Relu (x)",
    "type-mismatch": "y = Add (x, i)",
    "attribute-unknown": "y = Softmax <axs = 0> (x)",
    "attribute-required": "y = Relu (x)\nz = Cast (x)",
    "attribute-type": "y = LeakyRelu <alpha = 1> (x)",
    "attribute-duplicate": "y = Softmax <axis = 0, axis = 0> (x)",
    "attribute-name-missing": 'y = Softmax <"" = 0> (x)',
    "attribute-type-missing": "y = Softmax <axis = {i: 0}> (x)",
    "attribute-value-mismatch": "y = Softmax <axis = {type: INT, i: 0, f: 1.0}> (x)",
    "attribute-value-unknown": (
        'y = Relu (x)\nu = Cast <to = 2> (x)\nz = BitShift <direction = "UP"> (u, u)'
    ),
    "attribute-string-utf8": 'y = Relu (x)\nz = Constant <value_string = b"\\xff"> ()',
    "tensor-data-size": 'y = Relu (x)\nz = Constant <value = float[2] raw_data(b"")> ()',
    "tensor-data-field": (
        'y = Relu (x)\nz = Constant <value = float[1] = raw_data(b"abcd") float_data{1}> ()'
    ),
    "tensor-empty-data": 'y = Relu (x)\nz = Constant <value = float[0] raw_data(b"\\x00")> ()',
    "tensor-value-range": "y = Relu (x)\nz = Constant <value = uint8[1] {300}> ()",
    "tensor-string-utf8": 'y = Relu (x)\nz = Constant <value = string[1] {b"\\xff"}> ()',
    "external-path-unsafe": (
        'y = Relu (x)\nz = Constant <value = float[2] ["location": "/etc/passwd"]> ()'
    ),
    "external-key-unknown": (
        'y = Relu (x)\nz = Constant <value = float[2] ["location": "w", "size": "8"]> ()'
    ),
    "sparse-index-order": (
        "y = Relu (x)\nz = Constant <sparse_value = sparse_tensor(float[4]) "
        "sparse(float[2] [1, 2], int64[2] [3, 0])> ()"
    ),
    "map-key-type": "y = Relu (x)\nz = Optional <type = map(float, int64)> ()",
    "opset-domain-not-imported": "y = Relu (x)\nz = ai.onnx.ml.Binarizer (x)",
    "metadata-key-duplicate": '@meta("org.a": "1", "org.a": "2")\ny = Relu (x)',
    "dim-value-negative": "y = Relu (x)\nint64[1, -1] z = NonZero (x)",
    "device-config-unknown": '@device("three") y = Relu (x)',
    "subgraph-arity": (
        "y = If (c) <then_branch = p (float q) => (float[4] r) { r = Relu (x) }, "
        "else_branch = o () => (float[4] t) { t = Relu (x) }>"
    ),
    "value-shadows-outer": (
        "u = Relu (x)\ny = If (c) <then_branch = p () => (float[4] u) { u = Relu (x) }, "
        "else_branch = o () => (float[4] t) { t = Relu (x) }>"
    ),
    "graph-output-undefined": (
        "u = Relu (x)\ny = If (c) <then_branch = p () => (float[4] u) { v = Relu (x) }, "
        "else_branch = o () => (float[4] t) { t = Relu (x) }>"
    ),
    "graph-name-missing": (
        'y = If (c) <then_branch = "" () => (float[4] r) { r = Relu (x) }, '
        "else_branch = o () => (float[4] t) { t = Relu (x) }>"
    ),
}
"""Nodes that break one rule; they use x (float[4]), i (int64[4]), c (bool), and define y."""
INPUTS = "float[4] x, int64[4] i, bool c, float[1] s"


def in_graph(nodes: str) -> str:
    return text(nodes, inputs=INPUTS, ir_version=11)


def in_nested_graph(nodes: str) -> str:
    body = indent(nodes, "    ")
    return text(
        f"o = If (c) <\n  then_branch = yes () => (float[4] y) {{\n{body}\n  }},\n"
        "  else_branch = no () => (float[4] e) {\n    e = Abs (x)\n  },\n>",
        inputs=INPUTS,
        outputs="float[4] o",
        ir_version=11,
    )


def in_function(nodes: str) -> str:
    body = indent(nodes, "  ")
    return text(
        "y = my.ops.f (x, i, c, s)",
        inputs=INPUTS,
        opsets='21, "my.ops": 1',
        rest=f'<domain: "my.ops", opset_import: ["": 21]>\nf (x, i, c, s) => (y) {{\n{body}\n}}\n',
        ir_version=11,
    )


def in_training(nodes: str) -> str:
    body = indent(nodes, "    ")
    return text(
        "o = Relu (x)",
        inputs=INPUTS,
        outputs="float[4] o",
        rest=f"training {{\n  algorithm: step () => (float[4] y) {{\n{body}\n  }}\n}}\n",
        ir_version=11,
    )


PLACES = (in_graph, in_nested_graph, in_function, in_training)
CALLED = {"opset-domain-not-imported": "function-opset-missing"}
"""Rules with another code in functions."""


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_the_unbroken_models_have_no_findings(place: object) -> None:
    assert callable(place)
    assert not codes(place(OK))


@pytest.mark.parametrize("code", BROKEN)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_broken_rule_is_found(code: str, place: object) -> None:
    assert callable(place)
    wanted = CALLED.get(code, code) if place is in_function else code
    found = codes(place(BROKEN[code]), select=select(code))
    if code == "op-type-missing":
        found -= {"op-unknown"}
    assert found == {wanted}


VALUES = {
    "value-info-unknown": "float[2] gone",
    "value-info-duplicate": "float[4] y,\nfloat[4] y",
    "initializer-duplicate": "float[1] w = [1],\nfloat[1] w = [2]",
    "value-name-missing": 'float[1] "" = [1]',
    "tensor-data-size": 'float[2] w = raw_data(b"")',
    "external-location-missing": 'float[2] w = ["offset": "0"]',
    "sparse-index-range": "sparse_tensor(float[4]) w = sparse(float[1] [1], int64[1] [4])",
    "segment-invalid": "@segment(begin: 2, end: 1) float[2] w = [1, 2]",
}
"""Entries of a graph's `<…>` list that break one rule."""


@pytest.mark.parametrize("code", VALUES)
@pytest.mark.parametrize(
    "place", [in_graph, in_nested_graph, in_training], ids=lambda p: p.__name__
)
def test_a_broken_value_is_found(code: str, place: object) -> None:
    assert callable(place)
    assert codes(with_values(place, VALUES[code])) == {code}


def with_values(place: Callable[[str], str], values: str) -> str:
    """Return the valid example at a place, with a `<…>` list of values before its nodes."""
    result = place(OK)
    before = result[: result.index("y = Relu (x)")].rstrip()
    assert before.endswith("{")
    return f"{before[:-1]}<{values}> {{\n{result[result.index('y = Relu (x)') :]}"


def test_shapes_are_checked_in_bodies_and_calls() -> None:
    body = "w = Constant <value = float[3] [1, 2, 3]> ()\ny = Add (x, w)"
    for place in PLACES:
        assert codes(place(body)) == {"shape-mismatch"}, place


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
