# SPDX-License-Identifier: Apache-2.0
"""onnx's inference aborts, segfaults, loops and exhausts the memory: onnxtext survives that."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import onnxtext
from onnxtext.checker.isolation import child, inference, process
from onnxtext.checker.isolation.inference import Inference, close_workers
from onnxtext.checker.isolation.process import Died, Failure, Worker
from onnxtext.checker.isolation.watch import Watch, memory_of
from onnxtext.diagnostics import Diagnostic

CODE = "onnx-inference-failed"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

CASES = {
    "split-abort": (18, "float[6] x", "a, b, c = Split <num_outputs = 2> (x)"),
    "split-memory": (18, "float[6] x", "a = Split <num_outputs = 4294967296> (x)"),
    "einsum-loop": (
        19,
        "float[3, 3, 3] x, float[3, 3, 3] w",
        'a = Einsum <equation = "......ii,...jj->...ij"> (x, w)',
    ),
    "gathernd-segfault": (
        12,
        "float[2, 3] x, int64[2, 1] i",
        "a = GatherND <batch_dims = -2147483648> (x, i)",
    ),
    "layernorm-segfault": (
        17,
        "float[2, 3] x, float[3] w",
        "a, m, v = LayerNormalization <axis = 9223372036854775807> (x, w)",
    ),
    "slice-abort": (
        13,
        "float[-2147483648, 3] x",
        """s = Constant <value = int64[1] {0}> ()
  e = Constant <value = int64[1] {1}> ()
  a = Slice (x, s, e, s)""",
    ),
}
CALM = "<ir_version: 10, opset_import: [18]> g (float[2] x) => (float[2] y) { y = Relu (x) }"


def bomb(name: str) -> str:
    opset, inputs, nodes = CASES[name]
    header = f"<ir_version: 10, opset_import: [{opset}]>"
    return f"{header}\ng ({inputs}, float[2] c) => (float[3] z) {{\n  {nodes}\n  z = Relu (c)\n}}\n"


def calls(count: int, body: str = "b = l.F{0} (a)\n  c = l.F{0} (b)") -> str:
    """A model of functions each of which calls the next one twice."""
    parts = [
        '<ir_version: 10, opset_import: [18, "l": 1]>\n'
        "g (float[2] x) => (float[2] y) { y = l.F0 (x) }\n"
    ]
    for index in range(count):
        inner = body.format(index + 1) if index + 1 < count else "c = Relu (a)"
        header = '<domain: "l", opset_import: [18, "l": 1]>'
        parts.append(f"{header}\nF{index} (a) => (c) {{\n  {inner}\n}}\n")
    return "".join(parts)


def failures(found: list[Diagnostic]) -> list[Diagnostic]:
    return [item for item in found if item.code == CODE]


def run(*arguments: str, memory: int = 4 << 30) -> subprocess.CompletedProcess[str]:
    """The command line, with a limit of memory where there is one."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [sys.executable, "-m", "onnxtext", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit if sys.platform == "linux" else None,
    )


