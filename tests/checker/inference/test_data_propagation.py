# SPDX-License-Identifier: Apache-2.0
"""Shape inference evaluates computed shapes (`Shape`, `Gather`, …) symbolically."""

from __future__ import annotations

from functools import partial

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from onnxtext.ast import Attribute, AttributeType, RawData, TensorType
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference.inferred_types import inferred_type_texts
from onnxtext.checker.symbolic.small_tensors import constant_tensor
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.checker.models import text, types_of
from tests.running import count_calls

VALUES = """\
int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] first = {0}, int64[1] second = {1},
int64[1] minus = {-1}, int64[1] four = {4}, int64[1] sixteen = {16},
int64[1] last = {9223372036854775807}, int64[3] ones = {1, 1, 1}, float[4] scales = {1, 1, 2, 2},
int64[4] pads = {0, 1, 0, 1}, bool on = {1}, int64[2] on_off = {0, 1},
float[512, 8] table = [0, ...],
float[64, 64] w = [0, ...], int64[2] halves = {2, -1}, int64[3] split = {0, -1, 64},
float[2, 3, 3, 3] kernel = [0, ...], float[64, 512] r = [0, ...], float[64, 128] q = [0, ...],
"""
INPUTS = (
    "float[batch, seq, 64] x, float[past, 64] p, float[seq, 64] t, float[batch, 3, h, w] image, "
    "float[n, m] nm, float[1, 2, seq] one_batch, float[1, 64] row, bool c, "
    "float[?, seq] u, int64 k, float[seq, 1, 128] steps"
)

DIMS = "s = Shape (x)\nb = Gather (s, zero)\nl = Gather (s, one)\nb1 = Unsqueeze (b, first)\n"
DIMS += "l1 = Unsqueeze (l, first)\n"

