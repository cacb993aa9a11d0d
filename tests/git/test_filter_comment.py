# SPDX-License-Identifier: Apache-2.0
"""The comment of stored texts, and conflicts without weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from onnx import helper, numpy_helper

import onnxtext
from onnxtext.git.clean_smudge import clean, smudge
from onnxtext.git.drivers import merge_files
from onnxtext.git.filter_comment import NOTE, has_note, without_note
from onnxtext.git.left_out_weights import REMARK, leave_out
from onnxtext.git.textconv import review_text
from tests.git.repository import STORED, TEXT, Repository, binary, create
from tests.strategies import models

NOTED = {False: b"", True: NOTE}


def stored(data: bytes, name: str = "m.onnx") -> bytes:
    result = clean(data, name=name)
    assert not result.warnings
    return data if result.data is None else result.data


def checked_out(data: bytes) -> bytes:
    result = smudge(data, name="m.onnx")
    return data if result.data is None else result.data


@pytest.mark.thorough
@given(models())
@settings(max_examples=20)
def test_models_do_not_contain_the_comment(data: bytes) -> None:
    text = stored(data)
    if data:
        assert text.startswith(NOTE)
        assert without_note(text) == onnxtext.from_binary(data).encode()
    assert checked_out(text) == data


@pytest.mark.parametrize(
    "text",
    [
        STORED,
        NOTE + STORED,
        NOTE.replace(b"\n", b"\r\n") + TEXT.encode(),
        NOTE[:50] + b"\n" + TEXT.encode(),
        b"\n" + STORED,
        NOTE + b"# mine\n" + TEXT.encode(),
    ],
)
def test_a_text_of_a_user_with_the_comment_is_stored_unchanged(text: bytes) -> None:
    assert stored(text) == text
    assert checked_out(text) == binary()


def test_a_text_that_only_lacks_the_comment_gets_it() -> None:
    """Otherwise git would report the model as changed after a checkout."""
    assert stored(TEXT.encode()) == STORED
    for other in (b"\xef\xbb\xbf" + TEXT.encode(), b"# mine\n" + TEXT.encode()):
        assert stored(other) == other
        assert checked_out(other) == binary()


@pytest.mark.parametrize("rest", [b"", b"no model\n", TEXT.encode()[:-4], b"<<<<<<< ours\n"])
def test_what_cannot_be_converted_keeps_the_comment(rest: bytes) -> None:
    data = NOTE + rest
    assert smudge(data, name="m.onnx").data is None
    assert clean(data, name="m.onnx").data is None
    assert smudge(NOTE + TEXT.encode(), name="m.onnxtxt").data is None


def test_reviews_do_not_show_the_comment() -> None:
    shown = review_text(STORED)
    assert shown == review_text(binary()) == TEXT


@pytest.fixture
def merged(tmp_path: Path) -> object:
    def run(base: bytes, ours: bytes, theirs: bytes) -> tuple[int, bytes]:
        places = []
        for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
            place = tmp_path / name
            place.write_bytes(data)
            places.append(place)
        result, _ = merge_files(*places, marker_size=7, labels=(), path="m.onnx")
        return result, places[1].read_bytes()

    return run


SIDES = (
    TEXT.encode(),
    TEXT.replace("Tanh", "Elu").encode(),
    TEXT.replace("Sigmoid", "HardSigmoid").encode(),
)
BOTH = TEXT.replace("Tanh", "Elu").replace("Sigmoid", "HardSigmoid").encode()


@pytest.mark.parametrize("noted", list(np.ndindex(2, 2, 2)), ids=str)
def test_merges_ignore_the_comment(noted: tuple[int, int, int], merged: object) -> None:
    """The models merge whichever versions have the comment; the comment merges like a line."""
    base, ours, theirs = map(bool, noted)
    versions = [NOTED[has] + text for has, text in zip((base, ours, theirs), SIDES, strict=True)]
    expected = theirs if ours == base else ours
    assert merged(*versions) == (0, NOTED[expected] + BOTH)  # type: ignore[operator]
    only = merged(versions[0], NOTED[ours] + SIDES[0], versions[2])  # type: ignore[operator]
    assert only == (0, NOTED[expected] + SIDES[2])


def test_a_conflict_keeps_the_comment_once(merged: object) -> None:
    ours, theirs = (NOTE + TEXT.replace("Tanh", op).encode() for op in ("Elu", "Selu"))
    conflicts, text = merged(STORED, ours, theirs)  # type: ignore[operator]
    assert conflicts == 1
    assert text.count(NOTE) == 1
    assert text.startswith(NOTE + b"<\n")


# ---- Weights in conflicts --------------------------------------------------------------------


def weighted(operator: str, *shifts: int) -> bytes:
    """A model with two large weights, and a long list."""
    weights = [
        numpy_helper.from_array(np.arange(200, dtype=np.float32) + shift, f"w{index}")
        for index, shift in enumerate(shifts)
    ]
    nodes = [
        helper.make_node("Add", ["w0", "w1"], ["a"], list=[*range(50)]),
        helper.make_node(operator, ["a"], ["b"]),
    ]
    return helper.make_model(helper.make_graph(nodes, "g", [], [], weights)).SerializeToString()


def diverged(path: Path) -> Repository:
    """Commit a change of an operator and a weight here and, in conflict, in the branch `theirs`."""
    repository = create(path)
    repository.onnxtext("git", "install", "--mode", "filter")
    repository.commit("base", m=weighted("Relu", 0, 1000))
    repository.git("checkout", "-q", "-b", "theirs")
    repository.commit("theirs", m=weighted("Elu", 0, 3000))
    repository.git("checkout", "-q", "-")
    repository.commit("ours", m=weighted("Tanh", 2000, 1000))
    return repository


@pytest.fixture
def conflict(tmp_path: Path) -> Repository:
    """A merge with a conflict: an operator on both sides, a weight on theirs."""
    repository = diverged(tmp_path)
    assert repository.git("merge", "theirs", check=False).status == 1
    return repository


def indexed(repository: Repository, name: str = "m.onnx") -> bytes:
    return repository.git("cat-file", "blob", f":{name}").out


def resolve(repository: Repository, operator: bytes) -> None:
    lines, within = [], False
    for line in repository.read("m.onnx").splitlines(keepends=True):
        if line.startswith((b"<<<<<<< ", b">>>>>>> ")):
            within = line.startswith(b"<")
            if not within:
                lines.append(b"  b = " + operator + b" (a)\n")
        elif not within:
            lines.append(line)
    repository.write("m.onnx", b"".join(lines))


@pytest.mark.thorough
def test_a_conflict_has_no_weights_and_its_resolution_has_them(conflict: Repository) -> None:
    text = conflict.read("m.onnx")
    assert text.startswith(NOTE)
    assert b"base64" not in text
    assert text.endswith(REMARK + b"\nresources none\n")
    resolve(conflict, b"Selu")
    conflict.git("add", "m.onnx")
    expected = weighted("Selu", 2000, 3000)
    assert smudge(indexed(conflict)).data == expected
    conflict.git("commit", "-q", "--no-edit")
    assert conflict.onnxtext("git", "checkout").text == "ok m.onnx\n"
    assert conflict.read("m.onnx") == expected
    assert conflict.git("status", "--porcelain").text == ""


@pytest.mark.thorough
def test_the_text_can_be_added_again(conflict: Repository) -> None:
    """Then the stages of the conflict are gone, but the index has the weights."""
    resolve(conflict, b"Selu")
    conflict.git("add", "m.onnx")
    assert conflict.git("diff", "--name-only").text == ""
    conflict.write("m.onnx", conflict.read("m.onnx").replace(b"Selu", b"Abs"))
    conflict.git("add", "m.onnx")
    assert smudge(indexed(conflict)).data == weighted("Abs", 2000, 3000)


@pytest.mark.thorough
def test_adding_conflict_markers_loses_no_weights(conflict: Repository) -> None:
    conflict.git("add", "m.onnx")
    assert b"<<<<<<<" in indexed(conflict)
    resolve(conflict, b"Abs")
    conflict.git("add", "m.onnx")
    assert smudge(indexed(conflict)).data == weighted("Abs", 2000, 3000)


@pytest.mark.thorough
def test_a_rebase_loses_no_weights(tmp_path: Path) -> None:
    repository = diverged(tmp_path)
    repository.git("checkout", "-q", "theirs")
    main = repository.git("rev-parse", "--abbrev-ref", "@{-1}").text.strip()
    assert repository.git("rebase", main, check=False).status == 1
    assert b"base64" not in repository.read("m.onnx")
    resolve(repository, b"Selu")
    repository.git("add", "m.onnx")
    repository.git("-c", "core.editor=true", "rebase", "--continue")
    assert smudge(repository.blob("m.onnx")).data == weighted("Selu", 2000, 3000)


@pytest.mark.thorough
def test_weights_that_git_does_not_have_are_reported(conflict: Repository) -> None:
    resolve(conflict, b"Selu")
    text = conflict.read("m.onnx")
    conflict.git("merge", "--abort")
    conflict.write("other.onnx", text)
    added = conflict.git("add", "other.onnx")
    assert "other.onnx: stored without its weights" in added.err
    assert indexed(conflict, "other.onnx") == text


def test_without_the_filter_weights_stay_in_the_text(tmp_path: Path) -> None:
    """Without the filter, no program would put left-out weights back."""
    texts = [onnxtext.from_binary(weighted(op, 0, 1)).encode() for op in ("Relu", "Elu", "Tanh")]
    for name, text in zip("bot", texts, strict=True):
        (tmp_path / name).write_bytes(text)
    places = [tmp_path / name for name in "bot"]
    assert merge_files(*places, marker_size=7, labels=(), path="m.onnxtxt")[0] == 1
    assert b"base64" in places[1].read_bytes()


def test_only_weights_that_git_keeps_are_left_out() -> None:
    text = onnxtext.from_binary(weighted("Relu", 0, 1)).encode()
    other = onnxtext.from_binary(weighted("Relu", 0, 2)).encode()
    assert leave_out(text, [text]).endswith(b"resources none\n")
    assert leave_out(text, [other]) == text
    assert leave_out(text, [other, text]) != text
    marked = text.replace(b"base64 ", b"base64\n<<<<<<< ours\n")
    assert leave_out(marked, [text]) == marked
    assert not has_note(text)
