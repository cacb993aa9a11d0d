# SPDX-License-Identifier: Apache-2.0
"""Broken texts give only the listed errors, and fixes that mend them."""

from __future__ import annotations

import pytest

from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.diagnostics.found import fix_of, syntax_errors
from tests.diagnostics.models import G, H, node, value


def header(entry: str) -> str:
    """Return a model with this header entry in line 2."""
    return f"<\n  {entry},\n>\ng (x) => (y) {{\n  y = Relu (x)\n}}\n"


NUMBERS = [
    (header("ir_version: 1.5.5"), (2, 15), "`1.5.5` is not an integer", None),
    (header("ir_version: --1"), (2, 15), "`--1` is not an integer", None),
    (header("opset_import: [3px]"), (2, 18), "`3px` is not an integer", "opset_import: [3]"),
    (header('opset_import: ["a": 1O]'), (2, 23), "`1O` is not an integer", '"a": 10'),
    (header("opset_import: [5%]"), (2, 18), "`5%` is not an integer", None),
    (node("  y = Op <a = 1*> (x)"), (3, 15), "`1*` is not a number", "a = 1>"),
    (node("  y = Op <a = [1, 0!]> (x)"), (3, 19), "`0!` is not a number", "[1, 0]"),
    (node("  y = Op <a = 0b11> (x)"), (3, 15), "`0b11` is not a number", "a = 3>"),
    (value("float w = -x"), (3, 13), "`-x` is not a number", None),
    (value("float[2] w = {1, ½}"), (3, 20), "`½` is not a number", None),
    (value("float[2] w = [1, 5%]"), (3, 20), "`5%` is not a number", None),
    (node("  y = Op <a: float = x> (x)"), (3, 22), "`x` is not a number", None),
    (value("float w = 1e5.5"), (3, 13), "`1e5.5` is not a number", None),
]


@pytest.mark.parametrize(("text", "position", "message", "fixed"), NUMBERS)
def test_odd_characters_in_numbers(
    text: str, position: tuple[int, int], message: str, fixed: str | None
) -> None:
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)
    assert (error.fix is None) == (fixed is None)
    if error.fix is not None and fixed is not None:
        mended = error.fix.apply(text)
        assert fixed in mended
        assert not syntax_errors(mended)


def rows(*lines: str, dims: str = "4, 2") -> str:
    """Return a model with a tensor; its first row is in line 4."""
    data = "\n    ".join(lines)
    return value(f"float[{dims}] w = [\n    {data}\n  ],\n  float[1] b = [1],")


@pytest.mark.parametrize(
    "odd",
    [
        "x += 1",
        "tensor_type { elem_type: 1 }",
        "def forward(self, x):",
        'relu: "f32[1, 3]" = torch.relu(x);  x = None',
    ],
)
def test_other_text_among_rows_is_marked_where_it_is(odd: str) -> None:
    (error,) = syntax_errors(rows("[1, 2],", "[3, 4],", odd, "[5, 6],", "[7, 8],"))
    assert error.position == (6, 5)


@pytest.mark.parametrize(
    ("text", "column", "mended"),
    [
        (rows("[1, 2],", "[3, 4] ],", "[5, 6],", "[7, 8],"), 12, "[3, 4] ,"),
        (rows("[1, 2],", "[3, 4],],", "[5, 6],", "[7, 8],"), 12, "[3, 4],"),
        (rows("1, 2,", "3, 4]", "5, 6, 7, 8", dims="8"), 9, "3, 4,"),
        (rows("1, 2,", "3, 4],", "5, 6, 7, 8", dims="8"), 9, "3, 4,"),
        (rows("1, 2,", "3, 4,]", "5, 6, 7, 8", dims="8"), 10, "3, 4,"),
    ],
)
def test_a_bracket_before_the_last_elements_can_be_removed(
    text: str, column: int, mended: str
) -> None:
    (error,) = syntax_errors(text)
    assert error.position == (5, column)
    assert error.message == "unexpected `]`: more elements of the list follow"
    fixed = fix_of(error).apply(text)
    assert fixed.splitlines()[4].strip() == mended
    assert not syntax_errors(fixed)


