# SPDX-License-Identifier: Apache-2.0
"""Render a diff as text in the style of `git diff`."""

from __future__ import annotations

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.differ.render.hunks import VERDICTS, hunks_of_items
from onnxtext.differ.result import ModelDiff

_COLORS = {"-": "31", "+": "32", "~": "33", "@": "36", "#": "2"}


def render(diff: ModelDiff, *, color: bool = False, every: bool = False) -> str:
    """Return the diff as text; "" for a diff without differences and notes.

    Args:
        diff: the diff.
        color: whether to color the text for a terminal.
        every: whether to show every difference; if not, a large diff is grouped.
    """
    parts = list(hunks_of_items(diff, every=every))
    if not parts:
        return ""
    lines = [
        _colorize(f"--- {escape_controls(diff.old_label)}", "1", color),
        _colorize(f"+++ {escape_controls(diff.new_label)}", "1", color),
    ]
    for hunk in parts:
        for line in hunk.lines:
            lines.append(_colorize(line.content(), _COLORS.get(line.mark, ""), color))
    if diff.verdict in ("stored-differently", "names-differ"):
        lines.append(f"# {VERDICTS[diff.verdict]}")
    return "\n".join(lines) + "\n"


def _colorize(text: str, sgr: str, color: bool) -> str:
    return f"\x1b[{sgr}m{text}\x1b[0m" if color and sgr else text
