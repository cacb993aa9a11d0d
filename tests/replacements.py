# SPDX-License-Identifier: Apache-2.0
"""Edit texts by replacements."""

from __future__ import annotations


def replaced(text: str, *edits: tuple[str, str]) -> str:
    """Replace parts of a text that must occur in it; each edit is (old, new)."""
    for old, new in edits:
        assert old in text, (old, text)
        text = text.replace(old, new)
    return text
