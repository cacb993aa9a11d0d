# SPDX-License-Identifier: Apache-2.0
"""Findings about models in each output format."""

from __future__ import annotations

from pathlib import Path

import pytest

import onnxtext
from tests.cli.command import BAD_TEXT, NO_MODEL, TEXT, binary, environment, run, run_patched


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.onnxtxt"
    path.write_text(BAD_TEXT)
    return path


def test_full_shows_the_line_of_the_error(bad: Path) -> None:
    result = run("to-binary", bad.name, cwd=bad.parent)
    assert result.status == 1
    head, place, *source = result.err.splitlines()
    assert head.startswith("error[unclosed-bracket]: expected `)`")
    assert place == " --> bad.onnxtxt:7:14"
    assert source[:3] == ["  |", "7 |   y = Relu (x", "  |            - ^"]


def test_concise_shows_one_line(bad: Path) -> None:
    result = run("to-binary", bad.name, "--output-format=concise", cwd=bad.parent)
    assert result.status == 1
    (line,) = result.err.splitlines()
    assert line.startswith("bad.onnxtxt:7:14: error: expected `)`")
    assert line.endswith(" [unclosed-bracket]")


def test_json_is_one_list_of_everything(bad: Path, text: Path) -> None:
    (bad.parent / "no.onnxtxt").write_bytes(b"\xff")
    missing = "missing\u00e9.onnxtxt"
    inputs = (bad.name, text, "no.onnxtxt", missing)
    result = run("to-binary", *inputs, "--output-format=json", "-o", "out/", cwd=bad.parent)
    assert result.status == 2
    first, second, third = result.findings()
    assert first == {
        **first,
        "file": "bad.onnxtxt",
        "code": "unclosed-bracket",
        "severity": "error",
        "line": 7,
        "column": 14,
        "end_line": 7,
        "end_column": 14,
        "path": None,
        "notes": [],
    }
    assert set(first) >= {"message", "help", "fix"}
    assert (second["file"], second["code"]) == ("no.onnxtxt", "invalid-utf8")
    assert third == {
        **third,
        "file": missing,
        "code": "cannot-read",
        "line": None,
        "message": f"cannot read {missing}: No such file or directory",
    }


def test_json_without_findings_is_an_empty_list(model: Path) -> None:
    assert run("from-binary", model, "--output-format=json").findings() == []


def test_findings_in_binaries_have_paths() -> None:
    shown = run("from-binary", stdin=NO_MODEL)
    assert shown.status == 1
    assert shown.err.startswith("error[not-a-model]: ")
    assert " --> <stdin>: byte 0x" in shown.err
    (finding,) = run("from-binary", "--output-format=json", stdin=NO_MODEL).findings()
    assert finding["file"] == "<stdin>"
    assert isinstance(finding["offset"], int)
    assert finding["line"] is None


@pytest.mark.parametrize(
    ("option", "variables", "colored"),
    [
        (None, {}, False),
        ("always", {}, True),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {}, False),
    ],
)
def test_options_and_variables_force_color_without_terminal(
    option: str | None, variables: dict[str, str], colored: bool
) -> None:
    arguments = [] if option is None else ["--color", option]
    result = run("to-binary", "missing", *arguments, env=environment(**variables))
    assert ("\x1b[" in result.err) == colored


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_color_on_terminals_can_be_disabled(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from onnxtext import terminal
    from onnxtext.cli import report

    monkeypatch.setattr(terminal, "is_terminal", lambda stream: True)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert report.Reporter("full", "auto").colored
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not report.Reporter("full", "auto").colored
    assert report.Reporter("full", "always").colored


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    """A text whose encoding section is outdated because the model was edited."""
    # This length takes two bytes instead of one, which no encoding habit describes. So the text
    # has a section `encoding`.
    unusual = binary() + b"\x12\x84\x00test"
    text = onnxtext.from_binary(unusual)
    assert onnxtext.to_binary(text) == unusual
    path = tmp_path / "stale.onnxtxt"
    path.write_text(text.replace("Relu", "Tanh"))
    return path


def test_warnings_are_one_line_without_failure(stale: Path) -> None:
    result = run("to-binary", stale)
    assert result.status == 0
    assert result.err.startswith(f"warning: {stale}: the encoding section does not fit")
    assert len(result.err.splitlines()) == 1
    assert stale.with_suffix(".onnx").exists()
    (finding,) = run("to-binary", stale, "--output-format=json").findings()
    assert (finding["severity"], finding["file"]) == ("warning", str(stale))
    assert finding["message"].startswith("the encoding section")


CRASH = """\
import onnxtext.binary_to_text
def crash(data, target, name, **options):
    if name.endswith("m.onnx"):
        raise ValueError("something\\x1b[0m impossible\\nand more")
    return "text", None
onnxtext.binary_to_text.print_binary = crash
"""


def test_internal_errors_have_no_traceback(tmp_path: Path, model: Path) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(b"")
    result = run_patched(CRASH, "from-binary", model, other)
    assert result.status == 2
    assert result.err.splitlines()[0] == (
        f"error[internal-error]: onnxtext {onnxtext.__version__} failed on {model}: "
        "ValueError: something␛[0m impossible"
    )
    assert "report it" in result.err
    assert "Traceback" not in result.err
    assert other.with_suffix(".onnxtxt").read_text() == "text"


def test_tracebacks_are_shown_on_request(model: Path) -> None:
    result = run_patched(CRASH, "from-binary", model, env=environment(ONNXTEXT_DEBUG="1"))
    assert result.status == 2
    assert "Traceback (most recent call last)" in result.err


def test_internal_errors_outside_of_files_have_no_traceback() -> None:
    patch = (
        "import onnxtext.cli.convert_files as c\n"
        "def plan_jobs(*a): raise KeyError('k')\n"
        "c.plan_jobs = plan_jobs"
    )
    result = run_patched(patch, "from-binary")
    assert result.status == 2
    assert result.err.startswith("error[internal-error]: onnxtext ")
    assert "Traceback" not in result.err


def test_lack_of_memory_is_reported(model: Path) -> None:
    patch = CRASH.replace("ValueError(", "MemoryError(")
    result = run_patched(patch, "from-binary", model)
    assert result.status == 2
    assert result.err == f"error[out-of-memory]: {model}: there is not enough memory\n"


def test_the_text_of_the_tests_is_canonical() -> None:
    assert onnxtext.from_binary(binary()) == TEXT
