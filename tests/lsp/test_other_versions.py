# SPDX-License-Identifier: Apache-2.0
"""Other versions of a document from git: errors name their cause."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from onnxtext.lsp.features.graph_requests import other_text
from onnxtext.lsp.server.protocol import RequestError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError(2, "No such file or directory", "git"), "git cannot be run"),
        (subprocess.TimeoutExpired("git", 60), "git did not answer within 60 seconds"),
    ],
)
def test_errors_of_git_name_their_cause(
    error: Exception, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(RequestError, match=message):
        other_text((tmp_path / "m.onnxtxt").as_uri(), "git:HEAD")


@pytest.mark.parametrize("revision", ["", "--output=x", "HEAD:other"])
def test_only_names_of_revisions_are_passed_to_git(revision: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is not the name of a revision"):
        other_text((tmp_path / "m.onnxtxt").as_uri(), f"git:{revision}")
