# SPDX-License-Identifier: Apache-2.0
"""Print large tensors block by block with numpy, and set all line breaks of a block at once.

The text is the same as that of `values.nested_lines` and `layout.numbers`. A block fits into the
CPU caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from onnxtext.printer.layout import ROWS, STEP, WIDTH
from onnxtext.tensor.elements import ElementType
from onnxtext.tensor.format import format_compact
from onnxtext.tensor.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 15
_COMMA = b","
_BREAK = 0  # placeholders: of a line break, and of the end of a row that ends no list
_ROW = 1
DEEPEST = 8
"""The maximum number of dimensions, so that all placeholders are below all whitespace."""

_TO_ROWS = dict.fromkeys(range(_ROW, _ROW + DEEPEST), "\x01")


def flat_parts(
    element: ElementType, data: bytes | memoryview, count: int, indent: str
) -> list[str]:
    """Print a list in lines of 16, 8, 4 or 1 elements; the largest count that fits.

    Args:
        element: the element type.
        data: the elements, as in `raw_data`.
        count: the number of elements.
        indent: the indentation of the statement.

    Returns:
        The text in parts.
    """
    inner = indent + STEP
    end = f",\n{inner}"
    for size in ROWS:
        parts = [f"[\n{inner}"]
        for compact, _ in _blocks(element, data, ROWS[0], count):
            block = _Block.of(compact, 1)
            if size > 1 and not block.fitting(size, WIDTH - len(inner)).all():
                break
            block.break_lines(size)
            parts += (block.text([end]), end)
        else:
            parts[-1] = f",\n{indent}]"
            return parts
    raise AssertionError("unreachable: lines of one always fit")


def nested_parts(
    element: ElementType, data: bytes | memoryview, shape: Sequence[int], indent: str
) -> list[str]:
    """Print rows, each on one line if it fits, otherwise in lines like those of `flat_parts`.

    Args:
        element: the element type.
        data: the elements, as in `raw_data`.
        shape: from two to `DEEPEST` dimensions.
        indent: the indentation of the statement.

    Returns:
        The text in parts.
    """
    levels = [indent + STEP * level for level in range(len(shape) - 1)]
    layout = _Rows(levels, indent + STEP * len(levels), shape)
    parts = ["".join([f"{level}[\n" for level in levels])[len(indent) :] + layout.indent]
    rows = 0
    for compact, some in _blocks(element, data, shape[-1], prod(shape)):
        if rows:
            parts.append(layout.between(int(layout.closed(np.array([rows]))[0])))
        parts += layout.parts(_Block.of(compact, some), rows)
        rows += some
    parts.append(",\n" + ",\n".join([f"{level}]" for level in reversed(levels)]))
    return parts


def _blocks(
    element: ElementType, data: bytes | memoryview, row: int, count: int
) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of rows: the elements joined by commas, and the number of rows."""
    size = (
        max(_BLOCK // row // 8, 1) * 8 * row
    )  # a multiple of 8 elements: whole bytes for all widths
    view = memoryview(data)
    for start in range(0, count, size):
        some = min(size, count - start)
        first, last = start * element.bits // 8, -(-(start + some) * element.bits // 8)
        yield format_compact(element, view[first:last], some), some // row


@dataclass(slots=True)
class _Block:
    """A block of rows as text.

    Attributes:
        codes: the characters, with a comma after each element; placeholders replace some commas.
        ends: the end of each element, by row.
        starts: the start of each row.
    """

    codes: NDArray[np.uint8]
    ends: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, compact: bytes, rows: int) -> _Block:
        """Return the block of a number of rows of equal length."""
        codes = np.frombuffer(bytearray(compact + _COMMA), np.uint8)
        ends = np.flatnonzero(codes == _COMMA[0]).reshape(rows, -1)
        return cls(codes, ends, np.concatenate(([0], ends[:-1, -1] + 1)))

    def fitting(self, size: int, width: int) -> NDArray[np.bool_]:
        """Return which rows fit into lines of `size` elements and `width` columns with commas."""
        count = self.ends.shape[1]
        last = self.ends[:, size - 1 :: size]
        if count % size:
            last = np.concatenate((last, self.ends[:, -1:]), axis=1)
        first = np.concatenate((self.starts[:, None], last[:, :-1] + 1), axis=1)
        blanks = np.full(last.shape[1], size - 1)
        blanks[-1] = (count - 1) % size
        return np.asarray((last - first + blanks < width).all(axis=1))

    def break_lines(self, size: int, rows: NDArray[np.bool_] | slice = slice(None)) -> None:
        """Set the line breaks of rows: one after every `size` elements."""
        self.codes[self.ends[rows, size - 1 : -1 : size]] = _BREAK

    def text(self, longer: Sequence[str]) -> str:
        """Return the text, with a space after each comma.

        Args:
            longer: the texts of the placeholders 0, 1 and so on.
        """
        text = self.codes[:-1].tobytes().replace(_COMMA, b", ")
        for mark, instead in enumerate(longer):
            text = text.replace(bytes([mark]), instead.encode("ascii"))
        return text.decode("ascii")


@dataclass(slots=True)
class _Rows:
    """The layout around the rows of a tensor.

    Attributes:
        levels: the indentations of the brackets around the rows, outermost first.
        indent: the indentation of the rows.
        shape: the sizes of all dimensions.
    """

    levels: list[str]
    indent: str
    shape: Sequence[int]

    def between(self, closed: int) -> str:
        """Return the text between two rows, where `closed` lists end and as many begin."""
        inner = self.levels[len(self.levels) - closed :]
        closing = "".join([f"{level}],\n" for level in reversed(inner)])
        opening = "".join([f"{level}[\n" for level in inner])
        return f",\n{closing}{opening}{self.indent}"

    def closed(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number of lists that end before each row, by row index."""
        closed = np.zeros_like(rows)
        size = 1
        for length in reversed(self.shape[1:-1]):
            size *= length
            closed += rows % size == 0
        return closed

    def parts(self, block: _Block, row: int) -> list[str]:
        """Return the text of a block in parts; `row` is the index of its first row."""
        rows, count = block.ends.shape
        inner = self.indent + STEP
        wide = ~block.fitting(count, WIDTH - len(self.indent) - 2)
        open = wide.copy()
        for size in ROWS:
            if not open.any():
                break
            fits = open & block.fitting(size, WIDTH - len(inner)) if size > 1 else open
            block.break_lines(size, fits)
            open &= ~fits
        closed = self.closed(np.arange(row + 1, row + rows))
        block.codes[block.ends[:-1, -1]] = closed + _ROW
        edges = {False: ("[", "]"), True: (f"[\n{inner}", f",\n{self.indent}]")}
        if wide.all() or not wide.any():
            before, after = edges[bool(wide[0])]
            between = [f"{after}{self.between(level)}{before}" for level in range(len(self.levels))]
            return [before, block.text([f",\n{inner}", *between]), after]
        texts = block.text([f",\n{inner}"]).translate(_TO_ROWS).split(_TO_ROWS[_ROW])
        parts: list[str] = []
        for text, is_wide, level in zip(
            texts, wide.tolist(), [*closed.tolist(), None], strict=True
        ):
            before, after = edges[is_wide]
            parts += (before, text, after, "" if level is None else self.between(level))
        return parts
