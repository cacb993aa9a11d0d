# SPDX-License-Identifier: Apache-2.0
"""Every command in unusual environments: streams, files, settings, environment variables.

In each of them, the exit status is one that docs/commands.md lists, there is no traceback, and
messages name files as the user does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import (
    BAD_TEXT,
    TEXT,
    WITHOUT_PRIVILEGES,
    Result,
    binary,
    environment,
    onnxtext_command,
    run,
)
from tests.seeds import sampled

COMMANDS = {
    "to-binary": ("to-binary", "-f", "m.onnxtxt", "-o", "made.onnx"),
    "to-binary to stdout": ("to-binary", "m.onnxtxt", "-o", "-"),
    "to-binary of stdin": ("to-binary", "-", "-o", "made.onnx", "-f"),
    "from-binary": ("from-binary", "-f", "m.onnx", "-o", "made.onnxtxt"),
    "from-binary to stdout": ("from-binary", "m.onnx", "-o", "-"),
    "check": ("check", "bad.onnxtxt"),
    "check as json": ("check", "--output-format", "json", "bad.onnxtxt"),
    "check of stdin": ("check", "-"),
    "fmt": ("fmt", "m.onnxtxt"),
    "fmt of stdin": ("fmt", "-"),
    "fmt --diff": ("fmt", "--diff", "ugly.onnxtxt"),
    "show": ("show", "m.onnx"),
    "show of stdin": ("show", "-"),
    "view": ("view", "m.onnx", "-o", "-"),
    "view to a file": ("view", "m.onnx", "-f", "-o", "made.html"),
    "view of stdin": ("view", "-", "-o", "-"),
    "diff": ("diff", "m.onnxtxt", "other.onnxtxt"),
    "verify": ("verify", "m.onnx"),
    "verify as json": ("verify", "--output-format", "json", "m.onnx"),
    "info": ("info", "m.onnx", "m.onnxtxt"),
    "info as json": ("info", "--output-format", "json", "m.onnx"),
    "merge": ("merge", "m.onnxtxt", "m.onnxtxt", "other.onnxtxt"),
    "edit": ("edit", "m.onnxtxt", "rename", "x", "z", "-f", "-o", "made.onnxtxt"),
    "edit of stdin": ("edit", "-", "rename", "x", "z"),
    "edit --diff": ("edit", "m.onnx", "rename", "x", "z", "--diff"),
    "run": ("run", "m.onnxtxt", "--random"),
    "run of stdin": ("run", "-", "--random"),
    "weights list": ("weights", "list", "w"),
    "weights verify": ("weights", "verify", "w"),
    "weights gc": ("weights", "gc", "w"),
    "git status": ("git", "status"),
    "git textconv": ("git", "textconv", "m.onnx"),
    "git clean": ("git", "clean", "m.onnx"),
    "git smudge": ("git", "smudge", "m.onnx"),
    "git filter-process": ("git", "filter-process"),
    "explain": ("explain", "syntax-error"),
    "explain-type": ("explain-type", "m.onnx", "y"),
    "explain-type of stdin": ("explain-type", "-", "y", "--json"),
    "check --infer": ("check", "--infer", "-f", "-o", "made.onnx", "m.onnxtxt"),
    "check --infer to stdout": ("check", "--infer", "-o", "-", "m.onnxtxt"),
    "lsp": ("lsp",),
    "help": ("--help",),
    "help of a verb": ("fmt", "--help"),
    "version": ("--version",),
    "wrong usage": ("fmt", "--nonsense"),
}
"""Command lines, run in the directory that `place` creates."""

TO_STDOUT = {
    "to-binary to stdout", "from-binary to stdout", "fmt of stdin", "fmt --diff", "show", "view",
    "info", "info as json", "diff", "verify", "verify as json", "merge", "edit --diff", "run",
    "weights list", "weights verify",
    "weights gc", "git textconv", "git clean", "git smudge", "explain", "help", "help of a verb",
    "version", "explain-type", "check --infer to stdout",
}  # fmt: skip
"""Commands that need standard output."""

STREAMS = {
    "all closed": ("<&-", ">&-", "2>&-"),
    "no output": ("<m.onnxtxt", ">&-"),
    "nothing can be written": ("<m.onnxtxt", ">/dev/full", "2>/dev/full"),
    "no input": ("<&-",),
    "no errors": ("<m.onnxtxt", "2>&-"),
    "full disk": ("<m.onnxtxt", ">/dev/full"),
    "input is for writing": ("0>sink",),
    "output is for reading": ("<m.onnxtxt", "1</dev/null"),
}
FEW = ("all closed",)
"""Redirections to test with every command."""

_SHOWN = re.compile(r"Traceback|internal-error|Exception ignored|cannot \w+ (?:None|\d+)\b|\bNone:")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with files for all commands."""
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "other.onnxtxt").write_text(TEXT.replace("Relu", "Tanh"))
    (tmp_path / "ugly.onnxtxt").write_text(TEXT.replace(" = ", "="))
    (tmp_path / "bad.onnxtxt").write_text(BAD_TEXT)
    (tmp_path / "m.onnx").write_bytes(binary())
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ("0" * 64)).write_bytes(b"")
    return tmp_path


