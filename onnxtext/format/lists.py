# SPDX-License-Identifier: Apache-2.0
"""Write lists with the comments and blank lines of their items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from onnxtext.format.attach_comments import CommentedList, ListItem
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.fmt_off import OFF, SKIP, VerbatimSpans
from onnxtext.format.tokens_with_comments import Comment
from onnxtext.printer.layout import STEP, WIDTH, flat_items, line_starts, wrap_items


class ListWriter(VerbatimSpans):
    """Writes lists."""

    def bracketed(
        self,
        tree: Tree,
        listing: CommentedList,
        texts: Sequence[str],
        brackets: str,
        indent: str,
        budget: int,
    ) -> str:
        """Write a list on one line if it fits and has no comments, else with one item per line.

        `brackets` has the opening text and the closing bracket, such as `[]` or `@doc()`. `texts`
        are the formatted items.
        """
        if not tree.commented and not any("\n" in text for text in texts):
            flat = f"{brackets[:-1]}{flat_items(texts, brackets[-1])}{brackets[-1]}"
            if len(flat) <= budget:
                return flat
        return self.broken(listing, texts, brackets, indent)

    def broken(
        self,
        listing: CommentedList,
        texts: Sequence[str],
        brackets: str,
        indent: str,
        comma: str = ",",
    ) -> str:
        """Write a list with one item per line, indented by one step and followed by `comma`.

        For `texts` and `brackets`, see `bracketed`.
        """
        inner = indent + STEP
        opening = brackets[:-1]
        if listing.opening.trail is not None and not self.is_kept(listing.opening.trail):
            opening += f" {listing.opening.trail.text}"
        lines = self.item_lines(listing.items, texts, inner, comma)
        lines += self.lead_lines(listing.closing.lead, inner, started=bool(lines))
        return "\n".join([opening, *lines, indent + brackets[-1]])

    def filled(
        self, listing: CommentedList, texts: Sequence[str], brackets: str, indent: str
    ) -> str:
        """Write a list of numbers or strings with comments, in filled lines.

        For `texts` and `brackets`, see `bracketed`. A line ends at each comment and blank line. If
        a source line ends in a comment, its items stay on one line if they fit.
        """
        width = WIDTH - len(indent) - len(STEP)
        starts = self._row_starts(listing.items, texts, width)
        items: list[ListItem] = []
        rows: list[str] = []
        for start, end in pairwise([*starts, len(texts)]):
            row = listing.items[start:end]
            items.append(ListItem(Tree("row", "", [item.tree for item in row]), row[-1].comma))
            rows.append(", ".join(texts[start:end]))
        return self.broken(
            CommentedList(listing.opening, items, listing.closing), rows, brackets, indent
        )

    def _row_starts(
        self, items: Sequence[ListItem], texts: Sequence[str], width: int
    ) -> Sequence[int]:
        """Return the index of the first item of each line of a filled list with comments.

        `texts` are the formatted items; `width` is the maximum width of a line.
        """
        starts: list[int] = []
        start = 0  # the first item after the last comment
        line = 0  # the first item on the current line of the source
        for index, item in enumerate(items):
            if index and "\n" in self.source[items[index - 1].first.at : item.first.at]:
                line = index
            following = items[index + 1].first if index + 1 < len(items) else None
            trailing = item.last.trail is not None
            if following and not trailing and not following.lead and not following.blank:
                continue
            end = index + 1
            cuts = [start, end]
            if trailing and len(wrap_items(texts[line:end], width)) == 1:
                cuts.insert(1, max(line, start))
            for first, last in pairwise(cuts):
                if first < last:
                    starts += [first + at for at in line_starts(texts[first:last], width)]
            start = end
        return starts

    def item_lines(
        self, items: Sequence[ListItem], texts: Sequence[str], indent: str, comma: str
    ) -> list[str]:
        """Return the lines of items, given their `texts`, with their comments and blank lines."""
        lines: list[str] = []
        # If the last item has no data, its `=` and the `>` after the list may be one token `=>`.
        partial = items[-1] if items and items[-1].tree.origin.startswith("dataless") else None
        for index, (item, text) in enumerate(zip(items, texts, strict=True)):
            first, last = item.first, item.last
            if self.is_kept(first):
                continue
            off = next(
                (c for c in first.lead if c.text == OFF and self.begins_region(c, first)), None
            )
            if off is not None and partial is None:
                comment_above = first.lead[: first.lead.index(off)]
                lines += self.lead_lines(comment_above, indent, started=bool(lines))
                if off.blank and lines:
                    lines.append("")
                lines.append(indent + self.copy_region(off, items[index:]))
                continue
            trailing, shown = last.trail, text
            skipped = trailing is not None and trailing.text.startswith(SKIP)
            if skipped and item is not partial:
                shown = self.keep(first.at, last.end)  # keeps the comments inside the item
            lines += self.lead_lines(first.lead, indent, started=bool(lines))
            if first.blank and lines:
                lines.append("")
            lines.append(f"{indent}{shown}{comma}{f' {trailing.text}' if trailing else ''}")
        return lines

    def lead_lines(self, comments: Sequence[Comment], indent: str, *, started: bool) -> list[str]:
        """Return comments before an item or closing bracket as lines, with their blank lines.

        `started` is whether other lines of the list precede: only then, a blank line may be first.
        """
        lines: list[str] = []
        for comment in comments:
            if self.is_kept(comment):
                continue
            if comment.blank and (started or lines):
                lines.append("")
            lines.append(indent + comment.text)
        return lines
