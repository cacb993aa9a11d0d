# SPDX-License-Identifier: Apache-2.0
"""Our block in attributes files: every other byte is kept."""

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
    made = AttributesFile(content).with_lines(LINES)
    assert made is not None
    assert made.startswith(content or b"")
    assert AttributesFile(made).lines() == LINES
    assert AttributesFile(made).with_lines([]) == content


@given(CONTENTS)
def test_installing_twice_changes_nothing(content: bytes | None) -> None:
    made = AttributesFile(content).with_lines(LINES)
    assert AttributesFile(made).with_lines(LINES) == made
    other = AttributesFile(made).with_lines(LINES[:1])
    assert AttributesFile(other).lines() == LINES[:1]
    assert AttributesFile(other).with_lines(LINES) == made
    assert AttributesFile(content).with_lines([]) == content


@given(CONTENTS, st.sampled_from([b"*.z z\n", b"*.z z", b"\r\n"]))
def test_lines_added_behind_our_block_are_kept(content: bytes | None, added: bytes) -> None:
    made = AttributesFile(content).with_lines(LINES)
    assert made is not None
    rest = AttributesFile(made + added).with_lines([])
    assert rest is not None
    assert rest.splitlines() == (content or b"").splitlines() + added.splitlines()


def test_line_ends_are_those_of_the_file() -> None:
    made = AttributesFile(b"*.c text\r\n").with_lines(LINES)
    assert made is not None
    assert made.count(b"\n") == made.count(b"\r\n") == 1 + len(LINES) + 2


@pytest.mark.parametrize("cut", ["begin", "end"])
def test_an_incomplete_block_is_an_error(cut: str) -> None:
    made = AttributesFile(b"*.c text\n").with_lines(LINES)
    assert made is not None
    half = b"".join(line for line in made.splitlines(True) if cut.encode() not in line)
    with pytest.raises(DamagedBlock):
        AttributesFile(half).with_lines(LINES)
    with pytest.raises(DamagedBlock):
        AttributesFile(half).with_lines([])
    with pytest.raises(DamagedBlock):
        AttributesFile(made + made).lines()
