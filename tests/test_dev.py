# SPDX-License-Identifier: Apache-2.0
"""`dev.py` changes and tests no environment of another tree, and shows its help without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dev
from tests.corpus import REPOSITORY


def test_a_linked_environment_is_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".venv").symlink_to(tmp_path / "other")
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "fingerprint", str)
    monkeypatch.delenv("ONNXTEXT_VENV", raising=False)
    with pytest.raises(SystemExit):
        dev.set_up("dev")
    assert "is a symbolic link" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_tests_do_not_run_if_their_commands_would_start_another_onnxtext(tmp_path: Path) -> None:
    (tmp_path / "onnxtext").mkdir()
    (tmp_path / "onnxtext" / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "tests/test_dev.py"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"the environment has another onnxtext: {tmp_path}" in done.stderr


@pytest.mark.parametrize("command", sorted(set(dev.COMMANDS) - {"bench"}))
def test_help_needs_no_environment(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(dev.COMMANDS, command, pytest.fail)
    monkeypatch.setattr(sys, "argv", ["dev.py", command, "--help"])
    assert dev.main() == 0
    assert "usage: dev.py" in capsys.readouterr().out