FOLLOWED = {
    "heads": (DIMS + "a = Concat <axis = 0> (b1, l1, four, sixteen)\nh4 = Reshape (x, a)\n"
              "y = Transpose <perm = [0, 2, 1, 3]> (h4)", "float[batch, 4, seq, 16]"),
    "heads as one dimension": (DIMS + "g = Mul (b, two)\ng1 = Unsqueeze (g, first)\n"
              "a = Concat <axis = 0> (g1, minus, l1)\ny = Reshape (x, a)",
              "float[2*batch, 32, seq]"),
    "what is left": (DIMS + "a = Concat <axis = 0> (b1, minus)\ny = Reshape (x, a)",
                     "float[batch, 64*seq]"),
    "broadcast batches": ('y = Einsum <equation = "...ij,...jk->...ik"> (one_batch, x)',
                          "float[batch, 2, 64]"),
    "broadcast indices": ('y = Einsum <equation = "bi, bi"> (row, t)', "float"),
    "the order of letters": ('y = Einsum <equation = "ba..."> (x)', "float[64, seq, batch]"),
    "scales in an attribute": (
        "f = Constant <value_floats = [1.0, 1.0, 2.0]> ()\ny = Resize (x, , f)",
        "float[batch, seq, 128]"),
    "a product": ("y = Flatten <axis = 2> (x)", "float[batch*seq, 64]"),
    "a sum": ("y = Concat <axis = 0> (p, t)", "float[past + seq, 64]"),
    "a sum, back": ("a = Concat <axis = 0> (p, t)\ns = Shape <end = 1> (a)\n"
                    "q1 = Shape <end = 1> (p)\nd = Sub (s, q1)\n"
                    "a2 = Concat <axis = 0> (d, minus)\ny = Reshape (t, a2)",
                    "float[seq, 64]"),
    # seq may be 1, and integer division by 0 is undefined.
    "a quotient of what may be 0": (
        DIMS + "d = Sub (l1, second)\ne = Div (d, d)\na = Concat <axis = 0> (e, minus)\n"
        "y = Reshape (x, a)", "float[?, ?]"),
    "positions": (DIMS + "i = Range (zero, l, one)\ng = Gather (table, i)\n"
                  "y = Unsqueeze (g, first)", "float[1, seq, 8]"),
    "positions after the past": (
        "s = Shape <end = 1> (p)\nf = Squeeze (s)\nz = Shape (t)\ng = Gather (z, zero)\n"
        "e = Add (f, g)\ny = Range (f, e, one)", "int64[seq]"),
    "a mask": (DIMS + "a = Concat <axis = 0> (l1, l1)\nf = ConstantOfShape (a)\ng = Trilu (f)\n"
               "y = Unsqueeze (g, on_off)", "float[1, 1, seq, seq]"),
    "torch's expand": (
        DIMS + "a = Concat <axis = 0> (b1, minus, sixteen)\nn = Shape (a)\no = ConstantOfShape "
        "<value = int64[1] {1}> (n)\nv = Mul (o, minus)\ne = Equal (a, v)\n"
        "g = Where (e, o, a)\nf = Unsqueeze (t, first)\n"
        "h = Slice (f, first, sixteen, second_last)\n"
        "y = Expand (h, g)", "float[batch, seq, 16]"),
    "a table's rows": ("s = Shape <end = 1> (t)\ny = Slice (table, first, s)",
                       "float[min(512, seq), 8]"),
    "all but the first": ("y = Slice (t, second, last)", "float[max(0, seq - 1), 64]"),
    "half": ("y, z = Split <axis = 0, num_outputs = 2> (t)", "float[(seq + 1) // 2, 64]"),
    "half of the channels": ("d, y = Split <axis = -1, num_outputs = 2> (x)",
                             "float[batch, seq, 32]"),
    "strides": ("y = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (image, kernel)",
                "float[batch, 2, (h + 1) // 2, (w + 1) // 2]"),
    "the same strides twice": (
        "a = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (image)\n"
        "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a)",
        "float[batch, 3, h // 4, w // 4]"),
    "scales": ("y = Resize (image, , scales)", "float[batch, 3, 2*h, 2*w]"),
    "sizes": ("s = Shape (image)\nn = Slice (s, first, two_1)\nf = Slice (s, two_1, last)\n"
              "g = Cast <to = 1> (f)\ne = Constant <value = float {2.0}> ()\nm2 = Mul (g, e)\n"
              "i = Floor (m2)\nj = Cast <to = 7> (i)\nk2 = Concat <axis = 0> (n, j)\n"
              "y = Resize (image, , , k2)", "float[batch, 3, 2*h, 2*w]"),
    "repeats": (DIMS + "a = Concat <axis = 0> (b1, l1)\ny = Tile (nm, a)",
                "float[batch*n, m*seq]"),
    "torch's pads": (
        "a = Reshape (pads, halves)\nb = Slice (a, minus, lowest, first, minus)\n"
        "d = Transpose <perm = [1, 0]> (b)\ne = Reshape (d, minus)\nf = Cast <to = 7> (e)\n"
        "y = Pad (nm, f)", "float[n + 1, m + 1]"),
    "an unknown dimension": ("s = Shape <start = 1> (u)\na = Concat <axis = 0> (minus, s)\n"
                             "y = Reshape (u, a)", "float[?, seq]"),
    "the number of elements": ("s = Size (nm)\na = Unsqueeze (s, first)\ny = Reshape (nm, a)",
                               "float[m*n]"),
    "a reduced shape": ("s = Shape (nm)\np1 = ReduceProd <keepdims = 1> (s)\n"
                        "y = Reshape (nm, p1)", "float[m*n]"),
    "top": ("s = Shape <start = 1> (nm)\na = Min (s, four)\ny, i = TopK (nm, a)",
            "float[n, min(4, m)]"),
    "a call": (DIMS + "y = my.heads (x, b1, l1)", "float[batch, seq, 4, 16]"),
    "a branch that runs": (
        "s = Shape (t)\nd = Gather (s, one)\ne = Equal (d, one)\n"
        "y = If (e) <then_branch = a () => (v) { v = Squeeze (t, second) }, "
        "else_branch = o () => (f) { f = Identity (t) }>", "float[seq, 64]"),
    "branches that agree in part": (
        "y = If (c) <then_branch = a () => (v) { v = Concat <axis = 1> (t, t) }, "
        "else_branch = o () => (f) { f = Identity (t) }>", "float[seq, ?]"),
    "the results of a loop": (
        "s = Shape (x)\nn = Gather (s, zero)\ny = Loop <body = l (int64 i, bool g) => "
        "(bool h, v) { h = Identity (g)\n v = Relu (t) }> (n, on)", "float[batch, seq, 64]"),
    "what a loop changes": (
        "y, z = Loop <body = l (int64 i, bool g, a, d) => (bool h, e, f) { h = Identity (g)\n"
        " e = Concat <axis = 0> (a, t)\n f = Relu (d) }> (k, c, t, x)", "float[?, 64]"),
    "what a loop keeps": (
        "z, y = Loop <body = l (int64 i, bool g, a, d) => (bool h, e, f) { h = Identity (g)\n"
        " e = Concat <axis = 0> (a, t)\n f = Relu (d) }> (k, c, t, x)", "float[batch, seq, 64]"),
    "a scan": (
        "z, y = Scan <num_scan_inputs = 1, body = l (a, d) => (e, f) { e = Add (a, d)\n"
        " f = Concat <axis = 0> (d, d) }> (w, x)", "float[batch, 2*seq, 64]"),
    "a recurrent network": ("y = LSTM <hidden_size = 128> (steps, rw, rr)",
                            "float[seq, 1, 1, 128]"),
}  # fmt: skip
CONTRIB = {
    "ms.BiasGelu (x, bias)": "float[batch, seq, 64]",
    "ms.FusedMatMul <transB = 1> (p, t)": "float[past, seq]",
    "ms.FusedMatMul <transA = 1> (p, nm)": "float[64, m]",
    "ms.MatMulNBits <K = 64, N = 32, block_size = 32> (x, packed, bias)": "float[batch, seq, 32]",
    "ms.SkipLayerNormalization (x, x, bias)": "float[batch, seq, 64]",
    "ms.Other (x)": None,
}


