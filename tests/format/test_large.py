# SPDX-License-Identifier: Apache-2.0
"""Large texts take a way of their own, which leads to the same text."""

from __future__ import annotations

import random

import pytest

import onnxtext
from onnxtext.format import reduced
from onnxtext.format.document import write_document
from tests.format.laws import check


def large_text(seed: int) -> str:
    """A text of many statements, some of them neither canonical nor without comments."""
    chance = random.Random(seed)
    values = [
        chance.choice(
            (
                f"float[2] w{number} = [1, {number}]",
                f"float[2]w{number}=[1,{number}]",
                f"float[2] w{number} = [1e0, # {number}\n2]",
                f'@doc("# {number}") float[2] w{number} = {{1, 2}}',
            )
        )
        for number in range(150)
    ]
    nodes = [
        chance.choice(
            (
                f"y{number} = Relu (x)",
                f'[ "n/{number}" ] y{number}=Conv<group=1,auto_pad="NOTSET">(x,w{number})',
                f"y{number} = Relu (x) # {number}",
                f"# {number}\n y{number} = Clip (x, , w{number},)",
                f"y{number} = If (x) <then_branch = g () => (z) {{ z = Neg (x) }}>",
            )
        )
        for number in range(300)
    ]
    blanks = ("\n", "\n\n", "\n\n\n  ")
    joined = "".join([node + chance.choice(("\n", "\n", "\n\n", "  \n\n\n ")) for node in nodes])
    listed = "".join([value + "," + chance.choice(blanks) for value in values])
    return f"<onnxtext: 1>\nmain (float[2] x) => (float y) <\n{listed}> {{\n{joined}}}\n"


@pytest.mark.parametrize("seed", range(10))
def test_the_same_text(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = large_text(seed)
    model = onnxtext.parse(text)
    walked: list[str] = []

    def walk(part: str) -> str:
        walked.append(part)
        return write_document(part)

    monkeypatch.setattr(reduced, "write_document", walk)
    formatted = reduced.write_large(text, model)
    assert formatted == write_document(text)
    assert len(walked[0]) < len(text)  # something was taken out
    monkeypatch.undo()
    assert check(text) == formatted
