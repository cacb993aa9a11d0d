# SPDX-License-Identifier: Apache-2.0
"""Print statements with numbers and attribute types spelled as in the source.

The formatter keeps the spelling of numbers, and attribute types that the printer would omit, such
as `int` in `axis: int = 1`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import TensorType
from onnxtext.printer.graphs_and_nodes import GraphPrinter
from onnxtext.printer.layout import STEP, WIDTH, fill_list_text, flat_items, one_per_line
from onnxtext.printer.statement_layout import Decorators, value_text

_BLANK = r"[ \t\n\v\f\r]*"
_NUMBERS = re.compile(rf"={_BLANK}([{{\[]?)([^\[\]{{}}\"#\\=]*)([}}\]]?)$")
"""Matches a number or a flat list of numbers at the end of an initializer."""

_ATTRIBUTE = (
    rf"{_BLANK}([^\W\d]\w*){_BLANK}(?::{_BLANK}(\w+){_BLANK})?="
    rf"{_BLANK}([-+.\w]+|\[[^\[\]{{}}\"#\\=<>@]*\]|\"[^\"\\\n]*\"){_BLANK}"
)
_FIND_ATTRIBUTES = re.compile(rf"<{_ATTRIBUTE}(?:,{_ATTRIBUTE})*,?{_BLANK}>")
_FIND_ATTRIBUTE = re.compile(_ATTRIBUTE)
"""Matches an attribute that is a number, a list of numbers, or a string without escapes."""


class SourceSpellingPrinter(GraphPrinter):
    """Prints statements with their source spelling."""

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, list[str]] = {}  # maps spelled attributes to their texts
        self._spelled: list[str] = []  # the attributes of the node that is being printed

    def node_with_source_attributes(self, node: Node, code: str, indent: str) -> str | None:
        """Print a node, but keep how `code` spells its attributes, such as `axis: int = +1`.

        Return None if this is impossible, for example because an attribute is not a number, a list
        of numbers or a string without escapes.
        """
        match = _FIND_ATTRIBUTES.search(code)
        if match is None:
            return None
        try:
            items = self._items[match[0]]
        except KeyError:
            items = self._items[match[0]] = _attribute_texts(match[0])
        # An attribute on a line of its own may be indented by two steps more than the node.
        if len(indent + STEP * 2) + max(map(len, items)) + 1 > WIDTH:
            return None
        self._spelled = items
        return self.node_text(node, indent)

    def _flat_attributes(self, attributes: Sequence[Attribute]) -> str | None:
        """Return the attributes on one line; None if they do not fit."""
        flat = flat_items(self._spelled, ">")
        return flat if len(flat) + 2 <= WIDTH else None

    def _broken_attributes(self, node: Node, indent: str) -> str:
        """Return the attributes of a node, one per line."""
        return one_per_line(self._spelled, "<>", indent)

    def value_with_source_numbers(self, value: ValueInfo, code: str, indent: str) -> str | None:
        """Print an initializer, but keep how `code` spells its numbers, such as `1.50`.

        Return None if this is impossible, for example because its data is neither a number nor a
        list that the printer writes flat.
        """
        match = _NUMBERS.search(code)
        kind = value.type
        if match is None or not isinstance(kind, TensorType) or value.decorators:
            return None
        opening, body, closing = match.groups()
        if body.endswith("...") or (opening == "[" and len(kind.shape or ()) > 1):
            return None
        row = _spaced(body)

        def literal(indent: str, budget: int) -> str:
            return fill_list_text(row, opening + closing, indent, budget) if opening else row

        type = self._type(kind)
        return value_text(Decorators(), type, self._names[value.name], literal, indent)


def _attribute_texts(code: str) -> list[str]:
    """Return the text of each attribute in the attribute list `code`."""
    texts = []
    for name, type, value in _FIND_ATTRIBUTE.findall(code):
        head = f"{name}: {type}" if type else name
        texts.append(
            f"{head} = [{_spaced(value[1:-1])}]" if value[0] == "[" else f"{head} = {value}"
        )
    return texts


def _spaced(numbers: str) -> str:
    """Write numbers on one line, without a trailing comma."""
    return ", ".join(map(str.strip, numbers.rstrip().removesuffix(",").split(",")))
