# SPDX-License-Identifier: Apache-2.0
"""L3 for comments: formatting keeps each comment once and in order, at any position."""

from __future__ import annotations

from functools import cache

import pytest

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.syntax.grammar.lexer import load_lexer
from tests.corpus import EXAMPLES, REPOSITORY, SHARED, index
from tests.format.laws import assert_format_laws
from tests.seeds import draws, seeded
from tests.wire.inputs import Inputs
from tests.wire.test_corrupt_models import is_model

pytestmark = pytest.mark.thorough


def example(name: str) -> str:
    return (REPOSITORY / "examples" / name).read_text(encoding="utf-8")


def boundaries(text: str) -> list[int]:
    """The offsets before every token, and the end of the text."""
    return [token.at for token in load_lexer().tokens(text, 0, len(text))] + [len(text)]


def with_comment(text: str, at: int, comment: str, *, own_line: bool) -> str:
    """The text with a comment before the token that begins at an offset."""
    start = "\n  " if own_line else " "
    return f"{text[:at]}{start}{comment}\n{text[at:]}"


def with_all(text: str, *, own_line: bool) -> str:
    """The text with a comment before every token."""
    for number, at in reversed(list(enumerate(boundaries(text)))):
        text = with_comment(text, at, f"# {number}", own_line=own_line)
    return text


@cache
def official_models() -> list[str]:
    """The officially accepted texts that are, or become, texts of whole models."""
    found = []
    for entry in index("official_texts"):
        if entry["outcome"] != "parses":
            continue
        assert SHARED is not None
        text = (SHARED / "official_texts" / entry["file"]).read_bytes().decode("utf-8")
        wrapped = {
            "model": text,
            "graph": text,
            "function": f"g () => () {{}}\n{text}",
            "node": f"g () => () {{\n{text}\n}}",
            "nodelist": f"g () => () {text}",
            "attribute": f"g () => () {{ y = Op <{text}> () }}",
            "tensor": f"g () => () {{ y = Op <t = {text}> () }}",
            "type": f"g ({text} x) => () {{}}",
        }[entry["kind"]]
        try:
            onnxtext.parse(wrapped)
        except OnnxTextError:  # tests/laws/test_official.py lists the texts that onnxtext rejects
            continue
        found.append(wrapped)
    return found


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_formatted(file: object) -> None:
    text = example(file.name)  # type: ignore[attr-defined]
    assert assert_format_laws(text) == text


@pytest.mark.parametrize("own_line", [False, True])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_fmt_keeps_comments_at_all_tokens_at_once(file: object, own_line: bool) -> None:
    assert_format_laws(with_all(example(file.name), own_line=own_line))  # type: ignore[attr-defined]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_fmt_keeps_a_comment_at_any_token(file: object) -> None:
    text = example(file.name)  # type: ignore[attr-defined]
    rng, places = seeded(), boundaries(text)
    for at in rng.sample(places, min(draws(50), len(places))):
        assert_format_laws(with_comment(text, at, '# a "new" one', own_line=rng.random() < 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("own_line", [False, True])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_fmt_keeps_a_comment_at_every_token(file: object, own_line: bool) -> None:
    text = example(file.name)  # type: ignore[attr-defined]
    for at in boundaries(text):
        assert_format_laws(with_comment(text, at, '# a "new" one', own_line=own_line))


@pytest.mark.data
def test_official_texts_are_formatted() -> None:
    texts = official_models()
    assert len(texts) > 800
    rng = seeded()
    for text in rng.sample(texts, draws(len(texts))):
        crlf = rng.random() < 0.3 and '"""' not in text
        assert_format_laws(text.replace("\n", "\r\n") if crlf else text)


@pytest.mark.data
def test_fmt_keeps_comments_at_all_tokens_of_official_texts() -> None:
    rng = seeded()
    texts = official_models()
    for text in rng.sample(texts, draws(len(texts))):
        assert_format_laws(with_all(text, own_line=rng.random() < 0.5))


@pytest.mark.data
@pytest.mark.parametrize("part", range(4))
def test_fmt_keeps_a_comment_at_any_token_of_official_texts(part: int) -> None:
    rng = seeded()
    texts = [text for text in official_models() if len(text) < 3000][part::4]
    for _ in range(draws(400)):
        text = rng.choice(texts)
        at = rng.choice(list(boundaries(text)))
        assert_format_laws(with_comment(text, at, "# new", own_line=rng.random() < 0.5))


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_fmt_keeps_comments_and_bytes_of_models_in_any_encoding() -> None:
    rng = seeded()
    inputs = Inputs(rng)
    for _ in range(draws(100)):
        data = inputs.draw()
        if not is_model(data):
            continue
        text = onnxtext.from_binary(data)
        share = rng.choice((0.02, 0.2, 0.7))
        for at in reversed(boundaries(text)):
            if rng.random() < share:
                text = with_comment(text, at, f"# {at}", own_line=rng.random() < 0.5)
        assert onnxtext.to_binary(assert_format_laws(text)) == data


def test_an_empty_comment_ends_a_text_without_line_break() -> None:
    assert_format_laws("g () => () {= <a = [float]> ()}#")


def test_long_comments_do_not_break_other_lists() -> None:
    comment = "# " + "c" * 90
    formatted = assert_format_laws(f"g (float x, float y {comment}\n) => (float z) {{}}")
    assert formatted == f"g (\n  float x,\n  float y, {comment}\n) => (float z) {{}}\n"


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("g () => () # of it\n{}", "g () => () { # of it\n}\n"),
        (
            "g (float x, # input\n) => () # of it\n\n# nodes\n{\n\n # first\n y = Op ()\n}",
            "g (\n  float x, # input\n) => () { # of it\n  # nodes\n  # first\n  y = Op ()\n}\n",
        ),
        (
            "g () => () # a\n < # b\n float w> # c\n # d\n { # e\n}",
            "g () => () < # a\n  # b\n  float w,\n> { # c\n  # d\n  # e\n}\n",
        ),
        (
            "g () => () { y = Op <b = t () => ()\n# nodes\n{\n\n z = Op ()\n}> () }",
            "g () => () {\n  y = Op () <\n    b = t () => () {\n      # nodes\n      z = Op ()\n"
            "    },\n  >\n}\n",
        ),
    ],
)
def test_comments_before_blocks_move_into_them(text: str, formatted: str) -> None:
    assert assert_format_laws(text) == formatted


