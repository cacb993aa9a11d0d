# SPDX-License-Identifier: Apache-2.0
"""`onnxtext diff` as a process: what it reads and writes, and its exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from onnxtext.cli.commands.diff import run_diff
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.report import Reporter
from tests.cli.command import (
    BAD_TEXT,
    NO_MODEL,
    OTHER_TEXT,
    TEXT,
    binary,
    environment,
    names,
    onnxtext_command,
    run,
    run_command,
)
from tests.seeds import sampled

OLD, NEW = ("old.onnxtxt", "old.onnx"), ("new.onnxtxt", "new.onnx")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with two models, each as text and as binary."""
    for name, text in (("old", TEXT), ("new", OTHER_TEXT)):
        (tmp_path / f"{name}.onnxtxt").write_text(text)
        (tmp_path / f"{name}.onnx").write_bytes(binary(text))
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("form", [[], ["--json"], ["--stat"], ["--markdown"]])
@pytest.mark.parametrize(("old", "new"), sampled(product(OLD, NEW), 4))
def test_different_models_are_status_1(files: Path, form: list[str], old: str, new: str) -> None:
    result = run("diff", *form, old, new, cwd=files)
    assert (result.status, result.err) == (1, "")
    shown = result.out.decode()
    assert shown.endswith("\n")
    if not form:
        assert "-y = Relu (x)\n+y = Tanh (x)\n" in shown
    if form == ["--json"]:
        assert [item["kind"] for item in json.loads(shown)["items"]] == ["node"]
    quiet = run("diff", "--quiet", *form, old, new, cwd=files)
    assert (quiet.status, quiet.out, quiet.err) == (1, b"", "")


@pytest.mark.parametrize("old", ["old.onnxtxt", "old.onnx"])
@pytest.mark.parametrize("new", ["old.onnxtxt", "old.onnx"])
def test_equal_models_are_status_0(files: Path, old: str, new: str) -> None:
    result = run("diff", old, new, cwd=files)
    assert (result.status, result.out, result.err) == (0, b"", "")


@pytest.mark.parametrize("name", ["old.onnxtxt", "old.onnx"])
@pytest.mark.parametrize("is_old", [True, False])
def test_a_model_may_be_standard_input(files: Path, name: str, is_old: bool) -> None:
    data = (files / name).read_bytes()
    paths = ("-", "new.onnx") if is_old else ("new.onnx", "-")
    result = run("diff", *paths, "-o", "-", cwd=files, stdin=data)
    assert (result.status, result.err) == (1, "")
    assert ("--- <stdin>\n+++ new.onnx\n" in result.out.decode()) == is_old
    assert "-" not in names(files)
    assert run("diff", *paths, cwd=files, stdin=b"g (").status == 2
    both = run("diff", "-", "-", cwd=files, stdin=data)
    assert (both.status, both.out) == (2, b"")
    assert "Only one of the models can be standard input (-)." in both.err


def test_content_decides_the_file_type_without_a_known_suffix(files: Path) -> None:
    for name in ("old.onnx", "new.onnxtxt"):
        (files / name).rename(files / name.partition(".")[0])
    assert run("diff", "old", "new", cwd=files).status == 1


def test_ignored_categories_are_left_out(files: Path) -> None:
    other = TEXT.replace("y = Relu", '@doc("d")\n  [n] y = Relu').replace("g (", "h (")
    (files / "other.onnxtxt").write_text(other)
    paths = ("old.onnxtxt", "other.onnxtxt")
    assert run("diff", *paths, cwd=files).status == 1
    assert run("diff", "--ignore", "doc", *paths, cwd=files).status == 1
    assert run("diff", "--ignore", "doc,names", *paths, cwd=files).status == 0
    assert run("diff", "--ignore", "doc", "--ignore", "names", *paths, cwd=files).status == 0
    result = run("diff", "--ignore", "docs", *paths, cwd=files)
    assert result.status == 2
    assert "'docs' is not one of weights, order" in result.err


def test_encoding_differences_can_be_ignored(files: Path) -> None:
    (files / "official.onnxtxt").write_text(TEXT.replace("  onnxtext: 1,\n", ""))
    result = run("diff", "old.onnxtxt", "official.onnxtxt", cwd=files)
    assert result.status == 1
    assert "node.domain: not stored → stored empty (1 ×" in result.out.decode()
    assert "same model, stored differently" in result.out.decode()
    paths = ("old.onnxtxt", "official.onnxtxt")
    assert run("diff", "--ignore", "encoding", *paths, cwd=files).status == 0


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("gone.onnx", None, "cannot read gone.onnx: No such file"),
        ("bad.onnxtxt", BAD_TEXT.encode(), "error["),
        ("bad.onnx", NO_MODEL, "error["),
        ("latin.onnxtxt", b"\xff\n", "error[invalid-utf8]"),
        ("set.onnxtxt", TEXT.replace("y = R", "@set(nothing: 1) y = R").encode(), "`nothing`"),
    ],
)
def test_unreadable_files_are_errors(files: Path, name: str, data: bytes | None, said: str) -> None:
    if data is not None:
        (files / name).write_bytes(data)
    for paths in (("old.onnx", name), (name, "old.onnx")):
        result = run("diff", *paths, "-o", "result", cwd=files)
        assert (result.status, result.out) == (2, b"")
        assert said in result.err
        assert "result" not in names(files)
    result = run("diff", "--output-format", "json", name, "old.onnx", cwd=files)
    assert len(result.findings()) >= 1


