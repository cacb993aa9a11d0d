# SPDX-License-Identifier: Apache-2.0
"""`onnxtext show`: print a model, or a part of it, for reading."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import MODEL, Integer, reporting_options
from onnxtext.cli.report import Reporter
from onnxtext.cli.signals import signals_of
from onnxtext.cli.streams import read_file, write_stdout
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
    type=Integer(min=0),
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
        text = part_text(reading, PartOptions(graph, starts, ends, find, context))
        terminal = is_terminal(sys.stdout)
        colored = wants_color(reporter.color, sys.stdout)
        pieces = annotate(text, reading, color=colored, terminal=terminal)
        write_paged(pieces, None if no_pager else find_pager())
    # Report findings after the pager has ended, so that they stay on the screen.
    reporter.findings(findings, source.name)


def find_pager() -> str | None:
    """Return the command line of the pager: `$PAGER`, or `less` if `$PAGER` is not set.

    Return None for no pager, for example if standard output is not a terminal or `$PAGER` is empty.
    """
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        return None
    chosen = os.environ.get("PAGER")
    if chosen is None:
        chosen = "less -R" if shutil.which("less") else ""
    return None if chosen.strip() in ("", "cat") else chosen


def write_paged(pieces: Iterable[str], pager: str | None) -> None:
    """Write the pieces of a text to the command line `pager`; if it is None, to standard output.

    If the user quits the pager, the remaining pieces are not computed.

    Raises:
        CommandError: there is no pager, and standard output is closed or cannot be written.
    """
    encoded = (piece.encode("utf-8", "backslashreplace") for piece in _blocks(pieces))
    if pager is None:
        for block in encoded:
            write_stdout([block])
        return
    # The options that git uses: keep colors, exit if the text fits, and do not clear the screen.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)
    # Ignore signals: the pager handles Ctrl-C, and writing to a closed pager must raise an error.
    ignored = signals_of("SIGINT", "SIGPIPE", "SIGQUIT")
    handlers = [(name, signal.signal(name, signal.SIG_IGN)) for name in ignored]
    assert process.stdin is not None
    try:
        for block in encoded:
            process.stdin.write(block)
            process.stdin.flush()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait()  # until the user quits the pager
        for name, handler in handlers:
            signal.signal(name, handler)


def _blocks(pieces: Iterable[str]) -> Iterable[str]:
    """Join pieces into larger blocks. The first block is small, so that text appears soon."""
    block: list[str] = []
    length, max_characters = 0, 1 << 12
    for piece in pieces:
        block.append(piece)
        length += len(piece)
        if length >= max_characters:
            yield "".join(block)
            block, length, max_characters = [], 0, 1 << 16
    yield "".join(block)
