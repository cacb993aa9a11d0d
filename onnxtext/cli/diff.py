# SPDX-License-Identifier: Apache-2.0
"""`onnxtext diff`: what two models differ in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from onnxtext.cli.options import reporting_options
from onnxtext.cli.report import TROUBLE, Refused, Reporter, is_terminal
from onnxtext.cli.streams import write_stdout

if TYPE_CHECKING:
    from onnxtext.diff import ModelDiff

Form = Literal["text", "json", "stat", "markdown"]

CATEGORIES = ("weights", "order", "names", "metadata", "doc", "encoding")

EXPLANATION = """\b
Examples:
  onnxtext diff old.onnx new.onnx
  onnxtext diff --stat old.onnx new.onnxtxt
  onnxtext diff --ignore metadata,names old.onnx new.onnx
  onnxtext diff --markdown -o comment.md old.onnx new.onnx

\b
What can be ignored:
  weights   the elements of tensors, not their types and shapes
  order     where nodes and entries stand, but for inputs and outputs
  names     labels of nodes, names of graphs and of internal values
  metadata  metadata_props, producer_name, producer_version
  doc       doc strings
  encoding  the same values, stored differently: empty fields, raw or typed
            or external data, the order of the bytes

\b
Exit status:
  0  the models are the same, but for what is ignored
  1  they differ
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, is no model, or a text has errors"""


def _categories(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Categories from `--ignore a,b --ignore c`."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    for name in names:
        if name not in CATEGORIES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(CATEGORIES)}")
    return tuple(dict.fromkeys(names))


_FILE = click.Path(exists=False, readable=False)


@click.command("diff", epilog=EXPLANATION)
@click.argument("old", metavar="OLD", type=_FILE)
@click.argument("new", metavar="NEW", type=_FILE)
@click.option("--json", "form", flag_value="json", help="One JSON object, see docs/diff.md.")
@click.option("--stat", "form", flag_value="stat", help="Only how many of what differ.")
@click.option("--markdown", "form", flag_value="markdown", help="For comments on pull requests.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="KIND",
    callback=_categories,
    help=f"Leave out a kind of difference: {', '.join(CATEGORIES)}.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="The file to write, which is replaced as a whole; standard output without it.",
)
@click.option("-q", "--quiet", is_flag=True, help="Write nothing: the exit status tells.")
@reporting_options
def command(
    old: str,
    new: str,
    form: Form | None,
    ignore: tuple[str, ...],
    output: str | None,
    quiet: bool,
    output_format: str,
    color: str,
) -> int:
    """Show what the model NEW differs in from the model OLD.

    Each is a text (.onnxtxt, .onnxtext) or a binary model. Nodes are matched by what they compute
    and by their names, so that renamed values and moved nodes are no other nodes.
    """
    return run_diff(
        Path(old),
        Path(new),
        labels=(old, new),
        form=form or "text",
        ignore=ignore,
        output=None if output is None else Path(output),
        quiet=quiet,
        color=color,
        output_format=output_format,
    )


def run_diff(
    old: Path,
    new: Path,
    *,
    labels: tuple[str, str],
    form: Form = "text",
    ignore: Sequence[str] = (),
    output: Path | None = None,
    quiet: bool = False,
    color: str = "auto",
    output_format: str = "full",
) -> int:
    """Compare two files and show what they differ in.

    Args:
        old: the old model's file.
        new: the new model's file.
        labels: what to call them.
        form: how to show differences.
        ignore: categories to leave out.
        output: the file to write; None for standard output.
        quiet: whether to write nothing.
        color: `auto`, `always` or `never`.
        output_format: how trouble is shown on standard error.

    Returns:
        0 for no differences, 1 for some, 2 for trouble, which was reported.
    """
    with Reporter(output_format, color) as reporter:
        diff: ModelDiff | None = None
        sides = []
        for path, label in zip((old, new), labels, strict=True):
            with reporter.watching(label):
                sides.append(_read(path, label))
        if len(sides) == 2:
            with reporter.watching(labels[1]):
                from onnxtext.diff import compare

                diff = compare(sides[0], sides[1]).without(ignore)  # type: ignore[arg-type]
        if diff is None:
            return TROUBLE
        if not quiet:
            with reporter.watching(labels[1]):
                _show(diff, form, output, color)
        return TROUBLE if reporter.failed else int(diff.differs)


def _read(path: Path, label: str) -> object:
    from onnxtext.collector import paused_collector
    from onnxtext.diff import Side

    try:
        with paused_collector():
            return Side.of_file(path, label=label)
    except OSError as error:
        message = f"cannot read {label}: {error.strerror or error}"
        raise Refused("cannot-read", message) from None


def _show(diff: ModelDiff, form: Form, output: Path | None, color: str) -> None:
    from onnxtext.diff.render import json, markdown, stat, text

    colored = output is None and _colored(color)
    renderers: dict[str, Callable[[ModelDiff], str]] = {
        "text": lambda diff: text.render(diff, color=colored),
        "json": json.render,
        "stat": stat.render,
        "markdown": markdown.render,
    }
    shown = renderers[form](diff)
    data = shown.encode("utf-8", "backslashreplace")
    if output is None:
        _write_stdout(data)
        return
    from onnxtext.files import write_atomically

    try:
        write_atomically(output, data)
    except OSError as error:
        message = f"cannot write {output}: {error.strerror or error}"
        raise Refused("cannot-write", message) from None


def _write_stdout(data: bytes) -> None:
    write_stdout([data])


def _colored(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout)
