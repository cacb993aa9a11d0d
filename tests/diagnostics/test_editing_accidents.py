# SPDX-License-Identifier: Apache-2.0
"""A text that was damaged while it was edited gives one error at the place of the damage."""

from __future__ import annotations

import re

import pytest

from onnxtext.ast.model import Model
from onnxtext.checker.engine.partial_parse import read_partial
from onnxtext.source import Source
from tests.diagnostics.found import fix_of, line_of, syntax_errors
from tests.diagnostics.models import G, H, node, value


def header(*entries: str) -> str:
    """Return a model with these lines of header entries; the first is line 2."""
    return "<\n  {}\n>\ng (x) => (y) {{\n  y = Relu (x)\n}}\n".format("\n  ".join(entries))


@pytest.mark.parametrize(
    "sides",
    [
        "<<<<<<< HEAD\n  y = Relu (x)\n=======\n  y = Relu (x)",
        "  y = Relu (x)\n=======\n  y = Relu (x)\n>>>>>>> other",
        "<<<<<<< HEAD\n  y = Relu (x)\n>>>>>>> other",
        "  y = Relu (x)\n||||||| base\n=======\n  y = Neg (x)\n>>>>>>> other",
        "<<<<<<< HEAD\n  y = Relu (x)\n||||||| base\n  (\n=======\n  (\n>>>>>>> other",
    ],
)
def test_a_conflict_without_all_of_its_markers_is_one_error(sides: str) -> None:
    (error,) = syntax_errors(node(sides))
    first = 3 + sides.split("\n").index(next(s for s in sides.split("\n") if s[0] in "<=|>"))
    assert (error.code, error.position) == ("merge-conflict", (first, 1))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "marker",
    ["<<<<<<< HEAD", "=======", ">>>>>>> other", "  =======", "======", "=" * 32, "<" * 11],
)
def test_the_fix_of_a_conflict_removes_a_single_marker(marker: str, newline: str) -> None:
    text = node("  y = Relu (x)").replace("\n", newline)
    broken = text.replace("  y", f"{marker}{newline}  y")
    (error,) = syntax_errors(broken)
    assert fix_of(error).applicability == "unsafe"
    assert fix_of(error).apply(broken) == text


def test_two_conflicts_are_two_errors() -> None:
    lines = "  a = Neg (x)\n=======\n  b = Neg (a)\n<<<<<<< HEAD\n  y = Relu (b)\n>>>>>>> other"
    found = [(error.code, error.position) for error in syntax_errors(node(lines))]
    assert found == [("merge-conflict", (4, 1)), ("merge-conflict", (6, 1))]


