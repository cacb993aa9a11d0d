# SPDX-License-Identifier: Apache-2.0
"""The snippets of the VS Code extension are valid when they are inserted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import onnxtext

SNIPPETS = Path(__file__).parents[2] / "vscode-extension/snippets/onnxtxt.json"
HEADER = "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
NODES = HEADER + "g (x, condition, limit, first) => (y) {\n@@\n}"
DECORATED = HEADER + "g (x) => (y) {\n@@\ny = Relu (x)\n}"
FRAMES = {
    "Model": "@@",
    "Header": "@@\ng () => () {}",
    "Graph": HEADER + "@@",
    "Function": HEADER + "g () => () {}\n@@",
    "Node": NODES,
    "If": NODES,
    "Loop": NODES,
    "Constant value": HEADER + "g () => () <@@> {}",
    "Doc string": DECORATED,
    "Metadata": DECORATED,
    "Unformatted region": NODES,
}
"""The context of each snippet, `@@`."""


def inserted(body: list[str]) -> str:
    """Return a snippet with the defaults of its placeholders."""
    text = "\n".join(body).replace("$TM_SELECTED_TEXT", "y = Relu (x)")
    text = re.sub(r"\$\{\d+:([^${}]*)\}", r"\1", text)
    return re.sub(r"\$\d", "", text)


@pytest.mark.parametrize("name", FRAMES)
def test_each_snippet_parses(name: str) -> None:
    body = json.loads(SNIPPETS.read_text(encoding="utf-8"))[name]["body"]
    onnxtext.parse(FRAMES[name].replace("@@", inserted(body)))


def test_every_snippet_is_tried() -> None:
    assert set(json.loads(SNIPPETS.read_text(encoding="utf-8"))) == set(FRAMES)
