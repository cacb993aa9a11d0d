# SPDX-License-Identifier: Apache-2.0
"""Fixes give the intended text, and `safe` fixes keep the intended meaning."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import fix_of, help_of, line_of, syntax_errors
from tests.diagnostics.test_typical_errors import (
    BRANCHES,
    END,
    FUNCTION,
    IF,
    G,
    H,
    key,
    node,
    place,
    value,
)


def inputs(items: str) -> str:
    """Return a model whose graph has these inputs, in line 2."""
    return f"{H}g ({items}) => (float[N] y) {{\n{END}"


def function(head: str) -> str:
    """Return a model with a function whose beginning, in line 7, is given."""
    return f"{H}{G}{END}{FUNCTION}{head} => (b) {{\n  b = Abs (a)\n}}\n"


def reference(attribute: str) -> str:
    """Return a model with a function whose node has this attribute."""
    return function("F <alpha> (a)").replace("Abs", f"Elu <{attribute}>")


UNSAFE = {
    "a comma after the type of an attribute at the end of a line": (
        node("  u = Foo <\n    a: int\n    t = float[1] {1}> (t)"), "    a: int,",
    ),
    "a comma after an extra comma": (
        node("  u = Add (t, x)\n  y = Add (,t x)"), "  y = Add (,t, x)",
    ),
    "a type of an attribute that is perhaps cut off": (
        node("  u = Foo <\n    floats\n    t = [1]> (t)"), "    t: floats = [1]> (t)",
    ),
    "dimensions that are perhaps written twice": (
        node("  float[2, 3] [2, 3] u = Foo (t)"), "  float[2, 3, 2, 3] u = Foo (t)",
    ),
    "a `#` in a value": (
        "<\n  onnxtext: 1,\n  ir_version: 1#0,\n  opset_import: [21],\n>\ng () => () {}\n",
        "  ir_version: 10,",
    ),
    "a foreign name of a narrow type before bare integers, which are bits": (
        node("  u = Constant <value = half[2] {1, 2}> ()"),
        "  u = Constant <value = float16[2] {1, 2}> ()",
    ),
    "an initializer with such a type": (value("  half[1] w = {1},"), "  float16[1] w = {1},"),
    "a number with a suffix that may be a digit": (
        node("  u = Foo <axis = 2l> (t)"), "  u = Foo <axis = 2> (t)",
    ),
    "an attribute that lacks its type before a parameter": (
        node("  u = Cast <to:= @target> (t)"), "  u = Cast <to= @target> (t)",
    ),
    "a pasted part of a declaration": (
        value("float[2] v,\nfloat[2] not\n  float[2] w,"), "float[2] not,",
    ),
    "a dimension that may be written twice, after a decorator": (
        value('float[@denotation("d") ? ?] w,'), 'float[@denotation("d") ?, ?] w,',
    ),
    "a declaration that may be cut off": (
        value("float[2] v,\n  float degr\n  float[2] w,"), "  float degr,",
    ),
    "an arrow between the items of a decorator, which may be a comma": (
        f"{H}@value_info(inputs, values=> outputs)\n{G}{END}",
        "@value_info(inputs, values: outputs)",
    ),
    "a tuple with one element": (
        node("  u = Cast <to = (1,)> (t)"), "  u = Cast <to = [1]> (t)",
    ),
    "elements in parentheses in a text with elements in braces": (
        value("  float[2] v = {1, 2},\n  int64[2] w = (1, 2),"), "  int64[2] w = [1, 2],",
    ),
    "a fraction as a dimension": (
        inputs("float[N] x, float[N, 1/2] z"),
        'g (float[N] x, float[N, "1/2"] z) => (float[N] y) {',
    ),
    "an unknown name before a type that may be a name": (
        inputs("float[N] x, Foo float, int64 z"),
        "g (float[N] x, float Foo, int64 z) => (float[N] y) {",
    ),
    "a mark in place of an input": (node("  u = Foo (%t, %)"), "  u = Foo (t, )"),
    "an invisible character in place of a blank": (
        inputs("float[N] x, int8\u200bz, int64 v"),
        "g (float[N] x, int8z, int64 v) => (float[N] y) {",
    ),
    "a number in place of the name of a parameter": (
        function("F <1.0> (a)").replace("10,", '10, producer_version: "1.0",', 1),
        'F <"1.0"> (a) => (b) {',
    ),
    "a word for an equals sign": (
        node('  u = Op <modeequals"a"> (t)'), '  u = Op <modeequals = "a"> (t)',
    ),
    "a node that lacks its operator": (node("  u :\"\" <axis = 1> (t)"), None),
    "an output that is called like a type, and its operator after it": (
        node("  half Div = (t, t)"), "  half = Div (t, t)",
    ),
    "such an output and a quoted operator": (
        node('  half "Div" = (t, t)'), '  float16 "Div" = (t, t)',
    ),
    "such an output, and attributes after the operator": (
        node("  half Elu = <alpha = 1.0> (t)"), "  half = Elu <alpha = 1.0> (t)",
    ),
    "an integer of a narrow type in parentheses": (
        inputs("float[N] x, float16 c = (1)"), "g (float[N] x, float16 c = {1}) => (float[N] y) {",
    ),
    "a misplaced comma": (node("  u = Clip (t, ,x t)"), "  u = Clip (t, ,x, t)"),
    "a tensor of strings without its bracket": (
        node('  u = Constant <value = string[1] "a"]> ()'),
        '  u = Constant <value = [string[1] "a"]> ()',
    ),
    "hexadecimal bits of a float": (
        value("  float[1] w = {0X7f800001},"), "  float[1] w = {2139095041},",
    ),
    "a comment within a line": (
        node("  u = Foo <a = 1 /* why */, b = 2> (t)"), "  u = Foo <a = 1 , b = 2> (t)",
    ),
    "an input that is written twice": (inputs("float[N] x x"), "g (float[N] x) => (float[N] y) {"),
    "an argument that is written twice": (node("  u = Add (x x, x)"), "  u = Add (x, x)"),
    "a name with a blank": (inputs("float[N] x, bool the flag"), None),
    "a word before a type": (inputs("float[N] x, b int64 n"), None),
    "two names with marks that are names": (node("  u = Add (x.t, t)"), '  u = Add ("x.t", t)'),
    "a mark after a name": (inputs("float[N] x?"), "g (float[N] x) => (float[N] y) {"),
    "a point for a comma": (
        inputs("\n  float[N] x.\n  float[N] z"), "  float[N] x,",
    ),
    "a colon for a comma": (inputs("\n  float[N] x:\n  float[N] z"), "  float[N] x,"),
    "a hyphen in the name of an attribute": (
        node("  u = Conv <kernel-shape = [3, 3]> (x, t)"),
        "  u = Conv <kernel_shape = [3, 3]> (x, t)",
    ),
    "a decimal comma": (
        node("  u = Elu <alpha = 0,5> (t)"), "  u = Elu <alpha = [0,5]> (t)",
    ),
    "a surplus ] after a list": (value("  float[2] w = [1, 2]],"), "  float[2] w = [1, 2],"),
    "a surplus ] after the list of an attribute": (
        node("  u = Constant <value = float[2] [1, 2]]> ()"),
        "  u = Constant <value = float[2] [1, 2]> ()",
    ),
    "a misspelled blob": (
        value('  float[2] w = bolb"af5570f5a1810b7a",'),
        '  float[2] w = blob"af5570f5a1810b7a",',
    ),
    "a number in quotes": (
        value('  float[3] w = [0, 1, "0"],'), "  float[3] w = [0, 1, 0],",
    ),
    "booleans in quotes": (
        value('  bool[2] w = ["true", "false"],'), "  bool[2] w = [true, false],",
    ),
    "a letter for a digit": (value("  float[3] w = [0, 1, O],"), "  float[3] w = [0, 1, 0],"),
    "a letter in a number": (value("  float[2] w = [0.l25, 1],"), "  float[2] w = [0.125, 1],"),
    "a blank in the name of an attribute": (
        node("  u = Conv <kernel shape = [3, 3]> (x, t)"),
        "  u = Conv <kernel_shape = [3, 3]> (x, t)",
    ),
    "a blank in a word": (
        node("  u = Softmax <ax is = 1> (t)"), "  u = Softmax <axis = 1> (t)",
    ),
    "a boolean as a tensor": (
        node("  u = Constant <value = true> ()"), "  u = Constant <value = bool(true)> ()",
    ),
    "an attribute with @": (
        node("  u = Softmax <@axis = 1> (t)"), "  u = Softmax <axis = 1> (t)",
    ),
    "a parameter without @": (
        reference("alpha: float = alpha"), "  b = Elu <alpha: float = @alpha> (a)",
    ),
    "a parameter with a dollar sign": (
        reference("alpha: float = $alpha"), "  b = Elu <alpha: float = @alpha> (a)",
    ),
    "an equals sign between quoted inputs": (
        node('  u = Add ("x"= "t")'), '  u = Add ("x", "t")',
    ),
    "brackets after a scalar type": (
        inputs("float[N] x, bool() c"), "g (float[N] x, bool c) => (float[N] y) {",
    ),
    "a label after a type": (node("  float[2] [l] u = Abs (t)"), "  [l] float[2] u = Abs (t)"),
    "a label after an output": (node("  u [l] = Abs (t)"), "  [l] u = Abs (t)"),
    "a label without [": (node("  l] u = Abs (t)"), "  [l] u = Abs (t)"),
    "a label in two pairs of brackets": (node("  [[l]] u = Abs (t)"), "  [l] u = Abs (t)"),
    "a label of two words": (node("  [a b] u = Abs (t)"), '  ["a b"] u = Abs (t)'),
    "the word initializer": (
        value("  initializer float[2] w = [1, 2],"), "  float[2] w = [1, 2],",
    ),
    "the word call": (node("  u = call my.F (t)"), "  u = my.F (t)"),
    "outputs after return in parentheses": (
        f"{H}{G}  y = Abs (x)\n  return (y)\n}}\n", "  y = Abs (x)",
    ),
    "a name of two words": (f"{H}my {G}{END}", '"my g" (float[N] x) => (float[N] y) {'),
    "the name of the main graph with a point": (
        f"{H}my.{G}{END}", '"my.g" (float[N] x) => (float[N] y) {',
    ),
    "a path with slashes": (
        f"{H}{IF}  y = If (c) <\n{BRANCHES}"
        'metadata {\n  node y/then_branch/p {\n    k: "v"\n  }\n}\n',
        "  node y.then_branch.p {",
    ),
    "dimensions with a multiplication sign": (
        inputs("float[N] x, float[N\u00d73] z"), "g (float[N] x, float[N, 3] z) => (float[N] y) {",
    ),
    "dimensions with x": (
        inputs("float[N] x, float[N x 3] z"), "g (float[N] x, float[N, 3] z) => (float[N] y) {",
    ),
    "dimensions with a colon": (
        inputs("float[N] x, float[2:3] z"), "g (float[N] x, float[2, 3] z) => (float[N] y) {",
    ),
    "a minus sign for a bracket": (
        node("  u = Squeeze <axes = -3]> (t)"), "  u = Squeeze <axes = [-3]> (t)",
    ),
    "a point for a comma between attributes": (
        node("  u = Gemm <transA = 1. transB = 1> (t, x)"), None,
    ),
    "a statement after a semicolon": (key("  ;model_version: 1,"), None),
    "a colon before a comma": (
        inputs("float[N] x, float[N] z:, float[N] w"),
        "g (float[N] x, float[N] z, float[N] w) => (float[N] y) {",
    ),
    "a string after a value": (value('  float[2] w = [1, 2], "s"'), None),
    "a label without brackets": (node("  a: u = Abs (t)"), "  [a] u = Abs (t)"),
    "a slash in an operator": (node("  u = Soft/max (t)"), None),
    "a boolean as the version of the IR": (
        f"{H}{G}{END}".replace("ir_version: 10", "ir_version: True"),
        "<onnxtext: 1, ir_version: 1, opset_import: [21]>",
    ),
    "a comma before a repeated key": (
        key("  model_version: 1\n  model_version: 2,"), "  model_version: 1,",
    ),
    "an empty pair of parentheses among the inputs": (
        node("  u = Clip (t, (), x)"), "  u = Clip (t, , x)",
    ),
    "a letter or digit that looks like another": (
        inputs("float[N] x, float[N] x\u3007"),
        'g (float[N] x, float[N] "x\u3007") => (float[N] y) {',
    ),
    "a mark for a comma after an unknown dimension": (
        inputs("float[N] x, float[?/ 16] z"), 'g (float[N] x, float["?/ 16"] z) => (float[N] y) {',
    ),
    "a mark for a comma before a blank": (
        inputs("float[N] x, float[N/ 3] z"), 'g (float[N] x, float["N/ 3"] z) => (float[N] y) {',
    ),
    "dimensions in wrong brackets that may be a number": (
        node("  u = Constant <value = float<100>> ()"), "  u = Constant <value = float[100]> ()",
    ),
    "a list of dimensions in wrong brackets that may be numbers": (
        node("  u = Op <a = [float<100>]> (x)"), "  u = Op <a = [float[100]]> (x)",
    ),
    "bytes, which may have a sign": (
        inputs("float[N] x, byte[N] z"), "g (float[N] x, uint8[N] z) => (float[N] y) {",
    ),
    "a control character in a name": (node("  u = Mat\0Mul (x, t)"), "  u = MatMul (x, t)"),
}  # fmt: skip
"""For each error: the text, and a line of the text that the fix gives."""

SAFE = {
    "the type of an attribute before its name": (
        node("  u = Foo <a = 1, int b = 2> (t)"), "  u = Foo <a = 1, b: int = 2> (t)",
    ),
    "two types after names of outputs": (
        node("  u float[1], v float[1] = Split <num_outputs = 2> (t)"),
        "  float[1] u, float[1] v = Split <num_outputs = 2> (t)",
    ),
    "an empty string after `:` in attributes": (
        node('  u = Foo <mode: "", axis = 1> (t)'), '  u = Foo <mode = "", axis = 1> (t)',
    ),
    "a node of MLIR": (node("  %u = onnx.Add(%t, x)"), "  u = Add(t, x)"),
    "a node of a domain that is called like the prefix in MLIR": (
        node("  %u = onnx.Add(%t, x)").replace("[21", '[21, "onnx": 1', 1), "  u = onnx.Add(t, x)",
    ),
    "a colon before a tensor": (
        node("  u = Constant <value: float[2] [0, 0]> ()"),
        "  u = Constant <value = float[2] [0, 0]> ()",
    ),
    "an arrow for the colon of a key in a decorator": (
        f'{H}@value_info(inputs, without=> ["a"])\n{G}{END}',
        '@value_info(inputs, without: ["a"])',
    ),
    "the prefix of MLIR in a string": (
        node('  %u = Foo <doc = "v = onnx.Add"> (%t)'), '  u = Foo <doc = "v = onnx.Add"> (t)',
    ),
    "the prefix of MLIR in a comment": (
        node("  %u = onnx.Foo (%t) # v = onnx.Add"), "  u = Foo (t) # v = onnx.Add",
    ),
    "a node of MLIR in a text with a domain that ends in onnx": (
        node("  %u = onnx.Add(%t, x)").replace("[21", '[21, "ai.onnx": 1', 1), "  u = Add(t, x)",
    ),
    "a mark before a node": (node("  $ u = Relu (t)"), "   u = Relu (t)"),
    "a mark at the end of a line": (node("  u = Relu (t)$"), "  u = Relu (t)"),
    "an invisible character beside a comment with another": (
        node("  u = Relu (\u200bt) # a\u200bb"), "  u = Relu (t) # a\u200bb",
    ),
    "an invisible character in a name": (node("  u = Relu (t\u200b)"), "  u = Relu (t)"),
    "the type of the last output after its name": (
        node("  u, v float[2] = Split (t)"), "  u, float[2] v = Split (t)",
    ),
    "the type of the first output after its name": (
        node("  u float[2], v = Split (t)"), "  float[2] u, v = Split (t)",
    ),
    "a suffix of C that is no digit": (
        node("  u = Foo <axis = 2ul> (t)"), "  u = Foo <axis = 2> (t)",
    ),
    "a decimal of a narrow type in parentheses": (
        inputs("float[N] x, float16 c = (1.5)"),
        "g (float[N] x, float16 c = {1.5}) => (float[N] y) {",
    ),
    "a name that occurs elsewhere": (
        f'{H}g (float[N] "a/b") => (float[N] y) {{\n  y = Relu (a/b)\n}}\n',
        '  y = Relu ("a/b")',
    ),
    "a blob with a blank": (
        value('  float[2] w = blob "af5570f5a1810b7a",'),
        '  float[2] w = blob"af5570f5a1810b7a",',
    ),
    "a blob with upper-case digits": (
        value('  float[2] w = blob"AF5570F5A1810B7A",'),
        '  float[2] w = blob"af5570f5a1810b7a",',
    ),
    "a blob without its closing quote": (
        value('  float[2] w = blob"af5570f5a1810b7a,') + '\nquantization {\n  a: ["k": "v"]\n}\n',
        '  float[2] w = blob"af5570f5a1810b7a",',
    ),
    "a blob without its opening quote": (
        value('  float[2] w = blobaf5570f5a1810b7a",'),
        '  float[2] w = blob"af5570f5a1810b7a",',
    ),
    "elements in parentheses": (value("  int64[2] w = (1, 2),"), "  int64[2] w = [1, 2],"),
    "a boolean in upper case": (value("  bool[1] w = [TRUE],"), "  bool[1] w = [true],"),
    "a boolean of Python": (
        node("  u = Constant <value = bool(True)> ()"), "  u = Constant <value = bool(true)> ()",
    ),
    "the type of an attribute without :": (
        node("  u = Elu <alpha float = 0.1> (t)"), "  u = Elu <alpha: float = 0.1> (t)",
    ),
    "the type of a parameter without :": (
        function("F <alpha float = 0.1> (a)"), "F <alpha: float = 0.1> (a) => (b) {",
    ),
    "a semicolon before the type of a parameter": (
        function("F <alpha; float = 0.1> (a)"), "F <alpha: float = 0.1> (a) => (b) {",
    ),
    "a type after =": (
        node("  u = Softmax <axis = int = 0> (t)"), "  u = Softmax <axis: int = 0> (t)",
    ),
    "a number in a call": (
        node("  u = Softmax <axis = int(0)> (t)"), "  u = Softmax <axis = 0> (t)",
    ),
    "a type before a list": (
        node("  u = Conv <pads = ints[1, 1]> (t, x)"), "  u = Conv <pads: ints = [1, 1]> (t, x)",
    ),
    "a type and a list without =": (
        node("  u = Conv <pads: ints [1, 1]> (t, x)"), "  u = Conv <pads: ints = [1, 1]> (t, x)",
    ),
    "a blank after a minus sign": (
        node("  u = Softmax <axis = - 1> (t)"), "  u = Softmax <axis = -1> (t)",
    ),
    "a colon after the name of a graph": (
        f"{H}{G.replace('g', 'g:', 1)}{END}", "g (float[N] x) => (float[N] y) {",
    ),
    "a semicolon before a bracket": (
        inputs("float[N] x, float[2;] z"), "g (float[N] x, float[2] z) => (float[N] y) {",
    ),
    "a comma between attributes": (
        node("  u = Gemm <transA = 1 transB = 1> (t, x)"),
        "  u = Gemm <transA = 1, transB = 1> (t, x)",
    ),
    "a comma between lines": (
        inputs("\n  float[N] x\n  float[N] z\n"), "  float[N] x,",
    ),
    "a domain without quotes": (key("  opset_import: [my: 1],"), '  opset_import: ["my": 1],'),
    "an assignment as in Python": (node("  u := Abs (t)"), "  u = Abs (t)"),
    "a semicolon after a decorator": (node('  @doc("d");\n  u = Abs (t)'), '  @doc("d")'),
    "a semicolon before a comma": (node("  u = Add (t;, x)"), "  u = Add (t, x)"),
    "an operator of ONNX with a domain": (node("  u = onnx::Abs (t)"), "  u = Abs (t)"),
    "an expression as a dimension": (
        inputs("float[N] x, float[N / 3] z"), 'g (float[N] x, float["N / 3"] z) => (float[N] y) {',
    ),
    "a comma between known names": (node("  u = Add (x t)"), "  u = Add (x, t)"),
}  # fmt: skip
"""As `UNSAFE`, but the fix is safe."""


EXPLAINED = {
    "a second list of inputs after attributes": (
        node("  u = Split (t) <\n    axis = 0,\n  > (x)"), "a node cannot have a second list",
    ),
    "a type of Python": (
        inputs("float[N] x, Tensor z"), "`Tensor` is not a type",
    ),
    "a type while it is typed": (
        inputs("\n  bo\n  float[N] x\n"), "incomplete statement: expected a name after `bo`",
    ),
    "a value while it is typed": (
        value("  float[3] b ="), "incomplete statement: expected the data",
    ),
    "a colon before attributes on the next lines": (
        f"{H}{IF}  y = If (c):\n{BRANCHES}", "expected `<` before the attributes, found `:`",
    ),
    "an attribute without a value": (
        node("  u = Elu <alpha: float = > (t)"), "incomplete statement: expected a value",
    ),
    "a tensor without a type": (
        node("  u = Constant <value: tensor = {10}> ()"), "a tensor in an attribute needs a type",
    ),
    "a reference without a name": (reference("@alpha"), "a reference needs"),
    "letters in a hexadecimal number": (
        value("  float16[2] w = [1.0, 0x7g01],"), "`0x7g01` is not a number",
    ),
    "a declaration before a node": (
        node("  float[2] u; u = Abs (x)"), "the declaration of a value does not",
    ),
}  # fmt: skip
"""For each error without a fix: the text, and the beginning of the message."""


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_error_without_a_fix_is_explained(name: str) -> None:
    text, message = EXPLAINED[name]
    (item,) = syntax_errors(text)
    assert item.message.startswith(message)
    assert item.fix is None
    assert item.help


@pytest.mark.parametrize(
    ("name", "applicability"),
    [*[(name, "unsafe") for name in UNSAFE], *[(name, "safe") for name in SAFE]],
)
def test_only_certain_fixes_are_safe(name: str, applicability: str) -> None:
    text, line = (SAFE if applicability == "safe" else UNSAFE)[name]
    (item,) = syntax_errors(text)
    assert item.fix is not None, item.message
    assert item.fix.applicability == applicability, item.message
    fixed = item.fix.apply(text)
    assert not syntax_errors(fixed)
    if line is None:
        assert applicability == "unsafe", "a safe fix gives the intended text"
    else:
        assert line in fixed.splitlines(), (item.message, item.fix.title)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (node("  u := Foo <axis = 2l> (t)"), ["wrong-mark", "number-suffix"]),
        (value("  long[2] w = {1l, 2l},"), ["unknown-type", "number-suffix"]),
        (reference("alpha: 1, to := @alpha"), ["colon-for-equals", "wrong-mark"]),
        (node('  u := Foo <v = string[1] "a"]> (t)'), ["wrong-mark", "missing-bracket"]),
        (inputs("float[N] x, half c = (1)"), ["unknown-type", "wrong-mark"]),
        (node("  u := Foo <v = bool[1] true]> (t)"), ["wrong-mark", "missing-bracket"]),
        (inputs("x float[N], t float"), ["misplaced-type", "misplaced-type"]),
    ],
)
def test_an_error_with_an_unsafe_fix_does_not_hide_the_error_before_it(
    text: str, codes: list[str]
) -> None:
    errors = syntax_errors(text)
    assert [item.code for item in errors if item.fix is not None] == codes


@pytest.mark.parametrize(
    ("entry", "column"),
    [
        ('opset_import: ["": 21, "my": "1"],', 26),
        ("ir_version: [10],", 15),
        ('metadata_props: ["a": 3],', 20),
        ("producer_name: 3,", 18),
        ('metadata_props: "a",', 19),
    ],
)
def test_errors_in_headers_are_reported_at_the_value(entry: str, column: int) -> None:
    text = key(f"  {entry}")
    (item,) = syntax_errors(text)
    assert place(item, text) == (3, column)


REPEATED = {
    "a stray mark": "  t = Add (x?, x)",
    "a hyphen": "  t = Conv <kernel-shape = [3]> (x, x)",
    "an operator": "  t = Add (x Relu)",
    "a sum": "  x1 = Abs (x)\n  t = Sqrt (x+1)",
}


@pytest.mark.parametrize("mistake", REPEATED)
def test_a_mistake_that_occurs_twice_is_no_evidence(mistake: str) -> None:
    line = REPEATED[mistake]
    for error in syntax_errors(node(f"{line}\n{line.replace('t =', 'u =')}")):
        assert error.fix is None or error.fix.applicability == "unsafe"


DOUBTFUL = {
    "a semicolon after a comma": (node("  t = Clip (x,; x)"), "  t = Clip (x, x)"),
    "a colon after a call": (node("  t = Abs (x):\n  u = Abs (x)"), None),
    "a number after an output": (
        f"{H}g (float[2] x) => (float[2] y 2) {{\n  y = Abs (x)\n}}\n", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTFUL)
def test_the_fix_of_a_doubtful_mark_is_unsafe(name: str) -> None:
    text, line = DOUBTFUL[name]
    first = syntax_errors(text)[0]
    assert first.fix is None or first.fix.applicability == "unsafe"
    if line is not None:
        assert line in fix_of(first).apply(text).splitlines()


@pytest.mark.parametrize(
    ("broken", "fixed"),
    [
        ("  t ==> Abs (x)", "  t = Abs (x)"),
        ("  u = Abs (t).", "  u = Abs (t)"),
        ("  u\n    -> Abs (t)", "  u\n    = Abs (t)"),
        ("  u\n    := Abs (t)", "  u\n    = Abs (t)"),
        ("  u = Op <a = 1><> (t)", "  u = Op <a = 1> (t)"),
        ('  u = LSTM (t, ", "", x)', '  u = LSTM (t, "", "", x)'),
        ('  u = LSTM ("a, "", x)', '  u = LSTM ("a", "", x)'),
    ],
)
def test_the_fix_of_a_mark_gives_the_intended_node(broken: str, fixed: str) -> None:
    (error,) = syntax_errors(node(broken))
    assert fix_of(error).apply(node(broken)) == node(fixed)


def test_a_typographic_apostrophe_is_part_of_a_value() -> None:
    text = key("  producer_name: Bob’s tool,")
    (error,) = syntax_errors(text)
    assert fix_of(error).apply(text) == text.replace("Bob’s tool", '"Bob’s tool"')


def test_the_title_of_a_fix_cuts_only_the_name() -> None:
    (error,) = syntax_errors(node(f"  t = My::{'n' * 70} (x)"))
    assert fix_of(error).title == f"write `My.{'n' * 48}…`"


@pytest.mark.parametrize("quotes", ["''", "“”"])
def test_the_title_of_a_fix_of_quotes_cuts_only_the_string(quotes: str) -> None:
    written = f"{quotes[0]}{'s' * 70}{quotes[1]}"
    (error,) = syntax_errors(node(f"  t = Op <a = {written}> (x)"))
    assert fix_of(error).title == f'write `"{"s" * 50}…`'


@pytest.mark.parametrize(
    ("mistake", "start"),
    [
        (node(f"  u = helper.make_node('Elu', ['t'], ['u'], note='{'n' * 70}')"), "u = Elu <note"),
        (node("  t = Abs (x)") + f"metadata {{ graph {{\n  k: [{'1, ' * 40}2]\n}} }}\n", '"[1, 1'),
        (node(f"  Abs ({'x' * 80}) -> y"), "y = Abs (x"),
    ],
)
def test_the_title_of_a_long_fix_ends_with_a_mark(mistake: str, start: str) -> None:
    error = syntax_errors(mistake)[0]
    assert fix_of(error).title.startswith(f"write `{start}")
    assert fix_of(error).title.endswith("…`")


def test_the_label_of_the_next_node_is_no_list_of_inputs() -> None:
    text = H + "g (x) => (y) { t = my.Abs\n  [n0] u = Neg (x)\n  y = Relu (u)\n}\n"
    error = syntax_errors(text)[0]
    assert error.fix is None or error.fix.applicability == "unsafe"


@pytest.mark.parametrize("mistake", ["Conv {x, x)", "Conv[(x, x)"])
def test_attributes_without_an_opening_mark_hide_no_fix_above(mistake: str) -> None:
    """The missing `<` is another error, which the fix need not correct."""
    text = node(f"  w = {mistake}\n    kernel_shape = [1, 2],\n    strides = [3, 4]")
    first = syntax_errors(text)[0]
    assert "  w = Conv(x, x)" in fix_of(first).apply(text).replace("Conv (", "Conv(").splitlines()


def test_inputs_after_empty_parentheses_are_one_error() -> None:
    (error,) = syntax_errors(node("  u = Add ()t, x)"))
    assert (error.message, error.help) == ("unexpected `)`: the list follows", "remove `)`")


@pytest.mark.parametrize("header", [True, False])
def test_only_operators_have_attributes(header: bool) -> None:
    text = H.replace("10, ", "10, <> ") + G + END if header else value("  float w = <data>,")
    error = syntax_errors(text)[0]
    assert error.message == "unexpected `<…>`: only operators have attributes"
    assert (error.fix is not None) == header


@pytest.mark.parametrize(("inputs", "value"), [("t, 1", True), ('"1", 1', False)])
def test_a_number_among_inputs_may_be_a_value(inputs: str, value: bool) -> None:
    (error,) = syntax_errors(node(f"  u = Add ({inputs})"))
    assert ("give the number a name" in help_of(error)) == value


@pytest.mark.parametrize(("inputs", "extra"), [("...", False), ("t, ...", True)])
def test_an_ellipsis_for_all_inputs_is_not_removed(inputs: str, extra: bool) -> None:
    (error,) = syntax_errors(node(f"  u = Add ({inputs})"))
    assert error.message == "expected a name, `,` or `)`, found `...`"
    assert (error.fix is not None) == extra


@pytest.mark.parametrize("mark", ["->", "=>"])
def test_an_arrow_before_returned_values_is_not_an_equals_sign(mark: str) -> None:
    (error,) = syntax_errors(node(f"  u = Abs (t)\n  {mark} (u)"))
    assert line_of(error) == 5
    assert error.fix is None


@pytest.mark.parametrize(
    "output", ['float["a=b"] z', '@doc("a = b")\n  float z', "float z  # a = b"]
)
def test_an_equals_sign_in_a_string_is_no_default_value(output: str) -> None:
    text = f"{H}g (float x) => (\n  float y,\n  {output}\n> {{\n{END}"
    (error,) = syntax_errors(text)
    assert (error.message, error.fix is not None) == ("expected `)`, found `>`", True)


@pytest.mark.parametrize(
    ("type", "help"),
    [("string[2]", '`["a", "b"]`'), ("bool[2]", "`[true, false]`"), ("float", "`[1, 2]`")],
)
def test_the_help_about_a_name_as_data_fits_the_type(type: str, help: str) -> None:
    (error,) = syntax_errors(value(f"  {type} string_w = abc,"))
    assert help in help_of(error)


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ("float[2, N] w = {1, 2}", "float[2, N]"),
        ("float[] w = [1, 2]", "float[]"),
        ('@doc("(") float[N] w = [1, 2]', "float[N]"),
        ('float[@doc("a") N] w = [1, 2]', "float"),
        ("sparse_tensor(float[N]) w = sparse(float[1] [7], int64[1] [0])", "float[N]"),
        ('sparse_tensor ( float[@doc("a") N] ) w = sparse(float[1] [7], int64[1] [0])', "float"),
    ],
)
def test_a_tensor_without_sizes_is_marked_at_its_type(value: str, marked: str) -> None:
    source = f"{H}g (float x) => (float y) <\n  {value}\n> {{\n  y = Abs (x)\n}}\n"
    (error,) = syntax_errors(source)
    assert error.code == "tensor-shape-unknown"
    assert source[slice(*error.labels[0].span)] == marked
