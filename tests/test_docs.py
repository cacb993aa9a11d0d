# SPDX-License-Identifier: Apache-2.0
"""All pages of documentation: their commands run, and their links and paths are valid.

A fenced block `sh` is executed here, in a copy of the repository. `sh ci` is executed by `.ci/run`.
`sh by-hand` is not executed: it may publish something. `tests/git/test_docs.py` executes `sh run`.
`ONNXTEXT_BLESS=1` copies the repository's address from `pyproject.toml` to pages and extension.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
import yaml

import dev
from tests.corpus import REPOSITORY
from tests.pages import PAGES, blocks, infos, prose, read

# ---- Commands -----------------------------------------------------------------------------------

EXECUTED = ("README.md", "CONTRIBUTING.md", "docs/commands.md", "docs/language.md")
"""Pages whose blocks `sh` are executed here."""

OTHERS = {
    "docs/comparison.md": {"sh edit"},  # tests/test_comparison_page.py
    "benchmarks/README.md": {"sh"},  # many minutes; tests/test_benchmarks.py runs the smallest
    "docs/git.md": {"sh", "sh run", "sh run exit 1"},  # tests/git/test_docs.py
}
"""Pages with blocks of commands that are not executed here."""


SITE = "python3 dev.py docs --site\n"
TESTS = re.compile(r"^python3 dev\.py test ((?!.*--collect-only).*)$", re.MULTILINE)
"""Commands that run tests, and their arguments."""


def ci_commands() -> set[str]:
    """Return the routines of `dev.py` that `.ci/run` runs."""
    return set(re.findall(r"python3 dev\.py [a-z -]*[a-z]", read(".ci/run")))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A copy of the repository, and an environment with our `python3` and `onnxtext`."""
    home = tmp_path_factory.mktemp("docs")
    copy = home / "onnxtext"
    ignored = shutil.ignore_patterns(
        *(".git", ".venv", ".ci", "build", "dist", "node_modules", "__pycache__", ".*_cache"),
        *("onnxtext.vsix", ".hypothesis", ".work"),
    )
    shutil.copytree(REPOSITORY, copy, ignore=ignored, symlinks=True)
    tools, environment = home / "tools", home / "environment" / "bin"
    for directory in (tools, environment, copy / ".venv" / "bin"):
        directory.mkdir(parents=True)
        for name, words in (("python", ""), ("python3", ""), ("onnxtext", " -m onnxtext")):
            tool = directory / name
            run = f"PYTHONPATH={shlex.quote(str(copy))} exec {shlex.quote(sys.executable)}{words}"
            tool.write_text(f'#!/bin/sh\n{run} "$@"\n')
            tool.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    environ |= {"ONNXTEXT_VENV": str(environment.parent), "GIT_PAGER": "cat"}
    environ["PYTEST_ADDOPTS"] = "-n 0"
    for name in ("PYTEST_XDIST_WORKER", "ONNXTEXT_BLESS"):
        environ.pop(name, None)
    # The record that dev.py writes into an environment.
    note = "import dev; print(dev.fingerprint())"
    done = subprocess.run(
        ["python3", "-c", note], cwd=copy, env=environ, capture_output=True, text=True, check=True
    )
    state = {"extra": "dev", "sources": done.stdout.strip()}
    (environment.parent / "onnxtext-dev.json").write_text(json.dumps(state))
    return copy, environ


def execute(lines: str, place: Path, environ: dict[str, str]) -> str:
    """Run commands in a shell that exits on the first failure; return their output."""
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", lines],
        cwd=place,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{lines}\n{done.stdout}"
    return done.stdout


def test_every_block_of_commands_is_executed() -> None:
    for page in PAGES:
        if page in {"grammar/SPEC.md", "docs/diff.md"}:
            continue
        allowed = {"sh", "sh ci", "sh by-hand"} if page in EXECUTED else OTHERS.get(page, set())
        assert {info for info in infos(page) if info.startswith(("sh", "bash"))} <= allowed, page
    for page in EXECUTED:
        for block in blocks(page, "sh ci"):
            assert set(block.splitlines()) <= ci_commands(), page
        for block in blocks(page, "sh by-hand"):
            for line in block.splitlines():
                known = (
                    "git tag",
                    "git push",
                    "twine upload",
                    "npx vsce publish",
                    "git clone",
                    "pip install .",
                )
                assert line.startswith(known), line


