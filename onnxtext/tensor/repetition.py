# SPDX-License-Identifier: Apache-2.0
"""Bytes that repeat: what ``[0, ...]`` means for many elements, without the memory they take."""

from __future__ import annotations

from dataclasses import dataclass

_LEAST_BLOCK, _MOST_BLOCK = 1 << 14, 1 << 20
"""Limits of the size in bytes of the piece that repeats."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """Some bytes, then a unit many times, then some bytes.

    Attributes:
        start: what precedes the units; empty if it would be units too.
        unit: what repeats; not empty.
        times: how often.
        end: what follows the units: the beginning of one that is cut off.
    """

    start: bytes
    unit: bytes
    times: int
    end: bytes

    @classmethod
    def of(cls, start: bytes, unit: bytes, times: int, end: bytes) -> Repetition:
        """A repetition whose start is not a repetition of the unit itself."""
        more = len(start) // len(unit)
        if start == unit * more:
            return cls(b"", unit, times + more, end)
        return cls(start, unit, times, end)

    def __len__(self) -> int:
        return len(self.start) + len(self.unit) * self.times + len(self.end)

    def pieces(self) -> list[bytes]:
        """The bytes in pieces; the memory that they take does not grow with their number."""
        block_size = min(max(len(self) >> 8, _LEAST_BLOCK), _MOST_BLOCK)
        each = max(block_size // len(self.unit), 1)
        blocks, rest = divmod(self.times, each)
        block = self.unit * each if blocks else b""
        return [self.start, *[block] * blocks, self.unit * rest, self.end]

    def expand(self) -> bytes:
        """All the bytes."""
        return b"".join([self.start, self.unit * self.times, self.end])

    def equals(self, data: bytes | memoryview) -> bool:
        """Whether the bytes are these."""
        if len(data) != len(self):
            return False
        view = memoryview(data)
        at = 0
        for piece in self.pieces():
            if view[at : at + len(piece)] != piece:
                return False
            at += len(piece)
        return True
