# SPDX-License-Identifier: Apache-2.0
"""Output of git diff, git log -p and git difftool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.numpy_helper as nh
import pytest
from onnx import helper as oh

from onnxtext.io.text_or_binary import TEXT_SUFFIXES
from tests.cli.command import run_patched
from tests.git.repository import TEXT, Repository, binary, edited

pytestmark = pytest.mark.thorough

CHANGE = ("b = Tanh (a)", "b = Softsign (a)")
FUNCTION = TEXT + (
    '\n<domain: "my", opset_import: [20]>\nTwice (p) => (q) {\n  q = Add (p, p)\n}\n'
)


def weights(seed: int) -> bytes:
    array = np.random.default_rng(seed).standard_normal((100, 30), dtype=np.float32)
    graph = oh.make_graph([], "g", [], [], [nh.from_array(array, "w")])
    data: bytes = oh.make_model(graph).SerializeToString()
    return data


def test_textconv_shows_text_and_stores_binaries(repository: Repository) -> None:
    repository.install()
    repository.commit("first", m=binary())
    repository.commit("second", m=edited(CHANGE))
    assert repository.blob("m.onnx") == edited(CHANGE)
    for words in (["diff", "HEAD~"], ["log", "-p", "-1"], ["show"]):
        shown = repository.git(*words).text
        assert "\n-  b = Tanh (a)\n+  b = Softsign (a)\n" in shown
        assert "@@ -5,7 +5,7 @@ net (float" in shown or "@@ -5,7 +5,7 @@\n" in shown
    # Git keeps the texts.
    assert repository.git("rev-parse", "refs/notes/textconv/onnxtext").status == 0
    assert "GIT binary patch" in repository.git("format-patch", "--stdout", "-1").text
    repository.write("m.onnx", binary())
    assert "\n-  b = Softsign (a)\n+  b = Tanh (a)\n" in repository.git("diff").text
    repository.onnxtext("git", "uninstall")
    assert repository.git("rev-parse", "-q", "--verify", "refs/notes/textconv/onnxtext",
                          check=False).status == 1  # fmt: skip
    assert "@@ -5" not in repository.git("diff").text


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_weights_are_digests_and_statistics(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode)
    repository.commit("first", m=weights(1))
    repository.commit("second", m=weights(2))
    for words in (["diff", "HEAD~"], ["log", "-p", "-1"]):
        shown = repository.git(*words).text
        assert "base64" not in shown
        changed = [
            line for line in shown.splitlines() if line[:1] in "+-" and line[1:2] not in "+-"
        ]
        assert len(changed) == 4
        assert all("w" in line for line in changed)
        assert sum("min -" in line and "mean" in line for line in changed) == 2
    repository.write("m.onnx", weights(1))
    assert repository.git("diff").text.count("min -") == 2
    repository.write("m.onnx", weights(2))
    assert repository.git("diff").text == ""


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_there_is_a_diff_for_every_file(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode)
    odd = {"a": b"", "b": b"text\n", "c": b"\x08\x0a\x3a", "d": b"\xff" * 50, "e": binary()[:-9]}
    odd["f"] = b"large text\n" * 50_000
    odd["g"] = TEXT.replace("  y = Exp", "  z = Log (x)\n" * 2_000 + "  y = Exp").encode()
    repository.commit("odd", **odd)
    repository.commit("models", **dict.fromkeys(odd, binary()))
    shown = repository.git("log", "-p").text
    assert "+# cannot be shown as an ONNX model: " in shown
    assert "SHA-256" in shown
    assert shown.count("\n+  b = Tanh (a)\n") == len(odd)


def test_hunk_headers_name_graph_and_function(repository: Repository) -> None:
    repository.install("--mode", "source")
    long = FUNCTION.replace(
        "  q = Add", "".join(f"  t{i} = Neg (p)\n" for i in range(9)) + "  q = Add"
    )
    repository.write("m.onnxtxt", long)
    repository.commit("first")
    changed = long.replace("q = Add", "q = Mul").replace("y = Exp", "y = Log")
    repository.write("m.onnxtxt", changed)
    heads = [line for line in repository.git("diff").text.splitlines() if line.startswith("@@")]
    assert heads == [
        "@@ -9,7 +9,7 @@ net (float[N, 4] x) => (float[N, 4] y) {",
        "@@ -23,5 +23,5 @@ Twice (p) => (q) {",
    ]


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_the_structural_diff_shows_changed_nodes(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode, "--structural")
    repository.commit("first", m=binary(), gone=binary())
    repository.git("rm", "-q", "gone.onnx")
    repository.commit("second", m=edited(CHANGE), new=weights(1))
    shown = repository.git("diff", "HEAD~").text
    assert "diff --onnxtext a/m.onnx b/m.onnx\n" in shown
    assert "diff --onnxtext a/gone.onnx b/gone.onnx\n" in shown
    assert "Tanh" in shown
    assert "Softsign" in shown
    assert "@@ -" not in shown
    # log -p shows lines, unless it is asked.
    assert "@@ -" in repository.git("log", "-p", "-1").text
    assert "diff --onnxtext" in repository.git("log", "-p", "-1", "--ext-diff").text
    repository.git("mv", "m.onnx", "n.onnx")
    repository.write("n.onnx", binary())
    assert repository.git("diff", "-M20", "HEAD").status == 0
    repository.install("--mode", mode, "--no-structural")
    assert "diff --onnxtext" not in repository.git("diff", "HEAD~").text


@pytest.mark.parametrize("mode", ["textconv", "filter"])
def test_difftool_shows_changed_nodes(repository: Repository, mode: str) -> None:
    repository.install("--mode", mode)
    repository.commit("first", m=binary())
    repository.commit("second", m=edited(CHANGE))
    result = repository.git("difftool", "-y", "-t", "onnxtext", "HEAD~")
    assert "Softsign" in result.text
    assert result.err == ""
    repository.write("m.onnx", b"broken")
    result = repository.git("difftool", "-y", "-t", "onnxtext")
    assert "Traceback" not in result.err


def test_the_diff_driver_never_fails(repository: Repository) -> None:
    repository.write("a", b"\x08\x0a\x3a")
    arguments = ["m.onnx", "a", "1" * 40, "100644", "nowhere", "2" * 40, "100644"]
    result = repository.onnxtext("git", "diff-driver", *arguments)
    assert result.text == "diff --onnxtext a/m.onnx b/m.onnx\n"
    assert "Traceback" not in result.err
    assert "Unmerged" in repository.onnxtext("git", "diff-driver", "m.onnx").text


def test_an_empty_binary_model_stays_binary(tmp_path: Path) -> None:
    from onnxtext.git.drivers import with_matching_suffix

    for suffix in (".onnx", ".onnxtxt"):
        (path := tmp_path / f"m{suffix}").write_bytes(b"")
        with with_matching_suffix(path) as found:
            assert found.suffix == suffix


def test_textconv_fails_without_memory(tmp_path: Path) -> None:
    # Git would cache a comment about it, and show it when there is enough memory.
    (path := tmp_path / "m.onnx").write_bytes(binary())
    lack = """
from onnxtext import binary_to_text
def print_binary(*_, **options):
    raise ValueError from MemoryError()
binary_to_text.print_binary = print_binary
"""
    result = run_patched(lack, "git", "textconv", path)
    assert (result.status, result.out) == (2, b"")
    assert "error[out-of-memory]: " in result.err


def test_texts_are_read_beside_their_weights(tmp_path: Path) -> None:
    from onnxtext.git.drivers import with_matching_suffix

    for suffix in TEXT_SUFFIXES:
        (path := tmp_path / f"m{suffix}").write_text(TEXT)
        with with_matching_suffix(path) as found:
            assert found == path
