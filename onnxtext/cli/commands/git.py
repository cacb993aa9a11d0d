# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git`: install, check and use the integration with git."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.command_errors import CommandError, check_inputs
from onnxtext.cli.commands.git_plumbing import COMMANDS
from onnxtext.cli.group import SuggestingGroup, examples_of
from onnxtext.cli.named_files import InputFile
from onnxtext.cli.options import (
    F,
    Integer,
    add_options,
    markdown_option,
    reporting_options,
    stat_option,
)
from onnxtext.cli.report import FINDINGS, Reporter
from onnxtext.cli.streams import print_to_stdout
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.io.os_errors import name_of
from onnxtext.plurals import count_noun

if TYPE_CHECKING:
    from onnxtext.cli.commands.diff import Form
    from onnxtext.git.models_between_commits import ChangedModel
    from onnxtext.git.modes import Mode
    from onnxtext.git.repository import Scope

EXAMPLES = """\b
Examples:
  onnxtext git install                    git diff and git log -p show text
  onnxtext git install --mode filter      git stores text, you have binaries
  onnxtext git install --mode source      texts are the source
  onnxtext git install --mode filter --attributes .gitattributes
  onnxtext git status
  onnxtext git verify                     are the stored texts up to date?
  onnxtext git diff main feature          the models of two commits
  onnxtext git checkout                   convert the texts of a new clone
  onnxtext git uninstall"""

_FAILURE = "2  could not run: wrong usage, or git failed"
_CONFLICT = """2  could not run: wrong usage, git failed, or settings that onnxtext did not
     make are in conflict with the mode; nothing is changed then"""


def _epilog(command: str = "", findings: str = "", failure: str = _FAILURE) -> str:
    """Return the epilog of a command's help: its examples, and the meanings of its exit statuses.

    `command` is "" for `onnxtext git` itself. `findings` is the meaning of status 1; "" if the
    command does not use it. `failure` is status 2 and its meaning.
    """
    examples = examples_of(EXAMPLES, command) if command else EXAMPLES
    lines = ["0  success", *([f"1  {findings}"] if findings else []), failure]
    return "\n  ".join([f"{examples}\n\n\b\nExit status:", *lines])


@click.group(
    "git",
    cls=SuggestingGroup,
    epilog=_epilog(findings="findings of `status`, `verify` or `checkout`: see their help"),
)
def command() -> None:
    """Keep models in git: readable diffs, mergeable models.

    docs/git.md explains which of the three modes to choose.
    """


_MODE = click.Choice(["textconv", "filter", "source"])
_FILE = click.Path(dir_okay=False, path_type=Path)


def _scope_options(local: str, everywhere: str) -> Callable[[F], F]:
    """Return a decorator that adds `--local` and `--global`, with these help texts."""
    return lambda function: add_options(
        function,
        click.option("--local", "scope", flag_value="local", help=local),
        click.option("--global", "scope", flag_value="global", help=everywhere),
    )


_used_scope = _scope_options(
    "Use the configuration of this repository; the default.",
    "Use your global configuration, for all your repositories.",
)


def _attributes_option(help: str) -> Callable[[F], F]:
    return click.option("--attributes", metavar="FILE", type=_FILE, help=help)


@command.command("install", epilog=_epilog("install", failure=_CONFLICT))
@_used_scope
@click.option(
    "--mode",
    type=_MODE,
    help="textconv: binaries stay binaries, diffs show text. filter: git stores text, the working "
    "tree has binaries. source: texts are the source. textconv and filter cannot be combined. "
    "Default: filter if it is installed, or if the attributes of the repository select it, else "
    "textconv.",
)
@_attributes_option(
    "The attributes file to write; .gitattributes applies to every clone. Default: "
    ".git/info/attributes of this clone, or with --global the file in core.attributesFile."
)
@click.option(
    "--structural/--no-structural",
    default=None,
    help="Show the output of `onnxtext diff` in git diff, instead of changed lines.",
)
@reporting_options
def install(
    scope: Scope | None,
    mode: Mode | None,
    attributes: Path | None,
    structural: bool | None,
    reporter: Reporter,
) -> None:
    """Configure git for this repository, or for all your repositories.

    Modes that cannot be combined with this mode are removed; other modes, and settings that
    onnxtext did not make, are kept. `onnxtext git uninstall` removes what this command has written.
    """
    from onnxtext.git.install import default_mode
    from onnxtext.git.install import install as set_up
    from onnxtext.git.verification import count_filtered

    with reporter.reporting("git"), _git_errors():
        mode = mode or default_mode(scope or "local")
        changes = set_up(scope or "local", mode, file=attributes, structural=structural)
        _say(*changes or ["already installed"])
        if mode == "filter" and (count := count_filtered()):
            files = count_noun(count, "tracked file is", "tracked files are")
            _say(f"{files} filtered: `onnxtext git verify` shows what would change")


