# SPDX-License-Identifier: Apache-2.0
"""Run the checking process, `python -m onnxtext.lsp.server.check_process`: one job after the other.

Each message is a pickle. The process answers a job with the diagnostics as soon as they are known,
and then with an `Analysis`. After an internal error, it answers with a `WorkerError`. A separate
process has three advantages: checks never block typing; they can be stopped at any time; and if
onnx's inference crashes, the server continues.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from onnxtext.checker.isolation.inference_client import Answers
from onnxtext.io import files
from onnxtext.lsp.server.check_document import Analysis, Report, WorkerError, analyze


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A text to check, with its name in messages and its directory (None if unknown)."""

    text: str
    name: str
    base_dir: Path | None


def main() -> None:
    """Read jobs from standard input and answer them on standard output until the input ends."""
    reader = sys.stdin.buffer
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output of libraries must not mix with messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # Map files: if one is truncated, SIGBUS ends this process, and the server starts another.
    files.before_mapping = int
    # Import the modules and fill the caches that every job needs.
    text = "<ir_version: 10, opset_import: [21]> g (float x) => (float y) { y = Relu (x) }"
    analyze(text, "", None)
    answers: Answers = {}  # a cache: most results recur in the next version
    with contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            send(writer, answer(pickle.load(reader), answers, partial(send, writer)))


def answer(job: CheckJob, answers: Answers, report: Report) -> Analysis | WorkerError:
    """Do a job; `analyze` describes `answers` and `report`."""
    try:
        return analyze(job.text, job.name, job.base_dir, answers, report)
    except Exception:  # report the bug, and go on with the next job
        import traceback

        return WorkerError(traceback.format_exc())
    finally:
        files.mapped.clear()  # unused in this process, where it would grow without limit


def send(writer: IO[bytes], message: object) -> None:
    """Write a message to a pipe."""
    pickle.dump(message, writer, protocol=pickle.HIGHEST_PROTOCOL)
    writer.flush()


if __name__ == "__main__":
    main()
