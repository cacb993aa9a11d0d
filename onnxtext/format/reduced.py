# SPDX-License-Identifier: Apache-2.0
"""Large texts: the statements of long lists are formatted one by one.

Runs of nodes and values of the main graph and of the functions are taken out, and one short
statement stands for each run while the rest is formatted. So the long way is walked only where
it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.format.bulk import NodeWriter, ValueWriter, Writer
from onnxtext.format.document import write_document
from onnxtext.format.gaps import gap_text
from onnxtext.format.spelled import SpelledPrinter
from onnxtext.printer.layout import STEP

FEWEST = 100
"""In texts with fewer statements than this nothing is taken out."""

_KEPT = "__kept_by_fmt_"


def write_large(text: str, model: Model) -> str:
    """What `write_document` makes of a text.

    Args:
        text: the text, without a byte order mark.
        model: its syntax tree.
    """
    short = shorten(text, model)
    return write_document(text) if short is None else short.put_back(write_document(short.text()))


def shorten(text: str, model: Model) -> Cut | None:
    """A text without its long lists, which are formatted already; None if it has none.

    Args:
        text: the text, without a byte order mark.
        model: its syntax tree.
    """
    owners = [model.graph, *model.functions]
    count = sum(len(owner.nodes) + len(owner.values) for owner in owners)
    if "# fmt:" in text or _KEPT in text or count < FEWEST:
        return None
    cut = Cut(text)
    for owner in owners:
        cut.take_out(owner.values, cut.values, "")
        cut.take_out(owner.nodes, cut.nodes, " = K ()")
    return cut


class Cut:
    """A text from which runs of statements are taken out."""

    def __init__(self, source: str) -> None:
        self.source = source
        printer = SpelledPrinter()
        self.nodes = NodeWriter(printer)
        self.values = ValueWriter(printer)
        self._printer = printer
        self._parts: list[str] = []
        self._at = 0
        self._runs: list[str] = []

    def take_out(self, items: Sequence[Node | ValueInfo], writer: Writer, rest: str) -> None:
        """Take out the items of a list, but the last one.

        Args:
            items: in the order of the text.
            writer: formats them.
            rest: what makes a statement of a name.
        """
        source, quick = self.source, writer.quick
        is_word = str.isidentifier
        run: list[str] = []
        start = 0  # where the run begins
        gap: str | None = ""  # behind its last statement; None if these are just the last blanks
        text = ""
        for item, following in pairwise(items):
            text_before, text = text, source[item.at : following.at]
            parts = text.split('"')
            names = parts[1::2]
            texts = quick.get('"'.join(parts[::2]))
            if (
                texts is not None
                and "\\" not in text
                and not any(map(is_word, names))
                and "".join(names).isprintable()
            ):
                parts[::2] = texts
                written, gap = "".join(parts), None
            else:
                done = writer.write(text, item)
                if done is None or (done.comments and not run and _is_below_blank(source, item.at)):
                    self._add(run, start, item.at, _gap(gap, text_before), writer.comma, rest)
                    run = []
                    continue
                gap = done.gap
                written = done.statement + gap_text(gap, STEP)
                if done.comments:
                    written = _below(run, done.comments) + written
            if not run:
                start = item.at
            run.append(written)
        if items:
            self._add(run, start, items[-1].at, _gap(gap, text), writer.comma, rest)

    def _add(self, run: list[str], start: int, end: int, gap: str, comma: str, rest: str) -> None:
        """Take out a run; what stands behind its last statement stays."""
        if not run:
            return
        end -= len(gap) + len(comma)
        run[-1] = run[-1].removesuffix(comma + gap_text(gap, STEP))
        self._parts += [self.source[self._at : start], f"{_KEPT}{len(self._runs)}{rest}"]
        self._at = end
        self._runs.append("".join(run))

    def is_proven(self) -> bool:
        """Whether all that was taken out surely has the same syntax tree."""
        return self.nodes.is_proven() and self.values.is_proven()

    def text(self) -> str:
        """The text without what was taken out."""
        return "".join([*self._parts, self.source[self._at :]])

    def put_back(self, formatted: str) -> str:
        """The formatted text with what was taken out."""
        return re.sub(
            rf"{_KEPT}(\d+)(?: = K \(\))?", lambda found: self._runs[int(found[1])], formatted
        )


def _gap(gap: str | None, text: str) -> str:
    """What stands behind a statement, given the text from there to the next one."""
    return text[len(text.rstrip()) :] if gap is None else gap


def _below(run: list[str], comments: list[str]) -> str:
    """Comments on lines above a statement, from its beginning on; a blank line stays below them."""
    blank = ""
    if run and run[-1].endswith(f"\n\n{STEP}"):
        run[-1] = run[-1][: -len(STEP) - 1] + STEP
        blank = "\n"
    return f"\n{STEP}".join(comments) + f"\n{blank}{STEP}"


def _is_below_blank(source: str, at: int) -> bool:
    """Whether the line above is blank."""
    end = source.rfind("\n", 0, at)
    return end >= 0 and not source[source.rfind("\n", 0, end) + 1 : end].strip()
