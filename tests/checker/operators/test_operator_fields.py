# SPDX-License-Identifier: Apache-2.0
"""Requirements of operators on scales, zero points, lists in attributes and optional inputs."""

from __future__ import annotations

import re

import onnx
import pytest

import onnxtext
from benchmarks import shapes
from benchmarks.judge import judged
from onnxtext import Diagnostic
from tests.checker.models import problems, text
from tests.seeds import sampled

TREE = {
    "nodes_treeids": "[0, 0, 0]", "nodes_nodeids": "[0, 1, 2]", "nodes_featureids": "[1, 0, 0]",
    "nodes_modes": '["BRANCH_LEQ", "LEAF", "LEAF"]', "nodes_truenodeids": "[1, 0, 0]",
    "nodes_falsenodeids": "[2, 0, 0]", "nodes_values": "[0.5, 0.0, 0.0]",
    "target_treeids": "[0, 0]", "target_nodeids": "[1, 2]", "target_ids": "[0, 0]",
    "target_weights": "[1.0, 2.0]", "n_targets": "1",
}  # fmt: skip
VALUES = """\
float[0] no_scales = {}, float[4] scales = {1, 1, 2, 2}, int64[4] sizes = {1, 1, 8, 8},
int64[0] none = {}, float[0] roi = {}, uint8[5, 3, 2, 2] kernel = [1, ...], float one = {1},
float[1] one1 = {1}, float[2] two = {1, 2}, float[5] five = [1, ...], float[1, 1] nested = {1},
float[3] three = [1, ...], uint8 z = {1}, uint8[1] z1 = {1}, uint8[5] z5 = [1, ...],
uint8[3] z3 = [1, ...], int8 small = {1}, float[1, 1, 3] w = [1, ...],
float[2, 3] slope = [1, ...], float[1, 4] lines = [1, ...], int64[1, 2] far = {3, 0},
int64[1, 2] near = {-2, 2}, float[1] u = {1}, int64[2, 3] low = {0, -1, 0, -2, 0, -3},
int64[2, 3] low3 = {0, -1, 0, -2, 0, 1}, int64[4] pads = {2, 0, 0, 0}, int64[4] cut = {-2, 0, 1, 0},
int64[4] pads1 = {1, 2, 1, 0}, int64[2] negative = {-1, 3},
int64[1] first = {0}, float[1, 1, 1] cell = {1}, int64 size = {3},
int64[1] near2 = {2}, int64[4] sizes5 = {1, 5, 8, 8}, float[9] window = [1, ...], int64 nine = {9},
float[8] window8 = [1, ...], int64 eight = {8},
"""
INPUTS = "float[1, 1, 4, 4] image, float[2, 3] x, uint8[1, 3, 4, 4] q, float[1, 1, 4] line, " \
    "uint8[2, 3] a, uint8[3, 4] b, float[1, 3] row, float[5, 4, 2] three_axes, " \
    "int64[1, 1, 4, 4] image_indices, float[1, 8, 1] signal"  # fmt: skip


def tree(**changed: str | None) -> str:
    """Return a tree ensemble with some fields replaced; None removes a field."""
    fields = ", ".join(f"{key} = {value}" for key, value in {**TREE, **changed}.items() if value)
    return f"y = ai.onnx.ml.TreeEnsembleRegressor <{fields}> (x)"


def classifier(*fields: str) -> str:
    return f"l, y = ai.onnx.ml.LinearClassifier <{', '.join(fields)}> (x)"


def labels(*fields: str) -> str:
    return f"y = ai.onnx.ml.ZipMap <{', '.join(fields)}> (x)"


SIX, TWO = "coefficients = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", "intercepts = [1.0, 2.0]"
SUPPORTED = (
    "l, y = ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1], vectors_per_class = {}, "
    "coefficients = [1.0, -1.0], support_vectors = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], rho = [0.5], "
    'kernel_type = "LINEAR", kernel_params = [0.5, 0.0, 3.0]> (x)'
)
QUANTIZED = "y = QLinearConv (q, {}, {}, kernel, {}, {}, one, z)"
PRODUCT = "y = QLinearMatMul (a, {}, z, b, {}, z, one, z)"
ADDED = "y = com.microsoft.QLinearAdd (a, {}, z, a, one, z, one, z)"

