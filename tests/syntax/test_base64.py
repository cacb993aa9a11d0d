# SPDX-License-Identifier: Apache-2.0
"""Base64 data may contain whitespace, but no other characters: they would be lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.syntax.actions.resources import decode_base64
from tests.running import limited

MODEL = b"\x08\x0a\x3a\x03\x12\x01g\xf8\x07\x80\x00"  # an unknown field with an overlong number
TEXT = onnxtext.from_binary(MODEL)


@given(st.binary(), st.data())
def test_whitespace_is_skipped_and_other_characters_are_errors(
    data: bytes, choose: st.DataObject
) -> None:
    from base64 import b64encode

    text = b64encode(data).decode()
    at = choose.draw(st.integers(0, len(text)))
    blank = choose.draw(st.text(" \n\t\r"))
    assert decode_base64(text[:at] + blank + text[at:]) == data
    junk = choose.draw(st.text('#=!~-_"', min_size=1))
    with pytest.raises(ValueError, match=r"base64|adding|ASCII|characters"):
        decode_base64(text[:at] + junk + text[at:])


@pytest.mark.parametrize("junk", ["#", "# the patch\n    ", "=", "!~", "é"])
@pytest.mark.parametrize("section", ["patch", "base64"])
def test_other_characters_in_a_section_are_errors(section: str, junk: str) -> None:
    weight = "float[40] w = [" + ", ".join(str(n) for n in range(40)) + "]"
    source = f"<onnxtext: 1, ir_version: 10>\ng () => () <{weight}> {{}}\n"
    if section == "base64":
        text = onnxtext.from_binary(onnxtext.to_binary(source), inline_limit=0)
    else:
        text = TEXT
    before, opening, after = text.partition('"""\n')
    assert opening
    with pytest.raises(onnxtext.OnnxTextError, match=r"resource .* is damaged|encoding section"):
        onnxtext.to_binary(before + opening + "    " + junk + after.lstrip(" "))


def _resource(data: str) -> str:
    name = "0123456789abcdef"
    head = f'<onnxtext: 1>\ng () => () <float[40] w = blob"{name}"> {{}}\nresources {{\n'
    return f'{head}  "{name}": base64 """\n{data}\n  """\n}}\n'


@pytest.mark.parametrize(
    ("data", "code", "marked"),
    [
        ("AAAA\nAA=A\nAAAA", "syntax-error", "="),
        ("AAAA\nAAé\nAAAA", "syntax-error", "é"),
        ("AAAA\nAA\xa0AA\nAAAA", "syntax-error", "\xa0"),
        ("AAAA\n<<<<<<< HEAD\nAAAB\n=======\nAAAC\n>>>>>>> b", "merge-conflict", "<<<<<<< HEAD"),
        ("AAAA\n=======\nAAAC\n>>>>>>> b", "merge-conflict", "======="),
        ("AAAA\nAA==\n- AAAA", "syntax-error", "-"),
        ("AAAA\nAA==\nAAAA", "syntax-error", "="),
        ("AAAA\nAAA\nAAAA\nAA==", "syntax-error", "AAA"),
        ("AAA\nAAAA\nAA==", "syntax-error", "AAA"),
        ("AAAAA\nAAAA\nAA==", "syntax-error", "AAAAA"),
        ("  AAAAAAAA\n  AAABAAAA // note \n  AAACAAAA", "syntax-error", "AAABAAAA // note"),
    ],
)
def test_wrong_characters_of_a_resource_are_marked(data: str, code: str, marked: str) -> None:
    text = _resource(data)
    with pytest.raises(onnxtext.OnnxTextError) as caught:
        onnxtext.to_binary(text)
    (error,) = caught.value.diagnostics
    span = error.labels[0].span
    assert (error.code, text[span.start : span.end]) == (code, marked)
    start = text.index("\nAAA\n") + 1 if marked == "AAA" else text.index(marked, text.index('"""'))
    assert span.start == start


def test_much_padding_is_rejected_in_linear_time() -> None:
    with limited(5):
        for padding in ("=" * 100_000, "= " * 100_000):
            with pytest.raises(onnxtext.OnnxTextError, match="excess padding"):
                onnxtext.to_binary(_resource(padding))
