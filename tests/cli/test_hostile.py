# SPDX-License-Identifier: Apache-2.0
"""L4 on the command line: for a megabyte of any input, errors are reported in bounded time."""

from __future__ import annotations

import resource
import sys
from functools import partial
from pathlib import Path

import onnx
import pytest

from tests.cli.command import Result, run
from tests.running import slowness
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

SIZE = 1_000_000
MAX_SECONDS = 4.0
"""Processor time of the whole process; an idle machine takes less than half of it."""

BODY = "g () => () {"

# Frame, repeated unit, slowest verb, and expected code.
SHAPES = {
    "commas": ("%s", "a,", "check", "syntax-error"),
    "header": ("<%s", "k:1, ", "check", "syntax-error"),
    "values": ("g (%s", "float a,", "check", "syntax-error"),
    "outputs": (BODY + "%sa = A ()}", "a,", "check", "value-redefined"),
    "inputs": (BODY + "y = A (%sa)}", "a,", "to-binary", "ir-version-missing"),
    "strings": (BODY + "%s", '"a":"b",', "check", "syntax-error"),
    "nodes": (BODY + "%s", "a = A (b) ", "check", "unclosed-bracket"),
    "dots": (BODY + "%s", "a.", "check", "missing-equals"),
    "unclosed nodes": (BODY + "%s", "x = A (", "check", "unclosed-bracket"),
    "nested": (BODY + "x = A <a = %s", "seq(", "check", "too-deep"),
}


def timed(*arguments: str | Path) -> tuple[Result, float]:
    """Run `onnxtext`; return the result and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*arguments, fresh=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("shape", sampled(SHAPES, 3))
def test_a_hostile_megabyte_is_rejected_in_time(shape: str, tmp_path: Path) -> None:
    frame, unit, verb, code = SHAPES[shape]
    file = tmp_path / "m.onnxtxt"
    file.write_text(frame % (unit * (SIZE // len(unit))))
    output = ("-o", str(tmp_path / "m.onnx")) if verb == "to-binary" else ()
    done, seconds = timed(verb, *output, file)
    assert done.status == 1, done.err
    assert code in done.err + done.out.decode()
    assert seconds < MAX_SECONDS * slowness()
    assert not (tmp_path / "m.onnx").exists()


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of 20 MB that is not canonical, so that protobuf and numpy are needed."""
    weights = onnx.TensorProto(
        name="w", data_type=1, dims=[5_000_000], raw_data=bytes(range(256)) * 78_125
    )
    graph = onnx.GraphProto(name="g", initializer=[weights])
    opsets = [onnx.OperatorSetIdProto(version=18)]
    data = onnx.ModelProto(ir_version=10, graph=graph, opset_import=opsets).SerializeToString()
    path = tmp_path_factory.mktemp("odd") / "odd.onnx"
    path.write_bytes(b"\x08\x8a\x00" + data[2:])
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space")
@pytest.mark.parametrize("megabytes", [45, 80, 160, 200])
@pytest.mark.parametrize("verb", ["check", "from-binary"])
def test_lack_of_memory_is_reported(verb: str, megabytes: int, odd: Path, tmp_path: Path) -> None:
    size = megabytes << 20
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (size, size))
    output = ("-o", str(tmp_path / "m.onnxtxt")) if verb == "from-binary" else ()
    done = run(verb, odd, *output, before=limit)
    if done.status:
        said = done.err.lower()
        # OpenBLAS and the loader of libraries end the process by themselves.
        is_foreign = "openblas" in said or "thread-local data" in said
        assert "not enough memory" in said or "cannot allocate" in said or is_foreign
        assert done.status == 2 or is_foreign
        assert not list(tmp_path.glob("*.onnxtxt"))