ERRORS = {
    "y = ReverseSequence <batch_axis = 2> (image, first)": "one must be 0, the other 1",
    "y = ReverseSequence <batch_axis = 0> (image, first)": "one must be 0, the other 1",
    'y = RNN <hidden_size = 1, activations = ["Tanh", "Tanh", "Tanh"]> (line, line, cell)':
        "`activations` has 3 entries, but the operator needs 1",
    "y = Resize (image, roi, no_scales)": "Either `sizes` or `scales` must be provided",
    "y = Resize (image, roi, no_scales, none)": "Either `sizes` or `scales` must be provided",
    "y = Resize (image, roi, scales, sizes)": "Either `sizes` or `scales` must be provided",
    "y = QuantizeLinear (image, nested)": "has 2 dimensions, but the operator needs 0 or 1",
    "y = QuantizeLinear (x, three, z)": "the size of `three` is 3, but the size of `z` is 1",
    "y = DequantizeLinear (a, one, z3)": "the size of `one` is 1, but the size of `z3` is 3",
    "y = DequantizeLinear (a, two)": "the size of `two` is 2, but dimension 1 of `a` is 3",
    QUANTIZED.format("five", "z", "one", "z"): "`five` must be one number",
    QUANTIZED.format("one", "z3", "one", "z"): "`z3` must be one number",
    QUANTIZED.format("one", "z", "three", "z"): "`three` is 3, but dimension 0 of `kernel` is 5",
    QUANTIZED.format("one", "z", "one", "z3"): "`z3` is 3, but dimension 0 of `kernel` is 5",
    QUANTIZED.format("nested", "z", "one", "z"): "`nested` must be one number",
    PRODUCT.format("three", "one"): "`three` is 3, but dimension -2 of `a` is 2",
    PRODUCT.format("one", "three"): "`three` is 3, but dimension -1 of `b` is 4",
    "y = MatMulInteger (a, b, z3)": "`z3` is 3, but dimension -2 of `a` is 2",
    "y = MatMulInteger (a, b, z, z3)": "`z3` is 3, but dimension -1 of `b` is 4",
    "y = ConvInteger (q, kernel, z3)": "`z3` must be one number",
    "y = ConvTranspose <output_padding = [1]> (line, w)": "not less than the stride 1",
    "y = ScatterND (x, far, u)": "the index 3 is out of range: the dimension of `x` is 2",
    "y = GatherND (x, far)": "the index 3 is out of range: the dimension of `x` is 2",
    "y = GatherElements (x, low)": "the index -3 is out of range: the dimension of `x` is 2",
    "y = ScatterElements <axis = 1> (row, low, x)":
        "dimension 0 of `low` is 2, but dimension 0 of `row` is only 1",
    "y = Expand (row, negative)": "the shape has the negative dimension -1",
    "n = Sub (first, near2)\ny = ConstantOfShape (n)": "the shape has the negative dimension -2",
    "n = Sub (negative, near2)\ny = Tile (x, n)": "the number of repeats -3 is negative",
    "y = MaxUnpool <kernel_shape = [2, 2]> (image, image_indices, sizes5)":
        "dimension 1 of the output is 5, but dimension 1 of `image` is 1",
    "y = STFT (signal, size, window)":
        "the size of `window` is 9, but dimension 1 of `signal` is only 8",
    'y = STFT (signal, size, "", nine)': "`nine` is 9, but dimension 1 of `signal` is only 8",
    tree(nodes_treeids=None): "`nodes_treeids` is missing",
    tree(nodes_values=None): "`nodes_values` is missing",
    tree(target_weights=None): "`target_weights` is missing",
    tree(target_ids="[0, 1]"): "`target_ids` has the index 1, which must be below `n_targets` (1)",
    tree(target_ids="[0, -1]"): "`target_ids` has the negative index -1",
    tree(nodes_featureids="[3, 0, 0]"): "`nodes_featureids` has the index 3, but `x` has only 3",
    tree(nodes_featureids="[-1, 0, 0]"): "`nodes_featureids` has the negative index -1",
    tree(nodes_truenodeids="[3, 0, 0]"): "`nodes_truenodeids` refers to node 3 of tree 0",
    'y = Conv <auto_pad = "VALID", pads = [0, 0]> (line, w)': "`auto_pad` and `pads` are both",
    'y = ConvInteger <auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1]> (q, kernel)': "are both given",
    tree(nodes_falsenodeids="[0, 0, 0]"): "`nodes_falsenodeids` has a node that is its own child",
    tree(target_nodeids="[1, 3]"): "`target_nodeids` refers to node 3 of tree 0, which does not",
    tree(nodes_nodeids="[0, 1, 1]"): "tree 0 has several nodes with the ID 1",
    tree(nodes_modes='["BRANCH_LEQ", "LEAF", "LEEF"]'): "`nodes_modes` has the unknown mode `LEEF`",
    classifier(SIX, "intercepts = [1.0, 2.0, 3.0]", "classlabels_ints = [0, 1, 2]"):
        "`coefficients` has 6 entries, fewer than 3 classes times 3 features",
    classifier("coefficients = [1.0, 2.0, 3.0]", TWO, "classlabels_ints = [0, 1]"):
        "`coefficients` has 3 entries, not a multiple of the 2 `intercepts`",
    classifier(SIX, TWO, "classlabels_ints = [0]"): "the number of class labels is 1, but there",
    labels("classlabels_int64s = [0, 1]"): "the length of `classlabels_int64s` is 2",
    labels("classlabels_int64s = [0, 1, 2]", 'classlabels_strings = ["a", "b", "c"]'):
        "exactly one of `classlabels_strings` and `classlabels_int64s` must be given",
    'y = ai.onnx.ml.LabelEncoder <keys_floats = [1.0], values_int64s = [1, 2]> (x)':
        "`values_int64s` has 2 entries, but `keys_floats` has 1",
}  # fmt: skip
"""Nodes that the specification forbids, and a part of the error message."""
WARNINGS = {
    ADDED.format("one1"): "`one1` has 1 dimension, but onnxruntime needs 0",
    'y = Pad <mode = "reflect"> (x, pads)': "dimension 0 of `x` is padded by 2, but onnxruntime",
    'y = Pad <mode = "edge"> (x, cut)': "dimension 0 of `x` has no elements to pad with",
    "y, s1, s2, s3 = Split <axis = 0, num_outputs = 4> (x)": "cannot split into 4 parts",
    "y, s1 = Split (x, negative)": "`negative` has the negative size -1",
    "y = Resize (image, roi, scales, none)": "onnxruntime rejects `scales` together",
    "y = ConvTranspose <output_shape = [9]> (line, w)": "entry 0 of `output_shape` is 9, but",
    "y = ConvTranspose <output_padding = [1], dilations = [2]> (line, w)": "entry 0 of",
    "y = ai.onnx.ml.Scaler <offset = [1.0], scale = [1.0, 2.0, 3.0]> (x)": "but `scale` has 3",
    classifier(
        "coefficients = [1.0, 2.0, 3.0]", "intercepts = [1.0]", "classlabels_ints = [0, 1, 2]"
    ): "there are 3 class labels, but `intercepts` has one",
    "y = Pad (x, pads1, two)": "`two` must have one element",
    "y = GlobalAveragePool (x)": "`x` has 2 dimensions, but onnxruntime needs 3 or more",
    "y = GlobalLpPool (x)": "`x` has 2 dimensions, but onnxruntime needs 3 or more",
    "y = InstanceNormalization (x, three, three)": "`x` has 2 dimensions, but onnxruntime needs",
    'y = ai.onnx.ml.SVMRegressor <coefficients = [1.0, 1.0, 1.0], kernel_type = "LINEAR", '
    "n_supports = 0, rho = [0.0]> (x)": "`kernel_params` is missing or empty; onnxruntime needs it",
    tree(n_targets=None): "`n_targets` is missing or not positive; onnxruntime needs it",
    classifier(SIX, "classlabels_ints = [0, 1]"): "`intercepts` is missing or empty",
    classifier(SIX, TWO): "the number of class labels is 0, but there are 2",
    "y = ai.onnx.ml.LinearRegressor <targets = 1> (x)": "`coefficients` is missing or empty",
    SUPPORTED.format(
        "[1, 1, 1]"
    ): "`vectors_per_class` has 3 entries, but the number of class labels is 2",
}
"""Nodes that onnxruntime refuses, although the specification does not forbid them."""
DOUBTFUL = {
    "y = PRelu (row, slope)": "the slope `slope` cannot be broadcast to the shape of `row`",
    "y = Expand (x, size)": "`size` has 0 dimensions, but the operator needs 1",
    "y = ConstantOfShape (far)": "`far` has 2 dimensions, but the operator needs 1",
    'y = AveragePool <auto_pad = "VALID", kernel_shape = [2], pads = [0, 1]> (line)': "only one",
    "y = Squeeze (row, none)": "`axes` is empty, but `row` has dimensions of size 1",
    tree(nodes_hitrates="[1.0]"): "`nodes_hitrates` has 1 entry, but `nodes_treeids` has 3",
    tree(nodes_missing_value_tracks_true="[0, 0, 0, 0]"): "has 4 entries, but `nodes_treeids`",
}
"""Nodes on which onnxruntime and the specification disagree; onnxruntime runs them."""
FINE = (
    "y = ai.onnx.ml.Scaler <offset = [0.5, 0, 0, 0], scale = [2.0, 1, 1, 1]> (three_axes)",
    "y = Resize (image, roi, scales)",
    "y = Resize (image, roi, no_scales, sizes)",
    'y = Resize (image, "", "", sizes)',
    "y = QuantizeLinear (x, three, z3)", "y = QuantizeLinear (x, one1, z)",
    "y = DequantizeLinear (a, one, z1)", "y = DequantizeLinear (a, three)",
    QUANTIZED.format("one1", "z1", "five", "z5"), QUANTIZED.format("one", "z", "one1", "z5"),
    PRODUCT.format("one1", "lines"), PRODUCT.format("one", "one"),
    "y = MatMulInteger (a, b)", "y = MatMulInteger (a, b, z1, z)", "y = ConvInteger (q, kernel)",
    ADDED.format("one"),
    "y = ConvTranspose <output_padding = [1], strides = [2]> (line, w)",
    "y = ConvTranspose <output_shape = [6]> (line, w)",
    'y = Conv <auto_pad = "NOTSET", pads = [1, 1]> (line, w)',
    'y = Conv <auto_pad = "SAME_LOWER"> (line, w)',
    'y = MaxPool <auto_pad = "VALID", kernel_shape = [2], pads = [0, 0]> (line)',
    "y = Concat <axis: int> (three, three)",
    "y = ConvTranspose <output_shape = [10], strides = [2]> (line, w)",
    "n = Sub (near2, near2)\ny = ConstantOfShape (n)", "y = STFT (signal, size, window8)",
    'y = STFT (signal, size, "", eight)', "y, s1, s2 = Split <num_outputs = 3, axis = 1> (x)",
    "y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (image, image_indices, sizes)",
    "y = PRelu (x, slope)", "y = PRelu (x, three)", "y = Squeeze (x, none)",
    "y = ScatterND (x, near, u)", "y = GatherND (x, near)", "y = GatherElements (x, low3)",
    "y = GatherElements <axis = 1> (x, low)",
    'y = Pad <mode = "reflect"> (x, pads1)', 'y = Pad <mode = "edge"> (x, pads)',
    'y = Pad <mode = "wrap"> (x, pads)', "y = Pad (x, cut)", "y = Pad (x, pads1, nested)",
    tree(), tree(n_targets="2", target_ids="[1, 0]"), tree(nodes_featureids="[2, 0, 0]"),
    tree(nodes_featureids="[1, 7, 0]"), tree(nodes_modes='["LEAF", "LEAF", "LEAF"]'),
    SUPPORTED.format("[1, 1]"),
    tree(target_nodeids="[1, 1]"), tree(target_nodeids="[0, 1]"),
    classifier(SIX, TWO, "classlabels_ints = [0, 1]"),
    classifier("coefficients = [1.0, 2.0, 3.0]", "intercepts = [1.0]",
               "classlabels_ints = [0, 1]"),
    labels("classlabels_int64s = [0, 1, 2]"), labels('classlabels_strings = ["a", "b", "c"]'),
    "y = ai.onnx.ml.LabelEncoder <keys_floats = [1.0, 2.0], values_int64s = [1, 2]> (x)",
)  # fmt: skip
"""Nodes that are similar to the others, and right."""


