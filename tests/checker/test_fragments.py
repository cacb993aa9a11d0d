# SPDX-License-Identifier: Apache-2.0
"""Graphs, functions and nodes without a model are checked as far as possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

import onnxtext
from onnxtext.checker.engine.fix_loop import fix_text
from tests.checker.models import codes
from tests.cli.command import run
from tests.corpus import onnx_directory, wheel_models

GRAPH = "g (float[N, 4] x, float[3, 5] w, bool c) => (float[N, 4] y) {{\n  {nodes}\n}}\n"
FUNCTION = '<domain: "my", opset_import: ["": 21]>\nf <alpha> (a, b) => (c) {{\n  {nodes}\n}}\n'


def errors(source: Any) -> set[str]:
    return {item.code for item in onnxtext.check(source) if item.severity == "error"}


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("y = Relu (x)", set()),
        ("y = Rellu (x)", {"op-unknown"}),
        ("y = Relu (x, x)", {"input-count"}),
        ("y = Relu <axs = 1> (x)", {"attribute-unknown"}),
        ("y = LeakyRelu <alpha = 1> (x)", {"attribute-type"}),
        ("y = Add (x, c)", {"type-mismatch"}),
        ("v = MatMul (x, w)\ny = Relu (x)", {"shape-mismatch"}),
        ("y = Neg (a)\na = Relu (x)", {"node-order"}),
        ("y = Neg (y)", {"graph-cycle"}),
        ("y = Neg (x)\ny = Neg (x)", {"value-redefined"}),
        ("a = Neg (x)", {"graph-output-undefined"}),
        # Undefined values may be outer values; operators of other domains are unknown.
        ("y = Add (x, outer)", set()),
        ("y = org.example.Anything <a = 1> (x, outer)", set()),
        # Each is valid in some version of the operators, except the last one.
        ("y = Squeeze <axes = [0]> (outer)", set()),
        ("y = Squeeze (outer, axes)", set()),
        ("y = Squeeze <axes = [0]> (outer)\nz = Gelu (x)", {"attribute-unknown"}),
        ('y = Upsample <mode = "nearest"> (x, scales)', set()),
    ],
)
def test_single_graphs_are_checked(nodes: str, wanted: set[str]) -> None:
    text = GRAPH.format(nodes=nodes)
    assert errors(text) == wanted
    assert errors(onnx.parser.parse_graph(text)) == wanted


def test_undefined_values_of_a_fragment_are_warnings() -> None:
    text = GRAPH.format(nodes="y = Add (x, outer)")
    found = {item.code: item for item in onnxtext.check(text)}
    assert {item.severity for item in found.values()} == {"warning"}
    assert found.keys() == {"value-undefined", "ir-version-missing"}
    assert "an outer graph may define it" in found["value-undefined"].notes[0]
    assert codes(onnx.parser.parse_graph(text)) == {"value-undefined"}


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("c = Add (a, b)", set()),
        ("c = Rellu (a)", {"op-unknown"}),
        ("c = Relu (nothing)", {"value-undefined"}),
        ("c = LeakyRelu <alpha: float = @alpha> (a)", set()),
        ("c = LeakyRelu <alpha: float = @beta> (a)", {"attribute-ref-unknown"}),
        ("d = Neg (a)", {"function-output-undefined"}),
        ("c = ai.onnx.ml.Binarizer (a)", {"function-opset-missing"}),
        ("c = Cast <to = 9> (a)\nd = Neg (c)", {"type-mismatch"}),
    ],
)
def test_single_functions_are_checked(nodes: str, wanted: set[str]) -> None:
    text = FUNCTION.format(nodes=nodes)
    assert codes(text) == wanted
    assert codes(onnx.parser.parse_function(text)) == wanted


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("y = Relu (x)", set()),
        ("y, i = TopK (x, k)", set()),
        ('["the name"] "a b" = Relu (x)', set()),
        ("# first\n[n] y = Rellu (x)", {"op-unknown"}),
        ("y = Neg (a)\na = Relu (x)", {"node-order"}),
        ("b = Cast <to = 9> (x)\ny = Neg (b)", {"type-mismatch"}),
        ("y = Relu (x", {"unclosed-bracket"}),
        ('@doc("d")\n@meta("a": "b")\n[n] y = Rellu (x)\n', {"op-unknown"}),
        ("float[2] y = Relu (x)\nz = Rellu (y)", {"op-unknown"}),
    ],
)
def test_single_nodes_are_checked(nodes: str, wanted: set[str]) -> None:
    assert codes(nodes) == wanted


def test_node_messages_are_checked() -> None:
    assert not codes(helper.make_node("Relu", ["x"], ["y"]))
    assert codes(helper.make_node("Relu", ["x", "x"], ["y"])) == {"input-count"}


def test_shapes_of_single_nodes_are_checked() -> None:
    text = "a = Constant <value_floats = [1.0, 2.0]> ()\ny = DepthToSpace <blocksize = 2> (a)\n"
    assert errors(text) == {"shape-mismatch"}


def test_the_assumed_version_is_reported() -> None:
    (finding,) = onnxtext.check("y = Relu (x, x)")
    newest = onnx.defs.onnx_opset_version()
    note = f"checked with version {newest} of the standard operators, which gives the fewest errors"
    assert note in finding.notes
    assert finding.help


def test_only_the_newest_version_is_tried_for_large_fragments() -> None:
    nodes = "\n".join(f"v{index} = Relu (x)" for index in range(5_000))
    (finding,) = onnxtext.check(f"{nodes}\ny = Relu (x, x)")
    newest = onnx.defs.onnx_opset_version()
    assert finding.notes[-2] == f"checked with version {newest} of the standard operators"


def test_graphs_of_real_models_have_no_findings_without_headers() -> None:
    """No false alarms for graphs of any version."""
    for file in wheel_models():
        model = onnx.load(onnx_directory() / file)
        if model.functions or model.ir_version < 4:
            continue
        found = [item for item in onnxtext.check(model.graph) if item.severity == "error"]
        assert not found, (file, found)


def test_fix_repairs_a_graph_without_adding_a_header(tmp_path: Path) -> None:
    text = GRAPH.format(nodes="y = Neg (a)\n  a = Relu (x)")
    result = fix_text(text.encode(), name="g.onnxtxt")
    assert result.text == GRAPH.format(nodes="a = Relu (x)\n  y = Neg (a)")
    path = tmp_path / "g.onnxtxt"
    path.write_text(text)
    assert run("check", str(path)).status == 1
    assert run("check", "--fix", str(path)).status == 0
    # It is still not a model.
    assert "ir-version-missing" in run("to-binary", str(path)).err
