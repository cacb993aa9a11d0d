# SPDX-License-Identifier: Apache-2.0
"""Comparing what was encoded with what it was read from, without joining it."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.tensor.lazy import np
from onnxtext.wire.writer import Piece

_LONG = 1 << 12
"""Pieces of fewer bytes are joined before they are compared."""

_BLOCK = 1 << 22
"""So many bytes of two long pieces are compared at once."""


def says(pieces: Iterable[Piece], data: bytes) -> bool:
    """Whether the pieces, joined, are the data.

    A piece that is a view of the very place in the data where it would stand is not read.
    """
    at = 0
    short: list[Piece] = []
    for piece in pieces:
        if len(piece) < _LONG:
            short.append(piece)
            continue
        joined = b"".join(short)
        short.clear()
        if data[at : at + len(joined)] != joined:
            return False
        at += len(joined)
        if not same_bytes(piece, memoryview(data)[at : at + len(piece)]):
            return False
        at += len(piece)
    joined = b"".join(short)
    return at + len(joined) == len(data) and data[at:] == joined


def same_bytes(left: Piece, right: Piece) -> bool:
    """Whether two pieces are equal; they are not read if they are the same memory."""
    if len(left) != len(right):
        return False
    one, other = np.frombuffer(left, np.uint8), np.frombuffer(right, np.uint8)
    if one.ctypes.data == other.ctypes.data:
        return True
    return all(
        bool((one[at : at + _BLOCK] == other[at : at + _BLOCK]).all())
        for at in range(0, len(one), _BLOCK)
    )
