# SPDX-License-Identifier: Apache-2.0
"""Completion of commands in bash, zsh and fish."""

from __future__ import annotations

import os
import pty
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import onnxtext
from onnxtext.cli.commands.completion import SHELLS, register
from onnxtext.cli.group import VERBS, group
from onnxtext.cli.manual import commands
from onnxtext.diagnostics.code_pages import documented_codes, page_summary
from tests.cli.command import environment, run, write_tool
from tests.seeds import fresh_seed

BOTH = ".onnxtxt .onnxtext .onnx"


def completions(line: str, shell: str = "fish") -> list[Any]:
    """Return the completions of the last word of a line."""
    *words, last = line.split(" ")
    asked = SHELLS[shell](group, {}, "onnxtext", "_ONNXTEXT_COMPLETE")
    return asked.get_completions(words, last)


def values(line: str, shell: str = "fish") -> list[str]:
    return [str(item.value) for item in completions(line, shell)]


# ---- Completions --------------------------------------------------------------------------------


def test_commands_and_options_are_completed() -> None:
    assert values("") == list(VERBS)
    assert values("f") == ["from-binary", "fmt"]
    assert values("git un") == ["uninstall"]
    assert values("check --fi") == ["--fix"]
    assert {"--select", "--ignore", "--strict", "--help"} <= set(values("check --"))
    assert [item.help for item in completions("fm")] == ["Format texts in the canonical layout."]


@pytest.mark.parametrize(
    ("line", "suffixes"),
    [
        ("to-binary ", ".onnxtxt .onnxtext"),
        ("to-binary a.onnxtxt b", ".onnxtxt .onnxtext"),
        ("to-binary -o ", ".onnx"),
        ("from-binary ", ".onnx"),
        ("from-binary --output=x", ".onnxtxt .onnxtext"),
        ("fmt --check x", ".onnxtxt .onnxtext"),
        *(
            (f"{verb} ", BOTH)
            for verb in (
                "check",
                "edit",
                "explain-type",
                "info",
                "show",
                "view",
                "diff",
                "verify",
                "merge",
            )
        ),
        ("diff a.onnx ", BOTH),
        ("run a.onnx --compare ", BOTH),
        ("run a.onnx --output ", ".npy"),
        ("view a.onnx ", BOTH),
        ("view a.onnx -o ", ".html"),
        ("merge a b ", BOTH),
    ],
)
def test_files_are_completed_by_suffix(line: str, suffixes: str) -> None:
    (item,) = completions(line)
    assert (item.type, item.suffixes) == ("file", suffixes)


def test_directories_and_other_files_are_completed() -> None:
    (stores,) = completions("weights gc ")
    assert stores.type == "dir"
    (attributes,) = completions("git install --attributes ")
    assert (attributes.type, attributes.suffixes) == ("file", None)


def test_values_of_options_are_completed() -> None:
    for verb in ("check", "to-binary"):
        assert values(f"{verb} --output-format s") == ["sarif"]
    assert values("diff a b --ignore w") == ["weights"]
    assert values("check --profile ") == ["style"]
    assert values("check --select op-unk") == ["op-unknown", "op-unknown-domain"]
    assert values("completion ") == list(SHELLS)
    assert values("git install --mode ") != []


def test_codes_are_completed_with_their_summary() -> None:
    assert values("explain ") == list(documented_codes())
    (item,) = completions("explain op-unknown-")
    assert (item.value, item.help) == ("op-unknown-domain", page_summary("op-unknown-domain"))


@pytest.mark.parametrize("shell", SHELLS)
def test_values_after_an_equals_sign_are_completed(shell: str) -> None:
    """Bash replaces the part after the sign; other shells replace the whole word."""
    joined = "json" if shell == "bash" else "--output-format=json"
    assert values("check --output-format=j", shell) == [joined]
    if shell == "bash":
        asked = SHELLS[shell](group, {}, "onnxtext", "_ONNXTEXT_COMPLETE")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COMP_WORDS", "onnxtext\ncheck\n--output-format\n=\nj")
            patch.setenv("COMP_CWORD", "4")
            args, incomplete = asked.get_completion_args()
        assert [item.value for item in asked.get_completions(args, incomplete)] == ["json"]


def lines() -> list[tuple[str, click.Context]]:
    """Return every command as the start of a line, with a file where one precedes a verb."""
    return [
        (path.replace(" FILE", " m.onnx").removeprefix("onnxtext").lstrip(), context)
        for context, path in commands()
    ]


def long_options(context: click.Context) -> list[str]:
    found = []
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            names = (*parameter.opts, *parameter.secondary_opts)
            found += [name for name in names if name.startswith("--")]
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_of_every_command_is_completed(shell: str) -> None:
    """Each option is completed with its help, and each value: choices, codes or files."""
    for start, context in lines():
        wanted = long_options(context)
        assert "--help" in wanted
        offered = completions(f"{start} --".lstrip(), shell)
        assert sorted(item.value for item in offered) == sorted(wanted), start
        for parameter in context.command.get_params(context):
            if not isinstance(parameter, click.Option) or parameter.hidden:
                continue
            if parameter.is_flag or parameter.count:
                continue
            found = completions(f"{start} {parameter.opts[-1]} ".lstrip(), shell)
            if isinstance(parameter.type, click.Choice):
                assert [item.value for item in found] == list(parameter.type.choices)
            elif "FILE" in (name := parameter.make_metavar(context)) or name in ("OUT", "PAGE"):
                assert [item.type for item in found] == ["file"], (start, parameter.opts)


