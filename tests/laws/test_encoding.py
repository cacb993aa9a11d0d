# SPDX-License-Identifier: Apache-2.0
"""Bytes that no canonical encoder would write come back too: by habits, else by a patch."""

from __future__ import annotations

import random
import warnings

import onnx
import pytest
from hypothesis import HealthCheck, given, settings

import onnxtext
from onnxtext.ast import EncodingHabit
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.proto.encoding import Encoder, observe
from onnxtext.proto.generic import known_values
from onnxtext.proto.schema import message_spec
from onnxtext.wire.reader import WireField, read_fields
from onnxtext.wire.writer import LENGTH, VARINT, delimited, tag, varint
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.strategies import models, stranger

HABITS = (
    EncodingHabit("packed", ("attribute.ints",)),
    EncodingHabit("packed", ("attribute.floats",)),
    EncodingHabit("unpacked", ("tensor.float_data",)),
    EncodingHabit("order", ("node", 4, 1, 2, 3, 5)),
)


def real_models() -> list[bytes]:
    files = [(onnx_directory() / file).read_bytes() for file in wheel_models()[::12]]
    files += [shared_model(file) for file in shared_models()[::12]]
    return [data for data in files if len(data) < 200_000]


def check(data: bytes) -> str:
    text = onnxtext.from_binary(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert onnxtext.to_binary(text) == data
    assert onnxtext.to_binary(text.replace("\n", "\r\n")) == data
    return text


def test_habits_are_found_and_said_once() -> None:
    found = 0
    for data in real_models():
        unusual = Encoder(HABITS).encode("ModelProto", data)
        assert (
            onnx.ModelProto.FromString(unusual).SerializeToString()
            == onnx.ModelProto.FromString(data).SerializeToString()
        )
        text = check(unusual)
        if unusual != data:
            found += 1
            assert "\n  encoding: [" in text
            assert "\nencoding {" not in text
    assert found > 3


def test_habits_outlive_an_edit() -> None:
    data = onnxtext.to_binary("<onnxtext: 1> g () => () { y = A <is = [1, 2]> (x) }")
    packed = Encoder(HABITS[:1]).encode("ModelProto", data)
    text = onnxtext.from_binary(packed)
    assert "encoding: [packed(attribute.ints)]" in text
    edited = onnxtext.to_binary(text.replace("[1, 2]", "[3, 4]"))
    assert b"\x42\x02\x03\x04" in edited


def test_a_patch_that_no_longer_fits_is_dropped_with_a_warning() -> None:
    data = onnxtext.to_binary("<onnxtext: 1> g () => () { y = A <is = [1, 2]> (x) }")
    padded = data + tag(2, LENGTH) + b"\x81\x00p"  # a length in two bytes where one would do
    text = check(padded)
    assert "\nencoding {" in text
    with pytest.warns(OnnxTextWarning, match="no longer fits"):
        edited = onnxtext.to_binary(text.replace("[1, 2]", "[3, 4]"))
    assert list(onnx.ModelProto.FromString(edited).graph.node[0].attribute[0].ints) == [3, 4]


def test_a_forged_patch_cannot_say_what_the_text_does_not() -> None:
    import base64
    import hashlib

    from onnxtext.wire.patch import make_patch

    text = "<onnxtext: 1> g () => () { y = Relu (x) }"
    data = onnxtext.to_binary(text)
    forged = base64.b64encode(make_patch(data, data.replace(b"Relu", b"Tanh"))).decode()
    digest = hashlib.sha256(data).hexdigest()
    section = f'encoding {{ canonical: "{digest}" patch: "{forged}" }}'
    with pytest.warns(OnnxTextWarning, match="no longer fits"):
        assert onnxtext.to_binary(f"{text} {section}") == data


@pytest.mark.parametrize(
    "habit",
    [
        "packed(node.input)", "packed(nonsense.ints)", "packed(attribute)", "order(node)",
        "order(node, 1, 1)", "order(nonsense, 1, 2)", "shuffled(node, 1)",
        "packed(attribute.ints, 1)",
    ],
)  # fmt: skip
def test_habits_that_mean_nothing(habit: str) -> None:
    with pytest.raises(OnnxTextError):
        onnxtext.to_binary(f"<onnxtext: 1, encoding: [{habit}]> g () => () {{}}")


# ---- Mutations of the wire ------------------------------------------------------------------


def mutate(message: str, data: bytes, rng: random.Random, depth: int = 0) -> bytes:
    """About the same message, encoded otherwise: moved, doubled, split, padded, added to."""
    spec = message_spec(message)
    parts: list[bytes] = []
    for item in read_fields(data, 0, len(data)):
        part = data[item.start : item.end]
        known = spec.by_number.get(item.number)
        if known is not None and known.kind == "message" and item.wire_type == LENGTH:
            inside = mutate(known.message, data[item.value : item.end], rng, depth + 1)
            part = delimited(tag(item.number, LENGTH), inside)
        parts += _variants(part, data, item, known is not None and known.repeated, rng)
    if rng.random() < 0.2 and len(parts) > 1:
        first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
        parts[first], parts[second] = parts[second], parts[first]
    if rng.random() < 0.1:
        parts.insert(rng.randint(0, len(parts)), tag(999, VARINT) + varint(rng.randrange(300)))
    return b"".join(parts)


def _variants(
    part: bytes, data: bytes, item: WireField, repeated: bool, rng: random.Random
) -> list[bytes]:
    chance = rng.random()
    if chance < 0.02 and not repeated:
        return [part, part]
    if chance < 0.05 and item.wire_type == VARINT and len(part) < 6:
        return [part[:-1] + bytes((part[-1] | 128, 0))]
    if chance < 0.07 and item.wire_type == LENGTH and item.end - item.value < 100:
        size = item.end - item.value
        return [tag(item.number, LENGTH) + bytes((size | 128, 0)) + data[item.value : item.end]]
    return [part]


@pytest.mark.parametrize("seed", range(3))
def test_mutated_real_models(seed: int) -> None:
    rng = random.Random(seed)
    tried = 0
    for data in real_models():
        if len(data) > 30_000:
            continue
        for _ in range(3):
            mutated = mutate("ModelProto", data, rng)
            try:
                onnx.ModelProto.FromString(mutated)
            except Exception:
                continue
            check(mutated)
            tried += 1
    assert tried > 20


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(models(), stranger())
def test_unknown_fields_first(data: bytes, unknown: bytes) -> None:
    check(unknown + data)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(models(), models())
def test_split_models(first: bytes, second: bytes) -> None:
    # Protobuf merges the parts of a message that comes in several.
    check(first + second)


def test_observing_a_canonical_file_finds_nothing() -> None:
    for data in real_models():
        canonical = onnx.ModelProto.FromString(data).SerializeToString()
        assert observe(canonical) == ()
    spec = message_spec("AttributeProto").by_name["ints"]
    (item,) = read_fields(b"\x42\x02\x01\x02", 0, 4)
    assert known_values(spec, b"\x42\x02\x01\x02", item) is not None
