# SPDX-License-Identifier: Apache-2.0
"""Recovery: no cascading errors, exact spans, and all valid statements are kept."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest

import onnxtext
from onnxtext.ast.model import Model
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.source import Source
from onnxtext.syntax import parse
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS
from onnxtext.syntax.grammar.lexer import Token, load_lexer
from onnxtext.syntax.parse import parse_partial
from tests.corpus import EXAMPLES
from tests.diagnostics.found import fix_of
from tests.running import limited
from tests.seeds import draws, sampled

HEAD = "<ir_version: 10, opset_import: [21]>\ng (float[2] x) => (float[2] y) {\n"
GOAL = 0.95


def diagnose(text: str, start: str = "model") -> tuple[Diagnostic, ...]:
    return parse_partial(Source(text), start)[1]


def lines_of(found: tuple[Diagnostic, ...]) -> list[int]:
    lines = []
    for item in found:
        assert item.source is not None
        assert item.span is not None
        lines.append(item.source.position(item.span.start).line)
    return lines


@cache
def example(path: Path) -> str:
    return path.read_text("utf-8")


def tokens_of(text: str) -> list[Token]:
    return load_lexer().tokens(text, 0, len(text))


# ---- Errors in different statements -------------------------------------------------------------


def spoil(line: str, rng: random.Random) -> str:
    """Return a statement with one common error."""
    tokens = tokens_of(line)
    result: list[str] = [
        line + " // note",
        line + ";",
        line[: tokens[len(tokens) // 2].at].rstrip(),
    ]
    for token in tokens:
        before, after = line[: token.at], line[token.end :]
        if token in {"(", ")", "=", "<", ">", ","}:
            result.append(before + after)
        if token == "=":
            result.append(f"{before}:{after}")
        if token[0] == '"' and len(token) > 2:
            result += [f"{before}'{token[1:-1]}'{after}", f"{before}“{token[1:-1]}”{after}"]
            result.append(before + token[:-1] + after)
        if re.fullmatch(r"float(\[.*)?", token):
            result.append(before + token.replace("float", "flaot") + after)
    return rng.choice(result)


@cache
def is_node(line: str) -> bool:
    return not diagnose(line, "node_fragment")


@cache
def whole_statements(path: Path) -> list[int]:
    """Return the lines, from 0, that contain one complete node each."""
    lines = example(path).split("\n")
    plain = (index for index, line in enumerate(lines) if "#" not in line and '"""' not in line)
    return [number for number in plain if is_node(lines[number])]


