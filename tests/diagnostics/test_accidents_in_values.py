# SPDX-License-Identifier: Apache-2.0
"""A typo in a value or type gives one error, whose fix restores the text."""

from __future__ import annotations

import pytest

from tests.diagnostics.found import fix_of, syntax_errors
from tests.diagnostics.models import G, H, node, value

RESTORED = {
    "a doubled opening quote": (
        node('  y = Op <mode = "fast"> (x)'), ('"fast', '""fast'), (3, 18),
        "a quote of this string is doubled",
    ),
    "a doubled closing quote": (
        node('  y = Op <mode = "fast"> (x)'), ('fast"', 'fast""'), (3, 18),
        "a quote of this string is doubled",
    ),
    "brackets that an editor closed too early": (
        value("  float[2, 3] w,"), ("[2, 3", "[]2, 3"), (3, 11), "unexpected `]`: the list follows",
    ),
    "angle brackets that an editor closed too early": (
        node("  y = Op <axis = 1> (x)"), ("<axis", "<>axis"), (3, 11),
        "unexpected `>`: the list follows",
    ),
    **{
        f"{opening}…{closing} after a key": (
            H.replace("10", '10, producer_name: "a b"') + node("  y = Abs (x)").removeprefix(H),
            ('"a b"', f"{opening}a b{closing}"), (1, 33),
            f"`{opening}` is a typographic quote; a string must be in plain quotes",
        )
        for opening, closing in ("„“", "“”", "«»")
    },
    "the type of an output after its name": (
        node("  float[2] y = Op (x)"), ("  float[2] y =", "  y float[2] ="), (3, 3),
        "the type of a value belongs before its name",
    ),
    "a repeated list of attributes": (
        node("  y = Op <axis = 1> (x)"), ("1>", "1><axis = 1>"), (3, 20),
        "an operator has only one list of attributes",
    ),
    "a second list of attributes": (
        node("  y = Op <axis = 1, mode = 2> (x)"), ("1, mode", "1> <mode"), (3, 21),
        "an operator has only one list of attributes",
    ),
    "a bracket in place of a colon": (
        f'<ir_version: 10, opset_import: [21, "m": 1]>\n{G}  y = Relu (x)\n}}\n', ('"m":', '"m"}'),
        (1, 40), "expected `:`, found `}`",
    ),
    "an arrow in place of a bracket": (
        node("  y = Op (x)"), ("Op (", "Op =>"), (3, 10),
        "expected `(`, `:`, `.` or `<`, found `=>`",
    ),
    "brackets that an editor added after a name": (
        node("  y = Op (x, a)"), ("(x", "(x{}"), (3, 12), "expected `)` or `,`, found `{`",
    ),
    "a missing comma in a line of inputs": (
        node("  y = Op (\n    x, a, b, x\n  )"), ("a, b", "a b"), (4, 10),
        "expected `,` or `)`, found `b`",
    ),
    "a bracket missing at the end of a line before a blank line": (
        node("  x = Op (x, a)\n\n  y = Op (x)"), ("a)", "a"), (3, 15),
        "expected `)` or `,`, found `y`",
    ),
    "a bracket missing in the blank line after a list of several lines": (
        node("  x = Op (x,\n    a\n  )\n  y = Op (x)"), ("  )\n", "\n"), (5, 1),
        "expected `)` or `,`, found `y`",
    ),
    "a bracket missing on a line of its own, before a line that is indented less": (
        node("  y = If (x) <\n    a = h () => (x) {\n      x = Abs (x)\n    }\n  >"),
        ("    }\n", ""), (6, 3), "expected `}` or a node, found `>`",
    ),
    "a list of words in an attribute": (
        node('  y = Op <modes = ["fast", "exact"]> (x)'), ('"fast", "exact"', "fast, exact"),
        (3, 20), "`fast` needs quotes to be a string",
    ),
    "one word in a list of strings": (
        node('  y = Op <modes: strings = ["fast", "exact"]> (x)'), ('"exact"', "exact"), (3, 37),
        "`exact` needs quotes to be a string",
    ),
    "a list of one word": (
        node('  y = Op <mode = ["fast"]> (x)'), ('"fast"', "fast"), (3, 19),
        "`fast` needs quotes to be a string",
    ),
    "single quotes in a list": (
        node('  y = Op <modes = ["fast", "exact"]> (x)'), ('"fast", "exact"', "'fast', 'exact'"),
        (3, 20), "a string must be in double quotes",
    ),
    "words in a string tensor of an attribute": (
        node('  y = Op <v = string[2] {"a", "b"}> (x)'), ('"a", "b"', "a, b"), (3, 26),
        "`a` needs quotes to be a string",
    ),
    "a size before its bracket": (
        value("float[2] w,"), ("float[2] w", "float2[] w"), (3, 3),
        "the `[` of this type belongs after `float`",
    ),
    "a size before its bracket and a comma": (
        value("int64[3, N] w,"), ("64[3", "643["), (3, 3),
        "the `[` of this type belongs after `int64`",
    ),
    "a quote before a boolean": (
        node("  y = Op <v = bool b {true}> (x)"), ("{true", '{"true'), (3, 23),
        'unexpected `"` beside `true`',
    ),
    "a quote after a number in parentheses": (
        node("  y = Op <v = int64(-1)> (x)"), ("-1", '-1"'), (3, 23),
        'unexpected `"` beside a number',
    ),
    "a quote after a number of an attribute": (
        node("  y = Op <v = 5> (x)"), ("5", '5"'), (3, 16), 'unexpected `"` beside a number',
    ),
    "a single quote at the end of a string": (
        node('  y = Op <a = "it", b = 1> (x)'), ('it"', "it'"), (3, 18),
        "a string must be in double quotes",
    ),
    "a missing bracket of an initializer": (
        value("float[2, 2] w = [1, 2, 3, 4],\n  float[1] v = [5],"), ("[1,", "1,"), (3, 19),
        "the `[` of this list is missing",
    ),
    "a missing bracket of one typed element": (
        node("  y = Op <v = bool[1] [true]> (x)"), ("[true", "true"), (3, 23),
        "the `[` of this list is missing",
    ),
    "a missing brace of an initializer": (
        value("float[2] w = {1, 2},"), ("{1", "1"), (3, 16), "the `{` of this list is missing",
    ),
    "a missing brace of one element": (
        value("float[1] w = {1},"), ("{1", "1"), (3, 16), "the `{` of this list is missing",
    ),
    "a swapped quote and bracket": (
        node("  y = Relu (x)").replace("[21]", '["": 21]'), ('[""', '"["'), (1, 32),
        "the `[` of this list is missing",
    ),
}  # fmt: skip
SAFE = {
    "the type of an output after its name",
    *(name for name in RESTORED if name.endswith("after a key")),
    "single quotes in a list",
    "a missing comma in a line of inputs",
    "a missing bracket of a tensor in an attribute",
    "a missing bracket of an initializer",
    "a missing brace of an initializer",
    "a swapped quote and bracket",
}
"""The names of the errors in `RESTORED` whose fixes are safe."""


