# SPDX-License-Identifier: Apache-2.0
"""`onnxtext merge`: merge two versions of a model with their common ancestor."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.options import MODEL, reporting_options
from onnxtext.cli.report import FINDINGS, Reporter, exists_error, io_errors, terminal_error
from onnxtext.cli.streams import read_stdin, write_stdout
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.files import holds, read_input, write_atomically
from onnxtext.terminal import is_terminal

if TYPE_CHECKING:
    from onnxtext.merger import MergeResult

EXPLANATION = """\b
Examples:
  onnxtext merge base.onnxtxt ours.onnxtxt theirs.onnxtxt -o merged.onnxtxt
  onnxtext merge base.onnx ours.onnx theirs.onnx -o merged.onnx
  onnxtext merge -L mine -L old -L yours base.onnxtxt a.onnxtxt b.onnxtxt

\b
Exit status:
  0  everything was merged
  1  there are conflicts, which are marked in the output
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, or an existing file would have to be overwritten
If several apply, the highest."""


@click.command("merge", epilog=EXPLANATION)
@click.argument("base", type=MODEL)
@click.argument("ours", type=MODEL)
@click.argument("theirs", type=MODEL)
@click.option(
    "-o", "--output", metavar="OUT", type=MODEL, help="The file to write. Default: standard output."
)
@click.option("-f", "--force", is_flag=True, help="Overwrite OUT if it exists.")
@click.option(
    "-L",
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="Name of a version in conflict markers: the first is for ours, then base, then theirs, as "
    "for `git merge-file`.",
)
@click.option(
    "--marker-size",
    type=click.IntRange(1, 1000),
    default=7,
    show_default=True,
    metavar="N",
    help="Number of characters of a conflict marker.",
)
@reporting_options
def command(
    base: str,
    ours: str,
    theirs: str,
    output: str | None,
    force: bool,
    labels: tuple[str, ...],
    marker_size: int,
    output_format: str,
    color: str,
) -> int:
    """Merge two versions of a model.

    BASE is the common ancestor of OURS and THEIRS; each is a text or a binary model, and - is
    standard input. Statements are merged, not lines: changes of different statements, or of
    different attributes and inputs of a node, do not conflict. Conflicts are marked as in git. The
    output is a text, or a binary if all versions are binary and there is no conflict.
    """
    if [base, ours, theirs].count("-") > 1:
        raise click.UsageError("Standard input (-) cannot be several of the versions.")
    if len(labels) > 3:
        raise click.UsageError("At most three labels can be given, one for each version.")
    defaults = ("ours", "base", "theirs")
    named = (*labels, *defaults[len(labels) :])
    target = None if output in (None, "-") else Path(str(output))
    name = ours if output in (None, "-") else str(output)
    with Reporter(output_format, color) as reporter, reporter.reporting(name):
        from onnxtext.merger import merge

        versions = [_read(version) for version in (base, ours, theirs)]
        made = merge(
            versions[0],
            versions[1],
            versions[2],
            marker_size=marker_size,
            labels=(named[1], named[0], named[2]),
            path=name,
        )
        _write(made, target, force)
        _report(made, name, reporter)
        _note_missing_weights(made, (base, ours, theirs), name, reporter)
    return reporter.status


def _read(name: str) -> bytes:
    with io_errors("read", name):
        return read_stdin() if name == "-" else read_input(Path(name))


def _write(made: MergeResult, target: Path | None, force: bool) -> None:
    with io_errors("write", "to standard output" if target is None else target):
        if target is None:
            _write_stdout(made)
        elif target.is_file() and not force and not holds(target, made.content):
            raise exists_error(target)
        else:
            write_atomically(target, made.content)


def _write_stdout(made: MergeResult) -> None:
    if made.is_binary and is_terminal(sys.stdout):
        raise terminal_error()
    write_stdout([made.content])


def _report(made: MergeResult, name: str, reporter: Reporter) -> None:
    """Report the notes of a merge, and its conflicts as findings."""
    if not made.conflicts:
        for note in made.notes:
            reporter.found(Diagnostic("merge-note", note, "info"), name)
        return
    count = f"{made.conflicts} conflict{'s' if made.conflicts > 1 else ''}"
    message = f"{count} to be resolved by hand"
    reporter.found(Diagnostic("unmerged", message, notes=made.notes), name)
    reporter.failed += 1
    reporter.status = max(reporter.status, FINDINGS)


def _note_missing_weights(
    made: MergeResult, versions: tuple[str, ...], name: str, reporter: Reporter
) -> None:
    """Report a note if the merged text refers to weights that are not found.

    They are looked up in the directory of the output, or in that of ours for standard output. One
    of the versions may have them in another directory.

    Args:
        made: the merge.
        versions: the names of the merged files.
        name: the name of the output, or of ours.
        reporter: where to report.
    """
    from onnxtext.text_to_binary import encode_text

    place = Path(name).parent
    if (
        made.is_binary
        or made.conflicts
        or all(Path(version).parent == place for version in versions)
    ):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OnnxTextWarning)  # these concern the versions, too
            encode_text(str(made).removeprefix("\ufeff"), base_dir=place, name=name)
    except OnnxTextError as error:
        first = error.diagnostics[0]
        if first.code.startswith("weights-"):
            why = f"the merged text does not find its weights: {first.message}"
            reporter.found(Diagnostic("merge-note", why, "info"), name)
