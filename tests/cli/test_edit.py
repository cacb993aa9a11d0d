# SPDX-License-Identifier: Apache-2.0
"""`onnxtext edit` as a process: inputs, outputs, messages and errors."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

import onnxtext
from onnxtext.cli.commands.edit import EXAMPLES, command
from tests.cli.command import BAD_TEXT, NO_MODEL, names, run

TEXT = """\
# head
<onnxtext: 1, ir_version: 10, opset_import: ["":21]>
g (float[N, 2] x) => (float[N, 2] y) # graph
< float[2] w = [1,2] >
{
  # first
  @doc("what") [one] a = Relu(x) # behind
  [two] b = Mul( a, w )
  y = Softmax <axis: int = 1> (b)
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a text and its binary model."""
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "m.onnx").write_bytes(onnxtext.to_binary(TEXT))
    np.save(tmp_path / "w.npy", np.array([3, 4], np.float32))
    np.save(tmp_path / "double.npy", np.array([3, 4.0]))
    return tmp_path


EDITS = {
    "rename": (["rename", "two", "zwei"], [("[two] b = Mul( a, w )", "[zwei] b = Mul (a, w)")]),
    "rename a value": (
        ["rename", "b", "z"],
        [("b = Mul( a, w )", "z = Mul (a, w)"), ("<axis: int = 1> (b)", "<axis = 1> (z)")],
    ),
    "set-shape": (["set-shape", "x=[batch,2]"], [("[N, 2]", "[batch, 2]")]),
    "set-attribute": (["set-attribute", "y", "axis = -1"], [("axis: int = 1", "axis = -1")]),
    "insert": (
        ["insert", "c = Neg (b)", "--instead-of", "b"],
        [("y = Softmax <axis: int = 1> (b)", "c = Neg (b)\n  y = Softmax <axis = 1> (c)")],
    ),
    "remove": (
        ["remove", "two"],
        [("  [two] b = Mul( a, w )\n", ""), ("<axis: int = 1> (b)", "<axis = 1> (a)")],
    ),
    "replace-weight": (["replace-weight", "w=@w.npy"], [("[1,2]", "[3, 4]")]),
    "set-opset": (["set-opset", "20"], [('"":21', '"":20')]),
    "strip": (
        ["strip", "doc", "metadata"],
        [('@doc("what") [one] a = Relu(x)', "[one] a = Relu (x)")],
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_each_edit_shows_and_writes_its_change(name: str, files: Path) -> None:
    words, pairs = EDITS[name]
    wanted = TEXT
    for old, new in pairs:
        assert old in wanted
        wanted = wanted.replace(old, new)
    before = names(files)
    shown = run("edit", "m.onnxtxt", *words, "--diff", cwd=files)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.decode().startswith("--- m.onnxtxt\n+++ m.onnxtxt (edited)\n@@ ")
    assert (files / "m.onnxtxt").read_text() == TEXT
    done = run("edit", "m.onnxtxt", *words, cwd=files)
    assert (done.status, done.out, done.err) == (0, b"", "")
    result = (files / "m.onnxtxt").read_text()
    assert result == wanted
    assert run("edit", "m.onnx", *words, cwd=files).status == 0
    assert (files / "m.onnx").read_bytes() == onnxtext.to_binary(result)
    assert names(files) == before


@pytest.mark.parametrize("name", ["rename", "replace-weight"])
def test_the_difference_of_a_binary_is_that_of_its_text(name: str, files: Path) -> None:
    before = (files / "m.onnx").read_bytes()
    diff = run("edit", "m.onnx", *EDITS[name][0], "--diff", cwd=files)
    assert (diff.status, diff.err) == (0, "")
    assert diff.out.startswith(b"--- m.onnx\n+++ m.onnx (edited)\n@@ ")
    assert (files / "m.onnx").read_bytes() == before


def test_extract_writes_a_part_of_the_model(files: Path) -> None:
    done = run("edit", "m.onnx", "extract", "--from", "a", "--to", "b", "-o", "p.onnx", cwd=files)
    assert (done.status, done.err) == (0, "")
    model = onnx.load(files / "p.onnx")
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    (entering,) = model.graph.input  # its type is inferred
    assert entering.type.tensor_type.HasField("shape")
    assert run("edit", "m.onnx", "extract", cwd=files).status == 2


def test_edits_write_to_the_given_output(files: Path) -> None:
    words = ("rename", "a", "z")
    filtered = run("edit", "-", *words, stdin=TEXT.encode())
    assert b"Mul (z, w)" in filtered.out
    assert run("edit", "m.onnx", *words, "-o", "-", cwd=files).out.count(b"z") == 2
    assert run("edit", "m.onnxtxt", *words, "-o", "made.onnx", cwd=files).status == 0
    assert run("edit", "m.onnx", *words, "-o", "made.onnxtxt", cwd=files).status == 0
    result = (files / "made.onnx").read_bytes()
    assert onnxtext.to_binary((files / "made.onnxtxt").read_text()) == result
    again = run("edit", "m.onnx", "rename", "a", "q", "-o", "made.onnx", cwd=files)
    assert again.status == 2
    assert "error[output-exists]: made.onnx exists and has other content" in again.err
    assert (files / "made.onnx").read_bytes() == result
    assert run("edit", "m.onnx", "rename", "a", "q", "-fo", "made.onnx", cwd=files).status == 0


def test_nothing_is_written_without_a_change(files: Path) -> None:
    path = files / "m.onnxtxt"
    path.chmod(0o444)
    before = path.stat()
    assert run("edit", "m.onnxtxt", "set-opset", "21", cwd=files).status == 0
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["rename", "aa", "z"], 1, "error[edit-unknown-name]: there is no value or node `aa`"),
        (["rename", "a", "b"], 1, "error[edit-refused]: `b` is already a value of `g`"),
        (["set-shape", "x"], 2, "'x' is not of the form 'x=[batch,3]'"),
        (["set-shape", "x=[1"], 1, "error[unclosed-bracket]"),
        (["set-shape", "x=batch,2"], 1, "error[edit-refused]: `batch,2` is not a shape"),
        (["extract", "--from", "b", "--to", "a"], 1, "to compute `a`, `x` must be given"),
        (["extract", "--to", "w"], 1, "no path leads from `x` to `w`"),
        (["set-attribute", "y", "axis"], 1, "error[syntax-error]"),
        (["insert", "c = Neg (b"], 1, "error[unclosed-bracket]"),
        (["insert", "c = Neg (b)", "--after", "a", "--before", "b"], 2, "cannot be combined"),
        (["replace-weight", "w=3"], 2, "'3' does not begin with @"),
        (["replace-weight", "w=@none.npy"], 2, "error[cannot-read]: cannot read none.npy"),
        (["replace-weight", "w=@m.onnx"], 2, "error[no-input]: m.onnx is not a .npy file"),
        (["replace-weight", "w=@"], 2, "'w=@' is not of the form 'w=@w.npy'"),
        (["set-opset", "0"], 2, "0 is not in the range x>=1"),
        (["set-opset", "x"], 2, "'x' is not a valid integer."),
        (["strip", "names"], 2, "'names' is not one of"),
        (["rename"], 2, "Missing argument 'OLD'"),
        (["nothing"], 2, "No such command 'nothing'.\n"),
        (["renam", "a", "b"], 2, "No such command 'renam'. Did you mean 'rename'?"),
        ([], 2, ""),
    ],
)
def test_failed_edits_leave_the_file_unchanged(
    words: list[str], status: int, said: str, files: Path
) -> None:
    for file in ("m.onnxtxt", "m.onnx"):
        before = (files / file).read_bytes()
        done = run("edit", file, *words, cwd=files)
        assert done.status == status
        assert said in done.err
        assert (files / file).read_bytes() == before


@pytest.mark.parametrize("end", ["\n", "", "\n\n", "\r\n"])
@pytest.mark.parametrize("verb", ["edit", "fmt"])
def test_git_applies_the_difference_that_is_shown(verb: str, end: str, tmp_path: Path) -> None:
    file = tmp_path / "m.onnxtxt"
    file.write_bytes((TEXT.rstrip("\n") + end).encode())
    words = ["fmt", "m.onnxtxt"] if verb == "fmt" else ["edit", "m.onnxtxt", "rename", "y", "z"]
    shown = run(*words, "--diff", cwd=tmp_path).out
    shown = re.sub(rb"(?m)^(\+\+\+ .*) \(\w+\)$", rb"\1", shown)
    git = ["git", "apply", "-p0", "--whitespace=nowarn", "-"]
    applied = tmp_path / "applied"
    applied.mkdir()
    (applied / "m.onnxtxt").write_bytes(file.read_bytes())
    subprocess.run(git, cwd=applied, input=shown, check=True)
    assert run(*words, cwd=tmp_path).status == 0
    assert (applied / "m.onnxtxt").read_bytes() == file.read_bytes()


def test_an_edit_before_the_file_is_an_error_that_shows_the_right_order(files: Path) -> None:
    done = run("edit", "rename", "m.onnxtxt", "a", "z y", "--diff", cwd=files)
    assert (done.status, done.out) == (2, b"")
    assert "FILE comes first: onnxtext edit m.onnxtxt rename a 'z y' --diff" in done.err
    (files / "rename").write_text(TEXT)
    assert run("edit", "rename", "rename", "a", "z", cwd=files).status == 0
    assert "z = Relu" in (files / "rename").read_text()


@pytest.mark.parametrize("words", [[], ["m.onnx"], ["rename"]])
def test_the_help_of_an_edit_needs_no_file(words: list[str]) -> None:
    """`edit rename rename --help` has a file that is named `rename`."""
    done = run("edit", "rename", *words, "--help")
    shown = done.out.decode()
    assert done.status == 0
    assert shown.startswith("Usage: onnxtext edit FILE rename [OPTIONS] OLD NEW\n")
    assert [line for line in shown.splitlines() if line.startswith("    onnxtext ")] == [
        "    onnxtext edit model.onnx rename hidden features"
    ]
    assert "Exit status:" in shown


def test_invalid_files_are_errors(files: Path) -> None:
    (files / "bad.onnxtxt").write_text(BAD_TEXT)
    (files / "bad.onnx").write_bytes(NO_MODEL)
    for file in ("bad.onnxtxt", "bad.onnx"):
        assert run("edit", file, "rename", "a", "b", cwd=files).status == 1
    assert run("edit", "none.onnx", "rename", "a", "b", cwd=files).status == 2


def test_obstacles_of_an_edit_are_reported(files: Path) -> None:
    done = run("edit", "m.onnxtxt", "replace-weight", "w=@double.npy", cwd=files)
    assert done.status == 1
    assert "info[edit-note]: the type of `w` changes from float[2] to double[2]" in done.err
    assert "error[type-mismatch]" in done.err
    assert "double[2] w = [3, 4]" in (files / "m.onnxtxt").read_text()
    again = run("edit", "m.onnxtxt", "rename", "a", "z", cwd=files)
    assert (again.status, again.err) == (0, "")  # that error is not new


RESHAPED = """\
<ir_version: 10, opset_import: ["":21]>
g (float[1, 4] x) => (float[1, 4] y) <int64[2] s = {1, 4}> {
  float[1, 4] a = Relu (x)
  y = Reshape (a, s)
}
"""


def test_make_symbolic_reports_and_fixes_obstacles(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(RESHAPED)
    words = ("edit", "m.onnxtxt", "make-symbolic", "x", "0", "batch")
    done = run(*words, "--diff", cwd=tmp_path)
    assert done.status == 1
    assert "warning[dim-forced]: the dimension `batch` must be 1" in done.err
    assert "m.onnxtxt:4:7" in done.err
    assert "edit-obstacle" not in done.err
    fixed = run(*words, "--fix", cwd=tmp_path)
    assert fixed.status == 0
    assert "info[edit-note]: element 0 of `s`, the shape given to `Reshape`, is 0 now" in fixed.err
    result = (tmp_path / "m.onnxtxt").read_text()
    assert result == RESHAPED.replace("[1, 4]", "[batch, 4]").replace("{1, 4}", "{0, 4}")
    custom = RESHAPED.replace("y = Reshape (a, s)", "y = Add (a, w)").replace(
        "int64[2] s = {1, 4}", "float[1, 4] w = {1, 2, 3, 4}"
    )
    (tmp_path / "c.onnxtxt").write_text(
        custom.replace("[1, 4]", "[2, 4]").replace("3, 4}", "3, 4, 5, 6, 7, 8}")
    )
    refused = run("edit", "c.onnxtxt", "make-symbolic", "x", "0", "batch", cwd=tmp_path)
    assert refused.status == 1
    assert (
        "warning[edit-obstacle]: the dimension `batch` must be 1 or 2:"
        " `Add` accepts no other sizes (`Add` of `y`)" in refused.err
    )
    assert run("edit", "c.onnxtxt", "make-symbolic", "q", "0", "b", cwd=tmp_path).status == 1


def test_several_shapes_are_set_together(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(
        "<ir_version: 10, opset_import: [21]>\n"
        "g (float[] a, float[] b) => (float[2, 4] y) { y = MatMul (a, b) }"
    )
    done = run("edit", "m.onnxtxt", "set-shape", "a=[2,3]", "b=[3,4]", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "(float[2, 3] a, float[3, 4] b)" in (tmp_path / "m.onnxtxt").read_text()


def test_names_and_files_can_contain_equals_signs(files: Path) -> None:
    (files / "w.npy").rename(files / "a=b.npy")
    assert run("edit", "m.onnx", "rename", "w", "k=v", cwd=files).status == 0
    assert run("edit", "m.onnx", "replace-weight", "k=v=@a=b.npy", cwd=files).status == 0
    (weight,) = onnx.load(files / "m.onnx").graph.initializer
    assert onnx.numpy_helper.to_array(weight).tolist() == [3, 4]
    assert run("edit", "m.onnx", "rename", "x", "x=y", cwd=files).status == 0
    assert run("edit", "m.onnx", "set-shape", "x=y=[3,2]", cwd=files).status == 0


def test_rename_finds_values_before_labels(files: Path) -> None:
    assert run("edit", "m.onnx", "rename", "one", "b", cwd=files).status == 0
    assert run("edit", "m.onnx", "rename", "--label", "b", "eins", cwd=files).status == 0
    node, *_ = onnx.load(files / "m.onnx").graph.node
    assert (node.name, node.output[0]) == ("eins", "a")


@pytest.mark.parametrize("edit", [("set-opset", "18"), ("extract", "--to", "y")])
def test_a_wrong_presence_default_is_no_internal_error(
    edit: tuple[str, ...], tmp_path: Path
) -> None:
    text = TEXT.replace("ir_version: 10,", "ir_version: 10, explicit: [node.foo],")
    (tmp_path / "m.onnxtxt").write_text(text)
    result = run("edit", "m.onnxtxt", *edit, cwd=tmp_path)
    assert "internal-error" not in result.err
    assert "explicit: [node.foo]" in (tmp_path / "m.onnxtxt").read_text()


def test_help_and_page_show_every_edit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    lacking = {
        "EXAMPLES in onnxtext/cli/commands/edit.py": {
            verb for verb in command.commands if f" {verb} " not in EXAMPLES
        },
        "docs/commands.md": {verb for verb in command.commands if f"\n| `{verb} " not in page},
    }
    assert {place: verbs for place, verbs in lacking.items() if verbs} == {}
