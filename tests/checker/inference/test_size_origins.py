# SPDX-License-Identifier: Apache-2.0
"""Explanations why the sizes of values are known or unknown."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from onnxtext import ast, parse
from onnxtext.checker.context.finding import Place
from onnxtext.checker.explain_type.explanation import (
    describe_result,
    describe_step,
    explain_value,
    explanation_lines,
)
from onnxtext.checker.explain_type.explanation_step import ExplanationStep
from onnxtext.checker.explain_type.inferred_facts import InferredView, scope_views
from onnxtext.checker.explain_type.size_origins import SizeExplainer
from onnxtext.checker.inference.shape_inference import CompleteInference
from onnxtext.editing.write_inferred_types import check_subject
from onnxtext.proto.decode.lift import lift_model
from tests.corpus import shared_model, shared_models
from tests.seeds import seeded

HEAD = '<onnxtext: 1, ir_version: 10, opset_import: ["":21, "own":1, "custom":1]>\n'
TEXT = (
    HEAD
    + """\
g (float[N, 4] x, int64[2] shape, float[?, 3] q, bool c, int64 n, float[] z) => (float[?] y) <
  int64[1] one = {1}, int64[2] s = {-1, 2}, float[4, 5] W = [0, ...], float[N, 4] e
> {
  nz = NonZero (x)
  t = Transpose (nz)
  r = Reshape (x, shape)
  u = custom.Foo (x)
  float[P, 7] v = custom.Bar (x)
  vv = Relu (v)
  f = own.fun (x)
  sh = Shape (x)
  g0 = Gather <axis = 0> (sh, one)
  cc = Concat <axis = 0> (g0, g0)
  e = Reshape (x, cc)
  e2 = Reshape (x, s)
  mm = MatMul (x, W)
  qq = Concat <axis = 0> (q, q)
  i = If (c) <
    then_branch = t () => (float[?, ?] a) { a = Relu (x) },
    else_branch = e () => (float[?, ?] b) { b = Concat <axis = 0> (x, x) }
  >
  l, ys = Loop (n, , x) <
    body = b (int64 it, bool cond, float[] st) => (cond2, st2, o) {
      cond2 = Identity (cond)
      st2 = Concat <axis = 0> (st, x)
      o = Relu (x)
    }
  >
  shape1 = Identity (x)
  kept, scans = Scan <
    num_scan_inputs = 1,
    body = sb (float[] old, float[] row) => (new, out) { new = Identity (old) out = Neg (row) }
  > (shape1, x)
  zz = Relu (z)
  sum = Add (x, vv)
  eye = EyeLike (mm)
  twice = Concat <axis = 1> (x, mm)
  y = Identity (zz)
}
<domain: "own", opset_import: ["":21]>
fun (a) => (b) { b = Concat <axis = 1> (a, a) }
"""
)
FUNCTIONS = (
    HEAD
    + """\
g (float[N, 4] x, float[M, 4] w) => (float[?, ?] y, float[?, ?] z, float[?, ?] s) {
  y = own.turn <perm = [1, 0]> (x)
  z = own.join (x, w)
  s = own.outer <order = [1, 0]> (x)
}
<domain: "own", opset_import: ["":21]>
turn <perm> (a) => (b) { b = Transpose <perm: ints = @perm> (a) }
<domain: "own", opset_import: ["":21]>
join <axis: int = 0> (a, b) => (c) { c = Concat <axis: int = @axis> (a, b) }
<domain: "own", opset_import: ["":21, "own":1]>
outer <order> (a) => (b) { b = own.turn <perm: ints = @order> (a) }
<domain: "own", opset_import: ["":21]>
never <end> (a) => (unused) { unused = Shape <end: int = @end> (a) }
"""
)


def explain(model: ast.Model, name: str) -> str:
    """Return the explanation of a value, with operator names instead of locations."""
    explainer, scopes = of(model)
    for view in scopes:
        if name in view.scope.position:
            return "\n".join(explanation_lines(explain_value(explainer, view, name), _where, None))
    raise AssertionError(name)


def of(model: ast.Model) -> tuple[SizeExplainer, list[InferredView]]:
    subject = check_subject(model)
    inference = CompleteInference.of(subject)
    found = [view for scope in subject.scopes for view in scope_views(inference, scope)]
    return SizeExplainer(subject, inference.findings), found


@pytest.mark.parametrize("call", ["NonZero (x)", "NonZero (z)", "Compress <axis = 0> (z, c)"])
def test_sizes_that_depend_on_data_need_no_sizes_of_inputs(call: str) -> None:
    """The explanation does not ask for the unknown sizes of the inputs."""
    text = f"""<ir_version: 8, opset_import: ["": 17]>