def test_keepdims_other_than_1_removes_dimensions() -> None:
    for keepdims in (0, 1, 2):
        kept = "1, " if keepdims == 1 else ""
        for result in (f"float[{kept}3] y = ReduceSum", f"int64[{kept}3] y = ArgMax"):
            axes = " (x, first)" if "Sum" in result else " (x)"
            found = problems(model(f"{result} <keepdims = {keepdims}>{axes}"))
            expected = ["attribute-value-unknown"] if keepdims == 2 else []
            assert [item.code for item in found] == expected, (keepdims, result)


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("operator", ["AveragePool", "MaxPool"])
def test_two_kinds_of_pads_are_the_only_error_of_a_pooling(operator: str, size: int) -> None:
    """onnx's inference adds pads to automatic pads; onnxruntime ignores them."""
    node = f'{operator} <auto_pad = "VALID", kernel_shape = [2], pads = [0, 1]> (line)'
    (finding,) = problems(model(f"float[1, 1, {size}] y = {node}"))
    assert "only one of them is allowed" in finding.message
    assert finding.severity == "warning"


def model(node: str) -> str:
    """Return the model of a node with an output `y` of any type."""
    opsets = '"": 18, "ai.onnx.ml": 3, "com.microsoft": 1'
    return text(node, inputs=INPUTS, outputs="y", values=VALUES, ir_version=9, opsets=opsets)


