# SPDX-License-Identifier: Apache-2.0
"""Typical errors of people: each has one message, on its line, and a fix that corrects the text."""

from __future__ import annotations

import pytest

import onnxtext
from onnxtext.diagnostics import Diagnostic, full
from tests.diagnostics.found import fix_of, syntax_errors
from tests.running import limited

H = "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
G = "g (float[N] x) => (float[N] y) {\n"
END = "  y = Relu (x)\n}\n"
FUNCTION = '\n<domain: "my", opset_import: [21]>\n'
IF = "g (bool c, float x) => (float y) {\n"
BRANCHES = """\
    then_branch = a () => (float p) {
      p = Abs (x)
    },
    else_branch = b () => (float q) {
      q = Neg (x)
    },
  >
}
"""


def node(line: str) -> str:
    """Return a model with this line, line 4, between two nodes."""
    return f"{H}{G}  t = Abs (x)\n{line}\n  y = Relu (t)\n}}\n"


def value(item: str) -> str:
    """Return a model with this item, in line 4, between two initializers."""
    return (
        f"{H}g (float[N] x) => (float[N] y) <\n  float a = 1,\n{item}\n  float z = 2,\n> {{\n{END}"
    )


def key(entry: str) -> str:
    """Return a model with an entry in its header, which is line 3."""
    return f"<\n  onnxtext: 1,\n{entry}\n  ir_version: 10,\n>\n{G}{END}"


def section(text: str) -> str:
    """Return a model with a text after its graph; it begins in line 6."""
    return f"{H}{G}{END}\n{text}"


