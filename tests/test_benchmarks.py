# SPDX-License-Identifier: Apache-2.0
"""The benchmarks run; their figures are not tested."""

from __future__ import annotations

import subprocess
import sys
from math import isfinite
from pathlib import Path

import onnx
import pytest

from benchmarks import results, startup
from benchmarks.construct_models import CONSTRUCTS, ITEMS, RARE_ITEMS
from benchmarks.models import MAKERS
from benchmarks.peers import PEERS
from benchmarks.results import Results
from benchmarks.workloads import SAMPLE, WORKLOADS
from onnxtext.select_core import core
from tests.corpus import REPOSITORY

pytestmark = pytest.mark.thorough


def run(*arguments: str | Path, module: str = "benchmarks") -> str:
    """The output of `python -m benchmarks` or of another module."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JSON file with the results of a quick run."""
    path = tmp_path_factory.mktemp("benchmarks") / "results.json"
    shown = run("--quick", "--only", "transformer-2k", "--json", path)
    assert "transformer-2k" in shown
    return path


@pytest.fixture(scope="module")
def found(measured: Path) -> Results:
    return results.load(measured)


def test_all_peers_are_measured_in_both_directions(found: Results) -> None:
    peers = [peer for peer in PEERS if not peer.of_many]
    wanted = {("to-text", peer.name) for peer in peers if peer.prints}
    wanted |= {("to-binary", peer.name) for peer in peers}
    assert {(row.direction, row.peer) for row in found.rows} == wanted
    assert {row.workload for row in found.rows} == {"transformer-2k"}


def test_figures_are_positive(found: Results) -> None:
    for row in found.rows:
        assert row.failed is None
        for value in (row.seconds, row.warm, row.peak, row.before, row.size, row.model_size):
            assert value is not None
            assert value > 0


def test_our_conversions_restore_the_bytes(found: Results) -> None:
    (row,) = [row for row in found.rows if row.key[1:] == ("to-binary", "onnxtext")]
    assert row.same == "bytes"
    assert row.size == row.model_size


def test_results_equal_themselves(measured: Path, found: Results) -> None:
    shown = run("--show", measured, "--compare", measured)
    compared = shown[shown.index("mark changes of more than") :]
    for row in found.rows:
        (line,) = [line for line in compared.splitlines() if f" {' '.join(row.key)}  " in line]
        assert line.split()[-5:] == ["1.00"] * 5
    assert "\n0 of the figures changed by more than 10%" in compared


def test_the_list_has_all_workloads() -> None:
    shown = {line.split()[0] for line in run("--list").splitlines()}
    assert shown >= {workload.name for workload in WORKLOADS} | {startup.NAME}


def test_each_workload_can_be_made() -> None:
    assert list(MAKERS) == [workload.name for workload in (*WORKLOADS, SAMPLE)]


def test_the_same_models_are_made_every_time() -> None:
    assert list(MAKERS["sample"]()) == list(MAKERS["sample"]())


def test_the_benchmark_of_weights_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.weights", "--bytes", "3000000", "--rounds", "1"]
    done = subprocess.run(
        [*command, "--directory", tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("sha256sum", "cp", "from-binary", "to-binary"):
        assert f"\n{name} " in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_constructs_and_rare_items_are_compared() -> None:
    shown = run("--count", "20", "--rounds", "1", module="benchmarks.constructs")
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    measured = [row for row in rows if "to text" not in row and "---" not in row]
    assert [row[0] for row in measured] == [*CONSTRUCTS, *RARE_ITEMS, *ITEMS]
    for row in measured:
        assert all(figure == "–" or isfinite(float(figure)) for figure in row[1:])


def test_small_files_are_valid() -> None:
    result = list(MAKERS["small-files-1000"]())
    assert len(set(result)) == 1_000
    for data in result[::50]:
        onnx.checker.check_model(onnx.load_from_string(data), full_check=True)


def test_a_core_of_other_sources_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if core() != "native":
        pytest.skip("the native core does not run")
    assert results.current_core() == "native"
    built = tmp_path / "sources.sha256"
    built.write_text(f"{'0' * 64}  parser.pyx\n")
    monkeypatch.setattr(results, "BUILT", built)
    with pytest.raises(RuntimeError, match="install onnxtext again"):
        results.current_core()
