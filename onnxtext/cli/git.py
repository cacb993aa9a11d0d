# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git`: models in git."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnxtext.cli.git_plumbing import COMMANDS
from onnxtext.cli.options import reporting_options
from onnxtext.cli.report import FINDINGS, Refused, Reporter
from onnxtext.cli.streams import say
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.diagnostics.safe import safe
from onnxtext.files import name_of

if TYPE_CHECKING:
    from onnxtext.cli.diff import Form
    from onnxtext.git.changes import Change
    from onnxtext.git.modes import Mode
    from onnxtext.git.repository import Scope

EXAMPLES = """\b
Examples:
  onnxtext git install                    git diff and git log -p show text
  onnxtext git install --mode filter      git stores text, you have binaries
  onnxtext git install --mode source      texts are the source
  onnxtext git install --mode filter --attributes .gitattributes
  onnxtext git status
  onnxtext git verify                     is what git stores up to date?
  onnxtext git diff main feature          the models of two commits
  onnxtext git checkout                   models where a clone has texts
  onnxtext git uninstall"""

STATUSES = """\b
Exit status:
  0  everything went well
  1  findings: nothing is set up that works, or a file would change
  2  could not run: wrong usage, git failed, or settings of others are in the
     way; nothing is changed then
With several files it is the highest of theirs; every file is tried."""

EPILOG = f"{EXAMPLES}\n\n{STATUSES}"


