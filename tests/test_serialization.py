# SPDX-License-Identifier: Apache-2.0
"""`onnx.load` and `onnx.save` after `onnxtext.register`, and `onnxtext.load` of binary models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import onnx.printer
import pytest

import onnxtext
from onnxtext import OnnxTextError
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.test_public_api import MODEL, TEXTS


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the serializer, and restore the registry of onnx afterwards."""
    registry = onnx.serialization.registry
    monkeypatch.setattr(registry, "_serializers", dict(registry._serializers))
    monkeypatch.setattr(registry, "_extension_to_format", dict(registry._extension_to_format))
    onnxtext.register()


@pytest.mark.parametrize("suffix", [".onnxtxt", ".onnxtext"])
@pytest.mark.parametrize("file", wheel_models()[::10])
def test_save_and_load(file: str, suffix: str, tmp_path: Path, registered: None) -> None:
    model = onnx.load(onnx_directory() / file, load_external_data=False)
    path = tmp_path / f"m{suffix}"
    onnx.save(model, path)
    assert path.read_text(encoding="utf-8") == onnxtext.dumps(model)
    assert onnx.load(path, load_external_data=False) == model


@pytest.mark.parametrize("file", shared_models()[::20])
def test_shared_models_are_saved_and_loaded(file: str, tmp_path: Path, registered: None) -> None:
    model = onnx.ModelProto.FromString(shared_model(file))
    onnx.save(model, tmp_path / "m.onnxtxt")
    assert onnx.load(tmp_path / "m.onnxtxt", load_external_data=False) == model


def test_official_texts_are_read(tmp_path: Path, registered: None) -> None:
    path = tmp_path / "m.onnxtxt"
    model = onnxtext.loads(MODEL)
    path.write_text(onnx.printer.to_text(model), encoding="utf-8")
    assert onnx.load(path) == onnx.parser.parse_model(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", TEXTS)
def test_the_given_message_is_filled(kind: type[onnx.ModelProto]) -> None:
    from onnxtext.onnx_serializer import TextSerializer

    target = kind()
    target.doc_string = "replaced"
    for serialized in (TEXTS[kind], TEXTS[kind].encode()):
        assert TextSerializer().deserialize_proto(serialized, target) is target
        assert target == onnxtext.loads(TEXTS[kind], kind)


def test_nothing_is_registered_by_an_import() -> None:
    script = """
import onnx, onnxtext.onnx_serializer
before = onnx.serialization.registry.get("onnxtxt")
assert "onnxtext" not in type(before).__module__
onnxtext.register()
assert onnx.serialization.registry.get("onnxtxt").__class__.__module__ == "onnxtext.onnx_serializer"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_errors_have_a_place(tmp_path: Path, registered: None) -> None:
    path = tmp_path / "m.onnxtxt"
    path.write_text("g () => () {\n  y = Relu (x }")
    with pytest.raises(OnnxTextError, match="2:15"):
        onnx.load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(OnnxTextError, match="not UTF-8"):
        onnx.load(path)


@pytest.mark.parametrize("name", ["m.onnx", "m.onnxtxt", "m"])
def test_the_content_decides_what_is_loaded(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    model = onnxtext.loads(MODEL)
    path.write_bytes(model.SerializeToString())
    assert onnxtext.load(path) == model
    path.write_text(MODEL, encoding="utf-8")
    assert onnxtext.load(str(path)) == model


def test_damaged_models_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnxtext.to_binary(MODEL)[:-3])
    with pytest.raises(OnnxTextError, match=r"m\.onnx.*byte"):
        onnxtext.load(path)
    path.write_bytes(b"")
    assert onnxtext.load(path) == onnx.ModelProto()
