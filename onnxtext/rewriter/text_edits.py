# SPDX-License-Identifier: Apache-2.0
"""Collect edits of a text. Comments in edited ranges stay, above the edited statement."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from onnxtext.format.tokens_with_comments import comments_of, read_tokens
from onnxtext.source import line_start

REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
"""Matches blanks and a comment up to the end of the line."""
_LINE_END = re.compile(r"\r?\n")
_LEADING_BLANKS = re.compile(r"[ \t]*")


@dataclass(slots=True)
class Edit:
    """An edit of a range of a text.

    Attributes:
        new: the text that replaces it.
        drops_comments: whether the comments in the range are removed with their statement.
    """

    start: int
    end: int
    new: str
    drops_comments: bool = False


@dataclass
class TextEdits:
    """Edits of a text; their ranges do not overlap."""

    text: str
    edits: list[Edit] = field(default_factory=list)
    _end: str = ""

    def __post_init__(self) -> None:
        self._end = "\r\n" if "\r\n" in self.text else "\n"

    def apply(self) -> str:
        """Return the text with all edits."""
        return self._apply(0, len(self.text), self.edits)

    def cut(self, start: int, end: int, since: int) -> str:
        """Remove edits from the list, apply them to a range, and return its edited text.

        The edits from the index `since` on are removed. They must be in the range, or begin in the
        blanks before the range.
        """
        edits, self.edits[since:] = self.edits[since:], []
        text = self._apply(start, end, edits)
        return text.lstrip(" \t") if any(edit.start < start for edit in edits) else text

    def _apply(self, start: int, end: int, edits: list[Edit]) -> str:
        parts, offset = [], start
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self.text[offset : edit.start], edit.new]
            offset = edit.end
        return "".join([*parts, self.text[offset:end]])

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace a range."""
        self.edits.append(Edit(start, end, _LINE_END.sub(self._end, new)))

    def remove(self, start: int, end: int, *, is_statement: bool) -> None:
        """Remove an item and, if nothing else is on its lines, the comment that follows it.

        Comments on lines of their own inside the item stay. If `is_statement`, the other comments
        are dropped; otherwise, `keep_comments` writes them above the edited statement.
        """
        rest = REST_OF_LINE.match(self.text, end)
        if rest is None or not self.is_first_on_line(start):
            self.remove_part(start, end, is_statement=is_statement)
            return
        line, indent = line_start(self.text, start), self.indent(start)
        new = "".join([f"{indent}{comment}\n" for comment in self._comment_lines(start, end)])
        end = self.after_line_end(rest.end())
        self.edits.append(Edit(line, end, _LINE_END.sub(self._end, new), is_statement))

    def remove_part(self, start: int, end: int, *, is_statement: bool) -> None:
        """Remove a part of a line; comments on lines inside the part stay, as in `remove`."""
        kept = self._comment_lines(start, end)
        glue = f"\n{self.indent(start)}" if kept else ""
        new = "".join([f"{glue}{comment}" for comment in kept]) + glue
        self.edits.append(Edit(start, end, _LINE_END.sub(self._end, new), is_statement))

    def _comment_lines(self, start: int, end: int) -> list[str]:
        """Return the comments that have lines of their own in a range."""
        if "#" not in self.text[start:end]:
            return []
        leads = [token.lead for token in read_tokens(self.text[start:end])[1:]]
        return [comment.text for lead in leads for comment in lead]

    def keep_comments(self, start: int, since: int) -> None:
        """Insert, above a statement, the comments that its edits have removed.

        The statement begins at the offset `start`; its edits are `self.edits[since:]`. Edits with
        `drops_comments` do not count.
        """
        edits = [edit for edit in self.edits[since:] if not edit.drops_comments]
        old = [comment for e in edits for comment in comments_of(self.text[e.start : e.end])]
        if not old:
            return
        lost = Counter(old) - Counter([comment for e in edits for comment in comments_of(e.new)])
        indent = self.indent(start)
        lines = []
        for comment in old:
            if lost[comment] > 0:
                lost[comment] -= 1
                lines.append(f"{comment}\n{indent}")
        if lines:
            self.replace(start, start, "".join(lines))

    def after_line_end(self, offset: int) -> int:
        """Return the offset after the line end at `offset`; `offset` if there is no line end."""
        line_end = _LINE_END.match(self.text, offset)
        return offset if line_end is None else line_end.end()

    def indent(self, offset: int) -> str:
        """Return the indentation of the line that contains an offset."""
        match = _LEADING_BLANKS.match(self.text, line_start(self.text, offset), offset)
        return "" if match is None else match.group()

    def blanks_before(self, offset: int) -> int:
        """Return the start of the spaces and tabs that end at an offset."""
        while offset > 0 and self.text[offset - 1] in " \t":
            offset -= 1
        return offset

    def is_first_on_line(self, offset: int) -> bool:
        """Whether only spaces and tabs precede an offset on its line."""
        start = self.blanks_before(offset)
        return start == 0 or self.text[start - 1] == "\n"
