# SPDX-License-Identifier: Apache-2.0
"""Generate the manual page and the command reference from the help texts of the commands.

`python -m onnxtext.cli.manual` prints the manual page `onnxtext.1`. `hatch_build.py` adds it to
wheels; `docs/hooks.py` adds the reference to the site. Needs click and nothing else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from onnxtext import __version__
from onnxtext.cli.group import group

_NAME = "onnxtext"


def commands() -> Iterator[tuple[click.Context, str]]:
    """Yield (click context, full name) of `onnxtext` and its subcommands, in the order of the help.

    The context has the usage and the options. A full name is, for example, `onnxtext git install`.
    Hidden subcommands are left out.
    """
    yield from _walk(click.Context(group, info_name=_NAME, **group.context_settings))


def _walk(context: click.Context) -> Iterator[tuple[click.Context, str]]:
    yield context, context.command_path
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            child = context.command.get_command(context, name)
            if child is not None and not child.hidden:
                settings = child.context_settings
                yield from _walk(click.Context(child, info_name=name, parent=context, **settings))


def markdown() -> str:
    """Return a Markdown page with the help of every command, as `--help` prints it."""
    parts = ["# Help of every command", "What `--help` prints. `onnxtext --help` comes first."]
    for context, path in commands():
        context.terminal_width = 80
        heading_marks = "##" if context.parent is None or context.parent.parent is None else "###"
        parts.append(f"{heading_marks} {path}\n\n```text\n{context.get_help()}\n```")
    return "\n\n".join(parts) + "\n"


def manual_page() -> str:
    """Return the manual page in roff, with the macros of man(7)."""
    root, *others = commands()
    top, _ = root
    lines = [
        rf'.TH ONNXTEXT 1 "" "onnxtext {_roff(__version__)}" "User Commands"',
        ".nh",  # no hyphenation: it would add hyphens to option names
        ".SH NAME",
        rf"{_NAME} \- {_roff(_first_sentence(top.command))}",
        ".SH SYNOPSIS",
        rf".B {_NAME}",
        _roff(" ".join(top.command.collect_usage_pieces(top))),
        ".SH DESCRIPTION",
        *_paragraphs(top.command.help),
        ".SH OPTIONS",
        *_options(top),
        ".SH COMMANDS",
    ]
    for context, path in others:
        lines += [
            f'.SS "{_roff(path)}"',
            rf".B {_roff(path)}",
            _roff(" ".join(context.command.collect_usage_pieces(context))),
            *_paragraphs(context.command.help),
            *_options(context),
            *_paragraphs(context.command.epilog),
        ]
    lines += [".SH EXAMPLES AND EXIT STATUS", *_paragraphs(top.command.epilog)]
    return "\n".join(lines) + "\n"


def _first_sentence(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or "")
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def _options(context: click.Context) -> Iterator[str]:
    """Yield roff lines with a tagged paragraph for each option; arguments are in the usage line."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            yield ".TP"
            yield f".B {_roff(record[0])}"
            yield _roff(" ".join(record[1].split()))


def _paragraphs(text: str | None) -> Iterator[str]:
    """Yield the roff lines of a help text.

    A paragraph keeps its line breaks if its first line is a backspace, as in click.
    """
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        lines = paragraph.partition("\f")[0].strip("\n").split("\n")
        if lines == [""]:
            continue
        yield ".PP"
        if lines[0].strip() == "\b":
            yield ".nf"
            yield from map(_roff, lines[1:])
            yield ".fi"
        else:
            yield _roff(" ".join(paragraph.split()))


def _roff(text: str) -> str:
    """Escape a line of text for roff."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    escaped = escaped.replace("^", r"\(ha").replace("~", r"\(ti").replace("`", r"\(ga")
    escaped = escaped.replace("'", r"\(aq")
    return rf"\&{escaped}" if escaped[:1] == "." else escaped


if __name__ == "__main__":
    click.echo(manual_page(), nl=False)
