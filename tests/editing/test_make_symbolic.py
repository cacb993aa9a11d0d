# SPDX-License-Identifier: Apache-2.0
"""Dimensions made symbolic: the changed declarations, the obstacles, and whether models run."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest

import onnxtext
from onnxtext import OnnxTextError, editing
from onnxtext.editing import Obstacle
from tests.corpus import exports, shared_model, shared_models
from tests.running import count_calls
from tests.seeds import seeded

HEAD = '<onnxtext: 1, ir_version: 10, opset_import: ["":21, "custom":1]>\n'


def model(nodes: str, values: str = "", inputs: str = "float[2, 3] x") -> str:
    return f"{HEAD}g ({inputs}) => (float[?, ?] y) <\n{values}\n> {{\n{nodes}\n}}\n"


def symbolic(
    content: Any, *dims: tuple[str, int], fix: bool = False, symbol: str = "n"
) -> tuple[Any, list[str], list[str]]:
    """Return the edited model, its notes, and its obstacles."""
    edit = partial(editing.make_symbolic, dims=dims or [("x", 0)], symbol=symbol, fix=fix)
    result = editing.apply(content, edit)
    against: list[str] = [note for note in result.notes if isinstance(note, Obstacle)]
    return result.content, [note for note in result.notes if note not in against], against


def test_only_dependent_declarations_change() -> None:
    text = f"""\
# kept
{HEAD}g (float[2, 3] x, float[2, 3] other) => (float[2, 3] y, float[4, 3] z, float[2, 2] c) <
  float[2] w = [1, 2], float[3, 2] m = [0, ...], @doc("d") float[@denotation("B") 2, 3] a
