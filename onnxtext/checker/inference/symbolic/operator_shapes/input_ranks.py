# SPDX-License-Identifier: Apache-2.0
"""Check the ranks of inputs such as bounds, axes and boxes, which onnx does not check.

onnxruntime rejects wrong ranks of these inputs when the model runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from onnxtext.checker.inference.symbolic.operator_call import OperatorCall
from onnxtext.checker.inference.symbolic.operator_shapes.quantized import require_one

_NUMBERS: Mapping[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "CumProd": (1,),
    "CumSum": (1,),
    "Pad": (2,),
    "Range": (0, 1, 2),
    "TopK": (1,),
    "Trilu": (1,),
}
"""Maps each operator to the 0-based indices of the inputs that must have one element."""
REDUCTIONS = """
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare
"""
_RANKS: Mapping[str, Mapping[int, tuple[int, ...]]] = {
    **{name: {1: (1,)} for name in REDUCTIONS.split()},
    "AffineGrid": {0: (3,)},
    "CenterCropPad": {1: (1,)},
    "GridSample": {0: (4, 5)},
    "LRN": {0: (4,)},
    "NonMaxSuppression": {0: (3,), 1: (3,)},
    "Pad": {1: (1, 2), 3: (1,)},
    "STFT": {0: (2, 3)},
    "SplitToSequence": {1: (0, 1)},
    "Squeeze": {1: (1,)},
    "TopK": {1: (1,)},
    "Unsqueeze": {1: (0, 1)},
}
"""Maps each operator and 0-based input index to the ranks that onnxruntime accepts."""


def require_ranks(name: str, call: OperatorCall) -> None:
    """Reject a node of the operator `name` if onnxruntime does not accept the rank of an input."""
    for index, ranks in _RANKS.get(name, {}).items():
        if not call.has_rank(index, *ranks, certain=False):
            return
    for index in _NUMBERS.get(name, ()):
        require_one(call, index, certain=False)
