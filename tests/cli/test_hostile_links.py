# SPDX-License-Identifier: Apache-2.0
"""Commands never follow hostile links in a repository to files outside (`path_safety`)."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from tests.cli.command import TEXT, binary, run

UGLY = TEXT.replace("  y = Relu (x)", "y=Relu(x)")
WEIGHTS = TEXT.replace(
    "g (float[N] x) => (float[N] y) {\n  y = Relu (x)\n}",
    "g (float[80] x) => (float[80] y) <float[80] w = ["
    + ", ".join(map(str, range(80)))
    + "]> {\n  y = Add (x, w)\n}",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository beside a directory that no command may touch."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def outside(tree: Path, name: str = "file") -> Path:
    return tree.parent / "outside" / name


def contents(directory: Path) -> dict[str, bytes]:
    """Return all files below a directory with their content."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


# ---- Derived names ------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("output", [(), ("-o", "."), ("-o", "./")])
@pytest.mark.parametrize("verb", ["from-binary", "to-binary"])
def test_derived_outputs_follow_no_link_out(
    tree: Path, force: tuple[str, ...], exists: bool, output: tuple[str, ...], verb: str
) -> None:
    source, target = ("c.onnx", "c.onnxtxt") if verb == "from-binary" else ("c.onnxtxt", "c.onnx")
    (tree / source).write_bytes(binary() if verb == "from-binary" else TEXT.encode())
    (tree / target).symlink_to("../outside/file")
    if exists:
        outside(tree).write_bytes(b"mine")
    before = contents(tree.parent / "outside")
    done = run(verb, source, *force, *output, cwd=tree)
    assert done.status == 2
    assert "symbolic link to a target outside" in done.err
    assert contents(tree.parent / "outside") == before


def test_derived_outputs_follow_links_inside(tree: Path) -> None:
    (tree / "texts").mkdir()
    (tree / "c.onnx").write_bytes(binary())
    (tree / "c.onnxtxt").symlink_to("texts/real.onnxtxt")
    assert run("from-binary", "c.onnx", cwd=tree).status == 0
    assert (tree / "c.onnxtxt").is_symlink()
    assert (tree / "texts" / "real.onnxtxt").read_text() == TEXT


def test_an_output_that_the_user_names_is_followed(tree: Path) -> None:
    (tree / "c.onnx").write_bytes(binary())
    (tree / "out.onnxtxt").symlink_to("../outside/file")
    assert run("from-binary", "c.onnx", "-o", "out.onnxtxt", cwd=tree).status == 0
    assert outside(tree).read_text() == TEXT


def test_a_derived_output_that_is_a_pipe_is_refused(tree: Path) -> None:
    (tree / "c.onnx").write_bytes(binary())
    os.mkfifo(tree / "c.onnxtxt")
    done = run("from-binary", "c.onnx", "--force", cwd=tree)
    assert done.status == 2
    assert "not a regular file" in done.err


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_external_data_follows_no_link_out(tree: Path, kind: str) -> None:
    text = WEIGHTS.replace("float[80] w = [", "float[400] v = [0, ...], float[80] w = [")
    (tree / "c.onnxtxt").write_text(text)
    (tree / "c.onnx.data").symlink_to("../outside/file")
    if kind == "file":
        outside(tree).write_bytes(b"mine")
    before = contents(tree.parent / "outside")
    done = run("to-binary", "--externalize", "--force", "c.onnxtxt", cwd=tree)
    assert done.status == 2
    assert contents(tree.parent / "outside") == before


# ---- Walks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["fmt", "verify"])
def test_directory_walks_skip_links_that_lead_outside(tree: Path, verb: str) -> None:
    (tree / "own.onnxtxt").write_text(UGLY)
    outside(tree, "theirs.onnxtxt").write_text(UGLY)
    (tree / "link.onnxtxt").symlink_to("../outside/theirs.onnxtxt")
    (tree / "dangling.onnxtxt").symlink_to("../outside/nothing")
    (tree / "directory").symlink_to("../outside")
    os.mkfifo(tree / "pipe.onnxtxt")
    done = run(verb, ".", cwd=tree)
    assert done.status == 0, done.err
    assert "link.onnxtxt is left out" in done.err
    assert "dangling.onnxtxt is left out" in done.err
    assert "pipe.onnxtxt is left out" in done.err
    assert b"theirs" not in done.out
    assert b"link" not in done.out
    assert contents(tree.parent / "outside") == {"theirs.onnxtxt": UGLY.encode()}
    if verb == "fmt":
        assert (tree / "own.onnxtxt").read_text() == TEXT


def test_directory_walks_follow_links_inside(tree: Path) -> None:
    (tree / "below").mkdir()
    (tree / "below" / "real.txt").write_text(UGLY)
    (tree / "link.onnxtxt").symlink_to("below/real.txt")
    assert run("fmt", ".", cwd=tree).status == 0
    assert (tree / "link.onnxtxt").is_symlink()
    assert (tree / "below" / "real.txt").read_text() == TEXT


