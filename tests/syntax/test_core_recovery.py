# SPDX-License-Identifier: Apache-2.0
"""Behind an error the core goes on as before it, with the same tree as the parser in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.core import core
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from onnxtext.syntax.parser.lalr import Machine
from tests.seeds import fresh_seed
from tests.syntax.cores import check

pytestmark = pytest.mark.skipif(core() != "native", reason="the core is not there")

MISTAKES = [
    "(", ")", "[", "]", "{", "}", "<", ">", '"', '"""', ",", "=", "= Foo (", ", , 1", "x y", "-",
]  # fmt: skip


def text() -> str:
    return onnxtext.from_binary(next(transformer(300)))


def test_a_mistake_slows_nothing_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a guess, rules without a hole are the core's as they were before."""
    counted = 0
    value = Machine.value

    def counting(self: Machine, *arguments: Any) -> Any:
        nonlocal counted
        counted += 1
        return value(self, *arguments)

    monkeypatch.setattr(Machine, "value", counting)
    lines = text().split("\n")
    first = next(number for number, line in enumerate(lines) if " = [" in line)
    for number, mistake in ((2, "ir_version: ,"), (first, lines[first].replace("[", "[, "))):
        wrong = "\n".join([*lines[:number], mistake, *lines[number + 1 :]])
        counted = 0
        root, found = parse_partial(Source(wrong), "model")
        assert root is not None
        assert len(root.graph.nodes) == 300
        assert found
        assert counted < 200, mistake


def test_the_tree_behind_a_mistake_is_that_of_python() -> None:
    """What was remembered by its text is never used for a part that was corrected."""
    seed = fresh_seed()
    rng = random.Random(seed)
    right = text()[:12_000]
    for _ in range(60):
        wrong = right
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(wrong))
            wrong = wrong[:at] + rng.choice(MISTAKES) + wrong[at + rng.choice((0, 0, 1, 3)) :]
        assert check(wrong), seed


def test_a_line_without_a_token() -> None:
    root, found = parse_partial(Source(')}\n<n:"\n#",-'), "function_fragment")
    assert root is None or found
    assert found
