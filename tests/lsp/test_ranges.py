# SPDX-License-Identifier: Apache-2.0
"""Ranges of answers contain what they describe, also in texts with errors."""

from __future__ import annotations

import re
import tracemalloc
from itertools import combinations
from typing import Any

import pytest
from lsprotocol import types as t

from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.diagnostics.model import apply_edits
from onnxtext.format.format_text import format_source
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.lsp.features.formatting import formatting_edits, statement_edits
from onnxtext.lsp.features.hover import hover
from onnxtext.lsp.index.folds import find_folds
from onnxtext.lsp.index.multiline_strings import TextBlocks
from onnxtext.source import Source, Span
from tests.lsp.test_caches import URI, opened, outline, texts
from tests.seeds import draws, seeded

NESTED = """\
<onnxtext: 1, opset_import: [21]>
main (bool c, float[N] x) => (float[N] y) {
  y = If (c) <
    then_branch = a () => (float[N] p) {
      p = If (c) <then_branch = q () => (float[N] r) { r = Abs (x) }, else_branch = s () => () {}>
    },
    else_branch = b () => (float[N] w) {
      w = Neg (x)
    },
  >
}
"""
TOKENS = re.compile(r'"[^"\n]*"|\w+|\s+|[^\w\s]')
INSERTED = ["\n", '"""', '"', ",", "}", "{", ">", "<", ")", "(", "=>"]


@pytest.mark.parametrize("operator", ['.domain."odd op":ov', "a.b.c.Op", 'f.Op:"o v"'])
def test_the_range_of_a_hover_contains_the_cursor(operator: str) -> None:
    text = f"<onnxtext: 1>\ng (float x) => (float y) {{\n  y = {operator} (x)\n}}\n"
    document = opened(text)
    for offset in range(len(text)):
        at = document.version.lines.range(Span(offset, offset)).start
        found = hover(document, t.HoverParams(t.TextDocumentIdentifier(URI), at))
        if found is not None:
            assert found.range is not None
            assert found.range.start <= at <= found.range.end


@pytest.mark.parametrize(
    "string",
    [
        '"""\nmetadata { graph {\n"""',
        '"""\n@meta("a": "b")\n"""',
        '"\nmetadata { graph {\n"',
        '"\n@meta(\n@doc( \\" @doc(\n"',
    ],
)
def test_there_is_no_hover_in_a_string_of_several_lines(string: str) -> None:
    text = f"<onnxtext: 1>\n@doc({string})\ng (float x) => (float y) {{\n  y = A (x)\n}}\n"
    document = opened(text)
    lines = document.version.lines
    for offset in range(text.index(string) + 1, text.index(string) + len(string)):
        at = lines.range(Span(offset, offset)).start
        assert hover(document, t.HoverParams(t.TextDocumentIdentifier(URI), at)) is None


def test_strings_of_several_lines_end_at_their_quotes() -> None:
    for string in ('"a\n{b"', '"a\\"\n[ \\" b"', '"""\n  "{"\n  """'):
        text = f"<ir_version: 10, doc_string: {string}>\ng (float x) => (float y) {{ y = A (x) }}\n"
        blocks = TextBlocks(text)
        at = text.index(string)
        assert blocks.is_paired
        assert blocks.before(len(text)) == (at, at + len(string))
        # A quote without a partner ends with its line.
        blocks = TextBlocks(text + "# a\n" + '" # b\n{\n')
        assert not blocks.is_paired
        ends_with_line = string[:3] != '"""'
        assert blocks.before(len(text)) == ((0, 0) if ends_with_line else (at, at + len(string)))


@pytest.mark.parametrize("quotes", ['"', '"""'])
def test_strings_of_several_lines_are_folded(quotes: str) -> None:
    text = (
        f"<ir_version: 10, doc_string: {quotes}\n  a (\n  b\n  {quotes}>\n"
        f"g (float x) => (float y) {{\n  y = A <s = {quotes}\n  a\n  }}\n  {quotes}> (x)\n}}\n"
    )
    assert not opened(text).version.syntax
    assert folded(text) == {(0, 2), (4, 8), (5, 7)}
    if quotes == '"""':  # a quote that is never closed does not change the folds after it
        assert folded(text.replace("<ir", '"\n<ir')) >= {(1, 3), (5, 9), (6, 8)}


def test_brackets_in_names_are_no_folds() -> None:
    text = (
        'g () => () {\n  "a(" = A <s = "}", t = [">"]> ("b)",\n    "[",\n    "c" "d", "")\n'
        '  y = B (""""{" """, "\\"(",\n    x,\n    x)\n}\n'
    )
    assert folded(text) == {(0, 6), (1, 2), (4, 5)}


