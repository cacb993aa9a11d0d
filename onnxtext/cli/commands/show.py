# SPDX-License-Identifier: Apache-2.0
"""`onnxtext show`: print a model, or a part of it, for reading."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, reporting_options
from onnxtext.cli.pager import find_pager, write_paged
from onnxtext.cli.report import Reporter
from onnxtext.cli.streams import read_file
from onnxtext.terminal import is_terminal, wants_color

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxtext.diagnostics import Diagnostic

EXPLANATION = """\b
Examples:
  onnxtext show model.onnx
  onnxtext show model.onnx --find Softmax
  onnxtext show model.onnx --from embedding --to logits
  onnxtext show model.onnx --graph loop.body
  onnxtext show model.onnx --to logits | head

\b
Exit status:
  0  the text was shown
  1  findings: a text has errors (its readable parts are shown), a file is
     not a model, or nothing has the name or matches the pattern
  2  could not run: wrong usage, or a file is missing or cannot be read"""


def _pattern(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> re.Pattern[str] | None:
    if value is None:
        return None
    try:
        return re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise click.BadParameter(f"{value!r} is not a regular expression: {error}.") from None


@click.command("show", epilog=EXPLANATION)
@click.argument("file", metavar="FILE", type=MODEL)
@click.option(
    "--graph",
    metavar="NAME",
    help="Show only this graph or function: its name, or the node and attribute of a nested graph "
    "(loop.body).",
)
@click.option(
    "--from",
    "starts",
    multiple=True,
    metavar="VALUE",
    help="Show only nodes that depend on a value, or on the outputs of the node with this label.",
)
@click.option(
    "--to",
    "ends",
    multiple=True,
    metavar="VALUE",
    help="Show only nodes that a value, or the node with this label, depends on. With --from: the "
    "nodes on the paths between them.",
)
@click.option(
    "--find",
    metavar="PATTERN",
    callback=_pattern,
    help="Show only statements that match a regular expression, and their neighbors.",
)
@click.option(
    "-C",
    "--context",
    type=click.IntRange(min=0),
    default=2,
    metavar="N",
    help="The number of neighbors that --find shows on either side.",
)
@click.option("--no-pager", is_flag=True, help="Write to the terminal without a pager.")
@reporting_options
def command(
    file: str,
    graph: str | None,
    starts: tuple[str, ...],
    ends: tuple[str, ...],
    find: re.Pattern[str] | None,
    context: int,
    no_pager: bool,
    reporter: Reporter,
) -> None:
    """Print a model for reading: without metadata, with statistics of its weights.

    FILE is a text (.onnxtxt, .onnxtext) or a binary model; - is standard input. On a terminal the
    text is colored and shown by $PAGER, else by less. `onnxtext from-binary` prints texts that
    convert back to the model.
    """
    source = InputFile.of(file)
    findings: Sequence[Diagnostic] = ()
    with reporter.reporting(source.name):
        from onnxtext.show_model.load_model import read_model

        reading = read_model(read_file(source, maps=True), source.name, source.directory)
        findings = reading.findings
        from onnxtext.show_model.annotate_text import annotate
        from onnxtext.show_model.print_part import PartOptions, part_text

        # Print the whole text first, so that errors are reported before the pager starts.
        text = "".join(part_text(reading, PartOptions(graph, starts, ends, find, context)))
        terminal = is_terminal(sys.stdout)
        colored = wants_color(reporter.color, sys.stdout)
        pieces = annotate(text, reading, color=colored, terminal=terminal)
        write_paged(pieces, None if no_pager else find_pager())
    # Report findings after the pager has ended, so that they stay on the screen.
    reporter.findings(findings, source.name)
