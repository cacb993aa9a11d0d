# SPDX-License-Identifier: Apache-2.0
"""The command `onnxtext` and its verbs, each of which is imported when it is used."""

from __future__ import annotations

import importlib

import click

from onnxtext import __version__
from onnxtext.cli.options import EXIT_STATUSES
from onnxtext.core import core

VERBS = (
    "to-binary",
    "from-binary",
    "check",
    "fmt",
    "diff",
    "verify",
    "merge",
    "git",
    "weights",
    "explain",
    "lsp",
)
"""The verbs; `onnxtext.cli` has a module with the `command` of each."""

EXAMPLES = """\b
Examples:
  onnxtext from-binary model.onnx     writes model.onnxtxt
  onnxtext to-binary model.onnxtxt    writes model.onnx, the same bytes again
  onnxtext from-binary <model.onnx | less
  onnxtext from-binary --help         more about a command"""


class Verbs(click.Group):
    """A group whose commands are modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"onnxtext.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print the version and which core runs, and end."""
    if value and not ctx.resilient_parsing:
        runs = "native core" if core() == "native" else "pure Python"
        click.echo(f"{ctx.find_root().info_name} {__version__} ({runs})")
        ctx.exit()


@click.group(
    cls=Verbs,
    epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version, and which core runs, and exit.",
)
def group() -> None:
    """Turn ONNX models into text and back, losing nothing."""
