# SPDX-License-Identifier: Apache-2.0
"""`onnxtext show`: reading texts, parts of models, colors, statistics, the pager."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

import onnxtext
from tests.cli.command import BAD_TEXT, TEXT, Result, binary, environment, onnxtext_command, run
from tests.pages import blocks
from tests.show_model.test_show_command import STATISTICS, reading_text, weighted


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(weighted())
    return path


def shown(*arguments: str | Path, cwd: Path | None = None) -> str:
    result = run("show", *arguments, cwd=cwd)
    assert (result.status, result.err) == (0, "")
    return result.out.decode()


def test_show_prints_the_reading_text_with_statistics(model: Path) -> None:
    text = shown(model)
    assert "# min 0, max 299, mean 149.5, std 86.6" in text
    assert "stack_trace" not in text
    assert STATISTICS.sub("", text) == reading_text(weighted())


def test_show_reads_standard_input(model: Path) -> None:
    assert run("show", "-", stdin=model.read_bytes()).out.decode() == shown(model)


def test_missing_weights_have_no_statistics(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "m.onnxtxt"
    text.write_text(shown(model).replace(" # min", "\n# min"), encoding="utf-8")
    assert STATISTICS.search(shown(text)) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("yes", "# graph yes (then_branch of choice)\nyes () => (float[300] p) {\n"),
        ("choice.else_branch", "# graph no (else_branch of choice)\nno () => (float[300] q) {\n"),
        ("z.else_branch", "# graph no (else_branch of choice)\n"),
        ("Twice", "# function Twice\n<domain"),
        ("local.Twice", "# function Twice\n<domain"),
        ("main", "# graph main\nmain ("),
    ],
)
def test_a_single_graph_is_shown(model: Path, name: str, expected: str) -> None:
    assert shown(model, "--graph", name).startswith(expected)


def test_all_graphs_of_one_name_are_shown(tmp_path: Path, model: Path) -> None:
    proto = onnx.load(model)
    for attribute in proto.graph.node[1].attribute:
        attribute.g.name = "branch"
    onnx.save(proto, tmp_path / "b.onnx")
    text = shown(tmp_path / "b.onnx", "--graph", "branch")
    assert re.findall(r"^# (.*)$", text, re.MULTILINE) == [
        "graph branch (else_branch of choice)",
        "graph branch (then_branch of choice)",
    ]


def test_the_nodes_between_values_are_shown(model: Path) -> None:
    text = shown(model, "--from", "x", "--to", "y")
    assert text.startswith("# 3 of 4 nodes of graph main: from x to y\nmain (\n  float[300] x,\n")
    assert "Twice" not in text
    assert STATISTICS.search(text)
    assert shown(model, "--from", "z", "--to", "last").endswith(
        "main (z) => (float[300] y) {\n  [last] y = Relu (z)\n}\n"
    )
    onnxtext.parse(text)


def test_captured_values_count_as_uses(model: Path) -> None:
    text = shown(model, "--from", "a", "--to", "z")
    assert "# 1 of 4 nodes of graph main: from a to z\n" in text
    assert "main (\n  a,\n  bool flag,\n  float[300] x,\n) => (z) {" in text


@pytest.mark.parametrize(
    ("options", "message", "help"),
    [
        (["--from", "lasst"], "there is no value or node `lasst`", "did you mean `last`?"),
        (["--from", "y", "--to", "x"], "no path leads from y to x", "a path leads from x to y"),
        (["--from", "unused"], "no node depends on unused", None),
        (["--to", "x"], "no node computes x", None),
        (["--graph", "maybe"], "there is no graph or function `maybe`", "the model has `main`"),
        (["--find", "Softmax"], "no statement matches `Softmax`", None),
        (["--from", "p", "--to", "q"], "no graph contains all of `p`, `q`", None),
    ],
)
def test_nothing_to_show_is_an_error(
    model: Path, options: list[str], message: str, help: str | None
) -> None:
    result = run("show", model, *options, "--output-format", "json")
    assert (result.status, result.out) == (1, b"")
    (finding,) = result.findings()
    assert (finding["code"], finding["message"]) == ("nothing-to-show", message)
    assert finding["file"] == str(model)
    assert (finding["help"] or "").startswith(help or "")


def test_find_shows_matching_statements(model: Path) -> None:
    text = shown(model, "--find", "Relu|Exp", "-C", "0")
    assert text == (
        "# graph main: matches in 1 of 8 statements\n"
        "  # … 6 more\n"
        "  [last] y = Relu (z)\n"
        "  # … 1 more\n"
        "\n"
        "# graph yes (then_branch of choice): matches in 1 of 2 statements\n"
        "  # … 1 more\n"
        "  p = Exp (a)\n"
    )
    assert "  # … 5 more\n  [choice] z = If (flag) # and the graphs" in shown(
        model, "--find", "Relu", "-C", "1"
    )
    assert shown(model, "--find", "Add", "--graph", "Twice").count("Add") == 1


def test_a_wrong_pattern_is_wrong_usage(model: Path) -> None:
    result = run("show", model, "--find", "(")
    assert result.status == 2
    assert "'(' is not a regular expression" in result.err


def test_a_broken_text_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "bad.onnxtxt").write_text(
        BAD_TEXT.replace("y = Relu", "z = Tanh (x)\n  y = Relu"), encoding="utf-8"
    )
    result = run("show", "bad.onnxtxt", cwd=tmp_path)
    assert result.status == 1
    assert result.out.startswith(b"# 1 error: unreadable parts are left out\n<\n")
    assert b"z = Tanh (x)\n" in result.out
    assert " --> bad.onnxtxt:" in result.err
    (tmp_path / "worse.onnxtxt").write_text("? ! (", encoding="utf-8")
    result = run("show", "worse.onnxtxt", cwd=tmp_path)
    assert result.status == 1
    assert " --> worse.onnxtxt:1:1" in result.err


def test_a_broken_binary_is_an_error_with_its_offset(tmp_path: Path) -> None:
    (tmp_path / "cut.onnx").write_bytes(weighted()[:-100])
    result = run("show", "cut.onnx", cwd=tmp_path)
    assert result.status == 1
    assert "cut.onnx" in result.err
    assert "byte" in result.err


# ---- Terminals -------------------------------------------------------------------------------


def on_terminal(*arguments: str | Path, keys: bytes = b"", **changes: str) -> Result:
    """Run the command on a pseudo-terminal, which is its standard input and output too."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        onnxtext_command(*arguments),
        stdin=follower,
        stdout=follower,
        stderr=subprocess.PIPE,
        env=environment(**changes),
        start_new_session=True,
    )
    os.close(follower)
    killer = threading.Timer(60, process.kill)
    killer.start()
    if keys:
        os.write(leader, keys)
    result = b""
    try:
        while piece := os.read(leader, 1 << 16):
            result += piece
    except OSError:
        pass  # Linux raises this when no process has the terminal open
    os.close(leader)
    assert process.stderr is not None
    with process.stderr:
        messages = process.stderr.read().decode()
    status = process.wait()
    killer.cancel()
    return Result(status, result.replace(b"\r\n", b"\n"), messages)


