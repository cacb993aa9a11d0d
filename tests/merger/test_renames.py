# SPDX-License-Identifier: Apache-2.0
"""One side renames a value, node or function that the other side uses or edits."""

from __future__ import annotations

import pytest

from tests.merger.laws import merged
from tests.replacements import replaced

HEAD = "<onnxtext: 1, ir_version: 10, opset_import: [20]>\n"
BASE = f"""{HEAD}g (float x) => (float y) {{
  a = Neg (x)
  y = l.F <k = 1, body = b () => () {{ c = Neg (a) }}> (a, x)
}}

<domain: "l", opset_import: [20]>
F <k> (p) => (q) {{ # body
  q = Neg (p)
  r = Abs <k = 2> (q)
}}
"""


OPERATOR = (("y = l.F", "y = Bar"),)
RENAMED_VALUE = (("a = Neg", "d = Neg"), ("(a", "(d"))
RENAMED_FUNCTION = (("l.F", "l.G"), ("F <k>", "G <k>"))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (OPERATOR, RENAMED_VALUE),
        (OPERATOR, (("c = Neg", "c = Exp"),)),
        (RENAMED_FUNCTION, (("k = 1", "k = 3"),)),
        (RENAMED_FUNCTION, (("(a, x)", "(x, x)"),)),
        (RENAMED_FUNCTION, RENAMED_VALUE),
        (RENAMED_FUNCTION, (("(a, x)", "(a, x, x)"), ("(p) =>", "(p, s, t) =>"))),
    ],
)
def test_edits_of_a_node_that_do_not_contradict_merge(
    ours: tuple[tuple[str, str], ...], theirs: tuple[tuple[str, str], ...]
) -> None:
    for sides in ((ours, theirs), (theirs, ours)):
        found = merged(BASE, replaced(BASE, *sides[0]), replaced(BASE, *sides[1]))
        assert not found.conflicts
        assert str(found) == replaced(BASE, *ours, *theirs)


@pytest.mark.parametrize("edit", [("k = 1", "k = 3"), ("(a, x)", "(x, x)")])
def test_another_operator_and_another_input_or_attribute_are_a_conflict(
    edit: tuple[str, str],
) -> None:
    found = merged(BASE, replaced(BASE, *OPERATOR), replaced(BASE, edit))
    assert found.conflicts == 1
    assert str(found).index("y = Bar") < str(found).index("=======")
