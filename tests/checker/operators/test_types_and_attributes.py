# SPDX-License-Identifier: Apache-2.0
"""Attributes that must agree with the type of the first input, compared with onnxruntime."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks.judge import judged
from onnxtext import Diagnostic
from tests.checker.models import codes, text
from tests.seeds import sampled

POOL = (
    'TfIdfVectorizer <max_gram_length = 1, max_skip_count = 0, min_gram_length = 1, mode = "TF", '
    "ngram_counts = [0], ngram_indexes = [0], {}> (x)"
)
INTEGERS, STRINGS = POOL.format("pool_int64s = [1]"), POOL.format('pool_strings = ["a"]')
IMPUTER = "ai.onnx.ml.Imputer <imputed_value_{}> (x)"
VECTORIZER = "ai.onnx.ml.DictVectorizer <{}> (x)"
WHOLE = IMPUTER.format("int64s = [1], replaced_value_int64 = 0")
REAL = IMPUTER.format("floats = [1.0]")
WORDS, NUMBERS = 'string_vocabulary = ["a"]', "int64_vocabulary = [1]"

Case = tuple[str, str, int]
"""The node, the type of its input, and the version of the standard operators."""
WRONG: dict[Case, str] = {
    ("Mod (x, x)", "float[2]", 21): "`Mod` takes `float` only with `fmod = 1`",
    ("Mod <fmod = 0> (x, x)", "float16[2]", 13): "`Mod` takes `float16` only with `fmod = 1`",
    ("Mod (x, x)", "double[2]", 10): "`Mod` takes `double` only with `fmod = 1`",
    (INTEGERS, "string[2]", 21): "with `pool_int64s` takes integers, not `string`",
    (STRINGS, "int64[2]", 21): "with `pool_strings` takes strings, not `int64`",
    (WHOLE, "float[1, 2]", 21): "with `imputed_value_int64s` takes integers, not `float`",
    (REAL, "int64[1, 2]", 21): "with `imputed_value_floats` takes floats, not `int64`",
    (VECTORIZER.format(WORDS), "map(int64, float)", 21): "takes maps with `string` keys, not",
    (VECTORIZER.format(NUMBERS), "map(string, float)", 21): "takes maps with `int64` keys, not",
}
RIGHT: tuple[Case, ...] = (
    ("Mod <fmod = 1> (x, x)", "float[2]", 21),
    ("Mod (x, x)", "float[2]", 28),
    ("Mod (x, x)", "int32[2]", 21),
    ("Mod <fmod = 1> (x, x)", "int32[2]", 21),
    (INTEGERS, "int64[2]", 21),
    (INTEGERS, "int32[2]", 21),
    (STRINGS, "string[2]", 21),
    (WHOLE, "int64[1, 2]", 21),
    (REAL, "float[1, 2]", 21),
    (REAL, "double[1, 2]", 21),
    (VECTORIZER.format(WORDS), "map(string, float)", 21),
    (VECTORIZER.format(NUMBERS), "map(int64, float)", 21),
)


def model(case: Case, before: str = "") -> str:
    node, type, opset = case
    return text(
        f"{before}y = {node}", inputs=f"{type} x, float[4] r0", outputs="y", ir_version=13,
        opsets=f'{opset}, "ai.onnx.ml": 3',
    )  # fmt: skip


def found(source: str | bytes) -> list[Diagnostic]:
    """Return the findings of severity `error`, without those about missing types of outputs."""
    items = [item for item in onnxtext.check(source) if item.code != "graph-output-untyped"]
    return [item for item in items if item.severity == "error"]


@pytest.mark.parametrize("case", WRONG)
def test_contradictions_are_errors(case: Case) -> None:
    (finding,) = found(model(case))
    assert finding.code == "type-mismatch"
    assert WRONG[case] in finding.message
    assert [item.message for item in found(onnxtext.to_binary(model(case)))] == [finding.message]


@pytest.mark.parametrize("case", WRONG)
def test_they_are_found_in_large_models(case: Case) -> None:
    """Large models are checked by kind: nodes with the same operator, attributes and types."""
    chain = "".join(f"r{index + 1} = Relu (r{index})\n" for index in range(300))
    (finding,) = found(model(case, chain))
    assert WRONG[case] in finding.message


@pytest.mark.parametrize("case", RIGHT)
def test_right_nodes_have_no_errors(case: Case) -> None:
    assert not found(model(case))


@pytest.mark.parametrize("mode", [0, 1])
def test_attributes_that_a_call_passes_are_unknown(mode: int) -> None:
    function = """\
