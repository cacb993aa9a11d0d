# SPDX-License-Identifier: Apache-2.0
"""`onnxtext verify` and the functions behind it."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnxtext
from onnxtext import OnnxTextError, api
from onnxtext.sequences import common_prefix
from onnxtext.verifier import Verdict, verify, verify_binary, verify_text
from tests.cli.command import BAD_TEXT, NO_MODEL, TEXT, binary, run, run_patched
from tests.corpus import shared_model, shared_models

OTHER_TEXT = TEXT.replace("Relu", "Tanh")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.onnx").write_bytes(binary())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.ONNX").write_bytes(binary(OTHER_TEXT))
    (tmp_path / "sub" / "c.onnxtxt").write_text(TEXT.replace("\n", ""))
    (tmp_path / "sub" / "d.onnxtext").write_text(TEXT)
    (tmp_path / "sub" / "notes.txt").write_text("no model")
    return tmp_path


def objects(output: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output)
    return found


def test_verify_prints_one_line_per_file(files: Path) -> None:
    result = run("verify", "a.onnx", "sub", cwd=files)
    assert (result.status, result.err) == (0, "")
    lines = result.out.decode().splitlines()
    assert [line.split("  ")[:2] for line in lines] == [
        ["ok a.onnx", "L1 L3"],
        ["ok sub/b.ONNX", "L1 L3"],
        ["ok sub/c.onnxtxt", "L1 L3"],
        ["ok sub/d.onnxtext", "L1 L3"],
    ]
    assert lines[0].split("  ")[2] == f"{len(binary())} B"
    assert lines[0].endswith(" ms")


def test_verify_reads_a_binary_or_a_text_from_stdin(files: Path) -> None:
    for name in ("a.onnx", "sub/c.onnxtxt"):
        result = run("verify", "-", stdin=(files / name).read_bytes())
        assert (result.status, result.err) == (0, "")
        assert result.out.decode().startswith("ok <stdin>  L1 L3  ")
    assert run("verify", "-", stdin=BAD_TEXT.encode()).err.startswith("error[unclosed-bracket]")
    assert run("verify", "-", "a.onnx", cwd=files).status == 2


def test_json_has_one_object_per_file(files: Path) -> None:
    (files / "bad.onnx").write_bytes(NO_MODEL)
    result = run("verify", "bad.onnx", ".", "--output-format=json", cwd=files)
    assert result.status == 1
    bad, *others = objects(result.out)
    assert [entry["file"] for entry in others] == [
        *("a.onnx", "bad.onnx", "sub/b.ONNX", "sub/c.onnxtxt", "sub/d.onnxtext")
    ]
    assert {**others[0], "seconds": 0} == {
        "file": "a.onnx",
        "kind": "binary",
        "size": len(binary()),
        "seconds": 0,
        "laws": ["L1", "L3"],
        "ok": True,
        "differences": [],
    }
    assert others[-1]["kind"] == "text"
    assert (bad["ok"], bad["laws"], bad["kind"]) == (False, [], None)
    assert [finding["code"] for finding in result.findings()] == ["not-a-model"] * 2


def test_invalid_and_missing_models_are_errors(files: Path) -> None:
    (files / "bad.onnx").write_bytes(NO_MODEL)
    (files / "bad.onnxtxt").write_text(BAD_TEXT)
    result = run("verify", "bad.onnx", "a.onnx", "bad.onnxtxt", cwd=files)
    assert result.status == 1
    assert result.out.decode().startswith("ok a.onnx")
    assert "error[not-a-model]" in result.err
    assert "error[unclosed-bracket]" in result.err
    assert result.err.endswith("2 of 3 files could not be verified\n")
    missing = run("verify", "bad.onnx", "missing.onnx", "a.onnx", cwd=files)
    assert missing.status == 2
    assert "error[cannot-read]: cannot read missing.onnx: No such file" in missing.err
    assert missing.out.decode().startswith("ok a.onnx")


def test_missing_input_is_status_2() -> None:
    assert run("verify").status == 2


def test_a_directory_without_models_is_no_error(tmp_path: Path) -> None:
    empty = run("verify", tmp_path)
    message = f"there is no .onnxtxt, .onnxtext or .onnx file below {tmp_path}\n"
    assert (empty.status, empty.out, empty.err) == (0, b"", message)
    listed = run("verify", "--output-format", "json", tmp_path)
    assert (listed.status, listed.out, listed.err) == (0, b"[]\n", "[]\n")


BREAK_BYTES = """
from onnxtext import text_to_binary
encode = text_to_binary.encode
def broken(model, source, **options):
    return [bytes(piece).replace(b'Relu', b'Rexu') for piece in encode(model, source, **options)]
text_to_binary.encode = broken
"""
BREAK_TEXT = """
from onnxtext import api
import onnxtext.printer.models
parse = api.parse
def broken(text, **options):
    model = parse(text, **options)
    model.graph.name += 'x'
    return model
