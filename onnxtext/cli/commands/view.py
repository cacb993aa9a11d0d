# SPDX-License-Identifier: Apache-2.0
"""`onnxtext view`: show a model, or the differences of two, as a page in a browser."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from onnxtext.cli.command_errors import CommandError, check_not_overwritten, io_errors
from onnxtext.cli.named_files import InputFile, output_path
from onnxtext.cli.options import MODEL, FileName, reporting_options
from onnxtext.cli.report import Reporter, write_stderr
from onnxtext.cli.streams import print_to_stdout, read_file, write_output
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.files import is_stream

EXPLANATION = """\b
Examples:
  onnxtext view model.onnx
  onnxtext view model.onnx -o model.html
  onnxtext view old.onnx new.onnx
  git show HEAD:model.onnxtxt | onnxtext view - model.onnxtxt -o diff.html

\b
Exit status:
  0  the page was shown or written
  1  findings: a text has errors (the page shows its readable parts; two
     models are then not compared), or a file is not a model
  2  could not run: wrong usage, a file is missing, cannot be read or
     written, or another file would have to be overwritten
With two files, the higher status."""


@click.command("view", epilog=EXPLANATION)
@click.argument("file", metavar="FILE", type=MODEL)
@click.argument("other", metavar="[OTHER]", required=False, type=MODEL)
@click.option(
    "-o",
    "--output",
    metavar="PAGE",
    type=FileName(".html"),
    help="The file to write instead of opening a browser, or - for standard output. An older page "
    "is replaced atomically.",
)
@click.option(
    "-f", "--force", is_flag=True, help="Overwrite PAGE even if it is not a page of this command."
)
@click.option(
    "--no-statistics",
    is_flag=True,
    help="Leave out the statistics of weights: computing them reads all weights.",
)
@reporting_options
def command(
    file: str,
    other: str | None,
    output: str | None,
    force: bool,
    no_statistics: bool,
    reporter: Reporter,
) -> None:
    """Show a model in a browser: its text beside its graph.

    FILE is a text (.onnxtxt, .onnxtext) or a binary model; - is standard input. With OTHER, a newer
    version, the page shows their differences. The page is one file. It needs no network, and
    contains statistics in place of large weights.
    """
    files = [file] if other is None else [file, other]
    if files == ["-", "-"]:
        raise click.UsageError("Only one of the files can be standard input (-).")
    found = []
    path = output_path(output)
    for source in map(InputFile.of, files):
        with reporter.reporting(source.name):
            check_not_overwritten([source.source], path, "the page")
            from onnxtext.viewer.page_model import read

            data = read_file(source, maps=True)
            found.append(read(data, source.name, source.directory, statistics=not no_statistics))
    if len(found) < len(files):
        return
    with reporter.reporting(found[-1].name):
        from onnxtext.viewer import page_of

        _write(page_of(*found), output, force=force)
    if other is None:
        reporter.findings(found[0].document.version.syntax, found[0].name)


def _write(page: str, output: str | None, *, force: bool) -> None:
    data = page.encode("utf-8")
    if output is None:
        _open(data)
        return
    path = output_path(output)
    if path is not None and not force:
        with io_errors("write", path):
            may_replace = _may_replace(path)
        if not may_replace:
            raise CommandError(
                "output-exists",
                f"{path} exists and is not a page of `onnxtext view`",
                help="`--force` overwrites it; `-o` names another output",
            )
    write_output(path, data, force=True)


def _may_replace(path: Path) -> bool:
    """Whether a path may be overwritten without --force.

    It may if it does not exist, or is a stream, an empty file or a page of this command.
    """
    from onnxtext.viewer.page import BEGINNING

    if not path.exists() or is_stream(path):
        return True
    with path.open("rb") as file:
        head = file.read(len(BEGINNING))
    return head in (b"", BEGINNING.encode())


def _open(data: bytes) -> None:
    """Write a private temporary file, and open it in a browser; without one, print its path."""
    import webbrowser

    with io_errors("write", tempfile.gettempdir()):
        descriptor, name = tempfile.mkstemp(prefix="onnxtext-", suffix=".html")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    if webbrowser.open(Path(name).as_uri()):
        write_stderr(f"opened {escape_controls(name)}")
    else:
        write_stderr("no browser was found: set BROWSER, or open this page:")
        print_to_stdout(name)
