# SPDX-License-Identifier: Apache-2.0
"""Printing a text with the spelling its attributes have in it.

The formatter keeps how a number is written and the type of an attribute that could be left out, as
official texts have it everywhere. Lists of attributes that are spelled alike are one object in the
syntax tree, so few of them have to be looked at.
"""

from __future__ import annotations

from itertools import zip_longest

from onnxtext.ast.model import Model, Node, ValueInfo
from onnxtext.format.document import write_document
from onnxtext.printer.graphs import GraphPrinter
from onnxtext.printer.layout import STEP
from onnxtext.source import Source
from onnxtext.syntax.locate import locate

MOST = 1000
"""More statements with a spelling of their own than these are not looked at."""

LONGEST = 10_000
"""Longer statements are not looked at."""

_END = "float end_of_the_list"


class SpelledPrinter(GraphPrinter):
    """Prints attributes and initializers of the main graph as they are spelled in the text.

    Attributes:
        kept: how many lists of attributes and initializers the text spells in its own way.
    """

    def __init__(self, source: Source, model: Model) -> None:
        """Look at the attributes of a model.

        Args:
            source: the text, without a byte order mark.
            model: its syntax tree.
        """
        super().__init__()
        self.kept = 0
        self._source = source
        text = source.text
        nodes = model.graph.nodes
        for node, following in zip_longest(nodes, nodes[1:]):
            attributes = node.attributes
            if not attributes or id(attributes) in self._attributes:
                continue
            flat = self._attributes[id(attributes)] = self._flat_attributes(attributes)
            end = following.at if following else len(text)
            if flat is None or text.find(f"<{flat}>", node.at, end) >= 0:
                continue
            if self.kept < MOST and (own := self._own_spelling(node, flat)) is not None:
                self._attributes[id(attributes)] = own
                self.kept += 1

    def value_text(self, value: ValueInfo, indent: str) -> str:
        """A declaration or an initializer, as `GraphPrinter.value_text` has it."""
        printed = super().value_text(value, indent)
        text = self._source.text
        if value.data is None or text.startswith(printed, value.at) or self.kept >= MOST:
            return printed
        around = text[value.at : value.at + 2 * len(printed)]
        if "".join(around.split()).startswith("".join(printed.split())):
            return printed
        span = locate(self._source, value.at, "value_info").span
        statement = text[span.start : span.end]
        if "#" in statement or len(statement) > LONGEST:
            return printed
        formatted = write_document(f"g () => () <{statement}, {_END}> {{}}")
        own = formatted[formatted.index("<\n") + 2 : formatted.index(f",\n{STEP}{_END}")]
        if indent != STEP or own == STEP + printed:
            return printed
        self.kept += 1
        return own.removeprefix(STEP)

    def _own_spelling(self, node: Node, flat: str) -> str | None:
        """The attributes of a node as the text spells them; None if not in their own way."""
        span = locate(self._source, node.at, "node").span
        statement = self._source.text[span.start : span.end]
        if "#" in statement:
            return None
        before, _, behind = self.node_text(node, "").partition(f"<{flat}>")
        line = write_document(f"g () => () {{ {statement} }}").split("\n")[1].removeprefix(STEP)
        own = line[len(before) + 1 : len(line) - len(behind) - 1]
        return own if own != flat and line == f"{before}<{own}>{behind}" else None