g (float[4, ?] x, float[?, 4] z, bool[K] c) => (y) {{ y = {call} }}
"""
    assert "depends on data" in explain(parse(text), "y")


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("MatMul (b, w)", "`MatMul` needs unknown sizes:"),
        ("MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (p)",
         "`MaxPool` needs the unknown dimension 2 of `p`"),
    ],
)  # fmt: skip
def test_sizes_that_are_inferred_from_numbers_only_need_sizes_of_inputs(
    call: str, wanted: str
) -> None:
    text = f"""<ir_version: 8, opset_import: ["": 17]>
g (float[?, 2, 4] b, float[?, 4, 5] w, float[1, 3, ?, 8] p) => (y) {{ y = {call} }}
"""
    assert wanted in explain(parse(text), "y")


def _where(place: Place) -> str:
    return str(getattr(place.item, "op_type", getattr(place.item, "name", "")))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("x", ["`x`: float[N, 4]", "dimension 0: `N`, declared", "the input `x` declares it"]),
        ("W", ["dimension 1: `5`, stored", "the initializer `W` stores it"]),
        ("mm", ["dimension 0: `N`, inferred\n  MatMul: `MatMul` takes it from dimension 0 of `x`",
                "dimension 1: `5`, inferred\n  MatMul: `MatMul` takes it from dimension 1 of `W`"]),
        ("nz", ["dimension 0: `2`, inferred", "dimension 1: unknown",
                "depends on data: the number of elements that are not 0"]),
        ("t", ["Transpose: `Transpose` needs the unknown dimension 1 of `nz`\n  NonZero: "]),
        ("r", ["`Reshape` needs the unknown element 1 of `shape`",
               "the caller chooses the elements of the input `shape`"]),
        ("u", ["`u`: unknown type", "rank: unknown",
               "`Foo` is an unknown operator of the domain `custom`"]),
        ("v", ["dimension 0: `P`, assumed", "declared as `float[P, 7]`; `Bar` is an unknown"]),
        ("vv", ["dimension 1: `7`, inferred", "`Relu` takes it from dimension 1 of `v`\n  Bar: "]),
        ("f", ["`f`: float[N, 8]", "the function `fun` gives dimension 1 of `b`",
               "the call of `fun` passes dimension 1 of `x`"]),
        ("e", ["`Reshape` takes it from element 1 of `cc`\n  Concat: `Concat` takes it from element"
               " 0 of `g0`\n  Gather: `Gather` takes it from element 1 of `sh`\n  Shape: `Shape` "
               "takes it from dimension 1 of `x`", "it is declared as `N`; `Reshape` gives `4`"]),
        ("e2", ["dimension 0: `2*N`, inferred", "- dimension 0 of `x`: `N`, declared"]),
        ("qq", ["dimension 0: unknown", "needs the unknown dimension 0 of `q`",
                "the input `q` is declared without this size", "dimension 1: `3`"]),
        ("i", ["the branches of `If` differ: `N` and `2*N`", "dimension 1 of `a`: `4`"]),
        ("l", ["each iteration may set it to dimension 0 of `st2`", "dimension 1: `4`, inferred"]),
        ("ys", ["at most element 0 of `n`", "stacks the results of its body: dimension 0 of `o`"]),
        ("scans", ["dimension 0: `N`", "one entry for each iteration dimension 0 of `x`",
                   "dimension 1: `4`", "`Scan` passes slices of dimension 1 of `x`"]),
        ("kept", ["`Scan` carries it between iterations, starting with dimension 0 of `shape1`"]),
        ("zz", ["rank: unknown", "`Relu` needs the unknown rank of `z`",
                "the input `z` is declared without a shape"]),
        ("sum", ["`Add` has an error"]),
        ("twice", ["dimension 1: `9`", "- dimension 1 of `x`: `4`, declared",
                   "- dimension 1 of `mm`: `5`, inferred"]),
        ("st2", ["dimension 1: `4`",
                 "`Loop` carries it between iterations, starting with dimension 1 of `x`"]),
        ("b", ["`2*N`"]),
    ],
)  # fmt: skip
def test_explanations_name_the_origin_of_each_size(name: str, wanted: list[str]) -> None:
    found = explain(parse(TEXT), name)
    for part in wanted:
        assert part in found, found


@pytest.mark.parametrize("node", ["ai.onnx.ml.Scaler (x)", "com.microsoft.Gelu (x)"])
def test_unknown_sizes_of_operators_of_other_domains_are_traced_to_inputs(node: str) -> None:
    opsets = '["": 21, "ai.onnx.ml": 5, "com.microsoft": 1]'
    header = f"<ir_version: 10, opset_import: {opsets}>"
    found = explain(parse(f"{header}\ng (float[?, 2] x) => (float[?, 2] y) {{ y = {node} }}"), "y")
    assert "needs the unknown dimension 0 of `x`" in found
    assert "the input `x` is declared without this size" in found


def test_the_rank_of_a_map_is_no_unknown_size() -> None:
    header = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 5]>'
    node = 'y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a"]> (x)'
    found = explain(parse(f"{header}\ng (map(string, float) x) => (float[] y) {{ {node} }}"), "y")
    assert "neither onnx nor onnxtext infers this size of `DictVectorizer`" in found


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("y", ["dimension 1: `N`", "`Transpose` takes it from dimension 0 of `a`"]),
        ("z", ["dimension 0: `M + N`", "`Concat` computes it from 2 sizes",
               "- dimension 0 of `a`: `N`", "- dimension 0 of `b`: `M`"]),
        ("s", ["dimension 0: `4`", "`Transpose` takes it from dimension 1 of `a`"]),
        ("unused", ["neither onnx nor onnxtext infers this size of `Shape`"]),
    ],
)  # fmt: skip
def test_attribute_references_are_explained_with_the_attributes_of_the_call(
    name: str, wanted: list[str]
) -> None:
    found = explain(parse(FUNCTIONS), name)
    for part in wanted:
        assert part in found, found
    assert "the attributes of" not in found


def test_an_operator_of_another_domain_is_no_loop() -> None:
    body = "b (int64 i, bool d, q) => (bool e, r) { e = Identity (d) r = Relu (q) }"
    node = f"y = custom.Loop <body = {body}> (, c, x)"
    text = f"{HEAD}g (float[3] x, bool c) => (float[?] y) {{ {node} }}"
    assert "`Loop` is an unknown operator of the domain `custom`" in explain(parse(text), "y")
    assert "the input `q` is declared without a shape" in explain(parse(text), "r")


def test_explanations_of_cycles_and_long_chains_end() -> None:
    deep = "\n".join([f"  v{i + 1} = Relu (v{i})" for i in range(3000)])
    text = f"{HEAD}g (float[N] v0) => (float[N] y) {{\n{deep}\n  y = Neg (v3000)\n}}"
    explainer, (view,) = of(parse(text))
    explanation = explain_value(explainer, view, "y")
    shown = list(explanation_lines(explanation, _where, 6))
    assert len(shown) == 12
    assert "… 2996 more steps" in shown[10]
    assert len(list(explanation_lines(explanation, _where, None))) == 3002 + 5


def test_unconfirmed_declarations_are_explained() -> None:
    text = HEAD + "g (float[N] x) => (int64[1, K] y) { y = NonZero (x) }"
    found = explain(parse(text), "y")
    assert "dimension 0: `1`, inferred" in found
    assert "dimension 1: `K`, assumed" in found
    assert "declared as `int64[1, K]`; `NonZero` does not determine it" in found


def steps(step: ExplanationStep) -> Iterator[ExplanationStep]:
    stack = [step]
    while stack:
        one = stack.pop()
        yield one
        stack += one.sources


def check_explanations(data: bytes, rng: random.Random, most: int) -> None:
    """Check the laws of explanations for some values of a model."""
    explainer, found = of(lift_model(data))
    chosen = [(view, name) for view in found for name in view.scope.position]
    for view, name in rng.sample(chosen, min(most, len(chosen))):
        for first in explain_value(explainer, view, name).steps:
            for step in steps(first):
                assert step.how, (name, step.part)
                assert (step.size is None) == (step.kind == "unknown"), step.how
                assert describe_result(step)
                assert describe_step(step, _where)
                if step.kind in ("declared", "stored", "assumed"):
                    assert not step.sources
                if step.how.endswith("takes it from"):
                    assert [source.size for source in step.sources] == [step.size]
                if " needs " in step.how and step.sources:
                    assert {source.kind for source in step.sources} == {"unknown"}, step.how


def test_an_input_that_contradicts_its_initializer_has_no_known_rank() -> None:
    text = '<ir_version: 10, opset_import: ["": 21]> g (float[N] a) => () <float a = {2}> {}'
    found = explain(parse(text), "a")
    assert "rank: unknown\n  a: the input `a` contradicts its initializer" in found


@pytest.mark.data
def test_explanations_of_real_models_are_well_formed() -> None:
    rng = seeded()
    files = [name for name in shared_models() if "harvested" in name or "exported" in name]
    for file in rng.sample(files, 12):
        data = shared_model(file)
        if len(data) < 500_000:
            check_explanations(data, rng, 8)


@pytest.mark.slow
@pytest.mark.parametrize("file", shared_models())
def test_explanations_of_every_model_are_well_formed(file: str) -> None:
    check_explanations(shared_model(file), seeded(), 100)
