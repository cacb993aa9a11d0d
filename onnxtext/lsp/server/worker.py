# SPDX-License-Identifier: Apache-2.0
"""The process that checks: `python -m onnxtext.lsp.server.worker`, one job after the other.

Each message is its length, eight bytes, little-endian, and that many bytes of pickle. The answer to
a job is a list of diagnostics as soon as it is known, and then the whole `Analysis`; or a
`Failure`. It is a process of its own so that typing waits for nothing it does, so that it can be
stopped at any time, and so that what crashes the inference of onnx crashes nothing else.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from onnxtext.checker.isolation.inference import Answers
from onnxtext.lsp.server.analysis import Analysis, Tell, analyse

HEAD = 8


@dataclass(frozen=True, slots=True)
class Job:
    """A text to be checked.

    Attributes:
        text: the text.
        name: what to call it.
        base_dir: the directory it is in; None if it is in none.
    """

    text: str
    name: str
    base_dir: Path | None


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong where nothing should: a bug, told to whoever looks into the log."""

    message: str


def pack(message: object) -> bytes:
    """A message with its length."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(HEAD, "little") + data


def main() -> None:
    """Answer jobs until the pipe is closed."""
    reader = sys.stdin.buffer
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not get between the messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _warm_up()
    answers: Answers = {}  # most of one version are those of the next
    while True:
        job = _read(reader)
        if job is None:
            return
        _send(writer, _answer(job, answers, partial(_send, writer)))


def _answer(job: Job, answers: Answers, tell: Tell) -> Analysis | Failure:
    try:
        return analyse(job.text, job.name, job.base_dir, answers, tell)
    except Exception:  # whatever it is, the next version deserves an answer
        import traceback

        return Failure(traceback.format_exc())


def _send(writer: BinaryIO, message: object) -> None:
    writer.write(pack(message))
    writer.flush()


def _read(reader: BinaryIO) -> Job | None:
    head = reader.read(HEAD)
    if len(head) < HEAD:
        return None
    data = reader.read(int.from_bytes(head, "little"))
    job: Job = pickle.loads(data)
    return job


def _warm_up() -> None:
    """Import and compute what every job needs."""
    analyse(
        "<ir_version: 10, opset_import: [21]> g (float x) => (float y) { y = Relu (x) }", "", None
    )


if __name__ == "__main__":
    main()
