# SPDX-License-Identifier: Apache-2.0
"""Codes about files: the commands on their pages run, and their output equals the golden files.

`python3 dev.py bless tests/diagnostics` rewrites the golden files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnxtext.diagnostics.code_pages import documented_codes, read_page
from tests.cli.command import environment, write_tool
from tests.corpus import REPOSITORY

pytestmark = pytest.mark.thorough

GOLDEN = Path(__file__).parent / "golden"
WITHOUT_EXAMPLE = {
    "internal-error": "is a bug; tests/cli raises one",
    "not-a-message": "only `onnxtext.loads` raises it",
    "not-formatted": "is a bug; tests/format raises one",
    "out-of-memory": "depends on the machine; tests/cli raises one",
    "warning": "what it says has no code of its own",
}

FAILS_ON_WARNINGS = {"edit-obstacle"}
"""Codes of warnings after which a command exits with 1."""


def sessions(code: str) -> dict[str, list[str]]:
    """The commands of a page by heading."""
    found = re.findall(r"^## (\w+)\n~~~console\n(.*?)^~~~$", read_page(code), re.M | re.S)
    return {name: re.findall(r"^\$ (.*)$", block, re.M) for name, block in found}


WITH_SESSION = [code for code in documented_codes() if sessions(code)]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the program `onnxtext`."""
    directory = tmp_path_factory.mktemp("tools")
    write_tool(directory, environment())
    return directory


def run_all(commands: list[str], directory: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """Run commands one after the other; all but the last one succeed."""
    path = f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for index, command in enumerate(commands, 1):
        result = subprocess.run(
            ["bash", "-c", command],
            cwd=directory,
            env=environment(PATH=path, COLUMNS="100", NO_COLOR="1"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if index < len(commands):
            assert result.returncode == 0, (command, result.stderr)
    return result


def test_every_page_has_an_example() -> None:
    without = {code for code in documented_codes() if "\n## Example\n" not in read_page(code)}
    assert without == set(WITHOUT_EXAMPLE)


@pytest.mark.parametrize("code", WITH_SESSION)
def test_commands_of_a_page_print_its_golden_file(code: str, tmp_path: Path, tools: Path) -> None:
    for example in ("classifier", "extensions"):
        shutil.copy(REPOSITORY / "examples" / f"{example}.onnxtxt", tmp_path)
    found = sessions(code)
    assert set(found) == {"Example", "Fixed"}
    wrong = run_all(found["Example"], tmp_path, tools)
    said = (wrong.stdout if "script" in found["Example"][-1] else wrong.stderr).replace(
        "\r\n", "\n"
    )
    said = said.replace(str(tmp_path), "DIRECTORY")
    said = re.sub(r"(?s)^Traceback.*?\n(?=onnxtext)", "", said)
    assert f"[{code}]" in said
    assert (wrong.returncode != 0) == ("error" in said or code in FAILS_ON_WARNINGS)
    golden = GOLDEN / f"{code}.txt"
    if os.environ.get("ONNXTEXT_BLESS"):
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    right = run_all(found["Fixed"], tmp_path, tools)
    assert right.returncode == 0, right.stderr
    assert f"[{code}]" not in right.stderr
