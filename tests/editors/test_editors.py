# SPDX-License-Identifier: Apache-2.0
"""The snippets for Neovim and Emacs, in those editors (`.ci/extension` installs them)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BROKEN = """\
<
  onnxtext: 1,
  ir_version: 10,
  opset_import: [21],
>
broken (float[N, 4] x) => (float[N, 4] y) {
  h = Relu (x)
  y = Sotfmax <axis = -1> (h)
}
"""


def editor(name: str) -> str:
    """Return the path of an editor."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def run(command: list[str], directory: Path) -> str:
    """Return the output of an editor with a temporary home directory."""
    env = {**os.environ, "HOME": str(directory), "XDG_CONFIG_HOME": str(directory / "config")}
    env |= {"PYTHON": sys.executable, "XDG_DATA_HOME": str(directory / "data")}
    done = subprocess.run(
        command, cwd=directory, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A text with an unknown operator."""
    path = tmp_path / "broken.onnxtxt"
    path.write_text(BROKEN, encoding="utf-8")
    return path


def test_neovim_shows_diagnostics_and_hovers(broken: Path) -> None:
    home = broken.parent
    plugins = home / "config/nvim/plugin"
    plugins.mkdir(parents=True)
    shutil.copy(ROOT / "editors/neovim/onnxtext.lua", plugins)
    output = home / "out.json"
    server = f"let g:onnxtext_command=['{sys.executable}', '-m', 'onnxtext', 'lsp']"
    settings = ["--cmd", server, "--cmd", f"let g:test_output='{output}'"]
    test = ["-c", "luafile " + str(HERE / "neovim.lua")]
    run([editor("nvim"), "--headless", *settings, str(broken), *test], home)
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["filetype"] == "onnxtxt"
    assert found["commentstring"] == "# %s"
    assert found["groups"] == ["onnxtxtOperator", "onnxtxtType", "onnxtxtAttribute"]
    assert [item["code"] for item in found["diagnostics"]] == ["op-unknown"]
    assert found["diagnostics"][0]["lnum"] == 7
    assert "Relu" in found["hover"]


def test_emacs_colours_and_indents_texts(broken: Path) -> None:
    examples = [str(path) for path in sorted((ROOT / "examples").glob("*.onnxtxt"))]
    assert examples
    mode = str(ROOT / "editors/emacs/onnxtext-mode.el")
    test = str(HERE / "emacs-mode.el")
    command = [editor("emacs"), "--batch", "-Q", "-l", mode, "-l", test, str(broken), *examples]
    said = run(command, broken.parent)
    assert f"{len(examples)} texts indented as they were" in said


def test_emacs_compiles_the_mode_without_warnings(tmp_path: Path) -> None:
    mode = str(shutil.copy(ROOT / "editors/emacs/onnxtext-mode.el", tmp_path))
    check = "(setq byte-compile-error-on-warn t)"
    compile_it = ["--eval", check, "-f", "batch-byte-compile", mode]
    run([editor("emacs"), "--batch", "-Q", *compile_it], tmp_path)


def test_emacs_works_with_the_server(broken: Path) -> None:
    emacs = editor("emacs")
    there = "(progn (require 'package) (package-initialize) (require 'eglot nil t))"
    asked = [emacs, "--batch", "--eval", f'(princ (if {there} "eglot is there" "none"))']
    if "eglot is there" not in run(asked, broken.parent):
        pytest.skip("there is no eglot")
    mode = str(ROOT / "editors/emacs/onnxtext-mode.el")
    test = str(HERE / "emacs-server.el")
    said = run([emacs, "--batch", "-l", mode, "-l", test, str(broken)], broken.parent)
    assert "found op-unknown" in said
    assert "hover Relu" in said
