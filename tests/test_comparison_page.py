# SPDX-License-Identifier: Apache-2.0
"""docs/comparison.md shows what the tools print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnx.printer
import onnx_graphsurgeon
import pytest
from google.protobuf import json_format, text_format
from onnx.reference import ReferenceEvaluator

import onnxtext
from tests.corpus import REPOSITORY, SHARED
from tests.pages import blocks

PAGE = (REPOSITORY / "docs" / "comparison.md").read_text(encoding="utf-8")
LEFT_OUT = "…"


def sections() -> dict[str, list[str]]:
    """Return the lines of the text in each section of the page."""
    found = re.findall(r"^## (.+?)\n.*?```text\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    return {title: text.splitlines() for title, text in found}


def exported() -> bytes:
    """Return the model of the page."""
    assert SHARED is not None
    return Path(SHARED / "exports" / "cnn_ts.onnx").read_bytes()


def texts() -> dict[str, list[str]]:
    """Return the lines that the tools print."""
    import onnxscript  # takes 0.3 s: not when the tests are collected

    data = exported()
    model = onnx.ModelProto.FromString(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = onnxscript.proto2python(model)
    return {
        "JSON": json_format.MessageToJson(model).splitlines(),
        "onnxscript": script.splitlines(),
        "graphsurgeon": str(onnx_graphsurgeon.import_onnx(model)).splitlines(),
        "onnxtext": onnxtext.from_binary(data).splitlines(),
        "The official syntax": onnx.printer.to_text(model).splitlines(),
        "Protobuf text": text_format.MessageToString(model).splitlines(),
    }


@pytest.mark.thorough
@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_the_tools_print_the_shown_lines() -> None:
    printed = texts()
    assert sections().keys() == printed.keys()
    for title, shown in sections().items():
        rest = iter(printed[title])
        for line in shown:
            if line.strip() == LEFT_OUT:
                continue
            start, cut, _ = line.partition(f" {LEFT_OUT}")
            assert any(
                each.startswith(start) if cut else each.rstrip() == line.rstrip() for each in rest
            ), line


@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_the_page_shows_the_sizes() -> None:
    rows = {"The official syntax": "`onnx.printer`", "Protobuf text": "protobuf text"}
    for title, lines in texts().items():
        name = rows.get(title, title)
        size = len("\n".join(lines).encode()) + 1
        longest = max(map(len, lines))
        assert f"| {name} | {len(lines):,} | {size:,} | {longest:,} |" in PAGE


@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_only_the_official_syntax_loses_the_model() -> None:
    data = exported()
    model = onnx.ModelProto.FromString(data)
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
    assert json_format.Parse(json_format.MessageToJson(model), onnx.ModelProto()) == model
    assert text_format.Parse(text_format.MessageToString(model), onnx.ModelProto()) == model
    assert onnx.parser.parse_model(onnx.printer.to_text(model)) != model


@pytest.mark.thorough
@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_every_tool_makes_the_same_edit(tmp_path: Path) -> None:
    """All edits compute the same; the first two change nothing but the edited nodes."""
    data = exported()
    (tmp_path / "cnn.onnx").write_bytes(data)
    command = f'onnxtext() {{ {shlex.quote(sys.executable)} -m onnxtext "$@"; }}\n'
    scripts = [["bash", "-c", command + text] for text in blocks("docs/comparison.md", "sh edit")]
    scripts += [[sys.executable, "-c", text] for text in blocks("docs/comparison.md", "python")]
    assert len(scripts) == 4
    image = np.random.default_rng(1).standard_normal((1, 3, 32, 32), dtype=np.float32)
    edited, outputs = [], []
    for script in scripts:
        subprocess.run(script, cwd=tmp_path, check=True, capture_output=True)
        edited.append((tmp_path / "edited.onnx").read_bytes())
        (tmp_path / "edited.onnx").unlink()
        model = onnx.ModelProto.FromString(edited[-1])
        assert [node.op_type for node in model.graph.node].count("LeakyRelu") == 2
        (output,) = ReferenceEvaluator(model).run(None, {"image": image})
        outputs.append(output)
    (before,) = ReferenceEvaluator(onnx.ModelProto.FromString(data)).run(None, {"image": image})
    assert not np.array_equal(before, outputs[0])
    assert all(np.array_equal(each, outputs[0]) for each in outputs)
    assert edited[0] == edited[1]
    assert edited[0] not in edited[2:]
