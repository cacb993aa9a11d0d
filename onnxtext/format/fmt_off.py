# SPDX-License-Identifier: Apache-2.0
"""Copy the regions that `# fmt: off`, `# fmt: on` and `# fmt: skip` mark, without formatting."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from onnxtext.format.attach_comments import ListItem
from onnxtext.format.tokens_with_comments import Comment, CommentedToken
from onnxtext.printer.statement_layout import Literal

MARK = "# fmt:"
OFF, ON, SKIP = f"{MARK} off", f"{MARK} on", f"{MARK} skip"


class VerbatimSpans:
    """Copies spans of the text `source` verbatim, and records the copied spans."""

    def __init__(self, source: str) -> None:
        self.source = source
        # The starts and the ends of the recorded spans, ascending; the spans do not overlap.
        self._starts: list[int] = []
        self._ends: list[int] = []

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

    def copy_region(self, off: Comment, items: Sequence[ListItem]) -> str:
        """Copy the source from the comment `off` up to `# fmt: on`, or to the end of the list.

        `items` are the items of the list after `off`.
        """
        comma: CommentedToken | None = None  # the comma before `item`
        for item in items:
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
