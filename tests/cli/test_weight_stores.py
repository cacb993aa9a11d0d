# SPDX-License-Identifier: Apache-2.0
"""Weight stores and safetensors files beside texts, on the command line."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
from safetensors import safe_open

import onnxtext
from tests.cli import command
from tests.cli.command import names, onnxtext_command, run_patched
from tests.cli.command import run_unchecked as run

pytestmark = pytest.mark.thorough

MODES = ["auto", "inline", "section", "store", "safetensors"]
COUNT = 100_000


def model(layers: int = 4, count: int = COUNT, changed: int | None = None) -> bytes:
    """A model with some layers of random float32."""
    random = np.random.default_rng(7)
    tensors = []
    for layer in range(layers):
        values = random.standard_normal(count, dtype=np.float32).reshape(-1, 10)
        if layer == changed:
            values[3, 4] += 1
        tensors.append(nh.from_array(values, f"layer.{layer}"))
    node = oh.make_node("Op", ["layer.0"], ["y"], name="n", vocab=b"a word and " * 1000)
    data: bytes = oh.make_model(
        oh.make_graph([node], "g", [], [], tensors), ir_version=10
    ).SerializeToString()
    return data


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(model())
    return path


def stored(directory: Path) -> dict[str, bytes]:
    """Return the blobs of a store, after verifying their digests."""
    found = {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix == ""}
    found = {name: data for name, data in found.items() if name[0] != "."}
    for name, data in found.items():
        assert hashlib.sha256(data).hexdigest() == name
    return found


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_is_lossless(binary: Path, mode: str) -> None:
    assert run("from-binary", binary, "--weights", mode).status == 0
    text = binary.with_suffix(".onnxtxt")
    assert run("to-binary", text, "-o", "-").out == binary.read_bytes()
    beside = {"auto": "m.weights", "store": "m.weights", "safetensors": "m.safetensors"}
    expected = sorted({"m.onnx", "m.onnxtxt", beside.get(mode, "m.onnx")})
    assert names(binary.parent) == expected
    # A second conversion succeeds and writes nothing.
    before = {path: path.stat().st_ino for path in binary.parent.rglob("*")}
    assert run("from-binary", binary, "--weights", mode).status == 0
    assert {path: path.stat().st_ino for path in binary.parent.rglob("*")} == before


def test_foreign_files_are_not_overwritten(binary: Path) -> None:
    other = binary.with_suffix(".safetensors")
    other.write_bytes(b"precious")
    result = run("from-binary", binary, "--weights", "safetensors")
    assert result.status == 2
    assert "output-exists" in result.err
    assert other.read_bytes() == b"precious"
    assert not binary.with_suffix(".onnxtxt").exists()
    assert run("from-binary", binary, "--weights", "safetensors", "--force").status == 0
    assert run("to-binary", binary.with_suffix(".onnxtxt"), "-o", "-").out == binary.read_bytes()


def test_the_old_text_stays_valid_until_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = onnx.load_from_string(model()), onnx.load_from_string(model(changed=2))
    text = tmp_path / "m.onnxtxt"
    onnxtext.dump(old, text, weights="safetensors")
    size = (tmp_path / "m.safetensors").stat().st_size

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("onnxtext.api.write_atomically", die)
        with pytest.raises(KeyboardInterrupt):
            onnxtext.dump(new, text, weights="safetensors")
    assert onnxtext.load(text) == old
    onnxtext.dump(new, text, weights="safetensors")
    assert onnxtext.load(text) == new
    assert (tmp_path / "m.safetensors").stat().st_size <= size + 200


def test_auto_keeps_small_weights_in_the_text(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model(1, 1000))
    assert run("from-binary", binary).status == 0
    assert names(tmp_path) == ["m.onnx", "m.onnxtxt"]
    assert "resources {" in (tmp_path / "m.onnxtxt").read_text()


def test_auto_writes_weights_into_standard_output(binary: Path) -> None:
    result = run("from-binary", binary, "-o", "-")
    assert result.status == 0
    assert "base64" in result.out.decode()
    assert "note[weights-in-text]" in result.err
    assert names(binary.parent) == ["m.onnx"]
    for mode in ("store", "safetensors"):
        result = run("from-binary", binary, "-o", "-", "--weights", mode)
        assert (result.status, result.out) == (2, b"")
        assert "no-place" in result.err


def test_weights_none_is_read_only(binary: Path) -> None:
    assert run("from-binary", binary, "--weights", "none").status == 0
    result = run("to-binary", binary.with_suffix(".onnxtxt"), "-o", "-")
    assert result.status == 1
    assert "weights-left-out" in result.err
    for missing in ("tensor `layer.3`, blob ", "attribute `vocab` of `y`, blob "):
        assert missing in result.err


def test_two_texts_share_a_store(tmp_path: Path) -> None:
    for name, changed in (("a", None), ("b", 2)):
        (tmp_path / f"{name}.onnx").write_bytes(model(changed=changed))
        assert run("from-binary", tmp_path / f"{name}.onnx", "--store", "shared/w").status == 0
    assert len(stored(tmp_path / "shared" / "w")) == 6
    for name in "ab":
        text, data = tmp_path / f"{name}.onnxtxt", (tmp_path / f"{name}.onnx").read_bytes()
        assert run("to-binary", text, "-o", "-").out == data


def test_safetensors_files_of_equal_weights_are_equal(tmp_path: Path) -> None:
    names = ["a", "é", '"\\/', "\n\t\x01\x7f", "\u2028", "😀", "b.weight", "c"]
    arrays = np.random.default_rng(7).standard_normal((len(names), 600), dtype=np.float32)
    weights = [nh.from_array(array, name) for array, name in zip(arrays, names, strict=True)]
    found = oh.make_model(oh.make_graph([], "g", [], [], weights))
    data = [tmp_path / f"{index}" / "m.safetensors" for index in range(3)]
    for file in data:
        file.parent.mkdir()
        onnxtext.dump(found, file.with_suffix(".onnxtxt"), weights="safetensors", inline_limit=0)
        assert onnxtext.load(file.with_suffix(".onnxtxt")) == found
        with safe_open(file, "np") as opened:
            assert set(opened.keys()) == set(names)
    assert len({file.read_bytes() for file in data}) == 1


@pytest.mark.parametrize("weights", ["store", "safetensors"])
def test_directories_of_weights_are_created(binary: Path, weights: str) -> None:
    result = run("from-binary", binary, "--weights", weights, "--store", "deep/er/w.safetensors")
    assert result.status == 0, result.err
    assert run("to-binary", binary.with_suffix(".onnxtxt"), "-o", "-").out == binary.read_bytes()


def test_a_merge_notes_weights_in_other_directories(tmp_path: Path) -> None:
    versions = []
    for name, changed in (("base", None), ("ours", 2), ("theirs", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.onnx").write_bytes(model(changed=changed))
        result = run("from-binary", tmp_path / name / "m.onnx", "--weights", "store")
        assert result.status == 0, result.err
        versions.append(tmp_path / name / "m.onnxtxt")
    (tmp_path / "out").mkdir()
    merged = tmp_path / "out" / "m.onnxtxt"
    result = run("merge", *versions, "-o", merged, "--output-format", "json")
    assert result.status == 0
    assert [finding["code"] for finding in result.findings()] == ["merge-note"]
    assert "is missing; looked in store" in result.err
    assert run("to-binary", merged).status == 1
    shutil.copytree(tmp_path / "ours" / "m.weights", tmp_path / "out" / "m.weights")
    result = run("merge", *versions, "-f", "-o", merged)
    assert (result.status, result.err) == (0, "")
    assert run("merge", *versions).err == ""  # standard output stands for OURS


@pytest.mark.parametrize("name", ["../w", "/tmp/w", "a/../../w", "", "link/w"])
def test_stores_stay_beside_the_text(tmp_path: Path, name: str) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    binary = inside / "m.onnx"
    binary.write_bytes(model())
    result = run("from-binary", binary, "--weights", "store", "--store", name)
    assert result.status == 2
    assert names(inside) == ["link", "m.onnx"]
    assert names(outside) == []


# ---- Reading ---------------------------------------------------------------------------------


def text_with_store(binary: Path) -> tuple[Path, Path]:
    assert run("from-binary", binary, "--weights", "store").status == 0
    return binary.with_suffix(".onnxtxt"), binary.with_suffix(".weights")


def blob_of(text: Path, tensor: str) -> str:
    line = next(line for line in text.read_text().splitlines() if f'"{tensor}" = blob' in line)
    return line.split('blob"')[1][:32]


def test_a_missing_blob_is_an_error(binary: Path) -> None:
    text, store = text_with_store(binary)
    digest = blob_of(text, "layer.2")
    (path,) = store.glob(digest + "*")
    path.unlink()
    result = run("to-binary", text, "-o", binary.parent / "new.onnx", "--output-format", "json")
    (finding,) = result.findings()
    assert result.status == 1
    assert finding["code"] == "weights-missing"
    for part in ("layer.2", digest, str(store)):
        assert part in finding["message"]
    assert not (binary.parent / "new.onnx").exists()


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "longer"])
def test_a_damaged_blob_is_an_error(binary: Path, damage: str) -> None:
    text, store = text_with_store(binary)
    digest = blob_of(text, "layer.1")
    (path,) = store.glob(digest + "*")
    good = path.read_bytes()
    bad = {"flip": b"\xff" + good[1:], "cut": good[:-1], "empty": b"", "longer": good + b"\0"}
    path.write_bytes(bad[damage])
    result = run("to-binary", text, "-o", "-", "--output-format", "json")
    (finding,) = result.findings()
    assert (result.status, result.out) == (1, b"")
    assert finding["code"] == "weights-damaged"
    for part in ("layer.1", digest, str(path)):
        assert part in finding["message"]
    # Converting again repairs the blob.
    assert run("from-binary", binary, "--weights", "store").status == 0
    assert path.read_bytes() == good


def test_a_huge_blob_is_rejected_before_it_is_read(tmp_path: Path) -> None:
    """The digest of a sparse file of 1 TiB would take half an hour."""
    digest = "ab" * 32
    blob = tmp_path / "m.weights" / digest
    blob.parent.mkdir()
    with blob.open("wb") as file:
        file.truncate(1 << 40)
    for use, needed in (
        (f'<float[2] W = blob"{digest}"> {{}}', "the tensor needs 8"),
        (f'{{ y = Op <a: ints = blob"{digest}"> () }}', "a blob has at most 8,589,934,592"),
    ):
        text = f'g () => () {use}\nresources {{\n  store: "m.weights"\n}}\n'
        with pytest.raises(onnxtext.OnnxTextError) as caught:
            onnxtext.to_binary(text, base_dir=tmp_path)
        (found,) = caught.value.diagnostics
        assert f"has 1,099,511,627,776 bytes, but {needed}" in found.message
        assert found.code == "blob-size"


def fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("what", [Path.mkdir, fifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_blob_that_is_not_a_file_is_an_error(binary: Path, what: Callable[[Path], None]) -> None:
    text, store = text_with_store(binary)
    digest = blob_of(text, "layer.1")
    (path,) = store.glob(digest + "*")
    path.unlink()
    what(path)
    result = run("to-binary", text, "-o", "-", "--output-format", "json")
    assert (result.status, result.out) == (1, b"")
    assert [finding["code"] for finding in result.findings()] == ["weights-unreadable"]


@pytest.mark.parametrize(
    "path",
    ["../outside", "/etc", "x/../../outside", "link", "C:/w", "..\\\\outside", "m.weights/.."],
)
def test_hostile_paths_are_rejected(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    binary = inside / "m.onnx"
    binary.write_bytes(model())
    text, store = text_with_store(binary)
    store.rename(tmp_path / "outside")
    (inside / "link").symlink_to(tmp_path / "outside")
    for kind in ("store", "safetensors"):
        text.write_text(text.read_text().replace('store: "m.weights"', f'{kind}: "{path}"'))
        result = run("to-binary", text, "-o", "-", "--output-format", "json")
        assert (result.status, result.out) == (1, b"")
        assert [finding["code"] for finding in result.findings()] == ["weights-unreadable"]
        text.write_text(text.read_text().replace(f'{kind}: "{path}"', 'store: "m.weights"'))


def test_a_link_out_of_the_store_is_an_error(binary: Path) -> None:
    text, store = text_with_store(binary)
    (path,) = store.glob(blob_of(text, "layer.1") + "*")
    path.rename(binary.parent / "elsewhere")
    path.symlink_to("../elsewhere")
    result = run("to-binary", text, "-o", "-")
    assert (result.status, result.out) == (1, b"")
    assert "link" in result.err


@pytest.mark.parametrize("data", [b"", b"\xff" * 100, b"\x08\0\0\0\0\0\0\0{}{}{}{}", b"{}"])
def test_a_damaged_safetensors_file_is_an_error(binary: Path, data: bytes) -> None:
    assert run("from-binary", binary, "--weights", "safetensors").status == 0
    path = binary.with_suffix(".safetensors")
    path.write_bytes(data)
    result = run("to-binary", binary.with_suffix(".onnxtxt"), "-o", "-")
    assert (result.status, result.out) == (1, b"")
    assert "internal-error" not in result.err


def test_check_reads_the_blobs(tmp_path: Path) -> None:
    """Shapes computed by constants are known, and missing blobs are findings."""
    shape = nh.from_array(np.array([100, 1000], np.int64), "shape")
    weight = nh.from_array(np.random.default_rng(1).random((100_000,), np.float32), "w")
    node = oh.make_node("Reshape", ["w", "shape"], ["y"])
    output = oh.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [100, 1000])
    graph = oh.make_graph([node], "g", [], [output], [weight, shape])
    made = oh.make_model(graph, ir_version=10, opset_imports=[oh.make_opsetid("", 20)])
    binary = tmp_path / "m.onnx"
    binary.write_bytes(made.SerializeToString())
    text, store = text_with_store(binary)
    assert command.run("to-binary", text, "-o", "-").out == binary.read_bytes()
    assert command.run("check", text).status == 0
    good = text.read_text()
    text.write_text(good.replace("(float[100, 1000] y)", "(float[100, 999] y)"))
    assert text.read_text() != good
    for verb in ("to-binary", "check"):
        result = command.run(verb, text, *(["-o", "-"] if verb == "to-binary" else []))
        assert result.status == 1
        assert "mismatch" in result.err + result.out.decode()
    text.write_text(good)
    for path in store.iterdir():
        path.unlink()
    result = command.run("check", text)
    assert result.status == 1
    assert "weights-missing" in result.err + result.out.decode()


# ---- Killed processes and full disks -----------------------------------------------------------


def killing(renames: int) -> str:
    """Return Python code that kills the process right before it renames this many files."""
    return (
        "import os, signal, sys\n"
        f"left = {renames}\n"
        "def hook(event, arguments):\n"
        "    global left\n"
        "    if event == 'os.rename':\n"
        "        left -= 1\n"
        "        if not left: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(hook)\n"
    )


def test_a_killed_conversion_leaves_the_old_text(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model(6, 1_000_000))
    text, store = tmp_path / "m.onnxtxt", tmp_path / "m.weights"
    text.write_text("before")
    arguments = "from-binary", binary, "--force", "--weights", "store"
    for count in range(1, 8):  # each conversion stores one more blob
        assert run_patched(killing(2), *arguments).status == -signal.SIGKILL
        assert len(stored(store)) == count
        assert text.read_text() == "before"
    assert run("from-binary", binary, "--force", "--weights", "store").status == 0
    assert run("to-binary", text, "-o", "-").out == binary.read_bytes()
    assert len(stored(store)) == 7


def test_a_kill_while_writing_leaves_the_old_binary(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    data = model(6, 1_000_000)
    binary.write_bytes(data)
    text, _ = text_with_store(binary)
    binary.write_bytes(b"before")
    done = run_patched(killing(1), "to-binary", text, "--force", "--no-check")
    assert done.status == -signal.SIGKILL
    (temporary,) = tmp_path.glob(".onnxtext-*")
    assert temporary.read_bytes() == data
    assert binary.read_bytes() == b"before"


def full() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def test_a_full_disk_leaves_no_safetensors_file(binary: Path) -> None:
    text = binary.with_suffix(".onnxtxt")
    text.write_text("before")
    result = run("from-binary", binary, "--force", "--weights", "safetensors", before=full)
    place = binary.with_suffix(".safetensors")
    assert result.status == 2
    assert result.err == f"error[cannot-write]: cannot write {place}: File too large\n"
    assert text.read_text() == "before"
    assert not place.exists()
    assert not list(binary.parent.glob(".onnxtext-*"))


def test_a_full_disk_leaves_no_empty_store(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model(1, 500_000))
    result = run("from-binary", binary, "--weights", "store", before=full)
    assert result.status == 2
    assert names(tmp_path) == ["m.onnx"]


def test_a_full_disk_leaves_the_old_text(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model(2, 50_000) + model(1, 500_000)[2:])  # the last tensor does not fit
    text, store = tmp_path / "m.onnxtxt", tmp_path / "m.weights"
    text.write_text("before")
    result = run("from-binary", binary, "--force", "--weights", "store", before=full)
    assert result.status == 2
    assert "cannot write" in result.err
    assert text.read_text() == "before"
    assert all(name[0] != "." for name in names(store))
    stored(store)


# ---- Garbage collection ----------------------------------------------------------------------


def aged(store: Path) -> None:
    for path in store.iterdir():
        os.utime(path, (0, 0))


def test_weights_list_and_verify_read_every_blob(binary: Path) -> None:
    text, store = text_with_store(binary)
    result = run("weights", "list", store, "--output-format", "json")
    rows = json.loads(result.out)
    assert {row["digest"]: row["size"] for row in rows} == {
        name: len(data) for name, data in stored(store).items()
    }
    assert all(row["texts"] == [str(text)] for row in rows)
    assert run("weights", "verify", store).status == 0
    path = next(iter(sorted(store.iterdir())))
    path.write_bytes(b"other")
    result = run("weights", "verify", store, "--output-format", "json")
    assert result.status == 1
    (finding,) = result.findings()
    assert finding["code"] == "weights-damaged"
    assert path.name in finding["message"]
    total = sum(row["size"] for row in rows if row["digest"] != path.name)
    assert json.loads(result.out) == [
        {"store": str(store), "intact": len(rows) - 1, "bytes": total, "damaged": 1}
    ]


def test_gc_keeps_referenced_blobs(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model())
    assert run("from-binary", binary, "--store", "deep/er/w").status == 0
    text, store = tmp_path / "m.onnxtxt", tmp_path / "deep" / "er" / "w"
    (store / "notes.txt").write_text("somebody else's")
    (store / ".onnxtext-0123456789ab").write_bytes(b"half")
    before = names(store)
    unused = hashlib.sha256(b"unused").hexdigest()
    (store / unused).write_bytes(b"")
    assert run("weights", "gc", "--delete", store).status == 0
    assert unused in names(store)  # too new to be deleted
    aged(store)
    assert unused in run("weights", "gc", store).out.decode()
    assert unused in names(store)  # not without --delete
    assert run("weights", "gc", "--delete", store).status == 0
    assert names(store) == sorted(set(before) - {".onnxtext-0123456789ab"})
    # Any file below the directory keeps the blobs that it names, whatever its own name.
    lines = text.read_text().splitlines(keepends=True)
    text.write_text("".join([line for line in lines if "layer.2" not in line]))
    below = store.parent / "notes" / "old"
    below.parent.mkdir()
    below.write_text("# " + next(line for line in lines if "layer.2" in line))
    aged(store)
    assert run("weights", "gc", "--delete", store).status == 0
    assert len(stored(store)) == 5
    below.unlink()
    assert run("weights", "gc", "--delete", store).status == 0
    assert len(stored(store)) == 4
    assert run("to-binary", text, "-o", "-").status == 0


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="no file whose reading fails")
@pytest.mark.parametrize("name", ["m.onnxtxt", "notes"])
def test_an_unreadable_text_is_named(tmp_path: Path, name: str) -> None:
    store, text = tmp_path / "w", tmp_path / name
    store.mkdir()
    text.symlink_to("/proc/self/mem")
    result = run("weights", "list", store)
    assert result.status == 2
    assert f"cannot read {text}: " in result.err


def test_gc_keeps_directories_and_removes_the_blobs_after_them(tmp_path: Path) -> None:
    store = tmp_path / "w"
    (store / ("0" * 64)).mkdir(parents=True)
    (store / ("1" * 64)).write_bytes(b"unused")
    aged(store)
    result = run("weights", "gc", "--delete", store)
    assert (result.status, result.err) == (0, "")
    assert b": 1 file removed, 6 bytes; 1 blob kept\n" in result.out
    assert [path.name for path in store.iterdir()] == ["0" * 64]


@pytest.mark.parametrize("moment", ["after the search", "while it is stored"])
def test_gc_keeps_blobs_that_are_being_stored(tmp_path: Path, moment: str) -> None:
    binary = tmp_path / "m.onnx"
    binary.write_bytes(model())
    text, store = text_with_store(binary)
    blobs = set(stored(store))
    text.unlink()
    aged(store)
    convert = onnxtext_command("from-binary", "--weights", "store", binary)
    collect = onnxtext_command("weights", "gc", "--delete", store)
    if moment == "after the search":
        patch = (
            "import subprocess\n"
            "from onnxtext.cli.commands import weights\n"
            "old = weights.old_files\n"
            "def patched(paths):\n"
            "    found = list(old(paths))\n"
            f"    subprocess.run({convert!r}, check=True)\n"
            "    return found\n"
            "weights.old_files = patched\n"
        )
        result = run_patched(patch, *collect[3:])
    else:
        patch = (
            "import contextlib, os, subprocess\n"
            "touch = os.utime\n"
            "def utime(path, **options):\n"
            "    os.utime = touch\n"
            f"    collector = subprocess.Popen({collect!r})\n"
            "    with contextlib.suppress(subprocess.TimeoutExpired):\n"
            "        collector.wait(2)\n"
            "    touch(path, **options)\n"
            "os.utime = utime\n"
        )
        result = run_patched(patch, *convert[3:])
    assert (result.status, result.err) == (0, "")
    assert set(stored(store)) == blobs
    assert run("to-binary", text, "-o", "-").out == binary.read_bytes()


def test_two_gc_runs_work_at_once(tmp_path: Path) -> None:
    store = tmp_path / "w"
    store.mkdir()
    for index in range(300):
        (store / hashlib.sha256(b"%d" % index).hexdigest()).write_bytes(b"")
    aged(store)
    command = onnxtext_command("weights", "gc", "--delete", store)
    both = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(process.communicate()[1], process.returncode) for process in both] == [(b"", 0)] * 2
    assert names(store) == []


# ---- Git -------------------------------------------------------------------------------------


def git(directory: Path, *arguments: str) -> str:
    config = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"]
    done = subprocess.run(
        ["git", *config, *arguments], cwd=directory, capture_output=True, check=True, text=True
    )
    return done.stdout


def test_a_changed_weight_adds_one_blob_to_git(tmp_path: Path) -> None:
    """Of a model of 10 MB, one line of the text and one blob change."""
    binary = tmp_path / "m.onnx"
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "config", "core.looseCompression", "0")
    for changed in (None, 3):
        binary.write_bytes(model(10, 250_000, changed))
        assert len(binary.read_bytes()) > 10_000_000
        result = run("from-binary", binary, "-o", repository / "m.onnxtxt", "--force")
        assert result.status == 0, result.err
        git(repository, "add", "-A")
        if changed is None:
            git(repository, "commit", "-qm", "first")
    rows = [
        row.split("\t") for row in git(repository, "diff", "--cached", "--numstat").splitlines()
    ]
    text = [row for row in rows if row[2] == "m.onnxtxt"]
    assert text == [["1", "1", "m.onnxtxt"]]
    (added,) = [row for row in rows if row[2] != "m.onnxtxt"]
    assert added[:2] == ["-", "-"]
    assert added[2].startswith("m.weights/")
    diff = git(repository, "diff", "--cached", "-U0", "m.onnxtxt").splitlines()[5:]
    assert len(diff) == 2
    assert all('"layer.3" = blob"' in line for line in diff)
    (repository / "back.onnx").unlink(missing_ok=True)
    assert run("to-binary", repository / "m.onnxtxt", "-o", tmp_path / "b.onnx").status == 0
    assert (tmp_path / "b.onnx").read_bytes() == binary.read_bytes()


def test_texts_with_a_store_can_be_loaded(binary: Path) -> None:
    import onnxtext

    text, _ = text_with_store(binary)
    assert onnxtext.load(text) == onnx.load(binary)
    with pytest.raises(onnxtext.OnnxTextError, match="base_dir"):
        onnxtext.loads(text.read_text())
    assert onnxtext.loads(text.read_text(), base_dir=binary.parent) == onnx.load(binary)


def test_blobs_that_are_kept_because_they_are_new_are_counted(tmp_path: Path) -> None:
    store = tmp_path / "w"
    store.mkdir()
    (store / hashlib.sha256(b"x").hexdigest()).write_bytes(b"x")
    kept = run("weights", "gc", "--delete", store).out.decode().splitlines()[0]
    assert kept.endswith("; 1 blob kept, 1 of them unreferenced but written in the last hour")


def test_outputs_about_one_blob_are_in_the_singular(tmp_path: Path) -> None:
    store = tmp_path / "w"
    store.mkdir()
    (store / hashlib.sha256(b"x").hexdigest()).write_bytes(b"x")
    aged(store)
    assert (
        run("weights", "verify", store)
        .out.decode()
        .endswith(": 1 blob is intact (1 byte in total)\n")
    )
    collected = run("weights", "gc", store).out.decode()
    assert ": 1 file to remove with --delete, 1 byte; 0 blobs kept\n" in collected
