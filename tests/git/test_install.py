# SPDX-License-Identifier: Apache-2.0
"""install and uninstall are idempotent and reversible, and keep foreign settings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnxtext.git.filter_comment import NOTE
from onnxtext.git.gitattributes import AttributesFile
from onnxtext.git.install import install
from onnxtext.git.modes import ATTRIBUTES
from tests.git.repository import TEXT, Repository, binary, create, environment

pytestmark = pytest.mark.thorough

MODES = ["textconv", "filter", "source"]
FOREIGN = """\
# mine; keep it
[filter "lfs"]
\tprocess = git-lfs filter-process
\trequired = true
[diff "onnxtext"]
    wordRegex = [^[:space:]]+   ; a setting that install does not know
[merge "other"]
\tdriver = true
"""


def config(repository: Repository) -> bytes:
    return (repository.path / ".git/config").read_bytes()


def info(repository: Repository) -> Path:
    return repository.path / ".git/info/attributes"


def snapshot(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
def test_install_and_uninstall_leave_no_trace(repository: Repository, mode: str) -> None:
    with (repository.path / ".git/config").open("a") as file:
        file.write(FOREIGN)
    info(repository).write_bytes(b"*.py text\r\n*.zip -diff")
    before = snapshot(repository.path)
    first = repository.onnxtext("git", "install", "--mode", mode).text
    assert "set onnxtext: mode\n" in first
    installed = snapshot(repository.path)
    assert installed != before
    assert FOREIGN.encode() not in config(repository) or mode == "source"
    again = repository.onnxtext("git", "install", "--mode", mode).text
    assert again.splitlines()[0] == "already installed"
    assert snapshot(repository.path) == installed
    repository.onnxtext("git", "uninstall")
    assert snapshot(repository.path) == before
    assert repository.onnxtext("git", "uninstall").text == "nothing is installed\n"
    assert snapshot(repository.path) == before


def test_modes_replace_or_extend_each_other(repository: Repository) -> None:
    def modes() -> str:
        return repository.git("config", "onnxtext.mode").text.strip()

    repository.onnxtext("git", "install")
    assert modes() == "textconv"
    textconv = config(repository), info(repository).read_bytes()
    repository.onnxtext("git", "install", "--mode", "filter")
    assert modes() == "filter"
    assert b"binary = true" not in config(repository)
    repository.onnxtext("git", "install", "--mode", "source")
    assert modes() == "filter source"
    assert b"filter=onnxtext" in info(repository).read_bytes()
    assert b"*.onnxtxt" in info(repository).read_bytes()
    repository.onnxtext("git", "uninstall", "--mode", "filter")
    assert modes() == "source"
    assert b"filter" not in config(repository).replace(b"filemode", b"")
    repository.onnxtext("git", "install")
    repository.onnxtext("git", "uninstall", "--mode", "source")
    assert sorted(config(repository).splitlines()) == sorted(textconv[0].splitlines())
    assert info(repository).read_bytes() == textconv[1]


def test_install_without_a_mode_keeps_the_filter(repository: Repository) -> None:
    repository.onnxtext("git", "install", "--mode", "filter")
    before = snapshot(repository.path)
    assert repository.onnxtext("git", "install").text.startswith("already installed\n")
    assert snapshot(repository.path) == before
    repository.onnxtext("git", "install", "--structural")
    assert repository.git("config", "onnxtext.mode").text == "filter\n"
    repository.onnxtext("git", "install", "--mode", "textconv")
    assert repository.git("config", "onnxtext.mode").text == "textconv\n"


def test_install_without_a_mode_keeps_the_filter_of_the_user(repository: Repository) -> None:
    """textconv would let git show the texts that the filter stores as binaries."""
    repository.onnxtext("git", "install", "--global", "--mode", "filter")
    repository.onnxtext("git", "install")
    assert repository.git("config", "--local", "onnxtext.mode").text == "filter\n"


def test_install_without_a_mode_completes_the_filter_of_a_clone(repository: Repository) -> None:
    repository.write(".gitattributes", b"*.onnx filter=onnxtext\n")
    repository.onnxtext("git", "install")
    assert repository.git("config", "onnxtext.mode").text == "filter\n"
    assert repository.onnxtext("git", "status", "--mode", "filter").status == 0


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_texts_can_be_merged_after_any_installation(repository: Repository, mode: str) -> None:
    repository.onnxtext("git", "install", "--mode", mode)
    shown = repository.git("check-attr", "text", "eol", "merge", "diff", "--", "m.onnxtxt").text
    values = [line.rpartition(": ")[2] for line in shown.splitlines()]
    assert values == ["unspecified", "unspecified", "onnxtext", "onnxtxt"]
    for branch, old, new in (("main", "", ""), ("one", "Relu", "Elu"), ("two", "Tanh", "Erf")):
        if branch != "main":
            repository.git("checkout", "-q", "-b", branch, "main")
        repository.write("m.onnxtxt", TEXT.replace(old, new).encode() if old else TEXT.encode())
        repository.git("add", ".")
        repository.git("commit", "-q", "-m", branch)
    repository.git("merge", "-q", "--no-edit", "one")
    merged = TEXT.replace("Relu", "Elu").replace("Tanh", "Erf")
    assert repository.read("m.onnxtxt") == merged.encode()


def test_global_installation_applies_to_every_repository(
    tmp_path: Path, repository: Repository
) -> None:
    elsewhere = Repository(tmp_path, repository.home)  # no repository
    before = snapshot(repository.home)
    assert elsewhere.onnxtext("git", "install", check=False).status == 2
    elsewhere.onnxtext("git", "install", "--global")
    attributes = repository.home / ".config/git/attributes"
    assert b"*.onnx" in attributes.read_bytes()
    assert elsewhere.onnxtext("git", "status", "--global").status == 0
    assert repository.onnxtext("git", "status").status == 0
    assert repository.onnxtext("git", "status", "--local", check=False).status == 1
    elsewhere.onnxtext("git", "uninstall", "--global")
    assert snapshot(repository.home) == before


@pytest.mark.parametrize("way", ["core.attributesFile", "XDG_CONFIG_HOME"])
def test_global_attributes_are_where_git_looks(repository: Repository, way: str) -> None:
    if way == "core.attributesFile":
        repository.git("config", "--global", way, "~/my attributes")
        place = repository.home / "my attributes"
    else:
        repository.more[way] = str(repository.home / "xdg")
        place = repository.home / "xdg/git/attributes"
    repository.onnxtext("git", "install", "--global", "--mode", "filter")
    assert b"filter=onnxtext" in place.read_bytes()
    assert repository.onnxtext("git", "status", "--mode", "filter").status == 0
    repository.onnxtext("git", "uninstall", "--global")
    assert not place.exists()


def test_shared_attributes_are_written_and_moved(repository: Repository) -> None:
    repository.write(".gitattributes", b"*.py text")
    repository.onnxtext("git", "install", "--mode", "filter", "--attributes", ".gitattributes")
    assert b"*.py text\n# onnxtext" in repository.read(".gitattributes")
    assert b"filter=" not in info(repository).read_bytes()
    assert b"merge=onnxtext" in info(repository).read_bytes()
    assert repository.onnxtext("git", "status").status == 0
    # Subdirectories use the same attributes file; choosing another file moves the lines there.
    below = Repository(repository.path / "sub", repository.home)
    below.path.mkdir()
    below.onnxtext("git", "install", "--mode", "source")
    assert b"*.onnxtxt" in repository.read(".gitattributes")
    below.onnxtext("git", "install", "--mode", "filter", "--attributes", "../.git/info/attributes")
    assert repository.read(".gitattributes") == b"*.py text"
    repository.onnxtext("git", "uninstall")
    assert not info(repository).exists()


def test_shared_attributes_are_removed_only_on_request(filtered: Repository) -> None:
    filtered.commit("models", m=binary())
    clone = filtered.clone("clone")
    left = "left .gitattributes, which has lines of onnxtext: `onnxtext git uninstall --attributes "
    assert clone.onnxtext("git", "uninstall").text == f"{left}.gitattributes` removes them\n"
    assert clone.read(".gitattributes") == filtered.read(".gitattributes")
    clone.onnxtext("git", "uninstall", "--attributes", ".gitattributes")
    assert not (clone.path / ".gitattributes").exists()
    assert clone.onnxtext("git", "uninstall").text == "nothing is installed\n"


def test_uninstall_names_the_shared_attributes_of_another_worktree(filtered: Repository) -> None:
    filtered.commit("models", m=binary())
    filtered.git("worktree", "add", "-q", "-b", "side", "../side tree")
    tree = Repository(filtered.path.parent / "side tree", filtered.home)
    assert "left " not in filtered.onnxtext("git", "uninstall").text
    (below := tree.path / "sub").mkdir()
    for place in (tree.path, below):
        said = Repository(place, filtered.home).onnxtext("git", "uninstall").text
        assert said.startswith("left ")
        assert ".gitattributes, which has lines of onnxtext: " in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("filter.onnxtext.clean", "my-own-clean"),
        ("diff.onnxtext.textconv", "onnxtext from-binary --weights none -o -"),
        ("merge.onnxtext.name", "mine"),
    ],
)
def test_settings_of_others_are_not_replaced(repository: Repository, name: str, value: str) -> None:
    repository.git("config", name, value)
    before = snapshot(repository.path)
    result = repository.onnxtext("git", "install", "--mode", "filter", check=False)
    assert result.status == 2
    assert f"{name} is already set, but not by onnxtext: {value}" in result.err
    assert "Traceback" not in result.err
    assert snapshot(repository.path) == before
    repository.onnxtext("git", "uninstall")
    assert snapshot(repository.path) == before


def test_only_values_of_others_are_called_so(repository: Repository) -> None:
    repository.onnxtext("git", "install")
    name = "merge.onnxtext.driver"
    ours = repository.git("config", name).text.strip()
    repository.git("config", "--replace-all", name, "othertool %O")
    repository.git("config", "--add", name, ours)
    result = repository.onnxtext("git", "install", check=False)
    assert f"{name} is already set, but not by onnxtext: othertool %O" in result.err
    kept = f"left {name}, which was not set by onnxtext: othertool %O"
    assert kept in repository.onnxtext("git", "uninstall").text


def test_the_status_names_the_files_with_the_attributes(filtered: Repository) -> None:
    """`.git/info/attributes` has only a part of the line for binaries in `.gitattributes`."""
    filtered.git("config", "--unset", "onnxtext.attributes")
    lines = filtered.onnxtext("git", "status", "--local").text.splitlines()
    assert lines[0] == "textconv: replaced by filter"
    (state,) = [line for line in lines if "ok  attributes: " in line]
    assert state.endswith("info/attributes and " + str(filtered.path / ".gitattributes"))
    info(filtered).write_text("*.onnx diff=onnxtext merge=onnxtext\n")
    lines = filtered.onnxtext("git", "status", "--local").text.splitlines()
    assert f"  ok  attributes: in {filtered.path / '.gitattributes'}" in lines


def test_committed_lines_of_an_older_version_keep_the_filter_out_of_the_clone(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The filter must not convert the models of commits that have no `.gitattributes`."""
    old = ATTRIBUTES["filter"][:1]  # older versions wrote no lines for texts
    content = AttributesFile(None).with_lines(list(old))
    assert content is not None
    (repository.path / ".gitattributes").write_bytes(content)
    monkeypatch.chdir(repository.path)
    install("local", "filter")
    install("local", "source")
    lines = AttributesFile(info(repository).read_bytes()).lines()
    assert lines == [
        "*.onnx diff=onnxtext merge=onnxtext",
        *ATTRIBUTES["filter"][1:],
        *ATTRIBUTES["source"],
    ]
    assert (repository.path / ".gitattributes").read_bytes() == content


