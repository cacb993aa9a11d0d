# SPDX-License-Identifier: Apache-2.0
"""action.yml and the pre-commit hooks: their commands are run in real repositories."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from typing import Any

import pytest
import yaml

from tests.cli.command import write_tool
from tests.corpus import REPOSITORY
from tests.git.repository import TEXT, Repository, Result, binary, edited

pytestmark = pytest.mark.thorough

ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load(
    (REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8")
)
BAD = (
    "<onnxtext: 1, ir_version: 10, opset_import: [20]>\ng (float x) => (float y) { y = Relu (z) }\n"
)


class Run:
    """Runs the steps of the action like GitHub; supports the expressions that the action uses."""

    def __init__(self, repository: Repository, base: str = "", **inputs: str) -> None:
        self.repository = repository
        defaults = {key: str(value["default"]) for key, value in ACTION["inputs"].items()}
        self.known = {f"inputs.{key}": value for key, value in {**defaults, **inputs}.items()}
        self.known |= {
            "github.action_path": str(REPOSITORY),
            "github.event_name": "pull_request" if base else "push",
            "github.event.pull_request.base.sha": base,
            "github.event.pull_request.number": "7" if base else "",
            "github.repository": "owner/name",
            "github.token": "secret",
            "steps.diff.outputs.file": "",
        }
        # Bash finds the tested onnxtext under its usual name.
        tools = repository.home / "tools"
        write_tool(tools, repository.environment())
        python = tools / "python"
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)
        gh = tools / "gh"
        gh.write_text(FAKE_GH.format(python=sys.executable, home=str(repository.home)))
        gh.chmod(0o755)
        self.files = {
            key: repository.home / key for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        for path in self.files.values():
            path.write_bytes(b"")
        self.environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(repository.home),
            **{key: str(path) for key, path in self.files.items()},
        }
        self.results: dict[str, Result] = {}

    def value(self, text: str) -> str:
        def replaced(found: re.Match[str]) -> str:
            names = [name.strip() for name in found[1].split("||")]
            return next((self.known[name] for name in names if self.known[name]), "")

        return re.sub(r"\$\{\{(.*?)\}\}", replaced, text)

    def wanted(self, condition: str) -> bool:
        text = condition.replace("!cancelled()", "True")
        text = text.replace("&&", " and ").replace("||", " or ")
        for name in sorted(self.known, key=len, reverse=True):
            text = text.replace(name, repr(self.known[name]))
        return bool(eval(text, {"__builtins__": {}}))

    def all(self) -> dict[str, int]:
        """Run all enabled steps that need no network; return their exit statuses."""
        for step in ACTION["runs"]["steps"]:
            if not self.wanted(step.get("if", "True")):
                continue
            if "uses" in step or step["name"] == "Install onnxtext":
                continue
            given = {key: self.value(str(value)) for key, value in step.get("env", {}).items()}
            self.repository.more = {**self.environment, **given}
            script = self.repository.home / "script.sh"
            script.write_text(step["run"])
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
            self.results[step["name"]] = self.repository.run(*command, check=False)
            for line in self.files["GITHUB_OUTPUT"].read_text().splitlines():
                key, _, value = line.partition("=")
                self.known[f"steps.{step['id']}.outputs.{key}"] = value
            self.files["GITHUB_OUTPUT"].write_bytes(b"")
        self.repository.more = {}
        return {name: result.status for name, result in self.results.items()}


FAKE_GH = """#!{python}
import json, pathlib, sys
place = pathlib.Path({home!r}, "comments.json")
comments = json.loads(place.read_text()) if place.exists() else []
words = sys.argv[1:]
assert words[0] == "api", words
bodies = [pathlib.Path(word[6:]).read_text() for word in words if word.startswith("body=@")]
if "PATCH" in words:
    (path,) = [word for word in words if word.startswith("repos/")]
    comments[int(path.rpartition("/")[2])] = bodies[0]
elif bodies:
    comments.append(bodies[0])
else:
    assert "startswith(\\"<!-- onnxtext -->\\")" in words[-1]
    for number, body in enumerate(comments):
        if body.startswith("<!-- onnxtext -->"):
            print(number)