def test_every_verb_of_every_group_is_completed() -> None:
    for start, context in lines():
        if isinstance(context.command, click.Group):
            verbs = [
                name
                for name in context.command.list_commands(context)
                if (child := context.command.get_command(context, name)) and not child.hidden
            ]
            takes_file = any(isinstance(each, click.Argument) for each in context.command.params)
            line = f"{start}{' m.onnx' if takes_file else ''} ".lstrip()
            assert values(line) == verbs, start
            assert all(item.help for item in completions(line))


def test_every_command_has_completions_for_its_arguments() -> None:
    """Every argument that names a file or one of several values is completed."""
    for context, path in commands():
        if context.parent is not None and context.parent.info_name in ("git", "edit"):
            continue  # they take revisions, or parts of a model
        if context.info_name == "explain-type":
            continue  # it takes values of a file: `test_values_of_a_model_are_completed`
        for parameter in context.command.params:
            if isinstance(parameter, click.Argument):
                found = parameter.shell_complete(click.Context(context.command), "")
                assert found, (path, parameter.name)


NAMES = """\
<ir_version: 10, opset_import: [21]>
g (float[1] x, float[1] "a b", bool c) => (float[1] y) <float[1] weight = {1}, float[1] "$(rm)"> {
  [label] xs, "-f" = Split (x)
  "/a/b.0::c" = If (c) <then_branch = t () => (u) { u = Relu (x) }, else_branch = e () => (v) {
    v = Neg (x)
  }>
  y = Add (xs, weight)
}
"""


def test_values_of_a_model_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only names that a shell reads as one word are completed, also of a text with errors."""
    monkeypatch.chdir(tmp_path)  # its path may have a blank
    path = Path("m.onnxtxt")
    path.write_text(NAMES)
    wanted = ["x", "c", "weight", "xs", "label", "/a/b.0::c", "y", "u", "v"]
    assert values(f"explain-type {path} ") == wanted
    assert values(f"explain-type {path} y x") == ["x", "xs"]
    assert values(f"explain-type --depth 3 {path} /a") == ["/a/b.0::c"]
    path.write_text(NAMES.replace("Neg (x)", "Neg (x"))
    assert {"x", "weight", "label"} <= set(values(f"explain-type {path} "))
    binary = Path("m.onnx")
    binary.write_bytes(onnxtext.to_binary(NAMES))
    assert values(f"explain-type {binary} ") == wanted
    binary.write_bytes(b"\xff\xfe no model")
    for missing in (binary, "no.onnx", ".", "-"):
        assert values(f"explain-type {missing} ") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_are_printed_one_per_line(shell: str) -> None:
    asked = SHELLS[shell](group, {}, "onnxtext", "_ONNXTEXT_COMPLETE")
    lines = [asked.format_completion(item) for item in completions("", shell)]
    assert all(re.fullmatch(r"plain\t[a-z-]+\t\S[^\t\n]*", line) for line in lines)
    (line,) = map(asked.format_completion, completions("fmt ", shell))
    assert line == "file\t.onnxtxt .onnxtext"
    (line,) = map(asked.format_completion, completions("weights gc ", shell))
    assert line == "dir"


def test_nothing_heavy_is_imported() -> None:
    asked = {"_ONNXTEXT_COMPLETE": "bash_complete", "COMP_WORDS": "onnxtext\nexplain\nop-unkn"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "onnxtext"],
        env=environment(**asked, COMP_CWORD="2"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("plain\top-unknown\t")
    imported = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "click" in imported
    assert not {"onnx", "numpy", "google.protobuf", "lark", "rich"} & imported


def test_the_completion_command_prints_a_script() -> None:
    for shell in SHELLS:
        result = run("completion", shell)
        assert (result.status, result.err) == (0, "")
        assert b"_ONNXTEXT_COMPLETE=" in result.out
    assert run("completion", "sh").status == 2
    register()
    register()


# ---- Real shells --------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with files and the command."""
    for name in ("model.onnx", "model.onnxtxt", "my model.onnxtxt", "other.txt", "quoted.onnx"):
        (tmp_path / name).touch()
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "deep.onnx").touch()
    write_tool(tmp_path / "tools", environment())
    return tmp_path


def variables(place: Path, **more: str) -> dict[str, str]:
    path = f"{place / 'tools'}{os.pathsep}{os.environ['PATH']}"
    return environment(PATH=path, HOME=str(place), TERM="dumb", **more)


