# SPDX-License-Identifier: Apache-2.0
"""Collect edits of a text. Comments in edited ranges stay, above the edited statement."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from onnxtext.format.tokens_with_comments import comments_of, read_tokens

REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|\Z)")
"""Matches blanks and a comment up to the end of the line."""
_LINE_END = re.compile(r"\r?\n")
_LEADING_BLANKS = re.compile(r"[ \t]*")


@dataclass(slots=True)
class Edit:
    """An edit of a range of a text.

    Attributes:
        start: the start of the range.
        end: the end of the range.
        new: the text that replaces it.
        drops_comments: whether the comments in the range are dropped with a removed statement.
    """

    start: int
    end: int
    new: str
    drops_comments: bool = False


@dataclass
class TextEdits:
    """Edits of a text; their ranges do not overlap.

    Attributes:
        text: the text before the edits.
        edits: the edits so far.
    """

    text: str
    edits: list[Edit] = field(default_factory=list)
    _end: str = ""

    def __post_init__(self) -> None:
        self._end = "\r\n" if "\r\n" in self.text else "\n"

    def apply(self) -> str:
        """Return the text with all edits."""
        parts, offset = [], 0
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self.text[offset : edit.start], edit.new]
            offset = edit.end
        return "".join([*parts, self.text[offset:]])

    def replace(self, start: int, end: int, new: str) -> None:
        """Replace a range."""
        self.edits.append(Edit(start, end, _LINE_END.sub(self._end, new)))

    def covers(self, offset: int) -> bool:
        """Whether an edit replaces the character at an offset."""
        return any(edit.start <= offset < edit.end for edit in self.edits)

    def remove(self, start: int, end: int, *, is_statement: bool) -> None:
        """Remove an item and the comment behind it; comments on lines inside the item stay.

        Args:
            start: the start of the item.
            end: the end of the item.
            is_statement: whether to drop its other comments. If not, `keep_comments` keeps them.
        """
        line, indent = self.line_start(start), self.indent(start)
        rest = REST_OF_LINE.match(self.text, end)
        if rest is None or not self.is_first_on_line(start):
            self.remove_part(start, end, is_statement=is_statement)
            return
        new = "".join([f"{indent}{comment}\n" for comment in self._comment_lines(start, end)])
        line_end = _LINE_END.match(self.text, rest.end())
        end = rest.end() if line_end is None else line_end.end()
        self.edits.append(Edit(line, end, _LINE_END.sub(self._end, new), is_statement))

    def remove_part(self, start: int, end: int, *, is_statement: bool) -> None:
        """Remove a part of a line; comments on lines inside the part stay, as in `remove`."""
        indent, kept = self.indent(start), self._comment_lines(start, end)
        new = "".join([f"\n{indent}{comment}" for comment in kept]) + f"\n{indent}" * bool(kept)
        self.edits.append(Edit(start, end, _LINE_END.sub(self._end, new), is_statement))

    def _comment_lines(self, start: int, end: int) -> list[str]:
        """Return the comments in a range that have their own lines."""
        leads = [token.lead for token in read_tokens(self.text[start:end])[1:]]
        return [comment.text for lead in leads for comment in lead]

    def keep_comments(self, start: int, since: int) -> None:
        """Write the comments that edits of a statement have removed above the statement.

        Args:
            start: the offset of the statement.
            since: the index of the first of these edits.
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

    def line_start(self, offset: int) -> int:
        """Return the offset of the line that contains an offset."""
        return self.text.rfind("\n", 0, offset) + 1

    def indent(self, offset: int) -> str:
        """Return the indentation of the line that contains an offset."""
        match = _LEADING_BLANKS.match(self.text, self.line_start(offset), offset)
        return "" if match is None else match.group()

    def is_first_on_line(self, offset: int) -> bool:
        """Whether only blanks precede an offset on its line."""
        return not self.text[self.line_start(offset) : offset].strip()
