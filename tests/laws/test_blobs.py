# SPDX-License-Identifier: Apache-2.0
"""Blobs: large data is at the end of the text, named and verified by its digest."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.tensor.blobs import BlobError, Blobs

WEIGHTS = np.arange(100, dtype=np.float32)
DIGEST = hashlib.sha256(WEIGHTS.tobytes()).hexdigest()


def model() -> onnx.ModelProto:
    attributes: dict[str, Any] = {
        "vocab": b"word " * 1000,
        "is": list(range(5000)),
        "fs": [0.5, 1.5] * 2500,
    }
    nodes = [
        oh.make_node("A", ["w"], ["y"], **attributes),
        oh.make_node("Constant", [], ["c"], value=nh.from_array(WEIGHTS)),
        oh.make_node("B", [], ["b"], words=[b"short", b"long " * 1000]),
    ]
    initializers = [
        nh.from_array(WEIGHTS, "w"),
        nh.from_array(np.zeros(1000, np.float32), "zeros"),
        nh.from_array(np.arange(32, dtype=np.int64), "small"),
    ]
    return oh.make_model(oh.make_graph(nodes, "g", [], [], initializers))


def test_large_data_moves_to_resources_and_back() -> None:
    data = model().SerializeToString()
    text = onnxtext.from_binary(data)
    assert onnxtext.to_binary(text) == data
    graph, _, resources = text.partition("\nresources {\n")
    assert f'float[100] w = blob"{DIGEST[:32]}"' in graph
    assert f'value = float[100] blob"{DIGEST[:32]}"' in graph
    assert resources.count(DIGEST[:32]) == 1  # equal bytes are stored once
    assert "float[1000] zeros = [0, ...]" in graph
    assert 'vocab = blob"' in graph
    assert 'is: ints = {blob"' in graph
    assert 'fs: floats = blob"' in graph
    assert 'words = ["short", blob"' in graph
    assert "int64[32] small = [" in graph
    assert max(map(len, resources.split("\n"))) <= 4 + 76


def test_inline_limit_decides_what_becomes_a_blob() -> None:
    data = model().SerializeToString()
    text = onnxtext.from_binary(data, inline_limit=100)
    assert "float[100] w = [" in text
    assert onnxtext.to_binary(text) == data
    text = onnxtext.from_binary(data, inline_limit=10)
    assert "int64[32] small = blob" in text
    assert onnxtext.to_binary(text) == data
    text = onnxtext.from_binary(data, weights="inline")
    assert "blob" not in text
    assert onnxtext.to_binary(text) == data


def with_blob(digest: str, resources: str, type: str = "float[100]") -> str:
    return f'<onnxtext: 1> g () => () <{type} w = blob"{digest}"> {{}} {resources}'


RESOURCES = onnxtext.from_binary(model().SerializeToString()).partition("\nresources")[2]
RESOURCES = "resources" + RESOURCES


@pytest.mark.parametrize("digits", [16, 17, 32, 40, 64])
def test_unique_prefix_of_a_digest_is_accepted(digits: int) -> None:
    tensor = onnxtext.loads(with_blob(DIGEST[:digits], RESOURCES)).graph.initializer[0]
    assert tensor.raw_data == WEIGHTS.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (with_blob(DIGEST[:15], RESOURCES), "16 to 64"),
        (with_blob(DIGEST[:32], ""), "is not in the resources of this text"),
        (with_blob("0" * 32, RESOURCES), "is not in the resources of this text"),
        (with_blob(DIGEST[:32] + "0" * 32, RESOURCES), "is not in the resources of this text"),
        (with_blob(DIGEST[:32], RESOURCES, "float[99]"), "400 bytes"),
        (with_blob(DIGEST[:32], RESOURCES.replace("AAAAAA", "AAAABB", 1)), "damaged"),
        (with_blob(DIGEST[:32], RESOURCES.replace("AAAAAA", "AAAAA", 1)), "damaged"),
        (with_blob(DIGEST[:32], RESOURCES.replace("base64", "hex", 1)), "is not an encoding"),
        (with_blob(DIGEST[:32], RESOURCES + RESOURCES), "two"),
        (with_blob(DIGEST[:32], f'resources {{ "{DIGEST[:8]}": base64 "" }}'), "16 to 64"),
    ],
)
def test_missing_and_damaged_blobs_are_errors(text: str, message: str) -> None:
    with pytest.raises(OnnxTextError, match=message) as caught:
        onnxtext.to_binary(text)
    assert caught.value.diagnostics[0].source is not None


def test_handwritten_blobs_become_lists() -> None:
    data = struct.pack("<3q", 1, -2, 3)
    digest = hashlib.sha256(data).hexdigest()[:16]
    text = (
        f'<onnxtext: 1> g () => () {{ y = A <is: ints = blob"{digest}"> () }} '
        f'resources {{ "{digest}": base64 "AQAAAAAAAAD+/////////wMAAAAAAAAA" }}'
    )
    assert list(onnxtext.loads(text).graph.node[0].attribute[0].ints) == [1, -2, 3]
    with pytest.raises(OnnxTextError, match="declared as int"):
        onnxtext.to_binary(text.replace("is: ints", "is: int"))


def test_a_value_can_be_named_resources() -> None:
    text = "g () => () { resources = resources (resources) } resources (a) => (b) {}"
    proto = onnxtext.loads(text)
    assert proto.graph.node[0].op_type == "resources"
    assert proto == onnx.parser.parse_model(text)


DIGITS = st.text("01", min_size=1, max_size=4)


@given(st.lists(DIGITS), DIGITS)
def test_a_digest_prefix_finds_its_resource(names: list[str], digest: str) -> None:
    """A digest finds each resource whose name is a prefix of it or begins with it."""
    blobs = Blobs(dict.fromkeys(names, b""))
    matching = {n for n in names if n.startswith(digest) or digest.startswith(n)}
    assert blobs.knows(digest) == bool(matching)
    with pytest.raises(BlobError) as caught:
        blobs.find(digest)
    code = {0: "blob-missing", 1: "blob-damaged"}.get(len(matching), "blob-ambiguous")
    assert caught.value.code == code
