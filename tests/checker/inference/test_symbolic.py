# SPDX-License-Identifier: Apache-2.0
"""Symbolic dimensions: each contradiction has two labels, consistent sizes have no finding."""

from __future__ import annotations

import pytest

import onnxtext
from tests.checker.models import codes, text

WEIGHTS = """\
float[4] four = [0, ...],
float[5] five = [0, ...],
float[6] six = [0, ...],
float[4, 3] rows_4 = [0, ...],
float[5, 3] rows_5 = [0, ...],
float[3, 4] columns_4 = [0, ...],
float[8, 3, 3, 3] kernel = [0, ...],
int64[1] axis_0 = [0],
int64[1] axis_1 = [1],
int64[2] four_by_four = [4, 4],
int64[2] to_rows = [-1, 4],
int64[1] flat_20 = [20],
int64[1] flat_24 = [24],
int64[5] labels_5 = [0, ...],
int64[2] parts = [2, 3],
int64[2] keep_2 = [0, -1],
int64[4] pads = [1, 0, 1, 0],
"""
INPUTS = (
    "float[N, 4] x, float[N] n, float[M] m, float[N, M] nm, float[N, N] nn, float[2, N] two_n, "
    "float[4, N] four_n, float[B, C, H, W] image, float[B, H, W, N] grid, bool c, "
    "bool[N] cs, float[N, 3] n3"
)
TWICE = "twice (a) => (b) {\n  b = Add (a, a)\n}\n"
PART = "part (a, w) => (b) {\n  float[K] b = Compress <axis = 0> (a, w)\n}\n"
HEADER = '<domain: "my", opset_import: ["": 21]>'
FUNCTION = f"{HEADER}\n{TWICE}\n{HEADER}\n{PART}"


def symbolic(nodes: str) -> str:
    return text(
        f"{nodes}\nout = Identity (c)",
        inputs=INPUTS,
        outputs="bool out",
        values=WEIGHTS,
        opsets='21, "my": 1',
        rest=FUNCTION,
    )


# Nodes that force N to be 4, and nodes that force it to be 5.
FOUR = "u = MatMul (n, rows_4)"
FIVE = "v = MatMul (n, rows_5)"

