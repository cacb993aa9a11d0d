# SPDX-License-Identifier: Apache-2.0
"""Converting files one by one: what `to-binary` and `from-binary` have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from onnxtext.cli.jobs import Job, plan
from onnxtext.cli.progress import Progress
from onnxtext.cli.report import Refused, Reporter, is_terminal
from onnxtext.files import holds, write_atomically


@dataclass(frozen=True, slots=True)
class Conversion:
    """A direction.

    Attributes:
        convert: gives the bytes to write for the bytes and the name of the input.
        suffixes: of inputs; they are replaced.
        suffix: of outputs.
        binary: which side is binary, and kept away from terminals.
        inverse: the verb that converts the other way.
    """

    convert: Callable[[bytes, str], bytes]
    suffixes: tuple[str, ...]
    suffix: str
    binary: Literal["in", "out"]
    inverse: str


def run(
    conversion: Conversion,
    inputs: tuple[str, ...],
    output: str | None,
    *,
    force: bool,
    output_format: str,
    color: str,
) -> int:
    """Convert all inputs; errors in one do not stop the others.

    Returns:
        The exit status.

    Raises:
        click.UsageError: the names of inputs and output make no sense together.
    """
    jobs = plan(inputs, output, conversion.suffixes, conversion.suffix)
    with Reporter(output_format, color) as reporter:
        with Progress(color=reporter.colored) as progress:
            reporter.aside = progress.aside
            for job in progress.through(jobs):
                with reporter.watching(job.name):
                    _convert(conversion, job, force)
        if reporter.failed and len(jobs) > 1:
            reporter.summary(f"{reporter.failed} of {len(jobs)} files could not be converted")
    return reporter.status


def _convert(conversion: Conversion, job: Job, force: bool) -> None:
    _check_places(conversion, job)
    result = conversion.convert(_read(conversion, job), job.name)
    if job.target is None:
        _write_stdout(result)
    else:
        _write(job.target, result, force, job.makes_directory)


def _check_places(conversion: Conversion, job: Job) -> None:
    """Refuse what cannot end well before any work is done."""
    if conversion.binary == "out" and _ends_on_terminal(job.target):
        raise Refused(
            "binary-to-terminal",
            "a binary model is not written to a terminal",
            help="redirect standard output, or name a file with -o",
        )
    if job.target is None:
        return
    if job.source is not None and _is_same(job.source, job.target):
        raise Refused(
            "output-is-input",
            f"{job.name} would be overwritten by its own conversion",
            help=f"name another output with -o, or convert back with `{conversion.inverse}`",
        )
    if job.clash is not None:
        raise Refused(
            "output-exists",
            f"{job.name} and {job.clash} would both be written to {job.target}",
            help="convert them into different directories",
        )


def _ends_on_terminal(target: Path | None) -> bool:
    if target is None:
        return is_terminal(sys.stdout)
    try:
        if not target.is_char_device():
            return False
        with target.open("wb", buffering=0) as device:
            return device.isatty()
    except OSError:
        return False


def _is_same(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
    except OSError:
        return os.path.realpath(source) == os.path.realpath(target)


def _read(conversion: Conversion, job: Job) -> bytes:
    try:
        if job.source is not None:
            return job.source.read_bytes()
        _check_stdin(conversion)
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Refused("cannot-read", f"cannot read {job.name}: {_why(error)}") from None


def _check_stdin(conversion: Conversion) -> None:
    if sys.stdin is None:
        raise Refused("cannot-read", "standard input is closed")
    if not is_terminal(sys.stdin):
        return
    if conversion.binary == "in":
        raise Refused(
            "no-input",
            "a binary model cannot be typed in",
            help="name a file, or redirect standard input",
        )
    # Whoever forgot to name a file would wait for us, and we for them.
    click.echo("reading a text from the terminal; Ctrl-D at the start of a line ends it", err=True)


def _write(target: Path, data: bytes, force: bool, makes_directory: bool) -> None:
    try:
        if makes_directory:
            target.parent.mkdir(parents=True, exist_ok=True)
        if holds(target, data):
            return
        if target.is_file() and not force:
            raise Refused(
                "output-exists",
                f"{target} exists and has other content",
                help="--force overwrites it; -o names another output",
            )
        write_atomically(target, data)
    except OSError as error:
        raise Refused("cannot-write", f"cannot write {target}: {_why(error)}") from None


def _write_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise Refused("cannot-write", "standard output is closed")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        message = f"cannot write to standard output: {_why(error)}"
        raise Refused("cannot-write", message) from None


def _why(error: OSError) -> str:
    return error.strerror or str(error)