> {{
  a = Relu (x)  # two
  float[4, 3] b = Concat <axis = 0> (a, a)
  float[2, 3] o = Neg (other)
  float[2] q = Relu (w)
  y = Identity (a)
  z = Identity (b)
  c = MatMul (a, m)
}}
"""
    wanted = (
        text.replace("(float[2, 3] x,", "(float[n, 3] x,")
        .replace("=> (float[2, 3] y, float[4, 3] z, float[2, 2] c)",
                 '=> (float[n, 3] y, float["2*n", 3] z, float[n, 2] c)')
        .replace('@denotation("B") 2', '@denotation("B") n')
        .replace("  float[4, 3] b", '  float["2*n", 3] b')
    )  # fmt: skip
    result, notes, against = symbolic(text)
    assert result == wanted
    assert (notes, against) == ([], [])
    binary, *_ = symbolic(onnxtext.to_binary(text))
    assert binary == onnxtext.to_binary(wanted)


@pytest.mark.parametrize(
    ("nodes", "values", "said"),
    [
        ("y = Reshape (x, s)", "int64[2] s = {2, 3}", "or write 0 for this dimension in the shape"),
        (
            "y = Add (x, w)",
            "float[2, 3] w = [0, ...]",
            "`Add` accepts no other sizes (`Add` of `y`)",
        ),
        ("y = Concat <axis = 1> (x, w)", "float[2, 1] w = [0, ...]", "`Concat` accepts no other"),
        ("y = MatMul (w, x)", "float[3, 2] w = [0, ...]", "`MatMul` accepts no other size"),
        ("y = custom.Foo (x)", "", "sizes after `Foo` of `y` are unknown"),
        ("t = NonZero (x) y = Relu (t)", "", "sizes after `NonZero` of `t` are unknown"),
        ("y = Gemm (x, m, c)", "float[3, 4] m = [0, ...], float[2, 4] c = [0, ...]", "`Gemm` of"),
        (
            "y = If (b) <then_branch = t () => (u) { u = Reshape (x, s) }, "
            "else_branch = e () => (v) { v = Reshape (x, s) }>",
            "int64[2] s = {2, 3}, bool b = {true}",
            "`Reshape` of `u` accepts the size 2 of `n`, but not 4",
        ),
        ("t, u = Split <axis = 0> (x, s) y = Relu (t)", "int64[2] s = {1, 1}", "`Split` of `t`"),
    ],
)
def test_obstacles_are_reported(nodes: str, values: str, said: str) -> None:
    *_, against = symbolic(model(nodes, values))
    assert any(said in obstacle for obstacle in against), against


@pytest.mark.parametrize(
    ("nodes", "values", "right"),
    [
        ("y = Reshape (x, s)", "int64[2] s = {2, 3}", "s = {0, 3}"),
        ("y = Reshape (x, s)", "int64[2] s = [3, 2]", "s = [3, -1]"),
        ("y = Reshape <allowzero = 1> (x, s)", "int64[2] s = {2, 3}", "s = {-1, 3}"),
        ("s = Constant <value = int64[2] {2, 3}> () y = Reshape (x, s)", "", "int64[2] {0, 3}"),
        ("s = Constant <value_ints = [2, 3]> () y = Reshape (x, s)", "", "value_ints = [0, 3]"),
        (
            "f = Reshape (x, s) r = Reshape (f, t) y = Relu (r)",
            "int64[3] s = {1, 2, 3}, int64[2] t = {2, 3}",
            "s = {1, -1, 3}, int64[2] t = {-1, 3}",
        ),
        (
            "f = Reshape (x, s) y = MatMul (f, w)",
            "int64[2] s = {2, -1}, float[3, 5] w = [0, ...]",
            "s = {0, -1}",
        ),
    ],
)
def test_fixes_remove_obstacles(nodes: str, values: str, right: str) -> None:
    text = model(nodes, values)
    result, notes, against = symbolic(text, fix=True)
    assert right in result
    assert notes
    assert not against, against
    assert not [item for item in onnxtext.check(result) if item.severity != "info"]
    binary, *_ = symbolic(onnxtext.to_binary(text), fix=True)
    assert binary == onnxtext.to_binary(result)


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ("a = Reshape (x, s) e = Expand (one, s) y = Mul (a, e)", ""),
        ("y = Reshape (x, s) n = Neg (s)", ", int64[2] n"),
        ("y = Reshape (x, s)", ", int64[2] s"),
        (
            "y = Reshape (x, s) n = If (c) <then_branch = t () => (int64[2] p) { p = Neg (s) }, "
            "else_branch = e () => (int64[2] q) { q = Abs (s) }>",
            ", int64[2] n",
        ),
    ],
    ids=["a second shape", "another node", "an output", "a nested graph"],
)
def test_a_shape_that_something_else_uses_is_not_changed(nodes: str, outputs: str) -> None:
    text = model(nodes, "int64[2] s = {2, 3}, float[1] one = [1], bool c = {1}")
    text = text.replace("(float[?, ?] y)", f"(float[?, ?] y{outputs})")
    result, _, against = symbolic(text, fix=True)
    assert "s = {2, 3}" in result
    assert against


@pytest.mark.parametrize(
    "nodes",
    [
        "seq(float[2, 3]) s = SequenceConstruct (x)\na = SequenceAt (s, i)\ny = Relu (a)",
        "optional(float[2, 3]) o = Optional (x)\na = OptionalGetElement (o)\ny = Relu (a)",
    ],
)
def test_declared_types_of_elements_do_not_determine_sizes(nodes: str) -> None:
    result, _, against = symbolic(model(nodes, "int64 i = {0}, float[2, 3] a"))
    assert "float[n, 3] a" in result
    assert len(against) == 1


def test_several_inputs_get_the_same_symbol() -> None:
    text = model("y = Concat <axis = 1> (x, z)", inputs="float[2, 3] x, float[2, 1] z")
    assert symbolic(text)[2]
    result, _, against = symbolic(text, ("x", 0), ("z", 0))
    assert not against
    assert "(float[n, 3] x, float[n, 1] z)" in result
    with pytest.raises(OnnxTextError, match="different sizes"):
        symbolic(text, ("x", 0), ("z", 1))


def test_a_dimension_may_be_named_twice() -> None:
    text = model("y = Relu (x)")
    assert symbolic(text, ("x", 0), ("x", -2)) == symbolic(text)


def test_no_dimension_is_an_error() -> None:
    with pytest.raises(OnnxTextError, match="no dimension"):
        editing.apply(model("y = Relu (x)"), lambda tree: editing.make_symbolic(tree, [], "n"))


@pytest.mark.parametrize(
    "node",
    [
        "ConvTranspose <group = 0> (x, w)",
        "DepthToSpace <blocksize = 0> (x)",
        "SpaceToDepth <blocksize = 0> (x)",
    ],
)
def test_invalid_attributes_do_not_crash(node: str) -> None:
    values = "float[3, 4, 3, 3] w = [0, ...]"
    assert symbolic(model(f"y = {node}", values, "float[2, 3, 8, 8] x"))[2]


@pytest.mark.parametrize(
    ("dims", "symbol", "said"),
    [
        ([("z", 0)], "n", "there is no input `z`"),
        ([("x", 2)], "n", "so dimension 2 does not exist"),
        ([("x", 0)], "7", "cannot be the name"),
        ([("x", 0)], " ", "cannot be the name"),
    ],
)
def test_impossible_dimensions_are_errors(dims: Any, symbol: str, said: str) -> None:
    with pytest.raises(OnnxTextError, match=said):
        symbolic(model("y = Relu (x)"), *dims, symbol=symbol)


# ---- Comparison with onnxruntime ------------------------------------------------------------


def session(data: bytes) -> Any:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def fed(inputs: list[Any], dims: list[tuple[str, int]], size: int, seed: int) -> dict[str, Any]:
    """Return random inputs."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for value in inputs:
        tensor = value.type.tensor_type
        shape = [
            size if (value.name, index) in dims else dim.dim_value if dim.dim_value > 0 else 2
            for index, dim in enumerate(tensor.shape.dim)
        ]
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if tensor.elem_type == onnx.TensorProto.STRING:
            found[value.name] = np.full(shape, "a", object)
        elif np.issubdtype(kind, np.floating):
            found[value.name] = rng.random(shape).astype(kind)
        else:
            found[value.name] = rng.integers(0, 2, shape).astype(kind)
    return found


