# SPDX-License-Identifier: Apache-2.0
"""Findings about symbolic dimensions with only one possible size, and about lost backslashes."""

from __future__ import annotations

import onnx
import pytest

import onnxtext
from benchmarks import dynamic
from benchmarks.judge import judged
from onnxtext import Diagnostic
from tests.checker.models import codes, text
from tests.corpus import SHARED
from tests.diagnostics.found import fix_of, help_of


def forced(source: str | bytes) -> list[Diagnostic]:
    return [item for item in onnxtext.check(source) if item.code == "dim-forced"]


@pytest.mark.parametrize(
    ("inputs", "nodes", "number"),
    [
        ("float[batch, 256] x", "y = Reshape (x, s)", 1),
        ("float[batch, 16, 16] x", "y = Reshape (x, s)", 1),
        ("float[batch, 128] x", "y = Reshape (x, s)", 2),
        ("float[16, batch, 2] x", "r = Relu (x)\ny = Reshape (r, s)", 8),
        ("float[batch, 256] x, float[1, 256] o", "y = Concat <axis = 1> (x, o)", 1),
        ("float[batch, 256] x", "r = Squeeze (x, zero)\ny = Unsqueeze (r, zero)", 1),
        ("float[batch, 256] x", "float[1, 256] r = Relu (x)\ny = Neg (r)", 1),
        ("float[batch, 256] x", "t = Transpose (x)\ny = MatMul (t, rows)", 7),
        ("float[batch, 256] x", "y = Concat <axis = 1> (x, rows)", 7),
        ("float[2, batch] x", "y = MatMul (x, square)", 256),
        ("float[batch, 2, 8, 16] x", "r = Conv (x, kernel)\ny = Reshape (r, s)", 1),
        (
            "float[16, 16, batch] x",
            "t = Shape (x)\nu = Gather (t, zero)\n"
            "r = Concat <axis = 0> (u, sixteen)\nf = Reshape (x, r)\ny = MatMul (f, square)",
            16,
        ),
    ],
)
def test_dimensions_that_allow_only_one_size_are_found(
    inputs: str, nodes: str, number: int
) -> None:
    source = text(
        nodes,
        inputs=inputs,
        outputs="float[?, ?] y",
        values="int64[2] s = {1, 256},\nint64[1] zero = {0},\nint64[1] sixteen = {-1},\n"
        "float[7, 256] rows = [0, ...],\nfloat[256, 256] square = [0, ...],\n"
        "float[2, 2, 1, 1] kernel = [0, ...],",
    )
    (finding,) = forced(source)
    assert finding.severity == ("info" if "(x, o)" in nodes else "warning")
    assert f"`batch` must be {number}" in finding.message
    first, second = finding.labels[:2]
    assert source[second.span.start : second.span.end] == inputs.partition(" x")[0]
    line = source[source.rfind("\n", 0, first.span.start) + 1 :].partition("\n")[0]
    assert "=" in line
    assert "main" not in line
    assert [item.code for item in onnxtext.check(onnxtext.to_binary(source))].count(
        "dim-forced"
    ) == 1


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Reshape (x, rest)",
        "y = Relu (x)",
        "y = Add (x, row)",
        "y = If (c) <then_branch = t () => (float[?, ?] a) { a = Reshape (x, s) },"
        " else_branch = e () => (float[?, ?] b) { b = Relu (x) }>",
        "y = MatMul (x, square)",
    ],
)
def test_dimensions_that_allow_more_sizes_are_not_found(nodes: str) -> None:
    source = text(
        nodes,
        inputs="float[batch, 256] x, bool c",
        outputs="float[?, ?] y",
        values="int64[2] rest = {-1, 256},\nint64[2] s = {1, 256},\nfloat[1, 256] row = [0, ...],\n"
        "float[256, 256] square = [0, ...],\nfloat[7, 256] rows = [0, ...],",
    )
    assert not forced(source)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("y = Add (x, rows)", "the dimension `batch` must be 1 or 7: `Add` accepts no other sizes"),
        ("r = Relu (x)\ny = MatMul (r, stack)", ""),
        ("y = MatMul (images, stack)", "the dimension `N` must be 1 or 3: `MatMul` accepts"),
    ],
)
def test_broadcast_dimensions_with_two_sizes_are_notes(nodes: str, message: str) -> None:
    source = text(
        nodes,
        inputs="float[batch, 256] x, float[N, 2, 256] images",
        outputs="y",
        values="float[7, 256] rows = [0, ...],\nfloat[3, 256, 5] stack = [0, ...],",
    )
    assert [item.message.startswith(message) for item in forced(source)] == [True] * bool(message)
    assert all(item.severity == "info" for item in forced(source))
    assert all("1 or" in str(item.help) for item in forced(source))


