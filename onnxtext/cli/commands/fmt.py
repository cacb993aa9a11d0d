# SPDX-License-Identifier: Apache-2.0
"""`onnxtext fmt`: format texts in the canonical layout."""

from __future__ import annotations

from collections.abc import Iterator

import click

from onnxtext.cli.edited_files import check_replaceable, line_diff, replace_edited
from onnxtext.cli.named_files import InputFile, files_below, is_directory
from onnxtext.cli.options import TEXT, reporting_options
from onnxtext.cli.progress import Progress, process_files
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.streams import read_file, write_stdout
from onnxtext.io.text_or_binary import TEXT_SUFFIXES, decode_text
from onnxtext.source import Source

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
    reporter: Reporter,
) -> int:
    """Format texts in the canonical layout.

    FILE is a text in UTF-8 or a directory; below a directory, every .onnxtxt and .onnxtext file is
    formatted. A directory without such files is not an error: a message says that there are none.
    If FILE is -, standard input is formatted to standard output. Files are replaced atomically. The
    model stays the same, and every comment is kept. A text with errors is not changed.
    """
    if stdout and (check or diff):
        raise click.UsageError("--stdout cannot be combined with --check or --diff.")
    if "-" in files and len(files) > 1:
        raise click.UsageError("Standard input (-) cannot be one of several inputs.")
    changed: list[str] = []

    def process(file: InputFile, progress: Progress) -> None:
        if _format(file, reporter, check=check, diff=diff, stdout=stdout):
            changed.append(file.name)

    process_files(
        list(_inputs(files, exclude, reporter)), reporter, process, "could not be formatted"
    )
    return FINDINGS if check and changed else 0


def _inputs(
    names: tuple[str, ...], exclude: tuple[str, ...], reporter: Reporter
) -> Iterator[InputFile]:
    """Yield the files, and the texts in directories."""
    for name in dict.fromkeys(names):
        if name == "-" or not is_directory(name):
            yield InputFile.of(name)
        else:
            yield from files_below(name, TEXT_SUFFIXES, reporter, exclude)


def _format(file: InputFile, reporter: Reporter, *, check: bool, diff: bool, stdout: bool) -> bool:
    """Format a text, and write or show the result; return whether the text changes."""
    from onnxtext.format.format_text import format_source

    replaces = file.source is not None and not (check or diff or stdout)
    if replaces:
        check_replaceable(file, "`onnxtext fmt -` filters standard input")
    data = read_file(file)
    text = decode_text(data, file.name)
    formatted = format_source(Source(text, file.name), read_again=replaces)
    result = formatted.encode()
    changed = result != data
    with reporter.aside():
        if check and changed:
            write_stdout([f"{file.name}\n".encode(errors="surrogateescape")])
        if diff and changed:
            shown = line_diff(text, formatted, file.name, f"{file.name} (formatted)")
            write_stdout([shown.encode(errors="surrogateescape")])
        if check or diff:
            return changed
        if stdout or file.source is None:
            write_stdout([result])
        elif changed:
            replace_edited(file.source, result, data)
    return changed