B = node("  y = Relu (x)")
FUNCTION = '<domain: "my", opset_import: [21]>\nF (x) => (y) {\n  y = Relu (x)\n}\n'
IMPORTS = 'an opset import must be written like `21` or `"ai.onnx.ml": 5`'
MENDED = {
    "a quote after the header": (
        B.replace("]>", ']>"'), (1, 37), 'unexpected `"` at the end of the line', B,
    ),
    "a quote after a node": (
        B.replace("(x)\n}", '(x)"\n}'), (3, 15), 'unexpected `"` at the end of the line', B,
    ),
    "doubled quotes": (
        header('producer_name: ""abc""'), (2, 18), "the quotes of this string are doubled",
        header('producer_name: "abc"'),
    ),
    "a call before the header": (
        f"print(model)\n{B}", (1, 1), "unexpected text before the header", B,
    ),
    "a statement before the header": (
        f"return (relu,)\n{B}", (1, 1), "unexpected text before the header", B,
    ),
    "an XML declaration": (
        f'<?xml version="1.0"?>\n{B}', (1, 1), "unexpected text before the header", B,
    ),
    "lines before the header": (
        f"---\n{B}", (1, 1), "unexpected line of dashes", B,
    ),
    "lines before a comment and the header": (
        f"print(model)\n# kept\n{B}", (1, 1), "unexpected text before the header", f"\n# kept\n{B}",
    ),
    "a name of TensorFlow in a value": (
        value("float[2] w:0"), (3, 12), "`w:0` needs quotes to be a name",
        value('float[2] "w:0"'),
    ),
    "a string before a function": (
        f'{B}"s" {FUNCTION}', (5, 1), "unexpected text before the header", B + FUNCTION,
    ),
    "a header without its bracket before a decorator": (
        H.replace(">\n", ',\n@doc("d")\n') + G + "  y = Relu (x)\n}\n", (1, 36),
        "expected `>` after the entries of the header",
        H.replace(">\n", ',\n>\n@doc("d")\n') + G + "  y = Relu (x)\n}\n",
    ),
    "outputs in parentheses after the node": (
        node("  Abs (x) => (y)"), (3, 3), "the outputs of a node belong before its operator",
        node("  y = Abs (x)"),
    ),
    "half a label in the first line of a node": (
        node("  l] y\n    = Abs (x)"), (3, 3),
        "the label of a node must be in one pair of brackets",
        node("  [l] y\n    = Abs (x)"),
    ),
    "a label that is written twice": (
        node("  [l] [l] y = Abs (x)"), (3, 6), "the label is written twice",
        node("  [l] y = Abs (x)"),
    ),
    "a comment like a docstring": (
        node("  '''abs'''\n  y = Abs (x)"), (3, 3),
        "a comment must start with `#`, and ends at the end of the line",
        node("  # abs\n  y = Abs (x)"),
    ),
    "a comment of another language in a list": (
        value("float[2] w = [1, 2], -- weights"), (3, 24), "a comment must start with `#`",
        value("float[2] w = [1, 2], # weights"),
    ),
    "a header between lines of dashes": (
        f"---\nir_version: 10\nopset_import: [21]\n---\n{G}  y = Relu (x)\n}}\n", (1, 1),
        "a header must be in `<…>`",
        f"<\nir_version: 10,\nopset_import: [21]\n>\n{G}  y = Relu (x)\n}}\n",
    ),
    "lines of dashes around a header": (
        f"---\n{H}---\n{G}  y = Relu (x)\n}}\n", (1, 1), "unexpected line of dashes",
        f"{H}{G}  y = Relu (x)\n}}\n",
    ),
    "a line in three backticks": (
        node("  ```y = Abs (x)```"), (3, 3), "unexpected backtick of Markdown",
        node("  y = Abs (x)"),
    ),
    "a row that is repeated without a comma": (
        value("float[2, 2] w = [\n    [1, 2]\n    [1, 2],\n    [3, 4],\n  ]"), (5, 5),
        "expected `,` or `]`, found `[`",
        value("float[2, 2] w = [\n    [1, 2],\n    [3, 4],\n  ]"),
    ),
    "types of inputs": (
        node("  y = Add (float[4] a, float[4] b)"), (3, 12),
        "the inputs of a node are written without types",
        node("  y = Add (a, b)"),
    ),
    "a third quote before an empty string": (
        header('opset_import: [""": 17]'), (2, 20), 'a string of one line must begin with `"`',
        header('opset_import: ["": 17]'),
    ),
    "the type of a tensor after a colon": (
        node("  y = Constant <value: float[2] = {1, 2}> ()"), (3, 22),
        "the type of a tensor belongs after the `=`",
        node("  y = Constant <value = float[2] {1, 2}> ()"),
    ),
    "a list in a list of imports": (
        header('opset_import: [["": 17]]'), (2, 18), IMPORTS, header('opset_import: ["": 17]'),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MENDED)
def test_the_fix_of_the_only_error_restores_the_text(mistake: str) -> None:
    text, position, message, intended = MENDED[mistake]
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)
    assert fix_of(error).apply(text) == intended


