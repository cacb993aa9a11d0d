# SPDX-License-Identifier: Apache-2.0
"""Iterate over the fields of a message, with the native core if `core()` selects it."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.select_core import core, core_module
from onnxtext.wire.reader import WireField, read_fields

_BATCH = 256


def all_fields(data: bytes | memoryview) -> Iterator[WireField]:
    """Yield the fields of a whole message.

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
