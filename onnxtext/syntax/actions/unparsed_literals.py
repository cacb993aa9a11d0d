# SPDX-License-Identifier: Apache-2.0
"""Actions for the literals of tensors: keep their text until the type is known (SPEC 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.records import Number
from onnxtext.ast.tensors_and_attributes import Blob, DataFile, ExternalData, TypedBlob
from onnxtext.quick_dataclass import dataclass
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.grammar.lexer import Token


@dataclass(frozen=True, slots=True)
class ScalarText:
    """An element without brackets: the text of a number, or the bytes of a string."""

    value: str | bytes


@dataclass(frozen=True, slots=True)
class TypedText:
    """The text of a list of numbers in braces, `{1, 2}`: data for a field such as `float_data`."""

    text: str


@dataclass(frozen=True, slots=True)
class TypedLiterals:
    """The items of a list in braces: texts of numbers, or bytes of strings."""

    items: list[str | bytes]


@dataclass(frozen=True, slots=True)
class RawText:
    """The text of a list of numbers in brackets, `[1, 2]` or `[[1], [2]]`: data for `raw_data`."""

    text: str


class DataCall(NamedTuple):
    """Data of the form `name(arguments)` or `name{…}`, such as `external("w.bin")`.

    The only argument of `name{…}` is the list in braces.
    """

    name: str
    arguments: Sequence[Any]


Pending = (
    Blob
    | TypedBlob
    | DataFile
    | ScalarText
    | TypedText
    | TypedLiterals
    | RawText
    | DataCall
    | list[DataCall]
    | ExternalData
)
"""The data of a tensor before its type is known; `resolve` in `tensors` converts it.

The list is data given by protobuf fields: `raw_data(b"…") float_data{1}`.
"""


def raw_literals(items: list[str]) -> RawText:
    """Return the text of a list in brackets, given the texts of its items."""
    return RawText(nested_items(items))


class JoinedText(str):
    """The text of a bracketed list that was parsed item by item, for example due to a comment.

    Attributes:
        places: (offset in this text, offset in the source) of each token in the list.
    """

    __slots__ = ("places",)
    places: list[tuple[int, int]]

    def source(self, offset: int) -> int | None:
        """Convert an offset in this text to an offset in the source; None if unknown."""
        index = bisect_right(self.places, offset, key=itemgetter(0))
        if not index:
            return None
        start, at = self.places[index - 1]
        return at + offset - start


def nested_items(items: Sequence[str], brackets: str = "[]") -> str:
    """Return the text of a bracketed list, given the texts of its items."""
    text = JoinedText(f"{brackets[0]}{', '.join(items)}{brackets[1]}")
    text.places = []
    size = 1
    for item in items:
        if isinstance(item, Token):
            text.places.append((size, item.at))
        elif isinstance(item, JoinedText):
            text.places += [(size + start, offset) for start, offset in item.places]
        size += len(item) + 2
    return text


@action
def literal(value: Any) -> Any:
    """Return an element of a tensor: the text of a number or `true`, or the bytes of a string."""
    return value.text if type(value) is Number else value


@action
def bracket_item(value: Any) -> str:
    """Return the text of an item of a bracketed list: a number, `true`, `...` or a nested list."""
    text: str = value.text if type(value) is Number else value
    return text


ACTIONS.update(
    string_literal=to_bytes,
    scalar_data=ScalarText,
    typed_numbers=TypedText,
    no_elements=lambda: TypedText("{}"),
    typed_literals=TypedLiterals,
    typed_blob=lambda blob: TypedBlob(blob.digest),
    raw_numbers=RawText,
    raw_nothing=lambda: RawText("[]"),
    raw_literals=raw_literals,
    nested_nothing=lambda: "[]",
    nested_items=nested_items,
    external_data=lambda pairs: ExternalData(tuple(pairs)),
    pair=lambda key, value: (key, value),
    field_braces=lambda field, data: DataCall(field, (data,)),
    call=DataCall,
)
