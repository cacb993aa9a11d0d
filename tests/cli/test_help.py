# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import onnxtext
from onnxtext.select_core import core
from tests.cli.command import (
    OTHER_TEXT,
    TEXT,
    binary,
    environment,
    onnxtext_command,
    run,
    run_command,
)

SLOW = ("onnx.", "numpy.", "lark.", "google.protobuf.", "rich.")


def imported(*arguments: str | Path, stdin: bytes = b"") -> set[str]:
    command = onnxtext_command(*arguments)
    command[1:1] = ["-X", "importtime"]
    result = run_command(command, stdin=stdin)
    assert result.status == 0
    return set(re.findall(r"^import time:.*\|\s*(\S+)$", result.err, re.MULTILINE))


def test_group_help_imports_nothing_slow() -> None:
    modules = imported("--help")
    assert "onnxtext.cli.convert_files" in modules
    assert not [name for name in modules if f"{name}.".startswith(SLOW)]


def test_conversions_without_progress_bar_do_not_import_rich() -> None:
    modules = imported("from-binary", stdin=binary())
    assert "onnxtext.printer" in modules
    assert "rich" not in modules


@pytest.mark.parametrize("verb", ["check", "to-binary"])
def test_clean_checks_import_neither_onnx_nor_what_errors_need(verb: str, tmp_path: Path) -> None:
    text = tmp_path / "tiny.onnxtxt"
    text.write_text(TINY, encoding="utf-8")
    modules = imported(verb, text)
    assert "onnxtext.checker.inference.check_by_kind" in modules
    unwanted = ("onnx.", "numpy.", "google.", "tomllib.", "traceback.", "onnxtext.printer.")
    assert not [name for name in modules if f"{name}.".startswith(unwanted)]
    assert not [name for name in modules if name.startswith("onnxtext.diagnostics.full")]


TINY = """\
<ir_version: 10, opset_import: [20]>
tiny (float[N, 4] x) => (float[N, 4] y) {
  w = Relu (x)
  y = Add (w, x)
}
"""


@pytest.mark.parametrize("verb", [None, "to-binary", "from-binary", "check", "fmt", "verify"])
def test_help_has_examples_and_exit_statuses(verb: str | None) -> None:
    result = run(*filter(None, [verb, "--help"]))
    assert result.status == 0
    assert result.err == ""
    shown = result.out.decode()
    assert re.search(r"Examples:\n +onnxtext ", shown)
    assert re.search(r"Exit status:\n +0 .*\n +1 .*\n +2 ", shown)
    assert "highest" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert (verb is None) == ("to-binary  " in shown and "from-binary  " in shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chekc"], "No such command 'chekc'. Did you mean 'check'?"),
        (["git", "instal"], "No such command 'instal'. Did you mean 'install'?"),
        (["weights", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["schemas", "imports"], "No such command 'imports'. Did you mean 'import'?"),
        (["zzz"], "No such command 'zzz'.\n"),
    ],
)
def test_unknown_commands_are_errors_with_suggestions(words: list[str], said: str) -> None:
    result = run(*words)
    assert (result.status, result.out) == (2, b"")
    assert said in result.err


@pytest.mark.parametrize(("group", "verb"), [("git", "status"), ("git", "diff"), ("weights", "gc")])
def test_help_of_a_subcommand_has_only_its_own_examples(group: str, verb: str) -> None:
    shown = run(group, verb, "--help").out.decode()
    examples = [line for line in shown.splitlines() if line.startswith("    onnxtext ")]
    assert examples
    assert all(line.startswith(f"    onnxtext {group} {verb}") for line in examples)


def test_the_version_names_the_core() -> None:
    script = Path(sys.executable).parent / "onnxtext"
    for command in ([str(script), "--version"], onnxtext_command("-V")):
        result = run_command(command)
        assert result.status == 0
        runs = {"native": "native core", "python": "pure Python"}[core()]
        assert result.out.decode() == f"onnxtext {onnxtext.__version__} ({runs})\n"


@pytest.mark.parametrize("arguments", [["--version"], ["check"], ["fmt", "--diff"], ["verify"]])
def test_an_unknown_core_is_an_error(arguments: list[str], text: Path) -> None:
    files = [str(text)] * (arguments != ["--version"])
    result = run(*arguments, *files, env={"ONNXTEXT_CORE": "Native"}, fresh=True)
    assert result.status == 2
    assert result.err == "error: ONNXTEXT_CORE must be `native` or `python`, not `Native`\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        # git caches the output of textconv, unless it fails
        ("textconv m.onnx", 2, "error: {}\n"),
        ("clean m.onnx", 0, "warning: m.onnx: stored unchanged: {}\n"),
        ("merge-driver b.onnx m.onnx o.onnx", 129, "warning: {}; our version is unchanged\n"),
    ],
)
def test_programs_of_git_report_an_unknown_core(
    arguments: str, status: int, message: str, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(binary())
    (tmp_path / "o.onnx").write_bytes(binary(OTHER_TEXT))
    (tmp_path / "b.onnx").write_bytes(binary(TEXT.replace("Relu", "Abs")))
    env = environment(ONNXTEXT_CORE="Native")
    result = run("git", *arguments.split(), cwd=tmp_path, stdin=binary(), env=env, fresh=True)
    assert result.status == status
    assert result.err == message.format("ONNXTEXT_CORE must be `native` or `python`, not `Native`")
    assert result.out == (binary() if "clean" in arguments else b"")


def test_the_console_script_and_the_module_are_the_same(text: Path) -> None:
    script = Path(sys.executable).parent / "onnxtext"
    arguments = ["to-binary", str(text), "-o", "-"]
    assert run_command([str(script), *arguments]) == run(*arguments)


def usage_messages() -> Iterator[str]:
    """Yield the messages of usage errors in the source, with {} for what is filled in."""
    for path in Path(onnxtext.__file__).parent.joinpath("cli").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "click.UsageError":
                message = call.args[0]
                parts = message.values if isinstance(message, ast.JoinedStr) else [message]
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
                )


def test_messages_of_usage_errors_are_sentences() -> None:
    messages = list(usage_messages())
    assert len(messages) > 20
    assert [each for each in messages if not re.fullmatch(r"(?![a-z]).*(\.|\.\{\})", each)] == []


@pytest.mark.parametrize(
    "arguments", [[], ["to-nowhere"], ["to-binary", "--no-such-option"], ["to-binary", "a", "-"]]
)
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.status == 2
    assert result.out == b""
    assert "Usage: onnxtext" in result.err
