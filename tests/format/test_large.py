# SPDX-License-Identifier: Apache-2.0
"""Large texts are formatted by a fast path, with the same result."""

from __future__ import annotations

import random

import pytest

import onnxtext
from onnxtext.format import format_text as text
from onnxtext.format import incremental
from onnxtext.format.format_in_full import write_document
from onnxtext.format.format_text import format_source
from onnxtext.printer import print_model
from onnxtext.source import Source
from tests.format.laws import assert_format_laws
from tests.seeds import sampled


def large_text(seed: int) -> str:
    """Return a text of many statements, some of them not canonical, some with comments."""
    chance = random.Random(seed)
    values = [
        chance.choice(
            (
                f"float[2] w{index} = [1, {index}]",
                f"float[2]w{index}=[1,{index}]",
                f"float[2] w{index} = [1e0, # {index}\n2]",
                f'@doc("# {index}") float[2] w{index} = {{1, 2}}',
            )
        )
        for index in range(150)
    ]
    nodes = [
        chance.choice(
            (
                f"y{index} = Relu (x)",
                f'[ "n/{index}" ] y{index}=Conv<group=1,auto_pad="NOTSET">(x,w{index})',
                f"y{index} = Relu (x) # {index}",
                f"# {index}\n y{index} = Clip (x, , w{index},)",
                f"y{index} = If (x) <then_branch = g () => (z) {{ z = Neg (x) }}>",
            )
        )
        for index in range(300)
    ]
    blanks = ("\n", "\n\n", "\n\n\n  ")
    joined = "".join([node + chance.choice(("\n", "\n", "\n\n", "  \n\n\n ")) for node in nodes])
    listed = "".join([value + "," + chance.choice(blanks) for value in values])
    return f"<onnxtext: 1>\nmain (float[2] x) => (float y) <\n{listed}> {{\n{joined}}}\n"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", sampled(range(10), 3))
def test_the_fast_path_gives_the_same_text(seed: int) -> None:
    source = large_text(seed)
    model = onnxtext.parse(source)
    short = incremental.extract_lists(source, model, print_model(model))
    assert short is not None
    assert len(short.text()) < len(source)  # something was taken out
    formatted = short.put_back(write_document(short.text()))
    assert formatted == write_document(source)
    assert assert_format_laws(source) == formatted


def test_a_deep_text_is_not_a_fault_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(*_: object) -> str:
        raise RecursionError

    monkeypatch.setattr(text, "print_model", deep)
    with pytest.raises(onnxtext.OnnxTextError, match="nested too deeply to be formatted") as caught:
        format_source(Source("g (x)=>(y) { y = Relu (x) }", "m.onnxtxt"))
    assert caught.value.diagnostics[0].help is None


def test_output_is_parsed_before_it_replaces_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the fast path has a bug, the file is unchanged."""
    source = Source(large_text(1), "m.onnxtxt")
    wrong = format_source(source).replace("Relu", "Ceil", 1)
    monkeypatch.setattr(text, "format_incrementally", lambda *_: wrong)
    assert format_source(source) == wrong
    with pytest.raises(onnxtext.OnnxTextError, match="change the model"):
        format_source(source, read_again=True)


def test_graphs_of_nodes_with_long_outputs_are_indented() -> None:
    # Outputs on their own lines indent the attributes, and so the statements of their graphs.
    nodes = "".join([f"  t{index} = Relu (x)\n" for index in range(100)])
    printed = onnxtext.from_binary(
        onnxtext.to_binary(
            f"<onnxtext: 1> g (x) => () {{\n{nodes}"
            f'  ["{"n/" * 30}"] "{"y/" * 30}" = If (x) <then_branch = h () => () {{\n{nodes}}}>\n}}'
        )
    )
    assert onnxtext.format_text(f"# a comment\n{printed}") == f"# a comment\n{printed}"
