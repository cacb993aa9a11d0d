# SPDX-License-Identifier: Apache-2.0
"""Options and help texts that several subcommands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from onnxtext.cli.report import COLORS, FORMATS, Reporter
from onnxtext.io.text_or_binary import BINARY_SUFFIX, MODEL_SUFFIXES, TEXT_SUFFIXES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

EXIT_STATUSES = """\b
Exit status:
  0  success
  1  findings: a text has errors, or a file is not a model
  2  could not run: wrong usage, a file is missing or cannot be read or
     written, or an existing file would have to be overwritten
With several files, every file is tried, and the highest status is used."""


class FileName(click.Path):
    """A click type for file names: any name except "" is valid; shells complete `suffixes`.

    Unlike `click.Path`, it accepts unreadable files: the command must still process other files.
    """

    def __init__(self, *suffixes: str) -> None:
        super().__init__(allow_dash=True, readable=False)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; reject "", which `pathlib` takes for the current directory."""
        if value == "":
            self.fail("the name of the file is empty", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        """Return one item that makes the shell's completion script list files and directories."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file", suffixes=" ".join(self.suffixes))]


class Integer(click.IntRange):
    """A click type for integers in a range, with a plain name for messages."""

    name = "integer"


TEXT = FileName(*TEXT_SUFFIXES)
BINARY = FileName(BINARY_SUFFIX)
MODEL = FileName(*MODEL_SUFFIXES)

stat_option = click.option(
    "--stat", "form", flag_value="stat", help="Show only counts of differences and operators."
)
markdown_option = click.option(
    "--markdown",
    "form",
    flag_value="markdown",
    help="Write Markdown, for comments on pull requests.",
)


def one_of(
    names: Callable[[], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function for click's `shell_complete` that offers the names from `names()`."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def split_at_commas(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Split the values of an option: `--select a,b --select c` gives `("a", "b", "c")`."""
    return tuple([part.strip() for value in values for part in value.split(",") if part.strip()])


def conversion_options(inputs: FileName, output: FileName) -> Callable[[F], F]:
    """Return a decorator that adds the parameters `inputs`, `output` and `force` to a command.

    The arguments are the click types of the first two.
    """
    return lambda command: add_options(
        command,
        click.argument("inputs", nargs=-1, metavar="[IN]...", type=inputs),
        click.option(
            "-o",
            "--output",
            metavar="OUT",
            type=output,
            help="The file to write, or - for standard output. For several INs, a directory; a "
            "name that ends in / creates it.",
        ),
        click.option(
            "-f",
            "--force",
            is_flag=True,
            help="Overwrite existing files. Without this option, an existing file with other "
            "content is an error.",
        ),
    )


def reporting_options(command: Callable[..., int | None]) -> Callable[..., int]:
    """Add options for the format and color of diagnostics to a command.

    The command gets a `Reporter` as the argument `reporter`. Its exit status is the higher one of
    the reporter's status and its own result.
    """

    @wraps(command)
    def run(output_format: str, color: str, **arguments: Any) -> int:
        with Reporter(output_format, color) as reporter:
            status = command(reporter=reporter, **arguments)
        return max(reporter.status, status or 0)

    return add_options(
        run,
        click.option(
            "--output-format",
            type=click.Choice(FORMATS),
            default="full",
            help="Format of findings on standard error. full: with the source line; concise: "
            "one line each; json: one JSON list, empty if there are no findings; sarif: one SARIF "
            "log; github: annotations for GitHub Actions.",
        ),
        click.option(
            "--color",
            type=click.Choice(COLORS),
            default="auto",
            help="Color findings; auto: on terminals, unless NO_COLOR is set.",
        ),
    )


def add_options(command: F, *decorators: Callable[[F], F]) -> F:
    """Apply decorators of click to a command, so that the help lists them in this order."""
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
