# SPDX-License-Identifier: Apache-2.0
"""Tensors of 2, 4 and 6 bits: the core decodes, prints, parses and encodes them like Python."""

from __future__ import annotations

import random
from math import prod

import pytest

import onnxtext
from onnxtext.ast.model import Model
from onnxtext.printer import print_model
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.proto.encode.types_and_tensors import TENSOR_FIELDS
from onnxtext.select_core import core
from onnxtext.tensor.element_types import ELEMENTS, raw_size
from onnxtext.tensor.varints import pack_entries
from onnxtext.wire.writer import delimited, varint
from tests.proto.test_native_decode import assert_same_tree, outcome
from tests.seeds import draws, seeded
from tests.syntax.cores import assert_same_in_both

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

NARROW = [element for element in ELEMENTS.values() if 0 < element.bits < 8]


def drawn_tensor(chance: random.Random) -> bytes:
    """Return a `TensorProto`: mostly exactly packed elements, sometimes with an error."""
    element = chance.choice(NARROW)
    dims = [chance.choice([0, 1, 1, 2, 3, 5, 40]) for _ in range(chance.randrange(4))]
    size = raw_size(element, prod(dims))
    if chance.random() < 0.2:
        size = max(0, size + chance.choice([-1, 1]))
    value = bytearray(
        chance.choice([chance.randbytes(size), bytes([chance.randrange(256)]) * size])
    )
    used = prod(dims) * element.bits % 8
    if used and value and chance.random() < 0.8:
        value[-1] &= (1 << used) - 1
    head = b"".join(b"\x08" + varint(dim) for dim in dims) + b"\x10" + varint(element.number)
    name = delimited(b"\x42", b"t")
    if chance.random() < 0.5:
        return head + name + delimited(b"\x4a", bytes(value))
    entries = [int(code) for code in value]
    if entries and chance.random() < 0.2:
        entries[chance.randrange(len(entries))] = chance.choice([256, -1, 1 << 20])
    key, _ = TENSOR_FIELDS["int32_data"]
    data = b"".join(entry.to_bytes(4, "little", signed=True) for entry in entries)
    return head + delimited(key, pack_entries("int32_data", data)) * bool(data) + name


def drawn_model(chance: random.Random) -> bytes:
    tensors = [drawn_tensor(chance) for _ in range(8)]
    graph = b"".join(delimited(b"\x2a", tensor) for tensor in tensors)
    attribute = delimited(b"\x0a", b"v") + delimited(b"\x2a", tensors[0]) + b"\xa0\x01\x04"
    graph += delimited(b"\x0a", delimited(b"\x22", b"A") + delimited(b"\x2a", attribute))
    return b"\x08\x0a" + delimited(b"\x3a", graph + delimited(b"\x12", b"g")) + b"\x42\x02\x10\x15"


@pytest.mark.thorough
def test_drawn_tensors_are_the_same_in_both_cores() -> None:
    chance = seeded()
    for _ in range(draws(400)):
        data = drawn_model(chance)
        assert_same_tree(data)
        model = outcome(data)
        assert isinstance(model, Model)
        text = print_model(model)
        assert text == print_model(model, GraphPrinter())
        assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
        assert_same_in_both(text)


LITERALS = [
    "0",
    "1",
    "-1",
    "3",
    "-2",
    "7",
    "-8",
    "8",
    "15",
    "16",
    "-9",
    "0x1",
    "1.5",
    "nan",
    "true",
]


def test_drawn_literals_are_the_same_in_both_cores() -> None:
    chance = seeded()
    for _ in range(draws(1500)):
        count = chance.randrange(5)
        some = chance.sample(LITERALS, chance.randint(1, 3))
        items = ", ".join(chance.choice(some) for _ in range(count))
        items += chance.choice(["", "", ",", ", ..."]) if items else ""
        opening, closing = chance.choice([("[", "]"), ("{", "}")])
        dims = chance.choice([f"[{count}]", f"[{count + 1}]", f"[{count}, 1]", "[70000]", ""])
        element = chance.choice(NARROW).name
        text = f"g () => () <{element}{dims} t = {opening}{items}{closing}> {{}}"
        assert_same_in_both(text)
