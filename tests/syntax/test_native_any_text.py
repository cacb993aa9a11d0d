# SPDX-License-Identifier: Apache-2.0
"""Both cores give the same syntax tree, offsets and diagnostics for any text."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.select_core import core
from tests.corpus import shared_model, shared_models
from tests.diagnostics.test_messages import TEXTS
from tests.diagnostics.test_pages import WITH_EXAMPLE, blocks
from tests.seeds import draws, sampled, seeded
from tests.syntax.cores import assert_same_in_both
from tests.syntax.sentences import Sentences
from tests.syntax.test_dfa import PIECES
from tests.syntax.test_sentences import real_texts
from tests.syntax.texts import mutate, official_texts, texts

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")


@pytest.mark.thorough
def test_both_cores_agree_on_real_models() -> None:
    for text in sampled(texts(), 3):
        assert_same_in_both(text)


@pytest.mark.thorough
@pytest.mark.data
def test_both_cores_agree_on_official_texts() -> None:
    for text, start in official_texts():
        assert_same_in_both(text, start)


@pytest.mark.data
@pytest.mark.slow
def test_both_cores_agree_on_official_prints_on_one_line() -> None:
    for file in shared_models()[::7]:
        model = onnx.ModelProto.FromString(shared_model(file))
        try:
            text = onnx.printer.to_text(model)
        except Exception:  # the official printer cannot print it
            continue
        if len(text) < 300_000:
            assert_same_in_both(text)


def test_both_cores_agree_on_errors() -> None:
    for path in TEXTS:
        assert_same_in_both(path.read_text(encoding="utf-8"))
    for code in WITH_EXAMPLE:
        assert_same_in_both(blocks(code)["Example"])


@pytest.mark.thorough
def test_both_cores_agree_on_mutated_texts() -> None:
    chance = seeded()
    small = [text for text in texts() if len(text) < 6000]
    for _ in range(draws(300)):
        text = chance.choice(small)
        for _ in range(chance.choice([1, 1, 2, 5])):
            text = mutate(text, chance) if text else text
        assert_same_in_both(text)


@pytest.mark.thorough
def test_both_cores_agree_on_drawn_texts() -> None:
    """Compare random sentences of the grammar, mutations and noise."""
    chance = seeded()
    sentences, real = Sentences(chance), real_texts()
    for _ in range(draws(120)):
        assert_same_in_both(sentences.draw(real))
        noise = "".join(chance.choices(PIECES, k=chance.randint(1, 30)))
        assert_same_in_both(
            chance.choice(["", "g () => () {", "g () => () <float[2] w = "]) + noise
        )


NAMES = ["a", "b_1", '"c"', '""', "", "float", "nan", "inf", "metadata", "0", '"""d"""', "-a", "é"]
BODY = "g () => () {%s}"
DOMAIN = "g () => () {a = %sA ()}"
LISTS = {
    "g () => () {x = A (%s)}": [*NAMES, "# z\n", "a # , z\n", "a b", r'"\""', "[a]", "x,", ")"],
    "g () => () {%s = A ()}": [*NAMES, "float[N] a", "float a", "float[2, N] a", "a = B (), b"],
    BODY: [
        *(
            "a = A ()",
            "b = B (a)",
            "x, y = A (a, b)",
            'z = A <b = 1, c: int = 2> ("d", e)',
            "a = A",
        ),
        *("a = A () <b = 1>", "a = A (b,)", "<a = 1>", ", c = A ()", "d. = A ()", "@e f = A ()"),
        *("a = A <b = 99999999999999999999> ()", "[n] a = A ()", "a = b.c.A ()", "float a = A ()"),
    ],
    DOMAIN: ["a", "b_1", "float", "1", ".", "a,", ".5", "metadata"],
    "g (%s) => () {}": [*NAMES, "float a", "float[N] a", "float a = {1}", "float a = 1", "float"],
    "g () => () <%s> {}": ["float a", "float[N] a", "a", '"c"', "float a = [0x1]", "float b ="],
    "g () => () {x = A <%s> ()}": [
        *(
            "a = 1",
            "a: int = 1",
            "a = b",
            'a = "b"',
            "a = [1]",
            "a = [1, 2]",
            "a = [.5e1]",
            "a = [1 2]",
            "a: int",
            "a = 1.5",
            "a: x = 1",
        ),
        *("a = 99999999999999999999", "a = nan", "@b", "1 = a", "", "a = {}", "a = g () => () {}"),
    ],
    "<ir_version: 10, %s> g () => () {}": [
        *("k: 1", 'domain: "d"', 'domain: "e"', "model_version: 99999999999999999999"),
        *("doc_string: 1", "opset_import: [1]", "ir_version: 8", "", 'k: "v"', "k 1"),
    ],
    "g () => () {x = A <a = [%s]> ()}": ['"s"', "1", "-1.5", "nan", "b", "", "[1]", r'"\n"', "inf"],
    "<opset_import: [%s]> g () => () {}": ['"": 1', '"d": 2', "3", "", '"d" 2', '"d": -1', "a: 1"],
}


@st.composite
def long_lists(draw: st.DrawFn) -> str:
    """Return a text with a long list of mostly equal items."""
    frame = draw(st.sampled_from(sorted(LISTS)))
    items = st.sampled_from(LISTS[frame])
    found: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        repeated = draw(st.lists(items, min_size=1, max_size=2))
        found += repeated * draw(st.sampled_from([1, 4, 9, 20]))
    commas = [",", ", ", " ,\n  ", ",\t"]
    if frame == BODY:
        commas = ["", " ", "  ", "\n"]
    if frame == DOMAIN:
        commas = [".", " . ", ".\n"]
    return frame % draw(st.sampled_from(commas)).join(found)


@pytest.mark.thorough
@given(long_lists())
def test_both_cores_agree_on_long_lists(text: str) -> None:
    assert_same_in_both(text)


@pytest.mark.parametrize("frame", LISTS)
def test_both_cores_agree_on_an_odd_item_among_many(frame: str) -> None:
    first, *others = LISTS[frame]
    comma = {BODY: " ", DOMAIN: "."}.get(frame, ",")
    for item in others:
        assert_same_in_both(frame % comma.join([*[first] * 10, item, *[first] * 10]))


def model_of(*lines: str) -> str:
    return "\n".join(["g (float[2] x) => (float[2] y) {", *lines, "}"])


@pytest.mark.parametrize(
    "lines",
    [
        # Statements that continue on the next line.
        ("q = Softmax (x)", "<axis = 1>", "r = Softmax (x)", "<axis = 1>", "y = Relu (q)"),
        ("q = Softmax (x)", "# why", "", "<axis = 1>", "y = Relu (q)"),
        ("q = Softmax (x)", "q = Softmax (x)", "q = Softmax (x) <axis = 1>"),
        # Strings on several lines, with lines that look like statements.
        ('q = A <s = "', "r = Relu (q)", '"> (x)', "r = Relu (q)", "y = Relu (r)"),
        ('q = A <s = """', "  r = Relu (q)", '  """> (x)', "r = Relu (q)"),
        # Several statements on one line.
        ("q = Relu (x) r = Relu (q)", "q = Relu (x) r = Relu (q)", "  q = Relu (x) r = Relu (q)"),
        ("q = Relu (x) r =", "Relu (q)", "q = Relu (x) r =", "Relu (q)"),
        # Statements in comments.
        ("# q = Relu (x)", "q = Relu (x) # r = Relu (q)", "# q = Relu (x)", "q = Relu (x)"),
        # The same text inside and outside strings.
        ('"q" = Relu ("x")', '"r" = Relu ("q")', '"s" = Relu ("r#")', '"t" = Relu ("""")'),
        ('"q" = Relu ("x")', '"r" = Relu ("\\q")', '"s" = Relu ("\\"")', 'b"t" = Relu (b"x")'),
        # Omitted names, labels, decorators, every form of the operator.
        ("q, , r = A (x, , x,)", "[] q = .A ()", "[n] q = a.b.C:o (x)", "= A ()", "q = (x)"),
        ('@doc("d") q = A (x)', '@doc("e") r = A (x)', "float[2] q = A (x)", "int4 q, r = A ()"),
        # Wide nodes.
        *[("q = A (x) <", "  a = 1,", '  b = "s",', ">") * 3],
        ("q = If (x) <", "  then = t () => (float z) {", "    z = Relu (x)", "  },", ">") * 3,
        # Graphs in attributes.
        ("q = If <b = t (float[1] i = {1}) => () <float[1] w = {1}, float v> { z = A (i) }> (x)",),
        ("q = If <b = t () => (float[1] z = {1}) {}, c = t () => (z) {}> (x)",) * 2,
        *[(f"q = If <b = {name} () => () {{}}> (x)",) for name in ("nan_a", "Inf_", "\"nan_\"")],
        *[(f"q = If <b = {name} () => () {{}}> (x)",) for name in ("n", "é", "order", '""')],
        ("q = If <bs = [t () => () {}, u (a) => (b, ) {}], c = @doc(\"d\") t () => () {}> (x)",),
        # Numbers on several lines.
        ("q = C <v = float[2, 2] [", "  [1, 2],", "  [3, 4],", "]> ()") * 3,
        ("q = C <v = float[2, 2] [", "  [1, 2], # a", "  [3, 4],", "]> ()") * 3,
        ("q = C <a = [1, 2,", "3]> ()", "q = C <a = [1, 2,", "3]> ()"),
        # Errors.
        ("q = Relu (x)", "q = Relu (x", "q = Relu (x)"),
        ("q = A <a = [1, x]> ()", "q = A <a = [1, 2]> ()", "q = A <a: int = 1.5> ()") * 2,
        ("q = A <a = 99999999999999999999> ()",) * 3,
        ("q = Relu (x)", ", r = Relu (q)"),
        ("q = Relu (x)", "<axis = foo>"),
        ("q = Relu (x)", "}", "}"),
    ],
)  # fmt: skip
def test_both_cores_agree_on_statements(lines: tuple[str, ...]) -> None:
    assert_same_in_both(model_of(*lines))
    assert_same_in_both(model_of(*lines).replace("\n", "\r\n"))
    assert_same_in_both(model_of(*lines, *lines, *lines))
    assert_same_in_both(model_of(*lines)[:-1])  # the last bracket is missing