@command.command("uninstall", epilog=_epilog("uninstall"))
@_used_scope
@click.option("--mode", type=_MODE, help="Remove only this mode.")
@_attributes_option("Also remove the lines of onnxtext from this attributes file.")
@reporting_options
def uninstall(
    scope: Scope | None, mode: Mode | None, attributes: Path | None, reporter: Reporter
) -> None:
    """Undo `onnxtext git install`.

    Models and texts, in the working tree and in the repository, are not changed: see docs/git.md.
    """
    from onnxtext.git.install import uninstall as undo

    with reporter.reporting("git"), _git_errors():
        changes = undo(scope or "local", mode, file=attributes)
        _say(*changes or ["nothing is installed"])


@command.command("status", epilog=_epilog("status", "no mode works, or a mode is incomplete"))
@_scope_options("Show only the repository's configuration.", "Show only your global configuration.")
@click.option("--mode", type=_MODE, help="Show only this mode.")
@reporting_options
def status(scope: Scope | None, mode: Mode | None, reporter: Reporter) -> int:
    """Show what is configured, and whether git can run it.

    Without --local and --global the effective configuration is shown. With --mode, only that
    mode is shown, and it alone sets the exit status.
    """
    from onnxtext.git.status import status as check_modes

    working = broken = False
    with reporter.reporting("git"), _git_errors():
        modes = check_modes(scope)
        filtered = any(status.mode == "filter" and status.begun for status in modes)
        for status in modes:
            if mode not in (None, status.mode):
                continue
            state = (
                "works" if status.installed else "incomplete" if status.begun else "not installed"
            )
            # The mode filter has a setting named textconv: "not installed" would contradict it.
            is_replaced = status.mode == "textconv" and state == "not installed" and filtered
            _say(f"{status.mode}: {'replaced by filter' if is_replaced else state}")
            working, broken = working or status.installed, broken or state == "incomplete"
            if state != "not installed":
                _say(*[
                    f"  {'ok' if requirement.ok else 'NO'}  {requirement.what}: {requirement.state}"
                    for requirement in status.requirements
                ])  # fmt: skip
    return 0 if working and not broken else FINDINGS


@command.command("verify", epilog=_epilog("verify", "a model has problems"))
@reporting_options
def verify(reporter: Reporter) -> int:
    """Verify that git can restore every tracked model byte for byte.

    Every tracked model is checked in the index; if the filter has stored it as text, its file in
    the working tree is checked, too. Binary models, and texts that the filter has stored, must
    survive a round trip. Texts that no filter converts must satisfy the laws that `onnxtext verify`
    checks. It is a problem if the filter would store a binary model as text. Binary models above
    `onnxtext.maxSize`, and texts in another layout than the filter's, are only noted. Nothing is
    written.
    """
    from onnxtext.git.verification import verify as verify_all

    bad = count = 0
    with reporter.reporting("git"), _git_errors():
        for found in verify_all(_top()):
            check_inputs()  # for each file, because it may change after its result was shown
            count += 1
            bad += bool(found.problems)
            _say(f"{'CHANGES' if found.problems else 'ok'} {found.path}  {found.kind}")
            _say(*[f"  {problem}" for problem in (*found.problems, *filter(None, [found.note]))])
            for problem in found.problems if reporter.format != "full" else ():
                reporter.found(Diagnostic("git-would-change", problem, file=found.path), found.path)
        _say(f"{count_noun(count, 'model')}, {bad:,} with problems")
    return FINDINGS if bad else 0


@command.command("checkout", epilog=_epilog("checkout", "a text was not converted"))
@reporting_options
def checkout(reporter: Reporter) -> int:
    """Convert texts in the working tree back to binary models.

    The working tree has texts in place of models if the clone was made before `install --mode
    filter`, or if a conflict was resolved in the text. Only texts that git stores are replaced;
    nothing else is changed.
    """
    from onnxtext.git.checkout import check_out

    left = 0
    with reporter.reporting("git"), _git_errors():
        for found in check_out(_top()):
            left += bool(found.problems)
            _say(f"{'LEFT' if found.problems else 'ok'} {found.path}")
            _say(*[f"  {problem}" for problem in found.problems])
    return FINDINGS if left else 0


