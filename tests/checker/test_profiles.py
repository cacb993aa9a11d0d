# SPDX-License-Identifier: Apache-2.0
"""The rules of a profile apply only if the profile is selected; `all` does not select it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

import onnxtext
from onnxtext.checker.context.registry import profiles, rules
from onnxtext.cli.commands.check import command
from onnxtext.lsp.server.check_document import analyze
from tests.cli.command import run
from tests.corpus import SHARED

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: [21], metadata_props: ["pkg.torch.x": "1"]>
g (float[2] "a/b") => (float[2] y) {
  y = Relu ("a/b")
}
"""
STYLE = {
    "name-not-identifier",
    "metadata-key-namespace",
    "model-domain-missing",
    "producer-missing",
    "doc-html",
    "external-offset-unaligned",
}


def codes(**options: Any) -> set[str]:
    return {item.code for item in onnxtext.check(TEXT, **options)}


def test_the_rules_of_a_profile_are_lints() -> None:
    assert profiles() == {"style": STYLE}
    assert all(rules()[code].level == "lint" for code in STYLE)
    (option,) = [item for item in command.params if item.name == "profile"]
    assert list(option.type.choices) == sorted(profiles())  # type: ignore[attr-defined]


def test_rules_of_a_profile_run_only_if_selected() -> None:
    assert codes() == set()
    assert not codes(select=["all"]) & STYLE
    found = codes(select=["style"])
    assert {"name-not-identifier", "producer-missing", "model-domain-missing"} <= found <= STYLE
    assert codes(select=["all", "name-not-identifier"]) & STYLE == {"name-not-identifier"}
    assert codes(select=["style"], ignore=["producer-missing"]) == found - {"producer-missing"}
    assert codes(select=["all", "style"], ignore=["style"]) == codes(select=["all"])
    with pytest.raises(ValueError, match="there is no rule or profile `stile`"):
        codes(select=["stile"])


def test_options_and_settings_select_a_profile(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(TEXT, encoding="utf-8")
    quiet = run("check", "--select", "all", "m.onnxtxt", cwd=tmp_path)
    assert (quiet.status, quiet.err) == (0, "")
    asked = run("check", "--profile", "style", "m.onnxtxt", cwd=tmp_path).err
    assert "name-not-identifier" in asked
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.onnxtext]\nprofile = "style"\n', encoding="utf-8")
    assert run("check", "m.onnxtxt", cwd=tmp_path).err == asked
    settings.write_text(
        '[tool.onnxtext]\nprofile = ["style"]\nignore = ["name-not-identifier"]\n', encoding="utf-8"
    )
    ignored = run("check", "m.onnxtxt", cwd=tmp_path).err
    assert "producer-missing" in ignored
    assert "name-not-identifier" not in ignored
    for wrong in ('"stile"', "1", "[1]"):
        settings.write_text(f"[tool.onnxtext]\nprofile = {wrong}\n", encoding="utf-8")
        refused = run("check", "m.onnxtxt", cwd=tmp_path)
        assert refused.status == 2
        assert "pyproject.toml" in refused.err
        assert "profile" in refused.err


def test_editors_use_the_profile_of_the_project(tmp_path: Path) -> None:
    def found() -> set[str]:
        analysis = analyze(TEXT, str(tmp_path / "m.onnxtxt"), tmp_path)
        return {item.code for item in analysis.diagnostics}

    assert not found() & STYLE
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.onnxtext]\nprofile = "style"\n', encoding="utf-8")
    assert "name-not-identifier" in found()


def test_explain_names_the_profile() -> None:
    page = run("explain", "name-not-identifier").out.decode()
    assert "`--select name-not-identifier` or `--profile style` turns it on." in page
    assert "`--select all` turns it on" in run("explain", "value-unused").out.decode()
    listed = run("explain", "style").out.decode()
    assert all(f"  {code}: " in listed for code in STYLE)
    marked = {
        line.partition(":")[0]
        for line in run("explain", "--list").out.decode().splitlines()
        if line.endswith("(profile style)")
    }
    assert marked == STYLE


def test_select_all_reports_no_style_of_exported_names() -> None:
    """Every name has slashes, and every node PyTorch's metadata, as exporters write them."""
    nodes = []
    for number in range(50):
        node = helper.make_node("Relu", [f"/layers.{number}/x"], [f"/layers.{number + 1}/x"])
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value="[]")
        nodes.append(node)
    values = [
        helper.make_tensor_value_info(f"/layers.{number}/x", TensorProto.FLOAT, [2])
        for number in (0, 50)
    ]
    graph = helper.make_graph(nodes, "main", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    assert not onnxtext.check(model, select=["all"])
    assert len(onnxtext.check(model, select=["style"])) > 50


@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_select_all_reports_nothing_in_real_exports() -> None:
    assert SHARED is not None
    for name in ("lm_ts", "lm_dyn", "cnn_ts", "cnn_dyn", "skl"):
        assert not onnxtext.check(SHARED / "exports" / f"{name}.onnx", select=["all"]), name
