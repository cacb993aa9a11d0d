# SPDX-License-Identifier: Apache-2.0
"""The findings and fixes of a text do not depend on its line ends."""

from __future__ import annotations

from typing import Any

import pytest

import onnxtext
from onnxtext.diagnostics import Diagnostic
from onnxtext.diagnostics.code_pages import documented_codes
from onnxtext.source import Source
from tests.diagnostics.test_messages import TEXTS, of_text
from tests.diagnostics.test_pages import blocks

HEADER = "<ir_version: 10, opset_import: [21]>\n"
MISTAKES = {path.stem: path.read_text("utf-8") for path in TEXTS} | {
    "an edit in a list of numbers": "main (flaot[N, 3] x, float[N] z => (float[N] y) <\n"
    "  float[2] w = {.5, +1}\n"
    "  float[2] v = {1, 2},\n> {\n  y = Relu (x)\n}\n",
    "an edit at the end of a type": "main (float[2] x) => (float[M] y) {\n  float[2\n"
    " a = Relu x)\n  y = Relu (a)\n}\n",
    "no final brace": "main (float[N] x) => (float[N] y) {\n  y = Relu (x)\n",
    "a comment of two lines": "main (float[N] x) => (float[N] y) {\n  /* one\n  two */\n"
    "  y = Relu (x)\n}\n",
    "a line that is further down": "main (float[N] x) => (float[N] y) {\n    a = 1,\n    b = 2,\n"
    "  y = Op <\n  > (x)\n}\n",
    "swapped lines": "main (float[N] x) => (float[N] y) {\n  t = Relu (x)\n    axis = 0,\n"
    "  y = Softmax <\n  > (t)\n}\n",
    "a brace before a blank line": "main (float[N] x) => (float[N] y) {\n  a = Relu (x)\n}\n\n"
    "  b = Relu (a)\n  y = Relu (b)\n}\n",
    "no quotes before the lines of a string": "main (float[N] x) => (float[N] y) {\n"
    '  y = Relu (x)\n}\n\nmetadata {\n  node y {\n    k:\n      a\n      """\n  }\n}\n',
    "three quotes": 'main (float[N]"""x) => (float[N] y) {\n  y = Relu (x)\n}\n',
}
EXAMPLES = {
    code: blocks(code)["Example"] for code in documented_codes() if "Example" in blocks(code)
}


def described(found: list[Diagnostic], text: str) -> list[Any]:
    """Return the messages, places and results of diagnostics, with LF for CRLF."""
    source = Source(text)

    def place(span: tuple[int, int]) -> Any:
        return source.position(span[0]), source.position(span[1])

    result = []
    for item in found:
        labels = [(place(label.span), label.message) for label in item.labels]
        edits, fixed = [], None
        if item.fix is not None:
            edits = [place(edit.span) for edit in item.fix.edits]
            fixed = item.fix.apply(text)
            if "\r\n" in text:
                assert fixed.count("\r") == fixed.count("\n") == fixed.count("\r\n")
                fixed = fixed.replace("\r\n", "\n")
        result.append((item.code, item.message, item.help, labels, edits, fixed))
    return result


@pytest.mark.parametrize("name", MISTAKES)
def test_syntax_errors_are_independent_of_line_ends(name: str) -> None:
    text = HEADER + MISTAKES[name]
    other = text.replace("\n", "\r\n")
    expected = described(of_text(text, name), text)
    assert expected
    assert described(of_text(other, name), other) == expected


@pytest.mark.parametrize("mark", [" ", ": ", "| "])
def test_line_numbers_are_found_before_all_line_ends(mark: str) -> None:
    lines = f"{HEADER}main (x) => (y) {{\n\n  y = Relu (x)\n}}".split("\n")
    text = "\n".join([f"{n}{mark}{line}".rstrip() for n, line in enumerate(lines, 1)])
    other = text.replace("\n", "\r\n")
    expected = described(of_text(text, "m"), text)
    assert [found[1] for found in expected] == ["the lines begin with line numbers"]
    assert described(of_text(other, "m"), other) == expected


def test_headers_of_a_diff_are_removed_before_all_line_ends() -> None:
    lines = f"{HEADER}main (x) => (y) {{\n  y = Relu (x)\n}}".split("\n")
    text = "diff --git a/m b/m\nnew file mode 100644\nsimilarity index 90%\n@@ -0,0 +1,4 @@\n"
    text += "".join([f"+{line}\n" for line in lines])
    other = text.replace("\n", "\r\n")
    expected = described(of_text(text, "m"), text)
    assert [found[1] for found in expected] == ["the text has marks of a diff"]
    assert described(of_text(other, "m"), other) == expected


@pytest.mark.parametrize("code", EXAMPLES)
def test_findings_are_independent_of_line_ends(code: str) -> None:
    text = EXAMPLES[code]
    other = text.replace("\n", "\r\n")
    expected = described(onnxtext.check(text), text)
    assert described(onnxtext.check(other), other) == expected


@pytest.mark.parametrize("comment", ["# one", "g () => () {} # one"])
def test_a_carriage_return_in_a_comment_is_named(comment: str) -> None:
    text = f"{HEADER}{comment}\rg () => () {{\r  y = Relu [x)\r"
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        onnxtext.parse(text if "=" not in comment else f"{text}\n}}")
    (found,) = caught.value.diagnostics
    assert "carriage return" in found.message
    assert found.span is not None
    assert text[found.span.start - 1 :].startswith("e\rg")
