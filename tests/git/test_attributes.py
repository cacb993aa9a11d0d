# SPDX-License-Identifier: Apache-2.0
"""The block that onnxtext writes in attributes files; all other bytes are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext.git.gitattributes import AttributesFile, DamagedBlock

LINES = ["*.onnx -text filter=onnxtext", "*.x y"]
ODD = [
    None,
    b"",
    b"\n",
    b"*.py text\n",
    b"*.py text",
    b"*.py text\r\n*.c text\r\n",
    b"*.py text\r\n*.c text",
    b"# onnxtext\n\n\n",
    b"*.onnx filter=lfs diff=lfs merge=lfs -text\n",
    "ünï*.cödé text\n".encode(),
    b"\xff\xfe\x00 binary\n",
    b" \t\n",
    b"a\rb",
]
CONTENTS = st.sampled_from(ODD) | st.lists(
    st.sampled_from([b"*.py text", b"\n", b"\r\n", b"# onnxtext", b" ", b"\\", b"\xff", b"x"])
).map(b"".join)


@given(CONTENTS)
def test_uninstall_restores_the_file(content: bytes | None) -> None:
    result = AttributesFile(content).with_lines(LINES)
    assert result is not None
    assert result.startswith(content or b"")
    assert AttributesFile(result).lines() == LINES
    assert AttributesFile(result).with_lines([]) == content


@given(CONTENTS)
def test_installing_twice_changes_nothing(content: bytes | None) -> None:
    result = AttributesFile(content).with_lines(LINES)
    assert AttributesFile(result).with_lines(LINES) == result
    other = AttributesFile(result).with_lines(LINES[:1])
    assert AttributesFile(other).lines() == LINES[:1]
    assert AttributesFile(other).with_lines(LINES) == result
    assert AttributesFile(content).with_lines([]) == content


@given(CONTENTS, st.sampled_from([b"*.z z\n", b"*.z z", b"\r\n"]))
def test_lines_added_behind_our_block_are_kept(content: bytes | None, added: bytes) -> None:
    result = AttributesFile(content).with_lines(LINES)
    assert result is not None
    rest = AttributesFile(result + added).with_lines([])
    assert rest is not None
    assert rest.splitlines() == (content or b"").splitlines() + added.splitlines()


def test_line_ends_are_those_of_the_file() -> None:
    result = AttributesFile(b"*.c text\r\n").with_lines(LINES)
    assert result is not None
    assert result.count(b"\n") == result.count(b"\r\n") == 1 + len(LINES) + 2


@pytest.mark.parametrize("cut", ["begin", "end"])
def test_an_incomplete_block_is_an_error(cut: str) -> None:
    result = AttributesFile(b"*.c text\n").with_lines(LINES)
    assert result is not None
    half = b"".join(line for line in result.splitlines(True) if cut.encode() not in line)
    with pytest.raises(DamagedBlock):
        AttributesFile(half).with_lines(LINES)
    with pytest.raises(DamagedBlock):
        AttributesFile(half).with_lines([])
    with pytest.raises(DamagedBlock):
        AttributesFile(result + result).lines()
