# SPDX-License-Identifier: Apache-2.0
"""Time is linear in the size of the model for any nesting: no item is processed repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest

import onnxtext
from onnxtext.api import to_official
from onnxtext.printer import attributes
from onnxtext.wire.writer import delimited, tag, varint
from tests.running import limited
from tests.seeds import sampled

pytestmark = pytest.mark.thorough

MAX_SECONDS = 8
"""CPU time; an idle machine takes a tenth of it."""


def field(number: int, data: bytes) -> bytes:
    return delimited(tag(number, 2), data)


def nested(depth: int, inner: bytes = b"") -> bytes:
    """Return a model of nested graphs; the innermost has the given fields."""
    graph = field(2, b"g") + inner
    for _ in range(depth):
        attribute = field(1, b"b") + field(6, graph) + b"\xa0\x01\x05"
        node = field(2, b"y") + field(4, b"If") + field(5, attribute)
        graph = field(1, node) + field(2, b"g")
    return b"\x08\x0a" + field(7, graph)


def nodes(*parts: bytes) -> bytes:
    """Return a model with nodes."""
    return field(7, b"".join([field(1, part) for part in parts]) + field(2, b"g"))


def test_official_text_prints_each_attribute_once() -> None:
    printer = "onnxtext.printer.graphs_and_nodes.attribute_text"
    with mock.patch(printer, wraps=attributes.attribute_text) as printed:
        text, _ = to_official(nested(33))
    assert text.count("If") == 33
    assert printed.call_count <= 66


COUNT = 20_000
MANY: dict[str, Callable[[], bytes]] = {
    "deep": lambda: nested(33),
    "deep and odd": lambda: nested(32, field(999, b"x")),
    "deep and wide": lambda: nested(
        31, b"".join([field(1, field(2, b"%d" % i) + field(4, b"Op")) for i in range(COUNT // 4)])
    ),
    "attributes": lambda: nodes(
        field(4, b"Op")
        + b"".join([field(5, field(1, b"a%d" % i) + b"\x18\x01\xa0\x01\x02") for i in range(COUNT)])
    ),
    "graphs": lambda: nodes(
        field(4, b"Op")
        + b"".join(
            [field(5, field(1, b"a") + field(6, b"") + b"\xa0\x01\x05") for _ in range(COUNT // 2)]
        )
    ),
    "functions": lambda: b"".join([field(25, field(1, b"f%d" % i)) for i in range(COUNT // 2)]),
    "metadata": lambda: nodes(
        field(4, b"Op")
        + b"".join([field(9, field(1, b"k%d" % i) + field(2, b"v")) for i in range(COUNT)])
    ),
    "dims": lambda: field(7, field(5, b"\x08\x01" * COUNT * 2 + b"\x10\x01" + field(9, bytes(4)))),
    "values": lambda: field(
        7,
        b"".join(
            [
                field(13, field(1, b"v%d" % i) + field(2, field(1, b"\x08\x01")))
                for i in reversed(range(COUNT))
            ]
        ),
    ),
    "blobs": lambda: field(
        7,
        b"".join(
            [
                field(5, b"\x08\x21\x10\x02" + field(8, b"w%d" % i) + field(9, b"%033d" % i))
                for i in range(COUNT // 2)
            ]
        ),
    ),
    "unknown": lambda: b"".join([tag(999, 0) + varint(i) for i in range(COUNT)]),
    "groups": lambda: (tag(999, 3) * 90 + tag(999, 4) * 90) * 20,
}


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@pytest.mark.parametrize("name", sampled(MANY, 3))
def test_deep_models_are_printed_in_time(name: str) -> None:
    data = MANY[name]()
    with limited(MAX_SECONDS):
        to_official(data)
        assert onnxtext.to_binary(onnxtext.from_binary(data)) == data
