# SPDX-License-Identifier: Apache-2.0
"""The files that cannot import `TEXT_SUFFIXES` list the same suffixes of texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from onnxtext.io.text_or_binary import MODEL_SUFFIXES, TEXT_SUFFIXES

ROOT = Path(__file__).parents[2]
NAMES = [f"model{suffix}" for suffix in (*MODEL_SUFFIXES, ".txt", ".onnxtxt.bak")]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def check(pattern: str, suffixes: tuple[str, ...]) -> None:
    """Check that a regular expression matches names with these suffixes, and no others."""
    assert [name for name in NAMES if re.search(pattern, name)] == [f"model{s}" for s in suffixes]


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    """The contributions of the VS Code extension."""
    found: dict[str, Any] = json.loads(read("vscode-extension/package.json"))["contributes"]
    return found


def test_pre_commit_hooks() -> None:
    patterns = {
        hook["id"]: hook["files"] for hook in yaml.safe_load(read(".pre-commit-hooks.yaml"))
    }
    check(patterns.pop("onnxtext-fmt"), TEXT_SUFFIXES)
    for pattern in patterns.values():
        check(pattern, MODEL_SUFFIXES)


def test_action() -> None:
    globs = re.findall(r"/\*\*/\*(\.\w+)", read("action.yml"))
    assert set(globs) == set(MODEL_SUFFIXES)


def test_the_language_of_vs_code(manifest: dict[str, Any]) -> None:
    (language,) = [item for item in manifest["languages"] if item["id"] == "onnxtxt"]
    assert language["extensions"] == list(TEXT_SUFFIXES)
    (grammar,) = [item for item in manifest["grammars"] if item.get("language") == "onnxtxt"]
    types = json.loads(read(f"vscode-extension/{grammar['path']}"))["fileTypes"]
    assert [f".{name}" for name in types] == list(TEXT_SUFFIXES)


def test_the_menus_of_vs_code(manifest: dict[str, Any]) -> None:
    menu = {item["command"]: item["when"] for item in manifest["menus"]["explorer/context"]}
    for command in ("showGraph", "verify", "toBinary"):
        (pattern,) = re.findall(r"=~ /(.*)/$", menu[f"onnxtext.{command}"])
        extensions = [Path(name).suffix for name in NAMES]
        wanted = TEXT_SUFFIXES if command == "toBinary" else MODEL_SUFFIXES
        assert [item for item in extensions if re.search(pattern, item)] == list(wanted)


def test_the_scripts_of_vs_code() -> None:
    (pattern,) = re.findall(r"isText = /(.*)/\.test", read("vscode-extension/src/commands.ts"))
    check(pattern, TEXT_SUFFIXES)
    (listed,) = re.findall(r"'ONNX models': \[(.*?)\]", read("vscode-extension/src/graph/panel.ts"))
    assert [f".{name}" for name in re.findall(r"\w+", listed)] == list(MODEL_SUFFIXES)


def test_neovim() -> None:
    lua = read("editors/neovim/onnxtext.lua")
    (listed,) = re.findall(r"pattern = \{(.*?)\}, command = 'setfiletype", lua)
    assert re.findall(r"'\*(.*?)'", listed) == list(TEXT_SUFFIXES)


def test_emacs() -> None:
    lisp = read("editors/emacs/onnxtext-mode.el")
    (pattern,) = re.findall(r"auto-mode-alist '\(\"(.*?)\" ", lisp)
    for emacs, python in ((r"\\(?:", "(?:"), (r"\\|", "|"), (r"\\)", ")"), (r"\\'", r"\Z")):
        assert emacs in pattern
        pattern = pattern.replace(emacs, python)
    check(pattern.replace(r"\\", "\\"), TEXT_SUFFIXES)


def test_pygments() -> None:
    from onnxtext.pygments_lexer import OnnxTextLexer

    assert OnnxTextLexer.filenames == [f"*{suffix}" for suffix in TEXT_SUFFIXES]


def test_git_attributes() -> None:
    from onnxtext.git.modes import ATTRIBUTES

    (texts,) = [[line for line in ATTRIBUTES["source"] if "merge=" in line]]
    assert [line.split()[0] for line in texts] == [f"*{suffix}" for suffix in TEXT_SUFFIXES]