<domain: "local", opset_import: [21]>
remainder <mode> (a) => (b) {
  b = Mod <fmod: int = @mode> (a, a)
}
"""
    source = text(
        f"y = local.remainder <mode = {mode}> (x)", opsets='21, "local": 1', rest=function
    )
    assert not found(source)


@pytest.mark.thorough
@pytest.mark.parametrize("case", sampled([*WRONG, *RIGHT], 3))
def test_onnxruntime_agrees(case: Case) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    verdict = judged(onnx.ModelProto.FromString(onnxtext.to_binary(model(case))))
    # It runs `TfIdfVectorizer` with any type, and gets zeros to divide integers by.
    if verdict.state != "other" and "Tf" not in case[0] and "int32" not in case[1]:
        assert (verdict.state == "fine") == (case in RIGHT), verdict.message


LOOP = """<ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) <int64 n = 2> {
  y = Loop (n, "", x) <body = b (int64 i, bool k, float[2] a) => (TYPE k2, float[2] a2) {
    k2 = NODE
    a2 = Neg (a)
  }>
}
"""


@pytest.mark.parametrize(
    ("type", "node", "wrong"),
    [
        ("bool", "Identity (k)", False),
        ("int64", "Identity (i)", True),
        ("float[2]", "Abs (a)", True),
    ],
)
def test_the_condition_of_a_loop_is_bool(type: str, node: str, *, wrong: bool) -> None:
    source = LOOP.replace("TYPE", type).replace("NODE", node)
    for content in (source, onnxtext.to_binary(source)):
        found = [item for item in onnxtext.check(content) if item.severity == "error"]
        assert [item.code for item in found] == ["type-mismatch"] * wrong
        assert not wrong or "the condition of a `Loop` is `bool`" in found[0].message


CONTAINERS = [
    # a node with the output `y`, the inputs, the message, the help
    ("seq(int64[]) y = SequenceConstruct (x)", "float[2] x",
     "`y` is declared `seq(int64)`, but `SequenceConstruct` computes `seq(float)`",
     "declare it `seq(float)`"),
    ("optional(float[]) y = Optional (x)", "seq(float[]) x",
     "`y` is declared `optional(float)`, but `Optional` computes `optional(seq(float))`",
     "declare it `optional(seq(float))`"),
    ("float[] y = Abs (x)", "map(int64, float) x",
     "the input `X` of `Abs` cannot be `map(int64, float)`: it takes ", "use another value"),
    ("int64[] y = SequenceLength (x)", "float[] x",
     "the input `input_sequence` of `SequenceLength` cannot be `float`: it takes `seq(bool)`, ",
     "use another value"),
    ("y = If (c) <then_branch = t () => (seq(float[]) a) { a = Identity (s) }, "
     "else_branch = e () => (float[] b) { b = Identity (x) }>", "bool c, seq(float[]) s, float[] x",
     "the branches of this `If` disagree: output 1 is `seq(float)` in `then_branch`, and `float` ",
     "return the same type from both branches"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "inputs", "message", "help"), CONTAINERS)
def test_messages_spell_types_as_texts_do(node: str, inputs: str, message: str, help: str) -> None:
    """`Cast` converts only tensors, so the help does not name it."""
    source = text(node, inputs=inputs, outputs="y")
    (finding,) = [item for item in onnxtext.check(source) if item.code == "type-mismatch"]
    assert finding.message.startswith(message)
    assert finding.help == help
    assert not any("tensor(" in str(label.message) for label in finding.labels)


def test_a_long_list_of_types_has_common_types() -> None:
    source = text("y = Identity (x)", inputs="sparse_tensor(float[2]) x", outputs="y", opsets="21")
    (finding,) = [item for item in onnxtext.check(source) if item.code == "type-mismatch"]
    listed = finding.message.partition("it takes ")[2]
    for common in ("bool", "float", "float16", "int32", "int64", "string", "int8", "uint8"):
        assert f"`{common}`" in listed
    for rare in ("(", "complex", "float8"):
        assert rare not in listed


COMPUTED = {
    # a node with the output `y`: the element type of `y`
    "y = QuantizeLinear (x, s)": "uint8",
    "y = QuantizeLinear (x, s, z)": "int8",
    'y = QuantizeLinear <output_dtype = 5> (x, s, "")': "int16",
    "y = DequantizeLinear (i, s)": "float",
    "y = DequantizeLinear <output_dtype = 10> (i, s)": "float16",
    "y = BitCast <to = 6> (x)": "int32",
    "y = HannWindow (n)": "float",
    "y = HammingWindow <output_datatype = 11> (n)": "double",
    "y = MelWeightMatrix (n, n, n, s, s)": "float",
    "y = Multinomial (m)": "int32",
    "y = Multinomial <dtype = 7> (m)": "int64",
}


@pytest.mark.parametrize("node", COMPUTED)
def test_types_that_depend_on_attributes_are_compared(node: str) -> None:
    inputs = "float[2] x, float s, int8 z, int8[2] i, int64 n, float[1, 2] m"
    element = COMPUTED[node]
    right = text(node, inputs=inputs, outputs=f"{element}[] y", opsets="26")
    assert "type-mismatch" not in codes(right)
    wrong = text(node, inputs=inputs, outputs="bool[] y", opsets="26")
    messages = [item.message for item in onnxtext.check(wrong) if item.code == "type-mismatch"]
    assert any("declared `bool`, but" in m and f"computes `{element}`" in m for m in messages)


@pytest.mark.parametrize(
    "attribute",
    ["value: float = 1.0", "value_ints = 3", "value_int = [1]", "value_float = 1", "value = [0.5]"],
)
@pytest.mark.parametrize("operator", ["Add", "Reshape", "Concat <axis = 0>"])
def test_a_constant_with_an_attribute_of_a_wrong_type_is_one_error(
    operator: str, attribute: str
) -> None:
    nodes = f"k = Constant <{attribute}> ()\ny = {operator} (x, k)"
    assert codes(text(nodes, inputs="double[1] x", outputs="double[?] y")) == {"attribute-type"}
