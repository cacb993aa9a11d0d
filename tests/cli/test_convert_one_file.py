# SPDX-License-Identifier: Apache-2.0
"""Conversion of one file: the path of the output, and files that are not overwritten."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import pytest

from tests.cli.command import (
    BAD_TEXT,
    NO_MODEL,
    TEXT,
    WITHOUT_PRIVILEGES,
    binary,
    names,
    run,
    run_patched,
)


def test_conversions_write_beside_the_input(tmp_path: Path, text: Path) -> None:
    result = run("to-binary", text)
    assert (result.status, result.out, result.err) == (0, b"", "")
    assert text.with_suffix(".onnx").read_bytes() == binary()
    text.rename(tmp_path / "original")
    assert run("from-binary", text.with_suffix(".onnx")).status == 0
    assert text.read_text() == TEXT


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, model: Path) -> None:
    target = tmp_path / "m.onnxtxt"
    target.write_text("something else")
    result = run("from-binary", model)
    assert result.status == 2
    assert result.err.startswith(f"error[output-exists]: {target} exists")
    assert "--force" in result.err
    assert target.read_text() == "something else"
    assert run("from-binary", "-f", model).status == 0
    assert target.read_text() == TEXT
    assert names(tmp_path) == ["m.onnx", "m.onnxtxt"]


def test_equal_content_is_left_untouched(tmp_path: Path, model: Path) -> None:
    target = tmp_path / "m.onnxtxt"
    target.write_text(TEXT)
    os.utime(target, ns=(10**18, 10**18))
    before = target.stat()
    for force in ([], ["--force"]):
        result = run("from-binary", model, *force)
        assert (result.status, result.err) == (0, "")
        after = target.stat()
        assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_an_output_that_is_the_input_is_an_error(tmp_path: Path, model: Path) -> None:
    link = tmp_path / "link.onnxtxt"
    link.symlink_to(model)
    for output in (model, link):
        result = run("from-binary", model, "-o", output, "--force")
        assert result.status == 2
        assert result.err.startswith(f"error[output-is-input]: {model} would be overwritten")
    wrong_verb = run("to-binary", model, "--force")
    assert wrong_verb.status == 2
    assert "`from-binary`" in wrong_verb.err
    assert model.read_bytes() == binary()


def test_a_symbolic_link_is_kept(tmp_path: Path, model: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "m.onnxtxt").symlink_to("real")
    assert run("from-binary", model, "--force").status == 0
    assert (tmp_path / "m.onnxtxt").is_symlink()
    assert (tmp_path / "real").read_text() == TEXT


@pytest.mark.parametrize(
    ("verb", "bad"), [("to-binary", BAD_TEXT.encode()), ("from-binary", NO_MODEL)]
)
def test_findings_are_status_1_and_leave_the_output(tmp_path: Path, verb: str, bad: bytes) -> None:
    (tmp_path / "in").write_bytes(bad)
    (tmp_path / "out").write_text("old")
    result = run(verb, "in", "-o", "out", "--force", cwd=tmp_path)
    assert result.status == 1
    assert result.out == b""
    assert result.err.startswith("error[")
    assert (tmp_path / "out").read_text() == "old"
    assert names(tmp_path) == ["in", "out"]


def test_unreadable_input_is_a_one_line_error(tmp_path: Path) -> None:
    result = run("from-binary", "missing.onnx", ".", "missing/m.onnx", cwd=tmp_path)
    assert result.status == 2
    assert result.err.splitlines() == [
        "error[cannot-read]: cannot read missing.onnx: No such file or directory",
        "error[cannot-read]: cannot read .: Is a directory",
        "  = help: name a file in this directory",
        "error[cannot-read]: cannot read missing/m.onnx: No such file or directory",
        "3 of 3 files could not be converted",
    ]
    assert names(tmp_path) == []


def test_an_output_in_a_missing_directory_is_an_error(tmp_path: Path, model: Path) -> None:
    target = tmp_path / "no" / "such" / "m.onnxtxt"
    result = run("from-binary", model, "-o", target)
    assert result.status == 2
    assert result.err == (
        f"error[cannot-write]: cannot write {target}: No such file or directory\n"
    )


def test_outputs_go_into_the_given_directory(tmp_path: Path, model: Path) -> None:
    (tmp_path / "here").mkdir()
    assert run("from-binary", model, "-o", tmp_path / "here").status == 0
    assert (tmp_path / "here" / "m.onnxtxt").read_text() == TEXT
    assert run("from-binary", model, "-o", f"{tmp_path}/new/dir/").status == 0
    assert (tmp_path / "new" / "dir" / "m.onnxtxt").read_text() == TEXT


def test_replacing_a_directory_is_an_error(tmp_path: Path, model: Path) -> None:
    (tmp_path / "m.onnxtxt").mkdir()
    result = run("from-binary", model, "--force")
    assert result.status == 2
    assert result.err == (
        f"error[cannot-write]: cannot write {tmp_path / 'm.onnxtxt'}: Is a directory\n"
    )


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, model: Path) -> None:
    target = tmp_path / "m.onnxtxt"
    target.write_text("old")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    result = run("from-binary", model, "--force", before=limit)
    assert result.status == 2
    assert result.err == f"error[cannot-write]: cannot write {target}: File too large\n"
    assert target.read_text() == "old"
    assert names(tmp_path) == ["m.onnx", "m.onnxtxt"]


@pytest.mark.parametrize(("signal", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_while_writing_leaves_the_old_file(
    tmp_path: Path, model: Path, signal: str, status: int
) -> None:
    target = tmp_path / "m.onnxtxt"
    target.write_text("old")
    patch = (
        f"import os, signal\nos.fsync = lambda descriptor: os.kill(os.getpid(), signal.{signal})\n"
    )
    result = run_patched(patch, "from-binary", model, "--force")
    assert (result.status, result.out, result.err.strip()) == (status, b"", "")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["m.onnx", "m.onnxtxt"]


def test_devices_need_no_force_and_stay(model: Path) -> None:
    assert run("from-binary", model, "-o", "/dev/null").status == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_missing_permissions_are_errors(tmp_path: Path, model: Path) -> None:
    unreadable = tmp_path / "hidden.onnx"
    unreadable.write_bytes(binary())
    unreadable.chmod(0)
    target = tmp_path / "m.onnxtxt"
    target.write_text("old")
    tmp_path.chmod(0o555)
    result = run_patched(WITHOUT_PRIVILEGES, "from-binary", model, unreadable, "--force")
    tmp_path.chmod(0o755)
    assert result.status == 2
    assert result.err.splitlines() == [
        f"error[cannot-write]: cannot write {target}: Permission denied",
        f"error[cannot-read]: cannot read {unreadable}: Permission denied",
        "2 of 2 files could not be converted",
    ]
    assert target.read_text() == "old"
    assert names(tmp_path) == ["hidden.onnx", "m.onnx", "m.onnxtxt"]
    # An unreadable file can still be replaced.
    target.chmod(0)
    assert run_patched(WITHOUT_PRIVILEGES, "from-binary", model).status == 2
    assert run_patched(WITHOUT_PRIVILEGES, "from-binary", model, "--force").status == 0
    target.chmod(0o600)
    assert target.read_text() == TEXT


@pytest.mark.parametrize(
    ("command", "target", "said"),
    [
        ("from-binary", "new.onnx", "new.onnx is a text, but has the suffix of a binary model"),
        ("to-binary", "new.onnxtxt", "new.onnxtxt is a binary model, but has the suffix of a text"),
        ("from-binary", "new", ""),
        ("to-binary", "new", ""),
    ],
)
def test_a_target_with_the_suffix_of_the_other_form_gets_a_warning(
    command: str, target: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(binary())
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    source = "m.onnx" if command == "from-binary" else "m.onnxtxt"
    result = run(command, source, "-o", target, cwd=tmp_path)
    assert (result.status, result.err) == (0, said and f"warning: {said}\n")
    assert (tmp_path / target).exists()