def test_attributes_that_cannot_be_read_are_an_error(repository: Repository) -> None:
    info(repository).mkdir()
    for words in (["install"], ["uninstall"], ["status", "--local"]):
        result = repository.onnxtext("git", *words, check=False)
        assert result.status == 2
        assert f"error[cannot-read]: cannot read {info(repository)}: " in result.err


def test_replaced_commands_are_kept(repository: Repository) -> None:
    repository.onnxtext("git", "install")
    repository.git("config", "diff.onnxtext.textconv", "my-tool")
    said = repository.onnxtext("git", "uninstall").text
    assert "left diff.onnxtext.textconv, which was not set by onnxtext: my-tool" in said
    assert repository.git("config", "diff.onnxtext.textconv").text == "my-tool\n"


def test_another_filter_is_not_replaced(repository: Repository) -> None:
    repository.write(".gitattributes", "*.onnx filter=lfs diff=lfs merge=lfs -text\n")
    before = snapshot(repository.path)
    result = repository.onnxtext("git", "install", "--mode", "filter", check=False)
    assert result.status == 2
    assert "*.onnx has another filter here: lfs" in result.err
    assert snapshot(repository.path) == before
    repository.onnxtext("git", "install", "--mode", "textconv")
    assert repository.git("check-attr", "filter", "m.onnx").text == "m.onnx: filter: lfs\n"
    assert repository.onnxtext("git", "status", "--mode", "textconv").status == 0


