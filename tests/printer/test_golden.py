# SPDX-License-Identifier: Apache-2.0
"""The canonical layout, by example: `*.input.onnxtxt` prints as `*.golden.onnxtxt`.

Run `python3 dev.py bless tests/printer` to rewrite the golden files; read the diff
before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import onnxtext
from onnxtext.printer import print_model
from tests.laws.test_models import check_layout

GOLDEN = Path(__file__).parent / "golden"
INPUTS = sorted(GOLDEN.glob("*.input.onnxtxt"))


@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.name)
def test_each_input_prints_as_its_golden_file(file: Path) -> None:
    model = onnxtext.parse(file.read_text(encoding="utf-8"), name=file.name)
    text = print_model(model)
    golden = file.with_name(file.name.replace(".input.", ".golden."))
    if os.environ.get("ONNXTEXT_BLESS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    check_layout(text)
    again = onnxtext.parse(text)
    assert again == model
    assert print_model(again) == text


@pytest.mark.parametrize("length", [1, 20, 40, 70, 200])
def test_statements_fit_with_names_of_any_length(length: int) -> None:
    """Only lines with a single name are too long."""
    for file in INPUTS:
        text = file.read_text(encoding="utf-8")
        for short in ("value", "x", "t"):
            renamed = re.sub(rf"\b{short}(?=\w*\b)", f"{short}_{'n' * length}", text)
            try:
                model = onnxtext.parse(renamed)
            except onnxtext.OnnxTextError:
                continue  # not only names were replaced
            check_layout(print_model(model))


def test_inputs_exist() -> None:
    assert INPUTS
