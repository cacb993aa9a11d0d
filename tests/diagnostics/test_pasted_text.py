# SPDX-License-Identifier: Apache-2.0
"""Marks that copying and pasting adds to a text: one error, and a fix that removes them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.corpus import EXAMPLES
from tests.diagnostics.found import fix_of, help_of
from tests.diagnostics.found import syntax_errors as errors
from tests.seeds import sampled

H = "<ir_version: 10, opset_import: [21]>\n"
BEFORE = "g (float[2] x) => (float[2] y) {\n  t = Abs (x)\n"
TEXT = f"{H}{BEFORE}  y = Relu (t)\n}}\n"


def numbered(form: str) -> Callable[[str], str]:
    """Return a function that writes the number of each line before it."""

    def add(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(form.format(number) + line for number, line in enumerate(lines, 1))

    return add


def marked(mark: str) -> Callable[[str], str]:
    """Return a function that writes a mark before each line."""
    return lambda text: re.sub("^", mark, text.removesuffix("\n"), flags=re.MULTILINE) + "\n"


PASTED: dict[str, tuple[Callable[[str], str], str]] = {
    "numbers with blanks": (numbered("{:4} "), "the lines begin with line numbers"),
    "numbers and tabs": (numbered("{:6}\t"), "the lines begin with line numbers"),
    "numbers and colons": (numbered("{}: "), "the lines begin with line numbers"),
    "numbers and bars": (numbered("{:3} | "), "the lines begin with line numbers"),
    "lines added by a diff": (marked("+"), "the lines begin with the mark `+` of a diff"),
    "quoted lines": (marked("> "), "the lines begin with the quotation mark `>`"),
    "prose before": (
        lambda text: f"Here is the corrected model:\n\n```onnx\n{text}```\n",
        "this line is neither a statement nor a comment",
    ),
    "prose after": (
        lambda text: f"```\n{text}```\n\nI fixed the **shape** of `W`.\n",
        "unexpected Markdown fence",
    ),
    "prose after a line of dashes": (
        lambda text: f"```\n{text}```\n\n---\n\nI fixed the **shape** of `W`.\n",
        "unexpected Markdown fence",
    ),
    "escapes of HTML": (html.escape, "`&lt;` is an HTML escape"),
    "numbers of HTML": (
        lambda text: text.replace("<", "&#60;").replace(">", "&#x3E;"),
        "`&#60;` is an HTML escape",
    ),
    "doubled escapes of HTML": (
        lambda text: html.escape(html.escape(text)),
        "`&amp;lt;` is an HTML escape",
    ),
    "doubly quoted lines": (marked(">> "), "the lines begin with the quotation mark `>`"),
    "numbers except in a line": (
        lambda text: re.sub("^   3 ", "", numbered("{:4} ")(text), flags=re.MULTILINE),
        "the lines begin with line numbers",
    ),
    "numbers from the second line on": (
        lambda text: numbered("{}: ")(text).removeprefix("1: "),
        "the lines begin with line numbers",
    ),
    "a formatted string of Python": (
        lambda text: f"text = f'''\n{text.replace('{', '{{').replace('}', '}}')}'''\n",
        "the text is in a string of Python",
    ),
    "prose with two fenced texts": (
        lambda text: f"Run:\n```sh\nmake\n```\nThe model:\n```\n{text}```\n",
        "this line is neither a statement nor a comment",
    ),
    "a variable of Python": (
        lambda text: f"text = '''\n{text}'''\n",
        "the text is in a string of Python",
    ),
    "a call of Python": (
        lambda text: f"m = onnx.parser.parse_model('''\n{text}''')\n",
        "the text is in a string of Python",
    ),
}  # fmt: skip


# Each kind in a third of the examples, each example with a third of the kinds.
CASES = [
    pytest.param(kind, path, id=f"{kind}-{path.stem}")
    for number, kind in enumerate(PASTED)
    for path in EXAMPLES[number % 3 :: 3]
]


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "path"), sampled(CASES, 3))
def test_marks_of_the_whole_text_are_one_error(kind: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<\n") if "<\n" in text else 0 :]
    paste, message = PASTED[kind]
    pasted = paste(text)
    (error,) = errors(pasted)
    assert error.message == message
    assert fix_of(error).apply(pasted).rstrip() == text.rstrip()


DIFFS = {
    "a changed line": "-  y = Neg (t)\n+  y = Relu (t)\n}\n",
    "a hunk": "@@ -3,4 +3,4 @@\n  y = Relu (t)\n}\n",
    "a hunk with a changed line": (
        "@@ -3,4 +3,4 @@ g (float[2] x)\n-  y = Neg (t)\n+  y = Relu (t)\n}\n"
    ),
}


@pytest.mark.parametrize("kind", DIFFS)
def test_marks_of_a_diff_are_one_error(kind: str) -> None:
    text = f"{H}{BEFORE}{DIFFS[kind]}"
    (error,) = errors(text)
    assert (error.message, error.position) == ("the text has marks of a diff", (4, 1))
    assert fix_of(error).apply(text) == TEXT


def test_the_header_of_a_diff_is_one_error() -> None:
    header = "diff --git a/m b/m\nnew file mode 100644\nsimilarity index 90%\nrename from a\n"
    header += "index 0123..4567 100644\n--- a/m\n+++ b/m\n@@ -0,0 +1,5 @@\n"
    text = header + marked("+")(TEXT)
    (error,) = errors(text)
    assert fix_of(error).apply(text) == TEXT


def test_an_error_before_a_diff_is_kept() -> None:
    text = f"{H}{BEFORE.replace('(x)', '(x x)')}{DIFFS['a changed line']}"
    assert [error.position for error in errors(text)] == [(3, 14), (4, 1)]


def test_a_second_model_is_one_error() -> None:
    (error,) = errors(TEXT + TEXT)
    assert error.position == (6, 2)
    assert help_of(error).endswith("or a second model to a file")


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("t = Abs (x)", "t = Abs (x x)"),
        TEXT.replace("  t = Abs (x)", "-1\n"),
        TEXT.replace("  t = Abs (x)", "# ```\n# a &lt; b\n  t = Abs x\n# ```"),
        TEXT.replace("  t = Abs (x)", '  t = Abs <a = "&lt;"> x'),
        TEXT.replace("(t)", "(t)\n+ bias\n  z = Neg (y)\n+ bias"),
        TEXT.replace("(t)", "(\n    t\n+t\n+t\n  )"),
        TEXT.replace("Abs", "Abs <a = [\n+ 1, 2\n+ 3]>"),
        TEXT.replace("Abs", "Abs <a = [\n- x\n+ x]>"),
        f"{TEXT}+ one\n+ two\n",
    ],
)
def test_other_errors_keep_their_message(text: str) -> None:
    found = {error.message for error in errors(text)}
    assert found
    assert not any(
        "diff" in message or "HTML" in message or "fence" in message for message in found
    )


ORDINARY = {
    "fences in a doc string": (
        H + "@doc('''\n```\nabc\n```\n''')\n" + BEFORE + "  y = Relu (x)\n}\n"
    ),
    "fences in a model": H + "```\n" + BEFORE + "  t = Abs (x)\n```\n  y = Relu (t)\n}\n",
    "a separator": H + BEFORE + "--- layer one\n  y = Relu (x)\n}\n",
    "elements": (
        H + BEFORE.replace(" {", " <float[2] w = [\n-Inf,\n+Inf]> {") + "+ y = Relu (x)\n}\n"
    ),
    "a list": H + BEFORE + "- load\n+ relu\n  y = Relu (x)\n}\n",
    "a function": (
        TEXT + '<ir_version: 10, domain: "my", opset_import: [21]>\nF (a) => (b) { b = Abs (a) }\n'
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_marks_of_the_text_itself_are_not_removed(name: str) -> None:
    for error in errors(ORDINARY[name]):
        assert error.fix is None or len(error.fix.apply(ORDINARY[name])) > len(ORDINARY[name]) - 20
        assert "diff" not in error.message


def test_an_escape_in_a_string_stays_if_strings_are_not_escaped() -> None:
    text = H + BEFORE + '  @doc("a &lt; b")\n  y = Relu &lt;a = 1> (x)\n}\n'
    (error,) = errors(text)
    assert fix_of(error).apply(text) == text.replace("Relu &lt;", "Relu <")