api.parse = broken
"""


def test_violated_laws_are_reported(model: Path) -> None:
    result = run_patched(BREAK_BYTES, "verify", model)
    assert (result.status, result.err) == (1, "")
    first, second = result.out.decode().splitlines()
    assert first.startswith(f"BROKEN {model}  L3  ")
    at = binary().index(b"Relu") + 2
    assert second == (
        f"  L1: the bytes differ, starting at byte {at:#x} (graph.node[0].op_type): "
        f"{binary()[at : at + 8].hex(' ')} became 78 {binary()[at + 1 : at + 8].hex(' ')}"
    )
    (found,) = objects(run_patched(BREAK_BYTES, "verify", model, "--output-format=json").out)
    assert (found["ok"], found["laws"]) == (False, ["L3"])
    (difference,) = found["differences"]
    assert difference["offset"] == at
    assert difference["path"] == "graph.node[0].op_type"


def test_other_violated_laws_are_reported(model: Path) -> None:
    result = run_patched(BREAK_TEXT, "verify", model)
    assert result.status == 1
    first, differs, meaning, printed = result.out.decode().splitlines()
    assert first.startswith(f"BROKEN {model}  ")
    assert differs.startswith("  L1: the bytes differ, starting at byte 0x3 (graph): ")
    assert meaning.endswith("another model: graph.name was 'g' and became 'gx'")
    assert "line 6 is printed differently the second time: it was 'g (float[N] x)" in printed


BREAK_PRINTER = """
import onnxtext.printer.models as printer
parts = printer.model_parts
printer.model_parts = lambda *a, **k: (part.replace('Relu', 'Rexu') for part in parts(*a, **k))
"""


def test_the_printed_text_is_compared_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.onnxtxt").write_text(TEXT)
    result = run_patched(BREAK_PRINTER, "verify", tmp_path / "m.onnxtxt")
    assert result.status == 1
    assert "'Relu' and became 'Rexu'" in result.out.decode()


def test_verifying_large_weights_takes_little_more_than_they_do() -> None:
    """Memory holds the data, its text, the parsed model and some blocks, but no second text."""
    size = 8 << 20
    weight = onnx.helper.make_tensor("w", 1, [4, size // 16], bytes(range(256)) * (size >> 8), True)
    model = onnx.ModelProto.FromString(binary())
    model.graph.initializer.append(weight)
    data = model.SerializeToString()
    assert verify_binary(data).ok
    tracemalloc.start()
    try:
        assert verify_binary(data).ok
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6.5 * size  # a second text would raise it to 8.1


def test_unparsable_output_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "from_binary", lambda data, **options: BAD_TEXT)
    verdict = verify_binary(binary())
    assert not verdict.ok
    assert verdict.laws == ()
    assert [difference.line for difference in verdict.differences] == [7, 7]  # L1 and L3


@pytest.mark.parametrize(
    ("left", "right", "at"),
    [(b"", b"", 0), (b"a", b"", 0), (b"abc", b"abd", 2), (b"abc", b"abcd", 3), (b"xbc", b"abc", 0)],
)
def test_the_common_prefix_ends_at_the_first_difference(left: bytes, right: bytes, at: int) -> None:
    assert common_prefix(left, right) == common_prefix(right, left) == at


def test_the_suffix_decides_the_file_type() -> None:
    assert verify(TEXT.encode(), name="m.onnxtxt") == Verdict("text", ())
    assert verify(TEXT.encode(), name="m.onnxtext").kind == "text"
    assert verify(binary(), name="m.pb").kind == "binary"
    with pytest.raises(OnnxTextError):
        verify(TEXT.encode(), name="m.onnx")


def test_fragments_are_verified_and_invalid_texts_rejected() -> None:
    assert verify_text("g (float[N] x) => (float[N] y) { y = Relu (x) }").ok
    with pytest.raises(OnnxTextError):
        verify_text(BAD_TEXT)


def test_unusual_binaries_are_verified() -> None:
    data = binary()
    reordered = data[2:] + data[:2]  # the IR version comes last
    assert onnx.ModelProto.FromString(reordered).SerializeToString() == data
    assert verify_binary(reordered).ok
    assert verify_binary(b"").ok


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*this looks like:onnxtext.OnnxTextWarning")
def test_shared_models_are_verified() -> None:
    for file in shared_models()[::10]:
        verdict = verify(shared_model(file), name=file)
        assert verdict.ok, verdict


def test_an_empty_file_is_an_empty_model(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"")
    result = run("from-binary", "m.onnx", "-o", "-", cwd=tmp_path)
    assert result.status == 0
    assert result.err == "warning: m.onnx: the file is empty\n"
    assert onnxtext.to_binary(result.out.decode()) == b""
