# SPDX-License-Identifier: Apache-2.0
"""One version of a text, in parts that can be compared: constructs, and lists of items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.format.attach import listing
from onnxtext.format.tree import Tree, grow
from onnxtext.format.trivia import Piece, comments_of, read_pieces
from onnxtext.format.words import decoded

_NAMES = frozenset(("name", "value_name", "names", "output", "outputs", "label", "operator"))
"""Constructs in which quotes mean nothing."""
_CLOSING = frozenset((">", "]", "}"))
"""Behind a comma before one of these stands nothing; before `)` it may be an omitted input."""
_LISTS = frozenset(("TYPE", "NUMBERS", "NESTED", "BRACES"))
"""Tokens with blanks in them."""
_BLANKS = re.compile(r"\s+")


@dataclass(slots=True, eq=False)
class Unread(Tree):
    """A statement as a single piece: what it consists of was not read yet.

    Attributes:
        item: what it says.
    """

    item: Node | ValueInfo = field(kw_only=True)


@dataclass(slots=True, eq=False)
class Part:
    """A construct of one version.

    Attributes:
        source: the whole text of that version.
        start: offset of its first token.
        end: offset behind its last token.
    """

    source: str
    _tree: Tree | Piece
    start: int
    end: int

    @classmethod
    def of(cls, source: str, tree: Tree | Piece) -> Part | None:
        """The part that a tree is; None if it has no token."""
        if isinstance(tree, Piece):
            return cls(source, tree, tree.at, tree.end)
        first, last = tree.first(), tree.last()
        if first is None or last is None:
            return None
        return cls(source, tree, first.at, last.end)

    @property
    def body(self) -> str:
        """Its text, comments inside of it included."""
        return self.source[self.start : self.end]

    @property
    def tree(self) -> Tree | Piece:
        """The construct, or a token."""
        if isinstance(self._tree, Unread):
            self._tree = _read(self.body, self._tree.origin, self.start)
        return self._tree

    @property
    def item(self) -> Node | ValueInfo | None:
        """What it says, if it is a statement that was not read by its tokens."""
        return self._tree.item if isinstance(self._tree, Unread) else None

    @property
    def origin(self) -> str:
        """The grammar rule; of a token the token itself, names and words in backquotes."""
        if isinstance(self._tree, Tree):
            return self._tree.origin
        text = self._tree.text
        return f"`{text}`" if text.isidentifier() else text  # a name may be that of a rule

    def tokens(self) -> list[str]:
        """What it says, whatever its layout: without blanks, comments, and commas at the end."""
        if isinstance(self.tree, Piece):
            return [_said(self.tree)]
        pieces = list(self.tree.pieces())
        if self.tree.origin in _NAMES:
            return [text for piece in pieces if (text := decoded(piece))]
        following = [*pieces[1:], None]
        return [
            _said(piece)
            for piece, after in zip(pieces, following, strict=True)
            if piece.text != "," or after is None or after.text not in _CLOSING
        ]

    def children(self) -> list[Part]:
        """Its parts in order, without the empty ones."""
        assert isinstance(self.tree, Tree)
        made = [Part.of(self.source, part) for part in self.tree.parts]
        return [part for part in made if part is not None]


@dataclass(slots=True, eq=False)
class Item:
    """An item of a list, with what people wrote around it.

    Attributes:
        part: the item itself.
        lead: what stands between the end of the line before it and the item: line ends, blanks,
            comments on lines of their own.
        tail: what stands behind it and its comma on the same line: blanks and a comment.
        comma: whether a comma stands behind it.
    """

    part: Part
    lead: str = ""
    tail: str = ""
    comma: bool = False

    def comments(self) -> Counter[str]:
        """The comments before, in and behind it."""
        return comments_in(self.lead, self.part.body, self.tail)


@dataclass(slots=True)
class Items:
    """A list of one version.

    Attributes:
        head: what stands before its opening bracket, as parts of the construct.
        opening: the opening bracket; "" for a list without brackets.
        behind: what stands behind the opening bracket on its line.
        items: in order.
        suffix: what stands before the closing bracket, from the end of the last item's line on.
        closing: the closing bracket.
    """

    head: list[Part] = field(default_factory=list)
    opening: str = ""
    behind: str = ""
    items: list[Item] = field(default_factory=list)
    suffix: str = ""
    closing: str = ""


def _read(text: str, origin: str, start: int) -> Tree:
    """The tree of a statement that begins at an offset."""
    pieces = read_pieces(text)
    for piece in pieces:
        piece.at += start
    (tree,) = grow(pieces, f"{origin}_fragment").trees()
    return tree


def read_list(part: Part) -> Items | None:
    """The list that a construct is, or ends in; None if it is none that can be taken apart."""
    if isinstance(part.tree, Piece):
        return None
    found = Items()
    if part.origin == "decorators":
        fill(found, part.source, [(tree, None) for tree in part.tree.parts], part.start, part.end)
        return found
    if part.tree.origin == "header_value" and part.tree.alias == "header_numbers":
        return _read_numbers(part)
    made = listing(part.tree)
    if made is None or made.closing.text == "=>":
        return None
    for child in part.children():
        if child.tree is made.opening:
            break
        found.head.append(child)
    found.opening, found.closing = made.opening.text, made.closing.text
    pairs: list[tuple[Tree | Piece, Piece | None]] = [(i.tree, i.comma) for i in made.items]
    fill(found, part.source, pairs, made.opening.end, made.closing.at)
    return found


def _read_numbers(part: Part) -> Items:
    """The versions of operator sets that are one token: `[21]`."""
    found = Items(opening="[", closing="]")
    numbers = list(_NUMBER.finditer(part.body))
    trees: list[tuple[Tree | Piece, Piece | None]] = []
    for number in numbers:
        piece = Piece(number.group(1), "INT", part.start + number.start(1))
        comma = Piece(",", "COMMA", part.start + number.end() - 1) if number.group(2) else None
        trees.append((Tree("header_item", "bare_opset_item", [piece]), comma))
    fill(found, part.source, trees, part.start + 1, part.end - 1)
    return found


_NUMBER = re.compile(r"([^\s,\[\]]+)\s*(,?)")


def fill(
    found: Items,
    source: str,
    trees: Sequence[tuple[Tree | Piece, Piece | None]],
    start: int,
    end: int,
) -> None:
    """Divide what stands between items among them."""
    parts = [(Part.of(source, tree), comma) for tree, comma in trees]
    known = [(part, comma) for part, comma in parts if part is not None]
    at = start
    lead = ""
    for number, (part, comma) in enumerate(known):
        if number == 0:
            found.behind, lead = _divided(source[at : part.start], started=bool(found.opening))
        following = known[number + 1][0].start if number + 1 < len(known) else end
        gap = source[part.end : following]
        if comma is not None:
            cut = comma.at - part.end
            gap = gap[:cut] + gap[cut + 1 :]
        tail, rest = _divided(gap, started=True)
        found.items.append(Item(part, lead, tail, comma is not None))
        lead = rest
        at = following
    if known:
        found.suffix = lead
    else:
        found.behind, found.suffix = _divided(source[start:end], started=bool(found.opening))


def _divided(gap: str, *, started: bool) -> tuple[str, str]:
    """What belongs to the line before, and the rest."""
    line, end, rest = gap.partition("\n")
    if not started or (not end and "#" not in line):
        return "", gap
    if line.endswith("\r") and end:
        line, end = line[:-1], "\r\n"
    return line, end + rest


def _said(piece: Piece) -> str:
    if piece.terminal in _LISTS:
        return _BLANKS.sub("", piece.text).replace(",]", "]").replace(",}", "}")
    return piece.text


def comments_in(*texts: str) -> Counter[str]:
    """The comments in some texts."""
    found: Counter[str] = Counter()
    for text in texts:
        if "#" in text:
            found.update(comments_of(text))
    return found