IMPOSSIBLE = {
    "products": f"{FOUR}\n{FIVE}",
    "Gemm": f"{FOUR}\nv = Gemm (two_n, rows_5)",
    "Gemm, transposed": f"{FOUR}\nv = Gemm <transA = 1> (n3, rows_5)",
    "broadcasting": f"{FOUR}\nv = Add (n, five)",
    "broadcasting two ways, and neither is 1": "u = Add (nm, four)\nv = Add (m, five)\n"
    "w = MatMul (m, rows_5)",
    "Where": f"{FOUR}\nv = Where (c, n, five)",
    "a unary operator between": f"{FOUR}\nt = Relu (n)\nv = MatMul (t, rows_5)",
    "Transpose": f"{FOUR}\nt = Transpose (n3)\nv = MatMul (t, rows_5)",
    "Flatten": f"{FOUR}\nt = Flatten (n3)\nv = Gemm <transA = 1> (t, rows_5)",
    "Concat": f"{FOUR}\nv = Concat <axis = 1> (n3, rows_5)",
    "Concat adds": f"{FOUR}\nt = Concat <axis = 0> (n, four)\nv = Add (t, five)",
    "broadcasting of sizes that differ": f"{FOUR}\nt = Concat <axis = 0> (n, six)\nv = Add (t, n)",
    "broadcasting of a multiple": f"{FOUR}\nt = Concat <axis = 0> (n, n)\nv = Add (t, six)",
    "the grid of a sample": f"{FOUR}\nv = GridSample (image, grid)",
    "the labels of a loss": f"{FOUR}\nv = NegativeLogLikelihoodLoss (n3, labels_5)",
    "Concat, declared": "float[N] t = Concat <axis = 0> (n, six)",
    "Reshape": f"{FOUR}\nv = Reshape (n, flat_20)",
    "Reshape of a matrix": "u = Reshape (x, flat_20)\nv = Reshape (x, flat_24)",
    "Reshape with -1": f"{FOUR}\nt = Reshape (x, to_rows)\nv = Concat <axis = 1> (t, rows_5)",
    "Reshape with 0": f"{FOUR}\nt = Reshape (n3, keep_2)\nv = Concat <axis = 1> (t, rows_5)",
    "Squeeze": f"{FOUR}\nv = Squeeze (nm, axis_0)",
    "Unsqueeze": f"{FOUR}\nt = Unsqueeze (n, axis_0)\nv = MatMul (t, rows_5)",
    "Gather": f"{FOUR}\nt = Gather <axis = 0> (nn, axis_0)\nv = MatMul (t, rows_5)",
    "Slice": f"{FOUR}\ne = Constant <value = int64[1] [9223372036854775807]> ()\n"
    "t = Slice (n, axis_0, e)\nv = MatMul (t, rows_5)",
    "Split": f"{FOUR}\np, q = Split <axis = 0> (n, parts)",
    "Pad": f"{FOUR}\nt = Pad (n3, pads)\nv = Concat <axis = 1> (t, rows_5)",
    "Conv": "t = Conv (image, kernel)\ng = GlobalAveragePool (image)\n"
    "float[B, 5, 1, 1] v = Identity (g)",
    "Conv, declared": "float[B, 8, H, V] t = Conv (image, kernel)",
    "MaxPool, declared": "float[B, C, H, V] t = MaxPool <kernel_shape = [2, 2]> (image)",
    "reductions": f"{FOUR}\nt = ReduceSum <keepdims = 0> (n3, axis_1)\nv = MatMul (t, rows_5)",
    "ArgMax": f"{FOUR}\nt = ArgMax <axis = 1, keepdims = 0> (n3)\nfloat[N] f = Cast <to = 1> (t)\n"
    "v = MatMul (f, rows_5)",
    "Softmax": f"{FOUR}\nt = Softmax (n)\nv = MatMul (t, rows_5)",
    "Shape": "t = Shape (nm)\nint64[N] s = Identity (t)\n" + FIVE,
    "equal symbols": f"{FOUR}\nfloat[M] t = Identity (n)\nv = MatMul (m, rows_5)",
    "what is declared": f"{FOUR}\nfloat[5] t = Identity (n)",
    "a branch": f"{FOUR}\nr = If (c) "
    "<then_branch = a () => (float[3] p) { p = MatMul (n, rows_5) }, "
    "else_branch = b () => (float[3] q) { q = MatMul (n, rows_4) }>",
    "what branches give": "r = If (c) <then_branch = a () => (p) { p = Neg (n) }, "
    f"else_branch = b () => (q) {{ q = Abs (n) }}>\n{FOUR}\nv = MatMul (r, rows_5)",
    "the body of a loop": f"{FOUR}\nk = Constant <value = int64 {{3}}> ()\n"
    "r = Loop <body = l (int64 i, bool g, float[4] s) => (bool h, float[4] t) "
    "{ h = Identity (g)\n e = MatMul (n, rows_5)\n t = Relu (s) }> (k, c, four)",
    "a call": f"{FOUR}\nt = my.twice (n)\nv = MatMul (t, rows_5)",
    "one call before, and one after": f"s = my.twice (n)\n{FOUR}\nt = my.twice (n)\n"
    "v = MatMul (t, rows_5)",
    "the output of one call": "p = my.part (n, cs)\nu = MatMul (p, rows_4)\nv = MatMul (p, rows_5)",
    "twice called": f"{FOUR}\ns = my.twice (n)\nt = my.twice (s)\nv = MatMul (t, rows_5)",
}
"""Nodes that require two sizes of one symbol."""