class Commands(click.Group):
    """Lists its commands in the order in which they are of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)


@click.group("git", cls=Commands, epilog=EPILOG)
def command() -> None:
    """Keep models in git: readable diffs, mergeable models.

    docs/git.md says which of the three ways to choose.
    """


_MODE = click.Choice(["textconv", "filter", "source"])
_SCOPE = (
    click.option("--local", "scope", flag_value="local", help="In this repository: the default."),
    click.option("--global", "scope", flag_value="global", help="For all your repositories."),
)


def _scoped(function: Callable[..., int]) -> Callable[..., int]:
    for option in reversed(_SCOPE):
        function = option(function)
    return function


@command.command("install", epilog=EPILOG)
@_scoped
@click.option(
    "--mode",
    type=_MODE,
    default="textconv",
    show_default=True,
    help="textconv: binaries stay binaries, diffs show text. filter: git stores text, the working "
    "tree has binaries. source: texts are the source. textconv and filter exclude each other.",
)
@click.option(
    "--attributes",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the attributes go: .gitattributes is for everybody who clones. Without it they are "
    "this clone's own (.git/info/attributes), or with --global yours (core.attributesFile).",
)
@click.option(
    "--structural/--no-structural",
    default=None,
    help="git diff shows what `onnxtext diff` finds, instead of lines.",
)
@reporting_options
def install(
    scope: Scope | None,
    mode: Mode,
    attributes: Path | None,
    structural: bool | None,
    output_format: str,
    color: str,
) -> int:
    """Set git up, for this repository or for all of yours.

    What is there already stays, settings of others are left alone, and uninstall takes it all back.
    """
    from onnxtext.git.install import install as set_up

    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        changes = set_up(scope or "local", mode, file=attributes, structural=structural)
        _say(*changes or ["everything is as it should be"])
        _advise(mode)
    return reporter.status


def _advise(mode: Mode) -> None:
    if mode == "filter":
        from onnxtext.git.verification import count_filtered

        if count := count_filtered():
            files = "file is" if count == 1 else "files are"
            _say(f"{count} tracked {files} filtered: `onnxtext git verify` says what would change")


@command.command("uninstall", epilog=EPILOG)
@_scoped
@click.option("--mode", type=_MODE, help="Take back only this one.")
@click.option(
    "--attributes",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Take our lines out of this file too. The file that install wrote to is known.",
)
@reporting_options
def uninstall(
    scope: Scope | None,
    mode: Mode | None,
    attributes: Path | None,
    output_format: str,
    color: str,
) -> int:
    """Take back what install has done.

    Files in the working tree and in the repository stay as they are: see docs/git.md.
    """
    from onnxtext.git.install import uninstall as take_back

    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        changes = take_back(scope or "local", mode, file=attributes)
        _say(*changes or ["nothing is installed"])
    return reporter.status


@command.command("status", epilog=EPILOG)
@click.option("--local", "scope", flag_value="local", help="What this repository configures.")
@click.option("--global", "scope", flag_value="global", help="What you configure for all.")
@click.option("--mode", type=_MODE, help="Ask for this mode only.")
@reporting_options
def status(scope: Scope | None, mode: Mode | None, output_format: str, color: str) -> int:
    """Say what is configured, and whether git can run it.

    Without --local and --global it is what is in effect here, wherever it is configured. The exit
    status is 0 if a mode, or the one that is asked for, is set up and works, and 1 if not.
    """
    from onnxtext.git.status import status as find

    working = broken = False
    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        for found in find(scope):
            if mode not in (None, found.mode):
                continue
            state = "works" if found.installed else "incomplete" if found.begun else "not set up"
            _say(f"{found.mode}: {state}")
            working, broken = working or found.installed, broken or state == "incomplete"
            if state != "not set up":
                marks = [f"  {'ok' if fact.ok else 'NO'}  {fact.what}" for fact in found.facts]
                told = [fact.state for fact in found.facts]
                _say(*[f"{mark}: {state}" for mark, state in zip(marks, told, strict=True)])
    return max(reporter.status, 0 if working and not broken else FINDINGS)


@command.command("verify", epilog=EPILOG)
@reporting_options
def verify(output_format: str, color: str) -> int:
    """Prove that what git stores gives the very models back.

    Every tracked model is looked at, as it is in the index and, with the filter, in the working
    tree: a text of the filter must give a model whose text it is, a binary a text that gives the
    binary, and a source must keep the laws. Nothing is written.
    """
    from onnxtext.git.verification import verify as prove

    bad = count = 0
    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        for found in prove(_top()):
            count += 1
            bad += bool(found.problems)
            _say(f"{'CHANGES' if found.problems else 'ok'} {found.path}  {found.kind}")
            _say(*[f"  {problem}" for problem in (*found.problems, *filter(None, [found.note]))])
            for problem in found.problems if output_format != "full" else ():
                reporter.found(Diagnostic("git-would-change", problem, file=found.path), found.path)
        _say(f"{count} models, {bad} with something to say")
    return max(reporter.status, FINDINGS if bad else 0)


@command.command("checkout", epilog=EPILOG)
@reporting_options
def checkout(output_format: str, color: str) -> int:
    """Make models of the texts that the working tree holds in their place.

    A clone has them that was made before install --mode filter, and so has everybody who resolved
    a conflict in the text. Only texts that git stores are replaced; nothing else is touched.
    """
    from onnxtext.git.worktree import check_out

    left = 0
    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        for found in check_out(_top()):
            left += bool(found.problems)
            _say(f"{'LEFT' if found.problems else 'ok'} {found.path}")
            _say(*[f"  {problem}" for problem in found.problems])
    return max(reporter.status, FINDINGS if left else 0)


@command.command("diff", epilog=EPILOG)
@click.argument("old", metavar="COMMIT")
@click.argument("new", metavar="[COMMIT]", default="HEAD")
@click.option("--stat", "form", flag_value="stat", help="Only how many of what differ.")
@click.option("--markdown", "form", flag_value="markdown", help="For comments on pull requests.")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show the models that fit into N characters, and only name the others.",
)
@reporting_options
def diff(
    old: str, new: str, form: Form | None, most: int | None, output_format: str, color: str
) -> int:
    """Show what the models of two commits differ in, as `onnxtext diff` does.

    Every model that is in one of them and not the same in the other is compared. The second commit
    is HEAD if it is not given. The exit status is 0 also if there are differences.
    """
    from onnxtext.git.changes import find_changes

    with Reporter(output_format, color) as reporter, reporter.watching("git"), _running():
        top, left = _top(), most
        for change in find_changes(top, old, new):
            shown = _shown_change(top, change, form or "text", color)
            if left is not None and (left := left - len(shown)) < 0:
                what = f"{' and '.join(dict.fromkeys(change.labels))}: not shown, too long"
                shown, left = f"- `{what}`\n" if form == "markdown" else f"{what}\n", 0
            say(shown, "\n" if form == "markdown" else "")
    return reporter.status


def _shown_change(top: Path, change: Change, form: Form, color: str) -> str:
    from tempfile import TemporaryDirectory

    from onnxtext.cli.diff import run_diff
    from onnxtext.git.changes import files_of

    with TemporaryDirectory(prefix="onnxtext-") as directory:
        place = Path(directory, "diff")
        with files_of(top, change) as (old, new):
            run_diff(old, new, labels=change.labels, form=form, output=place, color=color)
        shown = place.read_text("utf-8") if place.exists() else ""
    names = " and ".join(dict.fromkeys(change.labels))
    return shown or f"{names}: cannot be compared\n"


def _top() -> Path:
    from onnxtext.git.repository import top_level

    top = top_level()
    if top is None:
        raise Refused("git-failed", "there is no working tree of git here")
    return top


@contextmanager
def _running() -> Iterator[None]:
    """What git refuses means that nothing could be done."""
    try:
        yield
    except OnnxTextError as error:
        first = error.diagnostics[0]
        raise Refused(first.code, first.message, help=first.help) from None
    except OSError as error:
        message = f"{name_of(error, 'a file of git')}: {error.strerror or error}"
        raise Refused("cannot-write", message) from None


def _say(*lines: str) -> None:
    for line in lines:
        say(safe(line))


for _plumbing in COMMANDS:
    command.add_command(_plumbing)