FIXED = {
    "an imaginary number with an i": (
        value("  complex64[2] w = [1+2i, 3],"), (4, 21), "syntax-error",
        "  complex64[2] w = [1+2j, 3],",
    ),
    "imaginary numbers with an i": (
        value("  complex64[3] w = [2i, 1e3-2.5I, 3],"), (4, 21), "syntax-error",
        "  complex64[3] w = [0+2j, 1e3-2.5j, 3],",
    ),
    "a section in metadata": (
        section('metadata {\n  value x {\n    k: "v"\n  }\n\nquantization {\n  y: []\n}\n'),
        (10, 1), "unclosed-bracket", None,
    ),
    "a section among nodes": (
        f'{H}{G}  y = Relu (x)\n\nmetadata {{\n  value x {{\n    k: "v"\n  }}\n}}\n',
        (4, 1), "unclosed-bracket", None,
    ),
    "a misspelt section after another": (
        section('metadata {\n  node y {\n    k: "v"\n  }\n}\n\nquantisation {\n  y: []\n}\n'),
        (12, 1), "misspelt-keyword", "quantization {",
    ),
    "a misspelt kind of metadata": (
        section('metadata {\n  nodes y {\n    k: "v"\n  }\n}\n'),
        (7, 3), "syntax-error", "  node y {",
    ),
    "an unknown encoding of a resource": (
        section('resources {\n  "0123456789abcdef": Base64 "AAAA"\n}\n'),
        (7, 23), "syntax-error", '  "0123456789abcdef": base64 "AAAA"',
    ),
    "a metadata entry without a colon": (
        section('metadata {\n  node y {\n    k "v"\n  }\n}\n'),
        (8, 7), "syntax-error", '    k: "v"',
    ),
    "rows without a comma": (
        value("  float[2, 2] w = [\n    [1, 2]\n    [3, 4],\n  ],"),
        (5, 10), "syntax-error", "    [1, 2],",
    ),
    "a call of onnx.helper": (
        node("  u = helper.make_node('Elu', ['t'], ['u'], alpha=1.0)"),
        (4, 3), "not-a-name", "  u = Elu <alpha=1.0> (t)",
    ),
    "a function header among nodes": (
        f"{H}{G}  y = my.F (x)\n{FUNCTION}F (a) => (b) {{\n  b = Abs (a)\n}}\n",
        (4, 1), "unclosed-bracket", None,
    ),
    "several keys of a function header among nodes": (
        f'{H}{G}  y = my.F (x)\n\n<domain: "my", overload: "", opset_import: [21, "my": 1]>\n'
        "F (a) => (b) {\n  b = Abs (a)\n}\n",
        (4, 1), "unclosed-bracket", None,
    ),
    "parameters that are not closed": (
        f'{H}{G}{END}{FUNCTION}F <mode = "edge" (a) => (b) {{\n  b = Abs (a)\n}}\n',
        (7, 18), "unclosed-bracket", 'F <mode = "edge"> (a) => (b) {',
    ),
    "a domain in the name of a function": (
        f"{H}{G}{END}{FUNCTION}my.F (a) => (b) {{\n  b = Abs (a)\n}}\n",
        (7, 1), "syntax-error", "F (a) => (b) {",
    ),
    "a parameter with @": (
        f"{H}{G}{END}{FUNCTION}F <@alpha> (a) => (b) {{\n  b = Elu <alpha = @alpha> (a)\n}}\n",
        (7, 4), "wrong-mark", "F <alpha> (a) => (b) {",
    ),
    "a type variable": (
        f"{H}{G}{END}{FUNCTION}F (T a) => (b) {{\n  b = Abs (a)\n}}\n",
        (7, 4), "unknown-type", "F (a) => (b) {",
    ),
    "a comma before a label": (
        node("  t2 = Abs (x),\n  [l] u = Relu (t)"), (4, 15), "syntax-error", "  t2 = Abs (x)",
    ),
    "a comma before a decorator": (
        node('  t2 = Abs (x),\n  @doc("d")\n  u = Relu (t)'),
        (4, 15), "syntax-error", "  t2 = Abs (x)",
    ),
    "inputs without brackets before attributes": (
        f"{H}{IF}  y = If c <\n{BRANCHES}", (3, 10), "missing-bracket", "  y = If (c) <",
    ),
    "braces around nodes": (
        node("  {\n    u = Abs (t)\n  }"), (4, 3), "syntax-error", "    u = Abs (t)",
    ),
    "a string attribute without >": (
        node('  u = Pad <mode = "edge" (t, t)'),
        (4, 26), "unclosed-bracket", '  u = Pad <mode = "edge"> (t, t)',
    ),
    "a word attribute without >": (
        node("  u = Pad <mode = edge (t, t)"),
        (4, 24), "unclosed-bracket", '  u = Pad <mode = "edge"> (t, t)',
    ),
    "a list without ]": (
        node("  u = Conv <strides = [1, 1, pads = [0, 0]> (t, t)"),
        (4, 27), "unclosed-bracket", "  u = Conv <strides = [1, 1], pads = [0, 0]> (t, t)",
    ),
    "inputs with names": (
        node("  u = Gemm <alpha = 1.0> (A = x, B = t)"),
        (4, 27), "not-a-name", "  u = Gemm <alpha = 1.0> (x, t)",
    ),
    "a domain with ::": (
        node("  u = ai.onnx::Abs (t)"), (4, 7), "wrong-mark", "  u = ai.onnx.Abs (t)",
    ),
    "a domain with a slash": (
        node("  u = ai.onnx/Abs (t)"), (4, 7), "wrong-mark", "  u = ai.onnx.Abs (t)",
    ),
    "a domain with a hyphen": (
        node("  u = my-ops.Abs (t)"), (4, 7), "wrong-mark", '  u = "my-ops".Abs (t)',
    ),
    "outputs in brackets after a label": (
        node("  [l] (u, v) = Split (t)"), (4, 7), "wrong-mark", "  [l] u, v = Split (t)",
    ),
    "a type after the name of an output with a label": (
        node("  [l] u: float[N] = Abs (t)"),
        (4, 7), "misplaced-type", "  [l] float[N] u = Abs (t)",
    ),
    "a fraction": (
        node("  u = Elu <alpha = 1/2> (t)"), (4, 20), "syntax-error", "  u = Elu <alpha = 0.5> (t)",
    ),
    "an infinity of Python": (
        node("  u = Elu <alpha = math.inf> (t)"),
        (4, 20), "syntax-error", "  u = Elu <alpha = inf> (t)",
    ),
    "a tensor without brackets": (
        node("  u = Constant <value = float[1] 2.0> ()"),
        (4, 34), "missing-bracket", "  u = Constant <value = float[1] {2.0}> ()",
    ),
    "strings without quotes": (
        value("  string[2] s = {a, b},"),
        (4, 18), "unquoted-string", '  string[2] s = {"a", "b"},',
    ),
    "strings in single quotes": (
        value("  string[2] s = ['a', 'b c'],"),
        (4, 18), "single-quotes", '  string[2] s = {"a", "b c"},',
    ),
    "a fraction in a list": (
        value("  float[3] w = [1, 1/4, 2],"),
        (4, 20), "syntax-error", "  float[3] w = [1, 0.25, 2],",
    ),
    "a type after the name of a value": (
        f"{H}g (\n  float[N] x,\n  z float[N, 4],\n) => (float[N] y) {{\n{END}",
        (4, 3), "misplaced-type", "  float[N, 4] z,",
    ),
    "a decorator with a blank": (
        f'{H}g (\n  float[N] x,\n  @doc ("the z")\n  float[N] z,\n) => (float[N] y) {{\n{END}',
        (4, 3), "syntax-error", '  @doc("the z")',
    ),
    "a decorator without brackets": (
        f'{H}g (\n  float[N] x,\n  @doc "the z"\n  float[N] z,\n) => (float[N] y) {{\n{END}',
        (4, 3), "syntax-error", '  @doc("the z")',
    ),
    "a header with an equals sign": (
        f'<ir_version= 10, opset_import: ["": 21]>\n{G}{END}',
        (1, 12), "equals-for-colon", '<ir_version: 10, opset_import: ["": 21]>',
    ),
    "a field name in quotes": (
        key('  explicit: ["node.domain"],'), (3, 14), "wrong-mark", "  explicit: [node.domain],",
    ),
    "a field name without a list": (
        key("  explicit: node.domain,"), (3, 13), "syntax-error", "  explicit: [node.domain],",
    ),
    "a version with a point": (
        key("  model_version: 3.0,"), (3, 18), "syntax-error", "  model_version: 3,",
    ),
    "a producer without quotes": (
        key("  producer_name: by hand,"), (3, 18), "unquoted-string", '  producer_name: "by hand",',
    ),
    "a key with a blank": (
        key("  model version: 3,"), (3, 3), "wrong-mark", "  model_version: 3,",
    ),
    "opset imports as tuples": (
        key('  opset_import: [("", 21), ("ai.onnx.ml", 3)],'),
        (3, 18), "wrong-mark", '  opset_import: ["": 21, "ai.onnx.ml": 3],',
    ),
    "opset imports as dictionaries": (
        key('  opset_import: [{domain: "", version: 21}],'),
        (3, 18), "wrong-mark", '  opset_import: ["": 21],',
    ),
    "a missing brace of a metadata block": (
        section(
            'metadata {\n  value x {\n    k: "v"\n  node y {\n    k: "v"\n  }\n}\n\n'
            "quantization {\n  y: []\n}\n"
        ),
        (9, 3), "unclosed-bracket", "  }",
    ),
    "opset imports with commas": (
        key('  opset_import: ["", 18, "ai.onnx.ml", 3],'),
        (3, 20), "wrong-mark", '  opset_import: ["": 18, "ai.onnx.ml": 3],',
    ),
}  # fmt: skip
"""For each error: the text, line and column, code, and a line of the text that the fix gives."""

