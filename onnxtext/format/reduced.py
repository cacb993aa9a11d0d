# SPDX-License-Identifier: Apache-2.0
"""Large texts: what differs from the printed form in blanks only is formatted by printing it.

Runs of such nodes and values of the main graph are taken out, and one short statement stands for
each of them while the rest is formatted. So the long way is walked only where it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.format.document import write_document
from onnxtext.printer.graphs import GraphPrinter
from onnxtext.printer.layout import STEP

FEWEST = 100
"""In lists with fewer items than this nothing is taken out."""

_KEPT = "__kept_by_fmt_"


def write_large(text: str, model: Model) -> str:
    """What `write_document` makes of a text.

    Args:
        text: the text, without a byte order mark.
        model: its syntax tree.
    """
    graph = model.graph
    if "# fmt:" in text or _KEPT in text or max(len(graph.nodes), len(graph.values)) < FEWEST:
        return write_document(text)
    printer = GraphPrinter()
    cut = _Cut(text)
    cut.take_out(graph.values, printer.value_text, ",", "")
    cut.take_out(graph.nodes, printer.node_text, "", " = K ()")
    return cut.put_back(write_document(cut.reduced()))


class _Cut:
    """A text from which runs of statements are taken out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts: list[str] = []
        self._at = 0
        self._runs: list[str] = []

    def take_out(
        self,
        items: Sequence[Node | ValueInfo],
        print_item: Callable[..., str],
        comma: str,
        rest: str,
    ) -> None:
        """Take out the items that differ from the printed form in blanks only.

        Args:
            items: of one list, in the order of the text.
            print_item: prints one.
            comma: what stands behind each.
            rest: what makes a statement of a name.
        """
        text = self.text
        run: list[str] = []
        start = end = 0
        blank = ""  # what keeps a blank line before the next item
        for item, following in pairwise(items):
            source = text[item.at : following.at]
            bare = source.rstrip()
            printed = print_item(item, STEP) if "#" not in source else ""
            if not printed or "".join(bare.split()) != "".join(printed.split()) + comma:
                self._add(run, start, end, rest)
                run = []
                continue
            if run:
                run.append(f"{comma}\n{blank}{STEP}")
            else:
                start = item.at
            run.append(printed)
            end = item.at + len(bare) - len(comma)
            blank = "\n" if source.count("\n", len(bare)) > 1 else ""
        self._add(run, start, end, rest)

    def _add(self, run: list[str], start: int, end: int, rest: str) -> None:
        if run:
            self._parts += [self.text[self._at : start], f"{_KEPT}{len(self._runs)}{rest}"]
            self._at = end
            self._runs.append("".join(run))

    def reduced(self) -> str:
        """The text without what was taken out."""
        return "".join([*self._parts, self.text[self._at :]])

    def put_back(self, formatted: str) -> str:
        """The formatted text with what was taken out."""
        return re.sub(
            rf"{_KEPT}(\d+)(?: = K \(\))?", lambda found: self._runs[int(found[1])], formatted
        )
