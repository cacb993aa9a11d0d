# SPDX-License-Identifier: Apache-2.0
"""`check` finds everything that `to_binary` rejects, such as invalid records or missing weights."""

from __future__ import annotations

import random
import re
import warnings

import pytest

import onnxtext
from onnxtext import OnnxTextError
from onnxtext.ast.model import Fragment
from onnxtext.checker.context.registry import rules
from onnxtext.checker.engine.check_source import parse_any
from onnxtext.source import Source
from tests.checker.models import errors
from tests.corpus import onnx_directory, wheel_models
from tests.diagnostics.test_pages import blocks
from tests.seeds import draws, fresh_seed

pytestmark = pytest.mark.thorough

BLOBS = ("blob-missing", "blob-damaged", "blob-ambiguous", "blob-size")
MODEL = """\
<
  onnxtext: 1,
  ir_version: 11,
  opset_import: ["": 21, "e": 1, "my": 1],
  explicit: [node.doc_string],
>
@doc("main")
main (float[4] x, @data.set(doc_string: "d") float[4] d = {1, 2, 3, 4}) => (float[4] y) <
  float[4] w = blob"ad73b9acd6e4a74b2f5bb5386658ce3b",
  @segment(begin: 0, end: 4)
  float[4] v = blob"ad73b9acd6e4a74b",
  int8[3] b = int32_data{1, 2, 3},
  float[4] f = ["location": "w.bin"],
> {
  [first] a = Add (x, w)
  @device("two", sharding_spec: [{tensor_name: "a", device: [0, 1]}])
  @meta("k": "v")
  t = e.Op <s = blob"ad73b9acd6e4a74b", l: ints = blob"ad73b9acd6e4a74b", r = {i: 3, type: INT}> (a)
  c = Constant <value = float[4] blob"ad73b9acd6e4a74b2f5bb5386658ce3b"> ()
  @set(doc_string: "n", 1000: 7)
  y = my.F <k = 1.0> (c)
}

<domain: "my", opset_import: [21]>
F <k: float = 2.0> (p) => (q) {
  q = LeakyRelu <alpha: float = @k> (p)
}

configuration "two" {
  num_devices: 2
}

resources {
  "ad73b9acd6e4a74b2f5bb5386658ce3b": base64 \"\"\"
    AACAPwAAAEAAAEBAAACAQA==
    \"\"\"
}
"""
WORDS = (
    "@nonsense", "@doc", "@set", "@unset", "@meta", "@segment", "@device", "@denotation",
    "@value_info", "doc_string", "name", "op_type", "domain", "data_type", "dims", "raw_data",
    "begin", "end", "3", "-1", "4294967296", "1e400", "0.5", '"text"', "{}", "[]", "FLOAT", "INT",
    "float", "int4", "string", "float8e8m0", 'blob"0123456789abcdef"', "x", "w", "i", "f", "type",
)  # fmt: skip
"""Replacements for a token of a text."""
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[@\w.]+|[^\s\w]')


UNLOWERABLE = {
    *BLOBS, "invalid-record", "metadata-left-out", "weights-left-out", "weights-missing",
    "weights-unreadable", "model-too-large", "too-deep",
}  # fmt: skip
"""The codes of texts that can be parsed, but not encoded."""