@pytest.mark.parametrize(
    "blocks",
    [
        'node [a] { k: "v" } node y { l: "w" } value x { k: "v" } graph { n: "" }',
        'node [a] { k: "v" } node y { k: above } node [b] { k: above m: "" }',
        'node [a] { k: "v" } node y { l: above }',
        "node [a] { k: above }",
        "node [a] { k: 1 }",
        'node [a] { k: "v" node y { k: "v" } }',
        'function d.f { node [a] { k: "v" } } node [b] { k: above }',
        'function d.f { k: "v" node z { k: "w" } value z { k: above } output z { k: "" } }',
        "function d.f { k: above }",
        'function d.f { function d.f { k: "v" } } function e.f { k: "v" }',
        'output y { k: "v" } value_info y { k: "v" } value_info u { k: "v" } tensor w { k: "v" }',
        'value u { k: "v" } value z { k: "v" } value [a] { k: "v" } node [z] { k: "v" }',
        'node [c].body.[i] { k: "v" } value [c].body.j { k: "v" } graph [c].body { k: "v" }',
        'node [c].body[0] { k: "v" } node y[0] { k: "v" } graph { k: "v" } graph y { k: "v" }',
        'what y { k: "v" } node { k: "v" } node:o y { k: "v" } k: "v"',
    ],
)
def test_both_cores_agree_on_metadata_blocks(blocks: str) -> None:
    body = "[a] t = A (x) [b] float[1] u, v = B (t) y = C (u)"
    nested = "[c] w = D <body = g () => (j) { [i] float j = E () }> ()"
    function = '<domain: "d"> f (x) => (z) { [a] float z = A (x) }'
    frame = f"g (x) => (y) {{ {body} {nested} }} {function} metadata {{ %s }}"
    assert_same_in_both(frame % blocks)
    assert_same_in_both(frame % f"{blocks} {blocks}")
    assert_same_in_both(frame % blocks[:-1])


