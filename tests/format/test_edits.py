# SPDX-License-Identifier: Apache-2.0
"""L3 for any text: real texts with random edits, and random sentences of the grammar.

Each run draws a new seed, and reports it if a law fails; `ONNXTEXT_SEED` sets the seed.
"""

from __future__ import annotations

import random

import pytest

import onnxtext
from tests.format.edits import edited, is_text
from tests.format.laws import assert_format_laws
from tests.format.sources import drawn_text, wrapped
from tests.running import count_calls
from tests.seeds import draws, fresh_seed

pytestmark = pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")

STORE = """\
g (x) => (y) {
  y = Relu (x)   # by hand
}
resources { store : "a b/c" # the weights
  safetensors: "m.safetensors" }
"""


@pytest.mark.thorough
def test_edited_texts_and_sentences_keep_the_laws() -> None:
    seed = fresh_seed()
    done = 0
    while done < draws(400):
        seed += 1
        rng = random.Random(seed)
        text = drawn_text(rng)
        if text is not None and rng.random() < 0.9:
            text = edited(rng, text)
        if text is None or not is_text(text):
            continue
        done += 1
        try:
            assert_format_laws(text)
        except Exception as error:
            shown = f"{text[:2000]!r}…" if len(text) > 2000 else repr(text)
            raise AssertionError(f"ONNXTEXT_SEED={seed - 1}, the text is {shown}") from error


def test_paths_of_weights_are_kept() -> None:
    formatted = assert_format_laws(STORE)
    assert '  store: "a b/c" # the weights\n  safetensors: "m.safetensors"\n' in formatted


@pytest.mark.parametrize(
    "text",
    [
        "g (int64[N, 3] x) => () \n#  \n{} # fmt: skip\n",
        "g () => () {\n  y = Op # a\n    (x,\n # b\n  z) # fmt: skip\n  z  =  A (y)\n}\n",
        "g () => () <\n  float[2] w = {1,\n # two\n 2}, # fmt: skip\n float[1] v\n> {}\n",
        "g () => () { y = If (x) <b = t () => () {\n z =\n# c\n A () # fmt: skip\n }> }\n",
    ],
)
def test_fmt_keeps_comments_in_skipped_statements(text: str) -> None:
    assert_format_laws(text)


@pytest.mark.parametrize("comment", ['"', "}>)", "a, b = [1"])
@pytest.mark.parametrize("start", ["g (", "g () => () { y = Op () <a = "])
def test_comments_in_types_are_kept(comment: str, start: str) -> None:
    """A type with a comment is not broken into lines, where the comment could pass for syntax."""
    type = f'seq(@denotation( # {comment}\n"of the inner") float[{", ".join("N" * 40)}])'
    assert_format_laws(f"{start}{type}{' x) => () {}' if start == 'g (' else '> }'}")


@pytest.mark.parametrize("type", ["undefined", "float", "float[2]", "undefined[2]", "undefined w"])
@pytest.mark.parametrize("end", [">", " >", ",>", "\n>"])
@pytest.mark.parametrize("kind", ["node", "function"])
def test_tensors_without_data_at_the_end_of_a_list_are_kept(type: str, end: str, kind: str) -> None:
    """The `=` and the `>` become an arrow if nothing is between them."""
    if type == "undefined" and end == ">":
        return  # `undefined =>` begins a graph
    start = "y = Op <a = 1, t" if kind == "node" else "f <a, t"
    rest = "()" if kind == "node" else "() => () {}"
    text = wrapped(kind, f"{start} = {type} ={end}{rest}")
    assert onnxtext.parse(assert_format_laws(text)) == onnxtext.parse(text)


@pytest.mark.parametrize("type", ["string", "float", "float[2]"])
@pytest.mark.parametrize("name", range(50, 90, 4))
def test_blobs_of_typed_data_stay_on_one_line(type: str, name: int) -> None:
    """A blob in braces stays on one line, in whatever way the text around it is formatted."""
    blob = 'blob"6e340b9cffb37a989ca544e6bb780a2c"'
    tensor = f"{type} {'n' * name} = {{{blob}}}"
    for start in (f"g () => () <{tensor}> {{", f"g () => () {{ y = A <a = {tensor}> () "):
        printed = assert_format_laws(f"{start}}}")
        commented = assert_format_laws(f"{start} [ # first\n label] z = B ()\n}}")
        assert f"{{{blob}}}" in printed
        without = commented.replace("  # first\n  [label] z = B ()\n", "")
        assert without == printed.replace(" {}", " {\n}")


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [48, 90, 97, 200, 330])
@pytest.mark.parametrize("comment", ["", "# why\n"])
def test_deeply_nested_records_are_formatted(depth: int, comment: str) -> None:
    assert_format_laws(f"@set(999: {comment}{'{1: ' * depth}1{'}' * depth})g () => () {{}}")


def test_nested_records_are_formatted_in_linear_time() -> None:
    def calls(depth: int) -> int:
        text = f"@set(999: # why\n{'{1: ' * depth}1{'}' * depth})g () => () {{}}"
        return count_calls(lambda: onnxtext.format_text(text))

    assert calls(120) < 5 * calls(30)


@pytest.mark.parametrize("depth", [10, 50, 90, 97, 98])
def test_nested_groups_of_binaries_are_formatted(depth: int) -> None:
    data = bytes([0x0B] * depth + [0x0C] * depth)  # groups of field 1 in one another
    text = onnxtext.from_binary(b"\x9b\x06" + data + b"\x9c\x06")
    assert onnxtext.format_text(text) == text
    assert_format_laws(text + "# by hand\n")
