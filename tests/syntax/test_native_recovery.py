# SPDX-License-Identifier: Apache-2.0
"""After an error the core continues, with the same tree as the parser in Python."""

from __future__ import annotations

from typing import Any

import pytest

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.select_core import core
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from onnxtext.syntax.parser.lalr import Machine
from tests.seeds import seeded
from tests.syntax.cores import assert_same_in_both

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

ERRORS = [
    "(", ")", "[", "]", "{", "}", "<", ">", '"', '"""', ",", "=", "= Foo (", ", , 1", "x y", "-",
]  # fmt: skip


def text() -> str:
    return onnxtext.from_binary(next(transformer(300)))


def test_an_error_does_not_slow_down_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error, the Python machine runs only a few of the actions; the core runs the rest."""
    counted = 0
    run_action = Machine.run_action

    def counting(self: Machine, *arguments: Any) -> Any:
        nonlocal counted
        counted += 1
        return run_action(self, *arguments)

    monkeypatch.setattr(Machine, "run_action", counting)
    lines = text().split("\n")
    first = next(index for index, line in enumerate(lines) if " = [" in line)
    for number, error in ((2, "ir_version: ,"), (first, lines[first].replace("[", "[, "))):
        wrong = "\n".join([*lines[:number], error, *lines[number + 1 :]])
        counted = 0
        root, found = parse_partial(Source(wrong), "model")
        assert root is not None
        assert len(root.graph.nodes) == 300
        assert found
        assert counted < 200, error


@pytest.mark.thorough
def test_the_tree_after_an_error_equals_that_of_python() -> None:
    """The cache of rule results by text does not change the tree of a text with errors."""
    rng = seeded()
    right = text()[:12_000]
    for _ in range(60):
        wrong = right
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(wrong))
            wrong = wrong[:at] + rng.choice(ERRORS) + wrong[at + rng.choice((0, 0, 1, 3)) :]
        assert assert_same_in_both(wrong)


def test_a_line_without_a_token_is_an_error() -> None:
    root, found = parse_partial(Source(')}\n<n:"\n#",-'), "function_fragment")
    assert root is None or found
    assert found
