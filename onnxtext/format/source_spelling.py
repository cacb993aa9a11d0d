# SPDX-License-Identifier: Apache-2.0
"""Print statements with numbers and attribute types spelled as in the source.

The formatter keeps the spelling of numbers, and redundant attribute types such as those of all
attributes in the official syntax. The native core shares one object between equally spelled
attribute lists, so few lists must be examined.
"""

from __future__ import annotations

import re

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import TensorType
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP, WIDTH

_NUMBERS = re.compile(r"=[ \t\n\v\f\r]*([{\[])([^\[\]{}\"#\\=]*)([}\]])$")
"""Matches a flat list of numbers at the end of an initializer."""


class SourceSpellingPrinter(GraphPrinter):
    """Prints statements of the main graph or of a function with their source spelling."""

    def spell(self, node: Node, line: str) -> None:
        """Use the attribute text of a formatted node for all nodes that share its attribute list.

        Do nothing if the attributes have several lines.

        `line` is the formatted node, with attributes spelled as in the source.
        """
        flat = self._attributes.get(id(node.attributes))
        if flat is None:
            return
        before, _, behind = self.node_text(node, STEP).partition(f"<{flat}>")
        inner = line[len(before) + 1 : len(line) - len(behind) - 1]
        if "\n" not in inner and line == f"{before}<{inner}>{behind}":
            self._attributes[id(node.attributes)] = inner

    def value_with_source_numbers(self, value: ValueInfo, code: str, indent: str) -> str | None:
        """Print an initializer, but keep the spelling of its numbers, such as `1.50`.

        `code` is its text in the source.

        Returns:
            The formatted initializer. None if it has decorators, if its data is not a flat list of
            numbers, or if it does not fit on a line.
        """
        match = _NUMBERS.search(code)
        kind = value.type
        if match is None or not isinstance(kind, TensorType) or value.decorators:
            return None
        numbers = format_number_list(match, flat=len(kind.shape or ()) < 2)
        type = self._type(kind)
        line = f"{type} {self._names[value.name]} = {numbers}"
        return None if numbers is None or len(indent) + len(line) >= WIDTH else line


def format_number_list(match: re.Match[str], *, flat: bool) -> str | None:
    """Format a list of numbers on one line; return None if it must be nested or is malformed.

    The groups of `match` are: opening bracket, numbers, closing bracket. `flat` says whether the
    tensor is a scalar or a vector.
    """
    opening, body, closing = match.groups()
    if opening == "[" and not flat:
        return None
    numbers = [number.strip() for number in body.split(",")]
    if not all(numbers) or (closing == "]") != (opening == "["):
        return None
    return f"{opening}{', '.join(numbers)}{closing}"
