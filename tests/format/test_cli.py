# SPDX-License-Identifier: Apache-2.0
"""`onnxtext fmt` as a process, on real files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.command import BAD_TEXT, TEXT, WITHOUT_PRIVILEGES, names, run, run_patched

UGLY = TEXT.replace(" = Relu (x)", "=Relu(x) # kept").replace("\n", "\r\n")
PRETTY = TEXT.replace("Relu (x)", "Relu (x) # kept")


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.onnxtxt"
    path.write_bytes(b"\xef\xbb\xbf" + UGLY.encode())
    return path


def test_fmt_formats_in_place(ugly: Path) -> None:
    ugly.chmod(0o640)
    done = run("fmt", ugly)
    assert (done.status, done.out, done.err) == (0, b"", "")
    assert ugly.read_bytes() == PRETTY.encode()
    assert ugly.stat().st_mode & 0o777 == 0o640
    assert names(ugly.parent) == ["ugly.onnxtxt"]
    before = ugly.stat()
    assert run("fmt", ugly).status == 0
    assert ugly.stat().st_ino == before.st_ino  # untouched
    assert ugly.stat().st_mtime_ns == before.st_mtime_ns


def test_fmt_check_lists_unformatted_files(ugly: Path) -> None:
    before = ugly.read_bytes()
    good = ugly.with_name("good.onnxtxt")
    good.write_text(TEXT)
    done = run("fmt", "--check", ugly, good)
    assert (done.status, done.out, done.err) == (1, f"{ugly}\n".encode(), "")
    assert ugly.read_bytes() == before
    assert run("fmt", "--check", good).status == 0


def test_fmt_diff_shows_the_changes(ugly: Path) -> None:
    before = ugly.read_bytes()
    done = run("fmt", "--diff", ugly)
    assert done.status == 0
    assert done.out.startswith(f"--- {ugly}\n+++ {ugly} (formatted)\n@@".encode())
    assert b"\n-  y=Relu(x) # kept\r\n" in done.out
    assert b"\n+  y = Relu (x) # kept\n" in done.out
    assert ugly.read_bytes() == before
    assert run("fmt", "--diff", "--check", ugly).status == 1


def test_fmt_reads_and_writes_streams(ugly: Path) -> None:
    before = ugly.read_bytes()
    done = run("fmt", "-", stdin=before)
    assert (done.status, done.out, done.err) == (0, PRETTY.encode(), "")
    done = run("fmt", "--stdout", ugly)
    assert (done.status, done.out) == (0, PRETTY.encode())
    assert ugly.read_bytes() == before
    done = run("fmt", "--check", "-", stdin=before)
    assert (done.status, done.out) == (1, b"<stdin>\n")


def test_fmt_formats_directories(ugly: Path) -> None:
    root = ugly.parent
    (root / "sub" / "generated").mkdir(parents=True)
    for name in ("sub/a.onnxtxt", "sub/a.onnxtext", "sub/generated/b.onnxtxt", "sub/other.txt"):
        (root / name).write_bytes(UGLY.encode())
    done = run("fmt", "--exclude", "*/generated", "--exclude", "ugly*", root)
    assert (done.status, done.err) == (0, "")
    for formatted in ("sub/a.onnxtxt", "sub/a.onnxtext"):
        assert (root / formatted).read_text() == PRETTY
    for left in ("sub/generated/b.onnxtxt", "sub/other.txt"):
        assert (root / left).read_bytes() == UGLY.encode()
    assert ugly.read_bytes().startswith(b"\xef\xbb\xbf")


def test_fmt_of_a_directory_without_texts_says_so(tmp_path: Path) -> None:
    done = run("fmt", tmp_path)
    assert (done.status, done.err) == (
        0,
        f"there is no .onnxtxt or .onnxtext file below {tmp_path}\n",
    )


def test_errors_leave_the_file_unchanged(ugly: Path) -> None:
    bad = ugly.with_name("bad.onnxtxt")
    bad.write_text(BAD_TEXT)
    latin = ugly.with_name("latin.onnxtxt")
    latin.write_bytes(b"# \xe9\n" + TEXT.encode())
    done = run("fmt", "--output-format", "json", bad, latin, "missing.onnxtxt", ugly)
    assert done.status == 2
    codes = [finding["code"] for finding in done.findings()]
    assert codes == ["unclosed-bracket", "invalid-utf8", "cannot-read"]
    assert bad.read_text() == BAD_TEXT
    assert latin.read_bytes().startswith(b"# \xe9\n")
    assert ugly.read_bytes() == PRETTY.encode()  # the others are formatted
    assert run("fmt", bad).status == 1


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_an_unwritable_directory_is_an_error(ugly: Path) -> None:
    before = ugly.read_bytes()
    ugly.parent.chmod(0o500)
    try:
        assert run_patched(WITHOUT_PRIVILEGES, "fmt", ugly).status == 2
    finally:
        ugly.parent.chmod(0o700)
    assert ugly.read_bytes() == before


def test_symbolic_links_stay(ugly: Path) -> None:
    link = ugly.with_name("link.onnxtxt")
    link.symlink_to(ugly.name)
    assert run("fmt", link).status == 0
    assert link.is_symlink()
    assert ugly.read_bytes() == PRETTY.encode()


def test_wrong_usage_is_status_2(ugly: Path) -> None:
    assert run("fmt").status == 2
    assert run("fmt", "--stdout", "--check", ugly).status == 2
    assert run("fmt", "-", ugly).status == 2
