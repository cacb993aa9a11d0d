# SPDX-License-Identifier: Apache-2.0
"""`onnxtext explain`: explain the code of a diagnostic."""

from __future__ import annotations

import click

from onnxtext.cli.report import ERROR_STATUS, plain_error
from onnxtext.cli.streams import say
from onnxtext.diagnostics.library import codes, read_page, summary


@click.command("explain")
@click.argument("code", required=False)
@click.option("--list", "all_codes", is_flag=True, help="List all codes, each in one line.")
@click.pass_context
def command(context: click.Context, code: str | None, all_codes: bool) -> None:
    """Explain the CODE of a finding: what it means, why, and how to fix it.

    A finding shows its code in brackets, such as error[missing-comma].
    """
    if all_codes:
        for name in codes():
            say(f"{name}: {summary(name)}")
        return
    if code is None:
        raise click.UsageError("name a CODE, or use --list")
    try:
        say(read_page(code), "")
    except LookupError:
        from onnxtext.syntax.heuristics.suggestions import nearest

        meant = nearest(code, codes())
        hint = f"did you mean {meant}?" if meant else "--list shows all of them"
        plain_error(f"there is no code {code}: {hint}")
        context.exit(ERROR_STATUS)
