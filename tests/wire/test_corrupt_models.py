# SPDX-License-Identifier: Apache-2.0
"""Corrupt models: bytes that protobuf rejects, and no others, give an error with its place."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxtext
from onnxtext import Diagnostic, OnnxTextError
from onnxtext.proto.decode.wire_diagnostics import find_corruption
from onnxtext.proto.path_at_offset import path_at
from onnxtext.wire.writer import END_GROUP, GROUP, delimited, tag, varint
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.running import limited
from tests.seeds import draws

pytestmark = pytest.mark.filterwarnings("ignore:.*this looks like:onnxtext.OnnxTextWarning")

TEXT = """<onnxtext: 1, ir_version: 10, opset_import: [20], producer_name: "p">
g (float[N, 4] x) => (float[N] y) <float[2] W = [1, 2]> {
  h = Relu (x)
  y = ReduceSum <keepdims = 0, scale = 1.5, big = [1, 2, 3]> (h)
}
"""
DATA = onnxtext.to_binary(TEXT)


def is_model(data: bytes) -> bool:
    try:
        onnx.ModelProto.FromString(data)
    except DecodeError:
        return False
    return True


def assert_located(data: bytes) -> None:
    """Assert a round trip for bytes that protobuf reads, and a place or code for other bytes."""
    if is_model(data):
        assert find_corruption(data) is None
        assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
        return
    refusal(data)


def refusal(data: bytes) -> Diagnostic:
    with pytest.raises(OnnxTextError) as caught:
        onnxtext.from_binary(data)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.offset is not None
    assert 0 <= diagnostic.offset <= len(data)
    codes = ("not-a-model", "corrupt-model", "truncated-model", "too-deep", "git-lfs-pointer")
    assert diagnostic.code in codes
    return diagnostic


def small_models() -> list[bytes]:
    """Return a few models that use many different fields."""
    root = onnx_directory()
    wheel = [(root / file).read_bytes() for file in wheel_models()[::37]]
    shared = [shared_model(file) for file in shared_models()[::41]]
    return [DATA, *[data for data in [*wheel, *shared] if len(data) < 4000]]


MODELS = small_models()


# ---- Agreement with protobuf --------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("data", MODELS[:3], ids=len)
def test_every_truncated_model_is_located(data: bytes) -> None:
    for size in range(0, len(data), 1 if len(data) < 1000 else 7):
        assert_located(data[:size])


def mutations(count: int, seed: int) -> Iterator[bytes]:
    random_numbers = random.Random(seed)
    for _ in range(count):
        data = bytearray(random_numbers.choice(MODELS))
        data[random_numbers.randrange(len(data))] = random_numbers.randrange(256)
        yield bytes(data)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 2])
def test_changed_bytes_are_located(seed: int) -> None:
    for data in mutations(draws(2500), seed):
        assert_located(data)


@settings(max_examples=draws(300), deadline=None)
@given(st.sampled_from(MODELS), st.data())
def test_inserted_bytes_are_located(data: bytes, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(data)))
    to = draw.draw(st.integers(at, min(len(data), at + 20)))
    assert_located(data[:at] + draw.draw(st.binary(max_size=20)) + data[to:])


@settings(max_examples=draws(500), deadline=None)
@given(st.binary(max_size=80))
def test_random_bytes_are_located(data: bytes) -> None:
    assert_located(data)


@pytest.mark.slow
@pytest.mark.parametrize("data", MODELS, ids=len)
def test_every_truncation_of_more_models_is_located(data: bytes) -> None:
    for size in range(len(data)):
        assert_located(data[:size])


def in_attribute(data: bytes) -> bytes:
    """Return a small model with an attribute that has these fields."""
    attribute = delimited(b"\x2a", delimited(b"\x0a", b"a") + data)
    graph = delimited(b"\x0a", b"\x22\x01N" + attribute) + b"\x12\x01g"
    return b"\x08\x0a" + delimited(b"\x3a", graph) + b"\x42\x02\x10\x14"


def in_tensor(data: bytes) -> bytes:
    """Return a small model with an attribute that is a tensor of two floats with these fields."""
    tensor = b"\x08\x02\x10\x01" + delimited(b"\x22", bytes(8))
    return in_attribute(delimited(b"\x2a", tensor + data) + b"\xa0\x01\x04")


UNUSUAL = {
    "floats cut": in_attribute(delimited(b"\x3a", b"\1\2\3") + b"\xa0\x01\x06"),
    "floats cut beside i": in_attribute(b"\x18\x00" + delimited(b"\x3a", b"\2")),
    "doubles cut": in_tensor(delimited(b"\x52", b"\1\2")),
    "float_data cut": in_attribute(
        delimited(b"\x2a", b"\x08\x01\x10\x01" + delimited(b"\x22", bytes(6))) + b"\xa0\x01\x04"
    ),
    "int64_data cut": in_tensor(delimited(b"\x3a", b"\x80")),
    "int64_data too long": in_tensor(delimited(b"\x3a", b"\xff" * 10 + b"\0")),
    "ints cut": in_attribute(delimited(b"\x42", b"\x80")),
    "padded end of a group": b"\x33\xb4\x00",
    "number 0 in a group": b"\x33\x02\x00\x34",
    "a long key": b"\x88\x80\x80\x80\x80\x00\x01",
    "a long length": b"\x12\x81\x80\x80\x80\x80\x00a",
    "a large number": b"\x88\x80\x80\x80\x1f\x01",
}
"""What is rare, or what there were mistakes about."""


@pytest.mark.parametrize("what", UNUSUAL)
def test_unusual_bytes_are_located(what: str) -> None:
    assert_located(UNUSUAL[what])


# ---- Places -------------------------------------------------------------------------------------


def find(part: bytes) -> int:
    assert DATA.count(part) == 1
    return DATA.index(part)


def changed(offset: int, byte: int) -> Diagnostic:
    return refusal(DATA[:offset] + bytes([byte]) + DATA[offset + 1 :])


def test_a_length_beyond_the_end_is_located() -> None:
    at = find(b"\x22\x04Relu")
    diagnostic = changed(at + 1, 21)
    assert diagnostic.code == "corrupt-model"
    assert diagnostic.offset == at
    assert diagnostic.path == "graph.node[0].op_type"
    assert diagnostic.message == (
        "graph.node[0].op_type (string) reaches 17 bytes beyond the end of its message"
    )


@pytest.mark.parametrize(
    ("part", "skip", "byte", "path", "message"),
    [
        (b"keepdims", 8, 0x0E, 'graph.node[1].attribute["keepdims"]', "wire type 6"),
        (b"keepdims", 8, 0x07, 'graph.node[1].attribute["keepdims"]', "number 0"),
        (b"scale", 5, 0x1C, 'graph.node[1].attribute["scale"]', "a group that was never started"),
        (b"\x42\x01W", 1, 0x2F, "graph.initializer[0].name", "beyond the end"),
    ],
)
def test_errors_name_the_path(part: bytes, skip: int, byte: int, path: str, message: str) -> None:
    diagnostic = changed(find(part) + skip, byte)
    assert diagnostic.path == path
    assert message in diagnostic.message


def test_truncated_models_name_the_missing_bytes() -> None:
    diagnostic = refusal(DATA[:-10])
    assert diagnostic.code == "truncated-model"
    cut = refusal(DATA[: find(b"Relu") + 2])
    assert cut.code == "truncated-model"
    assert cut.path == "graph"
    missing = len(DATA) - len(tag(8, 2)) - 1 - 2 - (find(b"Relu") + 2)
    assert f"the data ends {missing:,} bytes too early: graph (GraphProto) has" in cut.message
    assert cut.notes == ("the data ends inside graph.node[0].op_type",)
    assert "download" in (cut.help or "")


def test_text_mode_conversion_is_detected() -> None:
    model = onnxtext.loads(TEXT)
    model.graph.initializer[0].raw_data = random.Random(1).randbytes(3000)
    mangled = model.SerializeToString().decode("utf-8", "replace").encode()
    assert any("U+FFFD" in note for note in refusal(mangled).notes)


def test_path_at_returns_the_path() -> None:
    assert path_at(DATA, 1) == "ir_version"
    assert path_at(DATA, find(b"Relu")) == "graph.node[0].op_type"
    assert path_at(DATA, find(b"keepdims") + 9) == 'graph.node[1].attribute["keepdims"].i'
    assert path_at(DATA, find(b"\x42\x01W")) == 'graph.initializer["W"].name'
    assert path_at(DATA, len(DATA)) == ""
    assert path_at(b"", 0) == ""


@given(st.sampled_from(MODELS), st.integers(0, 4000), st.binary(max_size=3))
def test_paths_exist_for_any_offset(data: bytes, offset: int, inserted: bytes) -> None:
    path_at(data[:offset] + inserted + data[offset:], offset)


# ---- Hostile files ------------------------------------------------------------------------------


def subgraphs(levels: int) -> bytes:
    """A model with graphs in graphs."""
    data = b""
    for _ in range(levels):
        attribute = b"\x0a\x01a" + delimited(b"\x32", data) + b"\xa0\x01\x05"
        data = delimited(b"\x0a", delimited(b"\x2a", attribute) + b"\x22\x01I")
    return b"\x08\x0a" + delimited(b"\x3a", data)


def sequences(levels: int) -> bytes:
    """A model with types in types."""
    data = b"\x0a\x02\x08\x01"
    for _ in range(levels):
        data = delimited(b"\x22", delimited(b"\x0a", data))
    value = b"\x0a\x01x" + delimited(b"\x12", data)
    return b"\x08\x0a" + delimited(b"\x3a", delimited(b"\x5a", value))


def endless_messages(count: int) -> bytes:
    """Return bytes that look like `count` nested messages."""
    keys = (b"\x32", b"\x0a", b"\x2a")
    parts: list[bytes] = []
    size = 0
    for level in range(count):
        head = keys[level % 3] + varint(size)
        parts.append(head)
        size += len(head)
    if count % 3 == 0:  # the outermost is a node, in a graph
        parts.append(b"\x0a" + varint(size))
        size += len(parts[-1])
    parts.append(b"\x3a" + varint(size))
    return b"".join(reversed(parts))


HOSTILE = {
    "groups": tag(100, GROUP) * 100_000 + tag(100, END_GROUP) * 100_000,
    "groups that are never closed": tag(100, GROUP) * 100_000,
    "graphs": subgraphs(34),
    "many graphs": subgraphs(400),
    "types": sequences(60),
    "a gigabyte in ten bytes": b"\x08\x0a\x3a\x80\x80\x80\x80\x04\x0a\x01",
    "more than protobuf counts": b"\x3a\xff\xff\xff\xff\x0f",
    "a tensor of a gigabyte": b"\x08\x0a" + delimited(b"\x3a", b"\x2a\x80\x80\x80\x80\x04"),
    "an endless number": b"\x08" + b"\xff" * 1_000_000,
    "an endless length": b"\x3a" + b"\xff" * 1_000_000,
    "an endless key": b"\xff" * 1_000_000,
    "an endless list": in_attribute(delimited(b"\x2a", delimited(b"\x3a", b"\xff" * 1_000_000))),
    "noise": random.Random(1).randbytes(1_000_000),
    "a text": b"lorem ipsum " * 100_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_are_rejected_in_time(what: str) -> None:
    data = HOSTILE[what]
    refusal(b"\x0c")  # imports the modules before the time is measured
    with limited(1):
        refusal(data)
    tracemalloc.start()
    refusal(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(data) + 2_000_000


@pytest.mark.parametrize("what", ["groups", "groups that are never closed", "graphs", "types"])
def test_too_deep_messages_are_rejected(what: str) -> None:
    diagnostic = refusal(HOSTILE[what])
    assert diagnostic.code == "too-deep"
    assert "nested more than 100 levels deep" in diagnostic.message


def test_types_and_groups_as_deep_as_protobuf_reads_round_trip() -> None:
    for data in (sequences(48), tag(100, GROUP) * 100 + tag(100, END_GROUP) * 100):
        assert is_model(data)
        assert_located(data)


def test_graphs_as_deep_as_protobuf_reads_round_trip() -> None:
    assert is_model(subgraphs(33))
    assert_located(subgraphs(33))


@pytest.mark.parametrize("count", [96, 97, 98, 99, 100, 101, 102, 103, 3000, 100_000])
def test_nested_messages_are_read_in_time(count: int) -> None:
    with limited(2):
        data = endless_messages(count)
        assert_located(data)
