# SPDX-License-Identifier: Apache-2.0
"""Trees have no reference cycles, so they are freed without the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

import onnxtext

TEXT = """<ir_version: 10, opset_import: ["": 20]>
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  q = If (c) <
    then_branch = t () => (z) { z = Add (x, w) },
    else_branch = e () => (z) { z = Neg (x) },
  >
  y = Add (q, w)
}
"""
BROKEN = TEXT.replace("Add (q, w)", "Add (q w)")
MODEL = onnxtext.to_binary(TEXT)
VALID = TEXT.replace("(float[2] x)", "(float[2] x, bool c)")


def refuse() -> None:
    with pytest.raises(onnxtext.OnnxTextError):
        onnxtext.to_binary(BROKEN)


CALLS: tuple[Callable[[], object], ...] = (
    lambda: onnxtext.to_binary(TEXT),
    lambda: onnxtext.from_binary(MODEL),
    lambda: onnxtext.parse(TEXT),
    refuse,
    lambda: onnxtext.check(TEXT),
    lambda: onnxtext.check(VALID),
    lambda: onnxtext.format_text(TEXT),
)


@pytest.mark.thorough
def test_trees_have_no_reference_cycles() -> None:
    for call in CALLS:
        call()  # one-time initialization may create cycles
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for call in CALLS:
            call()
        gc.collect()
        ours = [item for item in gc.garbage if type(item).__module__.startswith("onnxtext")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not {type(item).__qualname__ for item in ours}
