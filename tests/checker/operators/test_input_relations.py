# SPDX-License-Identifier: Apache-2.0
"""Relations between inputs and attributes that onnx's shape inference does not check."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from tests.checker.models import problems, text
from tests.seeds import sampled

INPUTS = """\
float[1, 4, 8, 8] image, float[1, 6, 2] channels, float[1, 6, 2] complex, float[1, 6, 3] triple,
float[1, 5, 4] boxes, float[1, 5, 3] bad_boxes, float[1, 2, 5] scores, float[1, 2, 6] far_scores,
float[2, 2, 5] more_scores, int64[4] tokens, float[6] line, float[4] x, bool c, bool[1] c1,
bool[2] c2, bool[N] cn, int64 m, int64[1] m1, int64[2] m2, int64[2] two, int64[1] one,
float[2, 4, 3, 3] kernel, float[2, 2, 3, 3] half, float[3, 2, 3, 3] odd, float[2] two_floats,
float[3] three, float[6] six, float[1, 18, 6, 6] offsets, float[1, 36, 6, 6] offsets2,
float[1, 54, 6, 6] offsets3, float[1, 9, 6, 6] mask\
"""


def pool(**changed: str) -> str:
    """Return a `TfIdfVectorizer` with two words and one pair of words; some fields replaced."""
    fields = {
        "max_gram_length": "2", "max_skip_count": "0", "min_gram_length": "1", "mode": '"TF"',
        "ngram_counts": "[0, 2]", "ngram_indexes": "[0, 1, 2]", "pool_int64s": "[1, 2, 3, 4]",
    } | changed  # fmt: skip
    listed = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return f"y = TfIdfVectorizer <{listed}> (tokens)"


def branches(condition: str) -> str:
    return (
        f"y = If ({condition}) <then_branch = t () => (float[4] a) {{ a = Relu (x) }}, "
        "else_branch = e () => (float[4] b) { b = Neg (x) }>"
    )


def loop(count: str, condition: str) -> str:
    return (
        f"y = Loop ({count}, {condition}, x) <body = b (int64 i, bool k, float[4] s) => "
        "(bool l, float[4] t) { l = Not (k) t = Neg (s) }>"
    )


WRONG = {
    "y = CenterCropPad <axes = [1, 1]> (image, two)": "`axes` is [1, 1], which names an axis",
    "y = CenterCropPad <axes = [1, -3]> (image, two)": "names an axis twice",
    "y = CenterCropPad <axes = [1, 2]> (image, one)": "of `axes` is 2, but the size of `one`",
    "y = ConstantOfShape <value = float[2] [1, 2]> (two)": "`value` has 2 elements",
    "y = ConstantOfShape <value = float[0] []> (two)": "`value` has 0 elements",
    "y = DeformConv (image, half, offsets)": "is 4, but dimension 1 of `half` times `group` is 2",
    "y = DeformConv <group = 2> (image, odd, offsets)": "of `odd` is 3, which is not a multiple of",
    "y = DeformConv <offset_group = 3> (image, kernel, offsets3)": "multiple of `offset_group` (3)",
    "y = DeformConv (image, kernel, offsets2)": "is 36, but the number of offsets is 18",
    "y = DeformConv <offset_group = 2> (image, kernel, offsets2, two_floats, mask)":
        "is 9, but the number of kernel points is 18",
    "y = DeformConv (image, kernel, offsets, three)": "the size of `three` is 3, but dimension",
    "y = DFT (triple)": "the last dimension of `triple` is 3, but it must be 1 or 2",
    "y = GroupNormalization <num_groups = 2> (x, x, x)": "1 dimension, but the operator needs 2 or",
    "y = GroupNormalization <num_groups = 4> (channels, six, six)": "a multiple of `num_groups`",
    "y = GroupNormalization <num_groups = 3> (channels, three, six)": "the size of `three` is 3",
    "i = NonMaxSuppression (bad_boxes, scores)": "is 3, but the number of coordinates",
    "i = NonMaxSuppression (boxes, far_scores)": "is 5, but dimension 2 of `far_scores` is 6",
    "i = NonMaxSuppression (boxes, more_scores)": "is 1, but dimension 0 of `more_scores` is 2",
    "y, z = Split <num_outputs = 3> (line)": "`num_outputs` is 3, but the node has 2 outputs",
    pool(min_gram_length="3"): "`min_gram_length` is 3, but `max_gram_length` is 2",
    pool(pool_strings='["a"]'): "`pool_int64s` and `pool_strings` are given, but only one is",
    pool().replace("s = [1, 2, 3, 4]", "s: ints = []"): "or `pool_strings` must be given",
    pool(ngram_counts="[0]"): "`ngram_counts` has 1 entry, but `max_gram_length` is 2",
    pool(pool_int64s="[1, 2, 3]"): "has 1 entry for n-grams of length 2",
    pool(ngram_counts="[0, 5]"): "`ngram_counts` is [0, 5], but its entries must be from 0 to 4",
    pool(ngram_counts="[2, 0]"): "`pool_int64s`, and not decrease",
    pool(ngram_counts="[-1, 2]"): "`ngram_counts` is [-1, 2], but its entries must be from 0 to 4",
    pool(ngram_indexes="[0, 1]"): "`ngram_indexes` has 2 entries, but `pool_int64s` has 3 n-grams",
    pool(weights="[1.0, 2.0]"): "`weights` has 2 entries, but `pool_int64s` has 3 n-grams",
    branches("c2"): "`c2` must have one element",
    loop("m2", "c"): "`m2` must have one element",
}  # fmt: skip
"""By node, a part of the message."""
ACCEPTED = ("y = CenterCropPad <axes = [1, 2]> (image, one)", pool(ngram_indexes="[0, 1]"))
"""Wrong nodes that onnxruntime runs."""
RIGHT = (
    "y = CenterCropPad <axes = [1, 2]> (image, two)",
    "y = ConstantOfShape <value = float[1] [1]> (two)", "y = ConstantOfShape (two)",
    "y = DeformConv (image, kernel, offsets, two_floats, mask)",
    "y = DeformConv <group = 2> (image, half, offsets)",
    "y = DeformConv <offset_group = 2> (image, kernel, offsets2)",
    "y = DFT (complex)",
    "y = GroupNormalization <num_groups = 3> (channels, six, six)",
    "i = NonMaxSuppression (boxes, scores)",
    "y, z = Split <num_outputs = 2> (line)",
    pool(), pool(weights="[1.0, 2.0, 3.0]"), pool(min_gram_length="2"),
    pool(ngram_counts="[0, 0]", pool_int64s="[1, 2, 3, 4]", ngram_indexes="[0, 1]"),
    branches("c"), branches("c1"), branches("cn"), loop("m1", "c"), loop('""', "c"),
)  # fmt: skip


def model(node: str) -> str:
    outputs = "i" if node.startswith("i =") else "y, z" if node.startswith("y, z") else "y"
    return text(node, inputs=INPUTS, outputs=outputs, ir_version=10, opsets="22")


@pytest.mark.parametrize("node", WRONG)
def test_violated_relations_are_errors(node: str) -> None:
    source = model(node)
    (finding,) = problems(source)
    assert (finding.code, finding.severity) == ("shape-mismatch", "error")
    assert WRONG[node] in finding.message
    (binary,) = problems(onnxtext.to_binary(source))
    assert binary.message == finding.message


def test_a_node_with_bodies_and_another_error_has_one_finding() -> None:
    nodes = branches("c2").partition(", else_branch")[0] + ">"
    (finding,) = problems(text(nodes, inputs="float[4] x, bool[2] c2"))
    assert finding.code == "attribute-required"


def test_a_condition_is_checked_in_a_large_model() -> None:
    """Large models are checked by kinds of nodes; see `rules.shapes`."""
    chain = "\n".join(f"x{index + 1} = Relu (x{index})" for index in range(300))
    nodes = f"x0 = Neg (x)\n{chain}\n{branches('c2')}"
    source = text(nodes, inputs="float[4] x, bool[2] c2")
    (finding,) = problems(source)
    assert finding.message.endswith("`c2` must have one element")
    assert not problems(source.replace("bool[2] c2", "bool[1, 1] c2"))


def test_onnxruntime_accepts_a_scale_of_another_rank() -> None:
    """Its implementation of `GroupNormalization` reshapes the scale."""
    source = model("y = GroupNormalization <num_groups = 3> (channels, six, nested)")
    source = source.replace("float[6] six", "float[6] six, float[1, 6] nested")
    (finding,) = problems(source)
    assert "`nested` has 2 dimensions, but the operator needs 1" in finding.message
    assert finding.severity == "warning"


@pytest.mark.parametrize("node", RIGHT)
def test_right_nodes_have_no_findings(node: str) -> None:
    assert not problems(model(node))


@pytest.mark.thorough
@pytest.mark.parametrize("node", sampled([*WRONG, *RIGHT], 3))
def test_onnxruntime_agrees(node: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    source = onnxtext.to_binary(model(node))
    verdict = judged(
        onnx.ModelProto.FromString(source), ((2,), (3,)) if "cn" not in node else ((1,),)
    )
    assert verdict.state in {
        True: ("fine", "other"), False: ("load", "run", "other")
    }[node in RIGHT or node in ACCEPTED], verdict.message  # fmt: skip


MAPPED = (
    "q = SequenceConstruct (x, x)\n"
    "r = SequenceMap <body = b ({}) => ({}) {{ g = Neg (e) }}> (q, x)\n"
    "y = SequenceLength (r)"
)


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        ('y = Concat <axis = 0> (x, "", x)', "optional-input-missing"),
        ('y = Sum (x, "")', "optional-input-missing"),
        (MAPPED.format("float[4] e", "float[4] g"), "subgraph-arity"),
        (MAPPED.format("float[4] e, float[4] f", ""), "subgraph-arity"),
        (MAPPED.format("float[4] e, float[4] f", "float[4] g"), None),
    ],
)
def test_lists_of_values_have_no_gaps(nodes: str, code: str | None) -> None:
    source = text(nodes, inputs="float[4] x", outputs="y")
    assert [item.code for item in problems(source)] == [code] * (code is not None)
