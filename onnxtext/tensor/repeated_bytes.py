# SPDX-License-Identifier: Apache-2.0
"""Represent repeated bytes, such as a large ``[0, ...]``, without expanding them."""

from __future__ import annotations

from onnxtext.quick_dataclass import dataclass

_MIN_BLOCK, _MAX_BLOCK = 1 << 14, 1 << 20
"""Bounds of the size, in bytes, of the piece that `Repetition.pieces` repeats."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The bytes `start + unit * times + end`, without storing the copies of `unit`.

    Attributes:
        start: the bytes before the first unit.
        unit: the repeated bytes; must not be empty.
        times: the number of units.
        end: the bytes after the last unit: the beginning of one more unit, or b"".
    """

    start: bytes
    unit: bytes
    times: int
    end: bytes

    @classmethod
    def of(cls, start: bytes, unit: bytes, times: int, end: bytes) -> Repetition:
        """Return a repetition; if `start` consists only of units, count them in `times` instead."""
        repetitions = len(start) // len(unit)
        if start == unit * repetitions:
            return cls(b"", unit, times + repetitions, end)
        return cls(start, unit, times, end)

    def __len__(self) -> int:
        return len(self.start) + len(self.unit) * self.times + len(self.end)

    def pieces(self) -> list[bytes]:
        """Return the bytes in pieces. Repeated pieces are the same object, which saves memory."""
        block_size = min(max(len(self) >> 8, _MIN_BLOCK), _MAX_BLOCK)
        times = max(block_size // len(self.unit), 1)
        blocks, rest = divmod(self.times, times)
        block = self.unit * times if blocks else b""
        return [self.start, *[block] * blocks, self.unit * rest, self.end]

    def expand(self) -> bytes:
        """Return all bytes."""
        return b"".join([self.start, self.unit * self.times, self.end])

    def equals(self, data: bytes | memoryview) -> bool:
        """Whether the expanded bytes equal `data`."""
        if len(data) != len(self):
            return False
        view = memoryview(data)
        offset = 0
        for piece in self.pieces():
            if view[offset : offset + len(piece)] != piece:
                return False
            offset += len(piece)
        return True
