# SPDX-License-Identifier: Apache-2.0
"""Line breaks in the rows of large tensors, set in many rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxtext.printer.layout import ROWS
from onnxtext.tensor.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BREAK, _ROW = b"\x01", "\x02"


def wrap(rows: list[str], count: int, width: int, inner: str) -> list[str]:
    """Break rows into lines of 16, 8, 4 or 1 elements: of the most with which every line fits.

    Args:
        rows: rows of elements, with ", " between them; ASCII.
        count: how many elements each has.
        width: the longest a line may be, with its comma.
        inner: the indentation of the lines.

    Returns:
        The rows with line breaks, without the indentation of the first line of each.
    """
    if not rows:
        return []
    codes = np.frombuffer(bytearray(_ROW.join([*rows, ""]), "ascii"), np.uint8)
    # Where each element ends: at its comma, or at the end of its row.
    ends = np.flatnonzero((codes == ord(",")) | (codes == ord(_ROW))).reshape(len(rows), count)
    starts = np.concatenate((np.zeros(1, ends.dtype), ends[:-1, -1] + 1))
    open = np.ones(len(rows), np.bool_)
    for size in ROWS:
        fits = open & _fits(ends, starts, size, width) if size > 1 else open
        codes[ends[fits, size - 1 : count - 1 : size]] = _BREAK[0]
        open = open & ~fits
    text = codes.tobytes().replace(_BREAK + b" ", f",\n{inner}".encode("ascii"))
    return text.decode("ascii").split(_ROW)[:-1]


def _fits(
    ends: NDArray[np.int64], starts: NDArray[np.int64], size: int, width: int
) -> NDArray[np.bool_]:
    """Whether every line of this many elements is narrow enough, row by row."""
    last = ends[:, size - 1 :: size]
    if last.shape[1] * size < ends.shape[1]:
        last = np.concatenate((last, ends[:, -1:]), axis=1)
    first = np.concatenate((starts[:, None], last[:, :-1] + 2), axis=1)
    return np.asarray((last + 1 - first <= width).all(axis=1))
