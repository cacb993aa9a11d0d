# SPDX-License-Identifier: Apache-2.0
"""One mistake gives one error at its place, and no safe fix with another meaning."""

from __future__ import annotations

import pytest

import onnxtext
from tests.diagnostics.found import errors, fix_of, syntax_errors
from tests.diagnostics.models import H, node, value

UNSAFE = {
    "empty braces": (
        node("  y = Relu {} (x)"), (3, 12), "syntax-error", "  y = Relu (x)",
    ),
    "a mistyped comma": (
        node("  y = Add (a< b)"), (3, 13), "syntax-error", "  y = Add (a, b)",
    ),
    "a decimal in a call": (
        node("  y = Softmax <axis = int(1.5)> (x)"), (3, 23), "misplaced-type",
        "  y = Softmax <axis = 1.5> (x)",
    ),
    "a list after a type": (
        node("  y = Softmax <axis = int[1, 1]> (x)"), (3, 23), "misplaced-type",
        "  y = Softmax <axis: ints = [1, 1]> (x)",
    ),
    "booleans as numbers": (
        value("float[2] w = [True, False]"), (3, 17), "python-literal", "  float[2] w = [1, 0]",
    ),
    "a mark after a boolean": (
        value("bool[2] s = [true+, false]"), (3, 20), "syntax-error",
        "  bool[2] s = [true, false]",
    ),
    "two equals signs without a value": (
        value("float[2] w=="), (3, 13), "wrong-mark", "  float[2] w=",
    ),
    "two decorators in brackets": (
        node('  @doc["a"]\n  @meta["k": "v"]\n  y = Relu (x)'), (3, 3), "syntax-error",
        '  @doc("a")',
    ),
    "one element in parentheses": (
        node("  y = Softmax <axis = (0)> (x)"), (3, 23), "wrong-mark",
        "  y = Softmax <axis = [0]> (x)",
    ),
    "a bracket after a number": (
        node("  y = Softmax <axis = 0]> (x)"), (3, 23), "missing-bracket",
        "  y = Softmax <axis = [0]> (x)",
    ),
    "a number in single quotes": (
        node("  y = Softmax <axis = '0'> (x)"), (3, 23), "single-quotes",
        '  y = Softmax <axis = "0"> (x)',
    ),
    "a word in place of an operator": (
        node("  y = nicht x"), (3, 13), "missing-bracket", "  y = nicht (x)",
    ),
    "an attribute in JSON": (
        node('  y = Softmax {"axis": 0} (x)'), (3, 15), "wrong-mark",
        "  y = Softmax <axis = 0> (x)",
    ),
    "attributes in MLIR": (
        node("  y = Softmax <axis = 0 : si64> (x)"), (3, 25), "misplaced-type",
        "  y = Softmax <axis = 0> (x)",
    ),
    "a node in parentheses": (
        node("  (y = Relu (x))"), (3, 3), "wrong-mark", "  y = Relu (x)",
    ),
    "a node in brackets": (
        node("  [y = Relu (x)]"), (3, 3), "wrong-mark", "  y = Relu (x)",
    ),
    "a colon after a node": (
        node("  y = Relu (x):"), (3, 15), "syntax-error", "  y = Relu (x)",
    ),
    "letters in a negative number": (
        value("float[2] w = [-O.5, 1]"), (3, 17), "syntax-error",
        "  float[2] w = [-0.5, 1]",
    ),
    "a graph without a name": (
        node("  y = If (c) <\n    then_branch = () => (z) {\n      z = Abs (x)\n    },\n  >"),
        (4, 19), "syntax-error", "    then_branch = g () => (z) {",
    ),
    "a label after a decorator without its bracket": (
        node('  @doc("a")\n  n] y = Relu (x)'), (4, 3), "syntax-error", "  [n] y = Relu (x)",
    ),
    "a header of a function without its bracket": (
        node("  y = Relu (x)").rstrip() + '\ndomain: "my"> f (a) => (b) {\n  b = Abs (a)\n}\n',
        (5, 1), "wrong-mark", '<domain: "my"> f (a) => (b) {',
    ),
    "a decorator without parentheses": (
        node('  @meta "k": "v"\n  y = Relu (x)'), (3, 3), "syntax-error", '  @meta("k": "v")',
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", UNSAFE)
def test_doubtful_fixes_are_unsafe(mistake: str) -> None:
    text, position, code, line = UNSAFE[mistake]
    (error,) = syntax_errors(text)
    assert (error.position, error.code) == (position, code)
    assert fix_of(error).applicability == "unsafe"
    fixed = fix_of(error).apply(text)
    assert fixed.splitlines()[position[0] - 1] == line


WITHOUT_FIX = {
    "a decorator after the last node": (
        node('  y = Relu (x) @doc("a")'), (3, 16), "a decorator belongs before its node",
    ),
    "a decorator after a last node of several lines": (
        node('  y = Relu (\n    x\n  ) @doc("a")'), (5, 5), "a decorator belongs before its node",
    ),
    "a decorator of an output": (
        node('  v, @meta("k": "v") y = Split <num_outputs = 2> (x)'), (3, 6),
        "expected `=`, a name or `,`, found `@meta(`",
    ),
    "an attribute without its value": (
        node("  y = Softmax <axis => (x)"), (3, 21),
        "expected `:` or `=`, found `=>`",
    ),
    "an attribute without its name": (
        node("  y = Softmax <= 1> (x)"), (3, 16), "expected a name, found `=`",
    ),
    "a brace among the nodes": (
        node("  t = Relu (x)\n  }\n  [n] u = Abs (t)\n  y = Relu (u)"), (4, 3),
        "unexpected `}`: it closes the graph",
    ),
    "a brace before a decorated node": (
        node('  t = Relu (x)\n  }\n  @doc("d")\n  y = Relu (t)'), (4, 3),
        "unexpected `}`: it closes the graph",
    ),
    "letters in a digest": (
        value('float[2] w = blob"0123456789abxyz"'), (3, 20),
        "a blob needs 16 to 64 lower-case hexadecimal digits",
    ),
    "a subscript": (node("  y = x[0]"), (3, 8), "a value cannot have a subscript"),
    "a subscript of an input": (
        node("  y = Relu (x[0])"), (3, 14), "a value cannot have a subscript",
    ),
    "a node in protobuf text": (
        node('  node {\n    input: "x"\n    op_type: "Relu"\n  }\n  y = Relu (x)'), (3, 3),
        "this is protobuf text, not a node",
    ),
    "a node in JSON": (
        node('  {"op_type": "Relu", "input": ["x"]},\n  y = Relu (x)'), (3, 3),
        "this is JSON, not a node",
    ),
    "two nodes in TorchScript": (
        node("  %t : Float(2, 3) = onnx::Abs(%x)\n  %u : Tensor = onnx::Abs(%t)\n  y = Abs (x)"),
        (3, 3), "this is TorchScript, not a node",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WITHOUT_FIX)
def test_mistakes_without_a_fix(mistake: str) -> None:
    text, position, message = WITHOUT_FIX[mistake]
    (error,) = syntax_errors(text)
    assert (error.position, error.message, error.fix) == (position, message, None)


def test_the_same_mistake_in_two_nodes_gives_one_error_in_each() -> None:
    lines = "  t = Softmax <axis = int(0)> (x)\n  y = Softmax <axis = int(0)> (t)"
    assert [error.position for error in syntax_errors(node(lines))] == [(3, 23), (4, 23)]


@pytest.mark.parametrize("literal", ["int64(1.5)", "float32[2] {1, true}"])
def test_a_safe_fix_leaves_no_error(literal: str) -> None:
    text = node(f"  y = Constant <value = {literal.replace('int64', 'long')}> ()")
    for error in syntax_errors(text):
        if error.fix is not None and error.fix.applicability == "safe":
            assert not syntax_errors(error.fix.apply(text))


SAFE = {
    "an arrow": (node("  y -> Relu (x)"), "  y = Relu (x)"),
    "an arrow before data": (value("float[2] w -> [1, 2]"), "  float[2] w = [1, 2]"),
    "a part of an arrow": (
        node("  y = Relu (x)").replace("=> (", "> ("), "  y = Relu (x)",
    ),
    "a comment before a decorator": (
        node("  y = Relu (x)").replace("\ng (", '\n// words\n@doc("d")\ng ('), "# words",
    ),
    "a version with a letter": (
        node("  y = Relu (x)").replace("10", "v10"), H.rstrip("\n"),
    ),
    "dimensions in several brackets": (
        value("float[2][3][4] w = [0, ...]"), "  float[2, 3, 4] w = [0, ...]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", SAFE)
def test_safe_fixes_restore_the_text(mistake: str) -> None:
    text, line = SAFE[mistake]
    (error,) = syntax_errors(text)
    assert fix_of(error).applicability == "safe"
    fixed = fix_of(error).apply(text)
    assert line in fixed.splitlines()
    assert not syntax_errors(fixed)


def test_a_surplus_comma_before_a_node_gives_one_error() -> None:
    (error,) = errors(node("  , y = Relu (x)"))
    assert error.code == "output-count"


def test_a_dropped_type_does_not_drop_the_end_of_its_list() -> None:
    values = "".join(f"  float[2] w{number} = [1, 2],\n" for number in range(20))
    head = "g (float[2] x) => (Nullable[float[2]] y) <"
    (error,) = syntax_errors(f"{H}{head}\n{values}> {{\n  y = Relu (x)\n}}\n")
    assert error.position == (2, 28)


def test_a_decorated_omitted_output_survives() -> None:
    text = node(
        '  @meta("k": "v")\n  "", t = Split <num_outputs = 2> (x)\n  y = Concat <axis = 0> (t, t)'
    )
    assert not errors(text)
    data = onnxtext.to_binary(text)
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        (node("  y = Relu (x)") + 'metadata {\n  node y {\n    a: "1"\n    a: "2"\n  }\n}\n', [8]),
        (
            node("  [n] t = Relu (x)\n  y = Relu (t)")
            + 'metadata {\n  node [n] {\n    a: "1"\n  }\n  value x {\n    a: "1"\n    a: "2"\n'
            '  }\n  node y {\n    "a": "1"\n    b: "1"\n    "a": "2"\n  }\n}\n',
            [12, 17],
        ),
        (node('  @meta("a": "1", "b": "1",\n    "a": "2")\n  y = Relu (x)'), [4]),
        (
            node("  y = Relu (x)")
            + 'metadata {\n  node y {\n    "a\\"b": "1"\n    "a\\"b": "2"\n  }\n}\n',
            [8],
        ),
    ],
)  # fmt: skip
def test_a_repeated_metadata_key_is_marked(text: str, positions: list[int]) -> None:
    found = [item for item in onnxtext.check(text) if item.code == "metadata-key-duplicate"]
    assert [item.position.line for item in found if item.position] == positions
    assert all(item.position and item.position.column == 5 for item in found)