def test_errors_in_both_files_are_reported(files: Path) -> None:
    result = run("diff", "a.onnx", "b.onnx", cwd=files)
    assert result.status == 2
    assert "a.onnx" in result.err
    assert "b.onnx" in result.err


def test_the_diff_can_be_written_to_a_file(files: Path) -> None:
    shown = run("diff", "old.onnx", "new.onnx", cwd=files).out
    result = run("diff", "old.onnx", "new.onnx", "--color", "always", "-o", "result", cwd=files)
    assert (result.status, result.out) == (1, b"")
    assert (files / "result").read_bytes() == shown
    result = run("diff", "old.onnx", "new.onnx", "-o", "no/such/place", cwd=files)
    assert result.status == 2
    assert "cannot write no/such/place" in result.err


@pytest.mark.parametrize("other", ["other.onnx", "other.onnxtxt"])
def test_the_diff_overwrites_no_model(files: Path, other: str) -> None:
    (files / other).write_bytes(b"some model")
    result = run("diff", "old.onnx", "new.onnx", "-o", other, cwd=files)
    assert result.status == 2
    assert f"would overwrite {other}, which has the suffix of a model" in result.err
    assert result.err.startswith("error[output-exists]: ")
    assert (files / other).read_bytes() == b"some model"


def test_the_diff_overwrites_no_model_through_a_link(files: Path) -> None:
    (files / "keep.onnx").write_bytes(b"some model")
    (files / "page.html").symlink_to("keep.onnx")
    result = run("diff", "old.onnx", "new.onnx", "-o", "page.html", cwd=files)
    assert result.status == 2
    assert "keep.onnx, which has the suffix of a model" in result.err
    assert (files / "keep.onnx").read_bytes() == b"some model"


def test_the_name_of_the_output_is_too_long(files: Path) -> None:
    result = run("diff", "old.onnx", "new.onnx", "-o", "a" * 300 + ".onnx", cwd=files)
    assert result.status == 2
    assert result.err.startswith("error[cannot-write]: ")


def test_a_full_disk_is_an_error(files: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = onnxtext_command("diff", files / "old.onnx", files / "new.onnx")
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False, env=environment()
        )
    assert done.returncode == 2
    assert b"cannot write to standard output" in done.stderr


@pytest.mark.thorough
def test_only_terminals_get_color(files: Path) -> None:
    arguments = ("diff", "old.onnx", "new.onnx")
    assert b"\x1b" not in run(*arguments, cwd=files).out
    assert b"\x1b[31m-y" in run(*arguments, "--color", "always", cwd=files).out
    for changes, colored in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            onnxtext_command(*arguments), cwd=files, stdout=theirs, env=environment(**changes)
        )
        assert done.wait(timeout=60) == 1
        os.close(theirs)
        shown = os.read(ours, 1 << 16)
        os.close(ours)
        assert (b"\x1b[31m-y" in shown) == colored


def test_help_has_examples_and_exit_statuses() -> None:
    result = run("diff", "--help")
    assert (result.status, result.err) == (0, "")
    shown = result.out.decode()
    assert re.search(r"Examples:\n +onnxtext diff ", shown)
    assert re.search(r"Exit status:\n +0 .*\n +1 .*\n +2 ", shown)
    assert max(map(len, shown.splitlines())) <= 80


def test_small_texts_need_no_onnx(files: Path) -> None:
    """`git diff` calls this for every file: importing onnx takes longer than all the rest."""
    code = (
        "import sys\nfrom onnxtext.cli.group import group\n"
        "arguments = ['diff', '-q', 'old.onnxtxt', 'copy.onnxtxt']\n"
        "status = group.main(arguments, standalone_mode=False)\n"
        "print(status, [name for name in ('onnx', 'numpy') if name in sys.modules])"
    )
    (files / "copy.onnxtxt").write_text(TEXT)
    result = run_command([sys.executable, "-c", code], cwd=files)
    assert result.out.decode() == "0 []\n"


def test_the_git_driver_shows_the_labels(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The git diff driver: temporary files have other names than models."""
    old = InputFile("a/m.onnx", files / "old.onnx")
    new = InputFile("b/m.onnx", files / "new.onnx")
    assert run_diff(old, new, Reporter("full", "auto")) == 1
    shown = capfd.readouterr().out
    assert shown.startswith("--- a/m.onnx\n+++ b/m.onnx\n")