@pytest.mark.parametrize("node", [*ERRORS, *WARNINGS, *DOUBTFUL])
def test_fields_that_do_not_fit_are_found(node: str) -> None:
    source = model(node)
    message = {**ERRORS, **WARNINGS, **DOUBTFUL}[node]
    first = next(item for item in problems(source) if message in item.message)
    assert first.code == "shape-mismatch"
    assert first.severity == ("error" if node in ERRORS else "warning")
    operator = node.rpartition("\n")[2].partition("= ")[2].partition(" ")[0]
    marked = source[slice(*first.labels[0].span)]
    attributes = [name for name in re.findall(r"(\w+) = ", node) if f"`{name}`" in first.message]
    if len(attributes) == 1:
        assert marked == attributes[0]
    else:
        assert marked in operator
    binary = problems(onnxtext.to_binary(source))
    in_text = sorted(problem_of(item) for item in problems(source))
    assert sorted(problem_of(item) for item in binary) == in_text


def problem_of(item: Diagnostic) -> tuple[str, str, str]:
    """Return what a finding says, without its place."""
    return item.severity, item.code, item.message


@pytest.mark.parametrize("node", FINE)
def test_fields_that_fit_have_no_findings(node: str) -> None:
    assert not problems(model(node))


@pytest.mark.parametrize("node", [node for node in ERRORS if "Resize" in node])
def test_resize_before_version_13_needs_either_scales_or_sizes(node: str) -> None:
    """Before version 13, onnx's inference accepts nodes with both or neither."""
    source = model(node).replace('"": 18', '"": 12')
    (finding,) = problems(source)
    assert re.search("`scales` (and|nor) `sizes` (is|are) given", finding.message)
    assert finding.severity == "error"


