# SPDX-License-Identifier: Apache-2.0
"""The structural diff of two models.

from onnxtext.diff import Side, compare
from onnxtext.diff.render import text

diff = compare(Side.of_file("old.onnx"), Side.of_file("new.onnxtxt"))
print(text.render(diff))
"""

from onnxtext.diff.comparer import compare
from onnxtext.diff.model import (
    CATEGORIES,
    IGNORABLE,
    FieldChange,
    ItemChange,
    ModelDiff,
    Place,
    Rename,
    Stored,
    WeightChange,
)
from onnxtext.diff.side import Side

__all__ = [
    "CATEGORIES",
    "IGNORABLE",
    "FieldChange",
    "ItemChange",
    "ModelDiff",
    "Place",
    "Rename",
    "Side",
    "Stored",
    "WeightChange",
    "compare",
]
