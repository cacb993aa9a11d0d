# SPDX-License-Identifier: Apache-2.0
"""The diff finds every changed value, removed entry and swapped pair in real models."""

from __future__ import annotations

import math
import random
from typing import Any

import onnx
import pytest

from onnxtext.differ import ModelSide, compare
from tests.corpus import onnx_directory, wheel_models

SITES = 4
"""Number of mutations per model."""


def sites(message: Any, found: list[tuple[Any, Any, str]]) -> None:
    """Append all possible mutations of a message to `found`, as (message, field, kind)."""
    for field, value in message.ListFields():
        many = hasattr(value, "append") or hasattr(value, "add")
        if field.type != field.TYPE_MESSAGE:
            found.append((message, field, "item" if many else "value"))
            continue
        for item in value if many else [value]:
            sites(item, found)
        if many:
            found.append((message, field, "remove"))
            if len(value) > 1:
                found.append((message, field, "exchange"))


def other(value: Any, field: Any) -> Any:
    """Return a value that differs from the given one."""
    match value:
        case str():
            return value + "_z"
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:] if value else b"z"
        case float():
            return 0.0 if math.isnan(value) else 2 * value + 1
    return value % 5 + 1 if field.type == field.TYPE_ENUM else value + 1


def mutate(message: Any, field: Any, how: str, source: random.Random) -> None:
    value = getattr(message, field.name)
    match how:
        case "value":
            setattr(message, field.name, other(value, field))
        case "item":
            index = source.randrange(len(value))
            value[index] = other(value[index], field)
        case "remove":
            del value[source.randrange(len(value))]
        case "exchange":
            index = source.randrange(len(value) - 1)
            first = type(value[0])()
            first.CopyFrom(value[index])
            value[index].CopyFrom(value[index + 1])
            value[index + 1].CopyFrom(first)


LARGEST = 200_000
"""Maximum size of models to mutate."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "file", [file for file in wheel_models() if (onnx_directory() / file).stat().st_size <= LARGEST]
)
def test_any_change_is_found(file: str) -> None:
    data = (onnx_directory() / file).read_bytes()
    source = random.Random(file)
    old = onnx.ModelProto.FromString(data).SerializeToString()
    for _ in range(SITES):
        model = onnx.ModelProto.FromString(data)
        found: list[tuple[Any, Any, str]] = []
        sites(model, found)
        try:
            mutate(*source.choice(found), source)
        except ValueError:  # no such value of an enum
            continue
        new = model.SerializeToString()
        if new != old:
            result = compare(ModelSide.of_binary(old), ModelSide.of_binary(new))
            assert result.differs
            assert "has no name for" not in str(result)
