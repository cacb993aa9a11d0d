# SPDX-License-Identifier: Apache-2.0
"""Reuse results for unchanged statements from one version of a text to the next.

An edit changes little: the lists of statements of two versions share a long prefix and suffix. The
results for these statements remain valid if they depend only on the text, the column and the names
of the statement. Names are compared, too, because after a syntax error, they may depend on text
outside of the statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnxtext.common_prefix import common_prefix
from onnxtext.io.memory import paused_collector
from onnxtext.lsp.index.symbols import Statement

if TYPE_CHECKING:
    from onnxtext.lsp.index.document import DocumentVersion

_AT_ONCE = 100
"""Number of entries to compute before other tasks may run; this takes a few milliseconds."""

Keys = list[tuple[object, ...]]
"""For each statement, the data that determines its results. A statement is unchanged if the next
version of the text has a statement with the same data."""


def _keys(version: DocumentVersion) -> Keys:
    """Return a key for each statement: its text, length, column, role, graph and names.

    The text in a key ends at the next statement, so it does not repeat the text of inner graphs.
    The length includes inner graphs.
    """
    index, text = version.index, version.text
    several = len(index.scopes) > 1
    keys: Keys = []
    ends = [*index.starts[1:], len(text)]
    for statement, (_, column), end in zip(
        index.statements, version.statement_places, ends, strict=False
    ):
        item, at, limit = statement.item, statement.at, statement.limit
        names: tuple[object, ...]
        if statement.kind == "node":
            names = item.outputs, item.op_type, item.name
        else:
            names = item.name, item.data is not None
        graph = index.number(statement.scope) if several else 0
        part = text[at : min(end, limit)]
        keys.append((part, limit - at, column, statement.group, graph, *names))
    return keys


class StatementResults:
    """Caches columns from one version to the next.

    A column is a named list with one entry per statement: the result of a feature for the
    statement, or None if it was not computed yet or cannot be cached.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Keys, list[Any], Any]] = {}
        self._newest: tuple[DocumentVersion, Keys] | None = None

    def column_for(self, name: str, version: DocumentVersion) -> tuple[list[Any], Any]:
        """Return the column `name` for a version of the text.

        Returns:
            (column, extra). The column has the old entries of unchanged statements at both ends,
            and None for all others. `extra` is the argument `extra` of the last `fill` for this
            name; None if there was none.
        """
        keys = self._keys_of(version)
        old, column, extra = self._kept.get(name, ([], [], None))
        if old is keys:
            return column.copy(), extra
        head = common_prefix(old, keys)
        tail = common_prefix(old[head:][::-1], keys[head:][::-1])
        results = [None] * (len(keys) - head - tail)
        return column[:head] + results + column[len(column) - tail :], extra

    async def fill(
        self,
        name: str,
        version: DocumentVersion,
        column: list[Any],
        make: Callable[[Statement], Any],
        extra: Any = None,
    ) -> None:
        """Compute the missing entries of a column, and keep it for later versions.

        Other tasks may run from time to time. If the call is cancelled, the entries computed so far
        are kept.

        `make` computes the entry of a statement. `column_for` will return `extra` with the column.
        """
        self._kept[name] = self._keys_of(version), column, extra
        computed = 0
        for number, entry in enumerate(column):
            if entry is None:
                column[number] = make(version.index.statements[number])
                computed += 1
                if computed % _AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _keys_of(self, version: DocumentVersion) -> Keys:
        if self._newest is None or self._newest[0] is not version:
            with paused_collector():
                self._newest = version, _keys(version)
        return self._newest[1]