MENDED = {
    "two missing dimensions": (
        value("float[2,,] w = [1, 2]"), (3, 11), "a dimension is missing", "  float[2] w = [1, 2]",
    ),
    "braces around a model": (
        f"{{\n{H}g (x) => (y) {{\n  y = Relu (x)\n}}\n}}\n", (1, 1),
        "the parts of a model cannot be in braces", "g (x) => (y) {",
    ),
    "emphasis around a header entry": (
        header("ir_version: 10,", "**opset_import: [21],**"), (3, 3),
        "unexpected `**` of Markdown", "  opset_import: [21],",
    ),
    "backticks around a header entry": (
        header("ir_version: 10,", '`opset_import: ["": 21]`'), (3, 3),
        "unexpected backtick of Markdown", '  opset_import: ["": 21]',
    ),
    "the types of outputs, one of them a sequence": (
        node("  y float[2], s seq(float[2]), t = Split (x)"), (3, 3),
        "the type of a value belongs before its name",
        "  float[2] y, seq(float[2]) s, t = Split (x)",
    ),
    "the type of a sequence after its name": (
        "g (x seq(float)) => (y) {\n  y = Foo (x)\n}\n", (1, 4),
        "the type of a value belongs before its name", "g (seq(float) x) => (y) {",
    ),
    "a comment with `;` after a comma": (
        f"{H}g (\n  float x, ; one input\n) => (float y) {{\n  y = Relu (x)\n}}\n", (3, 12),
        "a comment must start with `#`", "  float x, # one input",
    ),
    "a graph without `{` on a head of several lines": (
        f"{H}g (float x,\n   float z)\n    => (y)\n\n    y = Add (x, z)\n}}\n", (5, 1),
        "expected `{` or `<`, found `y`", "    => (y)",
    ),
    "an entry in brackets": (
        header("(ir_version: 10,)"), (2, 3), "a line cannot be in brackets", "  ir_version: 10,",
    ),
    "the first line of a node in brackets": (
        node("  (y = Op (x) <) # c\n    a = 1,\n  >"), (3, 3), "a node cannot be in brackets",
        "  y = Op (x) < # c",
    ),
    "the first line of a graph in brackets": (
        f"{H}[g (float x) => (float y)]\n{{\n  y = Abs (x)\n}}\n", (2, 1),
        "a line cannot be in brackets", "g (float x) => (float y)",
    ),
    "a string in backticks": (
        header('opset_import: ["": 21, `my`: 1],'), (2, 26),
        "a string must be in double quotes", '  opset_import: ["": 21, "my": 1],',
    ),
    "a path in backticks": (
        node("  y = Relu (`layer/x`)"), (3, 13), "a string must be in double quotes",
        '  y = Relu ("layer/x")',
    ),
    "a number in backticks": (
        header("model_version: `3`,"), (2, 18), "``3`` is not an integer", "  model_version: 3,",
    ),
    "a star before an input": (
        node("  y = Add (*x, a)"), (3, 12), "unexpected `*` before `x`", "  y = Add (x, a)",
    ),
    "an operator before its output": (
        node("  Relu y = (x)"), (3, 3), "the operator of a node belongs after the `=`",
        "  y = Relu (x)",
    ),
    "an operator before the `=`": (
        "g (X) => (Z) { Y Relu =(X)\n  Z = Abs (Y)\n}\n", (1, 18),
        "the operator of a node belongs after the `=`", "g (X) => (Z) { Y = Relu(X)",
    ),
    "an operator with attributes before its output": (
        node("  Elu y = <alpha = 2.0> (x)"), (3, 3),
        "the operator of a node belongs after the `=`", "  y = Elu <alpha = 2.0> (x)",
    ),
    "dimensions in braces": (
        node("  float{1, 3} y = Relu (x)"), (3, 8), "dimensions must be in `[…]`",
        "  float[1, 3] y = Relu (x)",
    ),
    "a name that is a word of other languages": (
        "g (x) => (output y) {\n  output = Neg (x)\n  y = Abs (x)\n}\n", (1, 18),
        "expected `,` or `)`, found `y`", "g (x) => (output, y) {",
    ),
    "a comma between the digits of an initializer": (
        value("float w = 1,000"), (3, 13), "a number cannot have `,` between its digits",
        "  float w = 1000",
    ),
    "an entry in a comment of C": (
        header("/* ir_version: 10, */", "opset_import: [21],"), (2, 3),
        "a comment must start with `#`, and ends at the end of the line", "  # ir_version: 10,",
    ),
    "an import without its domain": (
        header("opset_import: [: 21, my.ops: 1],"), (2, 18),
        'an opset import must be written like `21` or `"ai.onnx.ml": 5`',
        '  opset_import: ["": 21, "my.ops": 1],',
    ),
    "a function with the mark of MLIR": (
        f"{H}func @g (float[2] x) => (y) {{\n  y = Relu (x)\n}}\n", (2, 1),
        "`func @` does not belong here", "g (float[2] x) => (y) {",
    ),
    "a returned value among the outputs": (
        f"{H}g (float[2] x) => (\n  y,\nreturn y;\n) {{\n  y = Relu (x)\n}}\n", (4, 1),
        "the outputs of a graph belong after `=>` in its first line", "  y,",
    ),
    "added entries of a diff": (
        header("ir_version: 10,").replace("  ir_version: 10,\n>", "+  ir_version: 10,\n+>"), (2, 1),
        "the text has marks of a diff", "  ir_version: 10,",
    ),
    "a word in a key": (
        header("ir_ xversion: 10,"), (2, 3), "`ir_ xversion` is not a key", "  ir_version: 10,",
    ),
    "a line break in a key": (
        header("ir_ver", "sion: 10,"), (2, 3), "`ir_ver sion` is not a key", "  ir_version: 10,",
    ),
    "a mark in a key": (
        header("ir_version: 10,", "opset_im;port: [21],"), (3, 3),
        "`opset_im;port` is not a key", "  opset_import: [21],",
    ),
    "a mark for the first letter of a key": (
        header("/r_version: 10,"), (2, 3), "`/r_version` is not a key", "  ir_version: 10,",
    ),
    "a letter for the colon of a key": (
        header('producer_namez "a",'), (2, 3), "`producer_namez` is not a key",
        '  producer_name: "a",',
    ),
    "a word before a key": (
        header("new ir_version: 10,"), (2, 3), "`new` does not belong here", "  ir_version: 10,",
    ),
    "a line before a key": (
        header("ir_version: 10,", "the new", "opset_import: [21],"), (3, 3),
        "`the new` does not belong here", "  opset_import: [21],",
    ),
    "many letters in a key": (
        header("opset_imporTODO t: [21],"), (2, 3), "`opset_imporTODO t` is not a key",
        "  opset_import: [21],",
    ),
    "a word after a version": (
        header("ir_version: 10:w,"), (2, 15), "`10:w` is not an integer", "  ir_version: 10,",
    ),
    "a mark after a dimension": (
        value("float[2!] w = [1, 2]"), (3, 9), "`2!` is not an integer",
        "  float[2] w = [1, 2]",
    ),
    "a mark before an element": (
        value("float[2] w = [1, ~2]"), (3, 20), "`~2` is not a number", "  float[2] w = [1, 2]",
    ),
    "a colon after a version": (
        header("ir_version: 10:,"), (2, 15), "`10:` is not an integer", "  ir_version: 10,",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "position", "message", "line"), MENDED.values(), ids=MENDED)
