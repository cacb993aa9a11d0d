# SPDX-License-Identifier: Apache-2.0
"""Apply the edits of fixes to a text."""

from __future__ import annotations

from collections.abc import Iterable

from onnxtext.diagnostics.model import Edit


def apply_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """Apply edits to a text; return the new text.

    Args:
        text: the text.
        edits: the edits; their spans must not overlap.
        start: the offset at which the returned part begins; no edit may begin before it.
        end: the offset at which this part ends in `text`; None for the end of the text.
    """
    parts = []
    offset = start
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[offset : edit.span.start], edit.text]
        offset = edit.span.end
    return "".join([*parts, text[offset:end]])
