# SPDX-License-Identifier: Apache-2.0
"""Reuse results for unchanged statements from one version of a text to the next.

An edit changes little: two versions share a long common prefix and suffix of text and statements.
The results for a statement in these parts remain valid if they depend only on the text, the column
and the names of the statement. Names are compared, too, because the repair of a syntax error may
depend on text outside of the statement.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onnxtext.common_prefix import common_prefix
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.symbols import Statement

_AT_ONCE = 100
"""Number of entries to compute before other tasks may run; this takes a few milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class VersionLayout:
    """The data of one version for comparison with later versions, without the syntax tree.

    The lists have one item per statement.

    Attributes:
        text: the whole text.
        starts: the offset of each statement.
        limits: the last possible end of each statement.
        marks: the role of each statement (`Statement.group`). If there are several graphs or
            functions, the number of the one that contains the statement is appended.
        names: for each node, its outputs, operator and label; for each value, its name and whether
            it has data.
    """

    text: str
    starts: list[int]
    limits: list[int]
    marks: list[str]
    names: list[tuple[object, ...]]

    @classmethod
    def of(cls, index: Index) -> VersionLayout:
        """Return the layout of an indexed version."""
        statements = index.statements
        limits = [statement.limit for statement in statements]
        marks: list[str] = [statement.group for statement in statements]
        if len(index.scopes) > 1:
            numbers = [f" {index.number(statement.scope)}" for statement in statements]
            marks = [mark + number for mark, number in zip(marks, numbers, strict=True)]
        names = [_names(statement.kind, statement.item) for statement in statements]
        return cls(index.source.text, index.starts, limits, marks, names)


def _names(kind: str, item: Any) -> tuple[object, ...]:
    if kind == "node":
        return item.outputs, item.op_type, item.name
    return item.name, item.data is not None


class StatementResults:
    """Caches columns from one version to the next.

    A column is a named list with one entry per statement: the result of a feature for the
    statement, or None if it was not computed yet.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[VersionLayout, list[Any], Any]] = {}
        self._layout: tuple[Index, VersionLayout] | None = None
        self._aligned: tuple[VersionLayout, VersionLayout, int, int] | None = None

    def column_for(self, name: str, index: Index) -> tuple[list[Any], Any]:
        """Return a column for a new version of the text.

        Returns:
            (column, extra). The column has the old entries of unchanged statements, and None for
            other statements. `extra` is the value that the last call of `fill` got for this name;
            None if there was no call.
        """
        layout = self._layout_of(index)
        count = len(layout.starts)
        cached = self._kept.get(name)
        if cached is None:
            return [None] * count, None
        old, column, extra = cached
        if old is layout:
            return column.copy(), extra
        head, tail = self._align(old, layout)
        results = [None] * (count - head - tail)
        return column[:head] + results + column[len(column) - tail :], extra

    async def fill(
        self,
        name: str,
        index: Index,
        column: list[Any],
        make: Callable[[Statement], Any],
        extra: Any = None,
    ) -> None:
        """Compute the missing entries of a column, and keep it for later versions.

        Other tasks may run from time to time. If the call is cancelled, the entries computed so far
        are kept.

        `make` computes the entry of a statement. `column_for` returns `extra` with the column.
        """
        self._kept[name] = self._layout_of(index), column, extra
        computed = 0
        for number, entry in enumerate(column):
            if entry is None:
                column[number] = make(index.statements[number])
                computed += 1
                if computed % _AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _layout_of(self, index: Index) -> VersionLayout:
        if self._layout is None or self._layout[0] is not index:
            self._layout = index, VersionLayout.of(index)
        return self._layout[1]

    def _align(self, old: VersionLayout, new: VersionLayout) -> tuple[int, int]:
        alignment = self._aligned
        if alignment is None or alignment[0] is not old or alignment[1] is not new:
            alignment = self._aligned = old, new, *count_unchanged(old, new)
        return alignment[2:]


def count_unchanged(old: VersionLayout, new: VersionLayout) -> tuple[int, int]:
    """Return how many statements at the start, and how many at the end, are unchanged.

    The unchanged statements at the end begin in unchanged lines, and so in the same columns.
    """
    same = common_prefix(old.text, new.text)
    head = min(_ending_by(old, same), _ending_by(new, same))
    if _part(old, 0, head) != _part(new, 0, head):
        pairs = zip(_rows(old, 0), _rows(new, 0), strict=False)
        head = next((index for index, (left, right) in enumerate(pairs) if left != right), head)
    shift = len(new.text) - len(old.text)
    max_length = min(len(old.text), len(new.text)) - same
    line = new.text.find("\n", len(new.text) - common_end(old.text, new.text, max_length)) + 1
    if not line:
        return head, 0
    first = max(bisect_left(old.starts, line - shift), head)
    other_first = max(bisect_left(new.starts, line), head)
    tail = min(len(old.starts) - first, len(new.starts) - other_first)
    first, other_first = len(old.starts) - tail, len(new.starts) - tail
    if _part(old, first, len(old.starts), shift) != _part(new, other_first, len(new.starts)):
        pairs = zip(_rows(old, first, shift)[::-1], _rows(new, other_first)[::-1], strict=True)
        tail = next((index for index, (left, right) in enumerate(pairs) if left != right), tail)
    return head, tail


def _ending_by(layout: VersionLayout, offset: int) -> int:
    """Return the number of leading statements that end at or before an offset."""
    count = bisect_right(layout.starts, offset)
    while count and layout.limits[count - 1] > offset:
        count -= 1
    return count


def _part(layout: VersionLayout, first: int, end: int, shift: int = 0) -> tuple[list[Any], ...]:
    """Return the lists of a layout from `first` to `end`, with offsets moved by `shift`."""
    starts, limits = layout.starts[first:end], layout.limits[first:end]
    if shift:
        starts, limits = (
            [offset + shift for offset in starts],
            [offset + shift for offset in limits],
        )
    return starts, limits, layout.marks[first:end], layout.names[first:end]


def _rows(layout: VersionLayout, first: int, shift: int = 0) -> list[tuple[Any, ...]]:
    """Return (start, limit, mark, names) of each statement from `first` on."""
    return list(zip(*_part(layout, first, len(layout.starts), shift), strict=True))


def common_end(left: str, right: str, max_length: int) -> int:
    """Return the length of the common suffix of two texts, limited to `max_length` characters."""
    low, high = 0, max_length
    while low < high:
        middle = (low + high + 1) // 2
        part = right[len(right) - middle : len(right) - low]
        if left.startswith(part, len(left) - middle):
            low = middle
        else:
            high = middle - 1
    return low