@pytest.mark.parametrize("node", CONTRIB)
def test_shapes_of_onnxruntime_operators_are_inferred(node: str) -> None:
    source = text(
        f"r = {node.replace('ms.', 'com.microsoft.')}\ny = Relu (r)",
        inputs=f"{INPUTS}, float[64] bias, uint8[32, 2, 16] packed",
        outputs="y",
        opsets='21, "com.microsoft": 1',
    )
    assert types_of(source).get("y") == CONTRIB[node]


ATTENTION = {
    "Attention (q, k, k)": (
        "float[2, 4, seq, 8]", "float[2, 2, past, 8]", "float[2, 2, past, 8]",
        "float[2, 4, seq, past]"),
    "Attention (q, k, k, , old, old)": (
        "float[2, 4, seq, 8]", "float[2, 2, 2*past, 8]", "float[2, 2, 2*past, 8]",
        "float[2, 4, seq, 2*past]"),
    "Attention <q_num_heads = 4, kv_num_heads = 2> (q3, k3, v3)": (
        "float[2, seq, 32]", "float[2, 2, past, 4]", "float[2, 2, past, 8]",
        "float[2, 4, seq, past]"),
    "Attention <q_num_heads = 4, kv_num_heads = 2> (q3, k3, w3)": (
        "float[2, seq, 4*w]", "float[2, 2, past, 4]", "float[2, 2, past, w]",
        "float[2, 4, seq, past]"),
}  # fmt: skip