def test_the_fix_of_the_only_error_mends_the_text(
    text: str, position: tuple[int, int], message: str, line: str
) -> None:
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)
    mended = fix_of(error).apply(text)
    assert line in mended.split("\n")
    assert not syntax_errors(mended)


FUNCTION = "<opset_import: [21]>\nf () => () {}\n"


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("g (x) => (y) { y = Relu (x)\nmetadata {}\n", "unclosed-bracket", (1, 28)),
        (f"g (x) => (y) {{ y = Relu (x)\n{FUNCTION}", "unclosed-bracket", (1, 28)),
        (f"g (x) => (y) {{\n  y = Relu (x)\n\n\n# d\n{FUNCTION}", "unclosed-bracket", (3, 1)),
        (
            'g (x) => () {}\n<@doc("d") domain: "a", opset_import: [21]>\nf (x) => () {}\n',
            "syntax-error",
            (2, 2),
        ),
        (
            node("  y = If (x) <\n    then_branch = {\n      z = Op ()\n    },\n  >"),
            "graph-without-inputs",
            (4, 19),
        ),
    ],
)
def test_the_only_error_is_at_the_cause(text: str, code: str, position: tuple[int, int]) -> None:
    (error,) = syntax_errors(text)
    assert (error.code, error.position) == (code, position)


UNSAFE = [
    ("wrong-mark", header('opset_import: [("", 21), : 3],')),
    ("wrong-mark", header('opset_import: ["", 21, : 3],')),
    ("wrong-mark", header('opset_import: [{domain: "", version: 21}, : 1],')),
    ("wrong-mark", header('opset_import: [("", 21), ai.onnx.ml: 3],')),
    ("wrong-mark", header("opset_import: [: 21],")),
    ("number-separator", value("bool[1] w = {1_0}")),
    ("wrong-mark", value("float {1, 2} w")),
    ("unknown-type", value("int[2] w = [1, 2]")),
    ("unknown-type", value("byte[2] w = [1, 2]")),
    ("misplaced-type", node("  y float[2], b int[2] = Split (x)")),
    ("misplaced-type", "g (x: int[2]) => (y) {\n  y = Relu (x)\n}\n"),
    ("misplaced-type", "g ([2]byte x) => (y) {\n  y = Relu (x)\n}\n"),
    ("semicolon", f"{H}g (\n  float x; note\n) => (float y) {{\n  y = Relu (x)\n}}\n"),
    ("unquoted-name", node("  y = Op <\n    --a = [1, 2],\n    b = 1> (x)")),
    ("unquoted-name", node("  y = Op <\n    b = 1,\n    --a = [1, 2]> (x)")),
    ("missing-equals", node("  y = Op <\n    attribute {\n      name: 1\n    }> (x)")),
]
"""Texts whose meaning is not certain: a type that differs between languages, for example."""


@pytest.mark.parametrize(("code", "text"), UNSAFE)
def test_the_fix_of_a_doubtful_text_is_unsafe(code: str, text: str) -> None:
    (error,) = syntax_errors(text)
    assert (error.code, fix_of(error).applicability) == (code, "unsafe")


BLOCKS = 'g (x) => () {}\nmetadata {\n  graph {\n    k: "v"\n  value x {\n    k: "v"\n  }\n}\n'


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (node("  y = Op <a = `b'> (x)"), 'write `"b"`'),
        (node("  float{1.5} y = Relu (x)"), "remove `{1.5}`"),
        (node("  float{3,} y = Relu (x)"), "write `[3]`"),
        ("<ir_version: 10>\ng, (x) => (y) {\n  y = Relu (x)\n}\n", "remove `,`"),
        ("<ir_version: 10>\nfloat[2] g (x) => (y) {\n  y = Relu (x)\n}\n", "remove `float[2]`"),
        (f"<ir_version: 10 # }}\n>\n{BLOCKS}", "add `}`"),
        (f'<doc_string: "}}"\n>\n{BLOCKS}', "add `}`"),
        (f'<doc_string: """\n  "}}\n  """\n>\n{BLOCKS}', "add `}`"),
    ],
)
def test_the_title_of_the_fix_tells_what_it_does(text: str, title: str) -> None:
    (error,) = syntax_errors(text)
    assert fix_of(error).title == title


def test_each_number_with_a_comma_is_named() -> None:
    lines = ",\n".join(f"  float w{digit} = {digit},000" for digit in "1234")
    text = f"{H}g () => (float w1) <\n{lines}\n> {{}}\n"
    assert [(error.code, error.help) for error in syntax_errors(text)] == [
        ("number-separator", f"write `{digit}000`") for digit in "1234"
    ]