def in_shell(place: Path, arguments: tuple[str, ...], redirections: tuple[str, ...]) -> Result:
    """Run a command with its standard streams as a shell redirects them."""
    words = [*onnxtext_command(*arguments), *redirections]
    line = " ".join(w if w in redirections else f"'{w}'" for w in words)
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=place, env=environment(), capture_output=True,
        stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip
    return Result(done.returncode, done.stdout, done.stderr.decode())


def check_result(done: Result) -> None:
    assert done.status in (0, 1, 2), done.err
    assert not _SHOWN.search(done.err), done.err


def check_streams(place: Path, name: str, streams: str) -> None:
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    done = in_shell(place, COMMANDS[name], STREAMS[streams])
    check_result(done)
    if name in TO_STDOUT and streams in (
        "all closed",
        "no output",
        "nothing can be written",
        "full disk",
    ):
        assert done.status == 2
    if streams == "no output" and name in TO_STDOUT:
        assert "standard output" in done.err or "standard input" in done.err
    result = ("made.onnx", "made.onnxtxt", "made.html", "sink")
    assert all(path.read_bytes() == data for path, data in before.items())
    assert all(path in before or path.name in result for path in place.iterdir() if path.is_file())


@pytest.mark.thorough
@pytest.mark.parametrize("streams", FEW)
@pytest.mark.parametrize("name", sampled(COMMANDS, 3))
def test_commands_survive_unusual_standard_streams(place: Path, name: str, streams: str) -> None:
    check_streams(place, name, streams)


@pytest.mark.slow
@pytest.mark.parametrize("streams", [key for key in STREAMS if key not in FEW])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_survive_more_unusual_standard_streams(
    place: Path, name: str, streams: str
) -> None:
    check_streams(place, name, streams)


@pytest.mark.parametrize("name", ["info as json", "run"])
def test_a_full_disk_is_a_finding(place: Path, name: str) -> None:
    words = (*COMMANDS[name], "--output-format", "json")
    done = in_shell(place, words, STREAMS["full disk"])
    assert [item["code"] for item in json.loads(done.err)] == ["cannot-write"]
    assert done.status == 2


# ---- Files --------------------------------------------------------------------------------------

READERS = {
    "to-binary": ("to-binary", "{}", "-o", "made"),
    "from-binary": ("from-binary", "{}", "-o", "made"),
    "check": ("check", "{}"),
    "check --fix": ("check", "--fix", "{}"),
    "check --infer": ("check", "--infer", "{}", "-o", "made.onnx"),
    "explain-type": ("explain-type", "{}", "y"),
    "fmt": ("fmt", "{}"),
    "diff": ("diff", "{}", "m.onnx"),
    "verify": ("verify", "{}"),
    "info": ("info", "{}"),
    "merge": ("merge", "m.onnx", "{}", "m.onnx"),
    "run": ("run", "{}", "--random"),
    "edit": ("edit", "{}", "rename", "x", "z", "--diff"),
    "weights list": ("weights", "list", "{}"),
    "weights verify": ("weights", "verify", "{}"),
    "weights gc": ("weights", "gc", "{}"),
    "git textconv": ("git", "textconv", "{}"),
}

