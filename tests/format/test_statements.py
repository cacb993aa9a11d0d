# SPDX-License-Identifier: Apache-2.0
"""Statements in long lists are formatted one by one; the cases in which results could differ."""

from __future__ import annotations

import random
from itertools import product
from time import process_time

import pytest

import onnxtext
from onnxtext.format import format_text as text
from onnxtext.format.format_in_full import write_document
from tests.format.laws import assert_format_laws, full_formatting
from tests.running import grows_at_most

HEAD = "<onnxtext: 1>\nmain (float[2] x) => (float y) "


def nodes(count: int, seed: int) -> str:
    """Nodes as people write them; many differ in their names only."""
    chance = random.Random(seed)
    result = []
    for index in range(count):
        name = chance.choice((f"v{index}", f'"v/{index}"', f'"v{index}"', f'"a b{index}"'))
        other = chance.choice(("x", '"x"', '"p/q"', '""', f'"float", v{index}'))
        quoted = name if name.startswith('"') else f'"{name}"'
        node = chance.choice(
            (
                f"{name} = Relu ({other})",
                f"{name}=Relu({other},)",
                f"[{name}] {name} = Conv <group = 1, auto_pad = {quoted}> ({other})",
                f'{name} = Op <s = "tanh", t = {quoted}> ({other})',
                f"{name} = # inside\n Relu ({other} # again\n)",
                f"{name} = Op <a = 1, # in the list\n b = 2> ({other})",
                f'@doc("it is {index}") {name} = Relu ({other})',
                f"[{name}] float[{name}, 2] {name} = Relu ({other})",
                f'{name} = Op <s = "{"long" * (index % 20)}"> ({other})',
            )
        )
        result.append(node + chance.choice(("\n", "\n", " # behind\n", "\n\n\n", "\n # above\n\n")))
    return "".join(result)


def values(count: int, seed: int) -> str:
    """Value infos and initializers."""
    chance = random.Random(seed)
    result = []
    for index in range(count):
        name = chance.choice((f"w{index}", f'"w/{index}"', f'"w{index}"'))
        result.append(
            chance.choice(
                (
                    f"float[N,2]{name},",
                    f"float[2] {name} = {{1.50,2}},",
                    f"float[1,2] {name} = [1.50,2],",
                    f"float[2,2] {name} = [[1,2],[3,4.0]],",
                    f"float[40] {name} = {{{','.join(['1.25'] * 40)}}},",
                    f"float[2] {name} = [1, # one\n 2],",
                    f"float {name} # before the comma\n ,",
                )
            )
            + chance.choice(("\n", "", " # behind\n", "\n\n # above\n"))
        )
    return "".join(result) + "float last"


@pytest.mark.parametrize("seed", range(12))
def test_any_statements_are_formatted(seed: int) -> None:
    assert_format_laws(f"{HEAD}<{values(60, seed)}> {{\n{nodes(120, seed)}\n}}\n")


@pytest.mark.parametrize("seed", range(6))
def test_nested_lists_and_functions_are_formatted(seed: int) -> None:
    inner = f"b () => (z) <{values(70, seed)}> {{\n{nodes(90, seed + 1)}}}"
    loop = f"o = Loop (x) <n = 1, # of it\n body = {inner} # behind it\n, m = 2>"
    function = f'<domain: "f", opset_import: [20]>\nf <alpha> (a) => (b) {{\n{nodes(60, seed)}}}'
    assert_format_laws(
        f"{HEAD}{{\n{nodes(60, seed + 2)}{loop}\n{nodes(9, seed + 3)}}}\n{function}\n"
    )


def test_comments_keep_their_order_around_lists() -> None:
    listed = "".join([f"float v{index}, # {index}\n" for index in range(150)])
    body = "".join([f"y{index} = Relu (x) # {index}\n" for index in range(150)])
    assert_format_laws(
        f"{HEAD}<{listed} float last> # between\n {{ # first\n{body}}} # end\n# behind\n"
    )


