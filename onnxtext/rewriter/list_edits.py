# SPDX-License-Identifier: Apache-2.0
"""Add, move and remove the items of a list in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.merger.texts import construct_rules
from onnxtext.merger.texts.text_parts import ListItems
from onnxtext.rewriter.text_edits import REST_OF_LINE, Edit, TextEdits
from onnxtext.source import line_start

TOP_LEVEL = frozenset(("head", "graph", "function", "section"))
_UP_TO_COMMA = re.compile(r"(?:[^,#]|#[^\n]*)*,")
_BLANKS = re.compile(r"[ \t]*")


@dataclass(slots=True)
class InsertedItem:
    """An item to insert: a new one, or one that moves with its comments.

    Attributes:
        body: the text of the item, without its comma.
        above: the comments above the item, each with its indentation.
        tail: the blanks and the comment that follow the item and its comma on their line.
        indent: the indentation of the item's line; None if the item has no line of its own.
    """

    body: str
    above: Sequence[str] = ()
    tail: str = ""
    indent: str | None = None

    def has_comments(self) -> bool:
        """Whether comments are above the item or follow it on its line."""
        return bool(self.above or self.tail.strip())

    def on_lines(self, comma: str, indent: str) -> str:
        """Return the item with its comments, on their own lines; the last line has no line end."""
        return "\n".join([*self.above, f"{indent}{self.body}{comma}{self.tail}"])

    def in_line(self, comma: str, indent: str) -> str:
        """Return the item as a part of a line, and its comments, if any, on lines above it."""
        lines = [line.strip() for line in (*self.above, self.tail)]
        above = "".join([f"\n{indent}{line}" for line in lines if line])
        return f"{above}\n{indent}" * bool(above) + self.body + comma


class ListEdits:
    """Adds, moves and removes the items of a list.

    An item is removed with its comma. If it has its own lines, the comment after it on its line is
    removed, too. A moved item keeps that comment, unless another item follows on the line. If it
    has its own lines, it also keeps the comments directly above it.
    """

    def __init__(self, edits: TextEdits, listed: ListItems, *, commas: bool) -> None:
        """Prepare to edit `listed`; call this before edits of its items are added to `edits`."""
        self.edits = edits
        self.text = edits.text
        self.listed = listed
        self.commas = commas
        self._first_edit = len(edits.edits)

    def lift(self, index: int, since: int) -> InsertedItem:
        """Remove an item from its place, apply its edits, and return the edited item.

        All edits in `edits` from the index `since` on must belong to this item.
        """
        part, end = self.listed.items[index].part, self._comma_end(index)
        body = self.edits.cut(part.start, part.end, since)
        above = comments_of(self.text[part.end : end])  # comments before the comma
        rest = self._rest_of_line(index)
        if rest is None:
            self.edits.replace(*self._on_line(index, end), "")
            return InsertedItem(body, above)
        tail = self.text[end:rest]
        if not self.edits.is_first_on_line(part.start):
            self.edits.replace(self.edits.blanks_before(part.start), rest, "")
            return InsertedItem(body, above, tail)
        start, indent = self._comments_above(index), self.edits.indent(part.start)
        above = [f"{indent}{comment}" for comment in above]
        above = [*self.text[start : line_start(self.text, part.start)].split("\n")[:-1], *above]
        if part.origin in TOP_LEVEL:
            start = self._blank_lines_before(start)
        self.edits.replace(start, self.edits.after_line_end(rest), "")
        return InsertedItem(body, above, tail, indent)

    def change(
        self, added: Mapping[int, Sequence[InsertedItem]], removed: set[int], lifted: set[int]
    ) -> None:
        """Insert and remove items; nothing can be inserted into an empty list.

        `added` maps the index of an item that stays to the items to insert after it. The key -1
        stands for the start of the list. `lifted` are the indices of the items that `lift` has
        removed.
        """
        items = self.listed.items
        if added and len(removed) == len(items):
            removed = removed - {0}
            self._replace_first([item.body for inserted in added.values() for item in inserted])
            added = {}
        gone = removed | lifted
        kept = [index for index in range(len(items)) if index not in gone]
        for index in removed:
            self._remove(index)
        final = kept[-1] if kept else -1
        for index, inserted in added.items():
            if index < 0:
                self._insert_before(kept[0], inserted)
            else:
                last = items[-1].comma if index == final else items[index].comma
                self._insert_after(index, inserted, "," if last and self.commas else "")
        if self.commas and final >= 0 and final not in added and not items[-1].comma:
            end, comma = items[final].part.end, self._comma_end(final)
            if comma > end:
                blanks = not self.text[end : comma - 1].strip(" \t")
                self.edits.replace(end if blanks else comma - 1, comma, "")

    def _comma_end(self, index: int) -> int:
        """Return the offset after an item and its comma."""
        item = self.listed.items[index]
        match = _UP_TO_COMMA.match(self.text, item.part.end) if item.comma else None
        return item.part.end if match is None else match.end()

    def _rest_of_line(self, index: int) -> int | None:
        """Return the end of the line of an item that shares its lines with no other item.

        Return None if the item shares a line, or if its last line also has the closing bracket.
        """
        if index > 0 and "\n" not in self.listed.items[index].lead:
            return None
        rest = REST_OF_LINE.match(self.text, self._comma_end(index))
        return None if rest is None else rest.end()

    def _comments_above(self, index: int) -> int:
        """Return the start of an item's first line, or of the comment lines directly above it."""
        item = self.listed.items[index]
        bound = self._comma_end(index - 1) if index else item.part.start - len(item.lead)
        start = line_start(self.text, item.part.start)
        while start > bound:
            above = line_start(self.text, start - 1)
            if above < bound or not self.text[above:start].strip():
                break
            start = above
        return start

    def _blank_lines_before(self, offset: int) -> int:
        """Return the start of the blank lines directly above the line that starts at `offset`.

        Return `offset` if no blank line is above it, or if the blank lines begin the text.
        """
        start = offset
        while start > 0 and not self.text[line_start(self.text, start - 1) : start].strip():
            start = line_start(self.text, start - 1)
        return start if start > 0 else offset

    def _on_line(self, index: int, end: int) -> tuple[int, int]:
        """Return the range to remove for an item that shares a line: the item and blanks beside it.

        `end` is the offset after the item and its comma.
        """
        items = self.listed.items
        start = items[index].part.start
        blanks = _BLANKS.match(self.text, end)
        following = end if blanks is None else blanks.end()
        if index + 1 < len(items) and items[index + 1].part.start == following:
            return start, following
        if not self.edits.is_first_on_line(start):
            start = self.edits.blanks_before(start)
        return start, end

    def _remove(self, index: int) -> None:
        part = self.listed.items[index].part
        start, end = part.start, self._comma_end(index)
        rest = REST_OF_LINE.match(self.text, end)
        if not self.edits.is_first_on_line(start) or rest is None:
            start, end = self._on_line(index, end)
        elif part.origin in TOP_LEVEL:
            start = self._blank_lines_before(line_start(self.text, start))
        self.edits.remove(start, end, is_statement=part.origin in construct_rules.STATEMENTS)

    def _replace_first(self, texts: Sequence[str]) -> None:
        """Replace the first item, and the comment after it, by items with the texts `texts`."""
        part, end = self.listed.items[0].part, self._comma_end(0)
        glue = ", " if self.commas else f"\n{self.edits.indent(part.start)}"
        self.edits.replace(part.start, part.end, glue.join(texts))
        rest = REST_OF_LINE.match(self.text, end)
        if rest is not None and "#" in rest.group():
            self.edits.edits.append(Edit(end, rest.end(), "", drops_comments=True))

    def _insert_after(self, index: int, inserted: Sequence[InsertedItem], last: str) -> None:
        """Insert items after an item; `last` is the comma after the last inserted item, or ""."""
        item = self.listed.items[index]
        offset = self._comma_end(index)
        if self.commas and not item.comma:
            self.edits.replace(offset, offset, ",")
        rest = REST_OF_LINE.match(self.text, offset)
        own_lines = rest is not None and self.edits.is_first_on_line(item.part.start)
        indents = [new.indent for new in inserted if new.indent is not None]
        if indents and not own_lines and self._rest_of_line(index) is not None:
            own_lines, indent = True, indents[0]
        elif own_lines or any(new.has_comments() for new in inserted):
            indent = self.edits.indent(item.part.start)
        else:
            indent = ""
        if own_lines and rest is not None:
            offset = rest.end()
        blank = "\n\n" if item.part.origin in TOP_LEVEL else "\n" if own_lines else " "
        commas = ["," if self.commas else ""] * (len(inserted) - 1) + [last]
        for new, comma in zip(inserted, commas, strict=True):
            text = new.on_lines(comma, indent) if own_lines else new.in_line(comma, indent)
            self.edits.replace(offset, offset, text if text[:1] == "\n" else blank + text)

    def _insert_before(self, index: int, inserted: Sequence[InsertedItem]) -> None:
        """Insert items before an item; in a bracketed list, also before the comments above it."""
        part = self.listed.items[index].part
        start, indent = part.start, self.edits.indent(part.start)
        own_lines = self.edits.is_first_on_line(start)
        comma = "," if self.commas else ""
        if own_lines:
            text = "".join([f"{new.on_lines(comma, indent)}\n" for new in inserted])
        else:
            text = "".join([f"{new.in_line(comma, indent)} " for new in inserted])
        if own_lines and self.listed.opening:
            start = self._comments_above(index)
        elif own_lines:  # the comments above belong to the construct that has the list
            text = text.removeprefix(indent) + indent
        self.edits.replace(start, start, text)
        # Put this edit before the edits of the item, which may be at the same offset.
        self.edits.edits.insert(self._first_edit, self.edits.edits.pop())
