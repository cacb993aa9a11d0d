# SPDX-License-Identifier: Apache-2.0
"""git's protocol for long-running filter processes, with a client instead of git."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onnxtext.git.filter_process import (
    MAX_PACKET_BYTES,
    PacketError,
    read_list,
    read_packet,
    serve,
    write_content,
    write_lines,
)
from tests.git.repository import STORED, binary, environment


@given(st.binary(max_size=200), st.integers(0, 3))
def test_content_round_trips(data: bytes, times: int) -> None:
    stream = io.BytesIO()
    write_content(stream, data * times)
    write_lines(stream)
    stream.seek(0)
    assert b"".join(read_list(stream)) == data * times
    assert stream.read() == b""


@pytest.mark.parametrize(
    "size",
    [0, 1, MAX_PACKET_BYTES - 1, MAX_PACKET_BYTES, MAX_PACKET_BYTES + 1, 3 * MAX_PACKET_BYTES + 7],
)
def test_packets_have_the_maximum_size_of_git(size: int) -> None:
    stream = io.BytesIO()
    write_content(stream, b"x" * size)
    write_lines(stream)
    stream.seek(0)
    packets = list(read_list(stream))
    assert [len(packet) for packet in packets[:-1]] == [MAX_PACKET_BYTES] * (len(packets) - 1)
    assert sum(map(len, packets)) == size


@given(st.binary(max_size=20))
@example(b"0")
@example(b"+000")
@example(b"0_00")
def test_invalid_packets_are_errors(data: bytes) -> None:
    stream = io.BytesIO(data)
    try:
        while read_packet(stream) is not None:
            pass
    except (EOFError, PacketError):
        return
    assert b"0000" in data


class Session:
    """`onnxtext git filter-process`, and a client for it."""

    def __init__(self, home: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "onnxtext", "git", "filter-process", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(home),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.to, self.back = self.process.stdin, self.process.stdout
        self.errors = self.process.stderr

    def lines(self) -> list[str]:
        return [line.decode().rstrip("\n") for line in read_list(self.back)]

    def greet(self, *capabilities: str) -> list[str]:
        write_lines(self.to, "git-filter-client", "version=2")
        self.to.flush()
        assert self.lines() == ["git-filter-server", "version=2"]
        write_lines(self.to, *[f"capability={name}" for name in capabilities])
        self.to.flush()
        return self.lines()

    def ask(self, command: str, content: bytes, name: str = "m.onnx") -> tuple[list[str], bytes]:
        write_lines(self.to, f"command={command}", f"pathname={name}", "ref=refs/heads/main")
        write_content(self.to, content)
        write_lines(self.to)
        self.to.flush()
        status = self.lines()
        if status != ["status=success"]:
            return status, b""
        data = b"".join(read_list(self.back))
        return status + self.lines(), data

    def end(self) -> tuple[int, str]:
        self.to.close()
        said = self.errors.read().decode()
        self.back.close()
        self.errors.close()
        return self.process.wait(20), said


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    started = Session(tmp_path)
    yield started
    if started.process.poll() is None:
        started.process.kill()
        started.process.communicate()
    for stream in (started.to, started.back, started.errors):
        stream.close()


def test_a_session_converts_and_survives_errors(session: Session) -> None:
    assert session.greet("clean", "smudge", "delay") == ["capability=clean", "capability=smudge"]
    for _ in range(3):
        assert session.ask("clean", binary()) == (["status=success"], STORED)
        assert session.ask("smudge", STORED) == (["status=success"], binary())
    assert session.ask("clean", b"") == (["status=success"], b"")
    assert session.ask("smudge", b"no text {", "odd\tname")[1] == b"no text {"
    assert session.ask("list_available_blobs", b"") == (["status=error"], b"")
    assert session.ask("smudge", STORED)[1] == binary()
    status, said = session.end()
    assert status == 0
    (line,) = said.splitlines()
    assert line.startswith("warning: odd    name: checked out unchanged: line 1")


def test_only_offered_capabilities_are_used(session: Session) -> None:
    assert session.greet("smudge") == ["capability=smudge"]


@pytest.mark.thorough
def test_large_content_round_trips(session: Session) -> None:
    session.greet("clean", "smudge")
    large = bytes(range(256)) * (20 << 12)  # 20 MiB, no model
    for command in ("clean", "smudge"):
        status, data = session.ask(command, large)
        assert status == ["status=success"]
        assert data == large
    assert session.ask("clean", binary())[1] == STORED


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\n", b"0010git-", b"0000", b"fffd" + b"x" * 10, b"0001"]
)
def test_an_invalid_client_is_an_error_without_traceback(session: Session, garbage: bytes) -> None:
    session.to.write(garbage)
    status, said = session.end()
    assert status == 2
    assert said.startswith("onnxtext git filter-process: ")
    assert len(said.splitlines()) == 1


def test_a_closed_pipe_ends_the_process(session: Session) -> None:
    session.greet("clean", "smudge")
    write_lines(session.to, "command=clean", "pathname=m.onnx")
    session.to.write(b"0100half")
    status, said = session.end()
    assert status == 2
    assert "ends within a packet" in said


def test_the_limit_is_an_option(tmp_path: Path) -> None:
    session = Session(tmp_path, "--max-size", "10")
    session.greet("clean")
    assert session.ask("clean", binary())[1] == binary()
    _, said = session.end()
    assert f"it has {len(binary())} bytes, and the limit is 10" in said


def test_a_lack_of_memory_leaves_the_stream_in_step(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise MemoryError

    request, answer, warned = io.BytesIO(), io.BytesIO(), []
    write_lines(request, "git-filter-client", "version=2")
    write_lines(request, "capability=clean")
    for name in ("a.onnx", "b.onnx"):
        write_lines(request, "command=clean", f"pathname={name}")
        write_content(request, bytes(MAX_PACKET_BYTES + 1))
        write_lines(request)
    request.seek(0)
    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda size: Full())
    serve(request, answer, limit=lambda: 0, warn=lambda name, why: warned.append(name))
    assert warned == ["a.onnx", "b.onnx"]


def test_a_stream_that_ends_within_a_request_is_an_error() -> None:
    stream = io.BytesIO()
    write_lines(stream, "git-filter-client", "version=2")
    write_lines(stream, "capability=clean", "capability=smudge")
    greeted = stream.tell()
    write_lines(stream, "command=clean", "pathname=m.onnx")
    write_content(stream, b"no model")
    write_lines(stream)
    whole = stream.getvalue()
    for end in range(len(whole) + 1):
        source, target = io.BytesIO(whole[:end]), io.BytesIO()
        if end in (greeted, len(whole)):
            serve(source, target, limit=lambda: 100, warn=lambda path, reason: None)
        else:
            with pytest.raises(PacketError):
                serve(source, target, limit=lambda: 100, warn=lambda path, reason: None)
