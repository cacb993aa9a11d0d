# SPDX-License-Identifier: Apache-2.0
"""The command `onnxtext` with its subcommands, which are imported on demand."""

from __future__ import annotations

import importlib

import click

from onnxtext import __version__
from onnxtext.cli.options import EXIT_STATUSES
from onnxtext.cli.suggesting_group import SuggestingGroup
from onnxtext.select_core import core

VERBS = (
    "to-binary", "from-binary", "check", "fmt", "info", "show", "view", "diff", "verify", "merge",
    "edit", "run", "git", "weights", "schemas", "explain", "explain-type", "completion", "lsp",
)  # fmt: skip
"""The subcommands; each has a module in `onnxtext.cli.commands` with a `command`."""

EXAMPLES = """\b
Examples:
  onnxtext from-binary model.onnx     writes model.onnxtxt
  onnxtext to-binary model.onnxtxt    writes model.onnx, with the same bytes
  onnxtext from-binary <model.onnx | less
  onnxtext from-binary --help         more about a command"""


class LazyGroup(SuggestingGroup):
    """A group that imports its subcommands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand; return None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"onnxtext.cli.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print the version and the core in use, and exit."""
    if value and not ctx.resilient_parsing:
        runs = "native core" if core() == "native" else "pure Python"
        click.echo(f"{ctx.find_root().info_name} {__version__} ({runs})")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    epilog=f"{EXAMPLES}\n\n{EXIT_STATUSES}",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and whether the native core or pure Python runs, and exit.",
)
def group() -> None:
    """Convert ONNX models to texts (.onnxtxt files) and back without loss."""
