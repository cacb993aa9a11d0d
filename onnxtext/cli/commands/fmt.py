# SPDX-License-Identifier: Apache-2.0
"""`onnxtext fmt`: format texts in the canonical layout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import click

from onnxtext.cli.command_errors import CommandError, io_errors
from onnxtext.cli.conversion_jobs import STDIN, ConversionJob, files_below
from onnxtext.cli.edited_files import line_diff
from onnxtext.cli.options import TEXT, reporting_options
from onnxtext.cli.progress import Progress
from onnxtext.cli.report import FINDINGS, Reporter, write_stderr
from onnxtext.cli.streams import WAITS_FOR_TEXT, read_stdin, write_stdout
from onnxtext.io.files import is_stream, read_input, write_atomically
from onnxtext.io.text_or_binary import decode_text
from onnxtext.source import Source
from onnxtext.terminal import is_terminal

SUFFIX = ".onnxtxt"
"""The suffix of files to format in directories."""

EXPLANATION = """\b
Examples:
  onnxtext fmt model.onnxtxt
  onnxtext fmt --check --diff models/     for continuous integration
  onnxtext fmt models/ --exclude 'generated/*'
  onnxtext fmt - <model.onnxtxt           as a filter, for editors

\b
Comments keep statements unformatted: `# fmt: skip` after one statement, or
`# fmt: off` and `# fmt: on` on lines of their own around several.

\b
Exit status:
  0  success
  1  a text has errors; or, with --check, is not formatted
  2  could not run: wrong usage, or a file cannot be read or written
With several files, every file is tried, and the highest status is used."""


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The options of `onnxtext fmt` for its output.

    Attributes:
        check: whether to list the files that would change, and write nothing.
        diff: whether to show a diff of each file, and write nothing.
        stdout: whether to write to standard output instead of the files.
    """

    check: bool
    diff: bool
    stdout: bool


@click.command("fmt", epilog=EXPLANATION)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=TEXT)
@click.option("--check", is_flag=True, help="Write nothing; list the files that are not formatted.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--stdout", is_flag=True, help="Write to standard output instead of the files.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="If FILE is a directory, skip the files and directories below it whose relative path or "
    "name matches PATTERN (*, ?, [...]). May be repeated.",
)
@reporting_options
def command(
    files: tuple[str, ...],
    check: bool,
    diff: bool,
    stdout: bool,
    exclude: tuple[str, ...],
    output_format: str,
    color: str,
) -> int:
    """Format texts in the canonical layout.

    FILE is a text in UTF-8 or a directory; below a directory, every .onnxtxt file is formatted. If
    FILE is -, standard input is formatted to standard output. Files are replaced atomically. The
    model stays the same, and every comment is kept. A text with errors is not changed.
    """
    if stdout and (check or diff):
        raise click.UsageError("--stdout cannot be combined with --check or --diff.")
    if "-" in files and len(files) > 1:
        raise click.UsageError("Standard input (-) cannot be one of several inputs.")
    options = FormatOptions(check, diff, stdout)
    changed = 0
    with Reporter(output_format, color) as reporter:
        jobs = list(_jobs(files, exclude, reporter))
        with Progress(color=reporter.colored) as progress:
            reporter.aside = progress.aside
            for job in progress.track(jobs):
                with reporter.reporting(job.name):
                    changed += _format(job, options, reporter)
        if reporter.failed and len(jobs) > 1:
            reporter.summary(f"{reporter.failed} of {len(jobs)} files could not be formatted")
    return max(reporter.status, FINDINGS if check and changed else 0)


def _jobs(
    names: tuple[str, ...], exclude: tuple[str, ...], reporter: Reporter
) -> Iterator[ConversionJob]:
    for name in dict.fromkeys(names):
        if name == "-":
            yield ConversionJob(STDIN, None, None)
        elif not Path(name).is_dir():
            yield ConversionJob(name, Path(name), Path(name))
        else:
            with reporter.reporting(name):
                files = _files_below(name, exclude)
                if not files:
                    reporter.summary(f"there is no {SUFFIX} file below {name}")
                yield from [ConversionJob(str(path), path, path) for path in files]


def _files_below(directory: str, exclude: tuple[str, ...]) -> list[Path]:
    def wanted(path: Path) -> bool:
        below = path.relative_to(directory).as_posix()
        return not any(fnmatch(below, p) or fnmatch(path.name, p) for p in exclude)

    return files_below(Path(directory), (SUFFIX,), wanted)


def _format(job: ConversionJob, options: FormatOptions, reporter: Reporter) -> bool:
    """Format a text, and write or show the result; return whether the text changes."""
    from onnxtext.format.format_text import format_source

    replaces = job.target is not None and not (options.check or options.diff or options.stdout)
    if replaces and job.target is not None and is_stream(job.target):
        raise CommandError(
            "cannot-write",
            f"{job.name} is not a regular file and cannot be replaced",
            help="`onnxtext fmt -` filters standard input",
        )
    data = _read(job)
    text = decode_text(data, job.name)
    formatted = format_source(Source(text, job.name), read_again=replaces)
    result = formatted.encode()
    changed = result != data
    with reporter.aside():
        if options.check and changed:
            write_stdout([f"{job.name}\n".encode(errors="surrogateescape")])
        if options.diff and changed:
            shown = line_diff(text, formatted, job.name, f"{job.name} (formatted)")
            write_stdout([shown.encode(errors="surrogateescape")])
        if options.check or options.diff:
            return changed
        if options.stdout or job.target is None:
            write_stdout([result])
        elif changed:
            with io_errors("write", job.target):
                write_atomically(job.target, result, instead_of=data)
    return changed


def _read(job: ConversionJob) -> bytes:
    with io_errors("read", job.name):
        if job.source is not None:
            return read_input(job.source)
        if is_terminal(sys.stdin):
            write_stderr(WAITS_FOR_TEXT)
        return read_stdin()