def test_the_rank_of_updates_tells_how_far_indices_select() -> None:
    """An index selects in `rank(x) + rank(indices) - 1 - rank(updates)` dimensions."""
    source = text("y = ScatterND (x, indices, u)", outputs="y",
                  inputs="float[4, 4, 4] x, int64[3, M] indices, float[3, 4] u")  # fmt: skip
    (finding,) = [item for item in onnxtext.check(source) if item.code == "dim-forced"]
    assert "`M` must be 2" in finding.message


@pytest.mark.thorough
def test_onnxruntime_agrees_with_the_findings() -> None:
    """onnxruntime rejects the models with an error or a warning, and runs the others."""
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    for node in sampled((*ERRORS, *WARNINGS, *DOUBTFUL, *FINE), 3):
        verdict = judged(onnx.load_from_string(onnxtext.to_binary(model(node))), ((1,),))
        refused = verdict.state in ("load", "run")
        assert refused == (node in ERRORS or node in WARNINGS), (node, verdict)


def test_a_symbolic_number_of_columns_must_be_the_number_of_labels() -> None:
    source = model(labels("classlabels_int64s = [0, 1]")).replace("float[2, 3] x", "float[N, C] x")
    (finding,) = problems(source)
    assert finding.code == "dim-forced"
    assert "`C` must be 2" in finding.message


def test_lists_that_are_not_read_are_not_missing() -> None:
    """A list may be too long to be read; it is not missing then."""
    source = model(tree(nodes_values="[0.5, ...]"))
    assert not any("missing" in item.message for item in problems(source))


def test_an_output_shape_smaller_than_the_input_has_all_dimensions() -> None:
    """onnx infers only the first two dimensions."""
    node = "y = ConvTranspose <output_shape = [3], strides = [2]> (line, w)"
    found = shapes.ours(onnx.load_from_string(onnxtext.to_binary(model(node))))
    assert found["y"] == (1, 1, 3)


def test_an_output_shape_is_not_compared_if_the_output_padding_is_wrong() -> None:
    fields = "dilations = [2], output_padding = [1], output_shape = [8]"
    found = [item.message for item in problems(model(f"y = ConvTranspose <{fields}> (line, w)"))]
    assert len(found) == 1, found
    assert "not less than the stride 1" in found[0]