# ---- What onnx dies of ------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_node_that_kills_inference_is_named_and_all_else_is_checked(name: str) -> None:
    found = onnxtext.check(bomb(name))
    errors = {item.code for item in found if item.severity == "error"}
    assert "shape-mismatch" in errors  # z is float[2]
    assert len(errors) > 1  # the node itself: by a rule, or because inference fails
    for item in failures(found):
        assert item.severity == "error"
        text = bomb(name)
        span = item.labels[0].span
        assert text[span.start : span.end] in CASES[name][2]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("check", "gathernd-segfault"),
        ("check", "split-memory"),
        ("to-binary", "split-abort"),
        ("to-binary", "einsum-loop"),
    ],
)
def test_commands_survive(command: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "m.onnxtxt"
    file.write_text(bomb(name))
    done = run(command, str(file))
    assert done.returncode == 1
    assert "shape-mismatch" in done.stderr
    assert "terminate called" not in done.stderr
    assert not (tmp_path / "m.onnx").exists()
    assert not list(tmp_path.glob("core*"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("split-abort", {"crash"}),
        ("gathernd-segfault", {"crash"}),
        ("einsum-loop", {"time"}),
        ("split-memory", {"memory", "time"}),
    ],
)
def test_the_failure_says_how_it_ended(name: str, kind: set[str]) -> None:
    answer = Inference().model(onnxtext.to_binary(bomb(name)))
    assert isinstance(answer, Failure)
    assert answer.kind in kind


def test_calls_are_inferred_once_a_kind_of_arguments() -> None:
    start = time.process_time()
    assert not onnxtext.check(calls(22))
    assert not onnxtext.check(calls(80))
    assert time.process_time() - start < 5
    # A wrong node in the innermost body is found through 2 ** 60 paths.
    wrong = calls(60).replace("c = Relu (a)", "c = Transpose <perm = [0, 1]> (a)")
    [found] = onnxtext.check(wrong)
    assert "do not fit" in found.message


def test_arguments_of_many_kinds_end() -> None:
    """Each level pads by another amount: 2 ** 40 kinds of arguments."""
    body = "b = l.F{0} (a)\n  d = Concat <axis = 0> (a, b)\n  c = l.F{0} (d)"
    start = time.process_time()
    onnxtext.check(calls(40, body))
    assert time.process_time() - start < 20


def test_failures_of_one_model_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_MOST_FAILED", 3)
    nodes = "\n".join(f"  a{i} = GatherND <batch_dims = {-(1 << 31) + i}> (x, i)" for i in range(9))
    text = (
        f"<ir_version: 10, opset_import: [12]> g (float[2, 3] x, int64[2, 1] i) => () {{{nodes}}}"
    )
    found = failures(onnxtext.check(text))
    assert [item.severity for item in found] == ["error"] * (len(found) - 1) + ["warning"]
    assert len(found) <= 4


def test_large_weights_are_not_sent() -> None:
    from onnxtext.checker.isolation.light import without_weights

    text = """<ir_version: 10, opset_import: [18]>
g (float[2, 600000] x) => (float[2, 1] y) <float[600000, 1] w = [0, ...], int64[200000] i = [0, ...]> {
  y = MatMul (x, w)
}"""  # noqa: E501
    data = onnxtext.to_binary(text)
    light = without_weights(data)
    assert 1_600_000 < len(light) < 1_610_000  # the integers may be a shape
    assert Inference().model(light) == []
    wrong = onnxtext.to_binary(text.replace("float[2, 600000] x", "float[2, 600001] x"))
    assert isinstance(Inference().model(without_weights(wrong)), str)
    assert without_weights(b"\x3a\xff\xff\xff\xff\x0f" + bytes(1 << 20))  # damaged


# ---- The child --------------------------------------------------------------------------------


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> inference._Pool:
    """No child is kept."""
    pool = inference._Pool()
    monkeypatch.setattr(inference, "_POOL", pool)
    return pool


def test_without_a_child_shapes_are_not_checked_and_that_is_said(
    fresh: inference._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(child, "_may_fork", lambda: False)
    [found] = onnxtext.check(CALM)
    assert (found.code, found.severity) == (CODE, "warning")
    assert "cannot be run" in found.message
    codes = {item.code for item in onnxtext.check(CALM.replace("(x)", "(q)"))}
    assert "value-undefined" in codes


def test_a_child_that_does_not_start_is_no_crash(
    fresh: inference._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "_may_fork", lambda: False)
    monkeypatch.setattr(child, "_CODE", "import sys; sys.exit('no')")
    [found] = onnxtext.check(CALM)
    assert found.severity == "warning"
    assert "no" in found.message


@POSIX
def test_a_child_that_another_kills_is_started_again(fresh: inference._Pool) -> None:
    assert not onnxtext.check(CALM)
    [worker] = fresh._idle
    os.kill(worker._child.pid, signal.SIGKILL)
    assert not onnxtext.check(CALM.replace("Relu", "Abs"))


@POSIX
def test_writing_to_a_dead_child_ends_no_process_by_sigpipe() -> None:
    script = """
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
from onnxtext.checker.isolation.process import Died, Worker
worker = Worker()
worker.ask(5, 1 << 30, "model", b"")
os.kill(worker._child.pid, signal.SIGKILL)
os.waitid(os.P_PID, worker._child.pid, os.WEXITED | os.WNOWAIT)
try:
    worker.ask(5, 1 << 30, "model", bytes(1 << 20))
except Died as died:
    print(died.failure.kind, died.outside)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "memory True\n", done.stderr
    assert done.returncode == 0


@LINUX
@pytest.mark.parametrize("forked", [False, True])
def test_a_child_is_ended_with_its_parent_in_the_middle_of_a_loop(
    forked: bool, tmp_path: Path
) -> None:
    data = tmp_path / "m.onnx"
    data.write_bytes(onnxtext.to_binary(bomb("einsum-loop")))
    script = f"""
import sys
{"import onnxtext.cli.main" if forked else ""}
from onnxtext.checker.isolation import child, process
worker = process.Worker()
assert (worker._child._spawned is None) is {forked}
print(worker._child.pid, flush=True)
worker.ask(60, 1 << 30, "model", open({str(data)!r}, "rb").read())
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    _wait_until_busy(pid)
    parent.kill()
    parent.communicate()
    _wait_until_gone(pid)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["check", "to-binary"])
def test_signals_end_a_command_and_its_child(
    command: str, number: signal.Signals, tmp_path: Path
) -> None:
    file = tmp_path / "m.onnxtxt"
    file.write_text(bomb("einsum-loop"))
    parent = subprocess.Popen(
        [sys.executable, "-m", "onnxtext", command, str(file)], stderr=subprocess.PIPE
    )
    pid = _child_of(parent.pid)
    _wait_until_busy(pid)
    before = _processor_time(parent.pid)
    parent.send_signal(number)
    _, said = parent.communicate(timeout=30)
    assert parent.returncode == 128 + number
    assert before < 30
    assert b"Traceback" not in said
    _wait_until_gone(pid)


def _child_of(pid: int) -> int:
    for _ in range(2000):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if found:
            return int(found[0])
        time.sleep(0.02)
    raise AssertionError("it starts no child")


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_until_busy(pid: int) -> None:
    """Wait until a child has used a tenth of a second: it loops."""
    for _ in range(2000):
        if _processor_time(pid) > 0.15:
            return
        time.sleep(0.02)
    raise AssertionError("it does not loop")


def _wait_until_gone(pid: int) -> None:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":  # nobody has waited for it
            return
        time.sleep(0.01)
    raise AssertionError("the child lives on")


def test_threads_check_at_once() -> None:
    found: list[int] = []

    def check(number: int) -> None:
        text = CALM.replace("float[2] x", f"float[{2 + number % 2}] x")
        found.append(len(onnxtext.check(text)) - number % 2)

    threads = [threading.Thread(target=check, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 8


@POSIX
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_its_own_child() -> None:
    assert not onnxtext.check(CALM)
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(len(onnxtext.check(CALM.replace("Relu", "Neg"))))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert not onnxtext.check(CALM.replace("Relu", "Abs"))


def test_what_the_parent_watches_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows, where the child cannot limit itself."""
    worker = Worker()
    worker.ask(5, 1 << 30, "model", b"")
    monkeypatch.setattr(process, "_LIMITED", False)
    data = onnxtext.to_binary(bomb("einsum-loop"))
    monkeypatch.setattr("onnxtext.checker.isolation.watch.memory_of", lambda pid: 1 << 40)
    with pytest.raises(Died) as caught:
        worker.ask(60, 1 << 30, "model", data)
    assert caught.value.failure.kind == "memory"
    assert not worker.alive


def test_a_watch_ends_a_process_at_the_deadline() -> None:
    worker = Worker()
    with Watch(worker._child, 0.0, 1 << 40) as watch:
        worker._child.wait(10)
    assert watch.exceeded == "time"
    assert not worker.alive
    worker.close()


@LINUX
def test_the_memory_of_a_process_is_measured() -> None:
    assert memory_of(os.getpid()) > 1 << 20
    assert memory_of(1 << 30) == 0


def test_no_child_is_left() -> None:
    assert not onnxtext.check(CALM)
    close_workers()
    assert not onnxtext.check(CALM)


# ---- Random models ----------------------------------------------------------------------------


def _attack(count: int, *options: str) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    script = ["-W", "ignore", "-m", "tests.checker.bombs", str(count), str(seed), *options]

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    done = subprocess.run(
        [sys.executable, *script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + 2 * count,
        cwd=Path(__file__).parents[2],
        preexec_fn=limit if sys.platform == "linux" else None,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_random_models_end_no_check() -> None:
    _attack(600)


@pytest.mark.slow
def test_many_random_models_end_no_check() -> None:
    _attack(20_000, "--many")
