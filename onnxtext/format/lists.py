# SPDX-License-Identifier: Apache-2.0
"""Write lists with the comments and blank lines of their items."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from onnxtext.format.attach_comments import CommentedList, ListItem
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.tokens_with_comments import Comment, CommentedToken
from onnxtext.printer.layout import STEP, WIDTH, flat_items, line_starts, wrap_items
from onnxtext.printer.statement_layout import Literal

MARK = "# fmt:"
OFF, ON, SKIP = f"{MARK} off", f"{MARK} on", f"{MARK} skip"
"""The comments that mark regions to copy without formatting."""


class ListWriter:
    """Writes lists; copies verbatim spans of the text `source`, and records the copied spans."""

    def __init__(self, source: str) -> None:
        self.source = source
        # The starts and the ends of the recorded spans, ascending; the spans do not overlap.
        self._starts: list[int] = []
        self._ends: list[int] = []

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
                lines.append(indent + self.copy_region(off, items, index))
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

        `started` tells whether other lines of the list precede: only then, a blank line may be
        first.
        """
        lines: list[str] = []
        for comment in comments:
            if self.is_kept(comment):
                continue
            if comment.blank and (started or lines):
                lines.append("")
            lines.append(indent + comment.text)
        return lines

    def is_kept(self, comment_or_token: Comment | CommentedToken) -> bool:
        """Whether a comment or token is in a recorded verbatim span."""
        before = bisect_right(self._starts, comment_or_token.at) - 1
        return before >= 0 and comment_or_token.at < self._ends[before]

    def begins_region(self, comment: Comment, first: CommentedToken) -> bool:
        """Whether a `# fmt: off` comment begins a region at the statement that follows it.

        The result is False if the comment is in a copied span or inside the statement, or if code
        or `# fmt: on` is between the comment and the statement.

        `first` is the first token of the statement.
        """
        if comment.at > first.at or self.is_kept(comment):
            return False
        if any(other.text == ON and other.at > comment.at for other in first.lead):
            return False  # the region ends before the statement
        lines = self.source[comment.at : first.at].split("\n")
        return all(line.strip()[:1] in ("", "#") for line in lines)

    def keep(self, start: int, end: int) -> str:
        """Record a verbatim span instead of the spans inside it; return its source.

        The result has no white space at the end.
        """
        inner = slice(bisect_left(self._starts, start), bisect_left(self._starts, end))
        self._starts[inner] = [start]
        self._ends[inner] = [end]
        return self.source[start:end].rstrip()

    def repeatable(self, write: Literal) -> Literal:
        """Wrap a function that writes a literal, so that it can be called several times.

        Each call first discards the verbatim spans that were recorded after the wrapping.
        """
        starts, ends = list(self._starts), list(self._ends)

        def write_again(indent: str, budget: int) -> str:
            self._starts, self._ends = list(starts), list(ends)
            return write(indent, budget)

        return write_again

    def copy_region(self, off: Comment, items: Sequence[ListItem], first: int) -> str:
        """Copy the source from the comment `off` up to `# fmt: on`, or to the end of the list.

        `items` are the items of the list; `first` is the index of the first one after `off`.
        """
        comma: CommentedToken | None = None  # the comma before `item`
        for index in range(first, len(items)):  # a slice would copy all later items
            item = items[index]
            for comment in item.first.lead:
                if comment.text == ON and off.at < comment.at < item.first.at:
                    text = self.keep(off.at, comment.at)
                    if comma is None or comma.at < comment.at:
                        return text
                    return text + ("\n," if "#" in text.rpartition("\n")[2] else ",")
            comma = item.comma
        last = items[-1].comma or items[-1].last
        end = self.source.find("\n", last.end)
        line = self.source[last.end : end if end >= 0 else len(self.source)]
        end = last.end + (len(line) if line.lstrip().startswith("#") else 0)
        return self.keep(off.at, end)