def test_a_hard_link_outside_keeps_its_content(tree: Path) -> None:
    outside(tree).write_text(UGLY)
    (tree / "own.onnxtxt").hardlink_to(outside(tree))
    assert run("fmt", ".", cwd=tree).status == 0
    assert (tree / "own.onnxtxt").read_text() == TEXT
    assert outside(tree).read_text() == UGLY


@pytest.mark.parametrize("arguments", [("fmt",), ("check", "--fix")])
def test_a_link_that_the_user_names_is_written_through(
    tree: Path, arguments: tuple[str, ...]
) -> None:
    damaged = UGLY.replace(") {", ") <float[1] unused = {1}> {")
    outside(tree, "m.onnxtxt").write_text(damaged)
    (tree / "link.onnxtxt").symlink_to("../outside/m.onnxtxt")
    assert run(*arguments, "link.onnxtxt", cwd=tree).status == 0
    assert (tree / "link.onnxtxt").is_symlink()
    assert outside(tree, "m.onnxtxt").read_text() != damaged


# ---- Stores -------------------------------------------------------------------------------------


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_blobs_that_are_links_are_not_read(tree: Path) -> None:
    data = b"secret" * 1000
    outside(tree).write_bytes(data)
    (tree / "m.weights").mkdir()
    (tree / "m.weights" / digest_of(data)).symlink_to("../../outside/file")
    (tree / "m.weights" / ("0" * 64)).symlink_to("../../outside/file")
    done = run("weights", "verify", "m.weights", cwd=tree)
    assert done.status == 1
    assert digest_of(data) not in done.err.replace(f"`{digest_of(data)}`", "")
    assert b"0 blobs are intact (0 bytes in total), 2 damaged" in done.out
    assert str(len(data)).encode() not in run("weights", "list", "m.weights", cwd=tree).out


def test_gc_removes_links_but_not_their_targets(tree: Path) -> None:
    outside(tree).write_bytes(b"mine")
    store = tree / "m.weights"
    store.mkdir()
    link = store / hashlib.sha256(b"unused").hexdigest()
    link.symlink_to("../../outside/file")
    old = time.time() - 100_000
    os.utime(link, (old, old), follow_symlinks=False)
    assert run("weights", "gc", "--delete", "m.weights", cwd=tree).status == 0
    assert not link.is_symlink()
    assert outside(tree).read_bytes() == b"mine"


@pytest.mark.parametrize("exists", [False, True])
def test_a_link_in_a_store_is_replaced_and_not_written_through(tree: Path, exists: bool) -> None:
    (tree / "c.onnx").write_bytes(binary(WEIGHTS))
    assert run("from-binary", "--weights", "store", "c.onnx", cwd=tree).status == 0
    (blob,) = (tree / "c.weights").iterdir()
    data = blob.read_bytes()
    blob.unlink()
    blob.symlink_to("../../outside/file")
    if exists:
        outside(tree).write_bytes(b"mine")
    before = contents(tree.parent / "outside")
    assert run("from-binary", "--weights", "store", "-f", "c.onnx", cwd=tree).status == 0
    assert not blob.is_symlink()
    assert blob.read_bytes() == data
    assert contents(tree.parent / "outside") == before


@pytest.mark.parametrize("weights", ["store", "safetensors"])
def test_weights_beside_a_text_follow_no_link_out(tree: Path, weights: str) -> None:
    (tree / "c.onnx").write_bytes(binary(WEIGHTS))
    name = "c.weights" if weights == "store" else "c.safetensors"
    (tree / name).symlink_to("../outside" if weights == "store" else "../outside/file")
    done = run("from-binary", "--weights", weights, "--force", "c.onnx", cwd=tree)
    assert done.status == 2
    assert "leads out" in done.err
    assert contents(tree.parent / "outside") == {}
    assert not (tree / "c.onnxtxt").exists()


@pytest.mark.parametrize("verb", ["to-binary", "check", "diff"])
@pytest.mark.parametrize("kind", ["store", "blob", "dots"])
def test_texts_read_no_weights_from_outside(tree: Path, verb: str, kind: str) -> None:
    data = bytes(320)
    name = digest_of(data)
    outside(tree, name).write_bytes(data)
    place = "../outside" if kind == "dots" else "w"
    text = TEXT.replace("(float[N] y) {", f'(float[N] y) <float[80] w = blob"{name}"> {{')
    (tree / "m.onnxtxt").write_text(f'{text}resources {{\n  store: "{place}"\n}}\n')
    if kind == "store":
        (tree / "w").symlink_to("../outside")
    if kind == "blob":
        (tree / "w").mkdir()
        (tree / "w" / name).symlink_to(f"../../outside/{name}")
    others = ("m.onnxtxt", "m.onnxtxt") if verb == "diff" else ("m.onnxtxt",)
    done = run(verb, *others, cwd=tree)
    assert "Traceback" not in done.err
    if verb == "to-binary":
        assert done.status == 1
        assert "out of the directory" in done.err
        assert not (tree / "m.onnx").exists()
