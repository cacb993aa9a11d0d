# SPDX-License-Identifier: Apache-2.0
"""Pipes, terminals and signals."""

from __future__ import annotations

import io
import os
import pty
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onnxtext.io.files import read_stream
from tests.cli.command import (
    TEXT,
    binary,
    environment,
    names,
    onnxtext_command,
    run,
    run_command,
    run_patched,
)
from tests.seeds import sampled


def shell(script: str, *arguments: str | Path) -> str:
    """Run a shell command in which `$ONNXTEXT` is our command; return its combined output."""
    env = environment(ONNXTEXT=shlex.join(onnxtext_command()))
    result = run_command(["bash", "-c", script, "bash", *map(str, arguments)], env=env)
    return result.out.decode() + result.err


def terminal(command: list[str], typed: bytes = b"") -> tuple[int, str]:
    """Run a command on a terminal; return its status and output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment()
    )
    os.close(theirs)
    os.write(ours, typed)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux raises this when no process has the terminal open
        pass
    os.close(ours)
    return process.wait(timeout=60), seen.decode()


@pytest.mark.parametrize("arguments", [[], ["-"], ["-", "-o", "-"], ["/dev/stdin"]])
def test_a_binary_is_converted_from_stdin_to_stdout(arguments: list[str]) -> None:
    result = run("from-binary", *arguments, stdin=binary())
    assert (result.status, result.out.decode(), result.err) == (0, TEXT, "")


def test_a_text_is_converted_from_stdin_to_stdout() -> None:
    result = run("to-binary", stdin=TEXT.encode())
    assert (result.status, result.out, result.err) == (0, binary(), "")


def test_stdin_is_converted_to_a_file(tmp_path: Path) -> None:
    result = run("from-binary", "-o", "m.onnxtxt", stdin=binary(), cwd=tmp_path)
    assert (result.status, result.out) == (0, b"")
    assert (tmp_path / "m.onnxtxt").read_text() == TEXT


def test_a_file_is_converted_to_stdout(tmp_path: Path, model: Path) -> None:
    assert run("from-binary", model, "-o", "-").out.decode() == TEXT
    assert run("from-binary", model, "-o", "/dev/stdout").out.decode() == TEXT
    assert names(tmp_path) == ["m.onnx"]


def test_findings_name_stdin_as_their_file() -> None:
    result = run("to-binary", "--output-format=concise", stdin=b"nonsense")
    assert (result.status, result.out) == (1, b"")
    assert result.err.startswith("<stdin>:1:")


def test_process_substitution_needs_a_named_output(tmp_path: Path, model: Path) -> None:
    out = tmp_path / "out"
    assert shell('$ONNXTEXT from-binary <(cat "$1") -o "$2"', model, out) == ""
    assert out.read_text() == TEXT
    assert "name the output with -o" in shell('$ONNXTEXT from-binary <(cat "$1")', model)


def test_a_closed_pipe_ends_the_process_quietly(tmp_path: Path) -> None:
    large = tmp_path / "large.onnx"
    nodes = "\n".join(f"  y{index} = Relu (x)" for index in range(20_000))
    large.write_bytes(binary(TEXT.replace("  y = Relu (x)", nodes)))
    script = '$ONNXTEXT from-binary "$1" -o - | head -n 1; echo ${PIPESTATUS[0]}'
    assert shell(script, large) == "<\n141\n"


def test_closed_and_full_streams_are_errors(text: Path) -> None:
    assert shell("$ONNXTEXT from-binary <&-; echo $?") == (
        "2\nerror[cannot-read]: standard input is closed\n"
    )
    assert shell('$ONNXTEXT to-binary "$1" -o - >&-; echo $?', text).endswith(
        "error[cannot-write]: standard output is closed\n"
    )
    assert "No space left" in shell('$ONNXTEXT to-binary "$1" -o - >/dev/full', text)
    assert shell("$ONNXTEXT --help >/dev/full; echo $?") == (
        "2\nerror: cannot write to standard output: No space left on device\n"
    )


def test_binary_never_goes_to_a_terminal(text: Path) -> None:
    for output in ("-", "/dev/stdout", "/dev/tty"):
        command = onnxtext_command("to-binary", text, "-o", output, "--color=never")
        if output == "/dev/tty":
            command = [sys.executable, "-c", _WITH_A_TERMINAL, *command]
        status, seen = terminal(command)
        assert status == 2
        assert seen.splitlines()[0] == (
            "error[binary-to-terminal]: binary models are not written to a terminal"
        )
        assert seen.isascii()


# The process gets the terminal on its standard input as its /dev/tty.
_WITH_A_TERMINAL = """\
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_text_goes_to_a_terminal_and_findings_are_coloured_there(model: Path) -> None:
    status, seen = terminal(onnxtext_command("from-binary", model, "-o", "-"))
    assert (status, seen.replace("\r\n", "\n")) == (0, TEXT)
    status, seen = terminal(onnxtext_command("from-binary", "missing.onnx"))
    assert status == 2
    assert seen.startswith("\x1b[1;31merror[cannot-read]\x1b[0m")


