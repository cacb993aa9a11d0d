# SPDX-License-Identifier: Apache-2.0
"""Find folding ranges: brackets over several lines, comments, sections, long strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, Version
from onnxtext.lsp.index.folds import find_folds

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_MOST = 20_000


def register(server: Server) -> None:
    """Register the handler of the request."""
    server.answer(t.TEXT_DOCUMENT_FOLDING_RANGE, folding)


async def folding(document: Document, params: t.FoldingRangeParams) -> list[t.FoldingRange]:
    """Return the folding ranges; of several that begin on one line, only the longest."""
    version, lengths = document.version, await document.lengths()
    best: dict[int, t.FoldingRange] = {}
    for found in folding_ranges(version, lengths):
        known = best.get(found.start_line)
        if known is None or known.end_line < found.end_line:
            best[found.start_line] = found
        if len(best) >= _MOST:
            break
    return sorted(best.values(), key=lambda found: found.start_line)


def folding_ranges(version: Version, lengths: list[int]) -> Iterator[t.FoldingRange]:
    """Yield the folding ranges of a text.

    Args:
        version: the text and its index.
        lengths: the length of each statement in characters; -1 for statements of several lines or
            with a syntax error (`Document.lengths`).
    """
    for start, end, comment in find_folds(version, lengths):
        yield t.FoldingRange(start, end, kind=t.FoldingRangeKind.Comment if comment else None)
