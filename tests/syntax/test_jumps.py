# SPDX-License-Identifier: Apache-2.0
"""Jumped and fed statements give the same: AST, places, errors. On everything there is, and on
mutations of it; and on the constructs that chunks could get wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any
from unittest import mock

import pytest

import onnxtext
from onnxtext.source import Source
from onnxtext.syntax import chunks
from onnxtext.syntax.parse import parse_partial
from onnxtext.syntax.run import Run
from tests.corpus import SHARED, index, onnx_directory, shared_model, shared_models, wheel_models


def outcome(text: str, start: str, *, fast: bool) -> Any:
    """The AST, or what could be read of it, the places of its statements, and the diagnostics."""
    made, diagnostics = parse_partial(Source(text), start, fast=fast)
    return made, list(places(made)), diagnostics


def places(item: Any) -> Iterator[int]:
    """The offsets of all statements, in a fixed order."""
    if isinstance(item, (list, tuple)):
        for inner in item:
            yield from places(inner)
    elif is_dataclass(item):
        if hasattr(item, "at"):
            yield item.at
        for field in fields(item):
            yield from places(getattr(item, field.name))


def check(text: str, start: str = "model") -> Any:
    fed = outcome(text, start, fast=False)
    # Shapes are learnt while parsing: what the second and third time do may differ from the first.
    for _ in range(3):
        assert outcome(text, start, fast=True) == fed
    # The text is cut into chunks piece by piece.
    with mock.patch.object(chunks, "_WINDOW", 60):
        assert outcome(text, start, fast=True) == fed
    return fed


@cache
def texts() -> list[str]:
    """Texts of real models, ours and the official ones."""
    found = []
    for file in wheel_models()[::3]:
        found.append(onnxtext.from_binary((onnx_directory() / file).read_bytes()))
    for file in shared_models()[::2]:
        text = onnxtext.from_binary(shared_model(file))
        if len(text) < 300_000:
            found.append(text)
    return found


def official_texts() -> list[tuple[str, str]]:
    starts = {"nodelist": "nodes"}
    found = []
    for entry in index("official_texts"):
        assert SHARED is not None
        text = (SHARED / "official_texts" / entry["file"]).read_bytes().decode()
        kind = entry["kind"]
        start = "model" if kind == "model" else f"{starts.get(kind, kind)}_fragment"
        found.append((text, start))
    return found


@pytest.mark.thorough
def test_real_models() -> None:
    for text in texts():
        check(text)


@pytest.mark.thorough
@pytest.mark.data
def test_official_texts() -> None:
    for text, start in official_texts():
        check(text, start)


@pytest.mark.data
def test_official_prints_on_one_line() -> None:
    import onnx

    for file in shared_models()[::7]:
        model = onnx.ModelProto.FromString(shared_model(file))
        try:
            text = onnx.printer.to_text(model)
        except Exception:  # what the official printer cannot print
            continue
        if len(text) < 300_000:
            check(text)


def mutate(text: str, rng: random.Random) -> str:
    """A text with one thing wrong, or perhaps not wrong."""
    at = rng.randrange(len(text))
    end = min(len(text), at + rng.choice([1, 1, 2, 5, 20]))
    match rng.randrange(6):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:end] + text[at:]
        case 2:
            return text[:at] + rng.choice('"(){}[]<>,=:@#\n\\ bx1.-') + text[at:]
        case 3:
            return text[:at] + rng.choice(["\n", " # comment\n", "\r\n"]) + text[at:]
        case 4:
            lines = text.split("\n")
            line = rng.randrange(len(lines))
            del lines[line : line + rng.choice([1, 2])]
            return "\n".join(lines)
    return text[:at]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int) -> None:
    rng = random.Random(seed)
    small = [text for text in texts() if len(text) < 20_000]
    for _ in range(150):
        check(mutate(rng.choice(small), rng))


def model_of(*lines: str) -> str:
    return "\n".join(["g (float[2] x) => (float[2] y) {", *lines, "}"])


@pytest.mark.parametrize(
    "lines",
    [
        # The undo rule: a statement goes on where a chunk ended.
        ("q = Softmax (x)", "<axis = 1>", "r = Softmax (x)", "<axis = 1>", "y = Relu (q)"),
        ("q = Softmax (x)", "# why", "", "<axis = 1>", "y = Relu (q)"),
        ("q = Softmax (x)", "q = Softmax (x)", "q = Softmax (x) <axis = 1>"),
        # Strings over lines, and lines that look like statements inside them.
        ('q = A <s = "', "r = Relu (q)", '"> (x)', "r = Relu (q)", "y = Relu (r)"),
        ('q = A <s = """', "  r = Relu (q)", '  """> (x)', "r = Relu (q)"),
        # Several statements in a chunk.
        ("q = Relu (x) r = Relu (q)", "q = Relu (x) r = Relu (q)", "  q = Relu (x) r = Relu (q)"),
        ("q = Relu (x) r =", "Relu (q)", "q = Relu (x) r =", "Relu (q)"),
        # Comments, with statements in them.
        ("# q = Relu (x)", "q = Relu (x) # r = Relu (q)", "# q = Relu (x)", "q = Relu (x)"),
        # The same text in and outside strings.
        ('"q" = Relu ("x")', '"r" = Relu ("q")', '"s" = Relu ("r#")', '"t" = Relu ("""")'),
        ('"q" = Relu ("x")', '"r" = Relu ("\\q")', '"s" = Relu ("\\"")', 'b"t" = Relu (b"x")'),
        # Left-out names, labels, decorators, every form of the operator.
        ("q, , r = A (x, , x,)", "[] q = .A ()", "[n] q = a.b.C:o (x)", "= A ()", "q = (x)"),
        ('@doc("d") q = A (x)', '@doc("e") r = A (x)', "float[2] q = A (x)", "int4 q, r = A ()"),
        # Wide nodes.
        *[("q = A (x) <", "  a = 1,", '  b = "s",', ">") * 3],
        ("q = If (x) <", "  then = t () => (float z) {", "    z = Relu (x)", "  },", ">") * 3,
        # Numbers over lines.
        ("q = C <v = float[2, 2] [", "  [1, 2],", "  [3, 4],", "]> ()") * 3,
        ("q = C <v = float[2, 2] [", "  [1, 2], # a", "  [3, 4],", "]> ()") * 3,
        ("q = C <a = [1, 2,", "3]> ()", "q = C <a = [1, 2,", "3]> ()"),
        # Errors.
        ("q = Relu (x)", "q = Relu (x", "q = Relu (x)"),
        ("q = A <a = [1, x]> ()", "q = A <a = [1, 2]> ()", "q = A <a: int = 1.5> ()") * 2,
        ("q = A <a = 99999999999999999999> ()",) * 3,
        ("q = Relu (x)", ", r = Relu (q)"),
        ("q = Relu (x)", "<axis = foo>"),
        ("q = Relu (x)", "}", "}"),
    ],
)  # fmt: skip
def test_chunks_are_only_a_guess(lines: tuple[str, ...]) -> None:
    check(model_of(*lines))
    check(model_of(*lines).replace("\n", "\r\n"))
    check(model_of(*lines, *lines, *lines))
    check(model_of(*lines)[:-1])  # the last bracket is missing


