# SPDX-License-Identifier: Apache-2.0
"""Print large tensors block by block with numpy, and set all line breaks of a block at once.

The result is the same as that of `types_and_tensors.nested_lines` and `layout.filled`. A block fits
into the CPU caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.tensor.elements import ElementType
from onnxtext.tensor.lazy_numpy import np
from onnxtext.tensor.print_elements import format_compact

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 15
_COMMA = b","
# Placeholder bytes: a line break within a row, and the end of a row. `_ROW + n` ends a row with
# which n enclosing lists end.
_BREAK = 0
_ROW = 1
DEEPEST = 8
"""Maximum number of dimensions; with more, a placeholder byte would be a whitespace character."""

_TO_ROWS = dict.fromkeys(range(_ROW, _ROW + DEEPEST), "\x01")


def flat_parts(
    element: ElementType, data: bytes | memoryview, count: int, indent: str
) -> list[str]:
    """Print a flat list in lines that are filled up to `WIDTH` columns.

    Args:
        element: the element type.
        data: the elements, as in `raw_data`.
        count: the number of elements.
        indent: the indentation of the statement.

    Returns:
        The parts of the text, to be joined.
    """
    inner = indent + STEP
    end = f",\n{inner}"
    width = WIDTH - len(inner)
    parts = ["["]
    taken = width  # the columns of the last line, with its comma
    for compact, _ in _blocks(element, data, 1, count):
        block = _Block.of(compact, 1)
        starts = block.line_starts(0, width, taken)
        parts.append(", " if starts[0] else end if len(parts) > 1 else end[1:])
        block.break_before(0, starts)
        text = block.text([end])
        parts.append(text)
        last = text.rfind("\n")
        if last >= 0:
            taken = len(text) - last - len(inner)
        else:
            taken = len(text) + 1 + (taken + 1 if starts[0] else 0)
    parts.append(f",\n{indent}]")
    return parts


def nested_parts(
    element: ElementType, data: bytes | memoryview, shape: Sequence[int], indent: str
) -> list[str]:
    """Print a nested list; an innermost row is on one line if it fits, else in filled lines.

    Args:
        element: the element type.
        data: the elements, as in `raw_data`.
        shape: from two to `DEEPEST` dimensions.
        indent: the indentation of the statement.

    Returns:
        The parts of the text, to be joined.
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
    """Yield (text, number of rows) of each block; the text has the elements, joined by commas."""
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
        codes: the character codes of the elements, each with a comma behind it. A placeholder takes
            the comma's place where a space, a line break or a bracket belongs.
        ends: the offset in `codes` of the end of each element, by row.
        starts: the offset in `codes` of the start of each row.
    """

    codes: NDArray[np.uint8]
    ends: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, compact: bytes, rows: int) -> _Block:
        """Return a block of `rows` equally long rows; `compact` has the elements between commas."""
        codes = np.frombuffer(bytearray(compact + _COMMA), np.uint8)
        ends = np.flatnonzero(codes == _COMMA[0]).reshape(rows, -1)
        return cls(codes, ends, np.concatenate(([0], ends[:-1, -1] + 1)))

    def fitting(self, width: int) -> NDArray[np.bool_]:
        """Return a mask of the rows that fit, with a comma, into one line of `width` columns."""
        lengths = self.ends[:, -1] - self.starts + self.ends.shape[1] - 1
        return np.asarray(lengths < width)

    def line_starts(self, row: int, width: int, taken: int) -> list[int]:
        """Return the indices of the elements of a row that begin a line, if lines are filled.

        The last index is the number of elements.

        Args:
            row: the index of the row in the block.
            width: the maximum number of columns of a line with its comma.
            taken: the number of columns, with the comma, that the text before the row takes on
                its line; `width` if the row begins a line.
        """
        # The end of each element with its comma, if the whole row were on one line.
        ends = self.ends[row] - self.starts[row] + np.arange(1, self.ends.shape[1] + 1)
        begins = np.concatenate(([0], ends[:-1] + 1))
        following = np.searchsorted(ends, begins + width, "right").tolist()
        at = int(np.searchsorted(ends, width - taken - 1, "right"))
        starts = [at]
        while starts[-1] < len(following):
            starts.append(max(following[starts[-1]], starts[-1] + 1))
        return starts

    def break_before(self, row: int, starts: Sequence[int]) -> None:
        """Set a line break before each of these elements of a row, except before its first one."""
        ends = self.ends[row]
        last = np.array([at - 1 for at in starts if 0 < at < len(ends)], np.intp)
        self.codes[ends[last]] = _BREAK

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
        """Return how many enclosing lists end before each row, given the indices of the rows."""
        closed = np.zeros_like(rows)
        size = 1
        for length in reversed(self.shape[1:-1]):
            size *= length
            closed += rows % size == 0
        return closed

    def parts(self, block: _Block, row: int) -> list[str]:
        """Return the text of a block as parts to be joined; `row` is the index of its first row."""
        rows = len(block.ends)
        inner = self.indent + STEP
        wide = ~block.fitting(WIDTH - len(self.indent) - 2)
        width = WIDTH - len(inner)
        for at in np.flatnonzero(wide).tolist():
            block.break_before(at, block.line_starts(at, width, width))
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
