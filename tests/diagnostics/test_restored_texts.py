# SPDX-License-Identifier: Apache-2.0
"""A single mistake gives one error on its line, whose fix restores the text."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors

TEXT = """\
<
  ir_version: 8,
  opset_import: [17, "my.ops": 1],
>
g (
  float x,
  float[N] y,
) => (
  float[N] z,
)
  <
  float[2] w = [1, 2],
> {
  c = my.ops.Op <axis = 1> ()
  z = Add (
    y,
    w,
  )
  t = Constant <value = bool t {1}> ()
}
"""

MARKS = ("*", "-", "+", "|", "/", "12:")
TYPOS = (
    ("c = my", "c / my"),
    ("<axis = 1>", "<axis 7 1>"),
    ("> {", "> x"),
    (".Op", ",Op"),
    (".Op", " Op"),
    (".Op", ". .Op"),
    ("(\n    y", "@\n    y"),
    ("> ()\n  z", "> )\n  z"),
    ("float x", "float float x"),
    ("float[N] y", "float float[N] y"),
    ("bool t", "bool bool t"),
)


def same(first: str, second: str) -> bool:
    """Whether two texts are the same except for blanks."""
    return "".join(first.split()) == "".join(second.split())


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("line", ["g (\n", "  <\n", "    w,\n", "  )\n", "}\n"])
def test_a_mark_before_a_line_is_removed(mark: str, line: str) -> None:
    broken = TEXT.replace(line, f"{mark} {line}", 1)
    (error,) = syntax_errors(broken)
    assert error.position is not None
    assert broken.splitlines()[error.position.line - 1].startswith(mark)
    assert error.fix is not None
    assert same(error.fix.apply(broken), TEXT)


@pytest.mark.parametrize(("right", "wrong"), TYPOS)
def test_a_typo_is_corrected(right: str, wrong: str) -> None:
    broken = TEXT.replace(right, wrong, 1)
    (error,) = syntax_errors(broken)
    assert error.position is not None
    assert error.position.line == TEXT.count("\n", 0, TEXT.index(right)) + 1
    assert error.fix is not None
    assert same(error.fix.apply(broken), TEXT)
