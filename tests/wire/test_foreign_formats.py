# SPDX-License-Identifier: Apache-2.0
"""Files that are not models: the message names their format and a way to convert them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf import json_format, text_format
from onnx import TensorProto, helper, numpy_helper

import onnxtext
from onnxtext import Diagnostic, OnnxTextError, OnnxTextWarning
from onnxtext.plurals import with_article
from onnxtext.wire.foreign_formats import recognize
from tests.corpus import shared_model, shared_models

TEXT = """<onnxtext: 1, ir_version: 10, opset_import: [20]>
g (float[N] x) => (y) {
  y = Relu (x)
}
"""
MODEL = onnxtext.loads(TEXT)
BINARY = MODEL.SerializeToString()


def refusal(data: bytes) -> Diagnostic:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.from_binary(data, name="m.onnx")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.file == "m.onnx"
    assert diagnostic.offset is not None
    return diagnostic


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("m.onnx", BINARY)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("m.onnx"), io.BytesIO())
    return out.getvalue()


def numpy_file() -> bytes:
    out = io.BytesIO()
    np.save(out, np.ones(3))
    return out.getvalue()


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 102400\n"
)
FILES = {
    "a gzip file": gzip.compress(BINARY),
    "a bzip2 file": bz2.compress(BINARY),
    "an xz file": lzma.compress(BINARY),
    "a zip archive": zipped(),
    "a tar archive": tarred(),
    "a TensorFlow Lite model": b"\x1c\0\0\0TFL3" + bytes(40),
    "an ONNX Runtime model": b"\x28\0\0\0ORTM" + bytes(40),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(40),
    "a Python pickle": pickle.dumps({"w": [1.0]}),
    "a numpy array": numpy_file(),
    "a safetensors file": safetensors(),
    "a file that begins with NUL bytes": bytes(5000),
    "a Git LFS pointer, which replaces a file of 102,400 bytes": POINTER,
    "an HTML page": b"\n<!DOCTYPE html>\n<html lang=en>",
    "an XML file": b'<?xml version="1.0"?>\n<net name="m">',
    "a JSON file": b'{"error": "Not Found"}',
    "a model in protobuf's JSON form": json_format.MessageToJson(MODEL).encode(),
    "a model in protobuf's text form": text_format.MessageToString(MODEL).encode(),
    "a model as text": TEXT.encode(),
    "a model, graph or function as text": f'@doc("d")\n{TEXT}'.encode(),
    "a graph as text": TEXT.partition("\n")[2].encode(),
    "a text, which begins with `Entry not found`": b"Entry not found",
    "a text in UTF-16": TEXT.encode("utf-16"),
}


@pytest.mark.parametrize("what", FILES)
def test_file_types_are_recognized(what: str) -> None:
    diagnostic = refusal(FILES[what])
    assert f"but {what}" in diagnostic.message
    assert diagnostic.code == ("git-lfs-pointer" if "LFS" in what else "not-a-model")


def test_help_is_specific() -> None:
    helps = {what: refusal(data).help or "" for what, data in FILES.items()}
    assert "gunzip" in helps["a gzip file"]
    assert "git lfs pull" in helps["a Git LFS pointer, which replaces a file of 102,400 bytes"]
    assert "onnxtext to-binary" in helps["a model as text"]
    assert "onnxtext to-binary" in helps["a graph as text"]
    assert "link to the raw file" in helps["an HTML page"]


@pytest.mark.parametrize("format", ["json", "textproto"])
def test_the_help_for_other_forms_of_protobuf_works(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"json": "JSON", "textproto": "text"}[format]
    data = FILES[f"a model in protobuf's {form} form"]
    code = (refusal(data).help or "").partition('-c "')[2].rstrip('"')
    (tmp_path / f"m.{format}").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert (tmp_path / "m.onnx").read_bytes() == BINARY


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n\n<ir_version: 10>\ng () => () {}",
        "\ufeff<\n  # the header\n  opset_import: [20]\n>\ng () => () {}",
        "agraph (float[N] x,\n  float[N] y) => (float[N] z) {",
        '"a b" (x) => (y) {}',
        '@doc("d")\ng () => () {}',
        f'@doc("{"long " * 1000}")\ng () => () {{}}',
        '@meta("a": "b") @unset(name) g () => () {}',
    ],
)
def test_texts_of_onnxtext_are_recognized(text: str) -> None:
    assert "as text" in refusal(text.encode()).message


@pytest.mark.parametrize("text", ["@echo off", "@media print {}", "@app.route('/')\ndef f(): 1"])
def test_other_texts_that_begin_with_an_at_sign_are_not_graphs(text: str) -> None:
    assert "a text, which begins with" in refusal(text.encode()).message


@pytest.mark.parametrize(
    "text", ["ir_version: 8", "# made by hand\ngraph {\n}", "\n\nproducer_name: 'x'", "graph <\n>"]
)
def test_textprotos_are_recognized(text: str) -> None:
    assert "text form" in refusal(text.encode()).message


def test_a_long_text_that_is_cut_inside_a_character() -> None:
    for shift in range(3):
        text = "x" * shift + "ä€😀" * 4000
        assert "a text, which begins" in refusal(text.encode()).message


def test_valid_models_are_not_misidentified() -> None:
    """`recognize` is called only for invalid files, but must not recognize valid models either."""
    assert recognize(BINARY) is None
    assert recognize(b"") is None
    assert recognize(b"\x08\x0a") is None


@pytest.mark.data
def test_shared_models_are_not_misidentified() -> None:
    assert [file for file in shared_models() if recognize(shared_model(file))] == []


# ---- Other messages of onnx ---------------------------------------------------------------------


def others() -> dict[str, bytes]:
    ones = numpy_helper.from_array(np.ones((2, 3), np.float32), "W")
    node = helper.make_node("Relu", ["x"], ["y"], name="n")
    function = helper.make_function("d", "F", ["x"], ["y"], [node], [helper.make_opsetid("", 20)])
    ints = helper.make_tensor("i", TensorProto.INT64, [3], [1, 2, 3])
    custom = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml")
    return {
        "GraphProto": MODEL.graph.SerializeToString(),
        "NodeProto": node.SerializeToString(),
        "NodeProto of a domain": custom.SerializeToString(),
        "FunctionProto": function.SerializeToString(),
        "TensorProto": ones.SerializeToString(),
        "TensorProto of int64": ints.SerializeToString(),
        "TypeProto": helper.make_tensor_type_proto(1, [2]).SerializeToString(),
    }


@pytest.mark.parametrize("kind", others())
def test_other_messages_are_recognized(kind: str) -> None:
    """Messages that protobuf reads as models give a warning; the others give an error."""
    data = others()[kind]
    name = kind.partition(" ")[0]
    try:
        onnx.ModelProto.FromString(data)
    except Exception:
        diagnostic = refusal(data)
        assert diagnostic.code == "not-a-model"
        assert diagnostic.message == f"this is not a ModelProto but {with_article(name)}"
        return
    warning = f"<bytes>: this looks like {with_article(name)} that was saved"
    with pytest.warns(OnnxTextWarning, match=warning):
        text = onnxtext.from_binary(data)
    assert onnxtext.to_binary(text) == data


def test_only_some_messages_are_readable_as_models() -> None:
    """Protobuf reads some of the messages in `others` as models, but not all of them."""
    fits = []
    for data in others().values():
        try:
            onnx.ModelProto.FromString(data)
            fits.append(True)
        except Exception:
            fits.append(False)
    assert set(fits) == {True, False}


@pytest.mark.parametrize(
    "text",
    ["", "<ir_version: 10>\n", '<ir_version: 10, producer_name: "p">\n', "<opset_import: [20]>\n"],
)
def test_minimal_models_are_accepted(text: str) -> None:
    model = onnxtext.loads(TEXT)
    for field, _ in model.ListFields():
        if field.name not in text:
            model.ClearField(field.name)
    onnxtext.from_binary(model.SerializeToString())  # warnings are errors here