def test_the_first_two_commands_run(shell: tuple[Path, dict[str, str]]) -> None:
    first, _, *rest = blocks("README.md", "sh")
    assert not rest
    shows, tests = first.splitlines()
    shown = execute(shows, *shell)
    assert "Back as text:\n" in shown
    assert "\niris (float[N, 4] flowers) => (" in shown
    assert re.search(r"^ok .*classifier\.onnx  L1 L3", shown, re.MULTILINE)
    assert {shows, tests} <= ci_commands()


@pytest.mark.thorough
def test_the_commands_for_pip_run(shell: tuple[Path, dict[str, str]]) -> None:
    _, block = blocks("README.md", "sh")
    make, install, verify, tests = block.splitlines()
    # These two need a network: dev.py does the same, and .ci/run runs it.
    assert make == shlex.join(["python3", *dev.VENV, ".venv"])
    assert install == shlex.join([".venv/bin/pip", *dev.INSTALL, ".[dev]"])
    assert execute(verify, *shell).startswith("ok examples/classifier.onnxtxt  L1 L3")
    assert tests == ".venv/bin/python -m pytest"
    execute(f"{tests} tests/wire/test_encoding_patch.py", *shell)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(blocks("CONTRIBUTING.md", "sh"))))
def test_the_commands_for_contributors_run(shell: tuple[Path, dict[str, str]], number: int) -> None:
    copy, _ = shell
    if not (copy / ".git").exists():
        execute("git init -q . && git add -A .", *shell)
    # `.ci/run` also builds the site: it runs `dev.py release`, which calls the same function.
    block = blocks("CONTRIBUTING.md", "sh")[number].replace(SITE, "")
    # `tests/test_benchmarks.py` measures with these options.
    block = block.replace("dev.py bench ", "dev.py bench --list ")
    execute(TESTS.sub("", block), *shell)


def test_the_tests_for_contributors_exist() -> None:
    """`.ci/run` runs all tests: those that CONTRIBUTING.md selects need only exist."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("-k", default="")
    parser.add_argument("--rest", "--all", action="store_true")
    words = [found for block in blocks("CONTRIBUTING.md", "sh") for found in TESTS.findall(block)]
    lines = [parser.parse_args(shlex.split(line)) for line in words]
    assert len(lines) > 5
    for line in lines:
        assert re.fullmatch(r"\w*", line.k)  # not an expression
        for path in (REPOSITORY / name for name in line.paths):
            tests = "" if path.is_dir() else path.read_text("utf-8")
            assert path.is_dir() or re.search(rf"^def test_.*{line.k}", tests, re.MULTILINE), line


@pytest.mark.thorough
def test_the_commands_for_git_run(tmp_path: Path, shell: tuple[Path, dict[str, str]]) -> None:
    (block,) = blocks("docs/commands.md", "sh")
    for line in block.splitlines():
        place = tmp_path / line.partition("#")[0].split()[-1]
        place.mkdir()
        execute("git init -q .", place, shell[1])
        shown = execute(f"{line}\n", place, {**shell[1], "HOME": str(tmp_path)})
        assert shown


@pytest.mark.thorough
def test_the_commands_about_weights_run(tmp_path: Path, shell: tuple[Path, dict[str, str]]) -> None:
    array = np.random.default_rng(1).standard_normal(400_000, dtype=np.float32)
    for name in ("model", "a", "b"):
        result = oh.make_model(oh.make_graph([], "g", [], [], [nh.from_array(array, name)]))
        onnx.save(result, tmp_path / f"{name}.onnx")
    (block,) = blocks("docs/language.md", "sh")
    lines = block.splitlines()
    assert len(lines) == 6
    for line in lines:
        words = line.partition("#")[0]
        assert words.startswith("onnxtext ")
        execute(f"{words} --force" if "binary" in words else words, tmp_path, shell[1])
    found = {path.name for path in tmp_path.iterdir()}
    assert {"model.weights", "weights", "model.safetensors", "model.onnx.data"} <= found
    assert len(list((tmp_path / "weights").iterdir())) == 1


# ---- dev.py -------------------------------------------------------------------------------------


def run_dev(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "dev.py", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_help_lists_every_command() -> None:
    done = run_dev("--help")
    assert done.returncode == 0
    listed = re.findall(r"^  (\w+)  +\w", dev.HELP, re.MULTILINE)
    assert listed == list(dev.COMMANDS)
    assert all(f"\n  {name} " in done.stdout for name in listed)
    for name in dev.DOCS:
        assert (REPOSITORY / name).is_file(), name
    for name in dev.BENCHMARKS:
        assert (REPOSITORY / "benchmarks" / f"{name}.py").is_file(), name


@pytest.mark.parametrize("words", [["nothing"], ["lint", "x"], ["release", "x"], ["setup", "x"]])
def test_wrong_usage_of_dev_py_is_status_2(words: list[str]) -> None:
    done = run_dev(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "dev.py: " in done.stderr


def test_golden_files_are_written_by_their_tests_alone() -> None:
    """Options without a path select among the tests that write golden files, not among all."""
    writers = dev.golden_tests([])
    assert "tests/diagnostics/test_messages.py" in writers
    assert "tests/laws/test_encoding.py" not in writers
    assert dev.golden_tests(["-k", "docs"]) == ["-k", "docs", *writers]
    for words in (["tests/merger"], ["tests/test_docs.py::test_links", "-n", "0"]):
        assert dev.golden_tests(words) == words


def test_dev_py_needs_only_the_standard_library() -> None:
    code = "import dev, sys; print([n for n in sys.modules if n.split('.')[0] == 'onnxtext'])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=REPOSITORY, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"


def test_a_release_needs_a_version_a_section_and_a_clean_tree(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=me", "-c", "user.email=me@example.invalid"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "onnxtext").mkdir()
    (tmp_path / "onnxtext" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]: 1.2.3\n")
    (tmp_path / "pyproject.toml").write_text('Repository = "https://github.com/OWNER/onnxtext"\n')
    assert len(dev.release_problems(tmp_path)) == 3
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2030-01-31\n")
    (tmp_path / "pyproject.toml").write_text('Repository = "https://github.com/us/onnxtext"\n')
    (problem,) = dev.release_problems(tmp_path)
    assert "git" in problem
    git("init", "-q", ".")
    (problem,) = dev.release_problems(tmp_path)
    assert "committed" in problem
    git("add", "-A", ".")
    git("commit", "-q", "-m", "Release")
    assert dev.release_problems(tmp_path) == []
    git("tag", "v1.2.3")
    (problem,) = dev.release_problems(tmp_path)
    assert "v1.2.3" in problem


# ---- Links and paths ----------------------------------------------------------------------------


@cache
def anchors(page: str) -> set[str]:
    """Return GitHub's anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    texts = [re.sub(r"[`*\[\]]|\(.*?\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        place = (REPOSITORY / page).parent / name if name else REPOSITORY / page
        assert place.exists(), target
        if anchor:
            linked = place.resolve().relative_to(REPOSITORY).as_posix()
            assert anchor in anchors(linked), target


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md",
                                  "docs/design.md", "docs/laws.md", "docs/editors.md"])  # fmt: skip