def rejections(text: str) -> list[str]:
    """Return the codes with which `to_binary` rejects a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            onnxtext.to_binary(text)
        except OnnxTextError as error:
            return [item.code for item in error.diagnostics]
    return []


def is_fragment(text: str) -> bool:
    """Whether a text is a fragment: a function or nodes."""
    try:
        root = parse_any(Source(text))
    except OnnxTextError:
        return False
    return isinstance(root, Fragment)


def kind_of(word: str) -> str:
    """Return the kind of a token: decorator, string, number, name or punctuation."""
    if word.startswith("@"):
        return "@"
    return word[0] if word[0] == '"' else "0" if word[0].isdigit() else "a" * word[0].isalpha()


def mutate(text: str, chosen: random.Random) -> str:
    """Replace, remove, repeat or swap a few tokens."""
    words = [match.span() for match in _TOKEN.finditer(text)]
    for _ in range(chosen.choice((1, 1, 1, 2, 3))):
        start, end = chosen.choice(words)
        other = text[slice(*chosen.choice(words))]
        new = chosen.choice((chosen.choice(WORDS), other, "", text[start:end] * 2))
        if chosen.random() < 0.8:  # the text stays parsable
            same_kind = [word for word in WORDS if kind_of(word) == kind_of(text[start:end])]
            new = chosen.choice(same_kind) if same_kind else new
        if chosen.random() < 0.1:  # change a digit of a digest, number or name
            new = text[start:end].replace(chosen.choice("0123456789abcdef"), "7")
        text = text[:start] + new + text[end:]
        words = [match.span() for match in _TOKEN.finditer(text)] or [(0, 0)]
    return text


def texts() -> list[str]:
    """Return the texts to mutate: all constructs by hand, examples of rules, small real models."""
    found = [MODEL] * 400
    found += [blocks(code)["Fixed"] for code in (*rules(), *BLOBS)]
    files = [f for f in wheel_models() if (onnx_directory() / f).stat().st_size < 3_000]
    found += [onnxtext.from_binary((onnx_directory() / f).read_bytes()) for f in files[::8]]
    return found


def compare(text: str) -> bool:
    """Assert that `check` reports each code with which `to_binary` rejects a text.

    Returns:
        Whether `to_binary` rejects the text although it can be parsed.
    """
    codes = rejections(text)
    if codes:
        found = errors(onnxtext.check(text))
        assert set(codes) <= {item.code for item in found} or is_fragment(text), text
        assert all(item.span is not None for item in found), text
    return bool(codes) and bool(set(codes) & UNLOWERABLE)


def test_the_text_to_mutate_is_valid() -> None:
    assert not rejections(MODEL)
    assert not errors(onnxtext.check(MODEL))


def sweep(count: int, seed: int) -> int:
    chosen = random.Random(seed)
    chosen_texts = texts()
    refused = 0
    for _ in range(count):
        text = mutate(chosen.choice(chosen_texts), chosen)
        try:
            refused += compare(text)
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{text}") from error
    return refused


def test_check_finds_what_to_binary_rejects() -> None:
    number, seed = draws(250), fresh_seed()
    # About one of 25 texts is rejected. If the first sweep rejects none, up to four more follow.
    assert any(sweep(number, seed + part) for part in range(5))


@pytest.mark.parametrize("version", [1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63)])
def test_versions_outside_of_onnx_range_hide_no_findings(version: int) -> None:
    text = MODEL.replace('"my": 1', f'"my": {version}').replace("Add (x, w)", "Add (x, nothing)")
    assert {"value-undefined"} <= {item.code for item in onnxtext.check(text)}
    text = MODEL.replace("ir_version: 11", f"ir_version: {version}").replace("(x, w)", "(x, q)")
    assert {"value-undefined"} <= {item.code for item in onnxtext.check(text)}


def test_every_missing_blob_is_found_once() -> None:
    text = MODEL.partition("\nresources")[0].replace('l: ints = blob"ad7', 'l: ints = blob"bd7')
    found = errors(onnxtext.check(text))
    assert {item.code for item in found} == {"blob-missing"}
    places = [[text[s.span.start : s.span.end] for s in item.labels] for item in found]
    assert places == [
        ["ad73b9acd6e4a74b2f5bb5386658ce3b", "ad73b9acd6e4a74b2f5bb5386658ce3b"],
        ["ad73b9acd6e4a74b", "ad73b9acd6e4a74b"],
        ["bd73b9acd6e4a74b"],
    ]


def test_findings_of_other_rules_are_reported_too() -> None:
    text = MODEL.replace("e.Op", "Opp").replace("@meta", "@nonsense").replace("AACAP", "BACAP")
    codes = {item.code for item in errors(onnxtext.check(text))}
    assert codes == {"op-unknown", "invalid-record", "blob-damaged"}


@pytest.mark.parametrize("code", BLOBS)
def test_examples_of_pages_are_rejected(code: str) -> None:
    assert rejections(blocks(code)["Example"]) == [code]
    assert not onnxtext.check(blocks(code)["Fixed"])


def test_a_graph_fragment_is_rejected_too() -> None:
    for text in (
        'g () => () <float[4] w = blob"0123456789abcdef"> {}',
        "@nonsense(3) g () => () {}",
        "g () => (y) { @nonsense(3) y = Relu (x) }",
    ):
        assert compare(text)


def test_abbreviated_texts_are_rejected() -> None:
    data = onnxtext.to_binary(MODEL)
    text = onnxtext.from_binary(data, weights="none", metadata="none", inline_limit=0)
    assert compare(text)


@pytest.mark.parametrize("decorator", ['@meta("k": "v")', "@unset(name)", "@type.set(999: 5i32)"])
def test_types_that_cannot_be_encoded_are_unknown_to_inference(decorator: str) -> None:
    text = f"g (float[{decorator} N] a, float[N] b) => (c) {{ c = Add (a, b) }}"
    assert compare(text)
    assert compare("<ir_version: 10, opset_import: [18]>" + text)