UNMENDED = {
    "a row that is cut off": (
        value("float[2, 2] w = [\n    [1\n    [3, 4],\n  ]"), (4, 6),
        "expected `]`",
    ),
    "a tensor that is cut off": (
        node("  t = Constant <value = float[2] {\n  y = Abs (x)"), (3, 34),
        "incomplete statement: expected a number, a string, `}` or a blob after `{`",
    ),
    "a tensor that is cut off in the last node": (
        node("  t = Constant <value = float[2] {"), (3, 34),
        "incomplete statement: expected a string, a blob, a number or `}` after `{`",
    ),
    "a graph that is cut off in an attribute": (
        node("  t = If (x) <a = g () => () {\n  y = Abs (x)"), (3, 30),
        "incomplete statement: expected a node or `}` after `{`",
    ),
    "outputs that are cut off": (
        node("  t,\n  # one\n  [l] y = Abs (x)"), (3, 4),
        "incomplete statement: expected a name, `,` or `=` after `,`",
    ),
    "a value of a header that is cut off": (
        header("producer_name:\n  ir_version: 8"), (2, 16),
        "incomplete statement: expected a value after `:`",
    ),
    "inputs that are cut off": (
        f"{H}g (\n  y = Relu (x)\n}}\n", (2, 3),
        "incomplete statement: expected the rest of `NAME (…) => (…) {` after `(`",
    ),
    "dimensions that are cut off": (
        f"{H}g (float[4] x) => (float[4,\n  y = Relu (x)\n}}\n", (2, 27),
        "incomplete statement: expected the rest of `NAME (…) => (…) {` after `,`",
    ),
    "a function of which only one letter remains": (
        f'{B}<domain: "d">\nf\n  y = Relu (x)\n}}\n', (6, 1),
        "incomplete statement: expected the rest of `NAME (…) => (…) {` after `f`",
    ),
    "initializers after a head that is cut off": (
        f"{H}g (flo\n  float[1] w = [1],\n> {{\n  y = Relu (w)\n}}\n", (2, 4),
        "incomplete statement: expected the rest of `NAME (…) => (…) {` after `flo`",
    ),
    "attributes after inputs that are cut off": (
        node("  y = Op (x, a\n    b = 1,\n    c = 2,\n  >"), (3, 14),
        "incomplete statement: expected the rest of `NAME = OPERATOR (…) <` after `a`",
    ),
    "a field that is cut off": (
        header("explicit: [node.\n  ir_version: 8"), (2, 18),
        "incomplete statement: expected a name after `.`",
    ),
    "a head with types after the names": (
        f"{H}fn g(x: float[4]) -> (y: float[4]) {{\n  y = Relu (x)\n}}\n", (2, 1),
        "`fn` does not belong here: a graph must have the form `NAME (…) => (…) {…}`",
    ),
    "blocks after a node": (
        node("  y = If (x) {\n    y = Abs (x)\n  } else {\n    y = Abs (a)\n  }"), (3, 7),
        "a block cannot follow `If (…)`",
    ),
    "an overload without inputs": (
        node("  y = Op:v <\n    a = 1,\n  >"), (3, 7), "the inputs of this operator are missing",
    ),
    "a lambda with a type": (
        node("  float[4] y = lambda: Cast (x, to = 1)"), (3, 16), "`lambda` is not supported",
    ),
    "a conflict marker in a header": (
        B.replace("<ir", "<\n>>>>>>> branch\nir"), (2, 1), "an unresolved merge conflict",
    ),
    "a brace and a comma among nodes": (
        node("  t = Relu (x)\n  },\n  y = Relu (t)"), (4, 3), "unexpected `}`: it closes the graph",
    ),
    "an operation of MLIR without parentheses": (
        node("  %1 = torch.aten.relu %0 : !torch.vtensor<[1],f32>\n  y = Relu (x)"), (3, 3),
        "this is an operation of MLIR, not a node",
    ),
    "an operation of MLIR among attributes": (
        node('  y = Op (x) <\n    a = 1,\n    %0 = "onnx.Relu"(%a) : (i8) -> i8\n    b = 1,\n  >'),
        (5, 5), "this is an operation of MLIR, not a node",
    ),
    "a function of MLIR": (
        "func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n  return %x : tensor<1xf32>\n}\n",
        (1, 1), "this is MLIR, not the text form of ONNX",
    ),
    "a word as data": (
        value("float w = None"), (3, 13), "`None` is not a value",
    ),
    "a string as data of a tensor without a size": (
        value('float[N] w = "3"'), (3, 3),
        "a string cannot be the value of a tensor of type float",
    ),
    "strings as data of a tensor without a size": (
        value('float[N] w = {"3"}'), (3, 3), "a tensor of float cannot contain strings",
    ),
    "a function with a header and without inputs and outputs": (
        B + '<domain: "d", opset_import: [21]>\nf {\n  b = Relu (a)\n}\n', (6, 1),
        "the graph or function lacks its inputs and outputs",
    ),
    "a function with a header and without inputs": (
        B + '<domain: "d", opset_import: [21]>\nf => (b) {\n  b = Relu (a)\n}\n', (6, 1),
        "the function lacks its inputs",
    ),
    "a mark as the value of a key": (
        header("ir_version: :"), (2, 15), "expected a value, found `:`",
    ),
    "a mark as a key": (header(": 10"), (2, 3), "expected a word, found `:`"),
    "a mark in a record": (
        node("  y = Op <a = {b: =}> (x)"), (3, 19), "expected a value, found `=`",
    ),
    "an unknown field of the section training": (
        B + 'training {\n  updatebinding: []\n}\n', (6, 3),
        "`updatebinding` is not a field of training",
    ),
    "a field of a tensor with the wrong data": (
        value("float[2] w = raw_data{1}"), (3, 16), "the data of `raw_data` has the wrong form",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", UNMENDED)
def test_the_only_error_is_at_the_mistake(mistake: str) -> None:
    text, position, message = UNMENDED[mistake]
    (error,) = syntax_errors(text)
    assert (error.position, error.message) == (position, message)


PROTOBUF = 'node {\n  input: "x"\n  op_type: "Relu"\n}\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"<\n  ir_version: 10,\n  opset_import: [21]\n{PROTOBUF}>\n{G}}}\n", 4),
        (f"<\n  ir_version: 10,\n{PROTOBUF}  opset_import: [21]\n>\n{G}}}\n", 3),
        (value(f"float[1] w = [1],\n{PROTOBUF}  float[1] b = [1],"), 4),
        (node(f"  y = Op (x) <\n    a = 1,\n{PROTOBUF}    b = 1,\n  >"), 5),
        (node(f"  y = Op (x) <\n    a = [\n      1,\n{PROTOBUF}    ],\n    b = 1,\n  >"), 6),
    ],
)
def test_a_node_of_protobuf_text_in_a_list_gives_one_error(text: str, line: int) -> None:
    (error,) = syntax_errors(text)
    assert error.position == (line, 1)
    assert error.message == "this is protobuf text, not a node"


