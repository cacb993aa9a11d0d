# SPDX-License-Identifier: Apache-2.0
"""Items of lists that are read many at a time: the same AST, places and errors as one by one."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.source import Source
from onnxtext.syntax import recovery, run, series
from onnxtext.syntax.known import Shapes
from onnxtext.syntax.machine import Machine
from onnxtext.syntax.parse import parse_partial
from onnxtext.syntax.shapes import record
from tests.syntax.test_jumps import check

NAMES = ["a", "b_1", '"c"', '""', "", "float", "nan", "inf", "metadata", "0", '"""d"""', "-a", "é"]
BODY = "g () => () {%s}"
DOMAIN = "g () => () {a = %sA ()}"
LISTS = {
    "g () => () {x = A (%s)}": [*NAMES, "# z\n", "a # , z\n", "a b", r'"\""', "[a]", "x,", ")"],
    "g () => () {%s = A ()}": [*NAMES, "float[N] a", "float a", "float[2, N] a", "a = B (), b"],
    BODY: [
        *(
            "a = A ()",
            "b = B (a)",
            "x, y = A (a, b)",
            'z = A <b = 1, c: int = 2> ("d", e)',
            "a = A",
        ),
        *("a = A () <b = 1>", "a = A (b,)", "<a = 1>", ", c = A ()", "d. = A ()", "@e f = A ()"),
        *("a = A <b = 99999999999999999999> ()", "[n] a = A ()", "a = b.c.A ()", "float a = A ()"),
    ],
    DOMAIN: ["a", "b_1", "float", "1", ".", "a,", ".5", "metadata"],
    "g (%s) => () {}": [*NAMES, "float a", "float[N] a", "float a = {1}", "float a = 1", "float"],
    "g () => () <%s> {}": ["float a", "float[N] a", "a", '"c"', "float a = [0x1]", "float b ="],
    "g () => () {x = A <%s> ()}": [
        *(
            "a = 1",
            "a: int = 1",
            "a = b",
            'a = "b"',
            "a = [1]",
            "a = [1, 2]",
            "a = [.5e1]",
            "a = [1 2]",
            "a: int",
            "a = 1.5",
            "a: x = 1",
        ),
        *("a = 99999999999999999999", "a = nan", "@b", "1 = a", "", "a = {}", "a = g () => () {}"),
    ],
    "<ir_version: 10, %s> g () => () {}": [
        *("k: 1", 'domain: "d"', 'domain: "e"', "model_version: 99999999999999999999"),
        *("doc_string: 1", "opset_import: [1]", "ir_version: 8", "", 'k: "v"', "k 1"),
    ],
    "g () => () {x = A <a = [%s]> ()}": ['"s"', "1", "-1.5", "nan", "b", "", "[1]", r'"\n"', "inf"],
    "<opset_import: [%s]> g () => () {}": ['"": 1', '"d": 2', "3", "", '"d" 2', '"d": -1', "a: 1"],
}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text with a long list, of which the items are alike but for some."""
    frame = draw(st.sampled_from(sorted(LISTS)))
    items = st.sampled_from(LISTS[frame])
    found: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        repeated = draw(st.lists(items, min_size=1, max_size=2))
        found += repeated * draw(st.sampled_from([1, 4, 9, 20]))
    commas = [",", ", ", " ,\n  ", ",\t"]
    if frame == BODY:
        commas = ["", " ", "  ", "\n"]
    if frame == DOMAIN:
        commas = [".", " . ", ".\n"]
    return frame % draw(st.sampled_from(commas)).join(found)


@pytest.mark.thorough
@given(texts())
def test_many_are_as_one_by_one(text: str) -> None:
    check(text)


@pytest.mark.parametrize("frame", LISTS)
def test_each_among_many(frame: str) -> None:
    first, *others = LISTS[frame]
    comma = {BODY: " ", DOMAIN: "."}.get(frame, ",")
    for item in others:
        check(frame % comma.join([*[first] * 10, item, *[first] * 10]))


@pytest.mark.thorough
@given(texts(), st.integers(10, 60))
def test_windows(text: str, window: int) -> None:
    with mock.patch.object(series, "_WINDOW", window):
        check(text)


@pytest.mark.parametrize("item", ["a,", '"a",', ",", "float a,", "a: 1,", "a.", "a = A (b) "])
def test_they_are_read_many_at_a_time(item: str) -> None:
    """Not token by token."""
    frames = {"float a,": "g (%s", "a: 1,": "<%s", "a.": "g () => () {x = a.%s"}
    frames["a = A (b) "] = "g () => () {%s"
    text = frames.get(item, "g () => () {x = A (b, %s") % (item * 1000)
    with mock.patch.object(Machine, "feed", autospec=True, side_effect=Machine.feed) as feed:
        parse_partial(Source(text), "model")
    assert feed.call_count < 100


def test_statements_of_many_shapes() -> None:
    """No more of them are recorded than it pays to know."""
    words = ("a", '"b"', "float", "inf", "metadata")
    lines = []
    for number in range(300):
        inputs = [words[number // 5**place % 5] for place in range(4)]
        lines += [f"x = A ({', '.join(inputs)}, a, a, a, a, a, a)"] * 2
    text = "\n".join(["g () => () {", *lines, "}"])
    recorded = 0

    def count(machine: Machine, kinds: str, depth: int) -> list[Any] | None:
        nonlocal recorded
        recorded += len(kinds)
        return record(machine, kinds, depth)

    with (
        mock.patch.object(recovery, "core", return_value="python"),
        mock.patch.object(run, "MOST_RECORDED", 500),
        mock.patch.object(run, "record", count),
        mock.patch.object(run, "known_shapes", cache(lambda state: Shapes())),
    ):
        made, found = parse_partial(Source(text), "model")
    assert not found
    assert len(made.graph.nodes) == 600
    assert 500 < recorded < 600
