# SPDX-License-Identifier: Apache-2.0
"""The line breaks of large tensors are those that rows get one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.ast.types import TensorType
from onnxtext.ast.values import RawData
from onnxtext.printer import values as values_printer
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.values import data_text, row_lines
from onnxtext.printer.wrapping import wrap


@given(st.data())
def test_rows_are_broken_as_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(17, 70))
    number = st.integers(0, 14).map(lambda size: "1" * (size + 1))
    rows = data.draw(
        st.lists(
            st.lists(number, min_size=count, max_size=count).map(", ".join), min_size=1, max_size=8
        )
    )
    indent = data.draw(st.sampled_from(["", STEP * 2]))
    rows = [row for row in rows if len(row) + len(indent) + 3 > WIDTH]
    inner = indent + STEP
    broken = wrap(rows, count, WIDTH - len(inner), inner)
    expected = ["\n".join(row_lines(row, indent)) for row in rows]
    assert ["\n".join(row_lines(row, indent)) for row in broken] == expected


@pytest.mark.parametrize("shape", [(40, 17), (3, 5, 33), (2000, 16), (7, 1, 900), (9001,), (3, 2)])
@pytest.mark.parametrize("kind", ["float", "int8", "int4", "bool"])
def test_large_tensors(shape: tuple[int, ...], kind: str) -> None:
    chance = np.random.default_rng(1)
    values = chance.standard_normal(shape, np.float32)
    values[::3] = 1.5  # short rows among long ones
    raw = {
        "float": values.tobytes(),
        "int8": (values * 99).astype(np.int8).tobytes(),
        "int4": chance.integers(0, 16, (values.size + 1) // 2, np.uint8).tobytes(),
        "bool": (values > 0).tobytes(),
    }[kind]
    if kind == "int4" and values.size % 2:
        raw = raw[:-1] + bytes([raw[-1] & 15])
    whole = TensorType(kind, shape)
    texts = set()
    for block in (1, 100, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(values_printer, "BLOCK", block)
            texts.add(data_text(whole, RawData(raw), STEP, WIDTH))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values_printer, "wrap", lambda rows, *_: rows)
        texts.add(data_text(whole, RawData(raw), STEP, WIDTH))
    (text,) = texts
    (value,) = onnxtext.parse(f"g () => () <{kind}{list(shape)} w = {text}> {{}}").graph.values
    assert value.data == RawData(raw)
