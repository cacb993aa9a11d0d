# SPDX-License-Identifier: Apache-2.0
"""The messages between the two processes: requests (`marshal`) and answers (lists of bytes).

A frame is its length (8 bytes, little-endian) and its content. Answers come from a process that may
have corrupted its memory, so their format is trivial: nothing in them can harm the reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

HEAD = 8
READY = b"ready"
"""The status of the first frame, once onnx is loaded."""
FINE = b"fine"
"""The status of an answer: the request succeeded; the results follow."""
OBJECTION = b"objection"
"""The status of an answer: onnx rejects the model or node; its message follows."""
MEMORY = b"memory"
"""The status of an answer: the allocation failed."""


def framed(content: bytes) -> bytes:
    """A frame with this content."""
    return len(content).to_bytes(HEAD, "little") + content


def pack(parts: Iterable[bytes]) -> bytes:
    """The content of an answer: each part with its length."""
    return b"".join([framed(part) for part in parts])


def unpack(content: bytes) -> list[bytes]:
    """The parts of an answer.

    Raises:
        ValueError: the content is damaged.
    """
    parts = []
    at = 0
    while at < len(content):
        end = at + HEAD + int.from_bytes(content[at : at + HEAD], "little")
        if end > len(content):
            raise ValueError("the answer is damaged")
        parts.append(content[at + HEAD : end])
        at = end
    return parts


def write_all(fd: int, data: bytes) -> None:
    """Write to a pipe.

    Raises:
        OSError: nobody reads it.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
