# SPDX-License-Identifier: Apache-2.0
"""`onnxtext check` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import onnxtext
from tests.cli.command import run

GOOD = """\
<onnxtext: 1, ir_version: 10, opset_import: [21]>
g (float[2] x) => (float[2] y) {
  y = Relu (x)
}
"""
WRONG = GOOD.replace("Relu", "Rellu")
WARNING = GOOD.replace("{\n", "<float[2] gone> {\n")
UNSORTED = GOOD.replace("y = Relu (x)", "y = Relu (a)\n  a = Neg (x) # first")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("good", GOOD), ("wrong", WRONG), ("warning", WARNING)):
        (tmp_path / f"{name}.onnxtxt").write_text(text)
        (tmp_path / f"{name}.onnx").write_bytes(onnxtext.to_binary(text))
    (tmp_path / "unsorted.onnxtxt").write_text(UNSORTED)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "options", "status"),
    [
        ("good", [], 0),
        ("wrong", [], 1),
        ("warning", [], 0),
        ("warning", ["--strict"], 1),
        ("wrong", ["--ignore", "op-unknown"], 0),
        ("nowhere", [], 2),
        ("good", ["--select", "no-such-rule"], 2),
    ],
)
@pytest.mark.parametrize("suffix", [".onnx", ".onnxtxt"])
def test_the_exit_status_depends_on_findings_and_options(
    files: Path, name: str, options: list[str], status: int, suffix: str
) -> None:
    assert run("check", *options, f"{name}{suffix}", cwd=files).status == status


def test_each_output_format_shows_the_findings(files: Path) -> None:
    full = run("check", "wrong.onnxtxt", cwd=files)
    assert full.err.startswith(
        "error[op-unknown]: there is no operator `Rellu`\n --> wrong.onnxtxt:3:7\n"
    )
    assert "= help: did you mean `Relu`?" in full.err
    concise = run("check", "--output-format", "concise", "wrong.onnxtxt", "wrong.onnx", cwd=files)
    assert concise.err.splitlines() == [
        "wrong.onnxtxt:3:7: error: there is no operator `Rellu` [op-unknown]",
        "wrong.onnx: graph.node[0].op_type: error: there is no operator `Rellu` [op-unknown]",
    ]
    found = run("check", "--output-format", "json", "wrong.onnx", "warning.onnxtxt", cwd=files)
    assert [(item["file"], item["code"]) for item in json.loads(found.err)] == [
        ("wrong.onnx", "op-unknown"),
        ("warning.onnxtxt", "value-info-unknown"),
    ]
    assert found.out == b""


def test_check_reads_standard_input(files: Path) -> None:
    assert run("check", "-", stdin=WRONG.encode()).status == 1
    assert run("check", "-", stdin=onnxtext.to_binary(GOOD)).status == 0


def test_lints_are_off_until_they_are_selected(files: Path) -> None:
    assert run("check", "good.onnxtxt", cwd=files).err == ""
    shown = run("check", "--select", "all,style", "good.onnxtxt", cwd=files)
    assert shown.status == 0
    assert "hint[producer-missing]" in shown.err
    one = run("check", "--select", "producer-missing", "good.onnxtxt", cwd=files)
    assert "hint[producer-missing]" in one.err
    assert "model-domain-missing" not in one.err


def test_the_number_of_findings_is_bounded(tmp_path: Path) -> None:
    nodes = "\n".join(f"  n{i} = Op{i}Zq (x)" for i in range(200))
    path = tmp_path / "many.onnxtxt"
    path.write_text(GOOD.replace("  y = ", f"{nodes}\n  y = "))
    shown = run("check", "--output-format", "full", "many.onnxtxt", cwd=tmp_path)
    assert shown.err.count("error[op-unknown]") == 100
    assert "many.onnxtxt: 100 more findings; `--max-findings 0` shows all" in shown.err
    assert run("check", "--max-findings", "3", str(path)).err.count("error[") == 3
    one = run("check", "--max-findings", "199", "many.onnxtxt", cwd=tmp_path)
    assert "many.onnxtxt: 1 more finding; `--max-findings 0` shows all" in one.err
    assert run("check", "--max-findings", "0", str(path)).err.count("error[") == 200


def test_fix_repairs_the_file(files: Path) -> None:
    path = files / "unsorted.onnxtxt"
    assert run("check", "unsorted.onnxtxt", cwd=files).status == 1
    assert path.read_text() == UNSORTED
    done = run("check", "--fix", "unsorted.onnxtxt", cwd=files)
    assert done.status == 0
    assert "unsorted.onnxtxt: fixed: sort the nodes [node-order]" in done.err
    assert path.read_text() == GOOD.replace("y = Relu (x)", "a = Neg (x) # first\n  y = Relu (a)")
    before = path.stat().st_mtime_ns
    assert run("check", "--fix", "unsorted.onnxtxt", cwd=files).status == 0
    assert path.stat().st_mtime_ns == before


def test_fix_repairs_syntax_errors(files: Path) -> None:
    path = files / "unsorted.onnxtxt"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("10,", "10").replace("\n", "\r\n").encode())
    done = run("check", "--fix", "unsorted.onnxtxt", cwd=files)
    assert (done.status, done.err) == (0, "unsorted.onnxtxt: fixed: add `,` [missing-comma]\n")
    assert path.read_bytes() == b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()


def test_fix_changes_texts_only(files: Path) -> None:
    before = (files / "wrong.onnx").read_bytes()
    refused = run("check", "--fix", "wrong.onnx", cwd=files)
    assert refused.status == 2
    assert (files / "wrong.onnx").read_bytes() == before
    assert run("check", "--fix", "-", stdin=b"").status == 2


def settings(directory: Path, text: str) -> None:
    (directory / "pyproject.toml").write_text(text)


def test_settings_of_the_project_apply(files: Path) -> None:
    (files / "below").mkdir()
    (files / "wrong.onnxtxt").rename(files / "below" / "wrong.onnxtxt")
    settings(files, '[tool.onnxtext]\nignore = ["op-unknown"]\nselect = ["producer-missing"]\n')
    shown = run("check", "below/wrong.onnxtxt", cwd=files)
    assert shown.status == 0
    assert "producer-missing" in shown.err
    assert "op-unknown" not in shown.err
    again = run("check", "--select", "op-unknown", "below/wrong.onnxtxt", cwd=files)
    assert again.status == 1
    settings(files, "[tool.onnxtext]\nstrict = true\n")
    assert run("check", "warning.onnxtxt", cwd=files).status == 1


@pytest.mark.parametrize(
    "text",
    [
        "[tool.onnxtext]\nselect = 'op-unknown'\n",
        "[tool.onnxtext]\nselect = ['no-such-rule']\n",
        "[tool.onnxtext]\nno-such-setting = 1\n",
        "[tool.onnxtext]\nstrict = 1\n",
        "[tool.onnxtext]\nmax-findings = -1\n",
        "[tool.onnxtext\n",
    ],
)
def test_invalid_settings_are_errors(files: Path, text: str) -> None:
    settings(files, text)
    refused = run("check", "good.onnxtxt", cwd=files)
    assert refused.status == 2
    assert "pyproject.toml" in refused.err
    assert "Traceback" not in refused.err


def test_to_binary_rejects_errors(files: Path) -> None:
    refused = run("to-binary", "wrong.onnxtxt", "-o", "new.onnx", cwd=files)
    assert refused.status == 1
    assert "error[op-unknown]" in refused.err
    assert not (files / "new.onnx").exists()
    result = run("to-binary", "--no-check", "wrong.onnxtxt", "-o", "new.onnx", cwd=files)
    assert result.status == 0
    assert (files / "new.onnx").read_bytes() == onnxtext.to_binary(WRONG)
    assert run("to-binary", "warning.onnxtxt", "-o", "-", cwd=files).status == 0
    settings(files, '[tool.onnxtext]\nignore = ["op-unknown"]\n')
    assert run("to-binary", "wrong.onnxtxt", "-o", "-", cwd=files).status == 0
    assert run("from-binary", "wrong.onnx", "-o", "-", cwd=files).status == 0


HEADER = "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
MENDED = {
    "nodes out of order": (
        f"{HEADER}g (float[2] x) => (float[2] y) {{\n  y = Relu (a)\n  a = Neg (x) # kept\n}}\n",
        f"{HEADER}g (float[2] x) => (float[2] y) {{\n  a = Neg (x) # kept\n  y = Relu (a)\n}}\n",
        "sort the nodes [node-order]",
    ),
    "an unused initializer": (
        f"{HEADER}g (float[2] x) => (float[2] y) <\n  float[1] v = [1],\n  float[2] w = [1, 2],\n> "
        "{\n  y = Add (x, w)\n}\n",
        f"{HEADER}g (float[2] x) => (float[2] y) <\n  float[2] w = [1, 2],\n> "
        "{\n  y = Add (x, w)\n}\n",
        "remove `v` [value-unused]",
    ),
    "a value info of nothing": (
        f"{HEADER}g (float[2] x) => (float[2] y) <\n  float[2] gone,\n  float[2] w = [1, 2],\n> "
        "{\n  y = Add (x, w)\n}\n",
        f"{HEADER}g (float[2] x) => (float[2] y) <\n  float[2] w = [1, 2],\n> "
        "{\n  y = Add (x, w)\n}\n",
        "remove `gone` [value-info-unknown]",
    ),
    "a missing import": (
        "<onnxtext: 1, ir_version: 10>\ng (float[2] x) => (float[2] y) {\n  y = Relu (x)\n}\n",
        "<onnxtext: 1, ir_version: 10, opset_import: [21]>\n"
        "g (float[2] x) => (float[2] y) {\n  y = Relu (x)\n}\n",
        "import version 21 of the standard operators [opset-import-missing]",
    ),
    "a name that is nearly right": (
        f"{HEADER}g (float[2] x) => (float[2] y) {{\n  hidden = Neg (x)\n  y = Relu (hiden)\n}}\n",
        f"{HEADER}g (float[2] x) => (float[2] y) {{\n  hidden = Neg (x)\n  y = Relu (hidden)\n}}\n",
        "write `hidden` for `hiden` [value-undefined]",
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_fix_repairs_each_kind_of_finding(tmp_path: Path, name: str) -> None:
    before, after, said = MENDED[name]
    path = tmp_path / "m.onnxtxt"
    path.write_text(before)
    done = run("check", "--fix", "m.onnxtxt", cwd=tmp_path)
    assert (done.status, path.read_text()) == (0, after), done.err
    assert f"m.onnxtxt: fixed: {said}" in done.err


def test_fix_skips_uncertain_fixes_and_suppressed_findings(tmp_path: Path) -> None:
    path = tmp_path / "m.onnxtxt"
    for text in (WRONG, UNSORTED.replace("Relu (a)", "Relu (a) # onnxtext: ignore[node-order]")):
        path.write_text(text)
        run("check", "--fix", "m.onnxtxt", cwd=tmp_path)
        assert path.read_text() == text


def test_suppression_comments_are_applied_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "m.onnxtxt"
    path.write_text(WRONG.replace("(x)\n}", "(x) # onnxtext: ignore[op-unknown]\n}"))
    assert run("check", "m.onnxtxt", cwd=tmp_path).err == ""
    path.write_text(GOOD.replace("(x)\n}", "(x) # onnxtext: ignore[op-unknown]\n}"))
    unused = run("check", "m.onnxtxt", cwd=tmp_path)
    assert unused.status == 0
    assert "warning[unused-suppression]" in unused.err
    assert run("check", "--strict", "m.onnxtxt", cwd=tmp_path).status == 1
    ignored = run("check", "--ignore", "unused-suppression", "m.onnxtxt", cwd=tmp_path)
    assert ignored.err == ""


def test_options_override_settings(files: Path) -> None:
    settings(files, "[tool.onnxtext]\nmax-findings = 1\nprofile = 'style'\n")
    shown = run("check", "--output-format", "concise", "wrong.onnxtxt", cwd=files)
    assert len(shown.err.splitlines()) == 1
    assert "[op-unknown]" in shown.err  # errors first
    full = run("check", "--output-format", "full", "wrong.onnxtxt", cwd=files)
    assert "more findings; `--max-findings 0` shows all" in full.err
    shown = run(
        "check", "--output-format", "concise", "--max-findings", "0", "wrong.onnxtxt", cwd=files
    )
    assert "[producer-missing]" in shown.err
    settings(files, "[tool.onnxtext]\nignore = ['all']\n")
    assert run("check", "wrong.onnxtxt", cwd=files).status == 0


def test_infer_writes_inferred_types(files: Path) -> None:
    """`--infer` writes texts and binary models without errors; it replaces files only with `-f`."""
    text = GOOD.replace("  y = Relu (x)", "  a = Neg (x) # kept\n  y = Relu (a)")
    (files / "two.onnxtxt").write_text(text)
    wanted = text.replace("a =", "float[2] a =")
    done = run("check", "--infer", "-o", "made.onnxtxt", "two.onnxtxt", cwd=files)
    assert (done.status, done.err) == (0, "two.onnxtxt: 1 type added, 0 completed\n")
    assert (files / "made.onnxtxt").read_text() == wanted
    assert run("check", "--infer", "-o", "made.onnx", "two.onnxtxt", cwd=files).status == 0
    assert (files / "made.onnx").read_bytes() == onnxtext.to_binary(wanted)
    shown = run("check", "--infer", "-o", "-", "-", cwd=files, stdin=text.encode())
    assert shown.out.decode() == wanted
    refused = run("check", "--infer", "-o", "two.onnxtxt", "two.onnxtxt", cwd=files)
    assert refused.status == 2
    assert (files / "two.onnxtxt").read_text() == text
    assert run("check", "--infer", "-fo", "two.onnxtxt", "two.onnxtxt", cwd=files).status == 0
    assert (files / "two.onnxtxt").read_text() == wanted
    wrong = run("check", "--infer", "-o", "none.onnx", "wrong.onnxtxt", cwd=files)
    assert wrong.status == 1
    assert "has errors, so none.onnx is not written" in wrong.err
    assert not (files / "none.onnx").exists()


@pytest.mark.parametrize(
    "words",
    [["--infer"], ["-o", "x"], ["--infer", "-o", "x", "--fix"], ["--infer", "-o", "x", "two"]],
)
def test_infer_needs_one_file_and_an_output(files: Path, words: list[str]) -> None:
    assert run("check", *words, "good.onnxtxt", cwd=files).status == 2
