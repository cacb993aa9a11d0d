# SPDX-License-Identifier: Apache-2.0
"""docs/comparison.md shows what the tools print."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import onnx.printer
import pytest
from google.protobuf import text_format

import onnxtext
from tests.corpus import REPOSITORY, SHARED

PAGE = (REPOSITORY / "docs" / "comparison.md").read_text(encoding="utf-8")
LEFT_OUT = "…"


def sections() -> dict[str, list[str]]:
    """Return the lines of the text in each section of the page."""
    found = re.findall(r"^## (.+?)\n.*?```text\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    return {title: text.splitlines() for title, text in found}


def texts() -> dict[str, list[str]]:
    """Return the lines that the tools print."""
    assert SHARED is not None
    data = Path(SHARED / "exports" / "cnn_ts.onnx").read_bytes()
    model = onnx.ModelProto.FromString(data)
    return {
        "onnxtext": onnxtext.from_binary(data).splitlines(),
        "The official syntax": onnx.printer.to_text(model).splitlines(),
        "Protobuf text": text_format.MessageToString(model).splitlines(),
    }


@pytest.mark.skipif(SHARED is None, reason="no shared data: exports")
def test_the_lines_are_printed_in_this_order() -> None:
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
def test_the_sizes() -> None:
    for name, lines in zip(("onnxtext", "`onnx.printer`", "protobuf text"), texts().values(),
                           strict=True):  # fmt: skip
        size = len("\n".join(lines).encode()) + 1
        longest = max(map(len, lines))
        assert f"| {name} | {len(lines):,} | {size:,} | {longest:,} |" in PAGE