def test_the_help_about_the_type_of_a_tensor_begins_without_a_blank() -> None:
    (error,) = syntax_errors(node("  y = Constant <value: float[2] = {1, 2}> ()"))
    assert error.help == "write `= float[2]`"


def test_a_doubled_brace_of_a_nested_graph_can_be_removed() -> None:
    inner = "a = If (c) <\n  t = g () => (x) {\n  }},\n  e = h () => (x) {\n  },\n>"
    text = node(f"y = Loop (x) <\nbody = b (c) => (a) {{\n{inner}\n}},\n>")
    (error,) = syntax_errors(text)
    assert (error.position, error.code) == ((7, 4), "syntax-error")
    assert fix_of(error).apply(text) == text.replace("}}", "}")


def test_a_bracket_before_the_last_rows_hides_no_error_before_its_tensor() -> None:
    text = rows("[1, 2],", "],", "[3, 4],", "[5, 6],", "[7, 8],").replace("opset_", "opst_")
    assert [error.position for error in syntax_errors(text)] == [(1, 18), (5, 5)]


def test_a_header_of_a_type_is_not_a_second_header() -> None:
    _, found = parse_partial(Source("<onnxtext: 1> float[2]", "t"), "type_fragment")
    assert [item.message for item in found] == ["this text cannot have a header"]


def test_a_brace_in_place_of_a_parenthesis_hides_no_later_error() -> None:
    text = f"{H}g {{float[4] x) => (float[4] y) {{\n  y = If ((x) <\n    a = 1\n  >\n}}\n"
    found = [error.position for error in syntax_errors(text)]
    assert found == [(2, 3), (3, 11)]


def test_a_comma_and_a_blank_are_no_repeated_row() -> None:
    (error,) = syntax_errors(f"{H}g (float[3, , 4] x) => (y) {{\n  y = Relu (x)\n}}\n")
    assert fix_of(error).title == "remove `,`"


def test_the_first_line_of_a_graph_is_missing_above_nodes_of_one_level() -> None:
    nodes = "      a = Abs (x)\n      b = Abs (x)\n    },\n"
    (error,) = syntax_errors(node(f"  y = Scan (x) <\n    k = 1,\n{nodes}  >"))
    assert error.message.startswith("the first line of this graph is missing")
    assert error.position == (5, 7)


def test_a_graph_with_nodes_is_not_cut_off_at_its_brace() -> None:
    text = f"{H}g () => () {{y = Loop (n)\n    <body = b (z) => (c) {{\n      c = Abs (z)\n}}"
    (error,) = syntax_errors(text)
    assert error.position == (5, 2)