@pytest.mark.parametrize("node", ATTENTION)
def test_shapes_of_attention_have_symbols(node: str) -> None:
    """onnx computes with 0 in place of a symbol."""
    source = text(
        f"y, new_k, new_v, qk = {node}",
        inputs="float[2, 4, seq, 8] q, float[2, 2, past, 8] k, float[?, ?, past, ?] old, "
        "float[2, seq, 16] q3, float[2, past, 8] k3, float[2, past, 16] v3, "
        'float[2, past, "2*w"] w3',
        outputs="y",
        opsets="23",
    )
    found = types_of(source)
    wanted = dict(zip(("y", "new_k", "new_v", "qk"), ATTENTION[node], strict=True))
    assert {name: found[name].replace('"', "") for name in wanted} == wanted


HEADER = '<domain: "my", opset_import: ["": 21]>'
HEADS = (
    f"{HEADER}\nheads (x, b, l) => (y) {{\n  n = Constant <value = int64[2] {{4, 16}}> ()\n"
    "  a = Concat <axis = 0> (b, l, n)\n  y = Reshape (x, a)\n}\n"
)
MORE = """\
int64[1] second_last = {2}, int64[1] two_1 = {2}, int64[1] lowest = {-9223372036854775807},
float[1, 512, 128] rw = [0, ...], float[1, 512, 128] rr = [0, ...],
"""


def inferred(nodes: str) -> dict[str, str]:
    """Return the types of the values of a main graph."""
    source = text(
        nodes, inputs=INPUTS, outputs="y", values=VALUES + MORE, opsets='21, "my": 1', rest=HEADS
    )
    subject, found = run_rules(parse_model(Source(source, "m")))
    assert [finding for finding in found if finding.code.endswith("mismatch")] == []
    assert subject.main is not None
    return inferred_type_texts(subject)[subject.main.original.at]


@pytest.mark.parametrize("name", FOLLOWED)
def test_computed_shapes_are_followed(name: str) -> None:
    nodes, wanted = FOLLOWED[name]
    assert inferred(nodes)["y"].replace('"', "") == wanted


WRONG_IN_ONNX = {
    # node, opset: the output type; onnx infers the symbol or the numbers of the first input
    ("y = Slice (n, a, b)", 10): 'float["max(0, N - 1)"]',
    ("y = Slice (n, a, b)", 11): 'float["max(0, N - 1)"]',
    ("s = SequenceConstruct (x)\nt = Loop <body = l (int64 i, bool g, q) => (bool h, r) "
     "{ h = Identity (g)\n r = SequenceInsert (q, z) }> (k, c, s)\ny = SequenceAt (t, k)", 13):
        "float[?, ?]",
    ("s = SequenceConstruct (x)\nt = Loop <body = l (int64 i, bool g, q) => (bool h, r) "
     "{ h = Identity (g)\n r = SequenceInsert (q, x) }> (k, c, s)\ny = SequenceAt (t, k)", 13):
        "float[2, 3]",
    ("y = DFT (p, k)", 20): "float[?, ?, ?]",
    ("m = Constant <value_int = 4> ()\ny = DFT (p, m)", 20): "float[2, 4, 2]",
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_IN_ONNX)
def test_types_that_onnx_infers_wrongly_are_corrected(case: tuple[str, int]) -> None:
    source = text(
        case[0],
        inputs="float[N] n, float[2, N, 1] p, float[2, 3] x, float[N, 4] z, int64 k, bool c",
        values="int64[1] a = {1}, int64[1] b = {99999999999}",
        outputs="y",
        opsets=str(case[1]),
    )
    assert types_of(source)["y"] == WRONG_IN_ONNX[case]


def test_a_declared_name_that_looks_like_a_sum_is_that_sum() -> None:
    source = text(
        "y = Concat <axis = 0> (p, t)\nz = Add (y, m)",
        inputs='float[past, 64] p, float[seq, 64] t, float["past + seq", 64] m',
        outputs="z",
    )
    assert types_of(source)["z"] == 'float["past + seq", 64]'


