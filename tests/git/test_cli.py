# SPDX-License-Identifier: Apache-2.0
"""The commands of `onnxtext git`: help, wrong usage, findings for tools."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from onnxtext.cli.commands.git import command
from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.repository import read_tracked
from tests.git.repository import Repository, binary
from tests.sarif_schema import assert_valid

FOR_PEOPLE = ["install", "uninstall", "status", "verify", "checkout", "diff"]
PLUMBING = sorted(set(command.commands) - set(FOR_PEOPLE))


@pytest.mark.parametrize("verb", [[], *[[verb] for verb in FOR_PEOPLE]], ids=str)
def test_help_has_examples_and_exit_statuses(repository: Repository, verb: list[str]) -> None:
    shown = repository.onnxtext("git", *verb, "--help").text
    assert re.search(r"Examples:\n +onnxtext git ", shown)
    findings = r" +1 .*\n" if verb in ([], ["status"], ["verify"], ["checkout"]) else ""
    assert re.search(rf"Exit status:\n +0 .*\n{findings} +2 ", shown)
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("verb", PLUMBING)
def test_help_of_plumbing_commands_names_their_setting(repository: Repository, verb: str) -> None:
    shown = repository.onnxtext("git", verb, "--help").text
    assert re.search(r"This\s+is\s+`(filter|diff|merge|difftool)\.onnxtext\.", shown)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["install", "--mode", "magic"],
        ["clean", "--max-size", "much"],
        ["diff"],
        ["merge-driver", "a"],
    ],
    ids=str,
)
def test_wrong_usage_is_status_2(repository: Repository, words: list[str]) -> None:
    result = repository.onnxtext("git", *words, check=False)
    assert result.status == 2
    assert "Usage: onnxtext git" in result.err


@pytest.mark.parametrize("words", [["status", "--local"], ["verify"], ["checkout"], ["diff", "a"]])
def test_commands_outside_of_a_repository_are_errors(
    repository: Repository, words: list[str]
) -> None:
    outside = Repository(repository.home, repository.home)
    result = outside.onnxtext("git", *words, check=False)
    assert result.status == 2
    assert result.err.startswith("error[git-failed]: ")
    assert "Traceback" not in result.err


def test_sizes_are_as_in_git(repository: Repository) -> None:
    model = binary()
    assert 100 < len(model) < 1000
    for size, cleaned in (("1k", True), ("1K", True), ("99", False), ("0", False), ("1g", True)):
        shown = repository.onnxtext("git", "clean", "--max-size", size, given=model)
        assert (shown.out != model) == cleaned
        repository.git("config", "onnxtext.maxSize", size)
        assert repository.onnxtext("git", "clean", given=model).out == shown.out


def test_verify_reports_findings_as_json(filtered: Repository) -> None:
    filtered.git("config", "filter.onnxtext.clean", "cat")
    filtered.git("config", "filter.onnxtext.process", "")
    filtered.git("config", "--unset", "filter.onnxtext.process")
    filtered.commit("a binary", m=binary())
    result = filtered.onnxtext("git", "verify", "--output-format", "json", check=False)
    assert result.status == 1
    (finding,) = json.loads(result.err)
    assert finding["code"] == "git-would-change"
    assert finding["file"] == "m.onnx"
    log = filtered.onnxtext("git", "verify", "--output-format", "sarif", check=False)
    assert log.status == result.status
    assert_valid(json.loads(log.err))
    assert len(json.loads(log.err)["runs"][0]["results"]) == 1


def test_verify_accepts_deleted_files_and_reports_missing_blobs(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    (filtered.path / "m.onnx").unlink()
    assert filtered.onnxtext("git", "verify").status == 0
    name = filtered.git("rev-parse", "HEAD:m.onnx").text.strip()
    (filtered.path / ".git/objects" / name[:2] / name[2:]).unlink()
    result = filtered.onnxtext("git", "verify", check=False)
    assert result.status == 2
    assert "is missing" in result.err


def test_verify_parses_source_texts(repository: Repository) -> None:
    repository.write("good.onnxtxt", "<onnxtext: 1>\ng () => () {}\n")
    repository.write("bad.onnxtxt", "<onnxtext: 1>\ng () => () {\n")
    repository.commit("texts", m=binary(), text=b"<onnxtext: 1>\ng () => () {}\n")
    result = repository.onnxtext("git", "verify", check=False)
    lines = result.text.splitlines()
    assert result.status == 1
    assert "ok good.onnxtxt  source" in lines
    assert "CHANGES bad.onnxtxt  source" in lines
    assert "ok m.onnx  binary" in lines
    advice = lines[lines.index("CHANGES text.onnx  text") + 1]
    assert advice.endswith("--mode filter`, or convert it with `onnxtext to-binary`")


def test_file_names_are_escaped(filtered: Repository) -> None:
    filtered.write("evil\x1b]0;title\x07\n.onnx", b"no model {")
    result = filtered.git("add", "-A")
    assert "\x1b" not in result.err
    assert len(result.err.splitlines()) == 1
    filtered.git("commit", "-q", "-m", "evil")
    shown = filtered.onnxtext("git", "verify", check=False)
    assert "\x1b" not in shown.text + shown.err


def test_an_unreadable_tracked_file_is_no_failure_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.onnx").write_bytes(b"")

    def fail(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(OnnxTextError) as caught:
        read_tracked(tmp_path, "m.onnx")
    (diagnostic,) = caught.value.diagnostics
    path = tmp_path / "m.onnx"
    assert (diagnostic.code, diagnostic.message) == (
        "cannot-read",
        f"cannot read {path}: Permission denied",
    )
