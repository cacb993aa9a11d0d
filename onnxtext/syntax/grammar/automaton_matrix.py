# SPDX-License-Identifier: Apache-2.0
"""Store the table of an automaton, with a cell per state and symbol, so that it loads fast."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cached_property

from onnxtext.quick_dataclass import dataclass

EMPTY = -(1 << 15)
"""The number that marks an empty cell."""


@dataclass(frozen=True)
class Matrix:
    """A table with a row for each state and a column for each symbol.

    Attributes:
        names: the symbol of each column.
        data: the cells, row by row, as little-endian 16-bit integers.
    """

    names: tuple[str, ...]
    data: bytes

    @classmethod
    def of(cls, rows: Sequence[dict[str, int]], names: Sequence[str]) -> Matrix:
        """Return the matrix of the given rows and columns.

        Args:
            rows: for each row, a dict from symbol to number; other cells are empty.
            names: the symbol of each column, in order.
        """
        cells = array("h", [row.get(name, EMPTY) for row in rows for name in names])
        if sys.byteorder == "big":
            cells.byteswap()
        return cls(tuple(names), cells.tobytes())

    @property
    def height(self) -> int:
        """The number of rows.

        Raises:
            ValueError: the last row is incomplete.
        """
        height, rest = divmod(len(self.data), 2 * len(self.names) or 1)
        if rest:
            raise ValueError("damaged parse tables")
        return height

    @cached_property
    def rows(self) -> tuple[dict[str, int], ...]:
        """The rows, each a dict from symbol to number; empty cells are left out."""
        cells = array("h", self.data)
        if sys.byteorder == "big":
            cells.byteswap()
        width = len(self.names)
        return tuple(
            [
                {
                    name: cell
                    for name, cell in zip(self.names, cells[index : index + width], strict=True)
                    if cell != EMPTY
                }
                for index in range(0, self.height * width, width)
            ]
        )
