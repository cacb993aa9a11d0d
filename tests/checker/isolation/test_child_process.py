# SPDX-License-Identifier: Apache-2.0
"""Start, limit, kill and abandon the child process that runs onnx's inference."""

from __future__ import annotations

import marshal
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

import onnxtext
from onnxtext.checker.isolation import child_process, inference_client, spawn
from onnxtext.checker.isolation.child_main import make_frame
from onnxtext.checker.isolation.child_process import Worker, WorkerDied
from onnxtext.checker.isolation.inference_client import POOL
from onnxtext.checker.isolation.limit_watch import LimitWatch, memory_of
from tests.checker.isolation.test_isolation import CALM, CODE, bomb

T = TypeVar("T")

pytestmark = pytest.mark.thorough

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> inference_client.ProcessPool:
    """Use an empty pool, so that no idle child of another test is reused."""
    fresh = inference_client.ProcessPool()
    monkeypatch.setattr(inference_client, "POOL", fresh)
    return fresh


def test_a_missing_child_is_reported_and_shapes_are_not_checked(
    fresh: inference_client.ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(spawn, "may_fork", lambda: False)
    [found] = onnxtext.check(CALM)
    assert (found.code, found.severity) == (CODE, "warning")
    assert "cannot be run" in found.message
    codes = {item.code for item in onnxtext.check(CALM.replace("(x)", "(q)"))}
    assert "value-undefined" in codes


def test_a_child_that_does_not_start_is_not_reported_as_a_crash(
    fresh: inference_client.ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "may_fork", lambda: False)
    monkeypatch.setattr(spawn, "CODE", "import sys; sys.exit('no')")
    [found] = onnxtext.check(CALM)
    assert found.severity == "warning"
    assert "no" in found.message


@POSIX
def test_a_child_killed_by_another_process_is_restarted(
    fresh: inference_client.ProcessPool,
) -> None:
    assert not onnxtext.check(CALM)
    [worker] = fresh.idle
    os.kill(worker.child.pid, signal.SIGKILL)
    assert not onnxtext.check(CALM.replace("Relu", "Abs"))


@POSIX
@pytest.mark.parametrize(("name", "kind"), [("SIGKILL", "memory"), ("SIGIO", "crash")])
def test_a_request_to_a_killed_child_can_be_repeated(name: str, kind: str) -> None:
    """SIGPIPE does not end the parent, and `outside` is set: the request is not the cause."""
    script = f"""
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
from onnxtext.checker.isolation.child_process import Worker, WorkerDied
worker = Worker()
worker.ask(5, 1 << 30, "model", b"")
os.kill(worker.child.pid, signal.{name})
os.waitid(os.P_PID, worker.child.pid, os.WEXITED | os.WNOWAIT)
try:
    worker.ask(5, 1 << 30, "model", bytes(1 << 20))
except WorkerDied as died:
    print(died.failure.kind, died.outside)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == f"{kind} True\n", done.stderr
    assert done.returncode == 0


@LINUX
@pytest.mark.parametrize("forked", [False, True])
def test_a_looping_child_ends_with_its_parent(forked: bool, tmp_path: Path) -> None:
    data = tmp_path / "m.onnx"
    data.write_bytes(onnxtext.to_binary(bomb("einsum-loop")))
    script = f"""
import sys
{"import onnxtext.cli.main" if forked else ""}
from onnxtext.checker.isolation import spawn, child_process
assert spawn.may_fork() is {forked}
worker = child_process.Worker()
print(worker.child.pid, flush=True)
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
    # With the usual limits, the child may end before the signal comes.
    script = """if True:
        from onnxtext.checker.isolation import inference_client
        from onnxtext.cli.main import main
        inference_client.SECONDS = dict.fromkeys(inference_client.SECONDS, 600.0)
        main()
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", script, command, str(file)], stderr=subprocess.PIPE
    )
    pid = _child_of(parent.pid)
    _wait_until_busy(pid)
    before = _processor_time(parent.pid)
    parent.send_signal(number)
    _, errors = parent.communicate(timeout=60)
    assert parent.returncode == 128 + number
    assert before < 30
    assert b"Traceback" not in errors
    _wait_until_gone(pid)


def _waited_for(find: Callable[[], T], problem: str) -> T:
    """Call a function until its result is true; return the result."""
    end = time.monotonic() + 60
    while not (found := find()):
        assert time.monotonic() < end, problem
        time.sleep(0.01)
    return found


def _child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return int(_waited_for(lambda: children.read_text().split(), "it starts no child")[0])


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_until_busy(pid: int) -> None:
    """Wait until a child has used 0.15 seconds of processor time, so that it must be looping."""
    _waited_for(lambda: _processor_time(pid) > 0.15, "it does not loop")


def _wait_until_gone(pid: int) -> None:
    def gone() -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z"  # its parent has not waited for it

    _waited_for(gone, "the child lives on")


def test_threads_check_in_parallel() -> None:
    found: list[int] = []

    def check(number: int) -> None:
        text = CALM.replace("float[2] x", f"float[{2 + number % 2}] x")
        found.append(len(onnxtext.check(text)) - number % 2)

    threads = [threading.Thread(target=check, args=(index,)) for index in range(8)]
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


def test_the_parent_limits_children_that_cannot_limit_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Children cannot limit their memory on macOS and Windows."""
    worker = Worker()
    worker.ask(5, 1 << 30, "model", b"")
    monkeypatch.setattr(child_process, "LIMITED", False)
    data = onnxtext.to_binary(bomb("einsum-loop"))
    monkeypatch.setattr("onnxtext.checker.isolation.limit_watch.memory_of", lambda pid: 1 << 40)
    with pytest.raises(WorkerDied) as caught:
        worker.ask(60, 1 << 30, "model", data)
    assert caught.value.failure.kind == "memory"
    assert worker.child.poll() is not None


def test_a_watch_kills_a_process_at_the_deadline() -> None:
    worker = Worker()
    watch = LimitWatch(worker.child, 0.0, 1 << 40)
    worker.receive(60)  # the child is ready and waits for a request
    with pytest.raises(EOFError):
        watch.result(lambda: worker.receive(60))
    assert watch.exceeded == "time"
    worker.child.wait(60)
    assert worker.child.poll() is not None
    worker.child.close()


@POSIX
def test_a_watched_wait_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C must end the wait, although it does not interrupt a read on Windows."""
    worker = Worker()
    worker.receive(60)

    def interrupt(pid: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 0

    monkeypatch.setattr("onnxtext.checker.isolation.limit_watch.memory_of", interrupt)
    watch = LimitWatch(worker.child, 60, 1 << 40)
    with pytest.raises(KeyboardInterrupt):
        watch.result(lambda: worker.receive(60))
    worker.child.wait(60)  # its pipes close before it has ended
    assert worker.child.poll() is not None
    worker.child.close()


ON_WINDOWS = """\
import os, select, sys, types
sys.platform = "win32"
sys.modules.update(fcntl=None, resource=None, msvcrt=types.SimpleNamespace(
    SEM_FAILCRITICALERRORS=1, SEM_NOGPFAULTERRORBOX=2,
    SetErrorMode=lambda mode: None, setmode=lambda fd, mode: None))
os.O_BINARY = 0
del os.set_blocking, select.poll
"""


@pytest.fixture
def windows(fresh: inference_client.ProcessPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the functions that parent and child lack on Windows."""
    monkeypatch.setattr(spawn, "CODE", ON_WINDOWS + spawn.CODE)
    monkeypatch.setattr(spawn, "may_fork", lambda: False)
    monkeypatch.setattr(child_process, "LIMITED", False)
    for module, name in ((os, "set_blocking"), (select, "poll"), (signal, "SIGPIPE")):
        monkeypatch.delattr(module, name, raising=False)


@POSIX
@pytest.mark.parametrize("name", ["gathernd-segfault", "layernorm-segfault"])
def test_crashes_are_reported_on_windows_too(windows: None, name: str) -> None:
    found = {item.code: item.message for item in onnxtext.check(bomb(name))}
    assert "shape-mismatch" in found
    assert "it crashes" in found[CODE]
    assert not onnxtext.check(CALM)


def test_the_interpreter_itself_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a virtual environment on Windows, `sys.executable` starts the interpreter indirectly."""
    monkeypatch.setattr(sys, "_base_executable", "base", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert spawn.interpreter() == sys.executable
    monkeypatch.setattr(sys, "platform", "win32")
    assert spawn.interpreter() == "base"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert spawn.interpreter() == ""


@POSIX
def test_limits_hold_on_windows_too(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    data = onnxtext.to_binary(bomb("einsum-loop"))
    monkeypatch.setattr("onnxtext.checker.isolation.limit_watch.memory_of", lambda pid: 1 << 40)
    worker = Worker()
    with pytest.raises(WorkerDied) as caught:
        worker.ask(60, 1 << 30, "model", data)
    assert caught.value.failure.kind == "memory"


@POSIX
def test_a_child_without_a_parent_exits_on_windows_too(tmp_path: Path) -> None:
    """The child gets no signal when its parent is killed, so it exits by itself after a time."""
    code = ON_WINDOWS + spawn.CODE.replace(
        "import child_main\n", "import child_main; child_main.ORPHANED = 1\n"
    )
    worker = Path(spawn.__file__).parent
    import onnx.onnx_cpp2py_export as native

    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, str(worker), str(native.__file__)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as orphan:  # fmt: skip
        assert orphan.stdin is not None
        request = (0.01, 1 << 30, "model", onnxtext.to_binary(bomb("einsum-loop")))
        orphan.stdin.write(make_frame(marshal.dumps(request)))
        orphan.stdin.flush()
        assert orphan.wait(60) == 1


def test_a_damaged_answer_is_a_failure(
    fresh: inference_client.ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child with corrupt memory may keep running and answer."""
    monkeypatch.setattr(spawn, "may_fork", lambda: False)
    lies = "import child_main; child_main.answer = lambda *arguments: b'12345678'\n"
    monkeypatch.setattr(spawn, "CODE", spawn.CODE.replace("import child_main\n", lies))
    worker = Worker()
    with pytest.raises(WorkerDied) as caught:
        worker.ask(5, 1 << 30, "model", b"")
    assert (caught.value.failure.kind, caught.value.outside) == ("crash", False)
    assert "damaged" in caught.value.failure.detail


@LINUX
@pytest.mark.parametrize(
    ("code", "name"),
    [
        (-signal.SIGSEGV, "SIGSEGV"),
        (-signal.SIGABRT, "SIGABRT"),
        (-999, "exit status -999"),
        (3, "exit status 3"),
        (0xC0000005, "access violation"),
        (0xC00000FD - (1 << 32), "stack overflow"),
    ],
)
def test_the_cause_of_a_crash_has_a_name(code: int, name: str) -> None:
    assert child_process.describe_exit(code) == name


def test_the_memory_of_a_process_is_measured() -> None:
    assert memory_of(os.getpid()) > 1 << 20
    assert memory_of(1 << 30) == 0


def test_no_child_is_left() -> None:
    assert not onnxtext.check(CALM)
    POOL.close()
    assert not onnxtext.check(CALM)
