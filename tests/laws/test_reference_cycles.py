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
FLAT = "g (float[2] x) => (float[2] y) { y = Add (x, x) }"


def refuse() -> None:
    with pytest.raises(onnxtext.OnnxTextError):
        onnxtext.to_binary(BROKEN)


CALLS: dict[str, Callable[[], object]] = {
    "to_binary": lambda: onnxtext.to_binary(TEXT),
    "from_binary": lambda: onnxtext.from_binary(MODEL),
    "parse": lambda: onnxtext.parse(TEXT),
    "refuse": refuse,
    # Scopes refer to their parents and children; only a flat graph has no cycles.
    "check": lambda: onnxtext.check(FLAT),
    "format": lambda: onnxtext.format_text(TEXT),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_trees_have_no_reference_cycles(name: str) -> None:
    CALLS[name]()  # one-time initialization may create cycles
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        CALLS[name]()
        gc.collect()
        ours = [item for item in gc.garbage if type(item).__module__.startswith("onnxtext")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not {type(item).__qualname__ for item in ours}