def typed(shell: list[str], setup: str, lines: list[str], place: Path) -> list[str]:
    """Type lines into a shell, each ended by the tab key; return the completed lines."""
    keys = setup + "".join(f"{line}\t\x01echo @\r" for line in lines) + "exit\r"
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(place)
        os.execvpe(shell[0], shell, variables(place, PS1="", HISTFILE="/dev/null"))
    os.write(terminal, keys.encode())
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the shell has ended
            break
        if not part:
            break
        output += part
    os.waitpid(process, 0)
    os.close(terminal)
    shown = output.decode("utf-8", "replace").replace("\r", "\n")
    return [line[1:].rstrip() for line in re.findall(r"^@onnxtext.*$", shown, re.MULTILINE)]


LINES = {
    "onnxtext comp": "onnxtext completion",
    "onnxtext explain op-unknown-d": "onnxtext explain op-unknown-domain",
    "onnxtext check --output-format sa": "onnxtext check --output-format sarif",
    "onnxtext check --output-format=sa": "onnxtext check --output-format=sarif",
    "onnxtext from-binary m": "onnxtext from-binary model.onnx",
    "onnxtext to-binary mo": "onnxtext to-binary model.onnxtxt",
    "onnxtext to-binary my": "onnxtext to-binary my model.onnxtxt",
    "onnxtext to-binary o": "onnxtext to-binary o",
    "onnxtext from-binary -o model.onnxtxt w": "onnxtext from-binary -o model.onnxtxt weights/",
    "onnxtext from-binary weights/": "onnxtext from-binary weights/deep.onnx",
    "onnxtext weights gc w": "onnxtext weights gc weights/",
}
"""Lines, and what they are after the tab key."""


def drawn_lines() -> dict[str, str]:
    """Draw commands; map each with an unambiguous start of an option to the completed line."""
    number = fresh_seed()
    print(f"seed {number}")
    found = {}
    for start, context in random.Random(number).sample(lines(), 8):
        options = long_options(context)
        option = random.Random(number).choice(options)
        for end in range(3, len(option) + 1):
            if [each for each in options if each.startswith(option[:end])] == [option]:
                words = " ".join(["onnxtext", *start.split()])
                found[f"{words} {option[:end]}"] = f"{words} {option}"
                break
    return found


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell}")
    return found


@pytest.mark.thorough
def test_bash_completes_lines(place: Path) -> None:
    shell = [needs("bash"), "--norc", "--noprofile", "-i"]
    wanted = {**LINES, "onnxtext to-binary o": "onnxtext to-binary other.txt", **drawn_lines()}
    setup = "source <(onnxtext completion bash)\r"
    assert typed(shell, setup, list(wanted), place) == list(wanted.values())


@pytest.mark.thorough
def test_zsh_completes_lines(place: Path) -> None:
    shell = [needs("zsh"), "-f", "-i"]
    setup = "bindkey -e; autoload -U compinit; compinit -u -D; source <(onnxtext completion zsh)\r"
    wanted = {**LINES, "onnxtext to-binary o": "onnxtext to-binary other.txt", **drawn_lines()}
    # zsh removes the slash of a completed directory at the next key.
    shown = [line.removesuffix("/") for line in wanted.values()]
    assert typed(shell, setup, list(wanted), place) == shown


@pytest.mark.thorough
def test_zsh_loads_the_script_from_a_file(place: Path) -> None:
    shell = [needs("zsh"), "-f", "-i"]
    (place / "functions").mkdir()
    (place / "functions" / "_onnxtext").write_bytes(run("completion", "zsh").out)
    setup = "bindkey -e; fpath=(~/functions $fpath); autoload -U compinit; compinit -u -D\r"
    lines = ["onnxtext comp", "onnxtext from-binary m", "onnxtext to-binary mo"]
    assert typed(shell, setup, lines, place) == [LINES[line] for line in lines]


@pytest.mark.thorough
def test_fish_completes_lines(place: Path) -> None:
    shell = needs("fish")
    script = "onnxtext completion fish | source\n"
    wanted = {**LINES, **drawn_lines()}
    for line in [*wanted, "onnxtext diff "]:
        script += f"complete --do-complete {shlex.quote(line)}; echo @\n"
    done = subprocess.run(
        [shell, "--no-config", "-c", script],
        cwd=place,
        env=variables(place, XDG_CONFIG_HOME=str(place), XDG_DATA_HOME=str(place)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    *answers, last = [part.split("\n")[:-1] for part in done.stdout.split("@\n")[:-1]]
    for (line, completed), answer in zip(wanted.items(), answers, strict=True):
        _, _, word = line.rpartition(" ")
        offered = [each.partition("\t")[0].replace("\\ ", " ") for each in answer]
        rest = completed.removeprefix(line.removesuffix(word))
        may_be = ([], [rest]) if line == completed else ([rest],)
        assert offered in may_be, line
    offered = sorted(each.partition("\t")[0].replace("\\ ", " ") for each in last)
    assert offered == ["fish/", "model.onnx", "model.onnxtxt", "my model.onnxtxt", "quoted.onnx",
                       "tools/", "weights/"]  # fmt: skip
