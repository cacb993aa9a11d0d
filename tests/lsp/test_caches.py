# SPDX-License-Identifier: Apache-2.0
"""Caches across versions and fast paths do not change answers."""

from __future__ import annotations

import asyncio
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from lsprotocol import types as t

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.lsp.features import document_links, document_symbols, semantic_tokens
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.index import folds as folds_module
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.plain_statements import plain_span_map
from onnxtext.sequences import common_prefix
from onnxtext.source import COMMENT, LINE_STRING, STRING, Source, Span
from onnxtext.syntax.span_map import SpanMap, map_spans
from tests.lsp.documents import EXAMPLES
from tests.seeds import draws, sampled, seeded

URI = "file:///somewhere/m.onnxtxt"
PLACE = Path("/somewhere/m.onnxtxt")
TYPED = (
    "\n",
    " ",
    "x",
    "(",
    ")",
    ",",
    '"',
    "Ä",
    "\U0001f600",
    "=",
    "#",
    "[1]",
    "\r",
    "z = Relu (x)\n",
)
EDITS = draws(10)


@cache
def texts() -> list[str]:
    """Return the examples, and a printed graph like exporters write it."""
    found = [path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.onnxtxt"))]
    printed = onnxtext.from_binary(next(transformer(200)))
    bare = re.sub(r'"[^"\n]*[/.][^"\n]*"', lambda name: re.sub(r"\W", "_", name.group()), printed)
    return [*found, printed, bare, bare.replace("\n", "\r\n")]


def opened(text: str) -> Document:
    return Document.open(URI, PLACE, text, 1, "utf-16")


def edit(document: Document, number: int, generator: random.Random) -> None:
    """Make a random edit."""
    lines, size = document.version.lines, len(document.version.text)
    start = generator.randrange(size)
    end = min(size, start + generator.choice((0, 0, 0, 1, 40)))
    range = lines.range(Span(start, end))
    change = t.TextDocumentContentChangePartial(range, generator.choice(TYPED))
    document.update(number, [change])


def normal(places: SpanMap) -> Any:
    """Return a span map without parts that repeat the span of the whole."""
    parts = {name: normal(part) for name, part in places.parts.items()}
    if len(parts) == 1:
        (only,) = parts.values()
        if only == (places.span, {}, []):
            parts = {}
    return places.span, parts, [None if item is None else normal(item) for item in places.items]


def test_plain_statements_have_the_spans_of_the_parser() -> None:
    plain = 0
    for text in texts():
        for statement in opened(text).version.index.statements[:1500]:
            chunk = text[statement.at : statement.limit]
            found = plain_span_map(statement.kind, chunk)
            if found is not None:
                plain += 1
                assert normal(found) == normal(map_spans(Source(chunk), 0, statement.kind)), chunk
    assert plain > 200


def test_printed_exports_have_only_plain_statements() -> None:
    """Statements that the printer wraps are not parsed again."""
    text = onnxtext.from_binary(next(transformer(200)))
    statements = opened(text).version.index.statements
    chunks = {text[item.at : item.limit]: item.kind for item in statements}
    assert any("\n" in chunk.strip() for chunk in chunks)
    assert [chunk for chunk, kind in chunks.items() if plain_span_map(kind, chunk) is None] == []


@pytest.mark.parametrize(
    "chunk",
    [
        "y = Relu (x) <a = 1>", "y = Relu (x) # z", "y = seq (x)", "float = Relu (x)",
        "y = true (x)", "y = Relu (NaN)", "y = F:o (x)", "y = Relu (x, )", "y = Relu ()",
        'y = Relu <s = "a\\"b"> (x)', 'b"y" = Relu (x)', "y = Relu <a = @b> (x)",
        "y = Relu <a = inf> (x)", "y = Relu <a = 1.5.2> (x)", "y = Relu <a = 0x1F> (x)",
        "y = Relu <a = 1e> (x)", "y = Relu <true = 1> (x)", "seq[1] y = Relu (x)",
        "y = ai.onnx.float (x)", "[float] y = Relu (x)", "@doc(\"d\") y = Relu (x)",
        "foo y = Relu (x)", "float[a, ] y = Relu (x)", "float[-2] y = Relu (x)",
        "y = Relu <a = [1, 2.5]> (x)", "y = Relu <a = 01> (x)", "y = Relu <a = [01, 1]> (x)",
        "y = Relu <a = [1e5]> (x)", "y = Relu <a = 99999999999999999999> (x)",
        "float[2] w = [1, 2.5]", "float w = 01", "float w = 1e", "foo w = 1", "float[2, w = [1]",
        "int4[2] w = [1]", "string w = 1", "float[a b] w", "float[] w,", "float[?] w", "seq w",
        'float[2] w = blob"ab12"', 'float w = blob"ab"', "float[2] w = [1, ...]", "float w = [...]",
        "float[2] w = [ 1, 2,\n ...]", "float[2] w = [1, ..., 2]", "float[2] w = [1 ...]",
        "y = Relu (\n  x,\n)", "y,\n  z\n  = Relu (x) <\n  a = [\n    1,\n  ],\n>",
        "y = Relu <a = 1> (x) <b = 2>", "y = Relu ( )", "y = Relu (x,,)", "y = Relu (x\n)",
        "[l]\n  float[2] y\n  = Relu (x)", "y = Relu <\n  a = 1,\n> (x, \"\", z)",
        "y = Relu <> (x)", "float[2][3] w = [1]",
        "float[a:b] w = [1]", "float float = 1", "float true",
    ],
)  # fmt: skip
def test_the_fast_path_rejects_or_agrees(chunk: str) -> None:
    kind = "node" if "(" in chunk else "value_info"
    found = plain_span_map(kind, chunk)
    try:
        wanted = normal(map_spans(Source(chunk), 0, kind))
    except ValueError:
        wanted = None
    assert found is None or normal(found) == wanted


def outline(document: Document) -> Any:
    params = t.DocumentSymbolParams(t.TextDocumentIdentifier(URI))
    result = asyncio.run(document_symbols.outline(document, params))
    return orjson.loads(orjson.dumps(result))


def test_tokens_of_plain_statements_equal_those_of_the_parser() -> None:
    for text in texts():
        document = opened(text)
        wanted = semantic_tokens.tokens(document.version, Span(0, len(text)))
        found = asyncio.run(semantic_tokens.all_tokens(document))
        assert found == semantic_tokens.encode(document.version, wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("number", sampled(range(len(texts())), 3))
def test_answers_after_edits_equal_fresh_ones(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = seeded()
    document = opened(texts()[number])
    for version in range(2, 2 + EDITS):
        edit(document, version, generator)
        other = opened(document.version.text)
        assert outline(document) == outline(other)
        found = asyncio.run(semantic_tokens.all_tokens(document))
        whole = Span(0, len(other.version.text))
        wanted = semantic_tokens.tokens(other.version, whole)
        assert found == semantic_tokens.encode(other.version, wanted)
        assert Drawing(document).draw((), ()) == Drawing(other).draw((), ())
        folds = list(folds_module.find_folds(document.version))
        with monkeypatch.context() as patch:  # skip no brackets
            for name, string in (("_PIECES", STRING), ("_PIECES_OF_LINES", LINE_STRING)):
                every = re.compile(rf"{string}|{COMMENT}|=>|[()\[\]{{}}<>]", re.DOTALL)
                patch.setattr(folds_module, name, every)
            assert folds == list(folds_module.find_folds(document.version))


def test_the_outline_follows_names_that_an_unchanged_text_gets() -> None:
    """The repair of a syntax error may depend on another error, so names change without edits."""
    text = "g (float[1] x) => (float[1] y) {\n  a = Abs (x)\n  y = Neg (a)\n}\n"
    document = opened(text)
    assert b'"name":"a"' in orjson.dumps(outline(document))
    end = len(text.splitlines())
    place = t.Position(end, 0)
    document.update(2, [t.TextDocumentContentChangePartial(t.Range(place, place), "\n")])
    node = next(each.item for each in document.version.index.statements if each.kind == "node")
    node.outputs = ("b",)
    assert b'"name":"b"' in orjson.dumps(outline(document))


def test_tokens_of_a_range_equal_those_of_the_text_after_a_guessed_comma() -> None:
    document = opened("()=>(){=o s=l()z = A (x)\ny=()=<e=0>(h}")
    assert ("", "z") in [getattr(s.item, "outputs", ()) for s in document.version.index.statements]
    whole = Span(0, len(document.version.text))
    wanted = semantic_tokens.tokens(document.version, whole)
    found = asyncio.run(semantic_tokens.all_tokens(document))
    assert found == semantic_tokens.encode(document.version, wanted)


def test_tokens_of_every_range_are_those_of_the_text() -> None:
    document = opened(
        "y = Op <\n  gs = [a () => () {}, b (x) => () { z = A (x) }],\n  k = 1,\n> (x)"
    )
    size = len(document.version.text)
    every = sorted(set(semantic_tokens.tokens(document.version, Span(0, size))))
    for start in range(size):
        for end in (start + 1, start + 20, size):
            found = sorted(set(semantic_tokens.tokens(document.version, Span(start, end))))
            assert found == [token for token in every if start <= token[0] < end]


def test_tokens_do_not_overlap_behind_an_unclosed_list() -> None:
    document = opened("""\
g (float x) => (float y) { y = Relu (x) }
quantization { x: ["SCALE_TENSOR": "s"
}
training { initialization: w (float[] v) => (float[2] t) { t = Add (v, v) } }
""")
    found = asyncio.run(semantic_tokens.all_tokens(document))
    whole = Span(0, len(document.version.text))
    wanted = semantic_tokens.tokens(document.version, whole)
    assert found == semantic_tokens.encode(document.version, wanted)
    assert all(
        column > 0 for line, column in zip(found[5::5], found[6::5], strict=True) if not line
    )


def test_links_are_found_without_reading_every_line(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"")
    lines = [
        'a file"w.bin" # file"w.bin"', '"location":', '"w.bin"', 'store: "w.bin", "file"',
        '# store: "w.bin"', '"blob" file"none" file"w.bin#1"', '"a # b" safetensors : "w.bin"',
        'external("w.bin", 0)', 'external(', '"w.bin")',
    ]  # fmt: skip
    identifier = t.TextDocumentIdentifier(URI)
    for newline in ("\n", "\r\n"):
        text = newline.join(lines)
        found = []
        for more in ("", newline + '"""a"""'):  # a text block makes the server scan the whole text
            document = Document.open(URI, tmp_path / "m.onnxtxt", text + more, 1, "utf-16")
            links = document_links.links(document, t.DocumentLinkParams(identifier))
            found.append([link.range for link in links])
        assert found[0] == found[1]
        assert len(found[0]) == 7


def test_common_start_counts_equal_items() -> None:
    generator = random.Random(0)
    for _ in range(200):
        one = [generator.randrange(2) for _ in range(generator.randrange(12))]
        other = [generator.randrange(2) for _ in range(generator.randrange(12))]
        count = common_prefix(one, other)
        assert one[:count] == other[:count]
        assert one[count : count + 1] != other[count : count + 1] or not one[count:]
