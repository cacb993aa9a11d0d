# SPDX-License-Identifier: Apache-2.0
"""Every rule of the formatter, by example: `*.input.onnxtxt` becomes `*.golden.onnxtxt`.

Run `python3 dev.py bless tests/format` to rewrite the golden files; read the difference before you
commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.format.laws import assert_format_laws

GOLDEN = Path(__file__).parent / "golden"
INPUTS = sorted(GOLDEN.glob("*.input.onnxtxt"))


@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.name)
def test_each_input_becomes_its_golden_file(file: Path) -> None:
    formatted = assert_format_laws(file.read_text(encoding="utf-8"))
    golden = file.with_name(file.name.replace(".input.", ".golden."))
    if os.environ.get("ONNXTEXT_BLESS"):
        golden.write_text(formatted, encoding="utf-8")
    assert formatted == golden.read_text(encoding="utf-8")


def test_inputs_exist() -> None:
    assert INPUTS
