# SPDX-License-Identifier: Apache-2.0
"""Inferred types written into a model: nothing else changes, and engines still accept it."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

import onnxtext
from onnxtext import editing
from onnxtext.editing.write_inferred_types import write_types
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.corpus import exports, shared_model, shared_models
from tests.running import count_calls
from tests.seeds import seeded

HEAD = '<onnxtext: 1, ir_version: 10, opset_import: ["":21, "own":1]>\n'
TEXT = """\
# head
<onnxtext: 1, ir_version: 10, opset_import: ["":21]>
g (float[N, 4] x, bool c) => (float[N, ?] y) # graph
< float[4] w = [1,2,3,4], @doc("kept") float[@denotation("DATA_BATCH") ?, 4] a >
{
  # first
  [one] a = Relu(x) # behind
  [two] b   =   Mul( a, w )
  d = If (c) <
    then_branch = t () => (u) { q=Neg (b)  u = Neg (q) },  # takes b
    else_branch = e () => (float[N, 4] v) { v = Abs (a) }>
  [drop] e, f = Split <axis=1, num_outputs=2> (d)
  s = Concat<axis=0>(e, f)
  float[?] r = ReduceSum <keepdims = 0> (s, one)
  nz = NonZero (s)
  one = Constant <value = int64[1] {1}> ()
  unknown = Identity (x)
  y = Softmax <axis: int = 1> (b)
}
"""
TYPED = (
    TEXT.replace("float[N, ?] y", "float[N, 4] y")
    .replace('float[@denotation("DATA_BATCH") ?, 4] a', 'float[@denotation("DATA_BATCH") N, 4] a')
    .replace("b   =", "float[N, 4] b   =")
    .replace("d = If", "float[N, 4] d = If")
    .replace("() => (u) { q=", "() => (float[N, 4] u) { float[N, 4] q=")
    .replace("[drop] e, f", "[drop] float[N, 2] e, float[N, 2] f")
    .replace("s = Concat", 'float["2*N", 2] s = Concat')
    .replace("float[?] r", 'float["2*N"] r')
    .replace("nz =", "int64[2, ?] nz =")
    .replace("one = Constant", "int64[1] one = Constant")
    .replace("unknown =", "float[N, 4] unknown =")
)


def sorted_text(text: str) -> str:
    """Return a text in which a constant is before its use."""
    line = next(line for line in text.splitlines() if " one = Constant" in line)
    rest = text.replace(f"{line}\n", "")
    return rest.replace("  # first\n", f"{line}\n  # first\n")


def typed(content: str | bytes) -> Any:
    return editing.apply(content, editing.write_types).content


def test_inferred_types_change_nothing_else() -> None:
    text, wanted = sorted_text(TEXT), sorted_text(TYPED)
    assert typed(text) == wanted
    assert typed(wanted) == wanted
    assert typed(onnxtext.to_binary(text)) == onnxtext.to_binary(wanted)
    assert comments_of(text) == comments_of(wanted)


@pytest.mark.parametrize(
    ("declared", "nodes", "wanted"),
    [
        ("float[M, 4] a,", "a = Relu (x)", "float[M, 4] a"),  # a name stays
        ("float[unk__3, 4] a,", "a = Relu (x)", "float[unk__3, 4] a"),
        ("float[] a,", "a = Relu (x)", "float[N, 4] a"),
        ("", "a = SequenceConstruct (x)", "seq(float[N, 4]) a = Seq"),
        ("", "a = Optional (x)", "optional(float[N, 4]) a = Opt"),
        ("", "a = custom.Foo (x)", "  a = custom"),
        ("", "float[7] a = custom.Foo (x)\nb = Relu (a)", "float[7] b = Relu"),
        ("", "float[unk__0] a = custom.Foo (x)\nb = Relu (a)", "float[?] b = Relu"),
        ("float[N, 4] a, float[N, 4] gone", "a = Relu (x)", "float[N, 4] gone"),
    ],
)
def test_each_inferred_type_is_written(declared: str, nodes: str, wanted: str) -> None:
    head = HEAD.replace('"own"', '"custom"')
    values = f" <{declared}>" if declared else ""
    text = f"{head}g (float[N, 4] x) => (float[N, 4] y){values} {{\n  {nodes}\n  y = Neg (x)\n}}\n"
    assert wanted in typed(text)
    assert typed(typed(text)) == typed(text)


CALLS = (
    HEAD
    + """\
