# SPDX-License-Identifier: Apache-2.0
"""The filter in daily use: git stores text, the working tree has the same bytes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onnxtext.git.clean_smudge import clean
from onnxtext.git.filter_comment import NOTE
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.git.repository import STORED, TEXT, Repository, binary, edited, environment
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 181\n"
MARKED = TEXT.replace(
    "  c = Sigmoid (b)\n",
    "<<<<<<< ours\n  c = Sigmoid (b)\n=======\n  c = Softplus (b)\n>>>>>>> theirs\n",
).encode()
UNREADABLE = [
    POINTER,
    MARKED,
    b"",
    b"\x08\x0a\x3a",
    b"\x08",
    binary()[:-20],
    b"\0" * 100,
    b"text {",
    b"\xff\xfe",
    b"<\n  onnxtext: 999,\n>\ng () => () {}\n",
    b'<onnxtext: 1>\ng () => () <float[70] w = blob"24ae2dfe8df57c1b80e54cef3d90ac3b"> {}\n'
    b'resources { store: "../../../../etc" }\n',
    b"{" * 100_000,
    b"\r\n",
    b"PK\x03\x04 no model",
]


def test_git_stores_text_and_restores_the_bytes(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    assert filtered.blob("m.onnx") == STORED
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == binary()
    filtered.touch()
    filtered.unchanged()
    assert filtered.onnxtext("git", "verify").status == 0


def test_hosting_sites_show_text_diffs(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    filtered.commit("another operator", m=edited(("Tanh", "Relu")))
    shown = filtered.git("show", "--no-textconv", "--format=", "--no-ext-diff").text
    assert "\n-  b = Tanh (a)\n+  b = Relu (a)\n" in shown
    assert "@@ -10,7 +10,7 @@" in shown
    assert filtered.git("diff", "--stat", "HEAD~").text.splitlines()[0].endswith("2 +-")


def test_other_content_passes_through(filtered: Repository) -> None:
    odd = {f"odd{index}": content for index, content in enumerate(UNREADABLE)}
    filtered.commit("models", m=binary(), **odd)
    for name, content in odd.items():
        assert filtered.blob(f"{name}.onnx") == content
    filtered.git("rm", "-q", "--cached", "*.onnx")
    for path in filtered.path.glob("*.onnx"):
        path.unlink()
    filtered.git("reset", "-q", "--hard")
    for name, content in odd.items():
        assert filtered.read(f"{name}.onnx") == content
    assert filtered.read("m.onnx") == binary()
    filtered.touch()
    filtered.unchanged()


@pytest.mark.parametrize("number", [0, 1, 5, 11])
def test_single_commands_equal_the_process(repository: Repository, number: int) -> None:
    content = UNREADABLE[number]
    for verb in ("clean", "smudge"):
        result = repository.onnxtext("git", verb, "--", "-odd name.onnx", given=content)
        assert result.out == content
        for line in result.err.splitlines():
            assert line.startswith("warning: -odd name.onnx: ")


def test_the_single_commands_convert(repository: Repository) -> None:
    assert repository.onnxtext("git", "clean", given=binary()).out == STORED
    assert repository.onnxtext("git", "smudge", given=STORED).out == binary()


def test_warnings_give_reasons(filtered: Repository) -> None:
    def said(content: bytes) -> str:
        filtered.write("m.onnx", content)
        return filtered.git("add", "m.onnx").err.strip()

    assert said(binary()) == ""
    assert said(b"") == ""
    assert said(STORED) == ""
    assert said(POINTER) == (
        "warning: m.onnx: stored unchanged: it is a Git LFS pointer, which replaces a file of "
        "181 bytes, not the file itself"
    )
    markers = "warning: m.onnx: stored unchanged: it has conflict markers"
    assert said(MARKED) == markers
    assert "stored unchanged: " in said(binary()[:-20])


def test_single_commands_work_without_the_process(filtered: Repository) -> None:
    filtered.git("config", "--unset", "filter.onnxtext.process")
    filtered.commit("a model", m=binary(), odd=POINTER)
    assert filtered.blob("m.onnx") == STORED
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == binary()


def test_a_clone_with_the_global_filter_has_the_models(filtered: Repository) -> None:
    filtered.onnxtext("git", "install", "--global", "--mode", "filter")
    filtered.commit("models", m=binary(), n=edited(("Tanh", "Relu")))
    filtered.write("sub/deep er/ünï.onnx", binary())
    filtered.commit("more")
    clone = filtered.clone("clone")
    assert clone.read("m.onnx") == binary()
    assert clone.read("sub/deep er/ünï.onnx") == binary()
    clone.unchanged()


def test_a_clone_without_the_filter_can_be_repaired(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    clone = filtered.clone("clone")
    assert clone.read("m.onnx") == STORED
    clone.unchanged()
    # Without the filter a binary is stored unchanged, and verify reports it.
    clone.commit("a binary", other=binary())
    assert clone.blob("other.onnx") == binary()
    filtered.git("pull", "-q", clone.path.as_uri(), "main")
    assert filtered.read("other.onnx") == binary()
    found = filtered.onnxtext("git", "verify", check=False)
    assert found.status == 1
    assert "CHANGES other.onnx  binary\n  it is stored as a binary: `git add --renorm" in found.text
    filtered.git("add", "--renormalize", ".")
    filtered.git("commit", "-q", "-m", "text")
    assert filtered.onnxtext("git", "verify").status == 0
    # The clone sets the filter up; its files are text until they are checked out again.
    clone.onnxtext("git", "install", "--mode", "filter")
    found = clone.onnxtext("git", "verify", check=False)
    assert "m.onnx  text\n  the working tree holds text, not the model" in found.text
    clone.write("m.onnx", TEXT.replace("Neg", "Abs").encode())
    result = clone.onnxtext("git", "checkout", check=False)
    assert (result.status, result.text.splitlines()[0]) == (1, "LEFT m.onnx")
    clone.write("m.onnx", STORED)
    assert clone.onnxtext("git", "checkout").text == "ok m.onnx\n"
    assert clone.read("m.onnx") == binary()
    assert clone.git("status", "--porcelain", "m.onnx").text == ""
    assert clone.onnxtext("git", "checkout").text == ""


BROKEN = ["/nowhere/python", sys.executable + " -c 'import nothing'", "false", "kill -9 $$;"]


@pytest.mark.parametrize("program", BROKEN[:2])
def test_a_filter_that_cannot_be_run_loses_nothing(filtered: Repository, program: str) -> None:
    filtered.commit("a model", m=binary())
    filtered.git("checkout", "-q", "-b", "side")
    filtered.commit("changed", m=edited(("Tanh", "Relu")), new=binary())
    for name in ("process", "clean", "smudge"):
        command = filtered.git("config", f"filter.onnxtext.{name}").text.strip()
        _, mark, rest = command.partition(" -I -m onnxtext ")
        filtered.git("config", f"filter.onnxtext.{name}", f"{program}{mark}{rest}")
    filtered.git("checkout", "-q", "main")
    assert filtered.read("m.onnx") == STORED
    assert not (filtered.path / "new.onnx").exists()
    filtered.write("m.onnx", edited(("Neg", "Abs")))
    result = filtered.git("add", "m.onnx")
    assert "onnxtext cannot run" in result.err
    assert filtered.git("cat-file", "blob", ":m.onnx").out == edited(("Neg", "Abs"))
    filtered.git("reset", "-q", "--hard")
    filtered.git("checkout", "-q", "side")
    assert {"m.onnx", "new.onnx"} <= {path.name for path in filtered.path.iterdir()}
    # The repair restores everything.
    filtered.onnxtext("git", "install", "--mode", "filter")
    filtered.touch()
    filtered.git("checkout", "--", "*.onnx")
    assert filtered.read("new.onnx") == binary()


def test_the_filter_killed_in_the_middle_loses_nothing(filtered: Repository) -> None:
    filtered.commit("models", **{f"m{index}": binary() for index in range(5)})
    command = filtered.git("config", "filter.onnxtext.process").text.strip()
    wrapper = filtered.home / "wrapper"
    # Dies on the third file, in the middle of the protocol.
    wrapper.write_text(
        "import os, sys\n"
        "from onnxtext.git import process\n"
        "convert, calls = process.smudge, []\n"
        "def smudge(data):\n"
        "    calls.append(1)\n"
        "    if len(calls) == 3: os._exit(137)\n"
        "    return convert(data)\n"
        "process.smudge = smudge\n"
        "from onnxtext.cli.main import main\n"
        "main()\n"
    )
    broken = command.replace(" -I -m onnxtext git", f" {wrapper} git")
    assert broken != command
    filtered.git("config", "filter.onnxtext.process", broken)
    filtered.git("rm", "-q", "*.onnx")
    filtered.git("reset", "-q", "--hard", check=False)
    contents = [path.read_bytes() for path in filtered.path.glob("*.onnx")]
    assert len(contents) == 5
    assert set(contents) <= {binary(), STORED}
    # `git checkout` repairs some files; `onnxtext git checkout` those that git takes as unchanged.
    filtered.git("config", "filter.onnxtext.process", command)
    filtered.git("checkout", "-q", "-f", "main")
    filtered.onnxtext("git", "checkout")
    assert {path.read_bytes() for path in filtered.path.glob("*.onnx")} == {binary()}
    filtered.unchanged()


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8])
def test_a_checkout_repairs_an_interrupted_one(filtered: Repository, delay: float) -> None:
    filtered.commit("models", **{f"m{index}": binary() for index in range(40)})
    filtered.git("checkout", "-q", "-b", "side")
    changed = edited(("Tanh", "Relu"))
    filtered.commit("changed", **{f"m{index}": changed for index in range(40)})
    with subprocess.Popen(
        ["git", "checkout", "-q", "main"],
        cwd=filtered.path,
        env=environment(filtered.home, **filtered.more),
        stderr=subprocess.PIPE,
    ) as git:
        assert git.stderr is not None
        time.sleep(delay)
        git.kill()
        git.stderr.read()  # until its filter has ended, too
    (filtered.path / ".git/index.lock").unlink(missing_ok=True)
    for path in filtered.path.glob("*.onnx"):  # git may have written a part of one
        data = path.read_bytes()
        assert binary().startswith(data) or changed.startswith(data)
    filtered.git("checkout", "-q", "-f", "main")
    files = list(filtered.path.glob("*.onnx"))
    assert len(files) == 40
    assert {path.read_bytes() for path in files} == {binary()}
    filtered.unchanged()


def test_a_model_over_the_limit_stays_a_binary(filtered: Repository) -> None:
    filtered.git("config", "onnxtext.maxSize", "1k")
    large = binary(TEXT.replace("d = Neg (c)", "d = Neg (c)\n" + "  z = Neg (c)\n" * 200))
    assert len(large) > 1024
    filtered.write("large.onnx", large)
    said = filtered.git("add", "large.onnx").err
    assert f"large.onnx: stored unchanged: it has {len(large):,} bytes, and the limit" in said
    filtered.commit("models", m=binary())
    assert filtered.blob("large.onnx") == large
    assert filtered.blob("m.onnx") == STORED
    (filtered.path / "large.onnx").unlink()
    assert filtered.git("checkout", "large.onnx").err.count("warning") == 0
    assert filtered.read("large.onnx") == large
    assert filtered.onnxtext("git", "verify").status == 0
    # Models that were stored as text are restored, whatever the current limit is.
    filtered.git("config", "onnxtext.maxSize", "1")
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == binary()
    filtered.git("config", "onnxtext.maxSize", "a lot")
    filtered.write("m.onnx", edited(("Neg", "Abs")))
    assert "onnxtext.maxSize: " in filtered.git("add", "m.onnx").err
    assert filtered.git("cat-file", "blob", ":m.onnx").out.startswith(NOTE + b"<\n")


@pytest.mark.parametrize(
    "item", ["<float[500000000] w = [0, ...]> {}", "{ y = Op <a: ints[500000000] = [0, ...]> () }"]
)
def test_a_short_text_does_not_expand_to_a_huge_model(filtered: Repository, item: str) -> None:
    text = f"<ir_version: 10> g () => () {item}\n".encode()
    filtered.write("m.onnx", text)
    filtered.git("add", "m.onnx")
    (filtered.path / "m.onnx").unlink()
    said = filtered.git("checkout", "m.onnx").err
    assert "m.onnx: checked out unchanged: line 1, column " in said
    assert "the limit is 67,108,864 [model-too-large] (`git config onnxtext.maxSize`)" in said
    assert filtered.read("m.onnx") == text
    for command in ("checkout", "verify"):
        result = filtered.onnxtext("git", command, check=False)
        assert result.status == 1
        assert b"model-too-large" in result.out


def test_the_limit_of_expanded_weights_can_be_changed(filtered: Repository) -> None:
    text = b"<ir_version: 10> g () => () <float[1000000] w = [0, ...]> {}\n"
    filtered.write("m.onnx", text)
    filtered.git("add", "m.onnx")
    for size, is_model in (("3m", False), ("4m", True)):
        filtered.git("config", "onnxtext.maxSize", size)
        (filtered.path / "m.onnx").unlink()
        filtered.git("checkout", "m.onnx")
        assert (filtered.read("m.onnx") != text) == is_model


def test_large_weights_survive_commit_and_checkout(filtered: Repository) -> None:
    import numpy as np
    import onnx
    import onnx.numpy_helper as nh
    from onnx import helper as oh

    array = np.random.default_rng(7).standard_normal(300_000, dtype=np.float32)
    graph = oh.make_graph([], "g", [], [], [nh.from_array(array, "w")])
    model: bytes = oh.make_model(graph).SerializeToString()
    assert onnx.ModelProto.FromString(model)
    filtered.commit("weights", m=model)
    assert filtered.blob("m.onnx").startswith(NOTE + b"<\n")
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == model


def test_a_text_written_by_hand_stays_until_the_model_changes(filtered: Repository) -> None:
    by_hand = b"# mine\n" + TEXT.replace("  a = Relu (x)", "  a=Relu(x)").encode()
    filtered.git("config", "--unset", "filter.onnxtext.process")
    for name in ("clean", "smudge"):
        filtered.git("config", "--unset", f"filter.onnxtext.{name}")
    filtered.commit("by hand", m=by_hand)
    filtered.onnxtext("git", "install", "--mode", "filter")
    filtered.touch()
    filtered.git("checkout", "--", "m.onnx")
    assert filtered.read("m.onnx") == binary()
    filtered.touch()
    assert not filtered.git("status", "--short").out
    assert "the filter would write another layout" in filtered.onnxtext("git", "verify").text
    filtered.git("add", "--renormalize", ".")
    assert filtered.blob("m.onnx", "") == by_hand

    filtered.write("m.onnx", edited(("Tanh", "Relu")))
    filtered.git("commit", "-q", "-a", "-m", "another model")
    assert filtered.blob("m.onnx") == STORED.replace(b"Tanh", b"Relu")
    filtered.git("checkout", "-q", "HEAD^")
    assert not filtered.git("status", "--short").out
    filtered.git("rm", "-q", "--cached", "m.onnx")
    filtered.git("add", "m.onnx")
    assert filtered.blob("m.onnx", "") == STORED
    assert "layout" not in filtered.onnxtext("git", "verify").text


def test_stash_restores_the_models(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    changed = edited(("Tanh", "Relu"))
    filtered.write("m.onnx", changed)
    filtered.write("untracked.onnx", changed)
    filtered.git("stash", "-q", "--include-untracked")
    assert filtered.read("m.onnx") == binary()
    assert not (filtered.path / "untracked.onnx").exists()
    filtered.git("stash", "pop", "-q")
    assert filtered.read("m.onnx") == filtered.read("untracked.onnx") == changed


def test_archive_holds_the_models(filtered: Repository) -> None:
    filtered.commit("a model", m=binary())
    archive = filtered.git("archive", "HEAD").out
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        member = opened.extractfile("m.onnx")
        assert member is not None
        assert member.read() == binary()


def test_blame_is_by_statement(filtered: Repository) -> None:
    filtered.commit("first", m=binary())
    filtered.commit("second", m=edited(("Tanh", "Relu")))
    shown = filtered.git("blame", "--line-porcelain", "HEAD", "--", "m.onnx").text
    summaries = [line[8:] for line in shown.splitlines() if line.startswith("summary ")]
    lines = [line[1:] for line in shown.splitlines() if line.startswith("\t")]
    by = dict(zip(lines, summaries, strict=True))
    assert by["  b = Relu (a)"] == "second"
    assert set(by.values()) == {"first", "second"}
    assert list(by.values()).count("second") == 1


@pytest.mark.parametrize("options", [["--depth", "1"], ["--filter=blob:none"]])
def test_shallow_and_partial_clones_have_the_models(
    filtered: Repository, options: list[str]
) -> None:
    filtered.git("config", "uploadpack.allowFilter", "true")
    filtered.git("config", "uploadpack.allowAnySHA1InWant", "true")
    filtered.onnxtext("git", "install", "--global", "--mode", "filter")
    filtered.commit("first", m=binary())
    filtered.commit("second", m=edited(("Tanh", "Relu")), n=binary())
    clone = filtered.clone("clone", *options)
    assert clone.read("m.onnx") == edited(("Tanh", "Relu"))
    assert clone.read("n.onnx") == binary()
    clone.unchanged()
    assert clone.onnxtext("git", "verify").status == 0
    if "--depth" not in options:
        clone.git("checkout", "-q", "HEAD~")
        assert clone.read("m.onnx") == binary()


def test_a_checkout_of_many_models_starts_python_once(filtered: Repository) -> None:
    for number in range(200):
        changed = TEXT.replace("net (", f"net_{number} (")
        filtered.write(f"models/{number % 10}/m{number}.onnx", binary(changed))
    log = filtered.home / "starts"
    counter = filtered.home / "counting python"
    counter.write_text(f"#!/bin/sh\necho $$ >>'{log}'\nexec '{sys.executable}' \"$@\"\n")
    counter.chmod(0o755)
    command = filtered.git("config", "filter.onnxtext.process").text.strip()
    _, mark, rest = command.partition(" -I -m onnxtext ")
    counted = f"'{counter}'{mark}{rest}"
    filtered.git("config", "filter.onnxtext.process", counted)
    filtered.commit("many models")
    assert len(log.read_text().splitlines()) == 1
    shutil.rmtree(filtered.path / "models")
    filtered.git("checkout", "--", ".")
    assert len(log.read_text().splitlines()) == 2
    assert len(list(filtered.path.rglob("*.onnx"))) == 200
    for number in (0, 99, 199):
        changed = TEXT.replace("net (", f"net_{number} (")
        assert filtered.read(f"models/{number % 10}/m{number}.onnx") == binary(changed)


def models() -> Iterator[bytes]:
    """Return the models of the wheel and, if there is any, of the shared data."""
    for name in wheel_models():
        yield (onnx_directory() / name).read_bytes()
    for name in shared_models():
        yield shared_model(name)


@pytest.mark.parametrize(
    "most", [20_000, pytest.param(1 << 30, marks=pytest.mark.slow)], ids=["small", "all"]
)
def test_real_models_round_trip(filtered: Repository, most: int) -> None:
    wanted = {}
    small = [data for data in models() if len(data) <= most]
    for number, data in enumerate(sampled(small, 3)):
        wanted[f"m{number}.onnx"] = data
        filtered.write(f"m{number}.onnx", data)
    assert len(wanted) > 50
    filtered.git("add", "-A")
    filtered.git("commit", "-q", "-m", "real models")
    for name in wanted:
        (filtered.path / name).unlink()
    filtered.git("checkout", "--", ".")
    different = [name for name, data in wanted.items() if filtered.read(name) != data]
    assert different == []
    filtered.touch()
    filtered.unchanged()
    assert filtered.onnxtext("git", "verify").status == 0


@pytest.mark.parametrize("autocrlf", ["true", "input"])
def test_line_ends_are_never_converted(filtered: Repository, autocrlf: str) -> None:
    filtered.git("config", "core.autocrlf", autocrlf)
    # A model without any NUL, with CR and LF in a string.
    model = binary('<onnxtext: 1>\n@doc(b"a\\r\\nb\\nc") g () => () {}\n')
    assert b"\0" not in model
    filtered.commit("line ends", m=model)
    assert b"\r" not in filtered.blob("m.onnx").replace(b"\\r", b"")
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == model
    assert Path(filtered.path / "m.onnx").stat().st_size == len(model)


def test_texts_with_converted_line_ends_are_repaired(repository: Repository) -> None:
    """Without attributes, git ends the lines of a stored text with CRLF (`core.autocrlf`)."""
    repository.install("--mode", "filter")
    repository.commit("model", m=binary())
    clone = repository.clone("clone", "-c", "core.autocrlf=true")
    converted = STORED.replace(b"\n", b"\r\n")
    assert clone.read("m.onnx") == converted
    clone.onnxtext("git", "install", "--mode", "filter")
    clone.commit("another file", other=binary())
    assert clone.blob("m.onnx") == STORED
    assert clone.onnxtext("git", "checkout").text == "ok m.onnx\n"
    assert clone.read("m.onnx") == binary()
    clone.unchanged()


@pytest.mark.parametrize(
    "text", [STORED.replace(b"\n", b"\r\n", 9), TEXT.replace("\n", "\r\n").encode()]
)
def test_other_texts_with_crlf_are_stored_unchanged(text: bytes) -> None:
    assert clean(text, name="m.onnx").data is None


def test_source_texts_are_never_converted(filtered: Repository) -> None:
    text = "# a comment that no model has\n" + TEXT
    filtered.write(".gitattributes", b"* filter=onnxtext\n" + filtered.read(".gitattributes"))
    filtered.write(".gitattributes", filtered.read(".gitattributes") + b".* !filter\n")
    filtered.write("t.onnxtxt", text)
    filtered.commit("everything is filtered", m=binary())
    (filtered.path / "t.onnxtxt").unlink()
    filtered.git("checkout", "--", ".")
    assert filtered.read("t.onnxtxt") == text.encode()
    assert filtered.onnxtext("git", "checkout").text == ""
    assert filtered.onnxtext("git", "clean", "t.onnxtxt", given=text.encode()).out == text.encode()
    assert filtered.blob("m.onnx") == STORED


def test_other_git_conversions_are_disabled(filtered: Repository) -> None:
    """Git would expand `$Id$` in the text before the filter converts the text to a model."""
    theirs = b"* ident text eol=crlf working-tree-encoding=UTF-16\n"
    filtered.write(".gitattributes", theirs + filtered.read(".gitattributes"))
    model = binary('<onnxtext: 1>\n@doc("$Id$") g () => () {}\n')
    filtered.write("m.onnx", model)
    filtered.git("add", "m.onnx")
    (filtered.path / "m.onnx").unlink()
    filtered.git("checkout", "m.onnx")
    assert filtered.read("m.onnx") == model


def test_links_are_not_followed(filtered: Repository) -> None:
    """Tracked models that are not regular files, or are outside of the working tree."""
    outside = filtered.home / "outside"
    outside.mkdir()
    (outside / "m.onnx").write_text(TEXT)
    names = ["m", "directory", "pipe", "link", "sub/m", "gone/m"]
    filtered.commit("models", **dict.fromkeys(names, binary()))
    for name in names:
        (filtered.path / f"{name}.onnx").unlink()
    (filtered.path / "sub").rmdir()
    (filtered.path / "sub").symlink_to(outside)
    (filtered.path / "gone").rmdir()
    (filtered.path / "gone").write_text("a file")
    (filtered.path / "directory.onnx").mkdir()
    os.mkfifo(filtered.path / "pipe.onnx")
    (filtered.path / "link.onnx").symlink_to(outside / "m.onnx")
    filtered.write("m.onnx", TEXT)
    assert filtered.onnxtext("git", "verify", check=False).status == 1
    assert filtered.onnxtext("git", "checkout").text == "ok m.onnx\n"
    assert filtered.read("m.onnx") == binary()
    assert (outside / "m.onnx").read_text() == TEXT