EXPLAINED = {
    "a section with an unknown name after another": (
        section('metadata {\n  node y {\n    k: "v"\n  }\n}\n\nquant {\n  y: []\n}\n'),
        (12, 1), "there is no section `quant`",
    ),
    "a surplus brace in metadata": (
        section('metadata {\n  node y {\n    k: "v"\n  }}\n  value x {\n    a: "b"\n  }\n}\n'),
        (9, 4), "unexpected `}`",
    ),
    "a metadata entry without a value": (
        section('metadata {\n  node y {\n    a: "b"\n    k:\n    l: "v"\n  }\n}\n'),
        (9, 6), "incomplete statement: expected a string after `:`",
    ),
    "a merge conflict in a string": (
        f'{H}@doc("""\n  a\n<<<<<<< HEAD\n  b\n=======\n  c\n>>>>>>> x\n  """)\n{G}{END}',
        (4, 1), "an unresolved merge conflict",
    ),
    "the output of onnx_ir": (
        "<\n    ir_version=10,\n    opset_imports={'': 21},\n>\ngraph(\n    name=main,\n)\n",
        (1, 1), "this is the output of onnx_ir",
    ),
    "a graph of TorchScript": (
        "graph(%x : Float(2)):\n  %y : Float(2) = onnx::Relu(%x)\n  return (%y)\n",
        (1, 1), "this is a graph of TorchScript",
    ),
    "the output of printable_graph": (
        "graph main_graph (\n  %x[FLOAT, Nx3]\n) {\n  %a = Conv[k=[1, 1]](%x)\n  return %a\n}\n",
        (1, 1), "this is the output of onnx.helper.printable_graph",
    ),
    "a configuration without a name": (
        section("configuration {\n  num_devices: 2\n}\n"),
        (6, 1), "the name of the configuration is missing",
    ),
    "attributes without < on the next lines": (
        f"{H}{IF}  y = If (c)\n{BRANCHES}", (3, 12), "the `<` before the attributes is missing",
    ),
    "a list of attributes without <": (
        f"{H}g (float[N, 4] x) => (float y) {{\n  y = Conv (x, x)\n    strides = [1, 1],\n"
        "    group = 1,\n  >\n}\n",
        (3, 17), "the `<` before the attributes is missing",
    ),
    "two lists of inputs": (
        node("  u = Abs (t) (x)"), (4, 15), "a node cannot have a second list of inputs",
    ),
    "a subscript": (node("  u = Slice (t)[0:1]"), (4, 16), "an output cannot have a subscript"),
    "a chain of methods": (node("  u = t.Abs ().Neg ()"), (4, 15), "an output has no methods"),
    "outputs after a node": (
        node("  [a] u = Abs (t) => (u)"), (4, 19), "the outputs of a node belong before",
    ),
    "attributes after the inputs": (
        node("  u = Softmax (t) axis = 1"), (4, 19), "the attributes of a node must be in `<…>`",
    ),
    "an expression after a label": (
        node("  [l] u = t + x"), (4, 13), "expressions are not supported",
    ),
    "an expression after a type": (
        node("  float[N] u = t * x"), (4, 18), "expressions are not supported",
    ),
    "a word on a line of its own": (node("  dropout"), (4, 3), "incomplete statement"),
    "an initializer without a type": (
        value("  w = [1, 2],"), (4, 3), "an initializer needs a type before its name",
    ),
    "a node as data": (
        value("  float[3] w = Constant <value_float = 1.0> (),"),
        (4, 16), "the data of an initializer must be written out",
    ),
    "a call as data": (
        value("  float[3] w = np.zeros (3),"),
        (4, 16), "the data of an initializer must be written out",
    ),
    "a name as data": (
        value("  float[8] w = zeros,"),
        (4, 16), "the data of an initializer must be written out, but `zeros` is a name",
    ),
    "nodes after <": (
        f"{H}g (float[N] x) => (float[N] y) <\n  y = Relu (x)\n}}\n",
        (2, 32), "expected `{`, found `<`",
    ),
    "a node with two outputs after <": (
        f"{H}g (float[N] x) => (float[N] y) <\n  y, z = Split <axis = 0> (x)\n}}\n",
        (2, 32), "expected `{`, found `<`",
    ),
    "a node with a type after <": (
        f"{H}g (float[N] x) => (float[N] y) <\n  float[N] y = Relu (x)\n}}\n",
        (2, 32), "expected `{`, found `<`",
    ),
    "an imaginary number in a float tensor": (
        value("  float[1] complex_w = [1+2i],"), (4, 25), "`1+2i` is not a number",
    ),
    "empty attributes": (
        node("  s = Abs <> (t)"), (4, 11), "the list in `<…>` must not be empty",
    ),
    "empty attributes on two lines": (
        node("  s = Abs <\n  > (t)"), (4, 11), "the list in `<…>` must not be empty",
    ),
    "empty parameters": (
        f'{H}{G}{END}\n<domain: "l", opset_import: [21]>\nF <> (a) => (b) {{\n  b = Abs (a)\n}}\n',
        (7, 3), "the list in `<…>` must not be empty",
    ),
    "a range of dimensions": (
        f"{H}g (float[1..3] x) => (y){END}", (2, 10), "`1..3` is not a dimension",
    ),
    "a function of MLIR": (
        f"{H}func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  y = Abs (x)\n}}\n",
        (2, 1), "`func @` does not belong here",
    ),
}  # fmt: skip
"""For each error without a fix: the text, line and column, and the beginning of the message."""