def test_paths_exist(page: str) -> None:
    """Paths of the repository in backticks exist."""
    names = ("onnxtext", "tests", "grammar", "docs", "benchmarks", "examples", "editors")
    top = rf"(?:{'|'.join(names)}|vscode-extension|\.ci|\.github)"
    found = set(re.findall(rf"`({top}/[\w./-]*)`", prose(page)))
    packages = {path.parent.name for path in (REPOSITORY / "onnxtext").glob("*/__init__.py")}
    inside = rf"`((?:{'|'.join(packages)})/[\w./-]*)`"
    found |= {f"onnxtext/{name}" for name in re.findall(inside, prose(page))}
    assert found or page == "SECURITY.md"
    files = {path.name for path in REPOSITORY.glob("*.py")}
    for folder in ("onnxtext", "tests", "benchmarks"):
        files |= {path.name for path in (REPOSITORY / folder).rglob("*.py*")}
    assert set(re.findall(r"`(\w+\.pyx?)`", prose(page))) <= files
    for name in found - {"onnxtext/diagnostics/pages/CODE.md"}:
        place = REPOSITORY / name
        assert place.exists() or place.with_suffix(".py").exists(), name


def test_files_of_the_parser_that_the_reference_names_exist() -> None:
    """Chapter 18 of the reference names files relative to `onnxtext/syntax`."""
    chapter = read("grammar/SPEC.md").partition("## 18. How a text is read")[2]
    folder = REPOSITORY / "onnxtext" / "syntax"
    found = set(re.findall(r"`([a-z_]+/\w+\.py|span_map\.py)`", chapter))
    assert len(found) > 7
    assert [name for name in found if not (folder / name).is_file()] == []


def test_every_package_is_described() -> None:
    described = set(re.findall(r"^\*\*`onnxtext/(\w+)/`\*\*", read("docs/architecture.md"), re.M))
    packages = {path.parent.name for path in (REPOSITORY / "onnxtext").glob("*/__init__.py")}
    assert described == packages


