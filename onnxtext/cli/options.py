# SPDX-License-Identifier: Apache-2.0
"""What several verbs have in common on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from onnxtext.cli.report import FORMATS, Reporter
from onnxtext.cli.terminal import COLORS, Terminal

F = TypeVar("F", bound=Callable[..., Any])

EXIT_STATUSES = """\b
Exit status:
  0  everything went well
  1  findings: a text has errors, or a file is no model
  2  could not run: wrong usage, a file is missing or cannot be read or written,
     an existing file was not overwritten
With several files it is the highest of theirs."""


def conversion_options(command: F) -> F:
    """The arguments and options of verbs that convert files."""
    for add in reversed(_CONVERSION):
        command = add(command)
    return reporting_options(command)


def reporting_options(command: F) -> F:
    """The options of verbs that have something to say about models.

    They come as one argument, `reporter`.
    """

    def reporting(
        *args: Any, output_format: str, color: str, **kwargs: Any
    ) -> Any:  # pragma: no cover
        raise NotImplementedError

    return command


_CONVERSION = (
    click.argument("inputs", nargs=-1, metavar="[IN]...", type=click.Path(allow_dash=True)),
)
_ = (sys, FORMATS, Reporter, COLORS, Terminal)
