# SPDX-License-Identifier: Apache-2.0
"""Errors in decorators and comments, and marks of Markdown: one message, and a working fix."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.conversion_errors import combined_diagnostic
from onnxtext.proto.encode.collect_errors import find_errors
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from tests.diagnostics.found import errors, fix_of, syntax_errors

H = "<ir_version: 10, opset_import: [21]>\n"
GRAPH = "g (float[2] x) => (float[2] y)"
END = " {\n  y = Relu (x)\n}\n"
WEIGHT = f"{GRAPH} <float[2] w = [1, 2]> {{\n  y = Add (x, w)\n}}\n"


def node(line: str) -> str:
    """Return a model with this line, line 4, between two nodes."""
    return f"{H}{GRAPH} {{\n  t = Abs (x)\n{line}\n  y = Relu (t)\n}}\n"


def decorated(decorator: str) -> str:
    """Return a model in which a node has a decorator in line 4."""
    return node(f"  {decorator}\n  u = Abs (x)")


FIXED = {
    "square brackets": (decorated('@doc["d"]'), (4, 3), '  @doc("d")'),
    "braces": (decorated('@meta {"k": "v"}'), (4, 3), '  @meta("k": "v")'),
    "an equals sign": (decorated('@doc = "d"'), (4, 3), '  @doc("d")'),
    "a blank after the mark": (decorated('@ doc("d")'), (4, 3), '  @doc("d")'),
    "a word without brackets": (
        f"{H}@value_info initializers\n{WEIGHT}", (2, 1), "@value_info(initializers)",
    ),
    "text without quotes": (decorated("@doc(some text here)"), (4, 8), '  @doc("some text here")'),
    "an equals sign after a key": (decorated('@meta("k" = "v")'), (4, 13), '  @meta("k": "v")'),
    "an equals sign after the second key": (
        decorated('@meta("k": "v", "m" = "v")'), (4, 23), '  @meta("k": "v", "m": "v")',
    ),
    "an equals sign after a field": (
        decorated('@set(doc_string = "d")'), (4, 19), '  @set(doc_string: "d")',
    ),
    "a misspelled decorator": (decorated('@docs("d")'), (4, 3), '  @doc("d")'),
    "a second misspelled decorator": (
        node('  @meta("k": "v")\n  @dcos("d")\n  u = Abs (x)').replace("dcos", "docs"),
        (5, 3), '  @doc("d")',
    ),
    "a misspelled decorator of a dimension": (
        f'{H}g (float[@dneotation("DATA_BATCH") 2] x) => (float[2] y){END}', (2, 10),
        'g (float[@denotation("DATA_BATCH") 2] x) => (float[2] y) {',
    ),
    "the name of the field": (decorated('@doc_string("d")'), (4, 3), '  @doc("d")'),
    "the name of the section": (decorated('@metadata("k": "v")'), (4, 3), '  @meta("k": "v")'),
    "a misspelled field": (decorated('@set(doc_sting: "d")'), (4, 8), '  @set(doc_string: "d")'),
    "a comma for a colon": (decorated('@meta("k", "v")'), (4, 3), '  @meta("k": "v")'),
    "a record": (decorated('@meta({"k": "v"})'), (4, 3), '  @meta("k": "v")'),
    "a misspelled decorator of a graph": (
        f"{H}@valueinfo(initializers)\n{WEIGHT}", (2, 1), "@value_info(initializers)",
    ),
    "a misspelled word": (
        f"{H}@value_info(initializer)\n{WEIGHT}", (2, 1), "@value_info(initializers)",
    ),
    "bold": (node("  **u = Abs (x)**"), (4, 3), "  u = Abs (x)"),
    "code": (node("  `u = Abs (x)`"), (4, 3), "  u = Abs (x)"),
    "a name in backticks": (node("  u = Abs (`x`)"), (4, 12), "  u = Abs (x)"),
    "a comment of SQL": (node("  u = Abs (x)  -- bias"), (4, 16), "  u = Abs (x)  # bias"),
    "a comment of Lisp": (node("  u = Abs (x) ; bias"), (4, 15), "  u = Abs (x) # bias"),
    "a comment of TeX": (node("  % bias"), (4, 3), "  # bias"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FIXED)
def test_the_fix_mends_the_text(mistake: str) -> None:
    text, where, line = FIXED[mistake]
    (error,) = errors(text)
    assert error.position == where
    mended = fix_of(error).apply(text)
    assert mended.splitlines()[where[0] - 1] == line
    assert errors(mended) == []


@pytest.mark.parametrize(
    "mistake",
    [
        "a misspelled decorator", "the name of the field", "a misspelled field",
        "a comma for a colon", "a record", "a misspelled decorator of a graph", "a misspelled word",
    ],
)  # fmt: skip
def test_the_words_of_messages_do_not_matter(mistake: str) -> None:
    source = Source(FIXED[mistake][0], "t")
    (error,) = find_errors(parse_model(source))
    fix = combined_diagnostic([error], source).fix
    error.message = "text"
    assert fix is not None
    assert combined_diagnostic([error], source).fix == fix


def test_a_nested_record_takes_linear_time() -> None:
    wrong = "k" * 3000
    (error,) = onnxtext.check(node(f'  @meta({{{wrong}: {{b: "1"}}}})\n  u = Abs (x)'))
    assert "@meta" in error.message


def test_an_empty_record_is_an_error() -> None:
    assert errors(node("  @doc{} u = Abs (x)"))


@pytest.mark.parametrize(
    "line",
    [
        "  u = Abs (x); v = Abs (x)",
        "  u = Abs (x) -- v = Abs (x)",
        "  @float[2] u = Abs (x)",
        '  @nothing_like_this("d")\n  u = Abs (x)',
        '  @meta("k", "l", "m")\n  u = Abs (x)',
    ],
)
def test_other_errors_get_no_such_fix(line: str) -> None:
    for error in errors(node(line)):
        assert error.fix is None or "#" not in error.fix.edits[0].text
        assert error.help != "correct the decorator"


def test_an_unknown_tensor_of_an_annotation_is_marked() -> None:
    entries = '["SCALE_TENSOR": "w", "ZERO_POINT_TENSOR": "zz"]'
    (error,) = onnxtext.check(f"{H}{WEIGHT}quantization {{\n  x: {entries}\n}}\n")
    assert error.position == (6, 49)


def test_a_misspelled_key_of_an_annotation_is_a_warning() -> None:
    text = f'{H}{WEIGHT}quantization {{\n  x: ["SCAL_TENSOR": "w"]\n}}\n'
    (warning,) = onnxtext.check(text)
    assert (warning.severity, warning.position) == ("warning", (6, 7))
    assert warning.help == "did you mean `SCALE_TENSOR`?"
    assert onnxtext.check(fix_of(warning).apply(text)) == []
    assert onnxtext.check(text.replace("SCAL_", "OTHER_")) == []


def test_the_help_about_a_wrong_argument_shows_the_right_form() -> None:
    (error,) = errors(decorated('@doc("a", "b")'))
    assert (error.help, error.fix) == ('write `@doc("text")`', None)


@pytest.mark.parametrize("following", ['"a text"', '@meta("a": "b")'])
def test_missing_arguments_have_no_fix_that_leaves_an_open_bracket(following: str) -> None:
    error = syntax_errors(node(f"  @doc\n  {following}\n  u = Abs (t)"))[0]
    assert (error.message, error.fix) == ("the arguments of `@doc` are missing", None)
