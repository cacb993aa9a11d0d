# SPDX-License-Identifier: Apache-2.0
"""`onnxtext diff`: show the differences between two models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from onnxtext.cli.command_errors import check_no_model_lost
from onnxtext.cli.named_files import InputFile, output_path
from onnxtext.cli.options import (
    MODEL,
    markdown_option,
    one_of,
    reporting_options,
    split_at_commas,
    stat_option,
)
from onnxtext.cli.report import ERROR_STATUS, Reporter
from onnxtext.cli.streams import read_file, write_output
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
  names     labels of nodes, names of graphs, initializers, internal values
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
    """Return the categories in `--ignore`, each once; raise a BadParameter for an unknown one."""
    names = split_at_commas(context, parameter, values)
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
    "output. A file with the suffix of a model is not replaced.",
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
    reporter: Reporter,
) -> int:
    """Show the differences between the models OLD and NEW.

    Each is a text (.onnxtxt, .onnxtext) or a binary model; - is standard input. Nodes are matched
    by what they compute and by their names, so renamed values and moved nodes are recognized.
    """
    if old == new == "-":
        raise click.UsageError("Only one of the models can be standard input (-).")
    files = InputFile.of(old), InputFile.of(new)
    target = output_path(output)
    with reporter.reporting(files[1].name):
        check_no_model_lost([file.source for file in files], target, "the differences")
        return run_diff(
            *files,
            reporter,
            form=form or "text",
            ignore=ignore,
            every=every,
            output=target,
            quiet=quiet,
        )
    return reporter.status


def run_diff(
    old: InputFile,
    new: InputFile,
    reporter: Reporter,
    *,
    form: Form = "text",
    ignore: Sequence[str] = (),
    every: bool = False,
    output: Path | None = None,
    quiet: bool = False,
) -> int:
    """Compare two files and show their differences, with the names of the files.

    `form`, `ignore`, `every` and `quiet` are options of the command; `output` is the file to write,
    or None for standard output. Return the exit status: 0 if the models are equal, 1 if they
    differ, 2 after an error.
    """
    sides = []
    for file in (old, new):
        with reporter.reporting(file.name):
            sides.append(_read(file))
    differs = False
    if len(sides) == 2:
        with reporter.reporting(new.name):
            from onnxtext.differ import compare

            diff = compare(sides[0], sides[1]).without(ignore)  # type: ignore[arg-type]
            differs = diff.differs
            if not quiet:
                _show(diff, form, output, reporter.color, every=every)
    return ERROR_STATUS if reporter.failed else int(differs)


def _read(file: InputFile) -> ModelSide:
    from onnxtext.differ import ModelSide

    data, path = read_file(file, maps=True), str(file.source or file.name)
    with paused_collector():
        return ModelSide.of_content(data, path, label=file.name, base=file.directory)


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
    write_output(output, data, force=True)
