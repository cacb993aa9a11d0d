# SPDX-License-Identifier: Apache-2.0
"""The command `onnxtext lsp`: transports, ends of sessions, and a missing extra."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import environment, onnxtext_command, run, run_command

pytestmark = pytest.mark.thorough


def message(method: str, number: int | None = None, **params: object) -> bytes:
    body: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        body["id"] = number
    data = json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


SESSION = (
    message("initialize", 1, processId=None, rootUri=None, capabilities={})
    + message("initialized")
    + message("shutdown", 2)
    + message("exit")
)


def test_the_server_uses_standard_streams() -> None:
    """Editors add these options; other tests give none."""
    result = run("lsp", "--stdio", "--clientProcessId=1", stdin=SESSION)
    assert result.status == 0, result.err
    said = result.out.replace(b" ", b"")
    assert b'"name":"onnxtext"' in said
    assert b'"hoverProvider":' in said
    assert not result.err


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(said: bytes) -> list[dict[str, Any]]:
    """Return the responses among the messages of the server."""
    found = []
    while said:
        head, _, said = said.partition(b"\r\n\r\n")
        size = int(head.split(b"\r\n")[0].split(b":")[1])
        found.append(json.loads(said[:size]))
        said = said[size:]
    return [item for item in found if "method" not in item]


def test_invalid_messages_are_answered() -> None:
    wrong = [
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        framed(b"{]"),
        framed(b"\xff"),
        framed(b'{"id": ' + b"1" * 5000 + b"}"),
        framed(b"[" * 200_000),
        framed(b""),
    ]
    result = run("lsp", stdin=b"".join(wrong) + framed(b"[]") + SESSION)
    assert result.status == 0, result.err
    codes = [item.get("error", {}).get("code") for item in answers(result.out)]
    assert codes == [-32700] * len(wrong) + [-32600, None, None]


def test_pending_requests_are_answered_at_the_end_of_input() -> None:
    """The client ends in the middle of a message."""
    item = {"uri": "file:///m", "languageId": "onnxtxt", "version": 1, "text": "g () => () {}"}
    named = {"uri": "file:///m"}
    result = run(
        "lsp",
        stdin=SESSION[: SESSION.index(b"Content-Length", SESSION.index(b"initialized"))]
        + message("textDocument/didOpen", textDocument=item)
        + message("textDocument/documentSymbol", 2, textDocument=named)
        + message("textDocument/foldingRange", 3, textDocument=named)
        + b"Content-",
    )
    assert (result.status, result.err) == (0, "")
    # In any order: folding ranges do not wait for the syntax tree.
    assert sorted(item["id"] for item in answers(result.out)) == [1, 2, 3]


def test_exit_without_shutdown_is_a_failure() -> None:
    initialize = message("initialize", 1, processId=None, rootUri=None, capabilities={})
    result = run("lsp", stdin=initialize + message("exit"))
    assert result.status == 1
    assert not result.err


def test_a_client_that_stops_reading_ends_the_server() -> None:
    """Standard output is closed, standard input is not."""
    with subprocess.Popen(
        onnxtext_command("lsp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        text = "g () => () { y = }"
        item = {"uri": "file:///m", "languageId": "onnxtxt", "version": 1, "text": text}
        try:
            server.stdin.write(message("initialize", 1, processId=None, capabilities={}))
            server.stdin.flush()
            server.stdin.write(message("textDocument/didOpen", textDocument=item))
            server.stdin.flush()
        except BrokenPipeError:
            pass
        assert server.wait(60) == 0
        assert b"Traceback" not in server.stderr.read()


def connected_server() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a server on a port that no other process uses, and connect to it."""
    # The system gives ports from 32768 on to any process, also to our own socket that connects.
    for port in random.sample(range(10_000, 32_000), 10):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        command = onnxtext_command("lsp", "--tcp", str(port))
        server = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while server.poll() is None and time.monotonic() < end:
            with suppress(OSError):
                return server, socket.create_connection(("127.0.0.1", port), timeout=60)
            time.sleep(0.1)
        server.kill()
        server.wait()
    raise AssertionError("no server listens")


def test_the_server_listens_on_a_port() -> None:
    server, connection = connected_server()
    try:
        with connection:
            connection.sendall(SESSION[: SESSION.index(b"Content-Length", 10)])
            assert b"Content-Length" in connection.recv(1000)
            server.terminate()  # while it serves: a process that ends has no handlers any more
            assert server.wait(60) == 128 + signal.SIGTERM
    finally:
        server.kill()
        server.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_server(name: str) -> None:
    number = getattr(signal, name)
    server = subprocess.Popen(
        onnxtext_command("lsp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(SESSION[: SESSION.index(b"Content-Length", 10)])
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        server.send_signal(number)
        assert server.wait(60) == 128 + number
        assert not server.stderr.read()


def test_a_missing_extra_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('gone', name='pygls')")
    command = onnxtext_command("lsp")
    result = run_command(command, env={**environment(), "PYTHONPATH": str(tmp_path)})
    assert result.status == 2
    assert "pip install -e '.[lsp]'" in result.err
    assert "Traceback" not in result.err


def test_wrong_usage_is_status_2() -> None:
    result = run("lsp", "--stdio", "--tcp", "2087")
    assert result.status == 2
    assert "cannot be combined" in result.err


def test_the_help_imports_no_server() -> None:
    for arguments in (("--help",), ("lsp", "--help")):
        command = onnxtext_command(*arguments)
        command[1:1] = ["-X", "importtime"]
        result = run_command(command)
        modules = set(re.findall(r"^import time:.*\|\s*(\S+)$", result.err, re.MULTILINE))
        assert result.status == 0
        assert not {name.partition(".")[0] for name in modules} & {"pygls", "lsprotocol", "onnx"}


def test_the_server_survives_a_killed_checking_process() -> None:
    """Writing to a closed pipe raises an error that is handled, instead of SIGPIPE."""
    patch = """\
from onnxtext.lsp.server import check_scheduler as background
original = background.ask
def ask(process, *rest):
    process.kill()
    process.wait()
    return original(process, *rest)
background.ask = ask
"""
    text = "g () => () {}" + " " * (1 << 20)
    item = {"uri": "file:///m.onnxtxt", "languageId": "onnxtxt", "version": 1, "text": text}
    stdin = (
        message("initialize", 1, processId=None, rootUri=None, capabilities={})
        + message("initialized")
        + message("textDocument/didOpen", textDocument=item)
        + message("onnxtext/checked", 2, uri=item["uri"])
    )
    command = [sys.executable, "-c", f"{patch}\nfrom onnxtext.cli.main import main\nmain()", "lsp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(stdin)
        server.stdin.flush()
        said = b""
        while b'"version": 1}' not in said:
            piece = os.read(server.stdout.fileno(), 1 << 16)
            assert piece, "the server has ended"
            said += piece
        server.stdin.close()
        server.stdout.read()
    assert server.returncode == 0
    assert b"the checking process crashed" in said