def test_a_damaged_block_is_not_changed(repository: Repository) -> None:
    info(repository).write_bytes(b"# onnxtext git install: begin\n*.x y\n")
    before = snapshot(repository.path)
    result = repository.onnxtext("git", "install", check=False)
    assert result.status == 2
    assert "is damaged" in result.err
    assert snapshot(repository.path) == before


def test_worktrees_share_the_configuration(repository: Repository) -> None:
    repository.commit("a model", m=binary())
    repository.onnxtext("git", "install", "--mode", "filter")
    repository.git("worktree", "add", "-q", "-b", "side", "../side tree")
    tree = Repository(repository.path.parent / "side tree", repository.home)
    assert tree.onnxtext("git", "status").status == 0
    assert tree.onnxtext("git", "install", "--mode", "filter").text.startswith("already installed")
    tree.commit("in the tree", other=binary())
    assert tree.blob("other.onnx").startswith(NOTE + b"<\n  onnxtext: 1")
    tree.onnxtext("git", "uninstall")
    assert repository.onnxtext("git", "status", check=False).status == 1


def test_bare_repositories_can_be_configured(tmp_path: Path) -> None:
    bare = create(tmp_path, "--bare")
    bare.onnxtext("git", "install")
    assert b"*.onnx" in (bare.path / "info/attributes").read_bytes()
    assert bare.onnxtext("git", "status").status == 0
    assert bare.onnxtext("git", "verify", check=False).status == 2
    bare.onnxtext("git", "uninstall")
    assert not (bare.path / "info/attributes").exists()


