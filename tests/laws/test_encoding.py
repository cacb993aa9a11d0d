# SPDX-License-Identifier: Apache-2.0
"""Noncanonical bytes round-trip: encoding habits or a patch restore them."""

from __future__ import annotations

import random
import warnings

import onnx
import pytest
from hypothesis import HealthCheck, given, settings

import onnxtext
from onnxtext.ast import EncodingHabit
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.proto.convert_records import known_values
from onnxtext.proto.descriptors import FieldSpec, message_spec
from onnxtext.proto.encoding_habits import Encoder, observe_habits
from onnxtext.wire.reader import WireField, read_fields, read_varint
from onnxtext.wire.writer import (
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    VARINT,
    delimited,
    tag,
    varint,
)
from tests.corpus import onnx_directory, shared_model, shared_models, wheel_models
from tests.seeds import fresh_seed
from tests.strategies import any_unknown_field, models

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


def assert_lossless(data: bytes) -> str:
    text = onnxtext.from_binary(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert onnxtext.to_binary(text) == data
    assert onnxtext.to_binary(text.replace("\n", "\r\n")) == data
    return text


def test_habits_are_detected_and_printed_once() -> None:
    found = 0
    for data in real_models():
        unusual = Encoder(HABITS).encode("ModelProto", data)
        assert (
            onnx.ModelProto.FromString(unusual).SerializeToString()
            == onnx.ModelProto.FromString(data).SerializeToString()
        )
        text = assert_lossless(unusual)
        if unusual != data:
            found += 1
            assert "\n  encoding: [" in text
            assert "\nencoding {" not in text
    assert found > 3


def test_habits_survive_an_edit() -> None:
    data = onnxtext.to_binary("<onnxtext: 1> g () => () { y = A <is = [1, 2]> (x) }")
    packed = Encoder(HABITS[:1]).encode("ModelProto", data)
    text = onnxtext.from_binary(packed)
    assert "encoding: [packed(attribute.ints)]" in text
    edited = onnxtext.to_binary(text.replace("[1, 2]", "[3, 4]"))
    assert b"\x42\x02\x03\x04" in edited


def test_outdated_patch_is_dropped_with_a_warning() -> None:
    data = onnxtext.to_binary("<onnxtext: 1> g () => () { y = A <is = [1, 2]> (x) }")
    padded = data + tag(2, LENGTH) + b"\x81\x00p"  # a length of two bytes instead of one
    text = assert_lossless(padded)
    assert "\nencoding {" in text
    with pytest.warns(OnnxTextWarning, match="encoding section does not fit"):
        edited = onnxtext.to_binary(text.replace("[1, 2]", "[3, 4]"))
    assert list(onnx.ModelProto.FromString(edited).graph.node[0].attribute[0].ints) == [3, 4]


def test_forged_patch_cannot_change_the_model() -> None:
    import base64
    import hashlib

    from onnxtext.wire.encoding_patch import make_patch

    text = "<onnxtext: 1> g () => () { y = Relu (x) }"
    data = onnxtext.to_binary(text)
    forged = base64.b64encode(make_patch(data, data.replace(b"Relu", b"Tanh"))).decode()
    digest = hashlib.sha256(data).hexdigest()
    section = f'encoding {{ canonical: "{digest}" patch: "{forged}" }}'
    with pytest.warns(OnnxTextWarning, match="encoding section does not fit"):
        assert onnxtext.to_binary(f"{text} {section}") == data


@pytest.mark.parametrize(
    "habit",
    [
        "packed(node.input)", "packed(nonsense.ints)", "packed(attribute)", "order(node)",
        "order(node, 1, 1)", "order(nonsense, 1, 2)", "shuffled(node, 1)",
        "packed(attribute.ints, 1)",
    ],
)  # fmt: skip
def test_invalid_habits_are_errors(habit: str) -> None:
    with pytest.raises(OnnxTextError):
        onnxtext.to_binary(f"<onnxtext: 1, encoding: [{habit}]> g () => () {{}}")


# ---- Mutations of the wire ------------------------------------------------------------------


def mutate(message: str, data: bytes, rng: random.Random, depth: int = 0) -> bytes:
    """Return a similar message in another encoding: reordered, split, padded or extended."""
    spec = message_spec(message)
    parts: list[bytes] = []
    for item in read_fields(data, 0, len(data)):
        part = data[item.start : item.end]
        known = spec.by_number.get(item.number)
        if known is not None and known.kind == "message" and item.wire_type == LENGTH:
            inside = mutate(known.message, data[item.value : item.end], rng, depth + 1)
            part = delimited(tag(item.number, LENGTH), inside)
            if not known.repeated and rng.random() < 0.05:
                parts += split(item.number, inside, rng)
                continue
        elif known is not None and known.repeated and known.wire_type != LENGTH:
            part = packed_otherwise(known, data, item, rng)
        parts += _variants(part, data, item, known is not None and known.repeated, rng)
    if rng.random() < 0.2 and len(parts) > 1:
        first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
        parts[first], parts[second] = parts[second], parts[first]
    if rng.random() < 0.1:
        parts.insert(rng.randint(0, len(parts)), unknown_field(rng))
    return b"".join(parts)


def split(number: int, inside: bytes, rng: random.Random) -> list[bytes]:
    """Return a message in two parts, which protobuf merges."""
    ends = [item.end for item in read_fields(inside, 0, len(inside))]
    at = rng.choice([0, *ends])
    return [delimited(tag(number, LENGTH), part) for part in (inside[:at], inside[at:])]


def packed_otherwise(field: FieldSpec, data: bytes, item: WireField, rng: random.Random) -> bytes:
    """Encode an unpacked list item as packed, or a packed list as unpacked."""
    if rng.random() > 0.3:
        return data[item.start : item.end]
    if item.wire_type == field.wire_type:
        return delimited(tag(item.number, LENGTH), data[item.value : item.end])
    if item.wire_type != LENGTH or item.end - item.value > 1000:
        return data[item.start : item.end]
    key = tag(field.number, field.wire_type)
    parts = []
    at = item.value
    while at < item.end:
        start = at
        if field.wire_type == VARINT:
            at = read_varint(data, at, item.end)[1]
        else:
            at += 4 if field.wire_type == FIXED32 else 8
        parts.append(key + data[start:at])
    return b"".join(parts)


def unknown_field(rng: random.Random, depth: int = 0) -> bytes:
    """Return an unknown field of any wire type."""
    number = rng.choice([19, 999, 536870911])
    match rng.randrange(5 if depth < 3 else 4):
        case 0:
            return tag(number, VARINT) + varint(rng.getrandbits(rng.choice([3, 30, 64])))
        case 1:
            return tag(number, FIXED32) + rng.randbytes(4)
        case 2:
            return tag(number, FIXED64) + rng.randbytes(8)
        case 3:
            return delimited(tag(number, LENGTH), rng.randbytes(rng.randrange(6)))
    inside = b"".join([unknown_field(rng, depth + 1) for _ in range(rng.randrange(3))])
    return tag(number, GROUP) + inside + tag(number, END_GROUP)


def _variants(
    part: bytes, data: bytes, item: WireField, repeated: bool, rng: random.Random
) -> list[bytes]:
    chance = rng.random()
    plain = part == data[item.start : item.end]
    if chance < 0.02 and not repeated:
        return [part, part]
    if chance < 0.05 and item.wire_type == VARINT and len(part) < 6 and plain:
        return [part[:-1] + bytes((part[-1] | 128, 0))]
    if chance < 0.07 and item.wire_type == LENGTH and item.end - item.value < 100 and plain:
        size = item.end - item.value
        return [tag(item.number, LENGTH) + bytes((size | 128, 0)) + data[item.value : item.end]]
    return [part]


def check_mutations(files: list[bytes], seed: int, times: int) -> int:
    """Check mutations of files; return how many of them protobuf can read."""
    rng = random.Random(seed)
    tried = 0
    for data in files:
        for _ in range(times):
            mutated = mutate("ModelProto", data, rng)
            try:
                onnx.ModelProto.FromString(mutated)
            except Exception:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OnnxTextWarning)  # looks like another message
                    assert_lossless(mutated)
            except BaseException as error:
                raise AssertionError(f"seed {seed}, try {tried}: {mutated[:2000]!r}") from error
            tried += 1
    return tried