def test_a_binary_is_not_read_from_a_terminal() -> None:
    status, seen = terminal(onnxtext_command("from-binary", "--color=never"))
    assert status == 2
    assert seen.startswith("error[no-input]: no file is named, and standard input is a terminal")


def test_a_text_is_read_from_a_terminal(tmp_path: Path) -> None:
    target = tmp_path / "m.onnx"
    status, seen = terminal(onnxtext_command("to-binary", "-o", target), TEXT.encode() + b"\x04")
    assert status == 0
    assert "Ctrl-D" in seen
    assert target.read_bytes() == binary()


@pytest.mark.parametrize("command", [("info", "-"), ("show", "--no-pager", "-")])
def test_other_commands_read_a_text_from_a_terminal_too(command: tuple[str, ...]) -> None:
    status, seen = terminal(onnxtext_command(*command), TEXT.encode() + b"\x04")
    assert status == 0
    assert "Ctrl-D" in seen


@pytest.mark.thorough
def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    pipe = tmp_path / "endless.onnx"
    os.mkfifo(pipe)
    command = onnxtext_command("from-binary", pipe, "-o", f"{tmp_path}/out/")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        writer = os.open(pipe, os.O_WRONLY)  # returns as soon as the command reads
        try:
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            os.close(writer)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    assert names(tmp_path) == ["endless.onnx"]


# ---- Input without end ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["from-binary", "-"],
        ["to-binary", "-"],
        ["check", "-"],
        ["fmt", "-"],
        ["git", "clean"],
        ["git", "smudge"],
    ],
)
def test_an_endless_device_is_an_error(arguments: list[str]) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        os.dup2(os.open("/dev/zero", os.O_RDONLY), 0)

    result = run(*arguments, before=limit)
    assert result.status == 2
    assert "cannot read standard input: its content is larger than 256 MiB" in result.err
    assert not result.out


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments",
    sampled(
        [
            "to-binary Z -o out",
            "from-binary Z -o out",
            "check Z",
            "info Z",
            "show Z",
            "view Z -o out",
            "diff Z m.onnxtxt",
            "diff m.onnxtxt Z",
            "verify Z",
            "merge m.onnxtxt m.onnxtxt Z -o out",
            "edit Z strip doc -o out",
            "run Z --random",
            "explain-type Z y",
            "git textconv Z",
        ],
        3,
    ),
)
def test_an_endless_file_is_an_error(arguments: str, tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(TEXT)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    words = arguments.replace("Z", "/dev/zero").split()
    result = run(*words, before=limit, cwd=tmp_path)
    assert result.status == 2
    assert "content is larger than 256 MiB" in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnxtxt"]


def test_streams_without_descriptor_are_read() -> None:
    assert read_stream(io.BytesIO(b"x" * 3_000_000), "it") == b"x" * 3_000_000


def test_an_endless_pipe_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxtext.io.files.MAX_PIPE_BYTES", 3 << 20)
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        try:
            with pytest.raises(OSError, match="larger than 3 MiB"):
                read_stream(endless.stdout, "it")
        finally:
            endless.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_reading_a_pipe(number: signal.Signals) -> None:
    with subprocess.Popen(
        onnxtext_command("check", "-"), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            process.stdin.write(b"y\n" * (1 << 20))  # more than fits into a pipe: it is being read
            process.send_signal(number)
            assert process.wait(60) == 128 + number
        finally:
            process.kill()
        assert not process.stderr.read().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_exit_show_no_traceback(number: signal.Signals) -> None:
    kill = f"import atexit, os\natexit.register(os.kill, os.getpid(), {int(number)})"
    result = run_patched(kill, "--version")
    assert result.status == -number
    assert not result.err


def test_ctrl_c_is_quiet_from_the_start() -> None:
    """Before commands handle Ctrl-C, they import nothing that takes long."""
    code = (
        "import sys; before = {*sys.modules, '__future__', 'gc'}; import onnxtext.cli.main; "
        "print(*sorted(set(sys.modules) - before))"
    )
    first = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert first.stdout.split() == ["onnxtext", "onnxtext.cli", "onnxtext.cli.main"]
    for module in ("onnxtext.cli.signals", "click"):
        result = run_patched(
            "import sys\n"
            "class Interrupting:\n"
            "    def find_spec(self, name, *others):\n"
            f"        if name == {module!r}: raise KeyboardInterrupt\n"
            "sys.meta_path.insert(0, Interrupting())",
            "--version",
        )
        assert (result.status, result.out, result.err) == (130, b"", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_do_not_interrupt_imports(tmp_path: Path, number: signal.Signals) -> None:
    done = tmp_path / "done"
    (tmp_path / "difflib.py").write_text(f"""
import os, sys, time
sys.path.remove({str(tmp_path)!r})
del sys.modules["difflib"]
os.kill(os.getpid(), {int(number)})
time.sleep(0.1)
import difflib
open({str(done)!r}, "w").close()
""")
    result = run_command(
        onnxtext_command("check", "-"), env={**environment(), "PYTHONPATH": str(tmp_path)}
    )
    assert (result.status, result.err.strip()) == (128 + number, "")
    assert done.exists()