@pytest.mark.parametrize(
    "region",
    [
        "# fmt: off\ny   =   A ()\n# fmt: on\n",
        "y   =  A () # fmt: skip\n",
        "# fmt: off\ny   =   A ()\n",
        "y = If (c) <t = g () => () {\n# fmt: off\n z  =  A ()\n# fmt: on\n}>\n",
        "# fmt: off\ny   = If (c) <t = g () => () {\n# fmt: on\n z  =  A ()\n}>\nz   = B ()\n",
    ],
)
def test_fmt_off_regions_are_kept(region: str) -> None:
    around = "".join([f"v{index}=Relu(x)\n" for index in range(150)])
    assert_format_laws(f"{HEAD}{{\n{around}{region}{around.replace('v', 'u')}}}\n")
    assert_format_laws(f"{HEAD}{{\n{region}{around}}}\n")
    assert_format_laws(f"{HEAD}{{\n{around}{region}}}\n")
    assert_format_laws(f"# fmt: off\n{HEAD}{{\n{around}}}\n")
    indented = around.replace("v", "  v")
    assert_format_laws(f"{HEAD}{{\n{indented}}}  # fmt: skip\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "statement",
    [
        "v{0}=Relu(v{1})",
        '"v/{0}"=Relu("v/{1}")',
        '"v{0}" = Relu ("v{1}")',
        '["n{0}"] v{0} = Relu (v{1})',
        '["n{0}"] "v{0}" = Op <s = "n{0}"> (v{1})',
        "v{0} = Relu (v{1}) # {0}",
        "# {0}\nv{0} = Relu (v{1})",
        "v{0} = # {0}\nRelu (v{1})",
        "v{0}\n# {0}\n= Relu (v{1})",
        "v{0}\n\n# {0}\n= Relu (v{1})",
        "\tv{0} = Op <a: int = 1, b: float = 1e-5> (v{1})\r",
        '"v{0}" = Op <a: int = 1, b = 1.50> ("v{1}")',
        '"v/{0}" = Op<\naxis = 1,\n\n\nb = "x"\n>\n(\n"v/{1}"\n)',
    ],
)
def test_most_statements_take_the_fast_path(
    statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a few of hundreds of statements are formatted in full."""
    body = "\n".join([statement.format(index, index + 1) for index in range(600)])
    source = f"{HEAD}{{\n{body}\n}}\n"
    expected = write_document(source)
    walked = full_formatting(monkeypatch, text)
    assert onnxtext.format_text(source) == expected
    assert sum(map(len, walked)) < 1000


@pytest.mark.parametrize("items", ["true,", "true", "true, false", "nan,", "1, true", "x,"])
def test_lists_in_records_are_formatted(items: str) -> None:
    """A list is lexed as one token or as many; its items are the same."""
    assert_format_laws(
        f"{HEAD}{{ @set(a: [{items}]) y = Op <b = @segment([{items}]) float[1] {{1}}> (x) }}"
    )


def test_domains_of_any_parts_are_formatted() -> None:
    parts = ("", "a", "int64", "a.", "/")
    for count in range(1, 4):
        for domain in product(parts, repeat=count):
            dotted = ".".join(f'"{part}"' for part in domain)
            assert_format_laws(f"{HEAD}{{ y = {dotted}.Op (x) }}")
            assert_format_laws(f"{HEAD}{{ y = .{dotted}.Op (x) }}")


@pytest.mark.thorough
def test_many_regions_that_are_not_formatted_take_linear_time() -> None:
    def seconds(count: int) -> float:
        regions = "".join([f"# fmt: off\n {index},\n# fmt: on\n" for index in range(count)])
        listing = f"{HEAD}{{ y = A <a = [\n{regions}]> (x) }}\n"
        start = process_time()
        onnxtext.format_text(listing)
        return process_time() - start

    assert grows_at_most(seconds, 10_000, 40_000, 5.5)
