# SPDX-License-Identifier: Apache-2.0
"""L4: a megabyte of any invalid text is rejected in bounded time."""

from __future__ import annotations

import random
from itertools import product

import pytest

import onnxtext
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.running import limited
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

SIZE = 1_000_000
MAX_SECONDS = 4
"""Processor time; an idle machine takes less than a third of it."""

UNITS = (
    *"a,()[]{}<>\"'=#1.-@\\\0\t\ré😀",
    *("a ", "a\n", "a,", "1 ", "a.", "= ", "<>", '" ', "#\n", "@a ", "a=", "a:", "g (", "seq("),
    *("float ", "float[", "<<<<<<< \n", "// a\n", "metadata { ", 'b"', '"""', "0x", '"a\n', "\r\n"),
)


def assert_rejected_in_time(text: str) -> None:
    with limited(MAX_SECONDS):
        _, diagnostics = parse_partial(Source(text, "t"), "model")
    assert diagnostics


@pytest.mark.parametrize("start", ["", "g () => () {", "g () => () { x = A <a = ["])
@pytest.mark.parametrize("unit", sampled(UNITS, 6), ids=ascii)
def test_repetitions_are_rejected_in_time(unit: str, start: str) -> None:
    assert_rejected_in_time(start + unit * ((SIZE if not start else SIZE // 4) // len(unit)))


def test_random_characters_are_rejected_in_time() -> None:
    chance = random.Random(1)
    for first, last in ((32, 127), (0, 256)):
        assert_rejected_in_time("".join([chr(chance.randrange(first, last)) for _ in range(SIZE)]))


def test_repeated_lines_are_rejected_in_time() -> None:
    """Most of the errors are not reported."""
    assert_rejected_in_time("g () => () { x = A <a = [\n" + "  // c\n  node [a] {\n  =>\n" * 5_000)


def test_many_errors_in_one_line_are_rejected_in_time() -> None:
    """Each heuristic may read the line again for each error."""
    assert_rejected_in_time("g () => () { y = Foo (" + "%x, " * 8_000 + ") }")


@pytest.mark.parametrize(
    "text",
    [
        "g () => () <" + "y = A (x)\n" * 50 + "+ ,\n" * 600 + "> {}",
        "g () => () {}\nencoding {" + "\n ,\n" * 1_000 + "}",
        "g () => () {}\nmetadata {\n" + "y = A (x)\n" * 50 + "\t ,\n" * 1_000 + "}",
    ],
    ids=["initializers", "encoding", "metadata"],
)
def test_lines_after_which_parsing_fails_again_are_rejected_in_time(text: str) -> None:
    """At each error, up to 30 earlier lines could be parsed up to the error."""
    assert_rejected_in_time(text)


LENGTH = 100_000
NODE = "g () => () { x = A <a%s> () }"
TENSOR = "g () => () <float16[9] h = %s"
INPUTS = "g () => () { x = A ("
LONG = {
    "a list of hexadecimal numbers without its bracket": TENSOR % ("[" + "0x7e01, " * 5_000),
    "nested hexadecimal numbers": TENSOR % ("[[" + "0xe, -0x1f, " * 5_000),
    "a hexadecimal number": "<ir_version: 0x" + "f" * LENGTH,
    "a hexadecimal number with a large X": NODE % (" = 0X" + "f" * LENGTH),
    "a complex element": TENSOR % ("[" + "9" * LENGTH + "j]> {}"),
    "a number with a plus sign": NODE % (" = +" + "9" * LENGTH + "x"),
    "the length of a repeated list": NODE % (": ints[" + "9" * LENGTH + "] = [0, ...]"),
    "protobuf text with empty lines": "a: 1" + "\n" * LENGTH + "?",
    "arrows": "a =>" * (LENGTH // 4),
    "escaped quotes": INPUTS + r"\"x\", " * (LENGTH // 2),
    "escaped quotes on lines": INPUTS + ") }\n" + 'y = b\\"\n' * (LENGTH // 2),
    "look-alike commas": INPUTS + "\u2026, " * (LENGTH // 2),
    "escaped strings after an escaped string": NODE % (" = [" + r"\"a\", " * LENGTH + "]"),
    "look-alike words": INPUTS
    + "\u0430 = 1> ("
    + " ".join(map("".join, product("\u0430\u0435\u043e\u0440\u0441\u0443\u0445", repeat=5))),
}
"""Texts that are slow, or raise ValueError, if a pattern or number is not limited."""


@pytest.mark.parametrize("kind", sampled(LONG, 3))
def test_long_tokens_are_rejected_in_time(kind: str) -> None:
    with limited(MAX_SECONDS):
        assert onnxtext.check(LONG[kind])
