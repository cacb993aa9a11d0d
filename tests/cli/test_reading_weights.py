# SPDX-License-Identifier: Apache-2.0
"""The Python API reads the arrays in weight files once, and holds few copies of them."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
from safetensors.numpy import save_file

import onnxtext
from onnxtext.ast.model import Model, WeightPlace
from onnxtext.ast.tensors_and_attributes import RawData
from onnxtext.io import files
from onnxtext.proto.decode.lift import lift_model
from onnxtext.weights import safe_paths
from onnxtext.weights.external_data import embed_external
from onnxtext.weights.find_blobs import BlobReader
from onnxtext.weights.safe_paths import view_parts
from onnxtext.weights.write_resources import WeightFiles
from tests.cli.command import onnxtext_command
from tests.running import limited

COUNT = 24
ARRAYS = {
    f"w{seed}": np.random.default_rng(seed).standard_normal(1 << 15, dtype=np.float32)
    for seed in range(COUNT)
}
SIZE = sum(array.nbytes for array in ARRAYS.values())  # 3 MiB
IO = Path("/proc/self/io")


def model() -> onnx.ModelProto:
    """A model with the arrays as its initializers."""
    tensors = [nh.from_array(array, name) for name, array in ARRAYS.items()]
    graph = oh.make_graph([], "g", [], [], tensors)
    return oh.make_model(graph, ir_version=10, opset_imports=[oh.make_opsetid("", 20)])


def write_text(kind: str, path: Path) -> None:
    """Write a text whose arrays are in files of a kind beside it."""
    if kind.startswith("weights "):
        onnxtext.dump(model(), path, weights=kind.split()[1])  # type: ignore[arg-type]
        return
    if kind == "safetensors":
        save_file(ARRAYS, path.parent / "w.safetensors")
    elif kind == "npz":
        np.savez(path.parent / "w.npz", **ARRAYS)  # type: ignore[arg-type]
    for name, array in ARRAYS.items() if kind == "npy" else ():
        np.save(path.parent / f"{name}.npy", array)
    values = [
        f'float[{array.size}] {name} = file"{name}.npy"'
        if kind == "npy"
        else f'float[{array.size}] {name} = file"w.{kind}#{name}"'
        for name, array in ARRAYS.items()
    ]
    header = '<ir_version: 10, opset_import: ["": 20]>'
    path.write_text(f"{header}\ng () => () <{', '.join(values)}> {{}}")


def bytes_read() -> int:
    """The number of bytes that this process has read from files so far."""
    return int(IO.read_text().split()[1])


def assert_reads_once(act: Callable[[], object], limit: int, excess: float) -> None:
    """Assert that a function reads the arrays once, and holds at most `limit` copies of them.

    It may read `excess` times their size in addition, such as headers.
    """
    assert files.before_mapping is None
    act()  # import modules
    counts, peaks = [], []
    for _ in range(3):  # take the least: other reads of the process count, too
        before = bytes_read()
        tracemalloc.start()
        try:
            act()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        counts.append(bytes_read() - before)
    assert min(counts) < (1 + excess) * SIZE
    assert min(peaks) < (limit + 0.5) * SIZE


@pytest.mark.skipif(not IO.exists(), reason="only Linux counts the bytes that a process reads")
@pytest.mark.parametrize(
    "kind", ["npy", "npz", "safetensors", "weights store", "weights safetensors"]
)
def test_the_python_api_reads_each_array_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.onnxtxt"
    write_text(kind, path)
    found = onnx.load_from_string(onnxtext.to_binary(path.read_text(), base_dir=tmp_path))
    for tensor in found.graph.initializer:
        np.testing.assert_array_equal(nh.to_array(tensor), ARRAYS[tensor.name])
    excess = 1 if kind == "npy" else 0.2  # the first 64 KiB of a `.npy` file are read twice
    assert_reads_once(lambda: onnxtext.to_binary(path.read_text(), base_dir=tmp_path), 2, excess)
    assert_reads_once(lambda: onnxtext.check(path), 2, excess)


@pytest.mark.parametrize("compressed", [False, True])
def test_the_directory_of_an_npz_archive_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    names = [f"w{index}" for index in range(20)]
    arrays = {name: np.full(4, index, np.float32) for index, name in enumerate(names)}
    (np.savez_compressed if compressed else np.savez)(tmp_path / "w.npz", **arrays)  # type: ignore[arg-type]
    values = ", ".join(f'float[4] {name} = file"w.npz#{name}"' for name in names)
    text = f'<ir_version: 10, opset_import: ["": 20]>\ng () => () <{values}> {{}}'
    opened = []

    class Counted(zipfile.ZipFile):
        def __init__(self, file: BinaryIO) -> None:
            opened.append(file)
            super().__init__(file)

    monkeypatch.setattr(zipfile, "ZipFile", Counted)
    found = onnx.load_from_string(onnxtext.to_binary(text, base_dir=tmp_path))
    assert len(opened) == 1
    assert [nh.to_array(tensor)[0] for tensor in found.graph.initializer] == [*range(20)]


def with_external_data(directory: Path) -> Model:
    """The model with its arrays and the SHA-1 of their file as external data."""
    found = model()
    onnx.save(found, directory / "m.onnx", save_as_external_data=True, location="w.bin")
    found = onnx.load(directory / "m.onnx", load_external_data=False)
    checksum = hashlib.sha1((directory / "w.bin").read_bytes()).hexdigest()
    for tensor in found.graph.initializer:
        tensor.external_data.add(key="checksum", value=checksum)
    return lift_model(found.SerializeToString())


@pytest.mark.skipif(not IO.exists(), reason="only Linux counts the bytes that a process reads")
def test_the_python_api_reads_external_data_once_and_once_for_its_checksum(tmp_path: Path) -> None:
    lifted = with_external_data(tmp_path)
    before = bytes_read()
    embed_external(lifted, tmp_path)
    assert bytes_read() - before < 2.5 * SIZE
    for value in lifted.graph.values:
        assert isinstance(value.data, RawData)
        assert value.data.data == ARRAYS[value.name].tobytes()


@pytest.mark.thorough
def test_many_blobs_in_a_file_are_found_fast(tmp_path: Path) -> None:
    arrays = {f"w{index}": np.array([index]) for index in range(20_000)}
    digests = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    metadata = {f"sha256:{digest}": name for name, digest in digests.items()}
    save_file(arrays, tmp_path / "w.safetensors", metadata)
    reader = BlobReader(tmp_path, [WeightPlace("safetensors", "w.safetensors")])
    with limited(10):
        for name, digest in digests.items():
            assert reader.find(digest[:16]) == arrays[name].tobytes()


def test_a_file_is_compared_with_new_blobs_one_by_one(tmp_path: Path) -> None:
    write_text("weights safetensors", tmp_path / "m.onnxtxt")
    blobs = {
        hashlib.sha256(array.tobytes()).hexdigest(): array.tobytes() for array in ARRAYS.values()
    }
    place = WeightPlace("safetensors", "m.safetensors")
    weights = WeightFiles(tmp_path, place, dict(blobs), lift_model(model().SerializeToString()))
    tracemalloc.start()
    try:
        assert weights.foreign() is None
        weights.write()
        assert tracemalloc.get_traced_memory()[1] < SIZE / 4
    finally:
        tracemalloc.stop()
    del weights.blobs[min(blobs)]
    assert weights.foreign() == tmp_path / "m.safetensors"


def test_a_checksum_does_not_need_the_whole_file_in_memory(tmp_path: Path) -> None:
    lifted = with_external_data(tmp_path)
    del lifted.graph.values[1:]
    tracemalloc.start()
    try:
        embed_external(lifted, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 0.6 * SIZE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("at_once", [1000, 1 << 20])
def test_a_part_of_a_file_is_complete_and_not_copied_if_the_system_reads_less_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    class ReadsLess(FileIO):
        def readinto(self, buffer: Any) -> int:
            return super().readinto(buffer[:at_once])

    read = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: read(descriptor, min(size, at_once)))
    monkeypatch.setattr(safe_paths, "FileIO", ReadsLess)
    content = bytes(range(250)) * 20_000
    path = tmp_path / "w.bin"
    path.write_bytes(content)
    parts = view_parts(path)
    tracemalloc.start()
    try:
        part = parts[10:-10]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert bytes(part) == content[10:-10]
    assert peak < len(content) + (2 << 20)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENODEV])
def test_a_large_file_that_cannot_be_mapped_is_not_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(file: BinaryIO, path: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "before_mapping", int)
    monkeypatch.setattr(safe_paths, "map_file", fail)
    path = tmp_path / "w.bin"
    path.write_bytes(bytes(range(256)) * (1 << 14))
    tracemalloc.start()
    try:
        assert bytes(view_parts(path)[10:14]) == bytes([10, 11, 12, 13])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="sparse files")
def test_a_signal_ends_the_verification_of_a_vast_blob(tmp_path: Path) -> None:
    blob = tmp_path / "m.weights" / ("a" * 64)
    blob.parent.mkdir()
    blob.touch()
    try:
        os.truncate(blob, 1 << 40)
    except OSError:
        pytest.skip("the file system has no file of 1 TiB")
    process = subprocess.Popen(onnxtext_command("weights", "verify", blob.parent))
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.terminate()
        assert process.wait(60) == 143
    finally:
        process.kill()
        process.wait()
