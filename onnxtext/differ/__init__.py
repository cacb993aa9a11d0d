# SPDX-License-Identifier: Apache-2.0
"""Compare two models structurally, node by node and field by field: `onnxtext diff`.

Example:
from onnxtext.differ import ModelSide, compare
from onnxtext.differ.render import text

diff = compare(ModelSide.of_file("old.onnx"), ModelSide.of_file("new.onnxtxt"))
print(text.render(diff))
"""

from onnxtext.differ.compare_models import compare
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import (
    CATEGORIES,
    IGNORABLE,
    EncodingChange,
    FieldChange,
    ItemChange,
    ItemPosition,
    ModelDiff,
    Rename,
    WeightChange,
)

__all__ = [
    "CATEGORIES", "IGNORABLE", "EncodingChange", "FieldChange", "ItemChange", "ItemPosition",
    "ModelDiff", "ModelSide", "Rename", "WeightChange", "compare",
]  # fmt: skip
