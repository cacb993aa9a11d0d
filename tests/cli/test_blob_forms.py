# SPDX-License-Identifier: Apache-2.0
"""No command loses a blob, for all forms and positions of blobs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import onnxtext
from onnxtext.git.clean_smudge import clean, smudge
from onnxtext.weights.statistics import first_uses_of_blobs
from tests.blob_forms import every_form
from tests.cli.command import names, run

BLOB = re.compile(r'blob"([0-9a-f]+)"')
DATA = every_form().SerializeToString()


def test_the_model_has_every_form() -> None:
    text = onnxtext.from_binary(DATA)
    assert len(set(BLOB.findall(text))) == 37
    for form in (
        'int64[40] x = {blob"', 'float[40] f = {blob"', 'string[40] s = {blob"',
        'int32[40] r = blob"', 'ints: ints = {blob"', 'floats: floats = blob"',
        'strings: strings = {blob"', 'long = blob"', 't = int64[40] {blob"',
    ):  # fmt: skip
        assert form in text, form


def test_every_blob_is_found() -> None:
    """`git` restores the blobs that this function finds after a merge conflict."""
    text = onnxtext.from_binary(DATA)
    tree = onnxtext.parse(text)
    assert set(first_uses_of_blobs(tree)) == set(BLOB.findall(text))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The weight store of the model's text."""
    (tmp_path / "m.onnx").write_bytes(DATA)
    assert run("from-binary", tmp_path / "m.onnx", "--weights", "store").status == 0
    return tmp_path / "m.weights"


@pytest.mark.thorough
def test_weights_list_and_verify_read_every_form(store: Path) -> None:
    text = store.with_suffix(".onnxtxt")
    rows = json.loads(run("weights", "list", store, "--output-format", "json").out)
    named = set(BLOB.findall(text.read_text("utf-8")))
    assert {row["digest"][:32] for row in rows} == named
    assert all(row["texts"] == [str(text)] for row in rows)
    assert run("weights", "verify", store).status == 0
    for row in rows:
        blob = store / row["digest"]
        data = blob.read_bytes()
        blob.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert run("weights", "verify", store).status == 1
        blob.write_bytes(data)


def test_gc_keeps_every_form(store: Path) -> None:
    text = store.with_suffix(".onnxtxt")
    before = names(store)
    for path in store.iterdir():
        os.utime(path, (0, 0))
    assert run("weights", "gc", "--delete", store).status == 0
    assert names(store) == before
    assert onnxtext.load(text).SerializeToString() == DATA
    unused = next(iter(BLOB.findall(text.read_text("utf-8"))))
    text.write_text(text.read_text("utf-8").replace(unused, "0" * 32), "utf-8")
    assert run("weights", "gc", "--delete", store).status == 0
    assert sorted(set(before) - set(names(store))) == [n for n in before if n.startswith(unused)]


def test_the_filter_keeps_every_form() -> None:
    result = clean(DATA, name="m.onnx")
    assert result.data is not None
    assert smudge(result.data, name="m.onnx").data == DATA


@pytest.mark.parametrize("weights", ["section", "store", "safetensors"])
def test_formatting_keeps_every_form(tmp_path: Path, weights: str) -> None:
    (tmp_path / "m.onnx").write_bytes(DATA)
    text = tmp_path / "m.onnxtxt"
    assert run("from-binary", tmp_path / "m.onnx", "--weights", weights).status == 0
    before = text.read_bytes()
    assert run("fmt", text).status == 0
    assert text.read_bytes() == before
    assert run("to-binary", text, "-o", tmp_path / "again.onnx", "--no-check").status == 0
    assert (tmp_path / "again.onnx").read_bytes() == DATA
