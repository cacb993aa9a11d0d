# SPDX-License-Identifier: Apache-2.0
"""The canonical layout, by example: `*.input.onnxtxt` prints as `*.golden.onnxtxt`.

Run `python3 dev.py bless tests/printer` to rewrite the golden files; read the diff
before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import onnxtext
from onnxtext.printer import print_model
from tests.laws.test_models import check_layout

GOLDEN = Path(__file__).parent / "golden"
INPUTS = sorted(GOLDEN.glob("*.input.onnxtxt"))


@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.name)
def test_golden(file: Path) -> None:
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


def test_renaming_never_reflows() -> None:
    file = GOLDEN / "layout.input.onnxtxt"
    text = file.read_text(encoding="utf-8")
    short = print_model(onnxtext.parse(text))
    long = print_model(onnxtext.parse(text.replace("value", "a_much_longer_name" * 10)))
    assert long == short.replace("value", "a_much_longer_name" * 10)


def test_inputs_exist() -> None:
    assert INPUTS
