# SPDX-License-Identifier: Apache-2.0
"""The compiled core observes and applies encoding habits like pure Python, on any bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from onnxtext.ast import EncodingHabit
from onnxtext.proto import encoding_habits
from onnxtext.proto.descriptors import message_spec, spelled_messages
from onnxtext.proto.encoding_habits import Encoder, observe_habits
from onnxtext.select_core import core
from onnxtext.wire.reader import WireError
from tests.corpus import shared_model, shared_models
from tests.laws.test_encoding import mutate, real_models
from tests.running import using
from tests.seeds import seeded

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")


def outcome(habits: tuple[EncodingHabit, ...], data: bytes) -> tuple[Any, Any]:
    """Return what is observed, and the encoding by some habits; or the errors."""
    found: list[Any] = []
    for read in (observe_habits, lambda data: Encoder(habits).encode("ModelProto", data)):
        try:
            found.append(read(data))
        except WireError:
            found.append(WireError)
    return tuple(found)


def any_habits(chance: random.Random) -> tuple[EncodingHabit, ...]:
    """Return random habits: lists packed or not, and orders of some or all fields."""
    result = []
    for short, message in spelled_messages().items():
        for field in message_spec(message).by_number.values():
            if field.repeated and field.wire_type != 2 and chance.random() < 0.5:
                kind = chance.choice(("packed", "unpacked"))
                result.append(EncodingHabit(kind, (f"{short}.{field.name}",)))
        if chance.random() < 0.5:
            numbers = list(message_spec(message).by_number)
            chance.shuffle(numbers)
            some = numbers[: chance.randint(1, len(numbers))]
            result.append(EncodingHabit("order", (short, *some)))
    return tuple(result)


def test_any_bytes_have_the_same_habits() -> None:
    chance = seeded()
    small = [data for data in real_models() if len(data) < 3000]
    small += [data for file in shared_models()[::60] if len(data := shared_model(file)) < 3000]
    for index in range(150):
        data = chance.choice(small)
        if index % 3:
            data = mutate("ModelProto", data, chance)
        if index % 3 == 2:  # damaged
            at = chance.randrange(len(data))
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + chance.randrange(3) :]
        habits = any_habits(chance)
        native = outcome(habits, data)
        with using("python", encoding_habits):
            assert outcome(habits, data) == native


@pytest.mark.parametrize("kind", ["packed", "unpacked"])
@pytest.mark.parametrize("data", [b"\n\x01\xb3", b"\x22\x03abc"], ids=["dims", "float_data"])
def test_cut_off_lists_are_encoded_the_same(kind: str, data: bytes) -> None:
    habits = (EncodingHabit(kind, ("tensor.dims",)), EncodingHabit(kind, ("tensor.float_data",)))

    def encode() -> bytes | type[WireError]:
        try:
            return Encoder(habits).encode("TensorProto", data)
        except WireError:
            return WireError

    native = encode()
    with using("python", encoding_habits):
        assert encode() == native
