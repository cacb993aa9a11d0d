# SPDX-License-Identifier: Apache-2.0
"""Define a function of onnxscript, in its own file because onnxscript reads its source."""

from __future__ import annotations

from onnxscript import FLOAT, opset18, script


@script()
def double(x: FLOAT[3]) -> FLOAT[3]:  # type: ignore[type-arg, valid-type]
    """Return the double of a tensor."""
    return opset18.Add(x, x)
