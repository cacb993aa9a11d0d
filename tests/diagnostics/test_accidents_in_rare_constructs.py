# SPDX-License-Identifier: Apache-2.0
"""A typo in a rare construct gives one error, whose fix restores the text."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import errors, fix_of, help_of, line_of, syntax_errors
from tests.diagnostics.models import node, value

SECTIONS = {
    "metadata": '  graph { "k": "v" }\n  value x { k: "v" }\n',
    "quantization": '  x: ["SCALE_TENSOR": "s"]\n',
    "training": '  algorithm: step () => () {}\n  update_binding: ["w": "v"]\n',
    "order": '  @initializers("w")\n',
    "encoding": f'  canonical: "{"0f" * 32}"\n  patch: """\n    EQiKADoDEgFn\n    """\n',
    "resources": '  "16b7de529da4f96b": base64 "AWEA"\n',
}


def section(name: str) -> str:
    """Return a model with a section, which begins in line 4."""
    graph = "<ir_version: 10>\ng (x) => (y) <float[1] s = [1.0], float[1] w = [1.0]> {}\n"
    return f"{graph}\n{name} {{\n{SECTIONS[name]}}}\n"


@pytest.mark.parametrize("name", SECTIONS)
def test_the_name_of_a_section_is_missing(name: str) -> None:
    text = section(name)
    (error,) = syntax_errors(text.replace(f"{name} {{", "{"))
    assert error.position == (4, 1)
    assert error.message == f"the `{name} {{` of this section is missing"
    assert fix_of(error).apply(text.replace(f"{name} {{", "{")) == text


@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "order"])
def test_the_first_line_of_a_section_is_missing(name: str) -> None:
    text = section(name)
    broken = text.replace(f"{name} {{\n", "")
    (error,) = syntax_errors(broken)
    assert line_of(error) == 4
    assert error.message == f"the `{name} {{` of this section is missing"
    assert fix_of(error).apply(broken).split() == text.split()


def test_the_first_line_of_a_configuration_is_missing() -> None:
    entries = "  num_devices: 2\n  device: []\n}\n"
    (error,) = syntax_errors(f"<ir_version: 12>\ng (x) => (x) {{}}\n\n{entries}")
    assert error.position == (4, 3)
    assert error.message == "the `configuration {` of this section is missing"
    assert error.help == 'write the section\'s head, such as `configuration "2gpu" {`'


SMALL = "<\n  ir_version: 10\n>\ng (float[N] x) => (float[N] y)\n{\n  y = Abs (x)\n}\n"
INTERFACE = "g (\n  float[N] x\n) => (\n  float[N] y\n) <\n  float a = 1,\n  float b = 2\n> {\n"
LONG = f"<ir_version: 10>\n{INTERFACE}  y = Add (x, a)\n}}\n"
TWICE = [
    *((section(name), f"{name} {{\n") for name in SECTIONS),
    *((SMALL, line) for line in ("<\n", ">\n", "{\n")),
    *((SMALL, lines) for lines in ("<\n  ir_version: 10\n>\n", "{\n  y = Abs (x)\n}\n")),
    (LONG, "g (\n  float[N] x\n) => (\n"),
    (LONG, ") => (\n"),
    (LONG, ") => (\n  float[N] y\n) <\n"),
    (LONG, ") <\n  float a = 1,\n  float b = 2\n> {\n"),
    (LONG, INTERFACE),
    (node("  y = Op <\n    a = 1,\n    b = 2,\n  > (x)"), "  y = Op <\n    a = 1,\n"),
    ("g (\n  float[2] a,\n  uint4 b, string c\n) => () {}\n", "  uint4 b, string c\n"),
]


@pytest.mark.parametrize(("text", "lines"), TWICE)
def test_lines_are_written_twice(text: str, lines: str) -> None:
    broken = text.replace(lines, lines + lines)
    (error,) = syntax_errors(broken)
    count = lines.count("\n")
    others = f" {count - 1}" if count > 2 else ""
    assert error.message == (
        f"this line and the next{others} repeat the {count} lines above"
        if count > 1
        else "this line is written twice"
    )
    first = broken[: broken.index(lines)].count("\n") + count + 1
    assert error.position == (first, len(lines) - len(lines.lstrip()) + 1)
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize(
    "line", ["y = Concat (\n    x,\n    %s\n  )", 'y = Op <a = [\n    "x",\n    %s\n  ]> (x)']
)
def test_equal_items_are_not_lines_that_are_written_twice(line: str) -> None:
    item = '"x"' if '"' in line else "x"
    text = node(f"  {line % item}")
    repeated = f"{item},\n    {item}"
    broken = text.replace(repeated, f"{repeated}\n    {repeated}")
    (error,) = syntax_errors(broken)
    assert fix_of(error).apply(broken) == text.replace(repeated, f"{repeated},\n    {repeated}")


@pytest.mark.parametrize("end", ["{\n", "<\n  float a = 1\n> {\n"])
def test_the_line_between_inputs_and_outputs_is_missing(end: str) -> None:
    text = f"<ir_version: 10>\ng (\n  float[N] x,\n  float[N] y\n) {end}  z = Abs (x)\n}}\n"
    (error,) = syntax_errors(text)
    assert error.position == (5, 3)
    assert error.message == "the outputs of the graph or function are missing"


@pytest.mark.parametrize("value", ["[", "]", "[[", "[[]"])
def test_an_incomplete_list_in_a_record_is_no_record(value: str) -> None:
    fields = "\n".join(f"      {number}: {number}" for number in range(999, 994, -1))
    text = (
        "<ir_version: 10>\ng () => () {\n  y = Op () <\n    a = {\n      type: FLOATS\n"
        f"      ints: {value}\n{fields}\n      tensors: [{{}}, {{}}]\n    }},\n  >\n}}\n"
    )
    (error,) = syntax_errors(text)
    assert line_of(error) == 6
    assert "`{`" not in error.message


@pytest.mark.parametrize("text", ["y = Relu [x)\n", "y = Relu (x\n", "y = Op <\n"])
def test_the_only_line_of_a_text_is_not_written_twice(text: str) -> None:
    (error,) = errors(text)
    assert error.message != "this line is written twice"
    assert error.fix is None or error.fix.apply(text).strip()


def test_a_fix_of_the_last_line_ends_in_the_text() -> None:
    text = '<ir_version: 10>\ng (x) => (y) {\n  @doc("K")\n  y = Relu (x)}\n'
    broken = f"{text}  y = Relu (x)}}\n"
    (error,) = syntax_errors(broken)
    assert error.message == "this line is written twice"
    assert all(edit.span.end <= len(broken) for edit in fix_of(error).edits)
    assert fix_of(error).apply(broken).split() == text.split()


GRAPH = "<ir_version: 10>\ng (x) => (y) {\n  # a comment\n  y = Op <\n    a = 1\n  > (x)\n}\n"


@pytest.mark.parametrize(
    "line", ["g (x) => (y) {\n", "  y = Op <\n", "    a = 1\n", "  y = Op <\n    a = 1\n"]
)
def test_only_the_second_of_two_equal_lines_is_removed(line: str) -> None:
    broken = GRAPH.replace(line, line + line)
    (error,) = syntax_errors(broken)
    several = line.count("\n") > 1
    assert error.message.startswith("this line and the next repeat" if several else "this line is")
    first = broken.split("\n").index(line.split("\n", maxsplit=1)[0])
    assert line_of(error) == 1 + first + line.count("\n")
    assert fix_of(error).apply(broken) == GRAPH
    (error,) = syntax_errors(broken.replace("\n", "\r\n"))
    assert fix_of(error).apply(broken.replace("\n", "\r\n")) == GRAPH.replace("\n", "\r\n")


FUNCTION = """<ir_version: 10, opset_import: [21, "l": 1]>
g (float[1] x) => (y) {
  y = l.F <alpha = 1.0> (x)
}

