# SPDX-License-Identifier: Apache-2.0
"""A group of commands that suggests a command in place of an unknown one."""

from __future__ import annotations

import click

from onnxtext.suggestions import nearest_name


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