POSSIBLE = {
    "broadcasting leaves 1": "u = Add (n, four)\nv = Add (n, five)",
    "broadcasting leaves 1, declared": "float[4] u = Add (n, four)\nfloat[5] v = Add (n, five)",
    "two symbols": "u = MatMul (n, rows_4)\nv = MatMul (m, rows_5)",
    "concatenation": "t = Concat <axis = 0> (n, m)\nfloat[K] k = Identity (t)\n"
    "u = MatMul (n, rows_4)\nv = MatMul (m, rows_5)",
    "an offset": f"{FOUR}\nt = Concat <axis = 0> (n, six)\nfloat[10] u10 = Identity (t)",
    "branches for different sizes": "r = If (c) <then_branch = a () => (float[3] p) "
    "{ p = MatMul (n, rows_5) }, else_branch = b () => (float[3] q) { q = MatMul (n, rows_4) }>",
    "a branch does not bind what follows": "r = If (c) <then_branch = a () => (float[3] p) "
    "{ p = MatMul (n, rows_5) }, else_branch = b () => (float[3] q) { q = MatMul (n, rows_4) }>"
    "\nfloat[3] s = Identity (r)\nfloat[K] t = Identity (n)",
    "calls with different sizes": "s = my.twice (n)\nt = my.twice (m)\nu = MatMul (s, rows_4)\n"
    "v = MatMul (t, rows_5)",
    "calls with sizes of their own": "p = my.part (n, cs)\nq = my.part (n, cs)\n"
    "u = MatMul (p, rows_4)\nv = MatMul (q, rows_5)",
    "a convolution of stride 2": "float[B, 8, H, W] t = Conv <strides = [2, 2]> (image, kernel)",
    "a padded convolution": "float[B, 8, H, W] t = Conv <pads = [1, 1, 1, 1]> (image, kernel)",
    "a slice": f"{FOUR}\ne = Constant <value = int64[1] [-1]> ()\nt = Slice (n, axis_0, e)\n"
    "float[K] s = Identity (t)",
    "unknown sizes": f"{FOUR}\nfloat[?] t = Identity (n)\nfloat[5] s = Identity (m)",
}
"""Nodes with consistent sizes."""


def conflicts(model: str | bytes) -> list[onnxtext.Diagnostic]:
    """Return the findings, without those about symbols with only one size."""
    return [item for item in onnxtext.check(model) if item.code != "dim-forced"]


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_contradictory_sizes_are_explained_by_two_places(name: str) -> None:
    model = symbolic(IMPOSSIBLE[name])
    found = conflicts(model)
    assert [item.code for item in found] == ["dim-variable-conflict"], found
    (finding,) = found
    assert finding.severity == "warning"
    found_labels = [label.message for label in finding.labels]
    labels = [label for label in found_labels if label != "these sizes are equal"]
    assert labels
    assert all(label.endswith(" here") for label in labels), labels
    if "declared" not in name:
        assert len(labels) >= 2, finding.labels
    binary = conflicts(onnxtext.to_binary(model))
    assert [item.code for item in binary] == ["dim-variable-conflict"]


@pytest.mark.parametrize("name", POSSIBLE)
def test_consistent_sizes_are_not_found(name: str) -> None:
    assert not codes(symbolic(POSSIBLE[name])) - {"dim-forced"}


@pytest.mark.parametrize("size", [2, 5])
def test_a_multiple_that_is_broadcast_cannot_be_1(size: int) -> None:
    source = text(
        "t = Concat <axis = 0> (n, n)\ny = Add (t, x)",
        inputs=f"float[N] n, float[{size}] x",
        outputs="float[?] y",
    )
    (finding,) = onnxtext.check(source)
    wanted = {
        2: "the dimension `N` must be 1: `Add` accepts no other size",
        5: "`2*N` must equal `5`, but no size of `N` allows it",
    }
    assert finding.message == wanted[size]


