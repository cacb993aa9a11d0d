# SPDX-License-Identifier: Apache-2.0
"""Answer requests for folding ranges."""

from __future__ import annotations

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.folds import find_folds

_MAX_RANGES = 20_000


async def folding(document: Document, params: t.FoldingRangeParams) -> list[t.FoldingRange]:
    """Return up to `_MAX_RANGES` folding ranges; of those that begin on one line, the longest."""
    version, lengths = document.version, await document.lengths()
    best: dict[int, t.FoldingRange] = {}
    for start, end, is_comment in find_folds(version, lengths):
        if start not in best or best[start].end_line < end:
            kind = t.FoldingRangeKind.Comment if is_comment else None
            best[start] = t.FoldingRange(start, end, kind=kind)
        if len(best) >= _MAX_RANGES:
            break
    return sorted(best.values(), key=lambda fold: fold.start_line)