FRESH = fresh_seed()
"""A new seed for every run."""


@pytest.mark.thorough
def test_mutated_real_models_round_trip() -> None:
    files = [data for data in real_models() if len(data) <= 30_000]
    assert check_mutations(files, FRESH, 2) > 10


@pytest.mark.slow
@pytest.mark.data
def test_mutated_real_models_round_trip_at_length() -> None:
    files = [shared_model(file) for file in shared_models()]
    files += [(onnx_directory() / file).read_bytes() for file in wheel_models()]
    small = [data for data in files if len(data) <= 50_000]
    assert check_mutations(small, FRESH, 20) > 1000


@pytest.mark.thorough
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(models(), any_unknown_field())
def test_unknown_fields_before_the_model_round_trip(data: bytes, unknown: bytes) -> None:
    assert_lossless(unknown + data)


@pytest.mark.thorough
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(models(), models())
def test_split_models_round_trip(first: bytes, second: bytes) -> None:
    # Protobuf merges several occurrences of a message.
    assert_lossless(first + second)


def test_canonical_files_have_no_habits() -> None:
    for data in real_models():
        canonical = onnx.ModelProto.FromString(data).SerializeToString()
        assert observe_habits(canonical) == ()
    spec = message_spec("AttributeProto").by_name["ints"]
    (item,) = read_fields(b"\x42\x02\x01\x02", 0, 4)
    assert known_values(spec, b"\x42\x02\x01\x02", item) is not None
