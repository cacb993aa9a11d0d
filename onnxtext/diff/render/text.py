# SPDX-License-Identifier: Apache-2.0
"""A diff as text, in the form of `git diff`."""

from __future__ import annotations

from onnxtext.diagnostics.safe import safe
from onnxtext.diff.model import ModelDiff
from onnxtext.diff.render.hunks import VERDICTS, hunks

_COLORS = {"-": "31", "+": "32", "~": "33", "@": "36", "#": "2"}


def render(diff: ModelDiff, *, color: bool = False) -> str:
    """The text, with a final newline; "" for models without differences and notes.

    Args:
        diff: what to show.
        color: whether to colour it for a terminal.
    """
    parts = [hunk for hunk in hunks(diff) if hunk]
    if not parts:
        return ""
    lines = [
        _painted(f"--- {safe(diff.old_label)}", "1", color),
        _painted(f"+++ {safe(diff.new_label)}", "1", color),
    ]
    for hunk in parts:
        for mark, text in hunk:
            shown = f"@@ {safe(text)} @@" if mark == "@" else f"{mark}{safe(text)}"
            lines.append(_painted(shown, _COLORS.get(mark, ""), color))
    if diff.verdict in ("stored-differently", "names-differ"):
        lines.append(f"# {VERDICTS[diff.verdict]}")
    return "\n".join(lines) + "\n"


def _painted(text: str, sgr: str, color: bool) -> str:
    return f"\x1b[{sgr}m{text}\x1b[0m" if color and sgr else text
