# SPDX-License-Identifier: Apache-2.0
"""Split messages into their fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnxtext.ast.byte_strings import to_text
from onnxtext.select_core import core, core_module
from onnxtext.wire.reader import WireField, read_fields
from onnxtext.wire.writer import LENGTH

_BATCH = 256


def all_fields(data: bytes | memoryview) -> Iterator[WireField]:
    """Yield the fields of a whole message, read with the native core if `core()` selects it.

    Raises:
        WireError: the bytes are not a message.
    """
    if core() == "python":
        yield from read_fields(data, 0, len(data))
        return
    message_fields = core_module("proto.decode_graphs").message_fields
    offset = 0
    while offset < len(data):  # in batches, because a message may have millions of fields
        fields = message_fields(data, offset, _BATCH)
        yield from fields
        offset = fields[-1].end


def split_fields(
    data: bytes | memoryview,
    start: int,
    end: int,
    texts: dict[int, list[str]],
    numbers: frozenset[int],
) -> tuple[Sequence[tuple[int, bytes | memoryview]], Sequence[bytes | memoryview]]:
    """Split an encoded graph or function into its fields.

    The fields whose numbers are in `texts` are decoded as strings and appended there.

    Returns:
        The (number, payload) of each length-delimited field whose number is in `numbers`; and the
        bytes of each remaining field.
    """
    view = memoryview(data)
    others: list[tuple[int, bytes | memoryview]] = []
    rest: list[bytes | memoryview] = []
    for field in read_fields(data, start, end):
        number = field.number if field.wire_type == LENGTH else 0
        if number in texts:
            texts[number].append(to_text(view[field.value : field.end]))
        elif number in numbers:
            others.append((number, view[field.value : field.end]))
        else:
            rest.append(view[field.start : field.end])
    return others, rest


def last_text(texts: list[str]) -> str | None:
    """Return the last value of a singular field, which overrides earlier ones; None if absent."""
    return texts[-1] if texts else None
