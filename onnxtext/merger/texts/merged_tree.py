# SPDX-License-Identifier: Apache-2.0
"""The tree of a merged text with its conflicts, and a writer for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.texts.text_parts import Item

Body = Union[str, "MergedConstruct", "ConflictPart", "MergedList"]
Versions = tuple[str | None, str | None, str | None]
"""A text in the base, in ours and in theirs; None if the version lacks the text."""


@dataclass(slots=True)
class MergedConstruct:
    """A construct that was merged part by part.

    Attributes:
        parts: (whitespace and comments before the part, the part), in order.
    """

    parts: list[tuple[str, Body]]


@dataclass(slots=True)
class ConflictPart:
    """A part of a construct that both sides changed in different ways."""

    versions: Versions


@dataclass(slots=True, eq=False)
class MergedItem:
    """An item of a merged list.

    Attributes:
        lead: comments and whitespace before the item, as in `Item`.
        body: the item itself; "" for a conflict.
        tail: whitespace and a comment after the item on its line, as in `Item`.
        versions: the item in the base, in ours and in theirs.
        conflict: whether both sides changed the item in different ways, or only the merged item has
            a syntax error.
        forced: whether the item is a conflict only because of a semantic conflict, such as an
            undefined name.
    """

    lead: str
    body: Body
    tail: str
    versions: tuple[Item | None, Item | None, Item | None]
    conflict: bool = False
    forced: bool = False

    @property
    def origin(self) -> str:
        """The grammar rule of the item."""
        return next(item for item in self.versions if item is not None).part.origin


@dataclass(slots=True, eq=False)
class MergedList:
    """A merged list.

    Attributes:
        head: the parts of the construct before the opening bracket.
        opening_tail: whitespace and a comment after the opening bracket on its line.
        suffix: comments and whitespace before the closing bracket.
        commas: whether commas separate the items.
        trailing_comma: whether a comma follows the last item.
    """

    head: Body
    opening: str
    opening_tail: str
    items: list[MergedItem]
    suffix: str
    closing: str
    commas: bool
    trailing_comma: bool


@dataclass(frozen=True, slots=True)
class MergedItemSpan:
    """The position of an item of the list `listed`, without trivia, in the written text."""

    start: int
    end: int
    item: MergedItem
    listed: MergedList


@dataclass(slots=True)
class MergedTreeWriter:
    """Writes a merged tree as text.

    Attributes:
        markers: format of conflict markers; None to resolve conflicts to ours.
        placed: spans of the written items; nested items come before the items that contain them.
    """

    markers: Markers | None = None
    out: list[str] = field(default_factory=list)
    placed: list[MergedItemSpan] = field(default_factory=list)
    conflicts: int = 0
    _size: int = 0  # characters written
    _open: bool = False  # whether a line end must follow, after a comment or marker
    _last: str = "\n"  # the last character
    _indent: str = ""  # indentation of the current line

    def text(self) -> str:
        """Return the written text."""
        return "".join(self.out)

    def body(self, body: Body) -> None:
        """Write a merged construct."""
        match body:
            case str():
                self._tokens(body)
            case MergedConstruct():
                glues = [glue for glue, _ in body.parts]
                for (glue, part), after in zip(body.parts, [*glues[1:], ""], strict=True):
                    self._blanks(glue)
                    if isinstance(part, MergedList) and not part.opening and not part.commas:
                        self.listed(part, own_lines="\n" in after)  # such as a list of decorators
                    else:
                        self.body(part)
            case ConflictPart():
                self._choice(body)
            case MergedList():
                self.listed(body)

    def listed(self, listed: MergedList, *, own_lines: bool = False) -> None:
        """Write a merged list with its brackets.

        With `own_lines`, an item without whitespace before it begins a new line; only for lists
        without brackets and commas.
        """
        self.body(listed.head)
        self._tokens(listed.opening)
        self._blanks(listed.opening_tail)
        shown = [c for c in listed.items if self.markers or not c.conflict or c.versions[1]]
        indent = self._indent
        broken = self.markers is not None and any(c.conflict or c.forced for c in shown)
        for index, merged_item in enumerate(shown):
            comma = listed.commas and (index + 1 < len(shown) or listed.trailing_comma)
            own_line = listed.opening and broken and "\n" not in merged_item.lead
            lead = f"{merged_item.lead.rstrip(' ')}\n{indent}  " if own_line else merged_item.lead
            if index and not lead and not listed.opening and not listed.commas:
                lead = f"\n{self._indent}" if own_lines else " "
            self._item(merged_item, lead, listed, "," if comma else "")
        flat = listed.closing and broken and "\n" not in listed.suffix
        self._blanks(f"{listed.suffix.rstrip(' ')}\n{indent}" if flat else listed.suffix)
        self._tokens(listed.closing)

    def _item(self, merged_item: MergedItem, lead: str, listed: MergedList, comma: str) -> None:
        if (merged_item.conflict or merged_item.forced) and self.markers is not None:
            self._write_conflict(merged_item, lead, comma)
            return
        body, tail = merged_item.body, merged_item.tail
        if merged_item.conflict:
            ours = merged_item.versions[1]
            assert ours is not None
            lead, body, tail = ours.lead, ours.part.body, ours.tail
        self._blanks(lead)
        start = self._size
        self.body(body)
        self.placed.append(MergedItemSpan(start, self._size, merged_item, listed))
        self._write(comma)
        self._blanks(tail)

    def _write_conflict(self, merged_item: MergedItem, lead: str, comma: str) -> None:
        """Write a conflict, after the comments and blank lines that all versions have before it."""
        leads = {item.lead for item in merged_item.versions if item is not None}
        shared = leads.pop() if len(leads) == 1 else ""
        cut = shared.rfind("\n") + 1
        self._blanks(shared[:cut])
        indent = lead.rpartition("\n")[2] if "\n" in lead else ""
        base, ours, theirs = [_lines(item, comma, cut, indent) for item in merged_item.versions]
        self._conflict(base, ours, theirs)

    def _choice(self, choice: ConflictPart) -> None:
        base, ours, theirs = choice.versions
        if self.markers is None:
            self._tokens(ours or "")
        else:
            self._conflict(*[f"{text}\n" if text else "" for text in (base, ours, theirs)])

    def _conflict(self, base: str, ours: str, theirs: str) -> None:
        assert self.markers is not None
        if self._last != "\n":
            self._write("\n")
        self._write(self.markers.lines(base, ours, theirs))
        self.conflicts += 1
        self._open = True

    def _tokens(self, text: str) -> None:
        """Write text that begins and ends with tokens."""
        if not text:
            return
        if self._open:
            self._write("\n")
        elif _is_wordlike(self._last) and _is_wordlike(text[0]):
            self._write(" ")
        self._write(text)
        self._open = False

    def _blanks(self, text: str) -> None:
        """Write whitespace and comments; first end the line of an earlier comment or marker."""
        if self._open and "\n" not in text and "#" not in text:
            return  # the line end that follows separates the tokens
        if not text:
            return
        if self._open and text.lstrip(" \t\r")[:1] != "\n":
            self._write("\n")
            self._open = False
        line = text.rpartition("\n")
        self._open = "#" in line[2] or (self._open and not line[1])
        self._write(text)

    def _write(self, text: str) -> None:
        if text:
            self.out.append(text)
            self._size += len(text)
            line = text.rpartition("\n")
            if line[1]:
                self._indent = line[2][: len(line[2]) - len(line[2].lstrip(" \t"))]
            self._last = text[-1]


def _lines(item: Item | None, comma: str, cut: int, indent: str) -> str:
    """Format a version of a conflict as whole lines.

    The first `cut` characters of its lead are left out. `comma` is the separator after the version,
    or ""; `indent` is the indentation for a version that does not begin a line.
    """
    if item is None:
        return ""
    lead = item.lead[cut:]
    if not cut:
        lead = lead.lstrip("\r\n") if "\n" in lead else indent
    return f"{lead}{item.part.body}{comma}{item.tail}\n"


def _is_wordlike(character: str) -> bool:
    return character.isalnum() or character in "_\"'-"


def all_items(listed: MergedList) -> Iterator[tuple[MergedList, MergedItem]]:
    """Yield (list, item) for each item of a list and of nested lists; do not enter conflicts."""
    for merged_item in listed.items:
        yield listed, merged_item
        if not merged_item.conflict:
            for inner in _lists_in(merged_item.body):
                yield from all_items(inner)


def _lists_in(body: Body) -> Iterator[MergedList]:
    stack: list[Body] = [body]
    while stack:
        tree = stack.pop()
        if isinstance(tree, MergedList):
            yield tree
            stack.append(tree.head)
        elif isinstance(tree, MergedConstruct):
            stack += [part for _, part in tree.parts]


def write(listed: MergedList, markers: Markers | None) -> MergedTreeWriter:
    """Write a merged text and return its writer; without markers, resolve conflicts to ours."""
    writer = MergedTreeWriter(markers)
    writer.listed(listed)
    return writer