def place(item: Diagnostic, text: str) -> tuple[int, int]:
    """Return the line and column of an error."""
    start = item.labels[0].span.start
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


@pytest.mark.parametrize("name", FIXED)
def test_an_error_is_reported_once_and_its_fix_mends_the_text(name: str) -> None:
    text, expected, code, line = FIXED[name]
    (item,) = syntax_errors(text)
    assert (place(item, text), item.code) == (expected, code), item.message
    fixed = fix_of(item).apply(text)
    assert not syntax_errors(fixed)
    assert line is None or line in fixed.splitlines()


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_error_without_a_fix_is_explained_once(name: str) -> None:
    text, expected, message = EXPLAINED[name]
    (item,) = syntax_errors(text)
    assert place(item, text) == expected, item.message
    assert item.message.startswith(message)
    assert item.fix is None
    assert item.help


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (
            node("  s = Op <a = [1, 1.5, 2]> (t)"),
            "add `.0` to the first number, which makes it a float list",
        ),
        (
            f'{H}{G}{END}\nmetadata {{\n  model {{\n    k: "v"\n  }}\n}}\n',
            'write the model\'s entries in the header: `metadata_props: ["key": "value"]`',
        ),
    ],
)
def test_the_advice_leads_to_the_right_form(text: str, help: str) -> None:
    (item,) = syntax_errors(text)
    assert (item.help, item.fix) == (help, None)