def test_an_operation_for_a_whole_number_has_no_fix() -> None:
    (error,) = syntax_errors(value("float[2^1] w = [1, 2]"))
    assert (error.message, error.help, error.fix) == (
        "`2^1` is not an integer", "write a number, such as 10", None,
    )  # fmt: skip


INNER = """\
g (bool c) => (float[2] y) {
  y = If (c) <
    then_branch = t () => (float[2] a) {
      a = Op ()
    },
    else_branch = e () => (float[2] b) {
      b = Op ()
    },
  >
}
"""
TENSORS = """\
g (
  float[3] x,
) => (
  float[3] y,
) <
  float[3, 3] w = [
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ],
  float16[4] h = {
    1.0, 2.0,
    3.0, 4.0,
  },
> {
  y = MatMul (x, w)
}
"""
GRAPH = "g (x) => (y) {\n  y = Relu (x)\n}\n"
METADATA = 'metadata {\n  node y {\n    k: "v"\n  }\n}\n'
RESOURCES = 'resources {\n  "d42a95f9c764c2268163a4df68befb42": base64 "AqwCBw=="\n}\n'
ENTRIES = "<\n  onnxtext: 1,\n  ir_version: 10,\n  opset_import: [21],\n>\n"
ATTRIBUTES = node("  z = Op (x) <\n    a = 1,\n    b = [2, 3],\n    c = 4,\n  >\n  y = Relu (z)")
TRAINING = "training {\n  algorithm: step () => () {}\n}\n"

