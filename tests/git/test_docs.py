# SPDX-License-Identifier: Apache-2.0
"""docs/git.md from top to bottom: its commands are run and their output is compared.

ONNXTEXT_BLESS=1 writes what they print into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from onnxtext.cli.commands.git import command
from tests.cli.command import write_tool
from tests.corpus import REPOSITORY
from tests.git.repository import create
from tests.git.test_action import ACTION, HOOKS

pytestmark = pytest.mark.thorough

PAGE = REPOSITORY / "docs" / "git.md"
BLOCK = re.compile(r"^```(\w+)( run)?(?: exit (\d))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = "/home/me/venv/bin/python"
MARK = "@@@ end of block "


def executed(scripts: list[str], directory: Path) -> list[tuple[int, str]]:
    """The exit status and the output of each script, all run by one shell."""
    repository = create(directory)
    write_tool(directory / "tools", repository.environment())
    path = f"{directory / 'tools'}:{os.environ['PATH']}"
    repository.more = {"PATH": path, "GIT_PAGER": "cat"}
    lines = ["exec 2>&1", "trap 'echo untimely' ERR"]
    for index, script in enumerate(scripts):
        lines += [script, f'echo "{MARK}{index} $?"', "true"]
    work = directory / "work"
    work.mkdir()
    repository.path = work
    shown = repository.run("bash", "-c", "\n".join(lines)).text
    shown = shown.replace("untimely\n", "")
    shown = re.sub(r"(onnxtext [\d.]+) \((?:native core|pure Python)\)", r"\1", shown)
    found = re.split(rf"^{MARK}\d+ (\d+)\n", shown, flags=re.MULTILINE)
    found_text = [text.replace(shlex.quote(sys.executable), PYTHON) for text in found[::2]]
    return list(zip(map(int, found[1::2]), found_text, strict=False))


def test_the_documented_commands_work(tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    blocks = list(BLOCK.finditer(page))
    run = [block for block in blocks if block[2]]
    results = executed([block[4] for block in run], tmp_path)
    assert len(results) == len(run) > 10, results
    written, at = [], 0
    pending = ""
    for block in blocks:
        if block[2]:
            status, shown = results.pop(0)
            assert status == int(block[3] or 0), (block[4], shown)
            pending = shown
        elif block[1] == "text":
            written += [page[at : block.start(4)], pending]
            at, pending = block.end(4), ""
        else:
            continue
    blessed = "".join(written) + page[at:]
    if os.environ.get("ONNXTEXT_BLESS"):
        PAGE.write_text(blessed, "utf-8")
    assert blessed == page


def test_output_follows_its_command() -> None:
    blocks = list(BLOCK.finditer(PAGE.read_text("utf-8")))
    for before, block in pairwise(blocks):
        if block[1] == "text":
            assert before[2], block[4]


def test_every_command_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    table = page.partition("\n## The commands\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `onnxtext git (\w+)", table, re.MULTILINE))
    plumbing = table.partition("Git itself runs ")[2]
    assert named | set(re.findall(r"`([\w-]+)`", plumbing)) == set(command.commands)


def test_configuration_examples_are_valid() -> None:
    first, second = (
        block[4] for block in BLOCK.finditer(PAGE.read_text("utf-8")) if block[1] == "yaml"
    )
    (job,) = yaml.safe_load(first)["jobs"].values()
    assert set(job["steps"][1]["with"]) <= set(ACTION["inputs"])
    (hooks,) = yaml.safe_load(second)["repos"]
    assert [hook["id"] for hook in hooks["hooks"]] == [hook["id"] for hook in HOOKS]


def test_links_lead_to_files() -> None:
    page = PAGE.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)[)#]", page):
        assert (PAGE.parent / target).exists(), target
