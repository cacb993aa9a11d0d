# SPDX-License-Identifier: Apache-2.0
"""The rendering of diagnostics for terminals, compared with golden texts."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from onnxtext.diagnostics import Diagnostic, Label
from onnxtext.diagnostics.full import render
from onnxtext.source import Source, Span
from tests.running import limited

TEXT = """\
<ir_version: 10>
g (float[N] x) => (float[N] y) {

  y = Relu (x, z)
}
"""


def finding(text: str, *marked: tuple[str, str], message: str = "a message") -> Diagnostic:
    """A diagnostic with a label at the first occurrence of each text."""
    labels = [
        Label(Span(text.index(word), text.index(word) + len(word)), said) for word, said in marked
    ]
    return Diagnostic("some-code", message, source=Source(text, "m.onnxtxt"), labels=tuple(labels))


def at(text: str, start: int, end: int) -> Diagnostic:
    """A diagnostic for a range of characters."""
    label = Label(Span(start, end))
    return Diagnostic("some-code", "a message", source=Source(text, "m.onnxtxt"), labels=(label,))


def body(diagnostic: Diagnostic, columns: int = 100) -> str:
    """Return the rendering without its headline and the line with the place."""
    return render(diagnostic, columns=columns).split("\n", 2)[2] + "\n"


def golden(text: str) -> str:
    return dedent(text).removeprefix("\n")


def test_a_syntax_error_is_shown_with_its_line() -> None:
    diagnostic = Diagnostic(
        "syntax-error",
        "expected `,` or `)`, found `z`",
        source=Source(TEXT.replace(", z", " z"), "models/m.onnxtxt"),
        labels=(Label(Span(65, 66), "here"),),
        notes=("a list has commas",),
        help="add a `,`",
    )
    assert render(diagnostic) + "\n" == golden("""
        error[syntax-error]: expected `,` or `)`, found `z`
         --> models/m.onnxtxt:4:15
          |
        4 |   y = Relu (x z)
          |               ^ here
          = note: a list has commas
          = help: add a `,`
        """)


def test_the_end_of_the_text_is_shown_with_context() -> None:
    text = TEXT.removesuffix("}\n")
    assert render(at(text, len(text), len(text))) + "\n" == golden("""
        error[some-code]: a message
         --> m.onnxtxt:5:1
          |
        4 |   y = Relu (x, z)
        5 |
          | ^
        """)
    text += "\n\n\n"
    assert body(at(text, len(text), len(text))) == golden("""
          |
        4 |   y = Relu (x, z)
        ...
        8 |
          | ^
        """)


def test_the_end_of_a_text_without_line_end_is_marked() -> None:
    text = "<ir_version: 7"
    assert body(at(text, len(text), len(text))) == golden("""
          |
        1 | <ir_version: 7
          |               ^
        """)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "\r\n"])
def test_an_empty_text_is_shown_as_an_empty_line(text: str) -> None:
    assert body(at(text, 0, 0)) == "  |\n1 |\n  | ^\n"


def test_wide_and_combining_characters_are_aligned() -> None:
    text = "  名前 = e\u0301e\u0301 (入力, 出力) 😀 z\n"
    diagnostic = finding(text, ("出力", "幅は二"), ("e\u0301e\u0301", "two columns"))
    assert body(diagnostic) == golden("""
          |
        1 |   名前 = e\u0301e\u0301 (入力, 出力) 😀 z
          |          --        ^^^^ 幅は二
          |          |
          |          two columns
        """)
    assert body(finding(text, ("z", "last"))) == golden("""
          |
        1 |   名前 = e\u0301e\u0301 (入力, 出力) 😀 z
          |                             ^ last
        """)


def test_tabs_are_expanded() -> None:
    diagnostic = finding("\ty\t= Relu(x)\r\n", ("Relu", "unknown"), ("\t=", ""))
    assert body(diagnostic) == golden("""
          |
        1 |     y    = Relu(x)
          |      ----- ^^^^ unknown
        """)


def test_long_lines_are_shown_in_part() -> None:
    text = f"first\n{'a' * 5000} = Relu({'b' * 5000})\nlast\n"
    assert body(finding(text, ("Relu", "here")), columns=60) == golden("""
          |
        2 | …aaaaaaaaaaaaaaa = Relu(bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
          |                    ^^^^ here
        """)
    assert body(at(text, 6, 9), columns=40) == golden("""
          |
        1 | first
        2 | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…
          | ^^^
        """)
    end = text.index(")")
    assert body(at(text, end, end + 1), columns=40) == golden("""
          |
        2 | …bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb)
          |                                   ^
        """)


def test_every_shown_line_fits_the_terminal() -> None:
    text = "漢字" * 300 + "x" + "字" * 300
    for columns in (0, 23, 24, 40, 41, 100):
        shown = render(finding(text, ("x", "")), columns=columns).splitlines()[3]
        cells = sum(2 if character > "\u2fff" else 1 for character in shown)
        assert cells <= max(columns, 24)
        assert "x" in shown


def test_distant_labels_in_a_long_line_have_separate_windows() -> None:
    text = f"begin {'-' * 500} end"
    assert body(finding(text, ("end", "unlike this"), ("begin", "this")), columns=40) == golden("""
          |
        1 | …------------------------------ end
          |                                 ^^^ unlike this
        1 | begin ----------------------------…
          | ----- this
        """)


def test_labels_in_several_lines_are_shown() -> None:
    text = "a\nb\nc\nd\n\ne\nf\n"
    diagnostic = finding(text, ("c", "primary"), ("a", "near"), ("f", "far"))
    assert body(diagnostic) == golden("""
          |
        1 | a
          | - near
        2 | b
        3 | c
          | ^ primary
        ...
        7 | f
          | - far
        """)


def test_several_labels_in_a_line_are_shown() -> None:
    text = "  y = Relu <alpha = 1> (x)\n"
    labels = (("alpha", "no such attribute"), ("Relu", "this operator"), ("y", "its output"))
    assert body(finding(text, *labels)) == golden("""
          |
        1 |   y = Relu <alpha = 1> (x)
          |   -   ----  ^^^^^ no such attribute
          |   |   |
          |   |   this operator
          |   its output
        """)


def test_nested_labels_are_shown() -> None:
    assert body(finding("f (x, y)", ("x", "wrong"), ("(x, y)", "the inputs"))) == golden("""
          |
        1 | f (x, y)
          |   -^----
          |   ||
          |   |wrong
          |   the inputs
        """)


def test_multiline_labels_underline_the_first_line() -> None:
    assert body(finding('s = "open\nand on\n', ('"open\nand on', "never closed"))) == golden("""
          |
        1 | s = "open
          |     ^^^^^ never closed
        """)


def test_line_numbers_are_aligned() -> None:
    text = "x\n" * 8 + "a\nb\n"
    assert render(finding(text, ("b", ""), ("a", ""))) + "\n" == golden("""
        error[some-code]: a message
          --> m.onnxtxt:10:1
           |
         9 | a
           | -
        10 | b
           | ^
        """)


def test_text_is_escaped_for_the_terminal() -> None:
    evil = "\x1b[31m \u202e \u200b \x00 \x7f \x85 \u2028 \ud800 \r|"
    text = f"{evil} place"
    diagnostic = Diagnostic(
        "some-code",
        evil,
        source=Source(text, evil),
        labels=(Label(Span(text.index("place"), len(text)), evil),),
        notes=(evil,),
        help=evil,
    )
    shown = render(diagnostic)
    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert len(shown.splitlines()) == 7
    _, _, _, line, marks, *_ = shown.splitlines()
    assert line == "1 | ␛[31m � � ␀ ␡ � � � ␍| place"
    assert marks.index("^") == line.index("place")


def test_the_byte_order_mark_is_not_shown() -> None:
    assert body(finding("\ufeffg ()", ("g", ""))) == "  |\n1 | g ()\n  | ^\n"


def test_notes_of_several_lines_are_indented() -> None:
    diagnostic = Diagnostic("c", "m", notes=("one\ntwo",), help="three\nfour")
    assert render(diagnostic) + "\n" == golden("""
        error[c]: m
          = note: one
                  two
          = help: three
                  four
        """)


def test_findings_in_binaries_show_path_and_offset() -> None:
    diagnostic = Diagnostic(
        "not-a-model", "the data ends", file="m.onnx", path="graph.node[12]", offset=8000
    )
    assert render(diagnostic) + "\n" == golden("""
        error[not-a-model]: the data ends
         --> m.onnx: graph.node[12] at byte 0x1f40
        """)
    assert render(Diagnostic("c", "m.onnx is missing", file="m.onnx")) == (
        "error[c]: m.onnx is missing"
    )


def test_a_diagnostic_without_label_names_the_file() -> None:
    assert render(Diagnostic("c", "m", source=Source("text", "m.onnxtxt"))) == (
        "error[c]: m\n --> m.onnxtxt"
    )


@pytest.mark.parametrize(
    ("severity", "sgr"), [("error", "1;31"), ("warning", "1;33"), ("note", "1;36")]
)
def test_colors_only_add_escapes(severity: str, sgr: str) -> None:
    labels = (("z", "primary"), ("x", "secondary"))
    found = finding("y = Relu (x, z)", *labels)
    diagnostic = Diagnostic(
        found.code,
        found.message,
        severity,  # type: ignore[arg-type]
        source=found.source,
        labels=found.labels,
        notes=("n",),
        help="h",
    )
    colored = render(diagnostic, color=True)
    assert f"\x1b[{sgr}m^\x1b[0m \x1b[{sgr}mprimary\x1b[0m" in colored
    assert "\x1b[1;34msecondary\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render(diagnostic)


def test_a_huge_line_is_fast() -> None:
    text = "x" * 5_000_000
    with limited(1):
        assert len(render(at(text, 4_000_000, 4_999_999))) < 500


def test_many_backticks_that_end_no_name_take_linear_time() -> None:
    message = f"a `{' `a' * 20_000}`s"
    with limited(1):
        assert Diagnostic("c", message).message == message
