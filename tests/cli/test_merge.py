# SPDX-License-Identifier: Apache-2.0
"""`onnxtext merge` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import BAD_TEXT, TEXT, binary, names, run

BASE = TEXT.replace("y = Relu (x)", "a = Neg (x)\n  y = Relu (a)")
OURS = BASE.replace("Neg", "Abs")
THEIRS = BASE.replace("Relu", "Tanh")
MERGED = OURS.replace("Relu", "Tanh")
OTHER = BASE.replace("Neg", "Cos")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = {"base": BASE, "ours": OURS, "theirs": THEIRS, "other": OTHER}
    for name, text in texts.items():
        (tmp_path / f"{name}.onnxtxt").write_text(text)
        (tmp_path / f"{name}.onnx").write_bytes(binary(text))
    (tmp_path / "bad.onnxtxt").write_text(BAD_TEXT)
    (tmp_path / "none.onnx").write_bytes(b"\x08\x00\xff\xff")
    return tmp_path


def merge(files: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    result = run("merge", *arguments, cwd=files, stdin=stdin)
    return result.status, result.out, result.err


def test_texts_are_merged(files: Path) -> None:
    versions = ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt")
    assert merge(files, *versions) == (0, MERGED.encode(), "")
    assert merge(files, *versions, "-o", "out.onnxtxt") == (0, b"", "")
    assert (files / "out.onnxtxt").read_text() == MERGED
    piped = merge(files, "base.onnxtxt", "-", "theirs.onnxtxt", stdin=OURS.encode())
    assert piped == (0, MERGED.encode(), "")


def test_binary_models_are_merged(files: Path) -> None:
    versions = ("base.onnx", "ours.onnx", "theirs.onnx")
    assert merge(files, *versions, "-o", "out.onnx") == (0, b"", "")
    assert (files / "out.onnx").read_bytes() == binary(MERGED)


def test_a_target_with_the_suffix_of_the_other_form_gets_a_warning(files: Path) -> None:
    texts, models = (
        [f"{name}.{suffix}" for name in ("base", "ours", "theirs")]
        for suffix in ("onnxtxt", "onnx")
    )
    said = "warning: out.onnx is a text, but has the suffix of a binary model\n"
    assert merge(files, *texts, "-o", "out.onnx") == (0, b"", said)
    said = "warning: out.onnxtxt is a binary model, but has the suffix of a text\n"
    assert merge(files, *models, "-o", "out.onnxtxt") == (0, b"", said)
    for versions in (texts, models):
        assert merge(files, *versions, "-f", "-o", "out") == (0, b"", "")


def test_conflicts_are_findings(files: Path) -> None:
    versions = ("base.onnxtxt", "ours.onnxtxt", "other.onnxtxt", "-o", "out.onnxtxt")
    status, out, err = merge(files, *versions, "-L", "HEAD", "-L", "old")
    assert (status, out) == (1, b"")
    assert "error[unmerged]: 1 conflict to be resolved by hand" in err
    text = (files / "out.onnxtxt").read_text()
    assert "<<<<<<< HEAD\n  a = Abs (x)\n||||||| old\n  a = Neg (x)\n=======\n" in text
    assert "=======\n  a = Cos (x)\n>>>>>>> theirs\n" in text
    result = run("merge", *versions, "-f", "--output-format", "json", cwd=files)
    assert [finding["code"] for finding in result.findings()] == ["unmerged"]


def test_a_conflict_of_binary_models_is_a_text(files: Path) -> None:
    status, out, err = merge(files, "base.onnx", "ours.onnx", "other.onnx")
    assert status == 1
    assert b"<<<<<<< ours\n" in out
    assert "convert the text back" in err


def test_a_text_that_does_not_parse_is_merged_by_lines(files: Path) -> None:
    status, out, err = merge(files, "ours.onnxtxt", "theirs.onnxtxt", "bad.onnxtxt")
    assert status == 1
    assert out.count(b"<<<<<<< ") == 1
    assert "merged line by line" in err
    (files / "worse.onnxtxt").write_text(BASE.replace("(a)", "(a"))
    (files / "newer.onnxtxt").write_text(BASE.replace("20", "21"))
    status, out, err = merge(files, "base.onnxtxt", "worse.onnxtxt", "newer.onnxtxt")
    assert status == 0
    assert out.decode() == BASE.replace("(a)", "(a").replace("20", "21")
    assert "merge-note" in err


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("suffix", ["onnx", "onnxtxt"])
def test_unreadable_versions_are_errors(files: Path, number: int, suffix: str) -> None:
    """The error names the file, and nothing is written; git's driver keeps ours instead."""
    versions = [f"{name}.{suffix}" for name in ("base", "ours", "theirs")]
    versions[number] = "none.onnx"
    status, out, err = merge(files, *versions, "-o", "new.onnxtxt")
    assert (status, out) == (1, b"")
    assert "error[truncated-model]" in err
    assert "--> none.onnx: byte" in err
    assert not (files / "new.onnxtxt").exists()


def test_existing_files_are_kept(files: Path) -> None:
    versions = ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt", "-o", "ours.onnxtxt")
    before = names(files)
    status, _, err = merge(files, *versions)
    assert status == 2
    assert "output-exists" in err
    assert (files / "ours.onnxtxt").read_text() == OURS
    assert merge(files, *versions, "--force") == (0, b"", "")
    assert (files / "ours.onnxtxt").read_text() == MERGED
    assert names(files) == before
    assert merge(files, *versions) == (0, b"", "")  # the file already has this content


@pytest.mark.parametrize(
    "arguments",
    [
        ("base.onnxtxt", "ours.onnxtxt"),
        ("-", "-", "ours.onnxtxt"),
        ("base.onnxtxt", "ours.onnxtxt", "nowhere.onnxtxt"),
        ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt", "-o", "nowhere/out.onnxtxt"),
        ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt", *(4 * ("-L", "x"))),
        ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt", "-L", "two\nlines"),
        ("base.onnxtxt", "ours.onnxtxt", "theirs.onnxtxt", "--marker-size", "0"),
    ],
)
def test_unreadable_files_are_errors(files: Path, arguments: tuple[str, ...]) -> None:
    status, out, err = merge(files, *arguments)
    assert (status, out) == (2, b"")
    assert err