EXPLAINED = {
    "a nested graph without its first line": (
        INNER.replace("    then_branch = t () => (float[2] a) {\n", ""), (3, 7),
        "the first line of this graph is missing: `NAME = GRAPH () => (…) {`",
    ),
    "the last nested graph without its first line": (
        INNER.replace("    else_branch = e () => (float[2] b) {\n", ""), (6, 7),
        "the first line of this graph is missing: `NAME = GRAPH () => (…) {`",
    ),
    "a nested graph without its first line before outputs": (
        INNER.replace("t () => (float[2] a) {", "t () => (\n      float[2] a,\n    ) {").replace(
            "    then_branch = t () => (\n", ""
        ), (3, 7), "the first line of this graph is missing: `NAME = GRAPH (…) => (`",
    ),
    "a node without its first line before outputs of a graph": (
        INNER.replace("(float[2] a) {", "(\n      float[2] a,\n    ) {").replace(
            "  y = If (c) <\n", ""
        ), (2, 5), "`then_branch` is a graph among the nodes of another graph",
    ),
    "a tensor without its first line after a list": (
        TENSORS.replace("  float16[4] h = {", "  # h = [").replace("  },", "  ],"), (12, 5),
        "the first line of this list is missing: `TYPE NAME = [`",
    ),
    "a nested tensor without its first line": (
        TENSORS.replace("  float[3, 3] w = [\n", ""), (6, 5),
        "the first line of this list is missing: `TYPE NAME = [`",
    ),
    "a flat tensor without its first line": (
        TENSORS.replace("  float16[4] h = {\n", ""), (11, 5),
        "the first line of this list is missing: `TYPE NAME = {`",
    ),
    "a number without the name of its attribute": (
        ATTRIBUTES.replace("a = 1", "1"), (4, 5), "expected `NAME =` before `1`",
    ),
    "a list without the name of its attribute": (
        ATTRIBUTES.replace("b = ", ""), (5, 5), "expected `NAME =` before `[2, 3]`",
    ),
    "an operator without inputs before graphs": (
        INNER.replace("If (c) <", "If"), (2, 7),
        "incomplete statement: expected the rest of `NAME = OPERATOR (…) <` after `If`",
    ),
    "a header without its first half": (
        ENTRIES[21:] + GRAPH, (1, 1), "the beginning of the header is missing",
    ),
    "a header without all but half of its last entry": (
        ENTRIES[48:] + GRAPH, (1, 1), "the beginning of the header is missing",
    ),
    "a node without its first line": (
        ATTRIBUTES.replace("  z = Op (x) <\n", "  # z = Op (x) <\n"), (4, 5),
        "the first line of this node is missing: `NAME = OPERATOR (…) <`",
    ),
    "an entry after the end of the header": (
        ENTRIES.replace("  opset_import: [21],\n>", ">\n  opset_import: [21],") + GRAPH, (5, 3),
        "the header ends before `opset_import`",
    ),
    "numbers in braces before the name of an initializer, which may be its data": (
        value("float {1, 2} w"), (3, 9), "dimensions must be in `[…]`",
    ),
    "a second body": (
        node("  a = Neg (x)\n}\n{\n  b = Relu (x)\n  y = Neg (b)"), (5, 1),
        "a graph or function has only one body in braces",
    ),
    "a name after a comma and a semicolon": (
        node("  y = Add (x, ; a\n  )"), (3, 15), "unexpected `;` after `,`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "position", "message"), EXPLAINED.values(), ids=EXPLAINED)
def test_the_only_error_explains_what_is_missing(
    text: str, position: tuple[int, int], message: str
) -> None:
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)
    assert error.help


LONG_HEAD = "g (\n  float[N] x\n) => (\n  float[N] y,\n) <\n  float w = 1\n> {\n  y = Relu (x)\n}\n"
RESTORED = {
    **{
        f"no closing bracket in {line!r}": (
            H + LONG_HEAD, H + LONG_HEAD.replace(f"\n{line}", f"\n{line[1:]}"), position,
            f"expected `{line[0]}` or {name}, found `{line.split()[1]}`",
        )
        for line, position, name in [(") <", (6, 2), "a name"), ("> {", (8, 2), "`,`")]
    },
    "a resources section without its first line": (
        GRAPH + RESOURCES, GRAPH + RESOURCES.replace("resources {\n", ""), (4, 3),
        "the `resources {` of this section is missing",
    ),
    "a resources section without its name": (
        GRAPH + RESOURCES, GRAPH + RESOURCES.replace("resources {", "{"), (4, 1),
        "the `resources {` of this section is missing",
    ),
    "a metadata section without its first line": (
        GRAPH + METADATA, GRAPH + METADATA.replace("metadata {\n", ""), (4, 3),
        "the `metadata {` of this section is missing",
    ),
    "a mark in the name of a section": (
        GRAPH + RESOURCES, GRAPH + RESOURCES.replace("resou", "res$u"), (4, 1),
        "`res$urces` is unknown here",
    ),
    "a blank in the name of a section": (
        GRAPH + METADATA, GRAPH + METADATA.replace("meta", "meta "), (4, 1),
        "a blank in the word `metadata`",
    ),
    "a word in a key of a training section": (
        GRAPH + TRAINING, GRAPH + TRAINING.replace("algo", "al x go"), (5, 3),
        "`al x gorithm` is not a key",
    ),
    "a row without its bracket": (
        TENSORS, TENSORS.replace("[4, 5, 6]", "4, 5, 6]"), (8, 5), "the `[` of this row is missing",
    ),
    "a second brace after a nested graph": (
        INNER, INNER.replace("a = Op ()\n    }", "a = Op ()\n    }\n    }"), (6, 5),
        "unexpected `}`: the graph has ended",
    ),
    "a line break in a type": (
        TENSORS, TENSORS.replace("  float[3] x", "  flo\nat[3] x"), (2, 3),
        "a line break in the word `float`",
    ),
    "a line break in the name of a section": (
        GRAPH + TRAINING, GRAPH + TRAINING.replace("training", "tra\nining"), (4, 1),
        "a line break in the word `training`",
    ),
    "a type after a version": (
        ENTRIES + GRAPH, ENTRIES.replace("[21", "[21 float") + GRAPH, (4, 21),
        "expected `,` or `]`, found `float`",
    ),
    "the first line of a header two lines below its place": (
        ENTRIES + GRAPH, ENTRIES[2:].replace("  opset", "<\n  opset") + GRAPH, (1, 3),
        "the line that belongs before this line is further down",
    ),
    "swapped first lines of a header": (
        ENTRIES + GRAPH, ENTRIES.replace("<\n  onnxtext: 1,", "  onnxtext: 1,\n<") + GRAPH, (1, 3),
        "expected `<` before the first entry of the header",
    ),
    "an entry before the `<` of a header, without a comma": (
        ENTRIES + GRAPH, ENTRIES.replace("<\n  onnxtext: 1,", "onnxtext: 1\n<") + GRAPH, (1, 1),
        "expected `<` before the first entry of the header",
    ),
    "a quote before a dimension": (
        TENSORS, TENSORS.replace("[3] x", '["3] x'), (2, 9), 'unexpected `"` beside a number',
    ),
    "a quote after an element": (
        ATTRIBUTES, ATTRIBUTES.replace("3]", '3"]'), (5, 14), 'unexpected `"` beside a number',
    ),
    "a dollar sign before a version": (
        ENTRIES + GRAPH, ENTRIES.replace("10", "$10") + GRAPH, (3, 15),
        "a number cannot have the prefix `$`",
    ),
    "two commas after the last node": (
        GRAPH, GRAPH.replace("(x)\n", "(x),,\n"), (2, 15),
        "unexpected `,,`: statements do not end with punctuation",
    ),
    "a comma and a semicolon after a node": (
        INNER, INNER.replace("  >", "  >,;"), (9, 4),
        "unexpected `,;`: statements do not end with punctuation",
    ),
    "empty brackets before dimensions": (
        TENSORS, TENSORS.replace("[3] x", "[][3] x"), (2, 8),
        "the dimensions of a type must be in one pair of brackets",
    ),
    "one typographic quote": (
        GRAPH, GRAPH.replace("=> (", "“=> ("), (1, 7),
        "`“` is a typographic quote; a string must be in plain quotes",
    ),
    "a word after a version": (
        ENTRIES.replace("[", '["": ') + GRAPH, ENTRIES.replace("[21", '["": 21 new') + GRAPH,
        (4, 25), "expected `,` or `]`, found `new`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "broken", "position", "message"), RESTORED.values(), ids=RESTORED)
def test_the_fix_of_the_only_error_restores_the_text(
    text: str, broken: str, position: tuple[int, int], message: str
) -> None:
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == (position, message)
    assert "".join(fix_of(error).apply(broken).split()) == "".join(text.split())


def test_the_rows_that_an_error_drops_are_not_counted() -> None:
    (error,) = syntax_errors(TENSORS.replace("4, 5", "4(int), 5"))
    assert (error.position, error.message) == ((8, 7), "expected `,` or `]`, found `(`")


SWAPPED = """\
<
  ir_version: 10,
  opset_import: [21],
>
g (float[2] x) => (float[2] y) <
  float[2] w = [
    1, 2
  ],
>
{
  t = Mul (x, w)
  y = Softmax <
    axis = 0,
  > (t)
}
"""


@pytest.mark.parametrize("line", [4, 12, 14])
def test_lines_in_the_wrong_order_are_one_error(line: int) -> None:
    lines = SWAPPED.split("\n")
    lines[line - 1 : line + 1] = reversed(lines[line - 1 : line + 1])
    broken = "\n".join(lines)
    (error,) = syntax_errors(broken)
    assert error.message == "this line and the next line are in the wrong order"
    assert line_of(error) == line
    assert fix_of(error).apply(broken) == SWAPPED


THREE_MISTAKES = """
  y = Softmax <
    axis = 0,
  > (x)
  z = Concat <axis = 1> (y, x)
  u ( Loop <
    body = b (i, c) => (d) ;{
      d = Add (i, c)
    }
  > (z)"""


def test_independent_errors_are_not_joined() -> None:
    found = syntax_errors(node(THREE_MISTAKES))
    assert [error.position and error.position.line for error in found] == [8, 9, 12]


def test_an_error_after_swapped_lines_is_reported_too() -> None:
    lines = SWAPPED.replace("axis = 0", "axis == 0").split("\n")
    lines[3:5] = reversed(lines[3:5])
    first, second = syntax_errors("\n".join(lines))
    assert first.help == "swap the lines"
    assert line_of(second) == 13


def test_an_error_after_a_wrong_bracket_does_not_change_its_message() -> None:
    first, second = syntax_errors(node("  t = Op [a = 1> (x)\n  u = Abs (x))\n  y = Op (u)"))
    assert (first.code, first.message) == ("wrong-mark", "expected `<`, found `[`")
    assert second.position == (4, 14)


def test_two_errors_on_adjacent_lines_are_not_swapped_lines() -> None:
    broken = SWAPPED.replace("t = Mul (x, w)", "t == Mul (x, w)").replace("Softmax <", "Softmax <<")
    assert [error.help for error in syntax_errors(broken)].count("swap the lines") == 0


DIFFS = {
    "only added lines": "+  a = Relu (x)\n+  y = Relu (a)",
    "added lines with other indentation": "+ a = Relu (x)\n+   y = Relu (a)",
    "a removed line without a statement": "-  y\n+  a = Relu (x)\n+  y = Relu (a)",
}


CHANGED = {
    "inputs": ("g (\n%s  float[4] x) => (float y) {\n  y = Op (x)\n}\n", "  float z,\n"),
    "the last outputs": (
        "g (float[4] x) => (\n%s) {\n  y = Op (x)\n}\n", "  float[4, 2] y,\n  float w\n",
    ),
    "a comment": (f"{G}%s  y = Op (x)\n}}\n", "  t = Neg (x)\n  # new\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_changed_lines_of_a_diff_are_one_error(name: str) -> None:
    text, new = CHANGED[name]
    old = "".join(f"-{line}\n" for line in new.rstrip(",\n").split("\n"))
    marked = "".join(f"+{line}\n" for line in new[:-1].split("\n"))
    (error,) = syntax_errors(H + text % (old + marked))
    assert error.message == "the text has marks of a diff"
    assert fix_of(error).apply(H + text % (old + marked)) == H + text % new


@pytest.mark.parametrize("name", DIFFS)
def test_lines_of_a_diff_among_others_are_one_error(name: str) -> None:
    broken = node(DIFFS[name])
    (error,) = syntax_errors(broken)
    assert (error.message, error.position) == ("the text has marks of a diff", (3, 1))
    fixed = fix_of(error).apply(broken)
    assert fixed.replace(" ", "") == node("a = Relu (x)\ny = Relu (a)").replace(" ", "")


def test_an_error_far_below_does_not_change_the_first_error() -> None:
    first, second = syntax_errors("TODO\n" + node("  t = Add (x, a)\n  y = Cast <to => (t)"))
    assert (first.message, first.help) == ("unexpected text before the header", "remove it")
    assert line_of(second) == 5


def test_a_node_after_two_dashes_is_a_comment() -> None:
    broken = node("  a = Abs (x)\n  --b = Neg (a)\n  y = Neg (a)")
    (error,) = syntax_errors(broken)
    assert error.code == "slash-comment"
    assert fix_of(error).applicability == "safe"
    assert fix_of(error).apply(broken) == broken.replace("--b", "# b")


HEADERS = {
    "graph": "<ir_version: 10, opset_import: [21]>\n",
    "function": "<ir_version: 10>\ng (x) => (y) {\n  y = F (x)\n}\n"
    '<domain: "d", opset_import: [21]>\n',
}


@pytest.mark.parametrize(
    ("kind", "lines", "head"),
    [
        *((kind, "  t = Relu (x)\n  y = Neg (t)\n}", "NAME (…) => (…) {") for kind in HEADERS),
        *((kind, "  s, t = Split (x)\n  y = Neg (t)\n}", "NAME (…) => (…) {") for kind in HEADERS),
        (
            "graph",
            "  float[2] x,\n  float[2] b\n) => (float[2] y) {\n  y = Add (x, b)\n}",
            "NAME (",
        ),
        ("graph", "  float[2] w = [1, 2],\n> {\n  y = Neg (w)\n}", "NAME (…) => (…) <"),
    ],
)
def test_a_missing_first_line_of_a_graph_is_one_error(kind: str, lines: str, head: str) -> None:
    (error,) = syntax_errors(f"{HEADERS[kind]}{lines}\n")
    assert error.message == "the first line of the graph or function is missing"
    assert error.help == f"write `{head}` before this line"
    assert line_of(error) == HEADERS[kind].count("\n") + 1


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("  t = Relu (x)\n  y = Neg (t)\n  z = Neg (y)\n}\n", 3),
        ("  s, t = Split (x)\n  y = Neg (t)\n}\n", 2),
        ("  float[2] x,\n  float[2] b\n) => (float[2] y) {\n  y = Add (x, b)\n}\n", 1),
        ("  float[2] w = [1, 2],\n> {\n  y = Neg (w)\n}\n", 1),
    ],
)
@pytest.mark.parametrize(
    "function", ["", '<domain: "d", opset_import: [21]>\nF (a) => (b) {\n  b == Abs (a)\n}\n']
)
def test_a_graph_without_its_first_line_is_parsed_partially(
    lines: str, count: int, function: str
) -> None:
    text = f"<ir_version: 10, opset_import: [21]>\n{lines}{function}"
    root, errors = read_partial(Source(text, "t"))
    assert isinstance(root, Model)
    assert (len(root.graph.nodes), len(root.functions)) == (count, bool(function))
    assert errors[0].message == "the first line of the graph or function is missing"


@pytest.mark.parametrize(
    "head",
    [
        "model = g (float[2] x) => (float[2] y) {",
        "graph = main (float[2] x) => (\n  float[2] y) {",
        "float[2] main (float[2] x) {",
        "a, b = main (float[2] x) {",
        "float[2] x => float[2] y {",
        "float[2] {",
    ],
)
def test_a_wrong_first_line_of_a_graph_is_not_missing(head: str) -> None:
    error = syntax_errors(f"<ir_version: 10>\n{head}\n  y = Relu (x)\n}}\n")[0]
    assert error.message != "the first line of the graph or function is missing"


def test_a_comma_is_added_although_there_are_too_many_rows_after_it() -> None:
    rows = "float[2, 2] w = [\n    # rows\n    [1, 2],\n[3, 4]\n    [5, 6],\n  ],"
    (error,) = syntax_errors(text := value(rows))
    assert fix_of(error).title == "add `,`"
    (left,) = syntax_errors(fix_of(error).apply(text))
    assert left.message == "expected 2 rows here for [2, 2], found 3"


def test_a_row_that_repeats_the_row_before_it_is_removed() -> None:
    rows = "float[2, 2] w = [\n    [1, 2], # a\n    [1, 2], # b\n    [3, 4],\n  ],"
    (error,) = syntax_errors(text := value(rows))
    assert error.message == "expected 2 rows here for [2, 2], found 3"
    assert fix_of(error).applicability == "unsafe"
    assert fix_of(error).apply(text) == text.replace("[1, 2], # b", " # b")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "g (x) => (y) {\n  y = Relu (x)\n}\n",
        "g (x) => (y) {\n  y = Relu (x)\n  # the end\n  }\n",
        "# a model\n<\n  ir_version: 10,\n>\ng () => () {}\n",
        "<\n  ir_version: 10,\n>\ng () => () {}\n",
        'g () => () {}\nmetadata {\n  graph {\n    a: "b"\n  }\n}\n',
    ],
)
def test_a_missing_bracket_belongs_in_place_of_a_blank_line(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    mark = "<" if "\n>" in text else "}"
    at = text.index(mark) if mark == "<" else text.rindex(mark)
    broken = text[:at] + text[at + 1 :]
    (error,) = syntax_errors(broken)
    assert line_of(error) == text.count("\n", 0, at) + 1
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize(
    ("gap", "line"), [("", 3), ("\n", 3), ("\n\n", 3), ("\n\n\n", 3), ("  # a\n", 4)]
)
@pytest.mark.parametrize("after", ["metadata {}", "<opset_import: [21]>\nf () => () {}"])
def test_a_brace_is_missing_in_the_first_blank_line(gap: str, line: int, after: str) -> None:
    text = f"g (x) => (y) {{\n  y = Relu (x)\n{gap}{after}\n"
    (error,) = syntax_errors(text)
    assert error.code == "unclosed-bracket"
    assert line_of(error) == line


def test_the_method_of_a_list_of_values_is_a_node() -> None:
    (error,) = syntax_errors(node("  y = x, a.Add()"))
    assert (error.message, error.fix) == ("a list of values is not a node", None)
    assert error.help == "write `y = Add (x, a)`"


@pytest.mark.parametrize("after", ["", "metadata {}\n", "<opset_import: [21]>\nf () => () {}\n"])
@pytest.mark.parametrize(
    "values", ["float b = 1", '\n  # c\n  @doc("d") seq(float) b,\n  int8 c,\n']
)
def test_initializers_after_the_nodes_are_one_error(values: str, after: str) -> None:
    (error,) = syntax_errors(f"g (x) => (y) {{\n  y = Relu (x)\n}} <{values}>\n{after}")
    assert error.message == "the initializers of a graph belong before its nodes"
    assert error.position == (3, 3)


def test_an_unclosed_list_of_initializers_after_the_nodes_hides_no_later_error() -> None:
    text = "g (x) => (y) {\n  y = Relu (x)\n}\n<\n  float b = 1,\n"
    first, second = syntax_errors(f"{text}<opset_import: [21]>\nf (x) => (y) {{\n  y = Abs x\n}}\n")
    assert (first.code, second.message) == (
        "misplaced-tensor", "the inputs of a node must be in parentheses",
    )  # fmt: skip


def test_a_header_without_its_first_mark_is_no_list_after_the_nodes() -> None:
    text = "ir_version: 10,\nopset_import: [21]\n>\ng ({1, 2} x) => () {}\n"
    first, second = syntax_errors(text)
    assert (first.message, second.position) == ("a header must be in `<…>`", (4, 4))


INDENTED = [
    node("  u = Op (x) <\n    a = 1,\n    b = 2,\n  y = ArgMax <axis = 1> (u)"),
    node('  u = Op (x) <\n    a = g () => () {},\n    b = 2\n  @doc("d")\n  y = Abs (x)'),
    node("    a = 1,\n    b = 2,\n  y = Op <\n  > (x)"),
    node("  - y = Relu (x)"),
    node('  """\n  one\n  two\n  """\n  y = Relu (x)'),
    node("  y = If (c) <\n    a = g () => ()\n      z = Abs (x)\n    },\n  >"),
]


def tabs(text: str) -> str:
    """Return a text indented with tabs for two blanks each."""
    return re.sub(r"(?m)^(?:  )+", lambda match: "\t" * (len(match[0]) // 2), text)


@pytest.mark.parametrize("text", INDENTED)
def test_a_fix_indents_with_the_tabs_of_a_text(text: str) -> None:
    with_blanks, with_tabs = syntax_errors(text)[0].fix, syntax_errors(tabs(text))[0].fix
    assert with_blanks is not None
    assert with_tabs is not None
    assert with_tabs.apply(tabs(text)) == tabs(with_blanks.apply(text))


@pytest.mark.parametrize(
    ("inputs", "count"),
    [("input x, input z", 2), ("\n  input x,\n  input z\n", 2), ("input x, float input", 1)],
)
def test_a_word_that_is_written_again_among_inputs_is_no_name(inputs: str, count: int) -> None:
    text = f"g ({inputs}) => (y) {{\n  input = Abs (x)\n  y = Add (input, z)\n}}\n"
    assert [error.code for error in syntax_errors(text)] == ["foreign-word"] * count


def test_a_metadata_block_inside_another_one_is_moved_by_hand() -> None:
    inner = '    value x {\n      k: "v"\n    }\n'
    (error,) = syntax_errors(f"g (x) => () {{}}\nmetadata {{\n  graph {{\n{inner}  }}\n}}\n")
    assert (error.position, error.fix) == ((4, 5), None)
    assert error.help == "move this block out of the other one"