@command.command("diff", epilog=_epilog("diff"))
@click.argument("old", metavar="COMMIT")
@click.argument("new", metavar="[COMMIT]", default="HEAD")
@stat_option
@markdown_option
@click.option(
    "--all", "every", is_flag=True, help="Show every difference of a large diff, not groups."
)
@click.option(
    "--most",
    "max_characters",
    type=Integer(min=0),
    metavar="N",
    help="Write up to N characters of differences, then name up to 20 of the models left out.",
)
@reporting_options
def diff(
    old: str,
    new: str,
    form: Form | None,
    every: bool,
    max_characters: int | None,
    reporter: Reporter,
) -> None:
    """Show the differences between the models of two commits, like `onnxtext diff`.

    Every model that differs between the commits is compared. The default of the second commit is
    HEAD. Differences do not change the exit status.
    """
    from onnxtext.git.models_between_commits import find_changes

    with reporter.reporting("git"), _git_errors():
        top, end = _top(), "\n" if form == "markdown" else ""
        changes, length = find_changes(top, old, new), 0
        for index, change in enumerate(changes):
            shown = _shown_change(top, change, form or "text", reporter.color, every=every)
            length += len(shown)
            if max_characters is not None and length > max_characters:
                for line in _not_shown(changes[index:], form):
                    print_to_stdout(line, end)
                break
            print_to_stdout(shown, end)


def _not_shown(changes: Sequence[ChangedModel], form: Form | None) -> list[str]:
    """Return lines that name up to `_MAX_NAMED` models left out by `--most`, and count the rest."""
    lines = [_remark(change, "not shown, too long", form) for change in changes[:_MAX_NAMED]]
    if len(changes) > _MAX_NAMED:
        line = f"and {count_noun(len(changes) - _MAX_NAMED, 'more model')}"
        lines.append(f"- {line}\n" if form == "markdown" else f"{line}\n")
    return lines


_MAX_NAMED = 20


def _shown_change(top: Path, change: ChangedModel, form: Form, color: str, *, every: bool) -> str:
    from tempfile import TemporaryDirectory

    from onnxtext.cli.commands.diff import run_diff
    from onnxtext.git.models_between_commits import files_of

    with TemporaryDirectory(prefix="onnxtext-") as directory:
        output = Path(directory, "diff")
        with files_of(top, change) as paths, Reporter("full", color) as reporter:
            old, new = map(InputFile, change.labels, paths)
            status = run_diff(old, new, reporter, form=form, every=every, output=output)
        shown = output.read_text("utf-8") if output.exists() else ""
    if not shown:
        why = "cannot be compared" if status else "the models are the same"
        return _remark(change, why, form)
    return shown if form != "stat" else _remark(change, "", form) + shown


def _remark(change: ChangedModel, text: str, form: Form | None) -> str:
    """Return a line with a remark on a model and with its old and new path (once if equal)."""
    from onnxtext.differ.render.markdown import inline_code

    line = f"{' and '.join(dict.fromkeys(change.labels))}: {text}".rstrip()
    return f"- {inline_code(line)}\n" if form == "markdown" else f"{escape_controls(line)}\n"


def _top() -> Path:
    from onnxtext.git.repository import top_level

    top = top_level()
    if top is None:
        raise CommandError("git-failed", "the current directory is not in a git working tree")
    return top


@contextmanager
def _git_errors() -> Iterator[None]:
    """Convert an `OnnxTextError` or `OSError` in the `with` block to a `CommandError`.

    An `OSError` means that a file cannot be written.
    """
    try:
        yield
    except OnnxTextError as error:
        first = error.diagnostics[0]
        raise CommandError(first.code, first.message, help=first.help) from None
    except OSError as error:
        message = f"{name_of(error, 'a file of git')}: {error.strerror or error}"
        raise CommandError("cannot-write", message) from None


def _say(*lines: str) -> None:
    for line in lines:
        print_to_stdout(escape_controls(line))


for _plumbing in COMMANDS:
    command.add_command(_plumbing)
