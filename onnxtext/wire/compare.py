# SPDX-License-Identifier: Apache-2.0
"""Comparing what was encoded with what it was read from, without joining it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnxtext.tensor.lazy import np
from onnxtext.wire.writer import Piece

_LONG = 1 << 12
"""Pieces of fewer bytes are joined before they are compared."""
_MANY = 1 << 10
"""So many of them at most: what is joined stays in the processor's cache."""

_LARGE = 1 << 18
"""Pieces of fewer bytes are copied to be compared: that stays in the processor's cache."""
_BLOCK = 1 << 22
"""So many bytes of two long pieces are compared at once."""


def says(pieces: Iterable[Piece], data: bytes) -> bool:
    """Whether the pieces, joined, are the data.

    A piece that is a view of the very place in the data where it would stand is not read.
    """
    at = 0
    view = memoryview(data)
    for piece in _joined(pieces):
        here = view[at : at + len(piece)]
        if not (bytes(here) == piece if len(piece) < _LARGE else same_bytes(piece, here)):
            return False
        at += len(piece)
    return at == len(data)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same in fewer pieces, of which no long one was copied."""
    short: list[Piece] = []
    for piece in pieces:
        if len(piece) < _LONG:
            short.append(piece)
            if len(short) == _MANY:
                yield b"".join(short)
                short.clear()
        else:
            yield b"".join(short)
            short.clear()
            yield piece
    yield b"".join(short)


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
