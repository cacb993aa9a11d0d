# SPDX-License-Identifier: Apache-2.0
"""The checking process: checks are superseded or cancelled; a dead process is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxtext
from onnxtext.io import files
from onnxtext.lsp.server import check_process
from onnxtext.lsp.server.check_document import Analysis, WorkerError, analyze
from onnxtext.lsp.server.check_process import CheckJob
from onnxtext.lsp.server.check_scheduler import Checker
from tests.lsp.documents import EXAMPLES, example, large

pytestmark = pytest.mark.asyncio

BAD = "<ir_version: 10, opset_import: [21]> g (float x) => (float y) { y = Relu (z) }"


class Collected:
    """Collects the results of a checker."""

    def __init__(self) -> None:
        self.reported: list[tuple[str, int, Analysis | WorkerError]] = []
        self.event = asyncio.Event()

    def done(self, uri: str, number: int, result: Analysis | WorkerError) -> None:
        self.reported.append((uri, number, result))
        self.event.set()

    async def next(self) -> tuple[str, int, Analysis | WorkerError]:
        await asyncio.wait_for(self.event.wait(), 60)
        self.event.clear()
        return self.reported[-1]


@contextlib.asynccontextmanager
async def checking() -> AsyncIterator[tuple[Checker, Collected]]:
    """Yield a checker and its results; stop its process at the end of the test."""
    collected = Collected()
    checker = Checker(collected.done)
    try:
        yield checker, collected
    finally:
        checker.close()
        if checker.task is not None:
            await checker.task


async def stopped_process(checker: Checker, collected: Collected) -> subprocess.Popen[bytes]:
    """Start the checking process and stop it: its next check never ends."""
    checker.submit("first", 1, CheckJob(BAD, "first", None), 0)
    await collected.next()
    process = checker.process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    return process


async def test_only_the_newest_version_is_checked() -> None:
    async with checking() as (checker, collected):
        for number in range(5):
            checker.submit("a", number, CheckJob(BAD, "a", None), 0.01)
        checker.submit("b", 1, CheckJob(BAD, "b", None), 0.01)
        while len(collected.reported) < 2:
            await collected.next()
        assert {(uri, number) for uri, number, _ in collected.reported} == {("a", 4), ("b", 1)}
        for _, _, result in collected.reported:
            assert isinstance(result, Analysis)
            assert [d.code for d in result.diagnostics if d.severity == "error"] == [
                "value-undefined"
            ]


@pytest.mark.thorough
async def test_an_outdated_check_is_stopped() -> None:
    async with checking() as (checker, collected):
        process = await stopped_process(checker, collected)
        checker.submit("a", 1, CheckJob(BAD, "a", None), 0)
        while checker.running is None:
            await asyncio.sleep(0)
        checker.submit("a", 2, CheckJob(BAD, "a", None), 0)
        uri, number, result = await collected.next()
        assert (uri, number) == ("a", 2)
        assert isinstance(result, Analysis)
        assert process.returncode == -signal.SIGKILL
        assert len(collected.reported) == 2  # that of `stopped_process`, and version 2


async def test_nothing_is_reported_of_a_document_that_was_closed() -> None:
    """A reopened document has the same version number, but maybe another text."""
    found: list[list[str]] = []
    collected = Collected()
    checker = Checker(
        collected.done, lambda uri, number, reported: found.append([item.code for item in reported])
    )
    try:
        checker.submit("b", 1, CheckJob(BAD, "b", None), 0)  # the process starts
        await collected.next()
        found.clear()
        checker.submit("a", 1, CheckJob(BAD + "#" * 1_000_000, "a", None), 0)
        while checker.running is None:
            await asyncio.sleep(0)
        checker.cancel("a")
        checker.submit("a", 1, CheckJob(BAD.replace("(z)", "(x)"), "a", None), 0)
        _, _, result = await collected.next()
        assert isinstance(result, Analysis)
        codes = [item.code for item in result.diagnostics]
        assert "value-undefined" not in codes
        assert found == [codes]
        assert len(collected.reported) == 2
    finally:
        checker.close()
        if checker.task is not None:
            await checker.task


async def test_a_process_that_dies_is_replaced() -> None:
    async with checking() as (checker, collected):
        process = await stopped_process(checker, collected)
        checker.submit("a", 2, CheckJob(large() * 3, "a", None), 0)
        while checker.running is None:
            await asyncio.sleep(0)
        os.kill(process.pid, signal.SIGKILL)
        _, number, result = await collected.next()
        assert number == 2
        assert isinstance(result, WorkerError)
        checker.submit("a", 3, CheckJob(BAD, "a", None), 0)
        _, number, result = await collected.next()
        assert number == 3
        assert isinstance(result, Analysis)


@pytest.mark.parametrize("answer", [b"connxtext\nMissing\n.", b"cmissing\nname\n.", b"\x80\x05]"])
async def test_a_process_with_unreadable_answers_is_replaced(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, onnxtext was updated while the server was running."""
    start, number = subprocess.Popen, iter(range(9))

    def started(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        program = f"import sys; sys.stdin.buffer.read(9); sys.stdout.buffer.write({answer!r})"
        return start([command[0], "-c", program] if next(number) == 0 else command, **options)

    async with checking() as (checker, collected):
        monkeypatch.setattr(subprocess, "Popen", started)
        for wanted in (WorkerError, Analysis):
            checker.submit("a", 1, CheckJob(BAD, "a", None), 0)
            _, _, result = await collected.next()
            assert isinstance(result, wanted)


async def test_an_internal_error_is_reported() -> None:
    async with checking() as (checker, collected):
        checker.submit("a", 1, CheckJob(None, "a", None), 0)  # type: ignore[arg-type]
        _, _, result = await collected.next()
        assert isinstance(result, WorkerError)
        assert "Traceback" in result.message
        checker.submit("a", 2, CheckJob(BAD, "a", None), 0)
        _, _, result = await collected.next()
        assert isinstance(result, Analysis)


async def test_files_of_weights_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "w.npy"
    np.save(path, np.zeros(1 << 16, np.float32))
    text = '<ir_version: 10, opset_import: [21]> g () => () <float[65536] w = file"w.npy"> {}'
    program = """if True:
        from onnxtext.lsp.server import check_process
        from onnxtext.weights import safe_paths
        old = safe_paths.map_file
        safe_paths.map_file = lambda *given: (print("mapped", given[1].name), old(*given))[1]
        check_process.main()
    """
    job = pickle.dumps(CheckJob(text, "m", tmp_path))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=job, capture_output=True, check=True)
    # The process prints to standard error: its standard output is for messages.
    assert b"mapped w.npy" in done.stderr
    messages = BytesIO(done.stdout)
    assert pickle.load(messages) == []
    assert isinstance(pickle.load(messages), Analysis)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.onnxtxt")), ids=lambda path: path.stem)