@pytest.mark.parametrize("item", ["a", "[a]", "()", '"a", ', '["a"]'])
def test_a_long_line_without_folds_needs_little_memory(item: str) -> None:
    version = opened("<" + item * (100_000 // len(item))).version
    assert not list(find_folds(version))  # also computes what the version caches
    tracemalloc.start()
    list(find_folds(version))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000


def folded(text: str) -> set[tuple[int, int]]:
    """Return the first and last line of each fold of a text."""
    return {fold[:2] for fold in find_folds(opened(text).version)}


def test_a_section_contains_the_symbols_of_its_graphs() -> None:
    training = "training { initialization: w () => (float t) { t = A () } }"
    text = f"g () => () {{ }} {training} order {{ }}"
    roots = outline(opened(text))
    assert [symbol["name"] for symbol in roots] == ["g", "training", "order"]
    assert [symbol["name"] for symbol in roots[1]["children"]] == ["w"]
    start, end = roots[1]["range"]["start"], roots[1]["range"]["end"]
    assert text[start["character"] : end["character"]] == training


def place(position: Any) -> tuple[int, int]:
    return position["line"], position["character"]


def assert_nested(symbols: Any, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Check that each symbol contains its name and is in the symbol around it."""
    for symbol in symbols:
        whole, name = symbol["range"], symbol["selectionRange"]
        first, last = place(whole["start"]), place(whole["end"])
        assert start <= first <= last <= end, symbol
        assert first <= place(name["start"]) <= place(name["end"]) <= last, symbol
        assert_nested(symbol["children"], first, last)


@pytest.mark.parametrize(
    ("old", "new"),
    [("r = Abs (x)", "r = Abs "), ("(float[N] w) {", "(float[N] w)"), ("Abs (x)", "}.ops (x)")],
)
def test_symbols_nest_in_a_text_with_an_error(old: str, new: str) -> None:
    assert old in NESTED
    assert_nested(outline(opened(NESTED.replace(old, new))), (0, 0), (99, 0))


@pytest.mark.parametrize(
    "nodes",
    [
        'a = A (x) <s = ["1", }\n  >\n  b = B (a)\n  e = E (b) <s < "2">',
        "y = If (c) <then_branch = a () => (p) {\n    p = If (c) <then_branch = q () => ()[N] r) "
        "{ r = Abs (x) }, else_branch = s () => () {}>\n  }, else_branch = => () => (w) { }>",
    ],
)
def test_symbols_nest_in_graphs_whose_last_statement_has_an_error(nodes: str) -> None:
    text = f"main (bool c, float[N] x) => (float[N] y) {{\n  {nodes}\n}}\n"
    assert_nested(outline(opened(text)), (0, 0), (text.count("\n") + 1, 0))


def test_symbols_nest_if_a_broken_statement_looks_like_a_section() -> None:
    text = "y = Op <tp = float[N], t =\nmetadata {float[2] {1, 2}, n = float[1] name {1}> (x)"
    assert_nested(outline(opened(text)), (0, 0), (2, 0))


def test_symbols_nest_in_texts_with_random_errors() -> None:
    generator = seeded()
    for _ in range(draws(100)):
        parts = TOKENS.findall(generator.choice([NESTED, *texts()[:-3]]))
        for _ in range(generator.randint(1, 3)):
            at = generator.randrange(len(parts))
            parts[at : at + generator.randint(0, 3)] = generator.sample(INSERTED, 1)
        text = "".join(parts)
        assert_nested(outline(opened(text)), (0, 0), (text.count("\n") + 1, 0))


def test_formatting_a_range_keeps_the_outputs_that_a_recovery_takes() -> None:
    text = """\
{before} g (float[3] x) => (float[1, 3] y) {declared} {{
      {nodes} axes = Constant <value = int64[1] {{0}}> ()
      float[1, 3] u= Unsqueeze (x, axes)
      d, m = Dropout (u)
      y = Relu (d)
    }}
    quantization {{
m: ["SCALE_TENSOR": "u"] }}
"""
    version = opened(text).version
    edits = statement_edits(version, Span(0, len(text)))
    root, errors = read_partial(Source(apply_edits(text, edits)))
    assert (root, len(errors)) == (version.root, len(version.syntax))


COMMENTS_AT_LINE_ENDS = """\
<ir_version: 10, opset_import: [21]>
g (float[3] x) => (float[3] y) { a = Abs (x)  # first
  b
= Neg (a)  # second

  # third

  c = Neg (b) d = Abs
  # fourth
  (c)
  y = Relu
  # fourth
  # fifth
  (d)
}
"""
COMMENTS_THAT_MOVE = """\
g (float[3] x) => (float[3] y # first
) {
a = Abs # second
< k
= 1
, m =
[2, 3]
# third
>
( x # fourth
,
x ) c = Neg ( a
)
y = Relu ( c )
}
"""


@pytest.mark.parametrize(
    ("text", "least"), [(COMMENTS_AT_LINE_ENDS, 8), (COMMENTS_THAT_MOVE, 3)], ids=["ends", "move"]
)
def test_formatting_a_range_keeps_every_comment(text: str, least: int) -> None:
    wanted = format_source(Source(text))
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    changed = 0
    # Each start and each end, in short ranges and to the end of the text.
    ranges = [pair for pair in combinations(range(len(lines)), 2) if pair[1] - pair[0] <= 4]
    ranges += [(start, len(lines) - 1) for start in range(len(lines) - 5)]
    for start, end in [(lines[first], lines[last]) for first, last in ranges]:
        edits = formatting_edits(Source(text), Span(start, end), None)
        made = apply_edits(text, edits or ())
        assert sorted(comments_of(made)) == sorted(comments_of(text))
        assert format_source(Source(made)) == wanted
        changed += bool(edits)
    assert changed > least