def judge(data: bytes, pick: random.Random | None = None) -> str:
    """Make dimension 0 of the inputs, or a random one, symbolic; without obstacles, run the model.

    Returns:
        `skipped`, `against` or `clean`.
    """
    proto = onnx.ModelProto.FromString(data)
    stored = {tensor.name for tensor in proto.graph.initializer}
    inputs = [value for value in proto.graph.input if value.name not in stored]
    if any(not value.type.tensor_type.HasField("shape") for value in inputs):
        return "skipped"
    sizes = {
        (value.name, index): dim.dim_value
        for value in inputs
        for index, dim in enumerate(value.type.tensor_type.shape.dim)
        if dim.dim_value > 0 and (pick is not None or index == 0)
    }
    if not sizes:
        return "skipped"
    first = next(iter(sizes)) if pick is None else pick.choice(list(sizes))
    old = sizes[first]
    dims = [key for key, size in sizes.items() if size == old] if pick is None else [first]
    given = fed(inputs, dims, old, 1)
    try:
        before = session(data).run(None, given)
    except Exception:
        return "skipped"  # the model rejects the random inputs
    made, _, against = symbolic(data, *dims, fix=True, symbol="drawn")
    if against:
        return "against"
    running = session(made)
    for one, other in zip(before, running.run(None, given), strict=True):
        if isinstance(one, np.ndarray) and one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    for size in (2 * old, 3 * old):
        results = running.run(None, fed(inputs, dims, size, size))
        for value, result in zip(
            onnx.ModelProto.FromString(made).graph.output, results, strict=True
        ):
            shape = value.type.tensor_type.shape.dim
            for dim, real in zip(shape, getattr(result, "shape", ()), strict=False):
                assert dim.dim_param != "drawn" or real == size, value.name
                assert not dim.dim_value or dim.dim_value == real, value.name
    return "clean"


@pytest.mark.data
@pytest.mark.parametrize("name", ["cnn_ts", "cnn_dyn", "cnn_ft", "cnn_qdq", "cnn_ts_dynamic_batch"])
def test_exported_networks_run_with_any_batch(name: str) -> None:
    path = next(path for path in exports() if path.stem == name)
    assert judge(path.read_bytes()) in ("clean", "skipped")


@pytest.mark.data
def test_clean_models_run_with_any_size() -> None:
    rng = seeded()
    for file in rng.sample(shared_models(), 8):
        data = shared_model(file)
        if len(data) < 300_000 and not [
            item for item in onnxtext.check(data) if item.severity == "error"
        ]:
            judge(data)


@pytest.mark.slow
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("file", shared_models())
def test_every_clean_model_runs_with_any_size(file: str, other: bool) -> None:
    data = shared_model(file)
    if not [item for item in onnxtext.check(data) if item.severity == "error"]:
        judge(data, seeded() if other else None)


def test_sizes_of_many_inputs_take_linear_time() -> None:
    """`Sum` with n inputs must not take n * n comparisons."""

    def calls(count: int) -> int:
        text = model(f"s = Sum ({', '.join(['x'] * count)})\ny = Relu (s)")
        assert symbolic(text)[1:] == ([], [])
        return count_calls(lambda: symbolic(text))

    assert calls(1_000) < 6 * calls(200)


def test_inputs_that_cannot_be_broadcast_together_are_obstacles() -> None:
    text = model("y = Sum (x, w, v)", "float[2, 3] w = [0, ...], float[1, 1] v = [0]")
    assert len(symbolic(text)[2]) == 1
    text = model("y = Sum (x, w, v)", "float[1, 3] w = [0, ...], float[3] v = [0, ...]")
    assert not symbolic(text)[2]