INPUTS = "float[a, b] x, float[c, d] z, float[8, e] v"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("y = MatMul (x, z)", "the dimension `c` must equal `b`: `MatMul` accepts no other sizes"),
        ("r = Relu (x)\ny = MatMul (r, z)", "the dimension `c` must equal `b`: `MatMul`"),
        ("r = Pad (x, pads)\ny = MatMul (r, z)", "the dimension `c` must equal `b + 2`: `MatMul`"),
        ("y = MatMul (x, v)", "the dimension `b` must be 8: `MatMul` accepts no other size"),
    ],
)
def test_sizes_that_follow_from_inputs_are_notes(nodes: str, message: str) -> None:
    source = text(
        nodes, inputs=INPUTS, outputs="float[?, ?] y", values="int64[4] pads = {0, 1, 0, 1},"
    )
    (finding,) = forced(source)
    assert finding.message.startswith(message)
    assert finding.severity == ("warning" if "pads" in nodes else "info")
    binary = forced(onnxtext.to_binary(source))
    assert [item.message for item in binary] == [finding.message]


def test_equal_symbols_because_of_a_constant_are_warnings() -> None:
    source = text(
        "f = Reshape (x, flat)\ng = Reshape (z, flat)\ny = Concat <axis = 0> (x, z)",
        inputs="float[a, 4] x, float[a, d] z",
        outputs="float[?, ?] y",
        values="int64[1] flat = {-1},",
    )
    (finding,) = forced(source)
    assert "`d` must be 4" in finding.message
    declared = text(
        "y = Relu (x)\nfloat[b, 4] r = Neg (x)",
        inputs="float[a, 4] x, float[b] z",
        outputs="float[?, ?] y",
    )
    (finding,) = forced(declared)
    assert finding.severity == "warning"
    assert "`b` must equal `a`: the declared types allow no other sizes" in finding.message


def test_fixes_with_allowzero_write_minus_one() -> None:
    """With `allowzero`, 0 in a shape is the size 0; otherwise it copies the size of the input."""
    source = text(
        "y = Reshape <allowzero = 1> (x, s)",
        inputs="float[batch, 16] x",
        outputs="float[?, ?] y",
        values="int64[2] s = {1, 16},",
    )
    (finding,) = forced(source)
    assert fix_of(finding).edits[0].text == "-1"


