# SPDX-License-Identifier: Apache-2.0
"""Commits older than the attributes: their models stay binary and cause no problems."""

from __future__ import annotations

import pytest

from tests.git.repository import Repository, binary, edited

pytestmark = pytest.mark.thorough


def migrated(repository: Repository) -> None:
    """Commit a binary model on `main` and a branch `feature`, then convert `main` to texts."""
    repository.commit("a binary model", model=binary())
    repository.git("checkout", "-q", "-b", "feature")
    repository.commit("edit", model=edited(("a = Relu", "a = Elu")))
    repository.git("checkout", "-q", "main")
    repository.install("--mode", "filter", "--attributes", ".gitattributes")
    repository.git("add", ".gitattributes")
    repository.git("add", "--renormalize", ".")
    repository.git("commit", "-q", "-m", "models as text")


@pytest.fixture
def clone(repository: Repository) -> Repository:
    """Return a clone of a repository that was migrated, set up as `docs/git.md` says."""
    migrated(repository)
    other = repository.clone("clone")
    other.install("--mode", "filter")
    other.onnxtext("git", "checkout")
    return other


def test_commits_before_the_attributes_can_be_checked_out(clone: Repository) -> None:
    clone.unchanged()
    for place in ("feature", "main", "main~1", "main"):
        clone.git("checkout", "-q", place)
        clone.unchanged()
        assert clone.read("model.onnx") == (
            edited(("a = Relu", "a = Elu")) if place == "feature" else binary()
        )
    assert clone.onnxtext("git", "status").status == 0


@pytest.mark.parametrize("place", ["repository", "clone"])
def test_a_branch_from_before_the_attributes_merges(
    repository: Repository, clone: Repository, place: str
) -> None:
    here = repository if place == "repository" else clone
    here.commit("edit", model=edited(("c = Sigmoid", "c = Tanh")))
    here.git("checkout", "-q", "feature")
    here.git("merge", "-q", "-m", "merge", "main")
    assert here.read("model.onnx") == edited(("a = Relu", "a = Elu"), ("c = Sigmoid", "c = Tanh"))
    here.unchanged()


def test_uninstall_removes_the_attributes_of_both_files(repository: Repository) -> None:
    migrated(repository)
    info = repository.path / ".git/info/attributes"
    assert b"merge=onnxtext" in info.read_bytes()
    assert b"filter" not in info.read_bytes()
    repository.onnxtext("git", "uninstall")
    assert not info.exists() or b"onnxtext" not in info.read_bytes()
    assert not (repository.path / ".gitattributes").exists()
