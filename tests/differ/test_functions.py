# SPDX-License-Identifier: Apache-2.0
"""Differences of functions: names, parameters and bodies."""

from __future__ import annotations

import pytest

import onnxtext
from tests.replacements import replaced

BASE = """<onnxtext: 1, ir_version: 10, opset_import: [20]>
g (float x) => (float y) {
  y = l.F (x)
}

<domain: "l", opset_import: [20]>
F <k, m, n = 1> (p) => (q) {
  r = Abs <a = 2> (p)
  q = Neg (r)
}
"""


def marked(*edits: tuple[str, str]) -> list[str]:
    """Return the removed and added lines of the diff of an edit."""
    lines = str(onnxtext.diff(BASE, replaced(BASE, *edits))).split("\n")[2:]
    return [line for line in lines if line[:1] in ("-", "+")]


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (("<k, m, n = 1>", "<k = 3, m, n = 1>"), ["-k", "+k = 3"]),
        (("<k, m, n = 1>", "<k, m, n = 2>"), ["-n = 1", "+n = 2"]),
        (("<k, m, n = 1>", "<k, n = 1>"), ["-m"]),
        (("<k, m, n = 1>", "<k, m, n = 1, o>"), ["+o"]),
        (("<k, m, n = 1>", "<n = 1, k, m>"), []),
    ],
)
def test_a_parameter_is_compared_by_name(edit: tuple[str, str], lines: list[str]) -> None:
    assert marked(edit) == lines


def test_moved_parameters_are_a_change_of_the_order() -> None:
    diff = onnxtext.diff(BASE, BASE.replace("<k, m,", "<m, k,"))
    assert diff
    assert not onnxtext.diff(BASE, BASE.replace("<k, m,", "<m, k,"), ignore=["order"])


@pytest.mark.parametrize(
    ("edit", "lines"),
    [(("a = 2", "a = 3"), ["-  a = 2", "+  a = 3"]), (("(p) =>", "(p, s) =>"), ["+s"])],
    ids=["body", "input"],
)
def test_a_renamed_function_is_compared_with_the_old_one(
    edit: tuple[str, str], lines: list[str]
) -> None:
    renamed = (("l.F", "l.G"), ("F <", "G <"))
    found = marked(*renamed, edit)
    assert [line for line in found if line not in ("-y = l.F (x)", "+y = l.G (x)")][:2] == [
        '-name: "F"',
        '+name: "G"',
    ]
    assert found[4:][: len(lines)] == lines


def test_an_operator_that_needs_quotes_is_quoted_once() -> None:
    found = marked(("l.F", 'l."a|b"'))
    assert found == ["-y = l.F (x)", '+y = l."a|b" (x)']
