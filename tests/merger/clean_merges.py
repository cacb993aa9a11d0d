# SPDX-License-Identifier: Apache-2.0
"""Check merges without conflicts."""

from __future__ import annotations

import onnxtext

HEADER = '<onnxtext: 1, ir_version: 10, opset_import: [20, "my": 1]>\n'
"""The header of all texts."""


def check_merge(base: str, ours: str, theirs: str, wanted: str, *, binary: bool) -> None:
    """Check a merge without conflicts, in both directions.

    Args:
        base: the text of the base without its header.
        ours: our text.
        theirs: their text.
        wanted: the text of the merge.
        binary: whether to merge binary models.
    """
    for sides in ((ours, theirs), (theirs, ours)):
        versions = [HEADER + text for text in (base, *sides)]
        found = onnxtext.merge(*[onnxtext.to_binary(t) if binary else t for t in versions])
        assert not found.conflicts
        if binary:
            assert found.content == onnxtext.to_binary(HEADER + wanted)
        else:
            assert str(found) == HEADER + wanted


def merges(base: str, ours: str, theirs: str, *, binary: bool) -> bytes | None:
    """Merge in both directions; return the merged model, or None for a conflict."""
    models = []
    for sides in ((ours, theirs), (theirs, ours)):
        versions = [HEADER + text for text in (base, *sides)]
        found = onnxtext.merge(*[onnxtext.to_binary(t) if binary else t for t in versions])
        models.append(None if found.conflicts else onnxtext.to_binary(str(found)))
    assert models[0] == models[1]
    return models[0]