FILES = {
    "missing": "nothing",
    "missing directory": "no/thing.onnxtxt",
    "a file as directory": "m.onnx/x",
    "empty name": "",
    "line break": "a\nb.onnxtxt",
    "surrogate": os.fsdecode(b"a\xff.onnxtxt"),
    "too long": "x" * 300,
    "directory": "w",
    "null device": "/dev/null",
    "loop": "loop.onnxtxt",
    "unreadable": "secret.onnxtxt",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", READERS)
def test_commands_survive_odd_files(place: Path, name: str, kind: str) -> None:
    (place / "loop.onnxtxt").symlink_to("loop.onnxtxt")
    (place / "secret.onnxtxt").write_text(TEXT)
    (place / "secret.onnxtxt").chmod(0)
    arguments = [word.format(FILES[kind]) for word in READERS[name]]
    code = f"{WITHOUT_PRIVILEGES}\nfrom onnxtext.cli.main import main\nmain()"
    command = [onnxtext_command()[0], "-c", code, *arguments]
    done = subprocess.run(
        command, cwd=place, env=environment(), capture_output=True, stdin=subprocess.DEVNULL,
        timeout=120, check=False,
    )  # fmt: skip
    check_result(Result(done.returncode, done.stdout, done.stderr.decode()))


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_an_empty_name_is_not_the_current_directory(place: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    commands = [[word.format("") for word in READERS[name]]]
    if "-o" in READERS[name]:
        *words, _ = READERS[name]
        commands.append([*[word.format("m.onnx") for word in words], ""])
    for command in commands:
        done = run(*command, cwd=place)
        assert (done.status, done.out) == (2, b"")
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_controls_in_names_are_escaped_in_messages(place: Path, name: str) -> None:
    file = place / "a\nb\x1b[31m.onnxtxt"
    file.write_text(TEXT.replace("Relu", "Rellu"))
    done = run(*[word.format(file.name) for word in READERS[name]], cwd=place)
    assert "\x1b" not in done.err
    assert "a\nb" not in done.err
    assert b"\x1b" not in done.out


@pytest.mark.parametrize("name", ["weights list", "weights verify", "weights gc"])
def test_weights_commands_survive_directories_named_like_blobs(place: Path, name: str) -> None:
    (place / "w" / ("a" * 64)).mkdir()
    os.mkfifo(place / "w" / ("b" * 64))
    done = run(*name.split(), "w", cwd=place)
    check_result(done)
    assert done.status == (1 if name == "weights verify" else 0)


# ---- Settings and the environment ---------------------------------------------------------------

SETTINGS: dict[str, str | bytes] = {
    "long number": "x = " + "9" * 5000,
    "brackets": "x = " + "[" * 5000,
    "braces": "x = " + "{a=" * 5000,
    "long key": "a." * 5000 + "a = 1",
    "no TOML": "[tool",
    "no UTF-8": b"\xff\xfe",
    "NUL": b"x = \0",
    "strings": '[tool.onnxtext]\nselect = "all"',
    "numbers": "[tool.onnxtext]\nselect = [1]",
    "large": "[tool.onnxtext]\nmax-findings = " + "9" * 4000,
    "negative": "[tool.onnxtext]\nmax-findings = -1",
    "date": "[tool.onnxtext]\nstrict = 2020-01-01",
    "array": "[[tool.onnxtext]]",
    "nothing": "",
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_odd_settings_are_read_or_reported(tmp_path: Path, kind: str) -> None:
    from onnxtext.cli.command_errors import CommandError
    from onnxtext.cli.load_settings import load_project

    content = SETTINGS[kind]
    path = tmp_path / "pyproject.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    messages = [str(path)]
    try:
        load_project(tmp_path / "m.onnxtxt", ())
    except CommandError as refused:
        messages.append(str(refused))
    assert all(str(path) in message and len(message) < 1000 for message in messages)


ENVIRONMENTS = {
    "no home": {"HOME": "", "XDG_CACHE_HOME": ""},
    "cache is a file": {"ONNXTEXT_CACHE": "m.onnx"},
    "cache is no place": {"ONNXTEXT_CACHE": "/proc/nothing"},
    "ASCII": {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "ASCII output": {"PYTHONIOENCODING": "ascii:strict"},
    "Latin 1 output": {"PYTHONIOENCODING": "latin-1:strict"},
    "dumb terminal": {"TERM": "dumb", "COLUMNS": "-5"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_commands_work_in_odd_environments(place: Path, kind: str) -> None:
    text = TEXT.replace("y = Relu", 'y = Op <s = "\u20ac \U0001f600"> (x)\n  z = Relu')
    (place / "\u20ac.onnxtxt").write_text(text, "utf-8")
    env = environment(**ENVIRONMENTS[kind])
    for arguments, status in ((("check",), 1), (("fmt", "--diff"), 0), (("verify",), 0)):
        done = run(*arguments, "\u20ac.onnxtxt", cwd=place, env=env)
        check_result(done)
        assert done.status == status, done.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("to-binary", "--no-check", "-"), 0),
        (("to-binary", "m.onnxtxt"), 2),
        (("from-binary", "--embed-external", "{}/m.onnx", "-o", "-"), 0),
        (("from-binary", "{}/m.onnx", "-o", "made.onnxtxt"), 2),
        (("check", "-"), 2),
        (("merge", "-", "{}/m.onnxtxt", "{}/other.onnxtxt"), 0),
    ],
)
def test_commands_survive_a_deleted_directory(
    place: Path, arguments: tuple[str, ...], status: int
) -> None:
    (place / "gone").mkdir()
    words = [word.format(place) for word in arguments]
    line = 'rmdir "$PWD" && exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *onnxtext_command(*words)], cwd=place / "gone",
        env=environment(), capture_output=True, input=TEXT.encode(), timeout=120, check=False,
    )  # fmt: skip
    result = Result(done.returncode, done.stdout, done.stderr.decode())
    check_result(result)
    assert result.status == status, result.err
    assert ("the current directory does not exist" in result.err) == (status == 2)


# ---- The cache of the tables --------------------------------------------------------------------


@pytest.mark.thorough
def test_a_damaged_cache_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxtext.syntax.grammar import table_cache
    from onnxtext.syntax.grammar.tables import ParserTables, build_tables, grammar_path

    monkeypatch.setenv("ONNXTEXT_CACHE", str(tmp_path))
    grammar = grammar_path().read_text("utf-8")
    path = table_cache.cache_path(grammar)
    assert path is not None
    built: list[str] = []
    right = build_tables(grammar)

    def build(text: str) -> ParserTables:
        built.append(text)
        return right

    monkeypatch.setattr("onnxtext.syntax.grammar.table_cache.build_tables", build)
    assert table_cache.cached_tables(grammar) == right
    whole = path.read_bytes()
    assert table_cache.cached_tables(grammar) == right
    assert len(built) == 1
    digest, head, cells = whole.split(b"\n", 2)
    content = json.loads(head)
    wrong: list[bytes] = [b"", b"\n", whole[:-1], whole + b" ", b"[" * 100_000, b"null"]
    odd: tuple[Any, ...] = (None, 0, 1e999, {}, [], [None], [{}], "x", 10**50)
    for key in content:
        for value in odd:
            wrong.append(json.dumps({**content, key: value}).encode() + b"\n" + cells)
        wrong.append(json.dumps({k: v for k, v in content.items() if k != key}).encode())
    wrong += [head + b"\n" + cells[4:] + cells[:4], head + b"\n" + cells[:-4], head]
    for damaged in [*wrong, *[digest + b"\n" + item for item in wrong[5:]]]:
        path.write_bytes(damaged)
        assert table_cache.read_tables(path) is None
    assert table_cache.cached_tables(grammar) == right
    assert len(built) == 2
    assert path.read_bytes() == whole


@pytest.mark.parametrize("kind", ["pipe", "link", "directory"])
def test_a_cache_path_that_is_no_file_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    from onnxtext.syntax.grammar import table_cache
    from onnxtext.syntax.grammar.table_cache import load_tables
    from onnxtext.syntax.grammar.tables import grammar_path

    load_tables()
    monkeypatch.setenv("ONNXTEXT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(table_cache, "build_tables", lambda text: load_tables())
    grammar = grammar_path().read_text("utf-8")
    path = table_cache.cache_path(grammar)
    assert path is not None
    path.parent.mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(victim)
    else:
        path.mkdir()
    assert table_cache.cached_tables(grammar) == load_tables()
    assert victim.read_bytes() == b"mine"


def _results(name: str, place: Path, *, fresh: bool) -> object:
    before = {entry.name for entry in place.iterdir()}
    done = run(*COMMANDS[name], cwd=place, stdin=TEXT.encode(), fresh=fresh)
    shown = re.sub(rb'[\d.]+ ms|"seconds": [\d.]+', b"TIME", done.out)
    result = {}
    for entry in place.iterdir():
        if entry.name not in before:
            result[entry.name] = entry.read_bytes()
            entry.unlink()
    return done.status, shown, done.err, result


OFTEN = ("check", "edit")
THOROUGH = (
    *("from-binary", "check --infer", "fmt of stdin", "view", "run", "diff", "weights list"),
    *("git clean", "explain", "help", "wrong usage"),
)
"""Commands of each kind: they import other packages, read streams or start processes."""


def mark_of(name: str) -> tuple[pytest.MarkDecorator, ...]:
    if name in OFTEN:
        return ()
    return (pytest.mark.thorough if name in THOROUGH else pytest.mark.slow,)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=mark_of(name))
        for name in COMMANDS
        if name not in ("lsp", "git filter-process")  # these serve protocols
    ],
)
def test_a_forked_process_does_what_a_new_one_does(name: str, place: Path) -> None:
    """`run` forks processes, which must behave like new processes."""
    assert _results(name, place, fresh=False) == _results(name, place, fresh=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("to-binary", "{}"),
        ("from-binary", "{}"),
        ("from-binary", "m.onnx", "-o", "{}"),
        ("fmt", "m.onnxtxt", "{}"),
        ("verify", "{}", "m.onnx"),
        ("check", "{}", "m.onnx"),
    ],
)
def test_names_that_are_too_long_are_errors_of_their_file(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    long = "x" * 300
    (tmp_path / "m.onnx").write_bytes(binary())
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    words = [word.format(long) for word in arguments]
    result = run(*words, "--output-format", "json", cwd=tmp_path)
    assert result.status == 2
    (found,) = result.findings()
    assert found["code"] in {"cannot-read", "cannot-write"}
    assert re.search(rf"{long[:40]}.*: File name too long", found["message"])
