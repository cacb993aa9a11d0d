# SPDX-License-Identifier: Apache-2.0
"""Relations of the attributes of `ai.onnx.ml` operators, compared with onnxruntime."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from tests.checker.models import problems, text
from tests.seeds import sampled


def node(operator: str, fields: dict[str, str], changes: dict[str, str]) -> str:
    """Return a node of `ai.onnx.ml`; a change to `""` removes the attribute."""
    listed = [f"{name} = {value}" for name, value in (fields | changes).items() if value]
    return f"ai.onnx.ml.{operator} <{', '.join(listed)}> (x)"


def vector_classifier(**changes: str) -> str:
    fields = {
        "classlabels_ints": "[0, 1]", "coefficients": "[1.0, 1.0]", "rho": "[0.0]",
        "kernel_params": "[1.0, 0.0, 3.0]", "support_vectors": "[1.0, 2.0]",
        "vectors_per_class": "[1, 1]",
    }  # fmt: skip
    return f"label, y = {node('SVMClassifier', fields, changes)}"


def vector_regressor(**changes: str) -> str:
    fields = {
        "coefficients": "[1.0, 1.0]", "kernel_params": "[1.0, 0.0, 3.0]", "n_supports": "2",
        "rho": "[0.0]", "support_vectors": "[1.0, 2.0]",
    }  # fmt: skip
    return f"y = {node('SVMRegressor', fields, changes)}"


def trees(**changes: str) -> str:
    """Return a `TreeEnsemble` with a node and two leaves."""
    fields = {
        "leaf_targetids": "[0, 0]", "leaf_weights": "float[2] [1, 2]", "n_targets": "1",
        "nodes_falseleafs": "[1]", "nodes_falsenodeids": "[1]", "nodes_featureids": "[0]",
        "nodes_modes": "uint8[1] [0]", "nodes_splits": "float[1] [0.5]", "nodes_trueleafs": "[1]",
        "nodes_truenodeids": "[0]", "tree_roots": "[0]",
    }  # fmt: skip
    return f"y = {node('TreeEnsemble', fields, changes)}"


def regressor(bases: str) -> str:
    fields = {
        "n_targets": "2", "nodes_falsenodeids": "[0]", "nodes_featureids": "[0]",
        "nodes_modes": '["LEAF"]', "nodes_nodeids": "[0]", "nodes_treeids": "[0]",
        "nodes_truenodeids": "[0]", "nodes_values": "[0.0]", "target_ids": "[1]",
        "target_nodeids": "[0]", "target_treeids": "[0]", "target_weights": "[1.0]",
    }  # fmt: skip
    return f"y = {node('TreeEnsembleRegressor', fields, {'base_values': bases})}"


def plain(operator: str, *arguments: str, **fields: str) -> str:
    result = f"y = {node(operator, fields, {})}".replace(" <>", "")
    return result.replace("(x)", f"({', '.join(arguments)})") if arguments else result


LINEAR = "LinearRegressor"
CLASSES = {"classlabels_ints": "[1, 2]", "classlabels_strings": '["a", "b"]'}
BOTH = "label, y = " + node(
    "LinearClassifier", {"coefficients": "[1.0, 1.0]", "intercepts": "[0.0, 0.0]"} | CLASSES, {}
)
MAPPER = {"cats_int64s": "[1]", "cats_strings": '["a"]', "default_int64": "0"}
Case = tuple[str, str]
"""The node and the inputs of the model."""
ONE, THREE, MAP = "float[1, 1] x", "float[1, 3] x", "map(string, float) x"

WRONG: dict[Case, str] = {
    (plain("ArrayFeatureExtractor", "x", "i"), "float[1, 2] x"): "the index 2 is out of range",
    (plain("ArrayFeatureExtractor", "x", "i"), "float x"): "has 0 dimensions, but",
    (plain("DictVectorizer"), MAP): "exactly one of",
    (plain("FeatureVectorizer", "x", inputdimensions="[1]"), "float x"): "has 0 dimensions, but",
    (plain("FeatureVectorizer", "x", "x", inputdimensions="[3]"), THREE): "has 1 entry, but the",
    (plain("FeatureVectorizer", "x", "z", inputdimensions="[3, 3]"), f"{THREE}, float[2, 3] z"):
        "dimension 0 of `x` is 1, but dimension 0 of `z` is 2",
    (plain("Imputer", replaced_value_float="0.0"), THREE): "exactly one of `imputed_value_floats`",
    (plain("Imputer", imputed_value_floats="[1.0]", imputed_value_int64s="[1]"), THREE):
        "exactly one of `imputed_value_floats`",
    (plain("Imputer", imputed_value_floats="[1.0, 2.0]"), THREE): "is 3, but the length of",
    (BOTH, ONE): "exactly one of `classlabels_strings`",
    (plain(LINEAR, coefficients="[1.0]", intercepts="[1.0, 2.0]"), ONE): "but `targets` is 1",
    (plain("Normalizer"), "float[2, 2, 2] x"): "has 3 dimensions, but the operator needs 1 or 2",
    (vector_classifier(kernel_params="[1.0]"), ONE): "`kernel_params` has 1 entry, but the",
    (vector_classifier(prob_a="[1.0]"), ONE): "`prob_a` has 1 entry, but `prob_b` has 0",
    (vector_classifier(support_vectors="[1.0]"), ONE): "a multiple of the sum of",
    (vector_classifier(**CLASSES), ONE): "exactly one of `classlabels_strings`",
    (vector_classifier(), THREE): "is 3, but the size of a support vector is 1",
    (vector_regressor(coefficients="[1.0]"), ONE): "has 1 entry, but `n_supports` is 2",
    (vector_regressor(kernel_params="[1.0]"), ONE): "`kernel_params` has 1 entry, but the",
    (vector_regressor(n_supports="0", support_vectors=""), ONE): "is 1, but the length of `coeffi",
    (vector_regressor(support_vectors="[1.0]"), ONE): "is not a multiple of `n_supports` (2)",
    (vector_regressor(), THREE): "is 3, but the size of a support vector is 1",
    (regressor("[1.0]"), ONE): "`base_values` has 1 entry, but `n_targets` is 2",
    (trees(leaf_targetids="[0, 1]"), ONE): "the index 1, which must be below `n_targets` (1)",
    (trees(leaf_targetids="[0, -1]"), ONE): "the index -1, which is negative",
    (trees(nodes_featureids="[1]"), ONE): "the index 1, but `x` has only 1 feature",
    (trees(nodes_modes="uint8[1] [6]"), ONE): "but `membership_values` is missing",
    (trees(nodes_modes="uint8[1] {7}"), ONE): "the unknown mode 7",
    (trees(nodes_trueleafs="[0]"), ONE): "`nodes_truenodeids` has a node that is its own child",
    (trees(nodes_falsenodeids="[2]"), ONE): "the index 2, which must be below the number of leaves",
    (trees(nodes_falsenodeids="[2]", nodes_falseleafs="[0]"), ONE): "below the number of nodes (1)",
    (trees(tree_roots="[1]"), ONE): "`tree_roots` has the index 1, which must be below",
}  # fmt: skip
"""By case, a part of the error message."""

WARNED: dict[Case, str] = {
    (plain("CategoryMapper", **MAPPER, default_string='"b"'), "string[2] x"): "only one of",
    (plain("FeatureVectorizer", "x"), THREE): "`inputdimensions` is missing",
    (plain("Imputer", imputed_value_floats="[1.0]", replaced_value_float="1.0",
           replaced_value_int64="1"), THREE): "only one of `replaced_value_float`",
    (vector_classifier(coefficients="[1.0]"), ONE): "`coefficients` has 1 entry; onnxruntime",
    (vector_classifier(rho=""), ONE): "`rho` has 0 entries; onnxruntime needs 1",
    (vector_regressor(rho=""), ONE): "`rho` is missing",
    (trees(n_targets="0"), ONE): "`n_targets` is missing or not positive",
}  # fmt: skip
"""By case, a part of the warning."""

RIGHT: tuple[Case, ...] = (
    (plain("ArrayFeatureExtractor", "x", "i"), THREE),
    (plain("ArrayFeatureExtractor", "x", "i"), "float[1, N] x"),
    (plain("CategoryMapper", **MAPPER), "string[2] x"),
    (plain("CategoryMapper", **MAPPER, default_string='"_Unused"'), "string[2] x"),
    (plain("Imputer", imputed_value_floats="[1.0]", replaced_value_float="0.0",
           replaced_value_int64="1"), THREE),
    (plain("DictVectorizer", string_vocabulary='["a"]'), MAP),
    (plain("FeatureVectorizer", "x", "x", inputdimensions="[3, 3]"), THREE),
    (plain("FeatureVectorizer", "x", "z", inputdimensions="[3, 3]"), f"{THREE}, float[N, 3] z"),
    ("float[1, 2] " + plain("FeatureVectorizer", "x", inputdimensions="[2]"), "float[2] x"),
    (plain("Imputer", imputed_value_floats="[1.0, 2.0, 3.0]"), THREE),
    (plain("Imputer", imputed_value_floats="[1.0]", replaced_value_float="0.0"), THREE),
    (plain(LINEAR, coefficients="[1.0, 2.0]", intercepts="[1.0, 2.0]", targets="2"), ONE),
    (plain(LINEAR, coefficients="[1.0]"), ONE),
    (plain("Normalizer"), ONE),
    (vector_classifier(), ONE),
    (vector_classifier(prob_a="[1.0]", prob_b="[1.0]"), ONE),
    (vector_classifier(vectors_per_class="", support_vectors=""), ONE),
    (vector_regressor(), ONE),
    (vector_regressor(n_supports="0", support_vectors=""), "float[1, 2] x"),
    (regressor("[1.0, 2.0]"), ONE),
    (trees(), ONE),
    (trees(nodes_truenodeids="[1]"), ONE),
    (trees(nodes_modes="uint8[1] {5}"), ONE),
)  # fmt: skip

ACCEPTED = (
    "floats = [1.0, 2.0]> (x)", "intercepts = [1.0, 2.0]> (x)", "replaced_value_int64 = 1",
    "CategoryMapper", "= [1, 1], classlabels", "{7}",
)  # fmt: skip
"""Parts of nodes that onnxruntime runs."""


def model(case: Case) -> str:
    nodes, inputs = case
    version = 5 if "TreeEnsemble <" in nodes else 3
    return text(
        f"i = Constant <value_ints = [0, 2]> ()\n{nodes}", inputs=inputs, outputs="y",
        ir_version=10, opsets=f'21, "ai.onnx.ml": {version}',
    )  # fmt: skip


@pytest.mark.parametrize("case", [*WRONG, *WARNED])
def test_violated_relations_are_found(case: Case) -> None:
    source = model(case)
    finding, *_ = problems(source)
    severity = "error" if case in WRONG else "warning"
    assert (finding.code, finding.severity) == ("shape-mismatch", severity)
    assert (WRONG | WARNED)[case] in finding.message
    binary, *_ = problems(onnxtext.to_binary(source))
    assert binary.message == finding.message


@pytest.mark.parametrize("case", RIGHT)
def test_right_nodes_have_no_findings(case: Case) -> None:
    assert not problems(model(case))


@pytest.mark.thorough
@pytest.mark.parametrize("case", sampled([*WRONG, *WARNED, *RIGHT], 3))
def test_onnxruntime_agrees(case: Case) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    sizes = ((1,),) if "[N, 3]" in case[1] else ((3,),)
    verdict = judged(onnx.ModelProto.FromString(onnxtext.to_binary(model(case))), sizes)
    if verdict.state == "other":  # `judged` makes no maps or strings for inputs
        return
    accepts = case in RIGHT or any(part in case[0] for part in ACCEPTED)
    assert verdict.state in (("fine",) if accepts else ("load", "run")), verdict.message
