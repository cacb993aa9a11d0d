# SPDX-License-Identifier: Apache-2.0
"""A line that was moved to another context is one error that names what the line is."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import fix_of, syntax_errors
from tests.running import limited

TEXT = """\
<
  ir_version: 10,
  opset_import: [21],
>
g (
  float[2] x,
) => (
  float[2] y,
) <
  float[2, 2] w = [
    [1, 2],
    [3, 4],
  ],
> {
  a = Concat <
    axis = 0,
    to = 1,
  > (
    x,
    x,
  )
  b = Relu (a)
  y = MatMul (b, w)
}
"""
HEADER = "<ir_version: 10, opset_import: [21]>\n"
NODE = "  z = Relu (x)"
NODES = "  z = Relu (x)\n  z2 = Cast <to = 1> (\n    z,\n  )"
ENTRY = '  domain: "d",'
INITIALIZER = "  int64[2] v = [1, 2],"
NAMES = {
    NODE: "a node", NODES: "a node", ENTRY: "an entry of a header",
    "  float[2] v,": "the declaration of a value", INITIALIZER: "an initializer",
    "const float[2] v = {1, 2};": "an initializer", "    [5, 6],": "a row of numbers",
}  # fmt: skip
PLACES = {
    NODE: (2, 3, 6, 8, 11, 17, 20), NODES: (3, 6, 8, 11, 20), ENTRY: (6, 8, 11, 13, 17, 20, 22),
    "  float[2] v,": (3, 11, 17), INITIALIZER: (3, 11, 17, 22),
    "const float[2] v = {1, 2};": (22,), "    [5, 6],": (22,),
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "number"), [(line, number) for line, numbers in PLACES.items() for number in numbers]
)
def test_a_line_in_a_wrong_place_is_one_error(line: str, number: int) -> None:
    lines = TEXT.split("\n")
    lines.insert(number, line)
    (error,) = syntax_errors("\n".join(lines))
    assert error.message == f"{NAMES[line]} does not belong here"
    assert error.position == (number + 1, len(line) - len(line.lstrip()) + 1)
    assert error.help
    assert error.labels[1].message == "in this bracket"


def graph(nodes: str) -> str:
    return f"{HEADER}g (float[2] x) => (float[2] y) {{\n{nodes}\n}}\n"


LONG = ",\n".join(["1.5"] * 600)
AMONG_NODES = {
    "initializers between nodes": (
        "  float[2] w = {1, 2}\n  a = Add (x, w)\n  float[2] b = {3, 4}\n  y = Add (a, b)",
        ["an initializer does not belong here"] * 2,
    ),
    "declarations between nodes": (
        "  float[2] t\n  a = Add (x, x)\n  float[2] u\n  y = Add (x, a)",
        ["the declaration of a value does not belong here"] * 2,
    ),
    "declarations and nodes with semicolons": (
        "  float[2] t;\n  a = Add (x, x)\n  y = Add (x, a);",
        [
            "the declaration of a value does not belong here",
            "unexpected `;`: statements do not end with punctuation",
        ],
    ),
    "two initializers on a line": (
        "  float[2] w = [1, 2]; float[2] v = [1, 2]\n  y = Add (x, w)",
        ["an initializer does not belong here"] * 2,
    ),
    "an initializer of C before an incomplete node": (
        "  const float[2] w = [1, 2]\n  y = Add (x, w)\n  z = Foo",
        [
            "an initializer does not belong here",
            "incomplete statement: expected `:`, `.`, `<` or `(` after `Foo`",
        ],
    ),
    "many initializers": (
        "\n".join(f"  float[2] w{n} = [1, 2]" for n in range(8)) + "\n  y = Add (x, w1)",
        ["an initializer does not belong here"],
    ),
    "an initializer before a node without a comma": (
        "  float[2] w = [1, 2]\n  y = Add (x w)",
        ["an initializer does not belong here", "expected `,` or `)`, found `w`"],
    ),
    "a long initializer": (
        f"  float[600] w = [{LONG}]\n  y = Add (x, w)", ["an initializer does not belong here"],
    ),
    "initializers in two subgraphs": (
        "  y = If (c) <then_branch = t () => (a) {\n    float[2] w = [1, 2]\n    a = Add (x, w)\n"
        "  }, else_branch = e () => (b) {\n    float[2] w = [1, 2]\n    b = Add (x, w)\n  }>",
        ["an initializer does not belong here"] * 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", AMONG_NODES)
def test_initializers_and_declarations_among_nodes_are_named_beside_other_errors(kind: str) -> None:
    nodes, messages = AMONG_NODES[kind]
    assert [error.message for error in syntax_errors(graph(nodes))] == messages


def test_a_type_among_the_inputs_of_a_node_is_removed() -> None:
    inputs = "  y = Concat <axis = 0> (\n    x,\n    float[2] x,\n    x\n  )"
    text = graph(inputs)
    (error,) = syntax_errors(text)
    assert fix_of(error).apply(text) == text.replace("    float[2] x,", "    x,")


def test_the_help_for_an_entry_in_a_function_names_functions() -> None:
    function = '<domain: "my">\nf (x) => (y) {\n  opset_import: [21],\n  y = Relu (x)\n}\n'
    (error,) = syntax_errors(graph("  y = my.f (x)") + function)
    assert error.help == "move it into the `<…>` before the graph or function"


SLOW = {
    "open nodes on a line": " ".join(f"a{n} = Relu (x" for n in range(8000)),
    "open nodes and initializers": "z = Relu (x,\n" + "float[2] x = [1],\n(\n" * 200,
}


@pytest.mark.parametrize("kind", SLOW)
def test_each_line_is_read_once(kind: str) -> None:
    with limited(2.5):
        assert syntax_errors(graph(SLOW[kind]))


def test_a_semicolon_before_an_equals_sign_is_removed() -> None:
    text = graph("  float[2] y; = Relu (x)")
    (error,) = syntax_errors(text)
    assert fix_of(error).apply(text) == text.replace(";", "")


def test_a_subscript_after_a_node_is_no_row_of_numbers() -> None:
    (error,) = syntax_errors(graph("  y = Relu (x)[0]"))
    assert error.message == "an output cannot have a subscript"
