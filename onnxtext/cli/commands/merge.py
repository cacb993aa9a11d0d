# SPDX-License-Identifier: Apache-2.0
"""`onnxtext merge`: merge two versions of a model with their common ancestor."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.left_behind_data import warn_if_left_behind
from onnxtext.cli.named_files import InputFile, output_path, warn_of_other_suffix
from onnxtext.cli.options import MODEL, Integer, reporting_options
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.streams import read_file, write_output
from onnxtext.diagnostics import Diagnostic, OnnxTextError, OnnxTextWarning

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
  1  there are conflicts, which are marked in the output; or a file is
     neither a text nor a model, and nothing is written
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, or an existing file would have to be overwritten
If several statuses apply, the highest is used."""


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
    help="Name of a version in conflict markers: the first is for OURS, then BASE, then THEIRS, as "
    "for `git merge-file`.",
)
@click.option(
    "--marker-size",
    type=Integer(1, 1000),
    default=7,
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
    reporter: Reporter,
) -> None:
    """Merge two versions of a model.

    BASE is the common ancestor of OURS and THEIRS; each is a text or a binary model, and - is
    standard input. Statements are merged, not lines: changes of different statements, or of
    different attributes and inputs of a node, do not conflict. Conflicts are marked as in git. If
    OURS or THEIRS equals BASE, the output is the other version. Otherwise, the output is a text, or
    a binary if all versions are binary and there is no conflict.
    """
    if [base, ours, theirs].count("-") > 1:
        raise click.UsageError("Only one of the versions can be standard input (-).")
    if len(labels) > 3:
        raise click.UsageError("At most three labels can be given, one for each version.")
    from onnxtext.merger.conflict_markers import LABEL

    for label in labels:
        if not LABEL.fullmatch(label):
            raise click.UsageError(
                f"{label!r} cannot be a label: it must be one line of characters."
            )
    defaults = ("ours", "base", "theirs")
    named = (*labels, *defaults[len(labels) :])
    target = output_path(output)
    name = ours if target is None else str(target)
    with reporter.reporting(name):
        from onnxtext.merger import merge

        files = [InputFile.of(version) for version in (base, ours, theirs)]
        result = merge(
            *map(read_file, files),
            marker_size=marker_size,
            labels=(named[1], named[0], named[2]),
            names=[file.name for file in files],
        )
        if result.unreadable:
            raise OnnxTextError(*result.unreadable)
        write_output(target, result.content, force=force)
        if not result.conflicts:
            merged = result.content if result.is_binary else str(result)
            sources = tuple([file.directory for file in files])
            warn_if_left_behind(merged, sources, target)
            if target is not None:
                warn_of_other_suffix(target, is_binary=result.is_binary)
        _report(result, name, reporter)
        _note_missing_weights(result, (base, ours, theirs), name, reporter)


def _report(result: MergeResult, name: str, reporter: Reporter) -> None:
    """Report the conflicts of a merge as one finding with the notes, or else only the notes."""
    if not result.conflicts:
        for note in result.notes:
            reporter.found(Diagnostic("merge-note", note, "info"), name)
        return
    message = f"{result.conflicts} conflict{'s' * (result.conflicts > 1)} to be resolved by hand"
    reporter.found(Diagnostic("unmerged", message, notes=result.notes), name)
    reporter.failed += 1
    reporter.status = max(reporter.status, FINDINGS)


def _note_missing_weights(
    result: MergeResult, paths: tuple[str, ...], name: str, reporter: Reporter
) -> None:
    """Report a note if a merged text without conflicts cannot find its weights.

    A text finds its weights by paths relative to its own directory. The merged text keeps the paths
    of the versions, `paths`, but may be in another directory. `name` is its path; the path of OURS
    for standard output.
    """
    from onnxtext.text_to_binary import encode_text

    directory = Path(name).parent
    in_place = all(Path(path).parent == directory for path in paths)
    if result.is_binary or result.conflicts or in_place:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OnnxTextWarning)  # only missing weights are reported
            encode_text(str(result).removeprefix("\ufeff"), base_dir=directory, name=name)
    except OnnxTextError as error:
        first = error.diagnostics[0]
        if first.code.startswith("weights-"):
            why = f"the weights of the merged text cannot be read: {first.message}"
            reporter.found(Diagnostic("merge-note", why, "info"), name)
