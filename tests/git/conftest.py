# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests.git.repository import Repository, create, has_git


@pytest.fixture(autouse=True)
def git() -> None:
    """Skip these tests if git is missing."""
    if not has_git():
        pytest.skip("there is no git")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository without configuration of onnxtext."""
    return create(tmp_path)


@pytest.fixture
def filtered(repository: Repository) -> Repository:
    """A repository with the filter and shared attributes."""
    repository.install("--mode", "filter", "--attributes", ".gitattributes")
    return repository
