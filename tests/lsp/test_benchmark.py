# SPDX-License-Identifier: Apache-2.0
"""The benchmark prints a figure for each feature."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.lsp.documents import EXAMPLES

pytestmark = pytest.mark.thorough


def test_every_feature_has_a_figure() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.lsp", "--nodes", "40", "--runs", "2"],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    rows = dict(re.findall(r"^\| ([\w ,/]+) \| ([\d,.]+) \|", done.stdout, re.MULTILINE))
    wanted = {
        "typing", "checked", "hover of an operator", "definition", "references", "rename",
        "highlight", "completion of a value", "signature help", "inlay hints of a screen",
        "document symbols", "workspace symbols", "folding", "selection ranges", "semantic tokens",
        "formatting", "formatting a range", "formatting on type", "document links",
        "code actions", "call hierarchy", "onnxtext/graph",
    }  # fmt: skip
    assert wanted <= rows.keys()
    assert all(float(figure.replace(",", "")) > 0 for figure in rows.values())