@pytest.mark.thorough
def test_each_error_has_one_diagnostic(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    right = total = 0
    for path in EXAMPLES:
        places = whole_statements(path)
        for _ in range(draws(25)):
            lines = example(path).split("\n")
            at = sorted(rng.sample(places, rng.randint(1, min(5, len(places)))))
            for number in at:
                wrong = lines[number]
                while is_node(wrong):
                    wrong = spoil(lines[number], rng)
                lines[number] = wrong
            total += 1
            right += lines_of(diagnose("\n".join(lines))) == [number + 1 for number in at]
    with capsys.disabled():
        print(
            f"\none diagnostic on the line of each error: {right} of {total} ({right / total:.1%})"
        )
    assert right / total >= GOAL


# ---- One token more or less ---------------------------------------------------------------------


def without(text: str, first: Token, second: Token) -> str:
    return text[: first.at] + text[first.at + len(first) :]


def twice(text: str, first: Token, second: Token) -> str:
    end = first.at + len(first)
    return f"{text[:end]} {first}{text[end:]}"


def swapped(text: str, first: Token, second: Token) -> str:
    between = text[first.at + len(first) : second.at]
    return text[: first.at] + second + between + first + text[second.at + len(second) :]


def near(text: str, at: int) -> bool | None:
    """Whether the first diagnostic is within one line of an edit; None without a diagnostic."""
    found = diagnose(text)
    if not found:
        return None
    return abs(lines_of(found)[0] - Source(text).position(at).line) <= 1


def share(results: list[bool | None], name: str, capsys: pytest.CaptureFixture[str]) -> float:
    invalid = [result for result in results if result is not None]
    value = sum(invalid) / len(invalid)
    with capsys.disabled():
        print(f"\n{name}: the first diagnostic is within a line in {value:.1%} of {len(invalid)}")
    return value


@pytest.mark.thorough
@pytest.mark.parametrize("change", [without, twice, swapped])
def test_a_wrong_token_is_reported_nearby(
    change: Callable[[str, Token, Token], str], capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(5)
    results = []
    for path in EXAMPLES:
        text = example(path)
        tokens = tokens_of(text)
        for _ in range(draws(60)):
            at = rng.randrange(len(tokens) - 1)
            results.append(near(change(text, *tokens[at : at + 2]), tokens[at].at))
    assert share(results, change.__name__, capsys) >= GOAL


def check_truncations(step: int, capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for path in EXAMPLES:
        text = example(path)
        results += [near(text[:end], end) for end in range(1, len(text), step)]
    assert share(results, "truncation", capsys) >= GOAL


@pytest.mark.thorough
def test_truncated_texts_have_few_errors(capsys: pytest.CaptureFixture[str]) -> None:
    check_truncations(97, capsys)


@pytest.mark.slow
def test_every_truncated_text_has_few_errors(capsys: pytest.CaptureFixture[str]) -> None:
    check_truncations(1, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("change", [without, twice, swapped])
def test_every_wrong_token_is_reported_nearby(
    change: Callable[[str, Token, Token], str], capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for path in EXAMPLES:
        text = example(path)
        tokens = tokens_of(text)
        pairs = pairwise(tokens)
        results += [near(change(text, *pair), pair[0].at) for pair in pairs]
    assert share(results, f"every {change.__name__}", capsys) >= GOAL


# ---- Partial results ----------------------------------------------------------------------------


def test_valid_statements_are_kept() -> None:
    nodes = ["a = Relu (x)", "b =", "c = Add (a x)", "d = A <k: int = 1.5> (x)", "y = B (c)"]
    text = HEAD + "".join(f"  {node}\n" for node in nodes) + "}\n"
    model, found = parse_partial(Source(text), "model")
    assert isinstance(model, Model)
    assert [node.op_type for node in model.graph.nodes] == ["Relu", "Add", "A", "B"]
    assert [item.code for item in found] == [
        "incomplete-statement",
        "missing-comma",
        "attribute-type-mismatch",
    ]
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.parse(text)
    assert [item.code for item in caught.value.diagnostics] == [item.code for item in found]


def test_an_unclosed_graph_is_kept() -> None:
    model, found = parse_partial(Source(f"{HEAD}  a = Relu (x)\n  y = Relu (a"), "model")
    assert len(found) == 1
    assert isinstance(model, Model)
    assert [node.op_type for node in model.graph.nodes][:1] == ["Relu"]


def test_a_valid_text_is_complete() -> None:
    model, found = parse_partial(Source(f"{HEAD}  y = Relu (x)\n}}"), "model")
    assert not found
    assert model == onnxtext.parse(f"{HEAD}  y = Relu (x)\n}}")


def test_the_number_of_errors_is_limited() -> None:
    for wrong in ("  y = = Relu (x)\n", "  y = A <a: int = 1.5> (x)\n"):
        found = diagnose(HEAD + wrong * 1000 + "}")
        assert len(found) == MAX_SEMANTIC_ERRORS
        assert "too many errors" in found[-1].notes[0]


def test_five_errors_in_many_nodes_are_found_fast() -> None:
    lines = [f'  ["n{i}"] "v{i + 1}" = Relu <a = {i % 3}> ("v{i}")' for i in range(20_000)]
    text = HEAD + "\n".join(lines) + "\n}\n"
    started = time.process_time()
    assert not diagnose(text)
    clean = time.process_time() - started
    at = [100, 5000, 9000, 15_000, 19_990]
    changes = [("=", ""), (")", ""), ("(", ""), ("<", "< <"), ('"', "")]
    for number, (old, new) in zip(at, changes, strict=True):
        lines[number] = lines[number].replace(old, new, 1)
    with limited(5 * clean + 0.5):  # not 20 times as long
        model, found = parse_partial(Source(HEAD + "\n".join(lines) + "\n}\n"), "model")
        assert lines_of(found) == [number + 3 for number in at]
        assert len(model.graph.nodes) >= 19_995


# ---- Hostile texts ------------------------------------------------------------------------------

SUB_GRAPH = "x = If (c) <t = g () => (float z) {\n"
NOISE = random.Random(3)
HOSTILE = {
    "types in types": "g (" + "seq(" * 20_000 + "float x) => () {}",
    "graphs in graphs": HEAD + SUB_GRAPH * 200 + "}>\n" * 200 + "}",
    "open graphs": HEAD + SUB_GRAPH * 200,
    "a long line": HEAD + "y = Relu (" + "some/input_name_10, ".replace("/", "_") * 50_000 + "\n}",
    "a long word": HEAD + "y = A <a = " + "x" * 1_000_000 + " 1> (x)}",
    "NUL": "\0" * 100_000,
    "NUL in lines": HEAD + "y = Relu (\0)\n" * 10_000,
    "an open string": HEAD + "a = Relu (x)\n" * 5000 + 'y = Relu ("' + "y = Relu (x)\n" * 50_000,
    "quotes": HEAD + '"\n' * 100_000,
    "opening": HEAD + "(<[{" * 50_000,
    "closing": HEAD + ")>]}" * 50_000,
    "square brackets": HEAD + "y = A <a = " + "[" * 200_000,
    "noise": NOISE.randbytes(300_000).decode("latin-1"),
    "slashes": "/" * 500_000,
    "conflicts": HEAD + "<<<<<<< a\n=======\n" * 20_000,
    "quoted keys": "<" + '"ir_version": 1,\n' * 20_000,
    "Cyrillic letters": HEAD + "y = Op (" + "\u0445, " * 2_000 + "x)\n}\n",
    "half statements": HEAD + "y = A <a = {\n" * 50_000,
    "open nodes": HEAD + "y = Relu (x " * 80_000 + "\n}",
    "stairs": HEAD + "".join(" " * depth + "y = A (\n" for depth in range(1400)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sampled(HOSTILE, 3))
def test_hostile_texts_are_rejected_in_time(name: str) -> None:
    with limited(5):  # below 2 s on a fast machine
        found = diagnose(HOSTILE[name])
    assert 1 <= len(found) <= MAX_SEMANTIC_ERRORS


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "wrong", "code"),
    [('g (@doc("x', '"x', "unclosed-string"), ("// x", "// x", "slash-comment")],
)
def test_errors_end_before_the_line_break(text: str, wrong: str, code: str, newline: str) -> None:
    text += newline
    found = parse_partial(Source(text), "model")[1][0]
    assert found.code == code
    assert found.span is not None
    assert text[slice(*found.span)] == wrong


@pytest.mark.thorough
def test_many_errors_in_one_statement_are_found_in_time() -> None:
    text = HEAD + "  @doc(\n" * 200 + "}\n"
    with limited(6):
        read_partial(Source(text))


def test_a_text_with_many_errors_is_parsed_only_once() -> None:
    text = HEAD + "  seq(\n" * 50 + "}\n"
    with mock.patch.object(parse, "check_characters", wraps=parse.check_characters) as parses:
        _, found = parse_partial(Source(text), "model")
    assert len(found) == 2  # the other errors are not reported
    assert parses.call_count == 1


def test_lone_surrogates_are_errors() -> None:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary("g () => () { \udcff }")
    assert caught.value.diagnostics[0].code == "invalid-character"


def test_equal_errors_on_consecutive_lines_are_all_reported() -> None:
    lines = "".join([f"  float[2] w{i} = [sqrt(2), 1],\n" for i in range(10)])
    found = diagnose(f"g () => () <\n{lines}> {{\n}}\n")
    assert lines_of(found) == list(range(2, 12))


def test_a_string_that_is_never_closed_is_skipped_once() -> None:
    text = 'g () => () {"\ny = f (""""" = () <@\n'
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.to_binary(text)
    found = [(item.code, item.labels[0].span.start) for item in caught.value.diagnostics]
    assert found == [("unclosed-string", text.index('"')), ("unclosed-string", text.index('"""'))]


WORDS = (
    "' ; / "
    + '( ) < > { } [ ] = => , : . x y 1 -2.5 float float[2] seq \n \n\n "a" @doc( true metadata'
)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_any_tokens_in_any_order_are_reported(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(draws(20)):
        text = HEAD + " ".join(rng.choices(WORDS.split(" "), k=rng.randint(1, 120)))
        assert diagnose(text)


@pytest.mark.parametrize(
    ("literal", "line", "column"),
    [
        ("[\n    # a comment\n    [1, 2],\n    [3 4],\n  ]", 6, 8),
        ("[\n    # a comment\n    [1, 2],\n    3, 4],\n  ]", 6, 5),
        ("[[ # a comment\n    1, 2\n], [3, 4, 5]]", 5, 12),
        ("[[1, nan], # a comment\n    [true, 1]]", 3, 24),
        ("{ # a comment\n  1, 2, 3,\n  4e400, 1\n}", 5, 3),
        ("{ # a comment\n  1, 2, 3,\n  4, 0x1p2000\n}", 5, 6),
    ],
)
def test_errors_in_literals_with_comments_have_exact_spans(
    literal: str, line: int, column: int
) -> None:
    head = "<ir_version: 10, opset_import: [21]>\ng () => () <\n"
    text = f"{head}  int32[2, 2] w = {literal}\n> {{}}\n"
    first = diagnose(text)[0]
    assert first.source is not None
    assert first.span is not None
    assert first.source.position(first.span.start)[:2] == (line, column), first


@pytest.mark.parametrize(
    "dims", ["[{}, 3]", " [{}, 3]", "[ 3,\t{} ]", " # [4]\n[3, {}]", '[{}, @denotation("D") 3]']
)
def test_sizes_out_of_range_have_one_code_and_place_in_every_spelling(dims: str) -> None:
    size = str(1 << 63)
    text = f"g (float{dims.format(size)} x) => () {{}}"
    (found,) = diagnose(text)
    assert found.code == "integer-out-of-range"
    assert found.span is not None
    assert text[slice(*found.span)] == size


@pytest.mark.parametrize("entry", ["a = ,", "a == 1,", "a = 1"])
@pytest.mark.parametrize("string", ['"(x\ny"', '"x\n(y\nz"', 'b"\\"(\n"'])
def test_strings_of_several_lines_are_closed(entry: str, string: str) -> None:
    text = f"{HEAD}  y = Foo <{entry} b = {string}> (x)\n}}\n"
    (found,) = diagnose(text)
    assert found.code != "unclosed-string"
    assert lines_of((found,)) == [3]


TRIPLE = f"""\
{HEAD}  t = Foo <
    map = \"""
      a b
      "c" (d
      \""",
    k = 1,
  > (x)
  y = Relu (t)
}}

metadata {{
  node y {{
    "k": ""
    "a.b": \"""
      File "m.py", line 3, in forward
        return self.q(x)
      \"""
    c: "d"
  }}
  node t {{ e: \"""
      g
      \""" }}
}}

resources {{
  "2d4a1b0e448e172f3c49302b59063b3a": base64 \"""
    GQ8LPsgh8zz6Oo49MLYVPfReDb6aP/89NRD3vTdQH76eptQ9HxYMPn5R5b0A3+I60rigvciCKb2G
    \"""
  "3d4a1b0e448e172f3c49302b59063b3a": base64 \"""
    GQ8LPsgh8zz6Oo49MLYVPfReDb6aP/89NRD3vTdQH76eptQ9HxYMPn5R5b0A3+I60rigvciCKQ==
    \"""
}}
"""


@pytest.mark.parametrize("quotes", ['""', '"', "", '""""', "'''"])
def test_wrong_quotes_of_a_string_of_several_lines_are_one_error(quotes: str) -> None:
    places = [found.span() for found in re.finditer('"""', TRIPLE)]
    for index, (start, end) in enumerate(places):
        text = TRIPLE[:start] + quotes + TRIPLE[end:]
        (found,) = diagnose(text)
        opening = places[index - (index % 2 and not quotes)][0]
        assert lines_of((found,)) == [TRIPLE.count("\n", 0, opening) + 1]
        for fix in () if found.fix is None or quotes == '""""' else (found.fix,):
            (edit,) = fix.edits
            assert text[: edit.span.start] + edit.text + text[edit.span.end :] == TRIPLE


def test_strings_of_several_lines_in_a_list_are_not_unopened() -> None:
    strings = '    """\n    e\n    """,\n' * 3
    text = f'{HEAD}  y = Foo <a = [\n{strings}  ], b = "\\"\\"\\"", c == 1> (x)\n}}\n'
    assert [found.code for found in diagnose(text)] == ["wrong-mark"]


@pytest.mark.parametrize(
    "attributes",
    ["a = 6", "a = [1, 0]", "a = [0", "a = int64[5]", "val", "\n    a = 1,\n    b = 2"],
)
def test_a_node_after_incomplete_attributes_is_not_an_attribute(attributes: str) -> None:
    text = f"{HEAD}  y = Op <{attributes}\n  z = Relu (y)\n  w = Add (y, z)\n}}\n"
    (found,) = diagnose(text)
    assert found.code == "incomplete-statement"
    assert lines_of((found,)) == [3 + attributes.count("\n")]


def test_a_node_before_incomplete_attributes_is_not_after_them() -> None:
    found = diagnose('g () => () {\n"\n"\n"" = e () "\\"" = d <a: a i')
    assert found[0].code == "incomplete-statement"


@pytest.mark.parametrize("inputs", ["y, z", "\n    y,\n    z,\n  "])
def test_a_wrong_bracket_before_inputs_has_a_fix(inputs: str) -> None:
    text = f"{HEAD}  y = Relu (x)\n  z = Add ({inputs})\n  w = Sub (y, z)\n}}\n"
    (found,) = diagnose(text.replace("Add (", "Add <"))
    assert found.code == "wrong-mark"
    (edit,) = fix_of(found).edits
    assert (edit.text, edit.span.start) == ("(", text.index("Add (") + 4)


@pytest.mark.parametrize(
    "entry",
    [
        "opset_import: [",
        "opset_import: [21",
        "opset_import: [21,",
        'opset_import: [21, "l": 1,',
        'opset_import: [\n    21,\n    "l": 1,',
        'metadata_props: ["a": "b"',
        'metadata_props: ["a": "b",',
        "explicit: [node.domain,",
    ],
)
def test_a_header_list_without_its_bracket_is_one_error(entry: str) -> None:
    more = '  domain: "d",\n  producer_name: "p",\n  model_version: 0,\n>\n'
    (found,) = diagnose(f"<\n  ir_version: 7,\n  {entry}\n{more}g () => () {{}}\n")
    assert found.code in {"unclosed-bracket", "incomplete-statement"}
    assert lines_of((found,)) == [3 + entry.count("\n")]


@pytest.mark.parametrize("before", ["", "[n] ", "float[N, 3] ", '["n"] float[2] '])
def test_outputs_after_a_node_are_moved_behind_its_label_and_type(before: str) -> None:
    (found,) = diagnose(f"{HEAD}  {before}Relu (x) -> y\n}}\n")
    assert found.code == "missing-equals"
    assert fix_of(found).title == "write `y = Relu (x)`"
