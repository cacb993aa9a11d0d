# SPDX-License-Identifier: Apache-2.0
"""The Pygments lexer: loses no text, classifies tokens, and covers the grammar's terminals."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, String, _TokenType

from onnxtext.ast.visit import walk_graphs
from onnxtext.highlight import KINDS
from onnxtext.pygments_lexer import OnnxTextLexer
from onnxtext.syntax.grammar.table_cache import load_tables
from tests.corpus import EXAMPLES
from tests.running import limited
from tests.seeds import sampled

LANGUAGE = Path(__file__).parents[1] / "vscode-extension/test/grammar/snap/language.onnxtxt"


def kinds(text: str) -> dict[str, _TokenType]:
    """Return the last part of the type of each piece of a text."""
    return {piece: kind for _, kind, piece in OnnxTextLexer().get_tokens_unprocessed(text)}


def test_the_lexer_is_found_by_name_and_by_file() -> None:
    for lexer in (get_lexer_by_name("onnxtxt"), get_lexer_for_filename("model.onnxtxt")):
        assert isinstance(lexer, OnnxTextLexer)


def test_importing_it_does_not_import_the_parser() -> None:
    code = (
        "import sys, onnxtext.pygments_lexer as m; print([n for n in sys.modules if 'syntax' in n])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "onnxtext.syntax" not in said.stdout


def test_every_terminal_has_a_type() -> None:
    words = {
        t.name for t in load_tables().terminals if t.literal is None and not t.name.startswith("_")
    }
    assert words - set(KINDS) == {
        "TYPE",
        "NUMBERS",
        "NESTED",
        "BRACES",
    }  # They are split into parts.


@pytest.mark.parametrize("path", [*EXAMPLES, LANGUAGE], ids=lambda path: path.stem)
def test_examples_have_no_error_tokens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pieces = list(OnnxTextLexer().get_tokens_unprocessed(text))
    assert "".join(piece for _, _, piece in pieces) == text
    assert not [piece for _, kind, piece in pieces if kind is Error]
    highlight(text, OnnxTextLexer(), HtmlFormatter())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_operators_of_examples_are_functions(path: Path) -> None:
    import onnxtext

    text = path.read_text(encoding="utf-8")
    graphs = walk_graphs(onnxtext.parse(text))
    operators = Counter(str(node.op_type) for graph in graphs for node in graph.nodes)
    pieces = OnnxTextLexer().get_tokens_unprocessed(text)
    assert Counter(piece for _, kind, piece in pieces if kind is Name.Function) == operators


@given(st.text() | st.text(alphabet='<>(){}[]"=,.:@#ab1- \n', max_size=60))
def test_no_text_is_lost(text: str) -> None:
    at = 0
    for offset, _, piece in OnnxTextLexer().get_tokens_unprocessed(text):
        assert offset == at
        assert piece
        at += len(piece)
        assert text[offset:at] == piece
    assert at == len(text)


@pytest.mark.thorough
@pytest.mark.parametrize("unit", sampled(['"\\', '"\\\n', "[", "a(", "<", "[1,", '"'], 3))
def test_hostile_texts_take_linear_time(unit: str) -> None:
    with limited(10):
        deque(OnnxTextLexer().get_tokens_unprocessed(unit * 50_000), maxlen=0)
        # At most half a second; a quadratic search took 36.


def test_tokens_have_the_expected_kinds() -> None:
    found = kinds(
        '<opset_import: ["ai.onnx.ml": 5]>\n'
        "graph_name (float[N, 3] x) => (y) <float[2] w = [1.5, -2]> { # why\n"
        '  @doc(b"\\x00") [label] y, other = '
        "ai.onnx.ml.Scaler:over <offset = [1.0], to = @outer> (x)\n"
        "  z = If (y) <then_branch = yes () => (p) {}, body = step (int64 i) => (q) {}>\n"
        "}\n"
        'metadata { node y { key: "value" } }'
    )
    expected = {
        "opset_import": Name.Attribute,
        '"ai.onnx.ml"': Name.Attribute,
        "graph_name": Name.Class,
        "float": Keyword.Type,
        "N": Name.Label,
        "-2": Number,
        "# why": Comment.Single,
        "@doc": Name.Decorator,
        'b"\\x00"': String.Double,
        "other": Name.Variable,
        "onnx": Name.Namespace,
        "Scaler": Name.Function,
        "over": Name.Tag,
        "offset": Name.Attribute,
        "outer": Name.Variable.Instance,
        "If": Name.Function,
        "yes": Name.Class,
        "step": Name.Class,
        "metadata": Keyword.Namespace,
        "key": Name.Attribute,
        '"value"': String.Double,
    }
    assert {word: found[word] for word in expected} == expected
