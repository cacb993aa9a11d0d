# SPDX-License-Identifier: Apache-2.0
"""Common edits of a syntax tree, in place.

Each function takes the tree that `onnxtext.parse` returns; `onnxtext.rewrite` then writes it back
to its text. `apply` does both, for a text or a binary model. An edit that is not possible raises
an `OnnxTextError`.
"""

from __future__ import annotations

from onnxtext.editing.apply import Edited, apply
from onnxtext.editing.extraction import extract
from onnxtext.editing.fixed_sizes import Obstacle
from onnxtext.editing.header import set_opset, strip
from onnxtext.editing.inferred import write_types
from onnxtext.editing.names import rename
from onnxtext.editing.nodes import insert, remove, set_attribute
from onnxtext.editing.shapes import make_symbolic, set_shape
from onnxtext.editing.values import replace_weight

__all__ = [
    "Edited",
    "Obstacle",
    "apply",
    "extract",
    "insert",
    "make_symbolic",
    "remove",
    "rename",
    "replace_weight",
    "set_attribute",
    "set_opset",
    "set_shape",
    "strip",
    "write_types",
]
