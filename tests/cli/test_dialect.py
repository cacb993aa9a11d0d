# SPDX-License-Identifier: Apache-2.0
"""`from-binary --dialect onnx`: official text, and its losses on standard error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

from tests.cli.command import NO_MODEL, names, run

DIALECT = ("from-binary", "--dialect", "onnx")


def save(path: Path, *, metadata: int = 0, doc: str = "") -> bytes:
    """A model of five nodes; the first ones have metadata."""
    nodes = [oh.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(5)]
    for node in nodes[:metadata]:
        node.metadata_props.add(key="namespace", value="m")
    graph = oh.make_graph(nodes, "g", [], [], [nh.from_array(np.ones(2, "f4"), "v0")])
    graph.doc_string = doc
    onnx.save(oh.make_model(graph, ir_version=10), path)
    return path.read_bytes()


def test_lossless_conversions_are_status_0_with_a_note(tmp_path: Path) -> None:
    save(tmp_path / "m.onnx")
    result = run(*DIALECT, "m.onnx", cwd=tmp_path)
    assert (result.status, result.out) == (0, b"")
    assert result.err == (
        "note[stored-otherwise]: the official text stores the same model differently: `raw_data` "
        "is rewritten as typed data in 1 tensor; empty fields are added or dropped "
        "(1 `GraphProto.doc_string`, 5 `NodeProto.domain`, 1 `OperatorSetIdProto.domain`)\n"
        " --> m.onnx: model\n"
    )
    text = (tmp_path / "m.onnxtxt").read_text()
    assert "onnxtext" not in text
    model = onnx.parser.parse_model(text)
    assert [node.op_type for node in model.graph.node] == ["Relu"] * 5


def test_losses_are_status_1_without_output(tmp_path: Path) -> None:
    save(tmp_path / "m.onnx", metadata=5, doc="d")
    for output in ((), ("-o", "-")):
        result = run(*DIALECT, "m.onnx", *output, cwd=tmp_path)
        assert (result.status, result.out) == (1, b"")
        assert names(tmp_path) == ["m.onnx"]
        said = result.err.splitlines()
        assert said[:5] == [
            "error[not-official]: `doc_string` of GraphProto is not part of the official syntax",
            " --> m.onnx: graph.doc_string",
            "error[not-official]: `metadata_props` of NodeProto is not part of the official "
            "syntax (5 places)",
            " --> m.onnx: graph.node[0].metadata_props",
            "  = note: also at graph.node[1].metadata_props, graph.node[2].metadata_props "
            "and 2 more",
        ]
        assert said[-2].startswith("error[loss-not-allowed]: m.onnx was not written")
        assert "--allow-loss" in said[-1]


def test_allow_loss_writes_and_lists_all_the_same(tmp_path: Path) -> None:
    save(tmp_path / "m.onnx", metadata=2, doc="d")
    result = run(*DIALECT, "--allow-loss", "m.onnx", cwd=tmp_path)
    assert (result.status, result.out) == (0, b"")
    assert result.err.startswith("warning[not-official]: `doc_string` of GraphProto")
    assert "error" not in result.err
    text = (tmp_path / "m.onnxtxt").read_text()
    assert len(onnx.parser.parse_model(text).graph.node) == 5


@pytest.mark.parametrize("allowed", [True, False])
def test_json_has_a_finding_for_each_kind(tmp_path: Path, allowed: bool) -> None:
    save(tmp_path / "m.onnx", metadata=2, doc="d")
    option = ["--allow-loss"] if allowed else []
    result = run(*DIALECT, *option, "--output-format", "json", "m.onnx", cwd=tmp_path)
    found = result.findings()
    severity = "warning" if allowed else "error"
    assert [(item["code"], item["severity"], item["path"]) for item in found[:3]] == [
        ("not-official", severity, "graph.doc_string"),
        ("not-official", severity, "graph.node[0].metadata_props"),
        ("stored-otherwise", "note", "model"),
    ]
    assert found[1]["notes"] == ["also at graph.node[1].metadata_props"]
    assert [item["code"] for item in found[3:]] == ([] if allowed else ["loss-not-allowed"])
    assert {item["file"] for item in found} == {"m.onnx"}


def test_a_lossy_file_does_not_stop_the_others(tmp_path: Path) -> None:
    save(tmp_path / "good.onnx")
    save(tmp_path / "bad.onnx", doc="d")
    result = run(*DIALECT, "bad.onnx", "good.onnx", cwd=tmp_path)
    assert result.status == 1
    assert names(tmp_path) == ["bad.onnx", "good.onnx", "good.onnxtxt"]
    assert result.err.endswith("1 of 2 files could not be converted\n")


def test_invalid_models_are_errors(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(NO_MODEL)
    result = run(*DIALECT, "--allow-loss", "m.onnx", cwd=tmp_path)
    assert result.status == 1
    assert result.err.startswith("error[")
    assert "internal" not in result.err
    assert names(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize(
    "options",
    [
        ["--allow-loss"],
        ["--dialect", "onnx", "--weights", "inline"],
        ["--dialect", "onnx", "--inline-limit", "9"],
        ["--dialect", "textproto"],
    ],
)
def test_conflicting_options_are_wrong_usage(tmp_path: Path, options: list[str]) -> None:
    save(tmp_path / "m.onnx")
    result = run("from-binary", *options, "m.onnx", cwd=tmp_path)
    assert result.status == 2
    assert "Usage: onnxtext from-binary" in result.err
    assert names(tmp_path) == ["m.onnx"]


def test_onnx_loads_the_file(tmp_path: Path) -> None:
    save(tmp_path / "m.onnx")
    assert run(*DIALECT, "m.onnx", cwd=tmp_path).status == 0
    with pytest.warns(UserWarning, match="experimental"):
        model = onnx.load(tmp_path / "m.onnxtxt")
    assert [*model.graph.initializer[0].float_data] == [1.0, 1.0]