def test_imports_follow_the_order_of_packages() -> None:
    order = re.findall(r"^\*\*`onnxtext/([\w.]+?)/?`\*\*", read("docs/architecture.md"), re.M)
    assert len(order) > 15
    package = REPOSITORY / "onnxtext"
    upwards = set()
    for path in package.rglob("*.py"):
        own = path.relative_to(package).parts[0]
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"^ *from onnxtext\.(\w+)", text, re.MULTILINE)
        for listed in re.findall(r"^ *from onnxtext import (\([^)]*\)|.*)", text, re.MULTILINE):
            names += re.findall(r"(?<!as )\b\w+", listed)
        for name in names:
            other = name if name in order else f"{name}.py"
            if own in order and other in order and order.index(other) < order.index(own):
                upwards.add((own, other))
    # tensor/blobs.py imports types for annotations only.
    assert upwards <= {("tensor", "ast"), ("tensor", "wire")}


def test_every_page_is_linked_from_one_of_the_first_two() -> None:
    linked = set(re.findall(r"\]\(([^)#]+)", read("README.md")))
    linked |= {f"docs/{name}" for name in re.findall(r"\]\(([^)#]+)", read("docs/start.md"))}
    assert {page for page in PAGES if page.startswith("docs/")} <= linked
    assert {"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "grammar/SPEC.md"} <= linked


def test_modules_have_at_most_400_lines() -> None:
    """CONTRIBUTING.md, Style."""
    package = REPOSITORY / "onnxtext"
    modules = [path for kind in ("*.py", "*.pyx") for path in package.rglob(kind)]
    assert len(modules) > 500
    counts = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert not [path for path, count in counts.items() if count > 400]


def test_every_package_has_quick_tests() -> None:
    """Every package has a test file with quick tests."""
    packages = {path.parent.name for path in (REPOSITORY / "onnxtext").glob("*/__init__.py")}
    packages |= {"laws", "examples"}
    packages -= {"_core", "weights"}  # tests/syntax/test_native.py, tests/cli/test_weights.py
    for package in packages:
        files = list((REPOSITORY / "tests" / package).glob("test_*.py"))
        texts = [path.read_text(encoding="utf-8") for path in files]
        assert not all(re.search(r"^pytestmark = .*thorough", text, re.M) for text in texts), (
            package
        )


def test_code_cites_only_what_the_repository_has() -> None:
    """`SPEC 12` is a section of grammar/SPEC.md, `docs/design.md, Layout` one of that page."""
    sections = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", read("grammar/SPEC.md"), re.M))
    headings = set(re.findall(r"^#+ (.*)$", read("docs/design.md"), re.M))
    for path in (REPOSITORY / "onnxtext").rglob("*.py*"):
        if path.suffix not in (".py", ".pyx"):
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(?:DESIGN|SPELLINGS|FAST-ROAD)\b", text), path
        assert set(re.findall(r"\bSPEC (\d+(?:\.\d+)?)", text)) <= sections, path
        assert set(re.findall(r"docs/design\.md, ([A-Z][^).;]*)", text)) <= headings, path


# ---- The repository -----------------------------------------------------------------------------

ADDRESS = re.compile(r"(?<=github\.com/)[\w.-]+/onnxtext\b|(?<=uses: )[\w.-]+/onnxtext(?=@)")


def test_the_address_of_the_repository_is_in_one_place() -> None:
    (address,) = ADDRESS.findall(read("pyproject.toml"))
    for page in (*PAGES, "vscode-extension/package.json"):
        text = read(page)
        assert "example.invalid" not in text, page
        if os.environ.get("ONNXTEXT_BLESS"):
            (REPOSITORY / page).write_text(ADDRESS.sub(address, text), encoding="utf-8")
        assert set(ADDRESS.findall(text)) <= {address}, page
    for name in ("action.yml", ".pre-commit-hooks.yaml"):
        assert not ADDRESS.findall(read(name)), name


def test_workflows_and_templates_are_well_formed() -> None:
    workflows = {path.name: yaml.safe_load(path.read_text("utf-8"))
                 for path in (REPOSITORY / ".github" / "workflows").glob("*.yml")}  # fmt: skip
    assert set(workflows) == {"ci.yml", "wheels.yml"}
    steps = workflows["ci.yml"]["jobs"]["run"]["steps"]
    assert steps[-1]["run"].endswith(" .ci/run")
    for workflow in workflows.values():
        assert workflow["permissions"] == {"contents": "read"}
    for path in (REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text("utf-8"))
        assert path.name == "config.yml" or {"name", "description", "body"} <= set(form)
