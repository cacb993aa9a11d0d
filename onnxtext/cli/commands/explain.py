# SPDX-License-Identifier: Apache-2.0
"""`onnxtext explain`: explain the code of a diagnostic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnxtext.cli.report import ERROR_STATUS, plain_error
from onnxtext.cli.streams import print_to_stdout
from onnxtext.diagnostics.code_pages import documented_codes, page_summary, read_page

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Return the codes that begin with the incomplete word, with their meanings."""
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(code, help=page_summary(code))
        for code in documented_codes()
        if code.startswith(incomplete)
    ]


@click.command("explain")
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--list", "all_codes", is_flag=True, help="List all codes, each in one line.")
@click.pass_context
def command(context: click.Context, code: str | None, all_codes: bool) -> None:
    """Explain the CODE of a finding: what it means, why, and how to fix it.

    A finding shows its code in brackets, such as error[missing-comma]. If CODE is the name of a
    profile of `onnxtext check`, the rules of the profile are listed.
    """
    from onnxtext.checker.context.registry import profiles, rules

    if all_codes:
        for name in documented_codes():
            rule = rules().get(name)
            profile = f" (profile {rule.profile})" if rule is not None and rule.profile else ""
            print_to_stdout(f"{name}: {page_summary(name)}{profile}")
        return
    if code is None:
        raise click.UsageError("Name a CODE, or use --list.")
    if code in profiles():
        print_to_stdout(f"profile {code}: `onnxtext check --profile {code}` turns on")
        for name in sorted(profiles()[code]):
            print_to_stdout(f"  {name}: {page_summary(name)}")
        return
    try:
        print_to_stdout(read_page(code) + _when(code), "")
    except LookupError:
        from onnxtext.suggestions import nearest_name

        meant = nearest_name(code, documented_codes())
        hint = f"did you mean `{meant}`?" if meant else "`--list` shows all of them"
        plain_error(f"there is no code `{code}`: {hint}")
        context.exit(ERROR_STATUS)


def _when(code: str) -> str:
    """Return a sentence on how to enable a rule that is off by default; "" for other codes."""
    from onnxtext.checker.context.registry import rules

    rule = rules().get(code)
    if rule is None or rule.level != "lint":
        return ""
    group = f"--profile {rule.profile}" if rule.profile else "--select all"
    return f"\n`--select {code}` or `{group}` turns it on.\n"
