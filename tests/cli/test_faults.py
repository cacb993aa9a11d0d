# SPDX-License-Identifier: Apache-2.0
"""If a command fails or is killed at any file operation, files have their old or new content."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest

from onnxtext.weights.store import TEMPORARY
from tests.cli.command import run
from tests.cli.faults import digests
from tests.corpus import REPOSITORY
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

TEXT = "<ir_version: 10, opset_import: [21]>\ng (float[2] x) => (float[2] y) {{\n  y = {} (x)\n}}\n"
STATUSES = {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130}
COMMANDS = {
    "fmt": ["fmt", "ugly.onnxtxt"],
    "from-binary": ["from-binary", "--weights", "store", "-f", "new.onnx", "-o", "m.onnxtxt"],
    "to-binary": ["to-binary", "--externalize", "--no-check", "-f", "m.onnxtxt", "-o", "old.onnx"],
    "merge": ["merge", "-f", "base.onnxtxt", "ours.onnxtxt", "base.onnxtxt", "-o", "made.onnxtxt"],
    "gc": ["weights", "gc", "--delete", "m.weights"],
}


def model(seed: int) -> bytes:
    arrays = np.random.default_rng(seed).standard_normal((2, 20_000), dtype=np.float32)
    tensors = [nh.from_array(array, f"w{index}") for index, array in enumerate(arrays)]
    data: bytes = oh.make_model(oh.make_graph([], "g", [], [], tensors)).SerializeToString()
    return data


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The initial files: a text and its store with an unused blob."""
    directory = tmp_path_factory.mktemp("faults") / "source"
    directory.mkdir()
    (directory / "old.onnx").write_bytes(model(1))
    (directory / "new.onnx").write_bytes(model(2))
    stored = run("from-binary", "--weights", "store", "old.onnx", "-o", "m.onnxtxt", cwd=directory)
    assert (stored.status, stored.err) == (0, "")
    unused = hashlib.sha256(b"unused").hexdigest()
    (directory / "m.weights" / unused).write_bytes(b"")
    for path in (directory / "m.weights").iterdir():
        os.utime(path, (0, 0))
    for name, operator in (("base", "Relu"), ("ours", "Tanh"), ("made", "Abs"), ("ugly", "  Neg")):
        (directory / f"{name}.onnxtxt").write_text(TEXT.format(operator))
    return directory


@pytest.mark.parametrize(
    "kinds",
    ["EIO,SIGTERM", pytest.param("SIGKILL,SIGINT,ENOSPC,EMFILE,ENOMEM", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("verb", sampled(COMMANDS, 2))
def test_files_are_old_or_new_if_any_operation_fails(source: Path, verb: str, kinds: str) -> None:
    command = [sys.executable, "-m", "tests.cli.faults", str(source), kinds, *COMMANDS[verb]]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True, timeout=120)
    first, *runs = json.loads(done.stdout)
    old = digests(source)
    new = first["files"]
    assert (first["status"], first["stderr"]) == (0, "")
    assert new != old
    assert {result["kind"] for result in runs} == set(kinds.split(","))
    for result in runs:
        details = (
            f"{result['kind']} at operation {result['at']}: {result['status']} {result['stderr']}"
        )
        assert "Traceback" not in result["stderr"], details
        assert "internal" not in result["stderr"], details
        if result["kind"] in STATUSES:
            assert result["status"] == STATUSES[result["kind"]], details
            assert result["stderr"].strip() == "", details  # a line end after `^C`
        elif result["status"] != 0:
            # An unreadable file can be a finding in the text that references it.
            assert result["status"] == 2 or "[weights-" in result["stderr"], details
            assert result["stderr"].startswith("error"), details
            assert "None" not in result["stderr"], details
        else:
            assert result["files"] == new, details
        for name, digest in result["files"].items():
            if TEMPORARY.fullmatch(Path(name).name):
                assert result["kind"] == "SIGKILL", details
            else:
                assert digest in (old.get(name), new.get(name)), f"{name}: {details}"
        assert result["files"].keys() >= old.keys() & new.keys(), details
        if "again" in result:
            again = result["again"]
            assert (again["status"], again["stderr"]) == (0, ""), details
            kept = {n: d for n, d in again["files"].items() if not TEMPORARY.search(n)}
            assert kept == new, details