@pytest.mark.parametrize(
    ("dims", "shape", "right"),
    [
        ("batch, 16, 16", "{1, 256}", "0"),
        ("batch, 16, 16", "[1, 256]", "0"),
        ("16, batch, 16", "[16, 1, 16]", "0"),
        ("16, 16, batch", "[16, 1, 16]", "-1"),
        ("16, batch, 16", "[16, 48]", "-1"),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_the_literal_that_fixes_a_size_has_a_fix(
    dims: str, shape: str, right: str, constant: bool
) -> None:
    count = shape.count(",") + 1
    source = text(
        (f"s = Constant <value = int64[{count}] {shape}> ()\n" if constant else "")
        + "r = Relu (x)\ny = Reshape (r, s)",
        inputs=f"float[{dims}] x",
        outputs="float[" + ", ".join("?" * count) + "] y",
        values="" if constant else f"int64[{count}] s = {shape},",
    )
    (finding,) = forced(source)
    (edit,) = fix_of(finding).edits
    assert edit.text == right
    assert source[edit.span.start : edit.span.end] in ("1", "48")
    fixed = source[: edit.span.start] + edit.text + source[edit.span.end :]
    assert not codes(fixed)
    assert any("`x` -> `r`" in note for note in finding.notes)
    assert forced(onnxtext.to_binary(source))


def test_a_symbol_declared_for_a_computed_number_is_found() -> None:
    source = text(
        "r = Relu (x)\ny = Identity (w)",
        inputs="float[batch, 4] x",
        outputs="float[batch, 4] y, float[batch, 4] r",
        values="float[3, 4] w = [0, ...],",
    )
    (finding,) = forced(source)
    assert "`batch` must be 3: the declared type of `y`" in finding.message


def test_a_default_does_not_force_a_size() -> None:
    source = text(
        "y = Relu (d)", inputs="float[n] d = {1, 2, 3}", outputs="float[n] y", opsets="21"
    )
    assert "dim-forced" not in codes(source)


def test_a_contradiction_is_reported_once() -> None:
    source = text(
        "a = Reshape (x, s)\nb = Reshape (x, t)\ny = Concat <axis = 0> (a, b)",
        inputs="float[n, 4] x",
        outputs="float[?, ?] y",
        values="int64[2] s = {1, 4}, int64[2] t = {2, 4},",
    )
    assert codes(source) == {"dim-variable-conflict"}


def made_dynamic(name: str) -> bytes:
    """Return an exported model of fixed batch size with symbolic inputs and outputs."""
    assert SHARED is not None
    model = onnx.load(SHARED / "exports" / name)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    del model.graph.value_info[:]
    return model.SerializeToString()


@pytest.mark.data
def test_forced_sizes_of_exports_made_dynamic_are_found() -> None:
    """The dynamo exporter reshapes to a constant; the TorchScript exporter flattens.

    onnxruntime runs `cnn_ts_dynamic_batch` with a batch of two.
    """
    assert SHARED is not None
    (finding,) = forced(made_dynamic("cnn_dyn.onnx"))
    assert "`N` must be 1: `Reshape`" in finding.message
    assert ", or write -1 for this dimension in the shape" in help_of(finding)
    assert any(note.startswith("the size comes from `image`") for note in finding.notes)
    assert not forced(made_dynamic("cnn_ts.onnx"))
    assert not forced((SHARED / "exports" / "cnn_ts_dynamic_batch.onnx").read_bytes())


@pytest.mark.slow
@pytest.mark.data
def test_findings_of_models_made_dynamic_agree_with_onnxruntime() -> None:
    """Most models that onnxruntime rejects have findings; others only on declared sizes."""
    pytest.importorskip("onnxruntime", reason="onnxruntime needs Python 3.11")
    assert SHARED is not None
    reported, failed = 0, 0
    for name, model, result in dynamic.models(SHARED):
        before = {item.message for item in dynamic.forced(model)}
        new = [item for item in dynamic.forced(result) if item.message not in before]
        state = judged(result, dynamic.SIZES).state
        if state in ("load", "run"):
            failed += 1
            reported += bool(new)
        elif state == "fine":
            declared = [item.code == "dim-variable-conflict" or "declared" in item.message
                        for item in new]  # fmt: skip
            assert all(declared), (name, new)
    assert reported >= 0.85 * failed, (reported, failed)


# ---- Backslashes --------------------------------------------------------------------------------


def lost(source: str) -> list[Diagnostic]:
    return [item for item in onnxtext.check(source) if item.code == "backslash-lost"]


def with_attribute(value: str) -> str:
    return text(f"y = Relu (x)\nz = e.Op <a = {value}> (x)", opsets='21, "e": 1')


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (r'"c:\temp"', 1),
        (r'"a\nb\tc"', 2),
        (r'"it\'s"', 1),
        (r'"\\\x"', 1),
        (r'["a", "b\c"]', 1),
        (r'"c:\\temp"', 0),
        (r'"say \"hi\""', 0),
        (r'"\\n"', 0),
        (r'b"a\nb"', 0),
        ('"""\n    a\\nb\n    """', 0),
    ],
)
def test_lost_backslashes_are_found_and_fixed(value: str, count: int) -> None:
    source = with_attribute(value)
    found = lost(source)
    assert sum(len(item.labels) for item in found) == count
    before = onnxtext.parse(source).graph.nodes[1].attributes[0].value
    for item in found:
        assert item.severity == "warning"
        after = fix_of(item).apply(source)
        assert not lost(after)
        value_after = onnxtext.parse(after).graph.nodes[1].attributes[0].value
        assert str(value_after).count("\\") > str(before).count("\\")


def test_backslashes_outside_of_plain_strings_are_not_found() -> None:
    source = with_attribute('"a"').replace("y = ", '# "c:\\temp"\n  y = ')
    assert not lost(source)
    comment = "# onnxtext: ignore[backslash-lost]"
    suppressed = with_attribute(r'"c:\temp"').replace("(x)\n}", f"(x) {comment}\n}}")
    assert comment in suppressed
    assert not onnxtext.check(suppressed, ignore=["op-unknown-domain"])


def test_printed_strings_lose_no_backslash() -> None:
    """`from_binary` prints no string with such a backslash."""
    for data in (b"c:\\temp", b"\\", b'\\"', b"a\nb\\n", b"\x00\\x00", b'"""\\'):
        node = onnx.helper.make_node("Op", [], ["y"], name=data.decode(), domain="e")
        node.attribute.append(onnx.helper.make_attribute("a", data))
        graph = onnx.helper.make_graph([node], "g", [], [], doc_string=data.decode())
        model = onnx.helper.make_model(graph)
        source = onnxtext.from_binary(model.SerializeToString())
        assert not lost(source)
