# SPDX-License-Identifier: Apache-2.0
"""A line that was moved to another context is one error that names what the line is."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors

TEXT = """\
<
  ir_version: 10,
  opset_import: [21],
>
g (
  float[2] x,
) => (
  float[2] y,
) <
  float[2, 2] w = [
    [1, 2],
    [3, 4],
  ],
> {
  a = Concat <
    axis = 0,
    to = 1,
  > (
    x,
    x,
  )
  b = Relu (a)
  y = MatMul (b, w)
}
"""
NODE = "  z = Relu (x)"
NODES = "  z = Relu (x)\n  z2 = Cast <to = 1> (\n    z,\n  )"
ENTRY = '  domain: "d",'
INITIALIZER = "  int64[2] v = [1, 2],"
NAMES = {
    NODE: "a node", NODES: "a node", ENTRY: "an entry of a header",
    "  float[2] v,": "the declaration of a value", INITIALIZER: "an initializer",
    "const float[2] v = {1, 2};": "an initializer", "    [5, 6],": "a row of numbers",
}  # fmt: skip
PLACES = {
    NODE: (2, 3, 6, 8, 11, 17, 20), NODES: (3, 6, 8, 11, 20), ENTRY: (6, 8, 11, 13, 17, 20, 22),
    "  float[2] v,": (3, 11, 17), INITIALIZER: (3, 11, 17, 22),
    "const float[2] v = {1, 2};": (22,), "    [5, 6],": (22,),
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "number"), [(line, number) for line, numbers in PLACES.items() for number in numbers]
)
def test_a_line_in_a_wrong_place_is_one_error(line: str, number: int) -> None:
    lines = TEXT.split("\n")
    lines.insert(number, line)
    (error,) = syntax_errors("\n".join(lines))
    assert error.message == f"{NAMES[line]} does not belong here"
    assert error.position == (number + 1, len(line) - len(line.lstrip()) + 1)
    assert error.help
    assert error.labels[1].message == "in this bracket"
