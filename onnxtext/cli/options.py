# SPDX-License-Identifier: Apache-2.0
"""What several verbs have in common on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from onnxtext.cli.report import COLORS, FORMATS

F = TypeVar("F", bound=Callable[..., Any])

EXIT_STATUSES = """\b
Exit status:
  0  everything went well
  1  findings: a text has errors, or a file is no model
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, or an existing file would have to be overwritten
With several files it is the highest of theirs; every file is tried."""

# Click is not to look whether files are readable: that concerns each of them, not all.
_NAME = click.Path(allow_dash=True, readable=False)


def conversion_options(command: F) -> F:
    """Add the arguments of verbs that convert files: `inputs`, `output`, `force`."""
    return _add(
        command,
        click.argument("inputs", nargs=-1, metavar="[IN]...", type=_NAME),
        click.option(
            "-o",
            "--output",
            metavar="OUT",
            type=_NAME,
            help="The file to write, or - for standard output. For several INs, the directory to "
            "write into: it exists or ends in /.",
        ),
        click.option(
            "-f",
            "--force",
            is_flag=True,
            help="Overwrite existing files. Without it they are only overwritten with what they "
            "hold already, which leaves them untouched.",
        ),
    )


def reporting_options(command: F) -> F:
    """Add the arguments that say how findings are shown: `output_format`, `color`."""
    return _add(
        command,
        click.option(
            "--output-format",
            type=click.Choice(FORMATS),
            default="full",
            show_default=True,
            help="How findings are shown on standard error: with the source line, in one line, as "
            "one JSON list of all (which is empty when there are none), as one SARIF log, or as "
            "annotations for GitHub Actions.",
        ),
        click.option(
            "--color",
            type=click.Choice(COLORS),
            default="auto",
            show_default=True,
            help="Colour findings; auto does on terminals, unless NO_COLOR is set.",
        ),
    )


def _add(command: F, *decorators: Callable[[F], F]) -> F:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
