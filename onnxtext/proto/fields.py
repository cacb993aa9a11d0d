# SPDX-License-Identifier: Apache-2.0
"""The fields of a whole message, by the core that runs."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.core import core
from onnxtext.wire.reader import WireField, read_fields

_BATCH = 256
"""So many fields are read at once: a message may have many millions."""


def all_fields(data: bytes | memoryview) -> Iterator[WireField]:
    """The fields of a message.

    Raises:
        WireError: the bytes are no message.
    """
    if core() == "python":
        yield from read_fields(data, 0, len(data))
        return
    from onnxtext._core.decode import message_fields

    at = 0
    while at < len(data):
        fields = message_fields(data, at, _BATCH)
        yield from fields
        at = fields[-1].end