<domain: "l", opset_import: [21]>
F <alpha> (x) => (y) {
  y = LeakyRelu <alpha: float = @alpha> (x)
}
"""


@pytest.mark.parametrize(
    "wrong", ["!alpha", "!@alpha", "@alpha?", "al@pha", '@alpha"', '@"alpha', "@@alpha", "${alpha}"]
)
def test_other_marks_at_a_reference(wrong: str) -> None:
    broken = FUNCTION.replace("@alpha", wrong)
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == ((8, 33), f"expected `@alpha`, found `{wrong}`")
    assert fix_of(error).apply(broken) == FUNCTION


ROWS = "[\n      # first\n      [[3],\n       [5]],\n      [[7], # last\n       [9]]\n    ]"
LABELED = """<ir_version: 10>
g (x) => (y) {
  [second] y = Op <branches = [a () => () {}, b () => (z) { z = Op (x) }]> (x)
}
metadata {
  node [second].branches[1].z {
    k: "v"
  }
}
"""

BLOB = 'blob"d42a95f9c764c226"'
RESTORED = {
    "a letter of a blob among attributes": (
        node(f"  y = Op <a: ints = {{{BLOB}}}> (x)"), ("{blob", "{vlob"), (3, 22),
        "expected `blob`, found `vlob`",
    ),
    "an extra letter of a blob of a tensor": (
        value(f"int64[3] w = {{{BLOB}}},"), ("{blob", "{bklob"), (3, 17),
        "expected `blob`, found `bklob`",
    ),
    "a doubled question mark": (
        value('float["N", ?] w,'), ("?", "??"), (3, 15), "`?` is written twice",
    ),
    "a bracket after an empty list": (
        node("  y = Constant <value = float[0] []> ()"), ("[]>", "[]]>"), (3, 36),
        "this `]` closes no list",
    ),
    "a bracket after empty braces": (
        node("  y = Constant <value = int64[0] {}> ()"), ("{}>", "{}]>"), (3, 36),
        "this `]` closes no list",
    ),
    "a blank in a keyword": (
        value("opaque(a, undefined) w,"), ("fined", "fi ned"), (3, 13),
        "a blank in the word `undefined`",
    ),
    "a blank in a name that occurs again": (
        node("  result = Op (x)\n  y = Neg (result)"), ("(result", "(res ult"), (4, 12),
        "a blank in the word `result`",
    ),
    "a letter of a boolean": (
        node("  y = Op <v = bool b = false> (x)"), ("false", "fasle"), (3, 24),
        "`fasle` is not a boolean",
    ),
    "a bracket of a row with comments": (
        node(f"  y = Op (x) <\n    v = float[2, 2, 1] {ROWS},\n  >"), ("5]],", "5],"), (7, 10),
        "expected `]`",
    ),
    "an extra bracket of a row with comments": (
        node(f"  y = Op (x) <\n    v = float[2, 2, 1] {ROWS},\n  >"), ("[[7]", "[[[7]"), (8, 8),
        "this bracket is never closed",
    ),
    "a bracket after an arrow's first half": (
        node("  y = Relu (x)"), (") => (", ") =< ("), (2, 40), "expected `=>`, found `=<`",
    ),
    "a colon before a key of metadata": (
        LABELED, ("k:", ":k:"), (7, 5), "expected `}` or a name, found `:`",
    ),
    "a comma after the comma of an entry": (
        node("  y = Relu (x)"), ("10,", "10,,"), (1, 17), "expected `>` or a word, found `,`",
    ),
    "a point for a comma after a number": (
        value('float[2] w = external("a.bin", 0, 8),'), (", 8", ". 8"), (3, 37),
        "expected `,` or `)`, found `8`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "typo", "position", "message"), RESTORED.values(), ids=RESTORED)
def test_the_fix_of_the_only_error_restores_the_text(
    text: str, typo: tuple[str, str], position: tuple[int, int], message: str
) -> None:
    assert not syntax_errors(text)
    broken = text.replace(*typo)
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == (position, message)
    assert fix_of(error).applicability == "unsafe"
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize(
    "wrong",
    [
        "s[econd].branches[1].z", "second].branches[1].z", "[second].branches1].z",
        "[second].branches[1.z", "[second].branch es[1].z", "[sec ond].branches[1].z",
        "[second]..branches[1].z", "[second].branches1[].z", "[second]branches[1].z",
    ],
)  # fmt: skip
def test_brackets_blanks_and_points_of_a_path(wrong: str) -> None:
    broken = LABELED.replace("[second].branches[1].z", wrong)
    (error,) = syntax_errors(broken)
    assert line_of(error) == 6
    assert fix_of(error).apply(broken) == LABELED


def test_a_path_without_its_first_step_is_not_quoted() -> None:
    (error,) = syntax_errors(LABELED.replace("node [second]", "node "))
    assert error.position == (6, 8)
    assert error.message == "expected a name, `:`, `{` or `[`, found `.`"


@pytest.mark.parametrize("element", ["x", "trie"])
def test_a_word_that_is_no_boolean_needs_no_quotes(element: str) -> None:
    (error,) = syntax_errors(node(f"  y = Op <v = bool b = {element}> (x)"))
    assert (error.position, error.message) == ((3, 24), f"`{element}` is not a boolean")
    assert (error.help, error.fix) == ("write `true` or `false`", None)


def test_a_metadata_entry_of_several_lines_without_colon() -> None:
    text = LABELED.replace('k: "v"', 'k: """\n      v\n      """')
    broken = text.replace("k:", "k")
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == ((7, 7), "expected `:` after the key `k`")
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize(
    ("text", "typo"),
    [
        (node('  @set(attribute: ["a"]) y = Op (x)'), ("attribute:", "attribute")),
        (node('  @set(input: ["a"], attribute: ["a"]) y = Op (x)'), ("attribute:", "attribute;")),
        (node("  y = Op <v = bool true> (x)"), ("bool true", "bool; true")),
    ],
)
def test_a_fix_that_may_write_the_wrong_mark_is_unsafe(text: str, typo: tuple[str, str]) -> None:
    assert not syntax_errors(text)
    (error,) = syntax_errors(text.replace(*typo))
    assert fix_of(error).applicability == "unsafe"


def test_a_metadata_block_without_its_first_line_begins_no_section() -> None:
    text = f'{LABELED}quantization {{\n  x: ["SCALE_TENSOR": "y"]\n}}\n'
    (error,) = syntax_errors(text.replace("  node [second].branches[1].z {\n", ""))
    assert "of this section is missing" not in error.message


def test_a_blank_is_missing_in_a_metadata_block() -> None:
    text = '<ir_version: 10>\ng (x) => (y) {}\nmetadata {\n  value x { k: "v" }\n}\n'
    broken = text.replace("value x", "valuex")
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == ((4, 3), "`valuex` is not a kind of metadata")
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("value_infox", "value_info x"),
        ("graphs", "graph"),
        ("nodes x", "node"),
        ("outputs y", "output"),
    ],
)
def test_the_kind_of_a_metadata_block_is_the_longest(word: str, instead: str) -> None:
    text = f'<ir_version: 10>\ng (x) => (y) {{}}\nmetadata {{\n  {word} {{ k: "v" }}\n}}\n'
    (error,) = syntax_errors(text)
    assert error.help == f"write `{instead}`"


def test_a_metadata_block_without_a_name_gets_no_kind_that_needs_one() -> None:
    (error,) = syntax_errors(
        '<ir_version: 10>\ng (x) => (y) {}\nmetadata {\n  nodes { k: "v" }\n}\n'
    )
    assert error.fix is None
    assert help_of(error).startswith("write one of graph, value,")
