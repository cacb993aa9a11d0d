# SPDX-License-Identifier: Apache-2.0
"""Errors in the section `metadata`: one message each, on its line, and a fix if one is known."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import errors, fix_of, syntax_errors

H = "<ir_version: 10, opset_import: [21]>\n"
GRAPH = "g (float[2] x) => (float[2] y) {\n  [n] t = Abs (x)\n  y = Relu (t)\n}\n"
NODE = '  node [n] {\n    k: "v"\n  }\n'
VALUE = '  value x {\n    k: "v"\n  }\n'


def section(content: str) -> str:
    """Return a model with a section `metadata`, whose content begins in line 7."""
    return f"{H}{GRAPH}metadata {{\n{content}}}\n"


def entry(value: str) -> str:
    """Return a model with a metadata value in line 8."""
    return section(f"  node [n] {{\n    k: {value}\n  }}\n{VALUE}")


FIXED = {
    "a label without brackets": (
        section(NODE.replace("[n]", "n") + VALUE), (7, 8), "metadata-dangling", "  node [n] {",
    ),
    "a quoted label without brackets": (
        section(NODE.replace("[n]", '"n"') + VALUE), (7, 8), "metadata-dangling", "  node [n] {",
    ),
    "a colon after the name of a block": (
        section(NODE + VALUE.replace("x", "x:")), (10, 10), "syntax-error", "  value x {",
    ),
    "a colon after a section": (
        section(NODE).replace("metadata", "metadata:"), (6, 1), "syntax-error", "metadata {",
    ),
    "a section like a key of JSON": (
        section(NODE).replace("metadata", '"metadata":'), (6, 1), "syntax-error", "metadata {",
    ),
    "the name of a block in brackets": (
        section(NODE + VALUE.replace(" x ", "(x) ")), (10, 3), "wrong-mark", "  value x {",
    ),
    "a value without its first quote": (entry('v"'), (8, 8), "syntax-error", '    k: "v"'),
    "a value without quotes": (entry("v"), (8, 8), "syntax-error", '    k: "v"'),
    "words without quotes": (entry("m: a b"), (8, 8), "syntax-error", '    k: "m: a b"'),
    "two words": (entry("a b"), (8, 8), "syntax-error", '    k: "a b"'),
    "a list": (entry('["v"]'), (8, 8), "syntax-error", '    k: "v"'),
    "a list of numbers": (entry("[1, 2]"), (8, 8), "syntax-error", '    k: "[1, 2]"'),
    "a number": (entry("1"), (8, 8), "syntax-error", '    k: "1"'),
    "a truth value": (entry("true"), (8, 8), "syntax-error", '    k: "true"'),
    "a misspelt `above`": (
        section(NODE + VALUE.replace('"v"', "abov")), (11, 8), "syntax-error", "    k: above",
    ),
    "a label with a blank": (
        f"{H}{GRAPH.replace('[n]', '[f c]')}", (3, 4), "unquoted-name", '  ["f c"] t = Abs (x)',
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FIXED)
def test_the_fix_mends_the_text(mistake: str) -> None:
    text, where, code, line = FIXED[mistake]
    (error,) = errors(text)
    assert (error.code, error.position) == (code, where)
    mended = fix_of(error).apply(text)
    assert mended.splitlines()[where[0] - 1] == line
    assert errors(mended) == []


OUTSIDE = "outside of a block"
FOUND = {
    "the first block lacks its head": (section('    k: "v"\n  }\n' + VALUE), (7, 5), OUTSIDE),
    "a block lacks its head": (
        section(NODE + '    k: """\n    }\n    """\n  }\n' + VALUE), (10, 5), OUTSIDE,
    ),
    "the last block lacks its head": (section(NODE + '    k: "v"\n  }\n'), (10, 5), OUTSIDE),
    "an entry in the section": (section('  "k k": "v"\n'), (7, 3), OUTSIDE),
    "a function after the sections": (
        section(NODE) + '<domain: "my", opset_import: [21]>\nF (a) => (b) {\n  b = Abs (a)\n}\n',
        (11, 1), "the functions of a model belong before its sections",
    ),
    "a value with quotes inside": (entry('["a", "b"]'), (8, 8), "must be a string"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FOUND)
def test_the_error_is_found(mistake: str) -> None:
    text, where, message = FOUND[mistake]
    (error,) = errors(text)
    assert error.position == where
    assert message in error.message
    assert error.fix is None


def test_no_colon_is_certain_before_prose() -> None:
    text = section('  node [n] {\n    File "m.py", line 3, in forward\n  }\n')
    first = errors(text)[0]
    assert first.fix is None or first.fix.applicability == "unsafe"


WITHOUT_BRACES = {
    "an equals sign": 'metadata = {\n  value x {\n    k: "v"\n  }\n}\n',
    "no brace": 'metadata\n  graph {\n    k: "v"\n  }\n}\n',
    "a brace on the next line": 'metadata:\n{\n  value x {\n    k: "v"\n  }\n}\n',
}


@pytest.mark.parametrize("kind", WITHOUT_BRACES)
def test_a_section_without_braces_is_one_error(kind: str) -> None:
    text = f"{H}{GRAPH}{WITHOUT_BRACES[kind]}"
    (error,) = syntax_errors(text)
    assert error.position == (6, 1)
    assert error.message.startswith("a section must begin with `")
    assert not syntax_errors(fix_of(error).apply(text))


def test_resources_in_angle_brackets_are_one_error() -> None:
    entries = [f'  "{digit * 16}": base64 """\n    AAAA\n    """\n' for digit in "0123"]
    (error,) = syntax_errors(f"{H}{GRAPH}resources <\n{''.join(entries)}}}\n")
    assert (error.position, error.help) == ((6, 1), "write `resources {`")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f'{H}{GRAPH}metadata:\n  value x:\n    k: "v"\n', "metadata {"),
        (section(NODE + VALUE.replace(" {", ":")), "  value x {"),
    ],
)
def test_a_colon_in_place_of_a_brace_is_named(content: str, line: str) -> None:
    first = syntax_errors(content)[0]
    assert first.message.endswith(f"must begin with `{line.strip()}`")
    assert first.fix is None or line in first.fix.apply(content).splitlines()
