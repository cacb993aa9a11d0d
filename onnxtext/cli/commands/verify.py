# SPDX-License-Identifier: Apache-2.0
"""`onnxtext verify`: check the round-trip laws on the user's own files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import CommandError, io_errors
from onnxtext.cli.conversion_jobs import ConversionJob, files_below
from onnxtext.cli.format_sizes import size_text
from onnxtext.cli.options import MODEL, reporting_options
from onnxtext.cli.progress import Progress
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.streams import print_to_stdout
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.files import read_input

if TYPE_CHECKING:
    from onnxtext.verifier import Verdict

SUFFIXES = (".onnx", ".onnxtxt")
"""In a directory, the files with these suffixes are verified."""

EXPLANATION = """\b
Laws (docs/laws.md describes these and two more):
  L1  a binary model that is printed and encoded again has the same bytes
  L3  a parsed text keeps its model when printed, and prints the same again

\b
Examples:
  onnxtext verify model.onnx
  onnxtext verify models/                   every .onnx and .onnxtxt below it
  onnxtext verify --output-format json models/ >verified.json

\b
Exit status:
  0  both laws hold for all files
  1  a law does not hold, or a file is not a model or has errors
  2  could not run: wrong usage, or a file is missing or cannot be read
With several files, every file is tried, and the highest status is used."""


@click.command("verify", epilog=EXPLANATION)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=MODEL)
@reporting_options
def command(files: tuple[str, ...], output_format: str, color: str) -> int:
    """Verify on your own files that conversions are lossless.

    FILE is a binary model, a text (.onnxtxt, .onnxtext) or a directory. Nothing is written. The
    result is shown on standard output, one line per file; --output-format json gives a list of
    objects with the keys file, kind, size, seconds, laws, ok and differences.
    """
    with Reporter(output_format, color) as reporter:
        shown = _Output(reporter, as_json=output_format == "json")
        jobs = list(_jobs(files, reporter))
        with Progress(color=reporter.colored) as progress:
            reporter.aside = progress.aside
            for job in progress.track(jobs):
                with reporter.reporting(job.name):
                    _verify(job, shown)
                shown.complete(job)
        shown.finish()
        if reporter.failed and len(jobs) > 1:
            reporter.summary(f"{reporter.failed} of {len(jobs)} files could not be verified")
    return max(reporter.status, shown.status)


def _jobs(names: tuple[str, ...], reporter: Reporter) -> Iterator[ConversionJob]:
    for name in dict.fromkeys(names):
        if not Path(name).is_dir():
            yield ConversionJob(name, Path(name), None)
            continue
        with reporter.reporting(name):
            files = files_below(Path(name), SUFFIXES)
            if not files:
                raise CommandError("no-input", f"there is no .onnx or .onnxtxt file below {name}")
            yield from [ConversionJob(str(path), path, None) for path in files]


def _verify(job: ConversionJob, shown: _Output) -> None:
    assert job.source is not None
    with io_errors("read", job.name):
        data = read_input(job.source)
    from onnxtext.verifier import verify

    start = time.perf_counter()
    verdict = verify(data, name=job.name)
    shown.add(job, verdict, len(data), time.perf_counter() - start)


class _Output:
    """Writes the results to standard output.

    Attributes:
        status: 1 if a law does not hold for a file, else 0.
    """

    def __init__(self, reporter: Reporter, *, as_json: bool) -> None:
        self.status = 0
        self._reporter = reporter
        self._as_json = as_json
        self._collected: list[dict[str, object]] = []

    def add(self, job: ConversionJob, verdict: Verdict, size: int, seconds: float) -> None:
        """Write the result for a file."""
        if not verdict.ok:
            self.status = FINDINGS
        if self._as_json:
            self._collected.append(_as_object(job.name, verdict, size, seconds))
            return
        laws = " ".join(verdict.laws) or "no law"
        word = "ok" if verdict.ok else "BROKEN"
        rows = [f"{word} {job.name}  {laws}  {size_text(size)}  {seconds * 1000:,.0f} ms"]
        rows += [f"  {violation.law}: {violation.message}" for violation in verdict.differences]
        self._say("\n".join(map(escape_controls, rows)))

    def complete(self, job: ConversionJob) -> None:
        """Add a JSON entry for a file whose verification raised an error; else do nothing."""
        if self._as_json and (not self._collected or self._collected[-1]["file"] != job.name):
            self._collected.append(_as_object(job.name, None, None, None))

    def finish(self) -> None:
        """Write the collected results."""
        if self._as_json:
            self._say(json.dumps(self._collected, indent=2))

    def _say(self, text: str) -> None:
        with self._reporter.aside():
            print_to_stdout(text)


def _as_object(
    name: str, verdict: Verdict | None, size: int | None, seconds: float | None
) -> dict[str, object]:
    """Convert a result to an object for `json.dumps`."""
    differences = () if verdict is None else verdict.differences
    return {
        "file": name,
        "kind": None if verdict is None else verdict.kind,
        "size": size,
        "seconds": None if seconds is None else round(seconds, 6),
        "laws": [] if verdict is None else list(verdict.laws),
        "ok": verdict is not None and verdict.ok,
        "differences": [asdict(difference) for difference in differences],
    }
