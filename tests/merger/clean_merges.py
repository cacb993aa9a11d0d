# SPDX-License-Identifier: Apache-2.0
"""Merge texts, or the binary models of the texts, and check merges without conflicts."""

from __future__ import annotations

import onnxtext
from onnxtext.merger import MergeResult

HEADER = '<onnxtext: 1, ir_version: 10, opset_import: [20, "my": 1]>\n'
"""The header of most texts."""


def merge(*texts: str, binary: bool) -> MergeResult:
    """Merge three texts, or their binary models: the base, ours and theirs."""
    return onnxtext.merge(*[onnxtext.to_binary(text) if binary else text for text in texts])


def check_merge(
    base: str, ours: str, theirs: str, wanted: str, *, binary: bool, header: str = HEADER
) -> None:
    """Check a merge without conflicts, in both directions.

    Args:
        base: the text of the base without its header.
        ours: our text.
        theirs: their text.
        wanted: the text of the merge.
        binary: whether to merge binary models.
        header: the header of all texts.
    """
    for sides in ((ours, theirs), (theirs, ours)):
        found = merge(*[header + text for text in (base, *sides)], binary=binary)
        assert not found.conflicts, found
        if binary:
            assert found.content == onnxtext.to_binary(header + wanted)
        else:
            assert str(found) == header + wanted


def merges(base: str, ours: str, theirs: str, *, binary: bool) -> bytes | None:
    """Merge in both directions; return the merged model, or None for a conflict."""
    models = []
    for sides in ((ours, theirs), (theirs, ours)):
        found = merge(*[HEADER + text for text in (base, *sides)], binary=binary)
        models.append(None if found.conflicts else onnxtext.to_binary(str(found)))
    assert models[0] == models[1]
    return models[0]
