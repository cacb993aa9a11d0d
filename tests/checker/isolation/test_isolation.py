# SPDX-License-Identifier: Apache-2.0
"""onnxtext survives models on which onnx's inference aborts, crashes, loops or exhausts memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import onnxtext
from onnxtext.checker.isolation import inference_client
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.isolation.inference_client import InferenceClient
from onnxtext.diagnostics import Diagnostic
from tests.running import limited
from tests.seeds import fresh_seed

pytestmark = pytest.mark.thorough

CODE = "onnx-inference-failed"

CASES = {
    "split-abort": (18, "float[6] x", "a, b, c = Split <num_outputs = 2> (x)"),
    "split-memory": (18, "float[6] x", "a = Split <num_outputs = 4294967296> (x)"),
    "einsum-loop": (
        19,
        "float[3, 3, 3] x, float[3, 3, 3] w",
        'a = l.Einsum <equation = "......ii,...jj->...ij"> (x, w)',
    ),
    "gathernd-segfault": (
        12,
        "float[2, 3] x, int64[2, 1] i",
        "a = GatherND <batch_dims = -2147483648> (x, i)",
    ),
    "layernorm-segfault": (
        17,
        "float[2, 3] x, float[3] w",
        "a, m, v = LayerNormalization <axis = 9223372036854775807> (x, w)",
    ),
}
FUNCTION = """\
<domain: "l", opset_import: [19]>
Einsum <equation> (x, w) => (a) { a = Einsum <equation: string = @equation> (x, w) }
"""
"""A function whose body hides the equation from the rule about malformed equations."""
CALM = "<ir_version: 10, opset_import: [18]> g (float[2] x) => (float[2] y) { y = Relu (x) }"


def bomb(name: str) -> str:
    opset, inputs, nodes = CASES[name]
    header, rest = f"<ir_version: 10, opset_import: [{opset}]>", ""
    if "l." in nodes:
        header, rest = header.replace("]", ', "l": 1]'), FUNCTION
    graph = f"g ({inputs}, float[2] c) => (float[3] z) {{\n  {nodes}\n  z = Relu (c)\n}}\n"
    return f"{header}\n{graph}{rest}"


def calls(count: int, body: str = "b = l.F{0} (a)\n  c = l.F{0} (b)") -> str:
    """Return a model with a chain of functions; each one calls the next one twice."""
    parts = [
        '<ir_version: 10, opset_import: [18, "l": 1]>\n'
        "g (float[2] x) => (float[2] y) { y = l.F0 (x) }\n"
    ]
    for index in range(count):
        inner = body.format(index + 1) if index + 1 < count else "c = Relu (a)"
        header = '<domain: "l", opset_import: [18, "l": 1]>'
        parts.append(f"{header}\nF{index} (a) => (c) {{\n  {inner}\n}}\n")
    return "".join(parts)


def failures(found: list[Diagnostic]) -> list[Diagnostic]:
    return [item for item in found if item.code == CODE]


def run(*arguments: str, memory: int = 4 << 30) -> subprocess.CompletedProcess[str]:
    """Run the command line with a memory limit if the system has one."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [sys.executable, "-m", "onnxtext", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit if sys.platform == "linux" else None,
    )


# ---- Models that kill onnx --------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_node_that_kills_inference_is_reported_and_the_rest_is_checked(name: str) -> None:
    found = onnxtext.check(bomb(name))
    errors = {item.code for item in found if item.severity == "error"}
    assert "shape-mismatch" in errors  # z is float[2]
    assert len(errors) > 1  # the node itself, by a rule or because inference fails
    for item in failures(found):
        assert item.severity == "error"
        text = bomb(name)
        span = item.labels[0].span
        assert text[span.start : span.end] in CASES[name][2]


