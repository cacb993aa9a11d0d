# SPDX-License-Identifier: Apache-2.0
"""A single mistake gives one error on its line, whose fix restores the text."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import fix_of, line_of, syntax_errors

TEXT = """\
<
  ir_version: 8,
  opset_import: [17, "my.ops": 1],
>
g (
  float x,
  float[N] y,
) => (
  float[N] z,
)
  <
  float[2] w = [1, 2],
> {
  c = my.ops.Op <axis = 1> ()
  z = Add (
    y,
    w,
  )
  t = Constant <value = bool t {1}> ()
}
"""

MARKS = ("```", ">>>", "*", "-", "+", "|", "/", "12:")
TYPOS = (
    ("c = my", "c / my"),
    ("<axis = 1>", "<axis 7 1>"),
    ("> {", "> x"),
    (".Op", ",Op"),
    (".Op", " Op"),
    (".Op", ". .Op"),
    ("(\n    y", "@\n    y"),
    ("> ()\n  z", "> )\n  z"),
    ("float x", "float float x"),
    ("float[N] y", "float float[N] y"),
    ("bool t", "bool bool t"),
)


def same(first: str, second: str) -> bool:
    """Whether two texts differ only in white space."""
    return "".join(first.split()) == "".join(second.split())


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("line", ["g (\n", "  <\n", "    w,\n", "  )\n", "}\n"])
def test_a_mark_before_a_line_is_removed(mark: str, line: str) -> None:
    broken = TEXT.replace(line, f"{mark} {line}", 1)
    (error,) = syntax_errors(broken)
    assert broken.splitlines()[line_of(error) - 1].startswith(mark)
    assert same(fix_of(error).apply(broken), TEXT)


@pytest.mark.parametrize(("right", "wrong"), TYPOS)
def test_a_typo_is_corrected(right: str, wrong: str) -> None:
    broken = TEXT.replace(right, wrong, 1)
    (error,) = syntax_errors(broken)
    assert line_of(error) == TEXT.count("\n", 0, TEXT.index(right)) + 1
    assert same(fix_of(error).apply(broken), TEXT)


def test_a_type_that_begins_with_another_is_not_written_twice() -> None:
    (error,) = syntax_errors(TEXT.replace("float x", "float float16 x"))
    assert "twice" not in error.message


def test_a_comment_after_a_comma_is_not_taken_for_code() -> None:
    broken = TEXT.replace("[1, 2]", "[\n    1, # 3, 4\n    , # 5\n    2,\n  ]")
    (error,) = syntax_errors(broken)
    assert broken.splitlines()[line_of(error) - 1] == "    , # 5"


def parts(text: str) -> str:
    """Return a text with a record, a function, metadata and a resource."""
    return f"""\
<
  onnxtext: 1,
  ir_version: 8,
  opset_import: [17],
>
@set(
  node: [
    {{
      domain: "d"
      name: "n"
    }},
  ],
)
{text}

metadata {{
  node z {{
    a: \"\"\"
      File "x.py", line 3
          def f (x): return x
      \"\"\"
    b: "c"
  }}
}}
"""


GRAPH = """\
g (
  float x,
) => (
  float z,
) <
  float[2] w = [
    1, 2,
  ],
> {
  z = Op (
    x,
    w,
  )
  y = Op (x) <
    a = 1,
    b = [
      2, 3,
    ],
    c = 3,
  >
}"""
MISSING = {
    "the first line of inputs": ("  z = Op (\n", "    x,"),
    "the first line of a string": ('    a: """\n', '      File "x.py"'),
    "the end of a list of numbers": ("    1, 2,\n  ],\n", "    1, 2,\n", "    1, 2,"),
    "the end of an attribute": ("      2, 3,\n    ],\n", "      2, 3,\n", "      2, 3,"),
    "the end of the graph": ("  >\n}", "  >", ""),
    "a key": ('domain: "d"', '"d"', '      "d"'),
    "a value": ('domain: "d"', "domain:", "      domain:"),
    "a last value": ('name: "n"', "name:", "      name:"),
    "the outputs": (") => (\n  float z,\n) <\n", "", "  float[2] w = ["),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_part_is_one_error_at_its_place(name: str) -> None:
    old, *new, place = MISSING[name]
    broken = parts(GRAPH).replace(old, "".join(new), 1)
    (error,) = syntax_errors(broken)
    assert broken.splitlines()[line_of(error) - 1].startswith(place)
    assert (place == "") == (broken.splitlines()[line_of(error) - 1] == "")


def test_the_line_between_inputs_and_outputs_is_restored() -> None:
    signature = "g (\n  float x,\n) => (\n  float y,\n  float z,\n)"
    text = f"{signature} {{\n  t = Op (x)\n  y, z = Op (\n    x,\n    t,\n  )\n}}\n"
    broken = text.replace(") => (\n", "")
    (error,) = syntax_errors(broken)
    assert error.position == (3, 1)
    assert fix_of(error).apply(broken) == text


@pytest.mark.parametrize("gap", ["", "\n", "\n\n"])
def test_a_header_begins_in_the_blank_line_above(gap: str) -> None:
    (error,) = syntax_errors(f"{gap}  ir_version: 8,\n  opset_import: [17],\n\ng () => () {{}}\n")
    assert error.message == "a header must be in `<…>`"
    assert line_of(error) == 1


@pytest.mark.parametrize("code", ["<a", "= Add", "=> (", "{", "<int8", "[1", "8>"])
def test_code_in_a_comment_is_restored(code: str) -> None:
    text = "<ir_version: 8>\ng (x) => (y) <int8 w = [1]> {\n  y = Add <a = 1> (x)\n}\n"
    broken = text.replace(code, f"#{code}", 1)
    (error,) = syntax_errors(broken)
    assert error.message == "this `#` turns code into a comment"
    assert fix_of(error).apply(broken) == text


def test_a_string_that_is_cut_off_hides_brackets() -> None:
    head = 'g (float x) => (float "y) <\n'
    text = f"{head}  float w = 1,\n> {{\n  y = Op (x)\n}}\n"
    for size in range(head.index('"') + 2, head.index(")", 20)):
        (error,) = syntax_errors(text.replace(head, f"{head[:size]}\n"))
        assert error.message == "this string is never closed"


@pytest.mark.parametrize("lines", ["g (\n", "g (x) => (y) {\n", '"g" (x) => (y) <\n'])
def test_the_first_line_of_a_graph_in_the_header_is_moved(lines: str) -> None:
    rest = {"(": "  x,\n) => (y) {}\n", "{": "}\n", "<": "  int8 w,\n> {}\n"}[lines[-2]]
    header = '<\n  ir_version: 8,\n  opset_import: [17],\n  domain: "d",\n>\n'
    broken = header.replace("  opset", f"{lines}  opset") + rest
    (error,) = syntax_errors(broken)
    assert error.position == (3, 1)
    assert fix_of(error).apply(broken) == header + lines + rest