g (float[N, 4] x, float[N, 5] z) => (float[N, 4] y) {
  y = own.f (x)
  other = own.f (z)
}
<domain: "own", opset_import: ["":21]>
f (a) => (b) { c = Relu (a)  d = Shape (c)  b = Neg (c) }
"""
)


@pytest.mark.parametrize("version", [8, 9, 10, 11])
def test_functions_get_types_that_hold_in_all_calls(version: int) -> None:
    """Functions have no value infos before IR version 10."""
    result = typed(CALLS.replace("ir_version: 10", f"ir_version: {version}"))
    assert "float[N, 5] other" in result
    if version < 10:
        assert "{ c = Relu (a)  d = Shape (c)  b = Neg (c) }" in result
    else:
        # `N` is a name of the main graph, and the second sizes differ.
        assert "float[?, ?] c = Relu (a)  int64[2] d = Shape (c)  float[?, ?] b" in result


def test_ordered_value_infos_keep_their_order() -> None:
    text = (
        HEAD
        + """\
@value_info("c", outputs)
g (float[N] x) => (float[N] y) <@doc("k") float[?] a> {
  a = Relu (x)
  b = Relu (a)
  float[?] c = Relu (b)
  y = Neg (c)
}
"""
    )
    result = onnx.ModelProto.FromString(onnxtext.to_binary(typed(text)))
    assert [value.name for value in result.graph.value_info] == ["c", "y", "a", "b"]
    assert result.graph.value_info[2].doc_string == "k"
    assert {value.type.tensor_type.shape.dim[0].dim_param for value in result.graph.value_info} == {
        "N"
    }


def without_added(old: Any, new: Any) -> None:
    """Remove the added value infos of a graph, and give others their old types."""
    names = {value.name for value in old.value_info}
    kept = [value for value in new.value_info if value.name in names]
    assert [value.name for value in kept] == [value.name for value in old.value_info]
    pairs = list(zip(old.value_info, kept, strict=True))
    if isinstance(old, onnx.GraphProto):
        pairs += zip(old.output, new.output, strict=True)
    for before, after in pairs:
        after.type.CopyFrom(before.type)
        if not before.HasField("type"):
            after.ClearField("type")
    kept = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in kept]
    del new.value_info[:]
    new.value_info.extend(kept)
    for before, after in zip(old.node, new.node, strict=True):
        for one, other in zip(before.attribute, after.attribute, strict=True):
            if one.HasField("g"):
                without_added(one.g, other.g)
            for left, right in zip(one.graphs, other.graphs, strict=True):
                without_added(left, right)


def accepted(data: bytes) -> bool:
    try:
        onnx.checker.check_model(data, full_check=True)
    except Exception:
        return False
    return True


def loads(data: bytes) -> bool:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    try:
        onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


def check_laws(data: bytes) -> None:
    result = typed(data)
    assert typed(result) == result
    if result == data:
        return
    old, new = onnx.ModelProto.FromString(data), onnx.ModelProto.FromString(result)
    without_added(old.graph, new.graph)
    for before, after in zip(old.functions, new.functions, strict=True):
        without_added(before, after)
    assert new == old
    if not [item for item in onnxtext.check(data) if item.severity == "error"]:
        assert not accepted(data) or accepted(result)
        assert not loads(data) or loads(result)
    if len(data) < 200_000:
        text = onnxtext.from_binary(data)
        assert onnxtext.to_binary(typed(text)) == result


@pytest.mark.data
def test_inferred_types_keep_the_laws_for_real_models() -> None:
    rng = seeded()
    for file in rng.sample(shared_models(), 8):
        data = shared_model(file)
        if len(data) < 500_000:
            check_laws(data)


@pytest.mark.data
def test_an_export_is_fully_typed() -> None:
    path = next(path for path in exports() if path.name == "lm_ts.onnx")
    graph = onnx.ModelProto.FromString(typed(path.read_bytes())).graph
    known = {value.name for value in (*graph.value_info, *graph.output)}
    assert {name for node in graph.node for name in node.output} <= known


@pytest.mark.slow
@pytest.mark.parametrize("file", shared_models())
def test_inferred_types_keep_the_laws_for_every_model(file: str) -> None:
    check_laws(shared_model(file))


def test_the_symbols_of_outer_graphs_are_found_once() -> None:
    def calls(count: int) -> int:
        nodes = "".join(
            f"float[N{i}] x{i} = F (c) t{i} = If (c) "
            f"<then_branch = t () => (a) {{ a = Relu (x{i}) }}, "
            f"else_branch = e () => (a) {{ a = Relu (x{i}) }}> "
            for i in range(count)
        )
        text = f"<ir_version: 10, opset_import: [21]> g (bool c) => () {{ {nodes} }}"
        return count_calls(lambda: write_types(parse_model(Source(text, "t"))))

    assert calls(80) < 6 * calls(20)