def test_negative_dimensions_are_not_passed_to_inference() -> None:
    """onnx's inference of `Slice` aborts for negative dimensions."""
    found = onnxtext.check(
        "<ir_version: 10, opset_import: [13]> g (float[-2147483648, 3] x) => (float[2] z) {"
        " s = Constant <value = int64[1] {0}> () e = Constant <value = int64[1] {1}> ()"
        " z = Slice (x, s, e, s) }"
    )
    assert not failures(found)
    assert {item.code for item in found} == {"dim-value-negative", "shape-mismatch"}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("check", "gathernd-segfault"),
        ("check", "split-memory"),
        ("to-binary", "split-abort"),
        ("to-binary", "einsum-loop"),
    ],
)
def test_commands_survive_crashes_of_inference(command: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "m.onnxtxt"
    file.write_text(bomb(name))
    done = run(command, str(file))
    assert done.returncode == 1
    assert "shape-mismatch" in done.stderr
    assert "terminate called" not in done.stderr
    assert not (tmp_path / "m.onnx").exists()
    assert not list(tmp_path.glob("core*"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("split-abort", {"crash"}),
        ("gathernd-segfault", {"crash"}),
        ("einsum-loop", {"time"}),
        ("split-memory", {"memory", "time"}),
    ],
)
def test_the_failure_names_the_cause_of_death(name: str, kind: set[str]) -> None:
    answer = InferenceClient().infer_model(onnxtext.to_binary(bomb(name)))
    assert isinstance(answer, Failure)
    assert answer.kind in kind


def test_calls_are_inferred_once_for_each_kind_of_arguments() -> None:
    with limited(5):
        assert not onnxtext.check(calls(22))
        assert not onnxtext.check(calls(80))
    # A wrong node in the innermost body is found through 2 ** 60 paths.
    wrong = calls(60).replace("c = Relu (a)", "c = Transpose <perm = [0, 1]> (a)")
    [found] = onnxtext.check(wrong)
    assert "do not fit" in found.message


def test_many_kinds_of_arguments_terminate() -> None:
    """Each level pads by a different amount: 2 ** 40 kinds of arguments."""
    body = "b = l.F{0} (a)\n  d = Concat <axis = 0> (a, b)\n  c = l.F{0} (d)"
    with limited(20):
        onnxtext.check(calls(40, body))


def test_failures_of_one_model_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference_client, "MAX_FAILED", 3)
    opset, _, node = CASES["einsum-loop"]
    sizes = range(3, 8)  # different nodes, for which no answer is cached
    inputs = ", ".join(f"float[3, 3, {size}] x{size}" for size in sizes)
    nodes = "\n".join(node.replace("a =", f"a{n} =").replace("x, w", f"x{n}, x{n}") for n in sizes)
    header = f'<ir_version: 10, opset_import: [{opset}, "l": 1]>'
    text = f"{header} g ({inputs}) => () {{{nodes}}} {FUNCTION}"
    found = failures(onnxtext.check(text))
    assert [item.severity for item in found] == ["error"] * (len(found) - 1) + ["warning"]
    assert 2 <= len(found) <= 4


def test_large_weights_are_not_sent() -> None:
    from onnxtext.checker.isolation.strip_weights import without_weights

    text = """<ir_version: 10, opset_import: [18]>
g (float[2, 600000] x) => (float[2, 1] y) <float[600000, 1] w = [0, ...], int64[200000] i = [0, ...]> {
  y = MatMul (x, w)
}"""  # noqa: E501
    data = onnxtext.to_binary(text)
    light = without_weights(data)
    assert 1_600_000 < len(light) < 1_610_000  # the integers may be a shape
    assert InferenceClient().infer_model(light) == []
    wrong = onnxtext.to_binary(text.replace("float[2, 600000] x", "float[2, 600001] x"))
    assert isinstance(InferenceClient().infer_model(without_weights(wrong)), str)
    assert without_weights(b"\x3a\xff\xff\xff\xff\x0f" + bytes(1 << 20))  # malformed


# ---- Random models ----------------------------------------------------------------------------


def _attack(count: int, *options: str) -> None:
    seed = fresh_seed()
    script = ["-W", "ignore", "-m", "tests.checker.bombs", str(count), str(seed), *options]

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    done = subprocess.run(
        [sys.executable, *script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + 2 * count,
        cwd=Path(__file__).parents[3],
        preexec_fn=limit if sys.platform == "linux" else None,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_random_models_do_not_stop_a_check() -> None:
    _attack(600)


@pytest.mark.parametrize("node", ["Equal (e, x)", "Tile (e, repeats)"])
def test_a_huge_size_beside_an_empty_one_needs_no_memory(node: str) -> None:
    huge = 1 << 62
    source = (
        f"<ir_version: 10, opset_import: [21]> g (int64[{huge}, N, 1] x) => (y) "
        f"<int64[0, 2] e = [], int64[2] repeats = [1, {huge}]> {{ y = {node} }}"
    )
    assert isinstance(onnxtext.check(source), list)


@pytest.mark.slow
def test_many_random_models_do_not_stop_a_check() -> None:
    _attack(20_000, "--many")
