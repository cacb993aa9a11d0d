# SPDX-License-Identifier: Apache-2.0
"""Errors whose message names their cause: what is not a node, unfinished lists, wrong data."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import syntax_errors
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
    section,
    value,
)
from tests.running import limited

NOT_NODES = [
    ("t, t", "a list of values is not a node", "write `u = Identity (t)` for each value"),
    ("None", "`None` is a value, not a node", "such as `y = Relu (x)`"),
    ("True", "`True` is a value, not a node", "or a node `Constant`"),
    ('"a"', '`"a"` is a value, not a node', "or a node `Constant`"),
    ('{"a": 1}', '`{"a": 1}` is a value, not a node', "or a node `Constant`"),
    ("[i for i in t]", "`[i for i in t]` is a value, not a node", "or a node `Constant`"),
    ("tensor(1)", "`tensor(1)` is a value, not a node", "or a node `Constant`"),
    ("torch.tensor([1, 2])", "`torch.tensor([1, 2])` is a value", "or a node `Constant`"),
    ("t.T", "`t.T` is a value, not a node", "such as `u = Transpose (t)`"),
    ("t.shape", "`t.shape` is a value, not a node", "such as `u = Shape (t)`"),
    ("t.data # a comment", "`t.data` is a value, not a node", "such as `u = Identity (t)`"),
    ("t[0][1]", "a value cannot have a subscript", "`Gather` or `Slice`"),
    ("t.reshape(2, 3)", "`t.reshape(2, 3)` is a call of a method", "`u = Reshape (t, …)`"),
    ("nn.Linear(3, 4)(t)", "a node cannot have two lists in parentheses", "`OUTPUTS = OPERATOR"),
    ("c ? t : x", "expressions are not supported", "write `u = Where (c, t, x)`"),
]


@pytest.mark.parametrize(("right", "message", "help"), NOT_NODES)
def test_what_is_not_a_node_is_reported_at_its_beginning(
    right: str, message: str, help: str
) -> None:
    text = node(f"  u = {right}")
    (item,) = syntax_errors(text)
    assert place(item, text) == (4, 7), item.message
    assert item.message.startswith(message)
    assert help in (item.help or "")


ERRORS: dict[str, tuple[str, list[tuple[int, int]], str, str | None]] = {
    "initializers before the outputs": (
        f"{H}g (float[N] x) <\n  float a = 1,\n> => (float[N] y) {{\n{END}", [(2, 16)],
        "the initializers of a graph belong after its outputs", "before the `{`",
    ),
    "initializers before the inputs": (
        f"{H}g <\n  float a = 1,\n> (float[N] x) => (float[N] y) {{\n{END}", [(2, 3)],
        "the initializers of a graph belong after its outputs", "before the `{`",
    ),
    "no initializers, but parameters of a function": (
        f"{H}f <a, b: float = 1> (x) => (y) {{\n{END}", [(2, 3)],
        "attributes belong after the operator", None,
    ),
    "outputs after the nodes": (
        f"{H}g (float[N] x) => {{\n{END[:-1]} (float[N] y)\n{FUNCTION}f (a) => (b) {{ b = }}\n",
        [(2, 19), (7, 20)], "the outputs of a graph belong before its nodes", "before this `{`",
    ),
    "a declaration above a node with a label": (
        node("  float[N] z,\n  [u] u = Relu (t)"), [(4, 3)],
        "the declaration of a value does not belong here", "write the type in the node",
    ),
    "a row without its bracket after a row of two lines": (
        value("  float[3, 2] w = [\n    [1,\n     2],\n    3, 4],\n    [5, 6],\n  ],"), [(7, 5)],
        "the `[` of this row is missing", "add `[`",
    ),
    "a row of a nested list without its bracket": (
        value("  float[2, 2, 1] w = [\n    [\n      [1],\n      3],\n    ],\n    [[5], [6]]\n  ],"),
        [(7, 7)],
        "the `[` of this row is missing", "add `[`",
    ),
    "an import that ends in a comment": (
        key('opset_import: ["ai.onnx.ml":\n# 2],'), [(3, 28)],
        "incomplete statement: expected a string or an integer", "complete or remove it",
    ),
    "records among imports": (
        key("opset_import: [{a: 1, {}],"), [(3, 16)], "expected a name, `]` or an integer", None,
    ),
    "a node after a complete graph": (
        f"{H}{G}{END}  t = Foo <a = 1> (x)\n", [(5, 5)], "expected `<` or `(`, found `=`", None,
    ),
    "an indented brace after a complete graph": (
        f"{H}{G}{END}  }}\n", [(5, 3)], "expected a name, `<` or the end of the text, found `}`",
        "remove `}`",
    ),
    "parameters of a function after its inputs": (
        f"{H}{G}{END}{FUNCTION}f (a) <b> => (c) {{ c = Relu (a) }}\n", [(7, 7)],
        "the outputs of the graph or function are missing", "write `=> (float[N] y)`",
    ),
    "an indented brace that is written twice": (
        f"{H}  {G}    y = Relu (x)\n  }}\n  }}\n", [(5, 3)],
        "unexpected `}`: the graph has ended", "remove one `}`",
    ),
    "a brace at the start of a line between nodes": (
        node("  t = Relu (x)\n}\n  u = Foo <axis = 1> (t)"), [(5, 1)],
        "unexpected `}`: it closes the graph", "remove it",
    ),
    "such a brace with a comma": (
        node("  t = Relu (x)\n},\n  u = Foo <axis = 1> (t)"), [(5, 1)],
        "unexpected `}`: it closes the graph", "remove it",
    ),
    "no `> {` between initializers and a node with a label": (
        f"{H}g (float[N] x) => (float[N] y) <\n  float w = 1,\n  # nodes\n  [u] u = Abs (x)\n"
        f"{END}", [(4, 1)], "expected `> {` before the nodes", "add `> {`",
    ),
    "attributes on several lines without inputs": (
        node("  u = Foo <\n    a = 1,\n  >"), [(4, 7)],
        "the inputs of this operator are missing", "write `(…)` after `Foo`",
    ),
    "inputs without parentheses after attributes on several lines": (
        node("  u = Foo <\n    a = 1,\n  > t, x)"), [(6, 5)], "expected `(`, found `t`", "add `(`",
    ),
    "attributes on several lines before the operator": (
        node("  u = <\n    a = 1,\n  > Foo (t)"), [(4, 7)],
        "attributes belong after the operator", "move them there",
    ),
    "a comment without its end": (
        node("  /* old"), [(4, 3)], "a comment must start with `#`", "write `#`",
    ),
    "a Markdown fence among nodes": (
        node("  ```onnxtext"), [(4, 3)], "unexpected Markdown fence", "remove it",
    ),
    "a quote inside a string": (
        node('  ["a"b"] u = Foo (t)'), [(4, 6)], 'a `"` inside a string must be escaped',
        'write `\\"`',
    ),
    "a typographic quote before a quote after a prefix": (
        node('  u = Foo <a = ["b“, blob"ba7816bf8f01cfea"]> (t)'), [(4, 19)],
        "`“` is a typographic quote", 'write `"`',
    ),
    "an import with the fields of a message": (
        key('opset_import: [domain: "", version: 21],'), [(3, 22)],
        "an opset import must be written like `21`", "correct the imports",
    ),
    "an import without its version": (
        key('opset_import: ["ai.onnx.ml"],'), [(3, 16)], 'the version of "ai.onnx.ml" is missing',
        'such as `"ai.onnx.ml": 1`',
    ),
    "a version in double quotes": (
        key('opset_import: ["21"],'), [(3, 16)], "a number needs no quotes", "write `21`",
    ),
    "a version in single quotes": (
        key("opset_import: ['21'],"), [(3, 16)], "a number needs no quotes", "write `21`",
    ),
    "an import among nodes": (
        node("  import onnx"), [(4, 3)],
        "this line is neither a statement nor a comment", "make it a comment",
    ),
    "an assignment with an operator": (
        node("  t += x"), [(4, 5)], "expressions are not supported", "write `NAME = Add (t, x)`",
    ),
    "an expression as the value of an attribute": (
        node("  u = Op <a = 3 * 4, b = 1> (t)"), [(4, 17)], "a value cannot be an expression",
        "write the result",
    ),
    "a list times a number": (
        value("  float[3] w = [0] * 3,"), [(4, 20)], "a value cannot be an expression",
        "such as `[0, ...]`",
    ),
    "a node after `Op <`": (
        node("  u = Op <\n  v = Relu (t)"), [(4, 10)],
        "incomplete statement: expected an attribute or `>` after `<`", "complete or remove it",
    ),
    "a node with attributes after `Op <`": (
        node("  u = Op <\n  v = Softmax <axis = 0> (t)"), [(4, 10)],
        "incomplete statement: expected an attribute or `>` after `<`", "complete or remove it",
    ),
    "a node with a decorator after `Op <`": (
        node('  u = Op <\n  @doc("a")\n  v = Relu (t)'), [(4, 10)],
        "incomplete statement: expected an attribute or `>` after `<`", "complete or remove it",
    ),
    "a node with a graph after `Op <`": (
        f"{H}{IF}  t = Op <\n  y = If (c) <\n{BRANCHES}", [(3, 10)],
        "incomplete statement: expected an attribute or `>` after `<`", "complete or remove it",
    ),
    "attributes on several lines without `>`": (
        node("  u = Op (t) <\n    a = 1,\n    b = 2,\n  v = Softmax <axis = 0> (t)"), [(7, 3)],
        "expected `>` after the attributes", "add `>`",
    ),
    "the first line of a node twice": (
        f"{H}{IF}  y = If (c) <\n  y = If (c) <\n{BRANCHES}", [(4, 3)],
        "this line is written twice", "remove it",
    ),
    "a graph without a head": (
        f"{H}{IF}  y = If (c) <\n{BRANCHES}".replace(" b () => (float q) {", ""), [(7, 17)],
        "incomplete statement: expected a graph or another value after `=`",
        "complete or remove it",
    ),
    "a surplus brace at the end of a node": (
        node("  u = Abs (t)}\n  [l] v = Abs (t)"), [(4, 14)], "unexpected `}`: it closes the graph",
        "remove it",
    ),
    "a section inside a graph": (
        node('  metadata {\n    value x { k: "v" }\n  }'), [(4, 3)],
        "a section cannot be inside a graph", "move it after the `}` of the graph",
    ),
    "two sections inside a graph": (
        f"{H}{G}  y = Relu (x)\nmetadata {{\n}}\nquantization {{\n}}\n}}\n", [(4, 1)],
        "a section cannot be inside a graph", "move it after the `}` of the graph",
    ),
    "a function inside a graph": (
        node("  F (a) => (b) {\n    b = Abs (a)\n  }"), [(4, 3)],
        "a function cannot be inside a graph", "move it after the `}` of the graph",
    ),
    "a function with a header inside a graph": (
        node('  <domain: "my", opset_import: [21]>\n  F (a) => (b) {\n    b = Abs (a)\n  }'),
        [(4, 3)],
        "a function cannot be inside a graph", "move it after the `}` of the graph",
    ),
    "a function after a graph without `}`": (
        f"{H}{G}  y = Relu (x)\n{FUNCTION}F (a) => (b) {{\n  b = Abs (a)\n}}\n", [(4, 1)],
        "expected `}` before the header of a function", "add `}`",
    ),
    "a number as metadata": (
        f"<onnxtext: 1, metadata_props: 5>\n{G}}}\n", [(1, 31)],
        "the value of `metadata_props` must be a list", None,
    ),
    "a version of the language that never existed": (
        f"<onnxtext: 0>\n{G}}}\n", [(1, 2)],
        "the text is written in version 0 of the language", None,
    ),
    "a block of Python without an operator for it": (
        node("  with x:\n    y = Relu (x)"), [(4, 3)], "`with` is not supported",
        "remove this block",
    ),
    "a list of strings as integers": (
        node('  u = Op <a: ints = ["a"]> (t)'), [(4, 11)],
        "the attribute is declared as ints, but its value has the type strings", None,
    ),
    "a float in a repeated list of integers": (
        node("  u = Op <a: ints[4] = [1.5, ...]> (t)"), [(4, 25)],
        "the attribute is declared as ints, but an item of its value has the type float", None,
    ),
    "a list as a tensor": (
        node("  u = Op <a: tensor = [1.5]> (t)"), [(4, 23)],
        "the attribute is declared as tensor, but its value is a list of numbers", None,
    ),
    "two sections `encoding`": (
        f"{H}{G}}}\n" + 2 * f'encoding {{\n  canonical: "{64 * "0"}"\n  patch: ""\n}}\n', [(8, 1)],
        "there are two `encoding` sections", "remove one of them",
    ),
    "words as booleans": (
        value("  bool[2] w = [yes, no],"), [(4, 16)], "`yes` is not a value", "write `true`",
    ),
    "words as numbers": (
        value("  float[2, 2] w = [[1, two], [three, 4]],"), [(4, 24)], "`two` is not a number",
        "write a number",
    ),
    "rows in parentheses": (
        value("  float[2, 2] w = ((1, 2), (3, 4)),"), [(4, 19)],
        "the rows of a tensor must be in square brackets", "write `[…]`",
    ),
    "rows in parentheses of a tensor that is named like a type": (
        value("  float[2, 2] complex_w = ((1, 2), (3, 4)),"), [(4, 27)],
        "the rows of a tensor must be in square brackets", "write `[…]`",
    ),
    "rows in braces": (
        value("  float[2, 2] w = {{1, 2}, {3, 4}},"), [(4, 20)],
        "the rows of a tensor must be in square brackets", "write `[…]`",
    ),
    "a boolean before a number without a digit": (
        node("  u = Op <a = True, b = .5> (t)"), [(4, 15), (4, 25)], "`True` is not a value",
        "write `1`",
    ),
    "two attributes without `=`": (
        node("  u = Op <a 1, b 0.5> (t)"), [(4, 13), (4, 18)], "expected `=` or `:`, found `1`",
        "add `=`",
    ),
    "two different errors in a header": (
        key('  producer_name = "a",\n  model_version: 3;'), [(3, 17), (4, 19)],
        "expected `:`, found `=`", "write `:`",
    ),
    "a missing comma before another error in a header": (
        key('  producer_name: "a"\n  model_version = 3,'), [(3, 21), (4, 17)],
        "expected `,` or `>`, found `model_version`", "add `,`",
    ),
    "an error after a comparison": (
        f'{H}{G}  t = x > 0\n  y = Relu (t)\n}}\nmetadata {{\n  node y {{\n    k = "v"\n  }}\n}}\n',
        [(3, 9), (8, 7)], "expressions are not supported", "write `Greater (x, …)`",
    ),
    "an error after a comparison among inputs": (
        node("  u = Abs (t < 1)\n  v = Abs (t == x)\n  w = Abs t"), [(4, 14), (5, 14), (6, 11)],
        "expressions are not supported", "write a node for each operation; here, `Less (t, …)`",
    ),
    "an error after expressions among several inputs": (
        node("  u = Where (t < x + (1), t > 0, x - t)\n  v = Add (t <x> t)\n  w = Abs t"),
        [(4, 16), (5, 14), (6, 11)],
        "expressions are not supported", "write a node for each operation; here, `Less (t, …)`",
    ),
    "an error after a surplus `>` of a header": (
        f"<\n  ir_version: 10,\n>\n>\n{G}  y = Relu x\n}}\n", [(4, 1), (6, 12)],
        "this line is written twice", "remove it",
    ),
    "an error after a surplus brace among nodes": (
        node("  u = Abs (t)\n  }\n  v = Abs t"), [(5, 3), (6, 11)],
        "unexpected `}`: it closes the graph", "remove it",
    ),
    "errors after a surplus brace in metadata": (
        section('metadata {\n  node y {\n    k: "v"\n  }}\n  value x {\n    a = "b"\n  }\n}\n'),
        [(9, 4), (11, 7)], "unexpected `}`", "remove it",
    ),
    "an error after a string without its opening quotes": (
        section(
            'metadata {\n  node y {\n    k:\n      a\n      b\n      """\n    l = "v"\n  }\n}\n'
        ),
        [(8, 7), (12, 7)], 'a string of several lines must begin with `"""`', 'write `"""`',
    ),
    "a call as an item of a list": (
        node('  u = Op <a = [int("1"), 2]> (t)'), [(4, 16)], "an element cannot be a call such as",
        "write `1`",
    ),
    "a call as an element of a tensor": (
        value("  float[2] w = [1, sqrt(2)],"), [(4, 20)], "an element cannot be a call such as",
        "write the number",
    ),
    "a word with a point as an element": (
        value("  float[2] w = [math.pi, 1],"), [(4, 17)], "`math.pi` is not a number",
        "write the number",
    ),
    "a binding without quotes": (
        section("training {\n  update_binding: [a: b]\n}\n"), [(7, 20)],
        "`a` needs quotes to be a string", "quote it",
    ),
    "a store without quotes": (
        section("resources {\n  store: weights\n}\n"), [(7, 10)],
        "`weights` needs quotes to be a string", "quote it",
    ),
    "a parameter as in Python": (
        f"{H}{G}{END}{FUNCTION}F <k: float> (a) => (b) {{\n  b = Op <c: float = self.k> (a)\n}}\n",
        [(8, 22)], "expected `@k`, found `self.k`", "write `@k`",
    ),
    "a node in YAML": (
        node("  - op: Relu\n    inputs: [x]\n    outputs:\n      - u\n  [l] v = Abs t"),
        [(4, 3), (8, 15)], "this is YAML, not a node", "such as `y = Relu (x)`",
    ),
    "a brace before nodes": (
        f"{H}{G}  t = Abs (x)\n  {{ y = Relu (t)\n}}\n", [(4, 3)], "expected ", "remove `{`",
    ),
}  # fmt: skip
"""For each text: the places of its errors, and the message and the help of the first one."""


@pytest.mark.parametrize("name", ERRORS)
def test_each_error_is_reported_once_and_explained(name: str) -> None:
    text, places, message, help = ERRORS[name]
    found = syntax_errors(text)
    assert [place(item, text) for item in found] == places, [item.message for item in found]
    assert found[0].message.startswith(message)
    if help is None:
        assert found[0].help is None
    else:
        assert help in (found[0].help or "")
    for item in found:
        if item.fix is not None:
            assert len(syntax_errors(item.fix.apply(text))) < len(found)


def test_nodes_among_initializers_are_marked_on_the_same_line_with_other_line_ends() -> None:
    text, places, *_ = ERRORS["no `> {` between initializers and a node with a label"]
    text = text.replace("\n", "\r\n")
    (found,) = syntax_errors(text)
    assert [place(found, text)] == places


def test_many_fields_among_imports_are_read_in_linear_time() -> None:
    fields = 'domain: "a", ' * 40_000
    text = key(f"opset_import: [{fields}],")
    with limited(4):
        assert syntax_errors(text)