def test_undone_jumps_give_the_right_node() -> None:
    model = onnxtext.parse(model_of(*["q = Softmax (x)", "<axis = 1>"] * 4))
    assert [len(node.attributes) for node in model.graph.nodes] == [1] * 4


def test_most_statements_of_a_large_model_are_jumped() -> None:
    lines = [f'  ["n{i}"] "v{i + 1}" = Relu <a = {i % 3}> ("v{i}")' for i in range(1000)]
    text = model_of(*lines)
    Run(text, "model", fast=True).parse()
    run = Run(text, "model", fast=True)
    run.parse()
    assert run.jumps >= 995


def test_names_need_not_be_quoted_to_be_jumped() -> None:
    lines = [f"  [n{i}] v{i + 1} = Relu (v{i})" for i in range(1000)]
    run = Run(model_of(*lines), "model", fast=True)
    run.parse()
    assert run.jumps >= 990


def test_metadata_is_jumped() -> None:
    entries = [f'    "key{i}": "value {i}"' for i in range(1000)]
    text = "\n".join([model_of(), "metadata {", "  graph {", *entries, "  }", "}"])
    check(text)
    run = Run(text, "model", fast=True)
    run.parse()
    assert run.jumps >= 990


def test_long_lines_are_cut_before_types() -> None:
    entries = ", ".join(f"float[2] w{i} = {{{i}, 2}}" for i in range(1000))
    text = f"g () => () <{entries}> {{}}"
    check(text)
    run = Run(text, "model", fast=True)
    run.parse()
    assert run.jumps >= 990


def test_statements_with_places_inside_only() -> None:
    lines = [f"  {name} = els () => () {{}}," for name in ("e", "f", "g", "h")]
    check(model_of("y = If (c) <", "  t = 1,", *lines, ">"))


def test_tokens_over_thousands_of_lines() -> None:
    text = "some text\n" * 3000
    check(model_of(f'q = A <s = "{text}"> (x) r = Relu (q)', "t = Relu (r)", "t = Relu (r)"))
    check(model_of(f'q = A <s = """\n{text}"""> (x)', f'r = A <s = "{text}', '"> (q)'))
    numbers = "1, 2, 3,\n" * 3000
    check(model_of(f"q = A <s = [{numbers}]> (x)", "t = Relu (r)", "t = Relu (r)"))


def test_a_long_statement_with_a_comment_is_parsed_again() -> None:
    """What makes shapes of statements recurses over their tokens."""
    rows = [f"  {', '.join(['0.5'] * 16)},\n"] * 60
    numbers = "".join([rows[0], "  # here\n", *rows[1:]])
    text = f"g (float[2] x) => (float[2] y) {{\n  y = Foo <a = [\n{numbers}  ]> (x)\n}}\n"
    trees = [onnxtext.parse(text) for _ in range(4)]
    assert all(tree == trees[0] for tree in trees)