@pytest.mark.parametrize(
    ("node", "severity", "message"),
    [
        ("Add (n2, n4)", "warning", "`N + 2` must equal `1`, but no size of `N` allows it"),
        ("Add (n2, n3)", "warning", "`N + 2` must equal `0 or 1`, but no size of `N` allows it"),
        ("Add (n1, n2)", "warning", "the dimension `N` must be 0: `Add` accepts no other size"),
        ("Add (n4, x2)", "warning", "`N + 4` must equal `1 or 2`, but no size of `N` allows it"),
        ("Add (n2, x3)", "warning", "the dimension `N` must be 1: `Add` accepts no other size"),
        ("Add (n1, x3)", "info", "the dimension `N` must be 0 or 2: `Add` accepts no other sizes"),
        ("MatMul (n4, x2)", "warning", "`N + 4` must equal `2`, but no size of `N` allows it"),
    ],
)
def test_no_size_is_negative(node: str, severity: str, message: str) -> None:
    sums = [f"n{size} = Concat <axis = 0> (n, x{size})" for size in (1, 2, 3, 4)]
    source = text(
        "\n".join([*sums, f"y = {node}"]),
        inputs="float[N] n",
        outputs="y",
        values="float[1] x1 = {1}, float[2] x2 = {1, 2}, float[3] x3 = {1, 2, 3}, "
        "float[4] x4 = {1, 2, 3, 4}",
    )
    (finding,) = [item for item in onnxtext.check(source) if item.code.startswith("dim-")]
    assert (finding.severity, finding.message) == (severity, message)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("y = MatMul (m, x1)", "`M` must equal `1`, but no size of `{}` allows it"),
        ("y = MatMul (m, x2)", "the dimension `N` must be 0: `MatMul` accepts no other size"),
        ("y = Add (m, x3)", "the dimension `N` must be 1: `Add` accepts no other size"),
    ],
)
def test_no_size_is_negative_if_it_equals_a_sum(node: str, message: str, is_last: bool) -> None:
    nodes = ["t = Concat <axis = 0> (n, x2)", "z = MatMul (t, m)"]
    source = text(
        "\n".join([*nodes, node] if is_last else [node, *nodes]),
        inputs="float[N] n, float[M] m",
        outputs="y, z",
        values="float[1] x1 = {1}, float[2] x2 = {1, 2}, float[3] x3 = {1, 2, 3}",
    )
    found = [item.message for item in onnxtext.check(source) if item.code.startswith("dim-")]
    assert message.format("M" if is_last else "N") in found


@pytest.mark.parametrize(("size", "shape"), [(8, None), (7, "`x` and the new shape have the same")])
def test_shapes_that_differ_by_a_factor_are_a_warning(size: int, shape: str | None) -> None:
    """They have the same number of elements only if they are empty."""
    source = text(
        "s = Shape <end = 2> (x)\nt = Concat <axis = 0> (s, heads)\ny = Reshape (x, t)",
        inputs=f"float[B, S, {size}] x",
        outputs="float[B, S, 2, 4] y",
        values="int64[2] heads = {2, 4}",
    )
    found = onnxtext.check(source)
    assert [item.severity for item in found] == (["warning"] if shape else [])
    assert all(shape in item.message for item in found if shape)


def test_the_labels_show_both_sizes() -> None:
    (finding,) = onnxtext.check(symbolic(f"{FOUR}\nt = Relu (n)\nv = MatMul (t, rows_5)"))
    assert finding.message == "the dimension `N` is 4 in one place and 5 in another"
    shown = {label.message for label in finding.labels}
    assert shown == {"`N` is 5 here", "`N` is 4 here"}
    assert finding.source is not None
    lines = [finding.source.position(label.span.start).line for label in finding.labels]
    assert lines[0] > lines[1]


def test_a_label_shows_why_two_symbols_are_equal() -> None:
    (finding,) = onnxtext.check(symbolic(IMPOSSIBLE["equal symbols"]))
    assert [label.message for label in finding.labels].count("these sizes are equal") == 1


def test_a_contradictory_symbol_is_one_finding() -> None:
    nodes = "\n".join(f"u{i} = Add (n, {size})" for i, size in enumerate(["five", "six"] * 9))
    assert [item.code for item in onnxtext.check(symbolic(f"{FOUR}\n{nodes}"))] == [
        "dim-variable-conflict"
    ]


@pytest.mark.parametrize(
    "body", ["(bool h, v) { h = Identity (g) }", "(bool h, v) { h = Not (g) }"]
)
@pytest.mark.parametrize(("size", "code"), [("4", set()), ("N", set()), ("5", {"shape-mismatch"})])
def test_a_loop_that_returns_an_input_without_a_type(body: str, size: str, code: set[str]) -> None:
    """onnx rejects the output without a type; it has the type of the carried value."""
    nodes = f"y = Loop (n, c, x) <body = l (int64 i, bool g, v) => {body}>"
    source = text(nodes, inputs="int64 n, bool c, float[4] x", outputs=f"float[{size}] y")
    assert codes(source) - {"dim-forced"} == code
