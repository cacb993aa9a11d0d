# SPDX-License-Identifier: Apache-2.0
"""Edit syntax trees in place: the edits of `onnxtext edit`.

Each function changes a tree from `onnxtext.parse`; `onnxtext.rewrite` then writes the changes back
to the text. `apply` runs an edit on a text or a binary model. An edit that is not possible
raises an `OnnxTextError`.
"""

from __future__ import annotations

from onnxtext.editing.apply import EditResult, apply
from onnxtext.editing.extraction import extract
from onnxtext.editing.header_and_metadata import set_opset, strip
from onnxtext.editing.make_symbolic import make_symbolic
from onnxtext.editing.nodes import insert, remove, set_attribute
from onnxtext.editing.rename_values import rename
from onnxtext.editing.replace_weights import replace_weight
from onnxtext.editing.set_shapes import set_shape
from onnxtext.editing.symbolic_obstacles import Obstacle
from onnxtext.editing.write_inferred_types import write_types

__all__ = [
    "EditResult", "Obstacle", "apply", "extract", "insert", "make_symbolic", "remove", "rename",
    "replace_weight", "set_attribute", "set_opset", "set_shape", "strip", "write_types",
]  # fmt: skip
