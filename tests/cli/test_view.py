# SPDX-License-Identifier: Apache-2.0
"""`onnxtext view` writes a page, or opens it in a browser, and never replaces anything else."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.cli.command import BAD_TEXT, OTHER_TEXT, TEXT, binary, environment, names, run

START = b"<!DOCTYPE html>\n<!-- onnxtext view -->\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "m.onnx").write_bytes(binary())
    (tmp_path / "other.onnxtxt").write_text(OTHER_TEXT)
    (tmp_path / "bad.onnxtxt").write_text(BAD_TEXT)
    return tmp_path


def test_a_page_is_written(place: Path) -> None:
    result = run("view", "m.onnx", "-o", "m.html", cwd=place)
    assert (result.status, result.out, result.err) == (0, b"", "")
    page = (place / "m.html").read_bytes()
    assert page.startswith(START)
    assert b"<title>m.onnx</title>" in page
    result = run("view", "m.onnx", "-o", "-", cwd=place)
    assert (result.status, result.out) == (0, page)


def test_two_models_are_shown_on_one_page(place: Path) -> None:
    result = run("view", "m.onnx", "other.onnxtxt", "-o", "-", cwd=place)
    assert result.status == 0
    assert "<title>m.onnx → other.onnxtxt</title>".encode() in result.out


def test_view_reads_standard_input(place: Path) -> None:
    for data in (TEXT.encode(), binary()):
        result = run("view", "-", "m.onnxtxt", "-o", "-", cwd=place, stdin=data)
        assert result.status == 0
        assert result.out.startswith(START)
    result = run("view", "-", "-", "-o", "-", cwd=place)
    assert (result.status, result.out) == (2, b"")


def test_only_pages_are_replaced(place: Path) -> None:
    run("view", "m.onnx", "-o", "m.html", cwd=place)
    assert run("view", "m.onnx", "other.onnxtxt", "-o", "m.html", cwd=place).status == 0
    assert "→".encode() in (place / "m.html").read_bytes()
    before = (place / "m.onnx").read_bytes()
    result = run("view", "other.onnxtxt", "-o", "m.onnx", cwd=place)
    assert result.status == 2
    assert "m.onnx exists and is not a page" in result.err
    assert "--force" in result.err
    assert (place / "m.onnx").read_bytes() == before
    (place / "mine.html").write_text("<!DOCTYPE html>\n<p>mine")
    assert run("view", "m.onnx", "-o", "mine.html", cwd=place).status == 2
    assert run("view", "m.onnx", "-f", "-o", "mine.html", cwd=place).status == 0
    assert (place / "mine.html").read_bytes().startswith(START)
    assert names(place) == sorted(
        ["m.onnx", "m.onnxtxt", "other.onnxtxt", "bad.onnxtxt", "m.html", "mine.html"]
    )


def test_a_text_with_errors_is_shown(place: Path) -> None:
    result = run("view", "bad.onnxtxt", "-o", "m.html", cwd=place)
    assert result.status == 1
    assert "bad.onnxtxt:7" in result.err
    assert (place / "m.html").read_bytes().startswith(START)


def test_texts_with_errors_are_not_compared(place: Path) -> None:
    result = run("view", "bad.onnxtxt", "m.onnx", "-o", "m.html", cwd=place)
    assert result.status == 1
    assert "bad.onnxtxt:7" in result.err
    assert not (place / "m.html").exists()


@pytest.mark.parametrize("files", [["missing.onnx"], ["m.onnx", "missing.onnx"], ["."]])
def test_missing_files_are_errors(place: Path, files: list[str]) -> None:
    result = run("view", *files, "-o", "m.html", cwd=place)
    assert result.status == 2
    assert f"cannot read {files[-1]}" in result.err
    assert not (place / "m.html").exists()


def test_a_corrupt_model_is_an_error(place: Path) -> None:
    (place / "no.onnx").write_bytes(b"\x0b\x0b\x0b")
    result = run("view", "no.onnx", "-o", "m.html", cwd=place)
    assert result.status == 1
    assert "no.onnx" in result.err
    assert not (place / "m.html").exists()


def browser(place: Path) -> Path:
    """Return a program that replaces the browser and records the addresses to open."""
    program = place / "browser"
    program.write_text(f'#!{sys.executable}\nimport sys\nopen("opened", "w").write(sys.argv[1])\n')
    program.chmod(0o755)
    return program


def test_the_browser_opens_a_private_file(place: Path) -> None:
    temporary = place / "temporary"
    temporary.mkdir()
    env = environment(BROWSER=str(browser(place)), TMPDIR=str(temporary))
    result = run("view", "m.onnx", cwd=place, env=env)
    assert (result.status, result.out) == (0, b"")
    url = urlsplit((place / "opened").read_text())
    assert url.scheme == "file"
    page = Path(unquote(url.path))
    assert page.parent == temporary
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert page.read_bytes().startswith(START)
    assert result.err == f"opened {page}\n"


def test_without_a_browser_the_path_is_printed(place: Path) -> None:
    env = environment(PATH="", TMPDIR=str(place), DISPLAY="", WAYLAND_DISPLAY="", BROWSER="")
    env = {name: value for name, value in env.items() if value}
    result = run("view", "m.onnx", cwd=place, env=env)
    assert result.status == 0
    assert "no browser was found" in result.err
    page = Path(result.out.decode().rstrip("\n"))
    assert page.read_bytes().startswith(START)