def test_a_default_is_no_constant() -> None:
    source = text("y = Reshape (x, s)", inputs="float[4, 2] x, int64[2] s = {2, 4}", outputs="y")
    assert types_of(source)["y"] == "float[?, ?]"


def test_a_branch_that_never_runs_has_no_findings() -> None:
    nodes, _ = FOLLOWED["a branch that runs"]
    assert inferred(nodes)  # the other branch squeezes a dimension of 64


@pytest.mark.parametrize("given", ["k = 4", "k = 5", "k = int64 {4}", "k = [5]", "other = 0"])
def test_a_call_decides_which_branch_of_a_function_runs(given: str) -> None:
    constant = "value_ints: ints" if "[" in given else "value_int: int"
    constant = "value: tensor" if "{" in given else constant
    parts = "q, r, s, t = Split <num_outputs = 4> (n)"
    source = text(
        f"y = f.outer <{given}> (n)",
        inputs="int64[5] n",
        outputs="int64[?] y",
        opsets='21, "f": 1',
        rest=f"""
        <domain: "f", opset_import: [21, "f": 1]>
        inner <k, other = 1> (n) => (y) {{
          four = Constant <{constant} = @k> ()
          c = Equal (size, four)
          size = Size (n)
          y = If (c) <
            then_branch = a () => (q) {{ {parts} }}, else_branch = b () => (u) {{ u = Neg (n) }}
          >
        }}
        <domain: "f", opset_import: [21, "f": 1]>
        outer <k = 4, other = 1> (n) => (y) {{ y = f.inner <k: int = @k, other = 2> (n) }}
        """.replace("k: int =", f"k: {constant.partition(': ')[2]} ="),
    )
    found = [item.message for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    assert len(found) == ("5" in given), found


@pytest.mark.parametrize(
    ("constant", "found"),
    [
        ("s = c.Constant <value: tensor = @k> ()", []),
        ("r, s = c.Constant <value: tensor = @k> ()", []),
        ("float[3] s = c.Constant <value: tensor = @k> ()", ["Add"]),
        ("float[3] s = Constant <value: tensor = @none> ()", ["Add"]),
    ],
)
def test_unknown_constants_of_a_call_have_their_declared_shapes(
    constant: str, found: list[str]
) -> None:
    source = text(
        "y = f.f <k = float[3] {1, 2, 3}> (x)",
        inputs="float[4] x",
        opsets='21, "f": 1',
        rest=f"""
        <domain: "f", opset_import: [21, "c": 1]>
        f <k, none> (x) => (y) {{
          {constant}
          y = Add (x, s)
        }}
        """,
    )
    mismatches = [item for item in onnxtext.check(source) if item.code == "shape-mismatch"]
    assert [item.message.split("`")[1] for item in mismatches] == found


def test_elements_of_a_body_are_not_those_of_a_scan_with_a_batch() -> None:
    """In version 8, each output of `Scan` has a batch dimension that its body does not have."""
    source = text(
        "u, v = Scan <num_scan_inputs = 1, body = b (int64 s, float i) => (int64 t, float j) {\n"
        '  t = Size (w)\n  j = Identity (i)\n}> ("", n, x)\nr = Reshape (f, u)',
        inputs="int64[3] n, float[3, 4] x, float[125] f, float[5] w",
        outputs="float[5, 5, 5] r, float[3, 4] v",
        ir_version=3,
        opsets="8",
    )
    assert not onnxtext.check(source)


@pytest.mark.parametrize(
    ("element", "number"), [("int32", 65_536), ("float", 4_097), ("int64", 4_294_967_296)]
)
def test_products_that_the_element_type_may_not_hold_are_unknown(element: str, number: int) -> None:
    source = text(
        "p = Mul (n, n)\ns = Cast <to = 7> (p)\ny = ConstantOfShape (s)",
        outputs="float[?] y",
        values=f"{element}[1] n = {{{number}}}",
    )
    assert types_of(source)["y"] == "float[?]"


SIZES = {
    "x, x, x, , , , n": "`n` has 2 dimensions, but the operator needs 1",
    "x, x, longer": "the number of tokens of `x` is 8, but the number of tokens of `longer` is 9",
    "x, x, x, , x, longer": "the number of tokens of `x` is 8, but the number of tokens of",
    "x, longer, longer": "",
    "x, x, longer, , x, longer": "the number of tokens of `x` is 8, but the number of tokens of",
    "x, wide, x": "the head size of `wide` is 9, but the head size of `x` is 8",
    "x, x, wide": "",
    "x, x, two": "the number of heads of `x` is 4, but the number of heads of `two` is 2",
    "two, x, x": "the number of heads of `two` is 2, "
    "which is not a multiple of the number of heads of `x` (4)",
    "x, two, two": "",
    "long, long, long": "dimension 2 of `long` is 9, which is not a multiple of `q_num_heads` (4)",
    "x, one, one": "the batch size of `x` is 2, but the batch size of `one` is 1",
}
"""By inputs of `Attention`, the error; `""` if they fit."""


@pytest.mark.parametrize("inputs", SIZES)
def test_the_inputs_of_attention_have_common_sizes(inputs: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    heads = "<q_num_heads = 4, kv_num_heads = 4> " if inputs.startswith("long,") else ""
    source = text(
        f"y = Attention {heads}({inputs})",
        inputs="float[2, 4, 8, 8] x, float[2, 4, 9, 8] longer, float[2, 4, 8, 9] wide, "
        "float[2, 2, 8, 8] two, float[1, 4, 8, 8] one, int64[2, 1] n, "
        "float[2, 8, 9] long",
        outputs=f"float[?, ?, {'' if heads else '?, '}?] y",
        opsets="24",
    )
    found = [item.message for item in onnxtext.check(source) if item.severity == "error"]
    assert bool(found) == bool(SIZES[inputs])
    assert all(SIZES[inputs] in message for message in found[:1])
    verdict = judged(onnx.load_from_string(onnxtext.to_binary(source)), ((1,),))
    assert (verdict.state in ("load", "run")) == bool(found), verdict


@pytest.mark.parametrize(
    ("heads", "wrong"),
    [
        ("q_num_heads = 4, kv_num_heads = 2", []),
        ("q_num_heads = 0, kv_num_heads = 0", []),
        ("kv_num_heads = 4", ["dimension 1 of `two` is 2, but `kv_num_heads` is 4"] * 2),
        ("q_num_heads = 2", ["dimension 1 of `x` is 4, but `q_num_heads` is 2"]),
    ],
)
def test_numbers_of_heads_that_differ_from_a_dimension_are_a_warning(
    heads: str, wrong: list[str]
) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    source = text(
        f"y = Attention <{heads}> (x, two, two)",
        inputs="float[2, 4, 8, 8] x, float[2, 2, 8, 8] two",
        outputs="float[?, ?, ?, ?] y",
        opsets="24",
    )
    found = onnxtext.check(source)
    assert [item.message.partition("fit: ")[2] for item in found] == wrong
    assert all(item.severity == "warning" for item in found)
    verdict = judged(onnx.load_from_string(onnxtext.to_binary(source)), ((1,),))
    assert (verdict.state in ("load", "run")) == bool(wrong), verdict


UNSEEN = {
    "v = NegativeLogLikelihoodLoss (h, t)": "of `h` is 2, but dimension 1 of `t` is 7",
    "v = NegativeLogLikelihoodLoss (h, l, w)": "of `w` is 6, but the number of classes is 5",
    "z, float[?, ?] v = Loop <body = l (int64 i, bool g, p) => (bool o, q, r) {\n"
    " o = Identity (g)\n q = Neg (p)\n r = Abs (p) }> (k, c, h)": "computes `float[?, 3, 5, 2]`",
}
"""Nodes with an error that onnx misses in a whole model, and a part of our message.

There, onnx does not know the shape of `h`.
"""


@pytest.mark.parametrize("node", UNSEEN)
def test_errors_that_depend_on_computed_shapes_are_found(node: str) -> None:
    source = text(
        f"s = Shape <end = 2> (x)\na = Concat <axis = 0> (s, minus)\nh = Reshape (x, a)\n"
        f"y = Relu (x)\n{node}",
        inputs="float[3, 5, 2] x, int64[3, 7] t, int64[3, 2] l, float[6] w, int64 k, bool c",
        outputs="float[3, 5, 2] y",
        values="int64[1] minus = {-1}",
    )
    (item,) = [i for i in onnxtext.check(source) if i.severity in ("error", "warning")]
    assert item.code == "shape-mismatch"
    assert UNSEEN[node] in item.message
    # Runtimes accept wrong declared shapes that onnx does not report.
    assert item.severity == ("warning" if "declared" in item.message else "error")


def test_large_models_are_not_inferred_node_by_node_for_these_operators() -> None:
    """This would double the time of the check."""
    loop = (
        "y = Loop <body = l (int64 i, bool g, p) => (bool o, q) { o = Identity (g)\n"
        " q = Neg (p) }> (k, c, x0)"
    )
    chain = "\n".join([f"x{n} = Relu (x{n + 1})" for n in reversed(range(5_000))])
    source = text(
        f"{chain}\n{loop}", inputs="float[3] x5000, int64 k, bool c", outputs="float[3] y"
    )
    subject, found = run_rules(parse_model(Source(source, "m")))
    assert not found
    assert "ShapeInference" not in subject.memo


def nested_loops(depth: int) -> str:
    """Return nested loops; the innermost one doubles a value."""
    nodes = f"v{depth} = Concat <axis = 0> (c{depth - 1}, c{depth - 1})"
    for level in reversed(range(depth)):
        given = f"c{level - 1}" if level else "x"
        nodes = (
            f"v{level} = Loop <body = b{level} (int64 i{level}, bool g{level}, c{level}) => "
            f"(bool h{level}, w{level}) {{ h{level} = Identity (g{level})\n{nodes}\n"
            f"w{level} = Identity (v{level + 1}) }}> (t, c, {given})"
        )
    return text(f"{nodes}\ny = Relu (v0)", inputs="float[N, 4] x, int64 t, bool c", outputs="y")


def test_nested_loops_are_inferred_in_linear_time() -> None:
    """Inference repeats the body of a loop until its types are stable, but not the loops in it."""

    assert types_of(nested_loops(4))["y"] == "float[?, 4]"
    assert types_of(nested_loops(12))["v0"].startswith("float[")
    eight, twelve = (count_calls(partial(types_of, nested_loops(depth))) for depth in (8, 12))
    assert twelve < 3 * eight


def test_negative_sizes_of_invalid_models_are_unknown() -> None:
    nodes = (
        "k = Shape (x)\ns = Sub (k, nine)\nz = ConstantOfShape (s)\n"
        "c = Concat <axis = 0> (z, x)\ny = Slice (c, zero, one)"
    )
    values = "int64[1] nine = {9}, int64[1] zero = {0}, int64[1] one = {1}"
    assert onnxtext.check(text(nodes, outputs="float[] y", values=values))


def test_an_empty_list_of_strings_is_not_a_list_of_integers() -> None:
    assert constant_tensor(Attribute("value_strings", AttributeType.STRINGS, ())) is None
    integers = constant_tensor(Attribute("value_ints", AttributeType.INTS, ()))
    assert integers == (TensorType("int64", (0,)), RawData(b""))
