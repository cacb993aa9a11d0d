# SPDX-License-Identifier: Apache-2.0
"""Execute a page of documentation from top to bottom, in one directory and one shell.

Its fenced blocks are:

- `console`: commands after `$ `, each with its output; `exit N` is the status of the last command;
- `python`: a script; a block `text` after it is its output;
- `onnxtxt NAME.onnxtxt`: a file, in the canonical layout; with `broken` after it, it has errors;
- `onnxschema NAME.onnxschema`: a schema file.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command import write_tool
from tests.corpus import REPOSITORY
from tests.git.repository import create

BLOCK = re.compile(r"^```(\S+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@@ end of command"


@dataclass
class Command:
    """A command of a page, and the exit status that the page promises."""

    lines: str
    status: int = 0
    shown: str = ""
    """What it printed."""


@dataclass
class Block:
    """A fenced block, its offsets in the page, and the commands that execute it."""

    language: str
    words: str
    text: str
    start: int
    end: int
    commands: list[Command]


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found = []
    for index, match in enumerate(BLOCK.finditer(page)):
        language, words, text = match[1], match[2] or "", match[3]
        commands = []
        if language == "console":
            exits = re.fullmatch(r"exit (\d)", words)
            assert exits or not words, words
            commands = [Command(line) for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE)]
            commands[-1].status = int(exits[1]) if exits else 0
        elif language == "python":
            name = f".block-{index}.py"
            commands = [Command(f"cat >{name} <<'@@@'\n{text}@@@\npython {name}")]
        elif language in ("onnxtxt", "onnxschema") and "." in words:
            name = words.split()[0]
            commands = [Command(f"cat >{name} <<'@@@'\n{text}@@@")]
        found.append(Block(language, words, text, match.start(3), match.end(3), commands))
    return found


def execute(blocks: list[Block], directory: Path) -> None:
    """Run the commands of a page; set what each printed.

    Raises:
        AssertionError: a command has another exit status than the page promises.
    """
    repository = create(directory)
    tools = directory / "tools"
    write_tool(tools, repository.environment())
    (tools / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (tools / "python").chmod(0o755)
    repository.more = {"PATH": f"{tools}:{os.environ['PATH']}", "GIT_PAGER": "cat", "COLUMNS": "80"}
    work = directory / "work"
    work.mkdir()
    (work / "examples").symlink_to(REPOSITORY / "examples")
    repository.path = work
    commands = [command for block in blocks for command in block.commands]
    lines = ["exec 2>&1"]
    for command in commands:
        lines += [command.lines, f'echo "{MARK} $?"']
    shown = repository.run("bash", "-c", "\n".join(lines)).text
    parts = re.split(rf"^{MARK} (\d+)\n", shown, flags=re.MULTILINE)
    statuses = [int(part) for part in parts[1::2]]
    wrong = ""
    for command, status, text in zip(commands, statuses, parts[::2], strict=False):
        if status != command.status:
            wrong += f"exit {status}: {command.lines}\n{text}\n"
        command.shown = re.sub(r"\b[\d,]+ ms$", "… ms", text, flags=re.MULTILINE)
    assert not wrong, wrong
    assert len(statuses) == len(commands), shown


def filled(page: str, blocks: list[Block]) -> str:
    """Return a page with the outputs of its commands."""
    parts, at, before = [], 0, ""
    for block in blocks:
        text = block.text
        if block.language == "console":
            text = "".join(f"$ {command.lines}\n{command.shown}" for command in block.commands)
        elif block.language == "text":
            assert before, f"a block `text` shows the output of a block `python`:\n{text}"
            text, before = before, ""
        assert not before, f"the page does not show this output:\n{before}"
        if block.language == "python":
            before = block.commands[0].shown
        parts += [page[at : block.start], text]
        at = block.end
    assert not before, f"the page does not show this output:\n{before}"
    return "".join(parts) + page[at:]