place.write_text(json.dumps(comments))
"""


def test_the_action_is_well_formed() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "run" in step:
            assert step["shell"] == "bash"
            # Expressions in scripts would be run by the shell.
            assert "${{" not in step["run"]
    assert all("description" in value for value in ACTION["inputs"].values())
    used = set(re.findall(r"inputs\.([\w-]+)", (REPOSITORY / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_a_valid_repository_passes(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode, "--attributes", ".gitattributes")
    repository.write("texts/it's odd.onnxtxt", TEXT)
    repository.commit("models", m=binary())
    clone = repository.clone("clone")
    done = Run(clone).all()
    assert set(done.values()) == {0}, {name: r.err for name, r in Run(clone).results.items()}
    assert set(done) == {
        "Set up the filter, where attributes ask for it",
        "Find models",
        "Formatting",
        "Rules",
        "Nothing is lost",
    }
    assert clone.read("m.onnx") == binary()


def test_a_repository_without_models_passes(repository: Repository) -> None:
    repository.write("README", "no models\n")
    repository.commit("nothing")
    assert set(Run(repository).all().values()) == {0}


def test_findings_have_positions(repository: Repository) -> None:
    repository.write("bad.onnxtxt", BAD)
    repository.write("sub/other.onnxtxt", TEXT)
    repository.commit("models", cut=binary()[:-9])
    run = Run(repository)
    statuses = run.all()
    assert statuses["Formatting"] != 0
    assert "bad.onnxtxt" in run.results["Formatting"].text
    assert statuses["Rules"] != 0
    assert statuses["Nothing is lost"] == 1
    for name, file in (("Rules", "bad.onnxtxt"),
                       ("Nothing is lost", "cut.onnx")):  # fmt: skip
        assert re.search(rf"^::error .*file={file}[,:]", run.results[name].err, re.MULTILINE)
    assert set(Run(repository, path="sub", verify="false").all().values()) == {0}
    none = dict.fromkeys(("fmt", "check", "verify"), "false")
    assert list(Run(repository, **none).all()) == [
        "Set up the filter, where attributes ask for it",
        "Find models",
    ]


def test_options_of_check_are_applied(repository: Repository) -> None:
    repository.write("bad.onnxtxt", BAD)
    repository.commit("models")
    assert Run(repository).all()["Rules"] != 0
    options = {"check-options": "--ignore value-undefined  --strict"}
    assert Run(repository, **options).all()["Rules"] == 0


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_a_pull_request_is_shown_as_markdown(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode, "--attributes", ".gitattributes")
    repository.commit("base", m=binary(), same=binary())
    base = repository.git("rev-parse", "HEAD").text.strip()
    repository.commit("head", m=edited(("Tanh (a)", "Softsign (a)")), new=binary())
    clone = repository.clone("clone", "--depth", "1")  # as actions/checkout does it
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    for _ in range(2):
        run = Run(clone, base, comment="true")
        assert set(run.all().values()) == {0}, run.results
    shown = run.files["GITHUB_STEP_SUMMARY"].read_text()
    assert "### `m.onnx`" in shown
    assert "-b = Tanh (a)" in shown
    assert "new.onnx" in shown
    assert "same.onnx" not in shown
    comments = json.loads((clone.home / "comments.json").read_text())
    assert comments == [f"<!-- onnxtext -->\n{shown}"]


def test_the_diff_of_two_commits_shows_changed_models(repository: Repository) -> None:
    repository.commit("base", m=binary(), gone=edited(("Tanh (a)", "Elu (a)")), same=binary())
    repository.write("t.onnxtxt", TEXT)
    repository.git("mv", "gone.onnx", "sub name.onnx")
    repository.commit("head", m=edited(("Tanh (a)", "Softsign (a)")))
    shown = repository.onnxtext("git", "diff", "HEAD~").text
    assert "-b = Tanh (a)\n+b = Softsign (a)\n" in shown
    assert "same.onnx" not in shown
    assert "t.onnxtxt" in shown
    assert repository.onnxtext("git", "diff", "HEAD", "HEAD").text == ""
    short = repository.onnxtext("git", "diff", "HEAD~", "--markdown", "--most", "0").text
    assert "- `m.onnx: not shown, too long`" in short
    for words in (["nowhere"], ["--", "--output=x"]):
        result = repository.onnxtext("git", "diff", *words, check=False)
        assert result.status == 2
        assert "git-failed" in result.err
    assert not (repository.path / "x").exists()


def test_a_short_diff_of_many_models_names_some(repository: Repository) -> None:
    repository.commit("base", **{f"m{index:02}": binary() for index in range(30)})
    changed = edited(("Tanh (a)", "Elu (a)"))
    repository.commit("head", **{f"m{index:02}": changed for index in range(30)})
    shown = repository.onnxtext("git", "diff", "HEAD~", "--most", "200").text
    count = shown.count("+b = Elu (a)")
    assert 0 < count < 10
    assert shown.count("not shown") == 20
    assert shown.endswith(f"not shown, too long\nand {10 - count} more models\n")
    short = repository.onnxtext("git", "diff", "HEAD~", "--markdown", "--most", "0").text
    assert short.endswith("- and 10 more models\n\n")


def test_the_diff_of_two_commits_says_why_a_model_has_no_diff(repository: Repository) -> None:
    hostile = "\x1b[31m`<b>@all\n# b"
    repository.commit("base", moved=binary(), **{hostile: binary()})
    repository.write("t.onnxtxt", TEXT)
    repository.commit("text")
    repository.git("mv", "moved.onnx", "here.onnx")
    repository.write("t.onnxtxt", f"# A comment.\n{TEXT}")
    repository.commit("head", **{hostile: binary()[:-9]})
    lines = [
        "␛[31m`<b>@all␊# b.onnx: cannot be compared",
        "moved.onnx and here.onnx: the models are the same",
        "t.onnxtxt: the models are the same",
    ]
    for form in ([], ["--stat"]):
        assert repository.onnxtext("git", "diff", "HEAD~", *form).text.splitlines() == lines
    shown = repository.onnxtext("git", "diff", "HEAD~", "--markdown", "--most", "0").text
    assert shown.startswith("- ``␛[31m`<b>@all␊# b.onnx: not shown, too long``\n")
    shown = repository.onnxtext("git", "diff", "HEAD~", "--markdown").text
    assert shown.startswith("- ``␛[31m`<b>@all␊# b.onnx: cannot be compared``\n")


def test_statistics_name_their_models(repository: Repository) -> None:
    repository.commit("base", a=binary(), b=binary())
    repository.commit("head", a=edited(("Tanh (a)", "Elu (a)")), b=edited(("Exp (e)", "Log (e)")))
    shown = repository.onnxtext("git", "diff", "HEAD~", "--stat").text
    assert shown.startswith("a.onnx:\n node | 1 changed\n")
    assert "\nb.onnx:\n node | 1 changed\n" in shown


def test_pre_commit_hooks_find_errors(repository: Repository) -> None:
    assert [hook["id"] for hook in HOOKS] == ["onnxtext-fmt", "onnxtext-check", "onnxtext-verify"]
    repository.write("good.onnxtxt", TEXT)
    repository.write("good.onnx", binary())
    repository.write("bad.onnxtxt", BAD)
    repository.write("cut.onnx", binary()[:-9])
    names = sorted(path.name for path in repository.path.iterdir() if path.is_file())
    for hook in HOOKS:
        assert hook["language"] == "python"
        words = hook["entry"].split()
        assert words[0] == "onnxtext"
        chosen = [name for name in names if re.search(hook["files"], name)]
        assert chosen
        good = [name for name in chosen if name.startswith("good")]
        bad = [name for name in chosen if not name.startswith("good")]
        assert repository.onnxtext(*words[1:], *good).status == 0
        before = repository.read("bad.onnxtxt")
        result = repository.onnxtext(*words[1:], *bad, check=False)
        # pre-commit treats a changed file as a failure, like an exit status.
        assert result.status != 0 or repository.read("bad.onnxtxt") != before


def test_hostile_repositories_run_no_commands(repository: Repository) -> None:
    """Names like options, links that lead out, texts that look like commands to the runner."""
    secret = repository.home / "secret"
    secret.write_text("the secret\n")
    command = "::add-mask::found"
    for name in ("-h.onnxtxt", "--exclude=.onnxtxt", "--output-format=json.onnxtxt",
                 "--ignore=all.onnxtxt", "sub/\n::warning::.onnxtxt", "::warning::.onnxtxt",
                 " sp ace.onnxtxt", "caf\udce9.onnxtxt"):  # fmt: skip
        repository.write(name, BAD.replace("Relu", "  Relu") + f"#\n{command}\n")
    repository.write("ugly.onnxtxt", TEXT.replace("a = ", f'  @doc("""\n{command}\n""") a  = '))
    repository.write("::warning::.onnx", binary())
    repository.write("pip.py", "raise SystemExit('it was run')\n")
    for link in ("link.onnxtxt", "link.onnx"):
        (repository.path / link).symlink_to(secret)
    repository.commit("hostile")
    run = Run(repository)
    statuses = run.all()
    assert statuses["Formatting"] != 0
    assert statuses["Rules"] != 0
    for result in run.results.values():
        assert "secret" not in result.text + result.err
        assert commands(result.text) == []
        for line in commands(result.err):
            assert re.match(r"::(error|warning|notice) title=onnxtext \(", line), line
    assert "mask" in run.results["Formatting"].text
    # Each of these names is read as a file, none as an option.
    wrong = run.results["Rules"].err
    assert len(re.findall(r"file=[^,:]*onnxtxt[,:]", wrong)) >= 8
    install = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Install onnxtext")
    script = install["run"].replace("install", "--version #")
    assert "pip " in repository.run("bash", "-c", script).text


def commands(log: str) -> list[str]:
    """Return the lines that the GitHub runner interprets as commands."""
    found, stopped = [], ""
    for line in map(str.strip, log.splitlines()):
        if stopped:
            stopped = "" if line == f"::{stopped}::" else stopped
        elif line.startswith("::stop-commands::"):
            stopped = line.removeprefix("::stop-commands::")
        elif line.startswith("::") or "##[" in line:
            found.append(line)
    return found
