# SPDX-License-Identifier: Apache-2.0
"""`onnxtext run` as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import onnxtext
from onnxtext.cli.run_results import differences_as_text, outputs_as_object, outputs_as_text
from onnxtext.engines import ValueDifference
from tests.cli.command import BAD_TEXT, environment, run, run_patched
from tests.engines.test_engines import ENDLESS

TEXT = """\
<onnxtext: 1, ir_version: 10, opset_import: ["": 21]>
g (float[N, 2] x, int64 n) => (float[N, 2] y, int64 m) {
  a = Neg (x)
  f = Cast <to = 1> (n)
  y = Mul (a, f)
  m = Identity (n)
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a text, its binary model, and an input."""
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    (tmp_path / "m.onnx").write_bytes(onnxtext.to_binary(TEXT))
    (tmp_path / "other.onnxtxt").write_text(TEXT.replace("Neg", "Abs"))
    np.save(tmp_path / "x.npy", np.array([[1, 2], [3, 4]], np.float32))
    return tmp_path


def test_inputs_and_outputs_can_be_files(files: Path) -> None:
    words = ("--input", "x=@x.npy", "--input", "n=3", "--output", "y.npy", "--output", "m=n.npy")
    for file in ("m.onnxtxt", "m.onnx"):
        done = run("run", file, *words, cwd=files)
        assert (done.status, done.err) == (0, "")
        assert done.out.decode() == (
            "y: float[2, 2]\n  [[ -3.  -6.]\n   [ -9. -12.]]\nm: int64\n  3\n"
        )
        np.testing.assert_array_equal(np.load(files / "y.npy"), [[-3, -6], [-9, -12]])
        assert np.load(files / "n.npy") == 3
        (files / "y.npy").unlink()


@pytest.mark.thorough
def test_random_inputs_depend_on_the_seed_only(files: Path) -> None:
    words = ("run", "m.onnxtxt", "--random", "--dim", "N=3", "--input", "n=2", "--json")
    first = run(*words, cwd=files)
    assert first.status == 0
    result = json.loads(first.out)
    assert (result["y"]["type"], result["y"]["shape"]) == ("float", [3, 2])
    assert result["m"]["values"] == 2
    assert run(*words, cwd=files).out == first.out
    assert run(*words, "--seed", "1", cwd=files).out != first.out


def test_run_reads_standard_input() -> None:
    done = run("run", "-", "--random", stdin=TEXT.encode())
    assert done.status == 0


def test_an_input_can_be_a_sequence_of_different_shapes() -> None:
    text = (
        b"<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        b"g (seq(float[N]) s) => (seq(float[N]) t) { t = Identity (s) }"
    )
    done = run("run", "-", "--input", "s=[[1, 2], [3]]", stdin=text)
    expected = "t: sequence of 2\n  t[0]: float[2]\n    [1. 2.]\n  t[1]: float[1]\n    [3.]\n"
    assert (done.status, done.out.decode()) == (0, expected)
    done = run("run", "-", "--input", 's=[[1, 2], "a"]', stdin=text)
    assert "`s[1]` must have the shape [N]; the given array has []" in done.err
    done = run("run", "-", "--input", "s=[[1, 2], null]", stdin=text)
    assert "`[[1, 2], null]` is neither a number nor a list with rows of equal length" in done.err


def test_an_input_can_be_a_sequence_of_strings_of_different_shapes() -> None:
    text = (
        b"<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        b"g (seq(string[]) s) => (seq(string[]) t) { t = Identity (s) }"
    )
    done = run("run", "-", "--input", 's=["a", ["b"]]', stdin=text)
    expected = "t: sequence of 2\n  t[0]: string\n    'a'\n  t[1]: string[1]\n    ['b']\n"
    assert (done.status, done.out.decode()) == (0, expected)


def test_large_outputs_have_statistics(files: Path) -> None:
    done = run("run", "m.onnx", "--random", "--dim", "N=100", "--input", "n=1", cwd=files)
    assert b"y: float[100, 2]  # min -" in done.out
    assert b"..." in done.out


def test_complex_numbers_are_pairs_in_json() -> None:
    values = np.full(100, 1 - 2j, np.complex64)
    assert outputs_as_object({"y": values[:2]})["y"]["values"] == [[1, -2], [1, -2]]
    assert outputs_as_text({"y": values}).startswith("y: complex64[100]\n  [1.-2.j 1.-2.j")


def test_strings_keep_null_characters() -> None:
    text = (
        b"<onnxtext: 1, ir_version: 10, opset_import: [21]>"
        b"g (string[2] s) => (string[2] t) { t = Identity (s) }"
    )
    done = run("run", "-", "--json", "--input", r's=["a\u0000", "b"]', stdin=text)
    assert json.loads(done.out)["t"]["values"] == ["a\0", "b"]


def test_results_say_how_many_lines_and_values_are_left_out() -> None:
    sequence = outputs_as_text({"s": [np.zeros(1, "<f4")] * 70})
    assert sequence.splitlines()[-1] == "  … (lines left out: 80)"
    values = [
        ValueDifference(f"v{n}", is_output=False, elements=1, changed=1, largest=n, relative=1)
        for n in range(30)
    ]
    table = differences_as_text(values, "a", "b", {}).splitlines()
    assert "inner values that differ: 30, the 20 with the largest differences:" in table
    assert len([line for line in table if line.startswith("  v")]) == 20


@pytest.mark.thorough
def test_compare_shows_which_values_differ(files: Path) -> None:
    words = ("--input", "x=@x.npy", "--input", "n=3")
    same = run("run", "m.onnx", "--compare", "m.onnxtxt", *words, cwd=files)
    assert (same.status, same.err) == (0, "")
    assert "  y  equal\n  m  equal\n" in same.out.decode()
    other = run("run", "m.onnx", "--compare", "other.onnxtxt", *words, cwd=files)
    assert other.status == 1
    assert other.out.decode().splitlines() == [
        "m.onnx and other.onnxtxt: compared the 4 values that both have",
        "outputs:",
        "  y  4 of 4 elements differ, by up to 24, relative 2",
        "  m  equal",
        "inner values that differ: 1, the largest differences first:",
        "  a  4 of 4 elements differ, by up to 8, relative 2",
        "the first value that differs: a",
    ]
    wide = run("run", "m.onnx", "--compare", "other.onnxtxt", *words, "--atol", "50", cwd=files)
    assert wide.status == 0
    found = run("run", "m.onnx", "--compare", "other.onnxtxt", *words, "--json", cwd=files)
    rows = json.loads(found.out)
    assert [row["name"] for row in rows if row["changed"]] == ["a", "y"]


def test_compare_lists_outputs_that_one_model_lacks(files: Path) -> None:
    words = ("--input", "x=@x.npy", "--input", "n=3")
    (files / "none.onnxtxt").write_text(TEXT.replace("y, int64 m)", "z)").replace("y =", "z ="))
    none = run("run", "m.onnx", "--compare", "none.onnxtxt", *words, cwd=files)
    assert none.status == 1
    assert none.out.decode().splitlines()[1:] == [
        "outputs:",
        "  y  only in m.onnx",
        "  m  only in m.onnx",
        "  z  only in none.onnxtxt",
    ]
    text = TEXT.replace("int64 m)", "float[N, 2] long)").replace("y =", "long = Neg (x) y =")
    (files / "long.onnxtxt").write_text(text)
    long = ("run", "m.onnx", "--compare", "long.onnxtxt", *words)
    some = run(*long, cwd=files)
    assert (some.status, some.out.decode().splitlines()[1:]) == (
        0,
        ["outputs:", "  y     equal", "  m     only in m.onnx", "  long  only in long.onnxtxt"],
    )
    row = json.loads(run(*long, "--json", cwd=files).out)[-1]
    assert (row["name"], row["note"]) == ("long", "only in long.onnxtxt")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 1, "error[run-input]: inputs are missing: `x`, `n`"),
        (["--random", "--input", "z=1"], 1, "error[run-input]: the model has no input `z`"),
        (["--random", "--input", "n=1.5"], 1, "error[run-input]: `n` must be int64"),
        (
            ["--random", "--input", "x=[1, 2]"],
            1,
            "`x` must have the shape [N, 2]; the given array has [2]",
        ),
        (
            ["--random", "--input", "x=[[1]]"],
            1,
            "`x` must have the shape [N, 2]; the given array has [1, 1]",
        ),
        (["--random", "--input", "x=hello"], 2, "error[no-input]: `hello` is neither a number"),
        (["--random", "--input", "x=null"], 2, "error[no-input]: `null` is neither a number"),
        (["--random", "--input", 'x={"a": 1}'], 2, "is neither a number nor a list"),
        (["--random", "--input", 'x="a"'], 2, "is neither a number nor a list"),
        (["--random", "--input", "x=@none.npy"], 2, "error[cannot-read]: cannot read none.npy"),
        (["--random", "--input", "x=@m.onnx"], 2, "error[no-input]: m.onnx is not a .npy file"),
        (["--random", "--output", "z.npy"], 2, "error[no-input]: the model has no output `z`"),
        (["--random", "--output", "y=no/y.npy"], 2, "error[cannot-write]"),
        (["--random", "--output", "y=-"], 2, "error[cannot-write]: `y=-` does not name a file"),
        (["--random", "--output", "y=./m.onnx"], 2, "error[output-is-input]: m.onnx would be"),
        (
            ["--random", "--output", "y=m.onnxtxt"],
            2,
            "error[output-exists]: an output would overwrite m.onnxtxt, which has the suffix of a "
            "model",
        ),
        (["--random", "--output", f"y={'a' * 300}.onnx"], 2, "error[cannot-write]"),
        (
            ["--random", "--output", "y=a.npy", "--output", "m=a.npy"],
            2,
            "error[output-exists]: y and m would both be written to a.npy",
        ),
        (["--random", "--dim", f"N={1 << 70}"], 1, "error[run-input]: cannot make a random value"),
        (["--random", "--rtol", "nan"], 2, "'nan' is not a finite number"),
        (["--random", "--timeout", "1e300"], 2, "is not in the range"),
        (["--random", "--memory", "9" * 30], 2, "is not in the range"),
        (["--random", "--memory", "x"], 2, "'x' is not a valid integer."),
        (["--random", "--timeout", "x"], 2, "'x' is not a valid number."),
        (["--input", "x=@"], 2, "a file name is missing after `@`"),
        (
            ["--random", "--dim", "M=3"],
            1,
            "error[run-input]: no input has a symbolic dimension `M`",
        ),
        (["--random", "--dim", "M=3"], 1, "their symbolic dimensions: `N`"),
        (["--random", "--dim", "n=3"], 1, "did you mean `N`?"),
        (["--random", "--dim", "N=x"], 2, "The size of N is not a number"),
        (["--random", "--dim", "N=2", "--dim", "N=3"], 2, "The size of N is given twice"),
        (["--input", "n=1", "--input", "n=2"], 2, "error[no-input]: input n is given twice"),
        (["--random", "--seed", "-1"], 2, "-1 is not in the range x>=0"),
        (["--random", "--input", f"x={'[' * 5000}"], 2, "is neither a number nor a list"),
        (["--random", "--input", f"n={'9' * 20}"], 1, "`n` must be int64, which cannot hold the"),
        (["--input", "x"], 2, "'x' is not of the form NAME=VALUE"),
        (["--engine", "nothing"], 2, "'nothing' is not one of"),
        (["--random", "--compare", "none.onnx"], 2, "error[cannot-read]: cannot read none.onnx"),
    ],
)
def test_wrong_arguments_are_errors(words: list[str], status: int, said: str, files: Path) -> None:
    done = run("run", "m.onnx", *words, cwd=files)
    assert done.status == status
    assert said in done.err


@pytest.mark.thorough
def test_models_that_the_engine_rejects_are_errors(files: Path) -> None:
    (files / "m.onnxtxt").write_text(TEXT.replace("Neg", "Nagg"))
    done = run("run", "m.onnxtxt", "--random", cwd=files)
    assert (done.status, done.out) == (1, b"")
    assert "error[run-failed]: onnx cannot run m.onnxtxt: " in done.err


@pytest.mark.thorough
def test_output_files_can_be_inputs(tmp_path: Path) -> None:
    """`--input` reads the files of `--output`, also of types that .npy files cannot name."""
    elements = [
        "bfloat16",
        "float8e4m3fn",
        "float8e5m2",
        "int4",
        "uint4",
        "float16",
        "bool",
        "string",
        "complex64",
    ]
    inputs = ", ".join(f'{element}[2] "a={element}"' for element in elements)
    outputs = ", ".join(f"{element}[2] {element}" for element in elements)
    nodes = "\n".join(f'{element} = Identity ("a={element}")' for element in elements)
    header = "<ir_version: 10, opset_import: [21]>"
    (tmp_path / "m.onnxtxt").write_text(f"{header} g ({inputs}) => ({outputs}) {{\n{nodes}\n}}")
    files = [f"{element}.npy" for element in elements]
    written = [word for file in files for word in ("--output", file)]
    first = run("run", "m.onnxtxt", "--random", *written, cwd=tmp_path)
    assert (first.status, first.err) == (0, "")
    read = [word for element in elements for word in ("--input", f"a={element}=@{element}.npy")]
    again = run("run", "m.onnxtxt", *read, cwd=tmp_path)
    assert (again.status, again.err, again.out) == (0, "", first.out)


@pytest.mark.thorough
def test_a_run_over_its_limits_is_an_error(files: Path) -> None:
    (files / "e.onnxtxt").write_text(ENDLESS)
    done = run("run", "e.onnxtxt", "--random", "--timeout", "0.5", cwd=files)
    assert (done.status, done.out) == (1, b"")
    assert "error[run-limit]: onnx has not finished e.onnxtxt after 0.5 seconds" in done.err
    assert (
        run("run", "m.onnx", "--random", "--timeout", "0", "--memory", "900", cwd=files).status == 0
    )
    for words in (["--timeout", "-1"], ["--timeout", "x"], ["--memory", "0"]):
        assert run("run", "m.onnx", "--random", *words, cwd=files).status == 2


def _runs(group: int) -> bool:
    """Return whether a process group has a process, running or not yet waited for."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups of this kind")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_engine(files: Path, number: signal.Signals) -> None:
    (files / "e.onnxtxt").write_text(ENDLESS)
    place = files / "tmp"
    place.mkdir()
    command = [sys.executable, "-m", "onnxtext", "run", "e.onnxtxt", "--random"]
    running = subprocess.Popen(
        command,
        cwd=files,
        env=environment(TMPDIR=str(place)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not list(place.glob("onnxtext-run-*/inputs/values.json")):
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(running.pid, number)  # signals only the command, not its engine
    out, err = running.communicate(timeout=60)
    end = time.monotonic() + 60
    assert running.returncode == 128 + number
    assert (out, err.strip()) == (b"", b"")
    assert list(place.iterdir()) == []
    while _runs(running.pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_invalid_models_are_errors(files: Path) -> None:
    (files / "bad.onnxtxt").write_text(BAD_TEXT)
    done = run("run", "bad.onnxtxt", "--random", cwd=files)
    assert (done.status, done.out) == (1, b"")
    assert run("run", "none.onnx", cwd=files).status == 2


@pytest.mark.parametrize("name", ["first", "last", "size", "inner"])
def test_names_that_are_not_utf8_are_errors(files: Path, name: str) -> None:
    nodes = "inner = Neg (first) last = Abs (inner)"
    graph = f"g (float[size] first) => (float[size] last) {{{nodes}}}"
    text = f"<ir_version: 10, opset_import: [21]> {graph}"
    data = onnxtext.to_binary(text).replace(name.encode(), b"\xff" * len(name))
    (files / "odd.onnx").write_bytes(data)
    for arguments in (("odd.onnx", "--dim", "M=2"), ("m.onnx", "--compare", "odd.onnx")):
        done = run("run", *arguments, "--random", cwd=files)
        assert (done.status, done.out) == (1, b"")
        assert "a name is not UTF-8: b'\\xff" in done.err
        assert "--> odd.onnx: model" in done.err


FULL_DISK = """
import numpy

save = numpy.save

def fail(file, *arguments, **options):
    if not hasattr(file, "write"):
        return save(file, *arguments, **options)
    file.write(b"half")
    raise OSError(28, "full")

numpy.save = fail
"""


def test_outputs_are_replaced_atomically(files: Path) -> None:
    (files / "y.npy").write_bytes(b"old")
    done = run_patched(FULL_DISK, "run", files / "m.onnx", "--random", "--output", files / "y.npy")
    assert done.status == 2
    assert done.err == f"error[cannot-write]: cannot write {files / 'y.npy'}: full\n"
    assert (files / "y.npy").read_bytes() == b"old"


def test_names_of_outputs_contain_equals_signs(tmp_path: Path) -> None:
    text = TEXT.replace("2] y", '2] "y=z"').replace("y = Mul", '"y=z" = Mul')
    (tmp_path / "m.onnxtxt").write_text(text)
    assert run("run", "m.onnxtxt", "--random", "--output", "y=z=a.npy", cwd=tmp_path).status == 0
    assert (tmp_path / "a.npy").exists()