def test_a_terminal_has_colors_and_a_pager(model: Path, tmp_path: Path) -> None:
    pager = f"tee {shlex.quote(str(tmp_path / 'paged'))}"
    result = on_terminal("show", model, PAGER=pager)
    assert (result.status, result.err) == (0, "")
    plain = re.sub(rb"\x1b\[[\d;]*m", b"", result.out).decode()
    assert plain == shown(model)
    assert result.out != plain.encode()
    assert (tmp_path / "paged").read_bytes() == result.out


@pytest.mark.parametrize("options", [("--no-pager",), ()])
def test_without_a_pager_the_text_is_printed(model: Path, options: tuple[str, ...]) -> None:
    pager = "false" if options else ""
    result = on_terminal("show", model, *options, "--color", "never", PAGER=pager)
    assert (result.status, result.out.decode()) == (0, shown(model))


def test_color_can_be_disabled_and_forced(model: Path) -> None:
    assert b"\x1b" not in on_terminal("show", model, "--no-pager", NO_COLOR="1").out
    assert b"\x1b" not in on_terminal("show", model, TERM="dumb").out
    assert b"\x1b[" in run("show", model, "--color", "always").out


def test_the_reader_quits_the_pager(tmp_path: Path) -> None:
    """The rest of the text is not computed, and no error is reported."""
    path = tmp_path / "long.onnx"
    path.write_bytes(binary(TEXT.replace("  y = Relu (x)", "  z = Tanh (x)\n" * 20000)))
    result = on_terminal("show", path, PAGER="head -n 3")
    assert (result.status, result.err) == (0, "")
    assert result.out.count(b"\n") == 3


def test_errors_follow_the_pager(tmp_path: Path) -> None:
    (tmp_path / "bad.onnxtxt").write_text(BAD_TEXT, encoding="utf-8")
    result = on_terminal("show", tmp_path / "bad.onnxtxt", PAGER="cat -n")
    assert result.status == 1
    assert b"     1\t" in result.out
    assert "error[unclosed-bracket]" in result.err


def test_a_missing_pager_causes_no_traceback(model: Path) -> None:
    result = on_terminal("show", model, PAGER="/nonexistent/pager")
    assert result.status in (0, 2)
    assert "Traceback" not in result.err


def test_less_shows_the_text(model: Path) -> None:
    """`less` ends by itself if the text fits on the screen; here `q` ends it."""
    result = on_terminal("show", model, keys=b"q", PAGER="less -R", LINES="10")
    assert result.status == 0
    assert b"ir_version" in result.out


def test_a_name_cannot_control_the_terminal(tmp_path: Path) -> None:
    text = TEXT.replace("Relu (x)", r'Relu <note = "\x1b]0;title\x07"> (x)')
    (tmp_path / "m.onnx").write_bytes(binary(text))
    result = on_terminal("show", tmp_path / "m.onnx", "--no-pager", "--color", "never").out
    assert b"\x1b" not in result
    assert b"\x07" not in result


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "long.onnx"
    path.write_bytes(binary(TEXT.replace("  y = Relu (x)", "  z = Tanh (x)\n" * 20000)))
    process = subprocess.Popen(
        onnxtext_command("show", path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == b"<\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.wait() in (0, -signal.SIGPIPE)


def test_the_page_shows_a_line_of_a_weight(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).standard_normal((1000, 64), dtype=np.float32)
    weights = [nh.from_array(numbers, name) for name in ("embed.weight", "other")]
    onnx.save(oh.make_model(oh.make_graph([], "g", [], [], weights)), tmp_path / "m.onnx")
    (line,) = re.findall(r"^.*embed\.weight.*\n", shown("m.onnx", cwd=tmp_path), re.MULTILINE)
    assert line in blocks("docs/commands.md", "text")


def test_context_alone_chooses_no_part(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(weighted())
    assert shown("--context", "5", path) == shown(path)
