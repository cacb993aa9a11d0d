# SPDX-License-Identifier: Apache-2.0
"""Mistakes without a heuristic of their own: one error, on the line of the mistake."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors
from tests.diagnostics.test_typical_errors import node, value

NODES = [
    '"l" float[2] u = Abs (t)',
    "[a b] u = Abs (t)",
    "float[2] [l] u = Abs (t)",
    "t += x",
    "u = Constant <value = bool(True)> ()",
    "u = Constant <value = float<100>> ()",
    "u = Constant <value = true> ()",
    "u = Constant <value: tensor = {10}> ()",
    "u = Conv <kernel shape = [3, 3]> (x, t)",
    "u = Conv <kernel-shape = [3, 3]> (x, t)",
    "u = Conv <pads = ints[1, 1]> (t, x)",
    "u = Conv <pads: ints [1, 1]> (t, x)",
    "u = Elu <alpha = 1/2> (t)",
    "u = Elu <alpha float = 0.1> (t)",
    "u = Op <a = [float<100>]> (x)",
    'u = Op <a = [int("1"), 2]> (t)',
    "u = Softmax <@axis = 1> (t)",
    "u = Softmax <ax is = 1> (t)",
    "u = Softmax <axis = int = 0> (t)",
    "u = helper.make_node('Elu', ['t'], ['u'], alpha=1.0)",
    "u = nn.Linear(3, 4)(t)",
    "u [l] = Abs (t)",
]

VALUES = [
    "bool[1] w = [TRUE],",
    "bool[2] w = [yes, no],",
    "float[2, 1] w = [[1], 2]],",
    "float[2] w = [1, sqrt(2)],",
    "float[2] w = [math.pi, 1],",
    'float[2] w = blob "af5570f5a1810b7a",',
    'float[2] w = blob"AF5570F5A1810B7A",',
    'float[2] w = blobaf5570f5a1810b7a",',
    'float[2] w = bolb"af5570f5a1810b7a",',
    "float[3] b =",
    "float[3] w = Constant <value_float = 1.0> (),",
    "float[3] w = [1, 1/4, 2],",
    "float[3] w = np.zeros (3),",
    "int64[2] w = (1, 2),",
    "sparse_tensor(float[3]) w = sparse([1], [0]),",
]


@pytest.mark.parametrize(
    "text", [*(node(f"  {line}") for line in NODES), *(value(f"  {item}") for item in VALUES)]
)
def test_the_only_error_is_on_the_line_of_the_mistake(text: str) -> None:
    (error,) = syntax_errors(text)
    assert error.position is not None
    assert error.position[0] == 4
    assert error.fix is None or error.fix.applicability == "unsafe"
