# SPDX-License-Identifier: Apache-2.0
"""`onnxtext diff`: show the differences of two models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from onnxtext.cli.command_errors import CommandError, io_errors
from onnxtext.cli.conversion_jobs import STDIN
from onnxtext.cli.options import MODEL, markdown_option, one_of, reporting_options, stat_option
from onnxtext.cli.report import ERROR_STATUS, Reporter
from onnxtext.cli.streams import read_file_or_stdin, write_stdout
from onnxtext.io.files import is_same, write_atomically
from onnxtext.io.memory import paused_collector
from onnxtext.terminal import wants_color

if TYPE_CHECKING:
    from onnxtext.differ import ModelDiff, ModelSide

Form = Literal["text", "json", "stat", "markdown"]

CATEGORIES = ("weights", "order", "names", "metadata", "doc", "encoding")

EXPLANATION = """\b
Examples:
  onnxtext diff old.onnx new.onnx
  onnxtext diff --stat old.onnx new.onnxtxt
  onnxtext diff --ignore metadata,names old.onnx new.onnx
  onnxtext diff --markdown -o comment.md old.onnx new.onnx
  git show HEAD:model.onnx | onnxtext diff - model.onnx

\b
What can be ignored:
  weights   the elements of tensors, not their types and shapes
  order     the order of nodes and entries, except inputs and outputs
  names     labels of nodes, names of graphs and of internal values
  metadata  metadata_props, producer_name, producer_version
  doc       doc strings
  encoding  the same values, stored differently: empty fields, raw or typed
            or external data, the order of the bytes

\b
Exit status:
  0  the models are equal, except for what is ignored
  1  they differ
  2  could not run: wrong usage, a file is missing, cannot be read or
     written, is not a model, or a text has errors"""


def _categories(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Split `--ignore a,b --ignore c` into the categories `("a", "b", "c")`."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    for name in names:
        if name not in CATEGORIES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(CATEGORIES)}.")
    return tuple(dict.fromkeys(names))


@click.command("diff", epilog=EXPLANATION)
@click.argument("old", metavar="OLD", type=MODEL)
@click.argument("new", metavar="NEW", type=MODEL)
@click.option(
    "--json", "form", flag_value="json", help="Write one JSON object; docs/diff.md describes it."
)
@stat_option
@markdown_option
@click.option(
    "--ignore",
    multiple=True,
    metavar="KIND",
    callback=_categories,
    shell_complete=one_of(lambda: CATEGORIES),
    help=f"Leave out a kind of difference: {', '.join(CATEGORIES)}.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Show every difference of a large diff, instead of groups of similar ones. --json always "
    "lists every difference.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="The file to write, replaced atomically, or - for standard output. Default: standard "
    "output.",
)
@click.option("-q", "--quiet", is_flag=True, help="Write nothing; only set the exit status.")
@reporting_options
def command(
    old: str,
    new: str,
    form: Form | None,
    ignore: tuple[str, ...],
    every: bool,
    output: str | None,
    quiet: bool,
    output_format: str,
    color: str,
) -> int:
    """Show the differences between the models OLD and NEW.

    Each is a text (.onnxtxt, .onnxtext) or a binary model; - is standard input. Nodes are matched
    by what they compute and by their names, so renamed values and moved nodes are recognized.
    """
    if old == new == "-":
        raise click.UsageError("Only one of the models can be standard input (-).")
    if output == "-":
        output = None
    for model in (old, new):
        if model != "-" and output is not None and is_same(Path(model), Path(output)):
            raise CommandError(
                "output-is-input", f"{model} would be overwritten by the differences"
            )
    return run_diff(
        *(None if model == "-" else Path(model) for model in (old, new)),
        labels=(STDIN if old == "-" else old, STDIN if new == "-" else new),
        form=form or "text",
        ignore=ignore,
        every=every,
        output=None if output is None else Path(output),
        quiet=quiet,
        color=color,
        output_format=output_format,
    )


def run_diff(
    old: Path | None,
    new: Path | None,
    *,
    labels: tuple[str, str],
    form: Form = "text",
    ignore: Sequence[str] = (),
    every: bool = False,
    output: Path | None = None,
    quiet: bool = False,
    color: str = "auto",
    output_format: str = "full",
) -> int:
    """Compare two files and show their differences.

    Args:
        old: the old model's file; None for standard input.
        new: the new model's file; None for standard input.
        labels: the names of the old and the new model in the output.
        form: the format of the diff.
        ignore: the categories of differences to leave out.
        every: whether to show each difference of a large diff, instead of groups of similar ones.
        output: the file to write; None for standard output.
        quiet: whether to write nothing.
        color: `auto`, `always` or `never`.
        output_format: the format of errors on standard error.

    Returns:
        The exit status: 0 if the models are equal, 1 if they differ, 2 after an error. Errors are
        reported on standard error.
    """
    with Reporter(output_format, color) as reporter:
        diff: ModelDiff | None = None
        sides = []
        for path, label in zip((old, new), labels, strict=True):
            with reporter.reporting(label):
                sides.append(_read(path, label))
        if len(sides) == 2:
            with reporter.reporting(labels[1]):
                from onnxtext.differ import compare

                diff = compare(sides[0], sides[1]).without(ignore)  # type: ignore[arg-type]
        if diff is None:
            return ERROR_STATUS
        if not quiet:
            with reporter.reporting(labels[1]):
                _show(diff, form, output, color, every=every)
        return ERROR_STATUS if reporter.failed else int(diff.differs)


def _read(path: Path | None, label: str) -> ModelSide:
    from onnxtext.differ import ModelSide

    if path is None:
        data, base = read_file_or_stdin("-", label)
        with paused_collector():
            return ModelSide.of_content(data, label, base=base)
    with io_errors("read", label), paused_collector():
        return ModelSide.of_file(path, label=label)


def _show(diff: ModelDiff, form: Form, output: Path | None, color: str, *, every: bool) -> None:
    from onnxtext.differ.render import json, markdown, stat, text

    colored = output is None and wants_color(color, sys.stdout)
    renderers: dict[str, Callable[[ModelDiff], str]] = {
        "text": lambda diff: text.render(diff, color=colored, every=every),
        "json": json.render,
        "stat": stat.render,
        "markdown": lambda diff: markdown.render(diff, every=every),
    }
    data = renderers[form](diff).encode("utf-8", "backslashreplace")
    if output is None:
        write_stdout([data])
        return
    with io_errors("write", output):
        write_atomically(output, data)
