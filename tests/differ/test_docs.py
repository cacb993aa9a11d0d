# SPDX-License-Identifier: Apache-2.0
"""`docs/diff.md` shows what its commands print.

Run `python3 dev.py bless tests/differ/test_docs.py` to rewrite the outputs in `docs/diff.md`; read
the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from onnxtext.cli.commands.diff import CATEGORIES
from onnxtext.differ import IGNORABLE, EncodingChange, FieldChange, ItemChange, Rename, WeightChange
from tests.cli.command import run
from tests.corpus import REPOSITORY

PAGE = REPOSITORY / "docs" / "diff.md"
TEXT = PAGE.read_text(encoding="utf-8")
FENCE = re.compile(r"^```console\n\$ onnxtext ([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with the models of the page."""
    found = re.findall(r"^```onnxtxt (\S+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in found] == ["old.onnxtxt", "new.onnxtxt"]
    for name, text in found:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert run("check", tmp_path / name).status == 0
    (script,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    return tmp_path


def test_the_page_shows_what_its_commands_print(directory: Path) -> None:
    def executed(match: re.Match[str]) -> str:
        result = run(*shlex.split(match[1]), cwd=directory)
        assert (result.status, result.err) == (1, "")
        return f"```console\n$ onnxtext {match[1]}\n{result.out.decode()}```"

    assert len(FENCE.findall(TEXT)) == 5
    made = FENCE.sub(executed, TEXT)
    if os.environ.get("ONNXTEXT_BLESS"):
        PAGE.write_text(made, encoding="utf-8")
    else:
        assert made == TEXT


def test_every_key_of_json_is_described() -> None:
    _, _, section = TEXT.partition("\n## JSON\n")
    described = set(re.findall(r"`(\w+)`", section.rpartition("```\n")[2]))
    keys = {field.name for result in (ItemChange, FieldChange, Rename, EncodingChange, WeightChange)
            for field in fields(result)}  # fmt: skip
    assert keys <= described


def test_every_kind_of_difference_is_described() -> None:
    _, _, section = TEXT.partition("\n## Leaving differences out\n")
    assert tuple(re.findall(r"^\| `(\w+)` ", section.partition("\n\n| exit")[0], re.MULTILINE)) == (
        *CATEGORIES,
    )
    assert CATEGORIES == IGNORABLE


def test_json_of_the_page_is_json() -> None:
    (shown,) = [text for command, text in FENCE.findall(TEXT) if "--json" in command]
    assert json.loads(shown)["version"] == 1
