# SPDX-License-Identifier: Apache-2.0
"""A text that was damaged while it was edited gives one error at the place of the damage."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors
from tests.diagnostics.models import node, value


def header(*entries: str) -> str:
    """Return a model with these lines of header entries; the first is line 2."""
    return "<\n  {}\n>\ng (x) => (y) {{\n  y = Relu (x)\n}}\n".format("\n  ".join(entries))


@pytest.mark.parametrize(
    "sides",
    [
        "<<<<<<< HEAD\n  y = Relu (x)\n=======\n  y = Relu (x)",
        "  y = Relu (x)\n=======\n  y = Relu (x)\n>>>>>>> other",
        "<<<<<<< HEAD\n  y = Relu (x)\n>>>>>>> other",
        "  y = Relu (x)\n||||||| base\n=======\n  y = Neg (x)\n>>>>>>> other",
        "<<<<<<< HEAD\n  y = Relu (x)\n||||||| base\n  (\n=======\n  (\n>>>>>>> other",
    ],
)
def test_a_conflict_without_all_of_its_markers_is_one_error(sides: str) -> None:
    (error,) = syntax_errors(node(sides))
    first = 3 + sides.split("\n").index(next(s for s in sides.split("\n") if s[0] in "<=|>"))
    assert (error.code, error.position) == ("merge-conflict", (first, 1))


def test_two_conflicts_are_two_errors() -> None:
    lines = "  a = Neg (x)\n=======\n  b = Neg (a)\n<<<<<<< HEAD\n  y = Relu (b)\n>>>>>>> other"
    found = [(error.code, error.position) for error in syntax_errors(node(lines))]
    assert found == [("merge-conflict", (4, 1)), ("merge-conflict", (6, 1))]


MENDED = {
    "a word in a key": (
        header("ir_ xversion: 10,"), (2, 3), "`ir_ xversion` is not a key", "  ir_version: 10,",
    ),
    "a line break in a key": (
        header("ir_ver", "sion: 10,"), (2, 3), "`ir_ver sion` is not a key", "  ir_version: 10,",
    ),
    "a mark in a key": (
        header("ir_version: 10,", "opset_im;port: [21],"), (3, 3),
        "`opset_im;port` is not a key", "  opset_import: [21],",
    ),
    "a mark for the first letter of a key": (
        header("/r_version: 10,"), (2, 3), "`/r_version` is not a key", "  ir_version: 10,",
    ),
    "a letter for the colon of a key": (
        header('producer_namez "a",'), (2, 3), "`producer_namez` is not a key",
        '  producer_name: "a",',
    ),
    "a word before a key": (
        header("new ir_version: 10,"), (2, 3), "`new` does not belong here", "   ir_version: 10,",
    ),
    "a line before a key": (
        header("ir_version: 10,", "the new", "opset_import: [21],"), (3, 3),
        "`the new` does not belong here", "  opset_import: [21],",
    ),
    "a mark after a dimension": (
        value("float[2!] w = [1, 2]"), (3, 9), "`2!` is not a whole number",
        "  float[2] w = [1, 2]",
    ),
    "a mark before an element": (
        value("float[2] w = [1, ~2]"), (3, 20), "`~2` is not a number", "  float[2] w = [1, 2]",
    ),
    "a colon after a version": (
        header("ir_version: 10:,"), (2, 15), "`10:` is not a whole number", "  ir_version: 10,",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "position", "message", "line"), MENDED.values(), ids=MENDED)
def test_the_fix_of_the_only_error_mends_the_text(
    text: str, position: tuple[int, int], message: str, line: str
) -> None:
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)
    assert error.fix is not None
    mended = error.fix.apply(text)
    assert line in mended.split("\n")
    assert not syntax_errors(mended)


def test_an_operation_for_a_whole_number_has_no_fix() -> None:
    (error,) = syntax_errors(value("float[2^1] w = [1, 2]"))
    assert (error.message, error.help, error.fix) == (
        "`2^1` is not a whole number", "write a number, such as 10", None,
    )  # fmt: skip
