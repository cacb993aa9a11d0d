# SPDX-License-Identifier: Apache-2.0
"""Render a diff as Markdown, for comments on pull requests."""

from __future__ import annotations

import re

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.differ.render.hunks import VERDICTS, hunks_of_items
from onnxtext.differ.render.stat import ACTIONS, count_items
from onnxtext.differ.result import ModelDiff
from onnxtext.plurals import count_noun

MAX_CHARACTERS = 60_000
"""Maximum length of the hunks; GitHub rejects comments of more than 65,536 characters."""


def render(diff: ModelDiff, *, every: bool = False) -> str:
    """Return the verdict, a table of counts, and the hunks in a collapsed section, as Markdown.

    Hunks that do not fit into `MAX_CHARACTERS` are left out. All content from the models is in code
    blocks, so that nothing is interpreted as Markdown, HTML, a mention or a link. The fence of a
    block is longer than any fence in its content.
    """
    title = f"### {inline_code(diff.old_label)} → {inline_code(diff.new_label)}"
    lines = [title, "", f"{VERDICTS[diff.verdict].capitalize()}.", ""]
    counts = count_items(diff)
    if counts:
        lines += ["| | " + " | ".join(ACTIONS) + " |", "| --- |" + " ---: |" * len(ACTIONS)]
        for kind, by_action in counts.items():
            cells = " | ".join(
                [f"{by_action[action]:,}" if by_action[action] else "" for action in ACTIONS]
            )
            lines.append(f"| {kind} | {cells} |")
        lines.append("")
    body, left_out = _body(diff, every=every)
    if body:
        fence = "`" * max(3, max(map(len, re.findall("`+", body)), default=0) + 1)
        lines += ["<details><summary>Details</summary>", "", f"{fence}diff", body, fence, ""]
        if left_out:
            hunks = count_noun(left_out, "hunk")
            lines += [f"{hunks} left out, because the comment would be too long.", ""]
        lines += ["</details>", ""]
    return "\n".join(lines)


def _body(diff: ModelDiff, *, every: bool) -> tuple[str, int]:
    """Return the hunks that fit into `MAX_CHARACTERS`, in order, and the number left out."""
    parts: list[str] = []
    size = 0
    left_out = 0
    for hunk in hunks_of_items(diff, every=every):
        # GitHub highlights lines that begin with `!` as changes.
        lines = [line._replace(mark="!") if line.mark == "~" else line for line in hunk.lines]
        text = "\n".join([line.content() for line in lines])
        length = len(text) + 1
        if size + length > MAX_CHARACTERS:
            left_out += 1
        else:
            size += length
            parts.append(text)
    return "\n".join(parts), left_out


def inline_code(text: str) -> str:
    """Format untrusted text as inline code."""
    shown = escape_controls(text)
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{ticks}{space}{shown}{space}{ticks}"
