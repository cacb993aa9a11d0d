# SPDX-License-Identifier: Apache-2.0
"""Merges, rebases and cherry-picks with real git, in each mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import onnxtext
from onnxtext.git.filter_comment import NOTE
from tests.git.repository import TEXT, Repository, binary, create, edited
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

Change = tuple[str, str]
TANH: Change = ("b = Tanh (a)", "b = Softsign (a)")
NEG: Change = ("d = Neg (c)", "d = Identity (c)")
NEAR: Change = ("c = Sigmoid (b)", "c = HardSigmoid (b)")
INSERT: Change = ("  y = Exp (e)", "  y = Exp (e)\n  z = Log (x)")


@pytest.fixture(params=["textconv", "filter", "source"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Team:
    """A repository in each mode."""
    repository = create(tmp_path)
    mode = str(request.param)
    repository.install("--mode", mode, "--attributes", ".gitattributes")
    return Team(repository, mode)


class Team:
    """A repository with two branches that have changed the same model."""

    def __init__(self, repository: Repository, mode: str) -> None:
        self.repository, self.mode = repository, mode
        self.name = "m.onnxtxt" if mode == "source" else "m.onnx"

    def write(self, text: str) -> None:
        self.repository.write(self.name, text.encode() if self.mode == "source" else binary(text))

    def read(self) -> str:
        data = self.repository.read(self.name)
        return data.decode() if self.mode == "source" else onnxtext.from_binary(data)

    def commit(self, message: str, text: str) -> None:
        self.write(text)
        self.repository.git("add", "-A")
        self.repository.git("commit", "-q", "-m", message)

    def branches(self, ours: str, theirs: str, base: str = TEXT) -> None:
        self.commit("base", base)
        self.repository.git("checkout", "-q", "-b", "theirs")
        self.commit("theirs", theirs)
        self.repository.git("checkout", "-q", "main")
        self.commit("ours", ours)


def text(*changes: Change) -> str:
    return onnxtext.from_binary(edited(*changes))


def moved() -> tuple[str, str]:
    """A text, and the text with independent nodes in another order."""
    base = TEXT.replace("  y = Exp (e)", "  y = Exp (e)\n  p = Log (x)\n  q = Sqrt (x)")
    return base, base.replace("  p = Log (x)\n", "").replace(
        "  a = Relu (x)", "  p = Log (x)\n  a = Relu (x)"
    )


WAYS: dict[str, Callable[[Repository], object]] = {
    "merge": lambda repository: repository.git("merge", "-q", "--no-edit", "theirs"),
    "rebase": lambda repository: repository.git("rebase", "-q", "theirs"),
    "cherry-pick": lambda repository: repository.git("cherry-pick", "theirs"),
}


@pytest.mark.parametrize("way", sampled(WAYS, 2))
def test_different_nodes_merge(team: Team, way: str) -> None:
    team.branches(text(TANH), text(NEG))
    WAYS[way](team.repository)
    assert team.read() == text(TANH, NEG)
    team.repository.unchanged()
    assert team.repository.onnxtext("git", "verify").status == 0


def test_neighboring_nodes_merge(team: Team) -> None:
    """These conflict for git: the lines are next to each other."""
    team.branches(text(TANH), text(NEAR))
    team.repository.git("merge", "-q", "--no-edit", "theirs")
    assert team.read() == text(TANH, NEAR)


def test_reordering_and_editing_merge(team: Team) -> None:
    base, reordered = moved()
    team.branches(reordered, base.replace("p = Log (x)", "p = Abs (x)"), base)
    team.repository.git("merge", "-q", "--no-edit", "theirs")
    assert team.read() == reordered.replace("p = Log (x)", "p = Abs (x)")


def test_the_same_node_is_a_conflict_that_can_be_resolved(team: Team) -> None:
    team.branches(text(TANH, NEG), text(("b = Tanh (a)", "b = Elu (a)"), INSERT))
    result = team.repository.git("merge", "--no-edit", "theirs", check=False)
    assert result.status == 1
    assert f"CONFLICT (content): Merge conflict in {team.name}" in result.text
    shown = team.repository.read(team.name).decode()
    lines = shown.splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith("<<<<<<< "))
    end = next(index for index, line in enumerate(lines) if line.startswith(">>>>>>> "))
    conflict = lines[begin : end + 1]
    assert "  b = Softsign (a)" in conflict
    assert "  b = Elu (a)" in conflict
    assert end - begin <= 6
    assert "  d = Identity (c)" in lines
    assert "  z = Log (x)" in lines
    assert team.repository.git("status", "--porcelain").text == f"UU {team.name}\n"
    # Choosing one side resolves the conflict.
    resolved = "\n".join([*lines[:begin], "  b = Elu (a)", *lines[end + 1 :]]) + "\n"
    note = NOTE.decode() if team.mode == "filter" else ""
    assert resolved == note + text(("b = Tanh (a)", "b = Elu (a)"), NEG, INSERT)
    finish(team, resolved)
    assert team.read() == resolved.removeprefix(note)
    team.repository.unchanged()
    assert team.repository.onnxtext("git", "verify").status == 0


def finish(team: Team, resolved: str) -> None:
    """The steps of docs/git.md after a conflict."""
    repository = team.repository
    repository.write(team.name, resolved)
    if team.mode == "textconv":
        repository.onnxtext("to-binary", "--no-check", "m.onnx", "-o", "resolved.onnx")
        repository.run("mv", "resolved.onnx", "m.onnx")
    repository.git("add", team.name)
    repository.git("commit", "-q", "--no-edit")
    if team.mode == "filter":
        repository.onnxtext("git", "checkout")


@pytest.mark.parametrize("way", sampled(WAYS, 2))
def test_abort_restores_everything(team: Team, way: str) -> None:
    team.branches(text(TANH), text(("b = Tanh (a)", "b = Elu (a)")))
    words = ["--no-edit"] if way == "merge" else []
    assert team.repository.git(way, *words, "theirs", check=False).status == 1
    assert b"<<<<<<<" in team.repository.read(team.name)
    team.repository.git(way, "--abort")
    assert team.read() == text(TANH)
    team.repository.unchanged()


def test_deleting_and_editing_the_file_conflict(team: Team) -> None:
    team.branches(text(TANH), text(NEG))
    team.repository.git("checkout", "-q", "theirs")
    team.repository.git("rm", "-q", team.name)
    team.repository.git("commit", "-q", "-m", "gone")
    team.repository.git("checkout", "-q", "main")
    result = team.repository.git("merge", "--no-edit", "theirs", check=False)
    assert "CONFLICT (modify/delete)" in result.text
    assert team.read() == text(TANH)
    team.repository.git("merge", "--abort")
    assert team.read() == text(TANH)


def test_criss_cross_merges_have_one_conflict(team: Team) -> None:
    """Two common ancestors whose own merge is a conflict."""
    repository = team.repository
    team.branches(text(TANH), text(("b = Tanh (a)", "b = Elu (a)")))
    repository.git("branch", "first")
    for branch, other in (("main", "theirs"), ("theirs", "first")):
        repository.git("checkout", "-q", branch)
        assert repository.git("merge", "--no-edit", other, check=False).status == 1
        both = {"main": TANH, "theirs": ("b = Tanh (a)", "b = Elu (a)")}[branch]
        finish(team, text(both))
    team.commit("more", text(("b = Tanh (a)", "b = Elu (a)"), NEG))
    repository.git("checkout", "-q", "main")
    result = repository.git("merge", "--no-edit", "theirs", check=False)
    assert result.status == 1
    shown = repository.read(team.name).decode()
    assert shown.count("<<<<<<<") == 1
    assert "  d = Identity (c)\n" in shown
    repository.git("merge", "--abort")
    assert team.read() == text(TANH)


def test_git_merges_lines_without_the_driver(filtered: Repository) -> None:
    Team(filtered, "filter").branches(text(TANH), text(NEG))
    filtered.git("config", "--remove-section", "merge.onnxtext")
    filtered.git("merge", "-q", "--no-edit", "theirs")
    assert filtered.read("m.onnx") == edited(TANH, NEG)


@pytest.mark.parametrize("driver", ["/nowhere/python", "exit 130;"])
def test_a_driver_that_cannot_be_run_loses_nothing(filtered: Repository, driver: str) -> None:
    team = Team(filtered, "filter")
    team.branches(text(TANH), text(NEG))
    words = f"{driver} -m onnxtext git merge-driver %O %A %B %L %P"
    filtered.git("config", "merge.onnxtext.driver", words)
    result = filtered.git("merge", "--no-edit", "theirs", check=False)
    assert result.status in (1, 128)
    assert filtered.read("m.onnx") == edited(TANH)
    filtered.git("reset", "-q", "--hard")
    assert filtered.read("m.onnx") == edited(TANH)
    filtered.install("--mode", "filter")
    filtered.git("merge", "-q", "--no-edit", "theirs")
    assert filtered.read("m.onnx") == edited(TANH, NEG)


def test_a_conflict_without_the_driver_passes_the_filter(filtered: Repository) -> None:
    """Git merges by lines: smudge gets text with markers, and clean accepts that text."""
    team = Team(filtered, "filter")
    team.branches(text(TANH), text(("b = Tanh (a)", "b = Elu (a)")))
    filtered.git("config", "--remove-section", "merge.onnxtext")
    result = filtered.git("merge", "--no-edit", "theirs", check=False)
    assert result.status == 1
    assert "m.onnx: checked out as text: it has conflict markers" in result.err
    assert b"<<<<<<< HEAD\n  b = Softsign (a)\n=======\n" in filtered.read("m.onnx")
    assert filtered.git("diff").status == 0
    filtered.git("merge", "--abort")
    assert filtered.read("m.onnx") == edited(TANH)


def driver(repository: Repository, *words: str) -> tuple[int, str]:
    result = repository.onnxtext("git", "merge-driver", *words, check=False)
    return result.status, result.err


def test_the_driver_merges_files(repository: Repository) -> None:
    for name, content in (("o", text()), ("a", text(TANH)), ("b", text(NEG))):
        repository.write(name, content)
    assert driver(repository, "o", "a", "b", "7", "dir/m.onnx", "%S", "%X", "%Y") == (0, "")
    assert repository.read("a").decode() == text(TANH, NEG)
    repository.write("b", text(("b = Tanh (a)", "b = Elu (a)")))
    status, _ = driver(repository, "o", "a", "b", "9", "m.onnx", "old", "mine", "your branch")
    assert status == 1
    shown = repository.read("a").decode()
    assert "<<<<<<<<< mine\n" in shown
    assert ">>>>>>>>> your branch\n" in shown
    before = repository.read("a")
    assert driver(repository, "o", "a", "missing")[0] == 129
    assert repository.read("a") == before
    repository.write("b", b"\0 no model")
    status, err = driver(repository, "o", "a", "b", "7", "m.onnx", "base", "HEAD", "feature")
    assert (status, repository.read("a")) == (1, before)
    assert "m.onnx: a version cannot be read (feature: " in err
    assert "our version is unchanged" in err
    assert sorted(path.name for path in repository.path.iterdir()) == [".git", "a", "b", "o"]


def test_names_of_files_are_not_options(filtered: Repository) -> None:
    """As an option, `-h` printed the help with status 0, and the merge lost the other side."""
    stems = ("-h", "--help")
    filtered.commit("base", **dict.fromkeys(stems, binary()))
    filtered.git("checkout", "-q", "-b", "theirs")
    filtered.commit("theirs", **dict.fromkeys(stems, edited(TANH)))
    filtered.git("checkout", "-q", "main")
    filtered.commit("ours", **dict.fromkeys(stems, edited(NEG)))
    filtered.git("merge", "-q", "--no-edit", "theirs")
    for stem in stems:
        assert filtered.read(f"{stem}.onnx") == edited(TANH, NEG)
        filtered.write(f"{stem}.onnx", binary())
    filtered.install("--mode", "filter", "--structural")
    for command in (["diff"], ["difftool", "-y", "-t", "onnxtext"]):
        result = filtered.git(*command)
        assert result.text.count("+d = Neg (c)") == len(stems)
        assert result.err == ""


def test_both_orders_give_the_same_model(team: Team) -> None:
    """One side adds a doc string and a node, the other a label and another node."""
    ours = text(INSERT, ("b = Tanh (a)", '@doc("d")\n  b = Tanh (a)'))
    theirs = text(("  y = Exp (e)", "  y = Exp (e)\n  w = Abs (x)"), ("b = Tanh", "[n] b = Tanh"))
    team.branches(ours, theirs)
    team.repository.git("branch", "mine")
    team.repository.git("merge", "-q", "--no-edit", "theirs")
    merged = team.read()
    team.repository.git("checkout", "-q", "theirs")
    team.repository.git("merge", "-q", "--no-edit", "mine")
    assert team.read() == merged
    assert all(word in merged for word in ('@doc("d")', "[n]", "z = Log (x)", "w = Abs (x)"))
