# SPDX-License-Identifier: Apache-2.0
"""Compare an encoding in pieces with bytes; do not copy large pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnxtext.tensor.lazy_numpy import np
from onnxtext.wire.writer import Piece

_LONG = 1 << 12
"""Pieces with fewer bytes are joined before the comparison."""
_MANY = 1 << 10
"""Maximum number of pieces to join at a time, so that they fit into the processor's cache."""

_LARGE = 1 << 18
"""Minimum size in bytes of pieces that are compared without copying data.

A copy of a smaller piece fits into the processor's cache.
"""
_BLOCK = 1 << 22
"""Number of bytes to compare at a time if two pieces are long."""


def pieces_equal(pieces: Iterable[Piece], data: Piece) -> bool:
    """Whether the pieces, joined in order, equal `data`.

    A large piece that is a view of `data` at the right offset is not read: it is the same memory.
    """
    offset = 0
    view = memoryview(data)
    for piece in _join_short(pieces):
        part = view[offset : offset + len(piece)]
        if not (bytes(part) == piece if len(piece) < _LARGE else same_bytes(piece, part)):
            return False
        offset += len(piece)
    return offset == len(data)


def _join_short(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join short pieces; do not copy long pieces."""
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
    """Whether two pieces are equal; if both are views of the same memory, do not read it."""
    if len(left) != len(right):
        return False
    first, second = np.frombuffer(left, np.uint8), np.frombuffer(right, np.uint8)
    if first.ctypes.data == second.ctypes.data:
        return True
    return all(
        bool((first[index : index + _BLOCK] == second[index : index + _BLOCK]).all())
        for index in range(0, len(first), _BLOCK)
    )
