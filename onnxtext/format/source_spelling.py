# SPDX-License-Identifier: Apache-2.0
"""Printing statements with the spelling that their numbers and attributes have in the text.

The formatter keeps how a number is written and the type of an attribute that could be left out, as
official texts have it everywhere. The native core makes one object of the lists of attributes that
are spelled alike, so few of them have to be looked at.
"""

from __future__ import annotations

import re

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.printer.graphs import NAME_WIDTH, GraphPrinter
from onnxtext.printer.layout import STEP, WIDTH

_NUMBERS = re.compile(r"=[ \t\n\v\f\r]*([{\[])([^\[\]{}\"#\\=]*)([}\]])$")
"""A flat list of numbers at the end of an initializer."""


class SourceSpellingPrinter(GraphPrinter):
    """Prints statements of the main graph or of a function as they are spelled in the text."""

    def spell(self, node: Node, line: str) -> bool:
        """Print the attributes of a node, wherever they are met, as they are spelled in it.

        Args:
            node: the node.
            line: the node in the canonical layout, with its own spelling.

        Returns:
            Whether that is possible.
        """
        flat = self._attributes.get(id(node.attributes))
        if flat is None:
            return False
        before, _, behind = self.node_text(node, STEP).partition(f"<{flat}>")
        own = line[len(before) + 1 : len(line) - len(behind) - 1]
        if own == flat or "\n" in own or line != f"{before}<{own}>{behind}":
            return False
        self._attributes[id(node.attributes)] = own
        return True

    def value_with_source_numbers(self, value: ValueInfo, code: str, indent: str) -> str | None:
        """An initializer that is a flat list of numbers, as they are spelled in it.

        Args:
            value: the initializer.
            code: its text.
            indent: the indentation of the line it stands on.

        Returns:
            It in the canonical layout; None if that takes more.
        """
        found = _NUMBERS.search(code)
        kind = value.type
        if found is None or not isinstance(kind, TensorType) or value.decorators:
            return None
        numbers = spaced(found, flat=len(kind.shape or ()) < 2)
        type = self._type(kind)
        if numbers is None or len(numbers) > WIDTH - len(indent) - len(type) - NAME_WIDTH:
            return None
        return f"{type} {self._names[value.name]} = {numbers}"


def spaced(found: re.Match[str], *, flat: bool) -> str | None:
    """A flat list of numbers on one line; None if it is laid out in another way.

    Args:
        found: the list, its brackets and what is between them.
        flat: whether a tensor with this list has one dimension at most.
    """
    opening, body, closing = found.groups()
    if opening == "[" and not flat:
        return None
    numbers = [number.strip() for number in body.split(",")]
    if not all(numbers) or (closing == "]") != (opening == "["):
        return None
    return f"{opening}{', '.join(numbers)}{closing}"