def test_submodules_are_separate_repositories(filtered: Repository, tmp_path: Path) -> None:
    filtered.commit("a model", m=binary())
    (tmp_path / "outer").mkdir()
    outer = create(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", filtered.path.as_uri(), "inner")
    inner = Repository(outer.path / "inner", outer.home)
    assert inner.read("m.onnx").startswith(NOTE)  # not configured there
    inner.onnxtext("git", "install", "--mode", "filter")
    assert inner.onnxtext("git", "status").status == 0
    assert outer.onnxtext("git", "status", check=False).status == 1
    outer.git("-c", "core.commentChar=;", "commit", "-q", "-m", "a submodule")
    assert outer.onnxtext("git", "verify").text == "0 models, 0 with problems\n"


def test_status_names_commands_that_do_not_run(repository: Repository) -> None:
    assert repository.onnxtext("git", "status", check=False).status == 1
    repository.onnxtext("git", "install", "--mode", "filter")
    result = repository.onnxtext("git", "status")
    assert result.status == 0
    assert "filter: works" in result.text
    assert repository.onnxtext("git", "status", "--mode", "textconv", check=False).status == 1
    for name in ("process", "clean", "smudge"):
        command = repository.git("config", f"filter.onnxtext.{name}").text.strip()
        gone = command.replace(sys.executable, "/nowhere/bin/python")
        repository.git("config", f"filter.onnxtext.{name}", gone)
    result = repository.onnxtext("git", "status", check=False)
    assert result.status == 1
    assert "filter: incomplete" in result.text
    assert "NO  filter.onnxtext.process: cannot be run: /nowhere/bin/python" in result.text
    repository.onnxtext("git", "install", "--mode", "filter")  # repairs it
    assert repository.onnxtext("git", "status").status == 0


def test_status_reports_a_missing_filter(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    clone = filtered.clone("clone")
    result = clone.onnxtext("git", "status", check=False)
    assert result.status == 1
    assert "filter: incomplete" in result.text
    assert "NO  filter.onnxtext.process: not set" in result.text


def test_the_command_runs_from_a_directory_with_blanks_and_quotes(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s a "venv" $HOME'
    site = subprocess.run(
        [sys.executable, "-c", "import click; print(click.__path__[0])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", odd], check=True)
    (packages,) = odd.glob("lib/python*/site-packages")
    root = Path(__file__).resolve().parents[2]
    (packages / "here.pth").write_text(f"{Path(site).parent}\n{root}\n")
    repository = create(tmp_path)
    repository.run(odd / "bin/python", "-m", "onnxtext", "git", "install", "--mode", "filter")
    assert repository.onnxtext("git", "status").status == 0
    repository.commit("a model", m=binary())
    assert repository.blob("m.onnx").startswith(NOTE + b"<\n  onnxtext: 1")
    shutil.rmtree(odd)
    repository.touch()
    result = repository.git("status", "--porcelain")
    assert "onnxtext cannot run" in result.err
    assert repository.read("m.onnx") == binary()


def test_code_in_the_repository_is_not_run(filtered: Repository) -> None:
    """Git runs the filter at the top of a working tree with untrusted content."""
    marker = filtered.path / "executed"
    code = f"open({str(marker)!r}, 'w').close()\n"
    for name in ("onnxtext/__init__.py", "onnxtext/__main__.py", "click.py", "runpy.py"):
        filtered.write(name, code)
    filtered.commit("a trap", m=binary())
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    filtered.git("show", "--stat", "HEAD")
    filtered.git("log", "-p")
    assert filtered.read("m.onnx") == binary()
    assert not marker.exists()


def test_missing_git_is_an_error(repository: Repository) -> None:
    repository.more["PATH"] = str(repository.home)
    done = subprocess.run(
        [sys.executable, "-m", "onnxtext", "git", "status"],
        cwd=repository.path,
        env=environment(repository.home, PATH=str(repository.home)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "git cannot be run" in done.stderr
    assert "Traceback" not in done.stderr


# Fails at the N-th change of the configuration; if M is 1, at all later changes, too.
FAILING_GIT = """\
#!/bin/sh
case "$*" in *--replace-all*|*--unset-all*|*--add*|update-ref*)
  echo >>"$0.count"
  count=$(wc -l <"$0.count")
  if [ $count = N ] || [ $count -gt N -a M = 1 ]; then echo "fatal: disk full" >&2; exit 4; fi;;
esac
exec GIT "$@"
"""


def make_failing(repository: Repository, change: int, *, later: bool = False) -> None:
    """Let git fail at a change of the configuration; with `later`, at all later changes, too."""
    directory = repository.home / "bin"
    directory.mkdir(exist_ok=True)
    (directory / "git.count").write_bytes(b"")
    text = FAILING_GIT.replace("GIT", shutil.which("git") or "").replace("N", str(change))
    (directory / "git").write_text(text.replace("M", str(int(later))))
    (directory / "git").chmod(0o755)
    repository.more["PATH"] = f"{directory}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.skipif(os.name != "posix", reason="git is a shell script here")
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_failure_of_git_leaves_nothing_half_done(repository: Repository, verb: str) -> None:
    repository.onnxtext("git", "install", "--mode", "textconv")
    repository.git("config", "--add", "onnxtext.mode", "source")
    before = settings(repository)
    words = ["install", "--mode", "filter"] if verb == "install" else ["uninstall"]
    for change in (1, 2, 6):
        make_failing(repository, change)
        result = repository.onnxtext("git", *words, check=False)
        assert result.status == 2
        assert "disk full" in result.err
        assert settings(repository) == before
    make_failing(repository, 3, later=True)
    result = repository.onnxtext("git", *words, check=False)
    assert "; undoing the changes has failed, too: git config: disk full" in result.err
    assert settings(repository) != before
    make_failing(repository, 100)
    repository.onnxtext("git", *words)


def settings(repository: Repository) -> tuple[list[str], bytes]:
    """Return the settings in the configuration, sorted, and the attributes."""
    return sorted(repository.git("config", "--list", "--local").text.splitlines()), (
        info(repository).read_bytes()
    )


def test_settings_are_restored_if_attributes_cannot_be_written(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_at_second(path: Path, content: bytes) -> None:
        if path == info(repository):
            raise OSError(28, "No space left on device", str(path))
        path.write_bytes(content)

    before = snapshot(repository.path)
    monkeypatch.chdir(repository.path)
    monkeypatch.setattr("onnxtext.git.gitattributes.write_atomically", fail_at_second)
    with pytest.raises(OSError, match="No space"):
        install("local", "textconv", file=repository.path / ".gitattributes")
    after = snapshot(repository.path)
    assert after.keys() == before.keys()
    assert b"onnxtext" not in after[".git/config"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are Posix's")
def test_a_symbolic_link_to_attributes_is_kept(repository: Repository) -> None:
    real = repository.home / "attributes"
    real.write_bytes(b"*.c text\n")
    info(repository).symlink_to(real)
    repository.onnxtext("git", "install")
    assert info(repository).is_symlink()
    assert b"*.onnx" in real.read_bytes()
    repository.onnxtext("git", "uninstall")
    assert real.read_bytes() == b"*.c text\n"


def test_later_installations_in_tests_need_no_templates_of_git(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        repository = create(tmp_path / name, "--template=")
        repository.install()
        assert b"*.onnx" in info(repository).read_bytes()


def test_attributes_outside_of_the_worktree_are_not_written(repository: Repository) -> None:
    outside = repository.home / "outside"
    outside.mkdir()
    (outside / "attributes").write_text("of somebody else\n")
    (repository.path / ".gitattributes").symlink_to(outside / "attributes")
    (repository.path / "sub").symlink_to(outside)
    for name in (".gitattributes", "sub/attributes"):
        result = repository.onnxtext("git", "install", "--attributes", name, check=False)
        assert result.status == 2
        assert "a link to outside of the working tree" in result.err
    assert (outside / "attributes").read_text() == "of somebody else\n"
    assert repository.onnxtext("git", "status", check=False).text.count("not installed") == 3
