# SPDX-License-Identifier: Apache-2.0
"""Requirements of operators on shapes, compared with onnxruntime for drawn nodes and mutants."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import onnxtext
from benchmarks import mutations, shapes
from benchmarks.judge import judged
from onnxtext import Diagnostic
from tests.checker.models import codes, text
from tests.checker.operators.drawn_nodes import DRAWERS, drawn_node
from tests.corpus import SHARED, onnx_directory, wheel_models
from tests.seeds import draws, fresh_seed, seeded

VALUES = """\
float[8, 3, 3, 3] kernel = [0, ...], float[9] nine = [0, ...], float[5, 4] rows = [0, ...],
float[2, 2] square = [0, ...], int64[2] five_four = {5, 4}, int64[2] five_any = {5, -1},
int64[1, 2] nested = {4, 6}, int64[1] minus_5 = {-5}, int64[1] four = {4},
int64[3] three = {1, 2, 3},
int64[2] two_three = {2, 3}, float[1, 16, 6] w = [0, ...], float[1, 16, 4] r = [0, ...],
int64[2] far = {0, 7}, int64[5] pads = {0, 1, 0, 1, 0}, int64[1] seven = {7},
float[1] scale = [0, ...],
"""  # fmt: skip
INPUTS = "float[4, 6] x, float[1, 4, 8, 8] image, float[5, 2, 7] steps, float[B, 6] b"
WRONG = {
    # Consequences of computed shapes; onnx or onnxtext words the message.
    "s = Shape (x)\nt = Reshape (x, s)\ny = MatMul (t, rows)": "",
    "s = Shape (x)\nt = Reshape (x, s)\ny = Reshape (t, five_any)": "",
    "s = Shape (x)\nt = Reshape (x, s)\ny = Expand (t, two_three)": "",
    "s = Shape (x)\nt = Reshape (x, s)\ny = Tile (t, three)": "",
    "s = Shape (x)\nt = Reshape (x, s)\ny = Pad (t, pads)": "",
    "s = Shape (x)\nt = Reshape (x, s)\ny = Conv (t, kernel)": "",
    "y = Gemm <transB = 1> (x, x, square)": "dimension -1 of `square` is 2",
    "y = Conv (image, kernel)": "dimension 1 of `image` is 4, but dimension 1 of `kernel` times",
    "c = Slice (image, zero, three1, one)\ny = Conv (c, kernel, nine)": "the size of `nine` is 9",
    "y = Reshape (x, five_four)": "`x` is 24, but the number of elements of the new shape is 20",
    "s = Shape (x)\nt = Concat <axis = 0> (s, four)\ny = Reshape (x, t)": "is 96",
    "s = Shape (x)\nt = Concat <axis = 0> (s, minus_5)\ny = Reshape (x, t)":
        "the shape is [4, 6, -5]; sizes must be at least -1",
    "s = Shape (x)\nt = Concat <axis = 0> (s, two_minus_1)\ny = Reshape (x, t)":
        "the shape is [4, 6, -1, -1]; only one size may be -1",
    "y = Transpose <perm = [0]> (b)": "[0], which is not a permutation of the 2 dimensions of `b`",
    "y = Reshape (x, nested)": "`nested` has 2 dimensions, but the operator needs 1",
    "y = Gather (x, far)": "the index 7 is out of range: the dimension of `x` is 4",
    "s = Size (x)\nt = Unsqueeze (s, zero)\ny, i = TopK (x, t)": "`k` is 24, but dimension 1 of",
    "y, i = TopK (x, minus_5)": "`k` is -5; it must not be negative",
    "y, i = TopK (b, minus_5)": "`k` is -5; it must not be negative",
    "y = LSTM <hidden_size = 4> (steps, w, r)": "2 of `w` is 6, but the required size is 7",
}  # fmt: skip
MORE = (
    "int64[1] zero = {0}, int64[1] three1 = {3}, int64[1] one = {1}, int64[2] to_six = {6, -1},\n"
    "int64[2] two_minus_1 = {-1, -1},\n"
)


def mismatches(source: str) -> list[Diagnostic]:
    return [item for item in onnxtext.check(source) if item.code == "shape-mismatch"]


@pytest.mark.parametrize("nodes", WRONG)
def test_violated_shape_requirements_are_found(nodes: str) -> None:
    source = text(nodes, inputs=INPUTS, outputs="float[] y", values=VALUES + MORE)
    finding, *_ = mismatches(source)
    assert finding.severity == "error"
    assert WRONG[nodes] in finding.message
    operator = nodes.rpartition("\n")[2].partition("= ")[2].partition(" ")[0]
    marked = source[slice(*finding.labels[0].span)]
    assert marked == ("perm" if "perm" in nodes else operator)
    binary = next(item for item in onnxtext.check(onnxtext.to_binary(source))
                  if item.code == "shape-mismatch")  # fmt: skip
    assert binary.message == finding.message


def test_branches_and_other_contradictions_are_warnings() -> None:
    wrong = "y = If (c) <then_branch = t () => (float[] a) { a = Reshape (x, five_four) }, " \
        "else_branch = e () => (float[] d) { d = Relu (x) }>"  # fmt: skip
    source = text(wrong, inputs=f"{INPUTS}, bool c", outputs="float[] y", values=VALUES)
    assert [item.severity for item in mismatches(source)] == ["warning"]
    declared = text("y = Reshape (x, t)", inputs=INPUTS, outputs="float[4, 5] y",
                    values="int64[2] t = {-1, 6},")  # fmt: skip
    declared = declared.replace("y = Reshape (x, t)", "s = Shape (x)\n  y = Reshape (x, s)")
    (finding,) = mismatches(declared)
    assert finding.severity == "warning"
    assert "`y` is declared `[4, 5]`, but `Reshape` computes `[4, 6]`" in finding.message


def test_unknown_sizes_of_converters_are_no_contradictions() -> None:
    source = text("s = Shape (x)\ny = Reshape (x, s)", inputs=INPUTS, outputs="float[0, 6] y")
    assert codes(source) == set()


# ---- Drawn nodes --------------------------------------------------------------------------------


def _seen(model: ModelProto) -> list[str]:
    """Return the findings about shapes."""
    found = [item for item in onnxtext.check(model) if item.severity in ("error", "warning")]
    return [item.message for item in found if item.code != "graph-output-untyped"]


def sweep(count: int) -> None:
    """Compare drawn nodes with onnxruntime: no false alarm, no wrong shape, few missed ones."""
    choose = seeded()
    missed, refused = 0, 0
    operators = sorted(DRAWERS)
    choose.shuffle(operators)
    for index in range(count):
        name = operators[index % len(operators)]
        model = drawn_node(choose, name)
        seen = _seen(model)
        verdict = judged(model, ((2,), (3,)), shapes=True)
        symbolic = any(dim.dim_param for dim in model.graph.input[0].type.tensor_type.shape.dim)
        what = index, onnx.printer.to_text(model.graph)
        if verdict.state in ("load", "run") and not symbolic:
            refused += 1
            missed += not seen
        elif verdict.state == "fine":
            assert not seen, what
            types = shapes.ours(model)
            for symbols, computed in zip(verdict.symbols, verdict.shapes, strict=True):
                for output, (_, shape) in computed.items():
                    known = types.get(output, shape)
                    assert shapes.fits(known, shape, symbols), (what, known, shape)
    assert missed <= 3 + refused // 20, (missed, refused)


@pytest.mark.thorough
def test_findings_of_drawn_nodes_agree_with_onnxruntime() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    sweep(draws(240))  # about 45 of 240 are refused, 1 in 500 of them missed


# ---- Mutants ------------------------------------------------------------------------------------


def judge_mutants(models: list[mutations.Base], count: int, least: float) -> None:
    """Draw mutants: most rejected mutants have findings; few accepted mutants do.

    The three that are always allowed are for small samples: the limits are then exceeded by chance
    for less than 1 in 100,000 seeds.
    """
    seed = fresh_seed()
    result = list(mutations.mutants(models, count, seed, ["onnxtext"]))
    refused = [one for one in result if one.state in ("load", "run")]
    found = [mutant for mutant in refused if mutant.new["onnxtext"]]
    assert len(found) >= least * len(refused) - 3, (seed, len(found), len(refused))
    alarms = [one for one in result if one.state == "fine" and one.new["onnxtext"]]
    assert len(alarms) <= 3 + count // 100, (
        seed,
        [(mutant.base.name, mutant.what) for mutant in alarms],
    )


@pytest.mark.thorough
def test_mutants_that_onnxruntime_rejects_have_findings() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    root = onnx_directory()
    files = [root / file for file in wheel_models() if (root / file).stat().st_size < 20_000]
    models = list(mutations.bases(files[:: max(1, len(files) // 8)]))
    judge_mutants(models, draws(100), 0.93)  # about 60 of 100 are refused, 1 in 170 of them missed


@pytest.mark.slow
@pytest.mark.data
def test_findings_of_mutated_real_models_agree_with_onnxruntime() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    assert SHARED is not None
    files = [*mutations.files(SHARED / "exports"), *mutations.files(SHARED / "models")]
    judge_mutants(list(mutations.bases(files)), 600, 0.9)


# ---- Operators of ai.onnx.ml --------------------------------------------------------------------


def _classifier(labels: dict[str, Any], kind: int) -> ModelProto:
    nodes: dict[str, Any] = {
        "treeids": [0, 0, 0], "nodeids": [0, 1, 2], "featureids": [0, 0, 0],
        "modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "truenodeids": [1, 0, 0],
        "falsenodeids": [2, 0, 0], "values": [0.5, 0.0, 0.0],
    }  # fmt: skip
    leaves: dict[str, Any] = {
        "treeids": [0, 0],
        "nodeids": [1, 2],
        "ids": [0, 1],
        "weights": [1.0, 1.0],
    }
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml",
        **{f"nodes_{name}": value for name, value in nodes.items()},
        **{f"class_{name}": value for name, value in leaves.items()}, **labels,
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("label", kind, ["N"]),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 2])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [({"classlabels_strings": ["a", "b"]}, TensorProto.STRING),
     ({"classlabels_int64s": [0, 1]}, TensorProto.INT64)],
)  # fmt: skip
def test_labels_have_the_type_of_the_attribute(labels: dict[str, Any], kind: int) -> None:
    model = _classifier(labels, kind)
    assert onnxtext.check(model) == []
    assert shapes.ours(model) == {"x": ("N", 4), "label": ("N",), "scores": ("N", 2)}
    other = TensorProto.INT64 if kind == TensorProto.STRING else TensorProto.STRING
    assert codes(_classifier(labels, other)) == {"type-mismatch"}


def test_the_lists_of_a_tree_have_one_length() -> None:
    model = _classifier({"classlabels_int64s": [0, 1]}, TensorProto.INT64)
    for attribute in model.graph.node[0].attribute:
        if attribute.name == "nodes_truenodeids":
            del attribute.ints[-1:]
    (finding,) = onnxtext.check(model)
    assert "`nodes_truenodeids` has 2 entries, but `nodes_treeids` has 3" in finding.message


def test_pooling_ignores_windows_that_start_in_the_pads() -> None:
    weights = numpy_helper.from_array(np.zeros((1, 1, 3), np.float32), "x")
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[3], ceil_mode=1)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [], [output], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    assert shapes.ours(model)["y"] == (1, 1, 1)


AS_COMPUTED = {
    # The window is larger than the image by less than the stride.
    "p = MaxPool <kernel_shape = [2], strides = [2]> (dot)\ny = Concat <axis = 2> (p, line)":
        "1, 1, 6",
    # A start before the first element is clamped to it.
    "p = Slice (row, minus_5, minus_5, two, minus_1)\ny = Concat <axis = 2> (p, line)": "1, 1, 6",
    # onnxruntime takes all elements, onnx none: the specification does not define the largest end.
    "e = Add (large, one)\np = Slice (line, four, e, two, minus_1)\n"
    "y = Concat <axis = 2> (p, line)": "1, 1, 10",
    # In the specification, a scalar has no rows; in onnxruntime, it has one.
    "i = NonZero (scalar)\nj = Cast <to = 1> (i)\ny = Concat <axis = 0> (j, rows)": "3, K",
    # In onnxruntime, N may be 1.
    "y = PRelu (b, slope)\nz = Squeeze (b, zero)": "4",
}  # fmt: skip
"""By the nodes that compute `y`, the shape of `y` in a runtime."""


@pytest.mark.parametrize("nodes", AS_COMPUTED)
def test_shapes_that_runtimes_compute_have_no_findings(nodes: str) -> None:
    source = text(
        nodes,
        inputs="float[1, 1, 1] dot, float[1, 1, 3] row, float[1, 1, 5] line, float scalar, "
        "float[3, K] rows, float[N] b",
        outputs=f"float[{AS_COMPUTED[nodes]}] y",
        values="int64[1] minus_5 = {-5}, int64[1] minus_1 = {-1}, int64[1] zero = {0},\n"
        "int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}, float[4] slope = [0, ...],\n"
        "int64[1] large = {2147483646},\n",
    )
    assert {item.code for item in onnxtext.check(source)} <= {"dim-forced", "value-unused"}
