# SPDX-License-Identifier: Apache-2.0
"""Write lists with the comments and blank lines of their items, and `# fmt: off` regions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from onnxtext.format.attach import Item, Listing
from onnxtext.format.tokens import Comment, Token
from onnxtext.format.tree import Tree
from onnxtext.printer.layout import STEP, WIDTH, flat_items
from onnxtext.printer.statements import Literal

OFF, ON, SKIP = "# fmt: off", "# fmt: on", "# fmt: skip"


class ListWriter:
    """Writes lists.

    Attributes:
        source: the text that is formatted.
        width: the maximum number of columns of a line of a statement.
    """

    def __init__(self, source: str, width: int = WIDTH) -> None:
        self.source = source
        self.width = width
        # Spans of the source that were copied verbatim; they do not overlap.
        self._starts: list[int] = []
        self._ends: list[int] = []

    def is_kept(self, place: Comment | Token) -> bool:
        """Whether a comment or token is in a verbatim span."""
        before = bisect_right(self._starts, place.at) - 1
        return before >= 0 and place.at < self._ends[before]

    def _begins(self, comment: Comment, first: Token) -> bool:
        """Whether a `# fmt: off` region begins with a comment; not inside of a statement."""
        if comment.at > first.at or self.is_kept(comment):
            return False
        if any(other.text == ON and other.at > comment.at for other in first.lead):
            return False  # the region ends before the item
        lines = self.source[comment.at : first.at].split("\n")
        return all(line.strip()[:1] in ("", "#") for line in lines)

    def _keep(self, start: int, end: int) -> str:
        """Copy a span of the source verbatim."""
        inner = slice(bisect_left(self._starts, start), bisect_left(self._starts, end))
        self._starts[inner] = [start]
        self._ends[inner] = [end]
        return self.source[start:end].rstrip()

    def repeatable(self, write: Literal) -> Literal:
        """Return a function that may write the same literal several times."""
        starts, ends = list(self._starts), list(self._ends)

        def write_again(indent: str, budget: int) -> str:
            self._starts, self._ends = list(starts), list(ends)
            return write(indent, budget)

        return write_again

    def bracketed(
        self,
        tree: Tree,
        found: Listing,
        texts: Sequence[str],
        brackets: str,
        indent: str,
        budget: int,
    ) -> str:
        """Write a list: flat if it fits and has no comments, else one item per line."""
        if not tree.commented and not any("\n" in text for text in texts):
            flat = f"{brackets[:-1]}{flat_items(texts, brackets[-1])}{brackets[-1]}"
            if len(flat) <= budget:
                return flat
        return self.broken(found, texts, brackets, indent)

    def broken(
        self, found: Listing, texts: Sequence[str], brackets: str, indent: str, comma: str = ","
    ) -> str:
        """Write a list with one item per line, indented by one step."""
        inner = indent + STEP
        opening = brackets[:-1]
        if found.opening.trail is not None and not self.is_kept(found.opening.trail):
            opening += f" {found.opening.trail.text}"
        lines = self.item_lines(found.items, texts, inner, comma)
        lines += self.lead_lines(found.closing.lead, inner, started=bool(lines))
        return "\n".join([opening, *lines, indent + brackets[-1]])

    def item_lines(
        self, items: Sequence[Item], texts: Sequence[str], indent: str, comma: str
    ) -> list[str]:
        """Return the lines of items with their comments and blank lines."""
        lines: list[str] = []
        # The `=` of a last item may be part of a `=>` token, which does not belong to the item.
        split = items[-1] if items and items[-1].tree.origin.startswith("dataless") else None
        for number, (item, text) in enumerate(zip(items, texts, strict=True)):
            first, last = item.tree.first(), item.tree.last()
            if first is None or last is None or self.is_kept(first):
                continue
            off = next((c for c in first.lead if c.text == OFF and self._begins(c, first)), None)
            if off is not None and split is None:
                above = first.lead[: first.lead.index(off)]
                lines += self.lead_lines(above, indent, started=bool(lines))
                if off.blank and lines:
                    lines.append("")
                lines.append(indent + self._as_it_is(off, items[number:]))
                continue
            behind, shown = last.trail, text
            skipped = behind is not None and behind.text.startswith(SKIP)
            if skipped and item is not split:
                shown = self._keep(first.at, last.end)  # with the comments inside of it
            lines += self.lead_lines(first.lead, indent, started=bool(lines))
            if first.blank and lines:
                lines.append("")
            lines.append(f"{indent}{shown}{comma}{f' {behind.text}' if behind else ''}")
        return lines

    def lead_lines(self, comments: Sequence[Comment], indent: str, *, started: bool) -> list[str]:
        """Return comments on their own lines."""
        lines: list[str] = []
        for comment in comments:
            if self.is_kept(comment):
                continue
            if comment.blank and (started or lines):
                lines.append("")
            lines.append(indent + comment.text)
        return lines

    def _as_it_is(self, off: Comment, items: Sequence[Item]) -> str:
        """Copy the source from `# fmt: off` to before `# fmt: on`, or to the end of the list."""
        comma: Token | None = None  # before the item
        for item in items:
            first = item.tree.first()
            for comment in first.lead if first is not None else ():
                if comment.text == ON and first is not None and off.at < comment.at < first.at:
                    text = self._keep(off.at, comment.at)
                    if comma is None or comma.at < comment.at:
                        return text
                    return text + ("\n," if "#" in text.rpartition("\n")[2] else ",")
            comma = item.comma
        last: Token | None = items[-1].comma or items[-1].tree.last()
        assert last is not None
        end = self.source.find("\n", last.end)
        line = self.source[last.end : end if end >= 0 else len(self.source)]
        end = last.end + (len(line) if line.lstrip().startswith("#") else 0)
        return self._keep(off.at, end)