async def test_it_finds_what_the_command_finds(path: Path) -> None:
    text = path.read_text("utf-8").replace("Gemm", "Gemmm").replace("Relu (", "Relu (x0, ")
    result = analyze(text, str(path), path.parent)
    wanted = onnxtext.check(text, base_dir=path.parent)
    assert sorted((d.code, d.labels[0].span) for d in result.diagnostics) == sorted(
        (d.code, d.labels[0].span) for d in wanted
    )


async def test_inferred_types_have_shapes() -> None:
    result = analyze(example("collatz"), "x", None)
    types = {name: text for scope in result.types.values() for name, text in scope.items()}
    assert types["not_there"] == "bool"
    assert types["visited"] == "int64[?, 1]"
    assert types["half"] == "int64"


async def test_no_mapped_files_are_kept_after_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "w.npy", np.zeros(1 << 16, np.float32))
    monkeypatch.setattr(files, "before_mapping", int)
    seen: list[str] = []

    def analyzed(*arguments: Any) -> Analysis:
        found = analyze(*arguments)
        seen.extend(files.mapped)
        return found

    monkeypatch.setattr(check_process, "analyze", analyzed)
    text = '<ir_version: 10, opset_import: [21]> g () => () <float[65536] w = file"w.npy"> {}'
    check_process.answer(CheckJob(text, "m", tmp_path), {}, lambda _: None)
    assert [Path(path).name for path in seen] == ["w.npy"]
    assert not files.mapped