@pytest.mark.parametrize("name", RESTORED)
def test_the_fix_of_the_only_error_restores_the_text(name: str) -> None:
    text, typo, position, message = RESTORED[name]
    assert not syntax_errors(text)
    broken = text.replace(*typo)
    (error,) = syntax_errors(broken)
    assert (error.position, error.message) == (position, message)
    assert fix_of(error).apply(broken) == text
    assert fix_of(error).applicability == ("safe" if name in SAFE else "unsafe")


@pytest.mark.parametrize("items", ["1, b", "None, None", "g () => () {}, b"])
def test_other_lists_are_not_lists_of_strings(items: str) -> None:
    (error,) = syntax_errors(node(f"  y = Op <v = [{items}]> (x)"))
    assert error.code != "unquoted-string"


@pytest.mark.parametrize("data", ["int64[2] [0, ..]", "float[2] [0.5, ..]", "bool[2] [true, ..]"])
def test_two_points_in_a_list_are_explained(data: str) -> None:
    (error,) = syntax_errors(node(f"  y = Op <v = {data}> (x)"))
    assert error.help == "write `...` after the last element to repeat it, such as `[0, ...]`"


@pytest.mark.parametrize("operator", ["Twice::fast", "com.my.Twice::v2"])
def test_two_colons_may_separate_an_overload(operator: str) -> None:
    text = f"{H}g (x) => (y) {{\n  y = {operator} (x)\n}}\n"
    (error,) = syntax_errors(text)
    assert (error.position, error.code) == ((3, 7), "wrong-mark")
    assert fix_of(error).applicability == "unsafe"


def test_an_apostrophe_does_not_end_an_unclosed_string() -> None:
    text = node('  y = Op <a = "it\'s", b = 1> (x)')
    broken = text.replace('s"', "s")
    (error,) = syntax_errors(broken)
    assert error.code == "unclosed-string"
    assert fix_of(error).apply(broken) == text


def test_an_extra_brace_after_a_scalar_is_not_half_a_list() -> None:
    (error,) = syntax_errors(value("float w = 1},"))
    assert (error.position, error.fix and error.fix.title) == ((3, 14), "remove `}`")


def test_a_brace_without_elements_may_be_extra() -> None:
    (error,) = syntax_errors(value("float[2] w = }"))
    assert error.message != "the `{` of this list is missing"
    assert fix_of(error).applicability == "unsafe"


def test_a_bracket_after_a_scalar_type_may_be_extra() -> None:
    (error,) = syntax_errors(value("map(string, int64]) w,"))
    assert error.fix is None or error.fix.applicability == "unsafe"