@pytest.mark.parametrize(
    "line",
    ["  dropout", "  u = Cast (t) to int64", "  u = Slice (t)[0:1]", "  [l] (u, v) Split (t)"],
)
def test_no_safe_fix_joins_a_statement_and_the_next(line: str) -> None:
    for item in syntax_errors(node(line)):
        if item.fix is not None and item.fix.applicability == "safe":
            assert "  y = Relu (t)" in item.fix.apply(node(line)).splitlines()
            assert not syntax_errors(item.fix.apply(node(line)))


DEVICES = H.replace("10", "11") + G + END

RECORDS = {
    "a field of a configuration": (
        f'{DEVICES}\nconfiguration "c" {{\n  num_device: 2\n}}\n', (7, 3),
    ),
    "the type of a field of a configuration": (
        f'{DEVICES}\nconfiguration "c" {{\n  num_devices: "2"\n}}\n', (7, 3),
    ),
    "an argument of a decorator in a section": (
        section("order {\n  @initializers(w)\n}\n"), (7, 3),
    ),
    "an encoding habit": (key("  encoding: [pcked(attribute.ints)],"), (3, 14)),
    "a field of an encoding habit": (key("  encoding: [packed(attribute)],"), (3, 21)),
    "a field in explicit": (key("  explicit: [node.domian],"), (3, 14)),
    "a decorator after another": (node('  @doc("z")\n  @meta("a")\n  u = Abs (t)'), (5, 3)),
    "a decorator of a dimension": (
        f'{H}g (\n  @doc("z")\n  float[@denotation(BATCH) N] x,\n) => (float[N] y) {{\n{END}',
        (4, 9),
    ),
    "a field of an attribute": (
        node("  u = my.Op <\n    a = 1,\n    @set(nope: 1) b = 2,\n  > (t)"), (6, 10),
    ),
    "a field of an attribute as a record": (
        node("  u = my.Op <\n    a = {type: INT, nope: 1},\n  > (t)"), (5, 21),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_errors_in_records_are_reported_at_their_word(name: str) -> None:
    text, expected = RECORDS[name]
    (item,) = [item for item in onnxtext.check(text) if item.code == "invalid-record"]
    assert place(item, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<%s: 1>\ng () => () {}",
        "g () => () { y = Relu <a: %s = 1> (x) }",
        "g () => () {}\nmetadata { %s { } }",
        "g () => () {}\nmetadata { node %s { a: 'b' } }",
        "g () => () {}\ntraining { %s: 1 }",
        "g () => () <float[2] %s = {1}> {}",
    ],
)
def test_messages_truncate_long_names(text: str) -> None:
    found = onnxtext.check(text % ("n" * 100_000))
    assert found
    assert max(len(str(item)) for item in found) < 1000


def test_labels_and_helps_truncate_long_names() -> None:
    size = "n" * 1_000_000
    text = f"<ir_version: 10, opset_import: [21]>\ng (float[{size}] x) => (float[{size}, 2] y) "
    (found,) = onnxtext.check(f"{text}{{ y = Neg (x) }}\n")
    assert found.code == "shape-mismatch"
    with limited(2):
        assert len(full.render(found)) < 3000


def test_messages_keep_the_text_between_names() -> None:
    message = f"`x` {'is not ' * 30}`y`"
    assert Diagnostic("syntax-error", message).message == message


def test_long_names_that_differ_at_the_end_differ_in_messages() -> None:
    dims = ", ".join(letter * 41 for letter in "abcd")
    message = Diagnostic("c", f"`float[{dims}, 5]` is not `float[{dims}, 4]`").message
    start = f"float[{dims}"[:80]
    five, four = message.split(" is not ")
    assert five.startswith(f"`{start}…")
    assert five.endswith("d, 5]`")
    assert four.endswith("d, 4]`")


@pytest.mark.parametrize("name", ["a`b", "`", "`a", "a`", "a``b"])
def test_backticks_in_names_end_no_name(name: str) -> None:
    between = f"` {'is not ' * 30}`{name}` or `"
    assert Diagnostic("c", f"`{name}{between}y`").message == f"`{name}{between}y`"
    long = f"`{name}{between}{'l`n' * 99}`"
    assert Diagnostic("c", long).message == f"`{name}{between}{'l`n' * 26}l`…n{'l`n' * 13}`"


@pytest.mark.parametrize(
    ("mark", "code"),
    [("\u3000", "lookalike-character"), ("$", "wrong-mark"), ("'", "single-quotes")],
)
def test_a_wrong_mark_after_a_whole_header_is_not_an_incomplete_header(
    mark: str, code: str
) -> None:
    text = f"<\n  ir_version: 10,\n  opset_import: [21]\n>\n{mark}g () => () {{}}\n"
    (error,) = syntax_errors(text)
    assert error.code == code
    assert not syntax_errors(fix_of(error).apply(text))