def test_the_core_continues_after_an_error() -> None:
    lines = [
        f'  ["n{index}"] "v{index + 1}" = Relu <a = {index % 3}> ("v{index}")'
        for index in range(300)
    ]
    for at in (0, 17, 150, 299):
        lines[at] = lines[at].replace("Relu", "Re lu" if at % 2 else "")
    result, _, diagnostics = assert_same_in_both(
        "\n".join(["g (float x) => (float y) {", *lines, "}"])
    )
    assert len(result.graph.nodes) >= 296
    assert diagnostics


@pytest.mark.parametrize("depth", [30, 33, 60, 5000])
def test_both_cores_agree_on_deep_texts(depth: int) -> None:
    text = "g () => () { " + "x = If <b = g () => () { " * depth + "} > () " * depth + "}"
    assert_same_in_both(text)
    assert_same_in_both("[" * depth + "]" * depth)
    assert_same_in_both("g () => () { x = A <a = " + "{a: [" * depth + "]}" * depth + "> () }")


@pytest.mark.thorough
@pytest.mark.parametrize("size", [4090, 4096, 4100, 20_000])
def test_both_cores_agree_on_long_tokens(size: int) -> None:
    numbers = ", ".join(["1.5"] * (size // 5))
    assert_same_in_both(f"g () => () <float[{size // 5}] w = [{numbers}], float x> {{}}")
    assert_same_in_both(
        f'g () => () {{ [n] x = A <s = "{"a" * size}"> () # {"c" * size}\n y = B () }}'
    )
    assert_same_in_both(f"g () => () {{ {'a' * size} = {'B' * size} () }}" + " " * size)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [4096, 9_000])
def test_both_cores_agree_on_long_lists_with_an_odd_item(size: int) -> None:
    numbers = ", ".join(["1.5"] * (size // 5))
    half = numbers[: len(numbers) // 2 // 5 * 5]
    for odd in ["1.5", "true", "nan(0x1)", "0x10", "1 2", "x", '"', *"][{é", "# ]\n"]:
        whole = f"{half}{odd}, {numbers}"
        for flat in (f"[{whole}]", f"{{{whole}}}", f"[{half}{odd}"):
            assert_same_in_both(f"g () => () <float[{size // 5}] w = {flat}, float x> {{}}")
        nested = f"[[{whole}], [{half}]]"
        assert_same_in_both(f"g () => () <float[2, {size // 10}] w = {nested}, float x> {{}}")


@pytest.mark.parametrize(
    "value",
    [
        "sparse_tensor(float[4]) w = sparse(float[2] [1, 2], int64[2] i = [0, 3])",
        "sparse_tensor(float[4]) w = sparse(int32[2] [1, 2], int64[2] i = [0, 3])",
        "sparse_tensor(float[4]) w = sparse(float[2] [1, 2])",
        "sparse_tensor(float[4]) w = sparse(float[1] [1], int64[1] [1], int64[1] [1])",
        "sparse_tensor(float[4]) w = sparse(float[3] [1, 2], int64[2] [0, 3])",
        "sparse_tensor(float[N]) w = sparse(float[2] [1, 2], int64[2] [0, 3])",
        "sparse_tensor(float) w = sparse(float[2] [1, 2], int64[2] [0, 3])",
        "sparse_tensor(float[4]) w = other(float[2] [1, 2], int64[2] [0, 3])",
        "sparse_tensor(float[4]) w = sparse(1, 2)",
        'sparse_tensor(float[4]) w = {"a"}',
        "float[4] w = sparse(float[2] [1, 2], int64[2] [0, 3])",
        'string[2] w = {"a", "b"}',
        'string[N] w = {"a", "b"}',
        'string[2] w = {"a", 1}',
        'string[2] w = {"a\\x80", """b""",}',
        'float[2] w = {"a", "b"}',
        'undefined[1] w = {"a"}',
        'string w = {"a"}',
        'string[2] w = {"é", # a comment\n "\\xff"}',
        'string[2] w = {"a\\n", true}',
        'string[2] w = ["a", "b"]',
        "string[2] w = [1, # a comment\n 2]",
        'string[2] w = string_data{"a", "b"}',
        "int32[2] w = {1, # a comment\n 2}",
        "int32[2] w = {1, # a comment\n 2, 3}",
        "bool[2] w = {true, # a comment\n false}",
        "float[2] w = {true, # a comment\n 1}",
    ],
)
def test_both_cores_agree_on_sparse_tensors_and_strings(value: str) -> None:
    assert_same_in_both(f"g () => () <{value}> {{}}")
    kind, _, data = value.partition(" w = ")
    for name in ("", " w ="):
        assert_same_in_both(f"g () => () {{ y = A <a = {kind}{name} {data}> () }}")
