# SPDX-License-Identifier: Apache-2.0
"""The command `onnxtext`, whose subcommands are imported on demand, and groups of commands."""

from __future__ import annotations

import importlib

import click

from onnxtext import __version__
from onnxtext.cli.options import EXIT_STATUSES
from onnxtext.select_core import core
from onnxtext.suggestions import nearest_name

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


class SuggestingGroup(click.Group):
    """A group that lists commands in the order of definition, and suggests one for a wrong name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, and the other arguments.

        Fail with a hint if there is no such command.
        """
        name = args[0]
        known = self.get_command(ctx, name) is not None
        if not known and not ctx.resilient_parsing and not name.startswith("-"):
            hint = self.hint(ctx, name, args[1:])
            ctx.fail(f"No such command {name!r}.{f' {hint}' if hint else ''}")
        return super().resolve_command(ctx, args)

    def hint(self, ctx: click.Context, name: str, others: list[str]) -> str:
        """Return a hint for an unknown command, such as a similar name; "" if there is none.

        `name` is the command, `others` the arguments after it.
        """
        near = nearest_name(name, self.list_commands(ctx))
        return f"Did you mean {near!r}?" if near else ""


def examples_of(epilog: str, command: str) -> str:
    """Return the epilog of a group's help with the examples of one command only.

    Each example is on one line. At least two spaces separate it from its explanation.
    """
    return "\n".join(
        [
            line
            for line in epilog.split("\n")
            if not line.startswith("  onnxtext ")
            or command in line.strip().partition("  ")[0].split(" ")
        ]
    )


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
