# SPDX-License-Identifier: Apache-2.0
"""Run conversions, each in a new process, and collect the measurements."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS, REFERENCE, Peer, named
from benchmarks.processes import python, run
from benchmarks.results import Row
from benchmarks.workloads import SAMPLE, WORK, Workload

MAX_REPEATED_LENGTH = 20.0
"""A conversion that takes longer than this number of seconds is not repeated."""
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a measurement.

    Attributes:
        repeat: the number of processes for each row.
        timeout: the timeout of a process in seconds.
        wanted: returns whether to show a peer.
        say: shows the progress.
    """

    repeat: int
    timeout: float
    wanted: Callable[[Peer], bool]
    say: Callable[[str], None]


@dataclass(slots=True)
class _Task:
    """A row that is being measured, and its runs so far."""

    peer: Peer
    row: Row
    source: Path
    target: Path
    weights: str
    tried: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether the task is not to be repeated, because it failed or takes too long."""
        if self.row.failed is not None:
            return True
        return bool(self.runs) and self.runs[-1]["seconds"] > MAX_REPEATED_LENGTH


def made(workload: Workload, options: Options) -> Path:
    """Return the directory of the models of a workload; generate the models if they are missing.

    Raises:
        RuntimeError: the models cannot be generated.
    """
    if not workload.made:
        options.say(f"making {workload.name}")
        finished = run(python("-m", "benchmarks.models", workload.name), timeout=options.timeout)
        if finished.failed:
            raise RuntimeError(f"cannot make {workload.name}: {finished.failed}")
    return workload.directory


def measure(workload: Workload, options: Options) -> list[Row]:
    """Measure all peers on a workload, in both directions."""
    made(SAMPLE, options)
    source = made(workload, options)
    many = len(list(source.iterdir())) > 1 and not workload.files  # real ones have external data
    peers = [peer for peer in PEERS if many or not peer.of_many]
    shown = [peer for peer in peers if options.wanted(peer)]
    read = {peer.reads for peer in shown}
    with tempfile.TemporaryDirectory(prefix="results-", dir=WORK) as directory:
        results = Path(directory)
        printing = [peer for peer in peers if peer.prints and (peer in shown or peer.name in read)]
        texts = [_task(workload, peer, "to-text", source, results) for peer in printing]
        _run_all(texts, options)
        text_of = {task.peer.name: task for task in texts}
        parsing = [
            _task(workload, peer, "to-binary", text_of[peer.reads].target, results)
            for peer in shown
        ]
        for task in parsing:
            if text_of[task.peer.reads].row.failed is not None:
                task.row.failed = "there is no text"
        _run_all(parsing, options)
        _finish(source, [*texts, *parsing], options)
    if workload.files:
        for task in (*texts, *parsing):
            _note_files(task)
    return [task.row for task in (*texts, *parsing) if task.peer in shown]


@contextmanager
def prepared(workload: Workload, direction: str, options: Options) -> Iterator[Path]:
    """Yield the directory of the input files of one direction; it may be temporary.

    Raises:
        RuntimeError: the files cannot be generated.
    """
    made(SAMPLE, options)
    source = made(workload, options)
    if direction == "to-text":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="results-", dir=WORK) as results:
        task = _task(workload, named("onnxtext"), "to-text", source, Path(results))
        _run_child(task, options)
        if task.row.failed is not None:
            raise RuntimeError(f"cannot print {workload.name}: {task.row.failed}")
        yield task.target


def _task(workload: Workload, peer: Peer, direction: str, source: Path, results: Path) -> _Task:
    row = Row(workload.name, direction, peer.name, REFERENCE)
    target = results / f"{direction}-{PEERS.index(peer)}"
    return _Task(peer, row, source, target, workload.weights)


def _run_all(tasks: list[_Task], options: Options) -> None:
    """Run peers alternately, so that temporary load affects all of them."""
    for _ in range(options.repeat):
        for task in tasks:
            if not task.over:
                options.say(" ".join(task.row.key))
                (_run_command if task.peer.module is None else _run_child)(task, options)
    for task in tasks:
        _summarise(task)


def _run_child(task: _Task, options: Options) -> None:
    row = task.row
    arguments: list[str | Path] = [row.peer, row.direction, task.weights, task.source]
    if not task.runs:
        arguments.append(task.target)
    finished = run(python("-m", "benchmarks.child", *arguments), timeout=options.timeout)
    if finished.failed:
        row.failed = finished.failed
        return
    result = json.loads(finished.output)
    row.failed = result.get("failed")
    if row.failed is None:
        task.runs.append(result)


def _run_command(task: _Task, options: Options) -> None:
    """Convert all files with our command line in one process, and measure the whole process."""
    shutil.rmtree(task.target, ignore_errors=True)
    task.target.mkdir()
    action = "from-binary" if task.row.direction == "to-text" else "to-binary"
    files = sorted(task.source.iterdir())
    command = python("-m", "onnxtext", action, *files, "-o", task.target)
    finished = run(command, timeout=options.timeout)
    if finished.failed:
        task.row.failed = finished.failed
        return
    size, digest = _content(task.target)
    result = {"seconds": finished.seconds, "peak": finished.peak, "size": size, "sha256": digest}
    task.runs.append(result)


def _summarise(task: _Task) -> None:
    """Set the figures of the row to the minimum of all runs."""
    if task.row.failed is not None:
        return
    task.row.runs = len(task.runs)
    for name in ("seconds", "warm", "peak", "before", "size"):
        found = [result[name] for result in task.runs if result.get(name) is not None]
        setattr(task.row, name, min(found, default=None))


def _note_files(task: _Task) -> None:
    """Set the times of single files in the row to the minimum of all runs."""
    found = [result["files"] for result in task.runs if "files" in result]
    task.row.files = [min(seconds) for seconds in zip(*found, strict=True)] or None


def _finish(source: Path, tasks: list[_Task], options: Options) -> None:
    """Record the sizes and hash of the model, and whether it was restored."""
    size, digest = _content(source)
    for task in tasks:
        task.row.model_size, task.row.model = size, digest
        if task.row.direction == "to-binary" and task.row.failed is None:
            same_bytes = all(result["sha256"] == digest for result in task.runs)
            task.row.same = "bytes" if same_bytes else _meaning(source, task.target, options)
    parsed = {task.peer.name: task.row for task in tasks if task.row.direction == "to-binary"}
    for task in tasks:
        if task.row.direction == "to-text" and task.row.failed is None:
            back = parsed.get(task.peer.name)
            task.row.same = None if back is None else back.same or "unread"


def _content(directory: Path) -> tuple[int, str]:
    """Return the size and hash of all files of a directory; read in chunks."""
    size, made = 0, hashlib.sha256()
    for path in sorted(directory.iterdir()):
        size += path.stat().st_size
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                made.update(piece)
    return size, made.hexdigest()


def _meaning(source: Path, target: Path, options: Options) -> str:
    options.say("comparing")
    finished = run(python("-m", "benchmarks.meaning", source, target), timeout=options.timeout)
    return "meaning" if not finished.failed and json.loads(finished.output) else "no"


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows progress on standard error, if it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text} …", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