@pytest.mark.parametrize("count", [0, 150])
def test_comments_move_below_the_blank_line_above_their_statement(count: int) -> None:
    """The text is formatted in full if it is short, and incrementally if it is long."""
    others = "".join([f"  v{index} = Op ()\n" for index in range(count)])
    moved = "\n  # moved\n  y = Op (x)\n"
    formatted = assert_format_laws(
        f"g () => () {{\n  x = Op ()\n\n  y = Op # moved\n (x)\n{others}\n"
        f"  y = # moved\n Op (x)\n}}\n"
    )
    assert formatted == f"g () => () {{\n  x = Op ()\n{moved}{others}{moved}}}\n"


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        ("1, 2, # begin\n3, 4 # end\n", ["1, 2, # begin", "3, 4, # end"]),
        ("1,\n2,\n3, # three\n4,\n5", ["1, 2,", "3, # three", "4, 5,"]),
        ("1, 2,\n# rest\n3,\n\n4, 5", ["1, 2,", "# rest", "3,", "", "4, 5,"]),
        (
            f"{'1000000, ' * 14}# long\n1",
            [", ".join(["1000000"] * 10) + ",", ", ".join(["1000000"] * 4) + ", # long", "1,"],
        ),
    ],
)
@pytest.mark.parametrize("start", ["a = [", "a = float[{}] {", "a = float[{}] ["])
def test_lists_with_comments_fill_their_lines(items: str, lines: list[str], start: str) -> None:
    start = start.replace("{}", str(" ".join(lines).count(",")))
    closing = "}" if start.endswith("{") else "]"
    formatted = assert_format_laws(f"g () => () {{ y = Op <{start}{items}{closing}> () }}")
    listed = formatted.partition(f"{start}\n")[2].partition(f"\n    {closing}")[0]
    assert [line.strip() for line in listed.split("\n")] == lines


@pytest.mark.parametrize(
    ("node", "formatted"),
    [
        ("y = Op (a, # one\nb # two\n) # y", "y = Op (\n a, # one\n b, # two\n) # y"),
        ("y = Op # op\n ( # all\n\n# own\na,\n)", "# op\ny = Op ( # all\n # own\n a,\n)"),
        ("y = Op <i = 1> (a\n# end\n)", "y = Op <i = 1> (\n a,\n # end\n)"),
        ("y = Op (a # one\n) <\ni = 1 # two\n>", "y = Op (\n a, # one\n) <\n i = 1, # two\n>"),
        (
            "y = Op <\ni = 1 # one\n> # op\n (a # two\n)",
            "y = Op <\n i = 1, # one\n # op\n> (\n a, # two\n)",
        ),
        (
            f'y = Op <i = 1, s = "{"s" * 80}"> (a # one\n)',
            f'y = Op (\n a, # one\n) <\n i = 1,\n s = "{"s" * 80}",\n>',
        ),
        ("y = Op (a, , # one\nb)", '# one\ny = Op (a, "", b)'),
        ("y = Op ( # none\n)", "# none\ny = Op ()"),
    ],
)
@pytest.mark.parametrize("count", [0, 150])
def test_comments_between_inputs_stay_there(node: str, formatted: str, count: int) -> None:
    """The text is formatted in full if it is short, and incrementally if it is long."""
    others = "".join([f"  v{index} = Op ()\n" for index in range(count)])
    lines = "".join([f"  {line}\n" for line in formatted.replace("\n ", "\n  ").split("\n")])
    result = assert_format_laws(f"g () => () {{\n{others}{node}\n{others}}}")
    assert result == f"g () => () {{\n{others}{lines}{others}}}\n"
