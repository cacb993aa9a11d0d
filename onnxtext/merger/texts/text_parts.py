# SPDX-License-Identifier: Apache-2.0
"""Split one version of a text into comparable constructs and lists of items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.format.attach_comments import find_list
from onnxtext.format.concrete_syntax_tree import Tree, build_tree
from onnxtext.format.token_text import decode_token
from onnxtext.format.tokens_with_comments import CommentedToken, comments_of, read_tokens

_NAMES = frozenset(("name", "value_name", "names", "output", "outputs", "label", "operator"))
"""Constructs in which quotes are optional."""
_CLOSING = frozenset((">", "]", "}"))
"""Brackets before which a comma is redundant; before `)`, a comma may mean an omitted input."""
_LISTS = frozenset(("TYPE", "NUMBERS", "NESTED", "BRACES"))
"""Terminals whose tokens may contain whitespace."""
_BLANKS = re.compile(r"\s+")


@dataclass(slots=True, eq=False)
class LazyStatement(Tree):
    """A statement that is not tokenized yet; its only token is the statement's whole text.

    Attributes:
        item: its abstract syntax tree.
    """

    item: Node | ValueInfo = field(kw_only=True)


@dataclass(slots=True, eq=False)
class TextPart:
    """A construct or token of the base, of ours or of theirs, from its first to its last token.

    `source` is the whole text of the version, in which `start` and `end` are offsets.
    """

    source: str
    _tree: Tree | CommentedToken
    start: int
    end: int

    @classmethod
    def of(cls, source: str, tree: Tree | CommentedToken) -> TextPart | None:
        """Create a part from a syntax tree or token; None for a tree without tokens."""
        if isinstance(tree, CommentedToken):
            return cls(source, tree, tree.at, tree.end)
        first, last = tree.first(), tree.last()
        if first is None or last is None:
            return None
        return cls(source, tree, first.at, last.end)

    @property
    def body(self) -> str:
        """The text of the construct, including comments inside."""
        return self.source[self.start : self.end]

    @property
    def tree(self) -> Tree | CommentedToken:
        """The concrete syntax tree or token; this tokenizes a statement if necessary."""
        if isinstance(self._tree, LazyStatement):
            self._tree = read_statement(self.body, self._tree.origin, self.start)
        return self._tree

    @property
    def item(self) -> Node | ValueInfo | None:
        """The abstract syntax tree of a statement that is not tokenized yet; otherwise None."""
        return self._tree.item if isinstance(self._tree, LazyStatement) else None

    @property
    def origin(self) -> str:
        """The grammar rule of a construct, or the text of a token.

        A token that is an identifier is in backquotes, because a rule may have the same name.
        """
        if isinstance(self._tree, Tree):
            return self._tree.origin
        text = self._tree.text
        return f"`{text}`" if text.isidentifier() else text

    def token_texts(self) -> list[str]:
        """Return the texts of the tokens, normalized, without comments and redundant commas."""
        if isinstance(self.tree, CommentedToken):
            return [_normalized_text(self.tree)]
        tokens = list(self.tree.tokens())
        if self.tree.origin in _NAMES:
            return [text for token in tokens if (text := decode_token(token))]
        following = [*tokens[1:], None]
        return [
            _normalized_text(token)
            for token, after in zip(tokens, following, strict=True)
            if token.text != "," or after is None or after.text not in _CLOSING
        ]

    def children(self) -> list[TextPart]:
        """Return the parts of the construct that have tokens, in order."""
        assert isinstance(self.tree, Tree)
        parts = [TextPart.of(self.source, part) for part in self.tree.parts]
        return [part for part in parts if part is not None]


@dataclass(slots=True, eq=False)
class Item:
    """An item of a list with the trivia (whitespace and comments) around it.

    Attributes:
        lead: line breaks, whitespace and comments on their own lines before the item, from the end
            of the previous line.
        tail: whitespace and a comment after the item and its comma on the same line.
        comma: whether a comma follows the item.
    """

    part: TextPart
    lead: str = ""
    tail: str = ""
    comma: bool = False

    def comments(self) -> Counter[str]:
        """Count how often each comment occurs before, in or after the item."""
        return comments_in(self.lead, self.part.body, self.tail)


@dataclass(slots=True)
class ListItems:
    """The items of a list in one version.

    Attributes:
        head: the parts of the construct before the opening bracket.
        opening: the opening bracket; "" for a list without brackets.
        opening_tail: trivia after the opening bracket on its line.
        suffix: trivia before the closing bracket, from the end of the last item's line.
    """

    head: list[TextPart] = field(default_factory=list)
    opening: str = ""
    opening_tail: str = ""
    items: list[Item] = field(default_factory=list)
    suffix: str = ""
    closing: str = ""

    def blanks(self) -> list[str]:
        """Return the whitespace and comments outside of the items."""
        between = [text for item in self.items for text in (item.lead, item.tail)]
        return [self.opening_tail, *between, self.suffix]


def source_text(parts: Sequence[TextPart]) -> str:
    """Return the text of consecutive parts; "" without parts."""
    return parts[0].source[parts[0].start : parts[-1].end] if parts else ""


def read_statement(text: str, origin: str, start: int) -> Tree:
    """Tokenize and parse a statement of the grammar rule `origin`.

    `start` is the offset of the statement in its source, from which the tokens get their offsets.
    """
    tokens = read_tokens(text)
    for token in tokens:
        token.at += start
    (tree,) = build_tree(tokens, f"{origin}_fragment").trees()
    return tree


def read_list(part: TextPart) -> ListItems | None:
    """Return the items of a list, or of the list at the end of a construct.

    Return None if the construct does not have a list.
    """
    if isinstance(part.tree, CommentedToken):
        return None
    result = ListItems()
    if part.origin == "decorators":
        fill_items(
            result, part.source, [(tree, None) for tree in part.tree.parts], part.start, part.end
        )
        return result
    if part.tree.origin == "header_value" and part.tree.alias == "header_numbers":
        return _read_numbers(part)
    listing = find_list(part.tree)
    if listing is None or listing.closing.text == "=>":
        return None
    for child in part.children():
        if child.tree is listing.opening:
            break
        result.head.append(child)
    result.opening, result.closing = listing.opening.text, listing.closing.text
    pairs: list[tuple[Tree | CommentedToken, CommentedToken | None]] = [
        (i.tree, i.comma) for i in listing.items
    ]
    fill_items(result, part.source, pairs, listing.opening.end, listing.closing.at)
    return result


def _read_numbers(part: TextPart) -> ListItems:
    """Split a token that is a list of operator set versions, such as `[21]`."""
    result = ListItems(opening="[", closing="]")
    trees: list[tuple[Tree | CommentedToken, CommentedToken | None]] = []
    for number in _NUMBER.finditer(part.body):
        token = CommentedToken(number.group(1), "INT", part.start + number.start(1))
        comma = (
            CommentedToken(",", "COMMA", part.start + number.end() - 1) if number.group(2) else None
        )
        trees.append((Tree("header_item", "bare_opset_item", [token]), comma))
    fill_items(result, part.source, trees, part.start + 1, part.end - 1)
    return result


_NUMBER = re.compile(r"([^\s,\[\]]+)\s*(,?)")


def fill_items(
    items: ListItems,
    source: str,
    trees: Sequence[tuple[Tree | CommentedToken, CommentedToken | None]],
    start: int,
    end: int,
) -> None:
    """Fill a list with items, and distribute the trivia between them.

    `trees` has the (tree, comma) of each item; the comma is None if there is none. The content of
    the list is the part of `source` from `start` to `end`.
    """
    parts = [(TextPart.of(source, tree), comma) for tree, comma in trees]
    present = [(part, comma) for part, comma in parts if part is not None]
    offset = start
    lead = ""
    for index, (part, comma) in enumerate(present):
        if index == 0:
            items.opening_tail, lead = _split_first_line(
                source[offset : part.start], started=bool(items.opening)
            )
        following = present[index + 1][0].start if index + 1 < len(present) else end
        trivia = source[part.end : following]
        if comma is not None:
            cut = comma.at - part.end
            trivia = trivia[:cut] + trivia[cut + 1 :]
        tail, rest = _split_first_line(trivia, started=True)
        items.items.append(Item(part, lead, tail, comma is not None))
        lead = rest
        offset = following
    if present:
        items.suffix = lead
    else:
        items.opening_tail, items.suffix = _split_first_line(
            source[start:end], started=bool(items.opening)
        )


def _split_first_line(trivia: str, *, started: bool) -> tuple[str, str]:
    """Split the trivia after a token into the rest of the token's line and the following lines.

    The first result is empty if no token precedes the trivia (`started` is False), or if the trivia
    consists only of blanks without a line end.
    """
    line, end, rest = trivia.partition("\n")
    if not started or (not end and "#" not in line):
        return "", trivia
    if line.endswith("\r") and end:
        line, end = line[:-1], "\r\n"
    return line, end + rest


def _normalized_text(token: CommentedToken) -> str:
    if token.terminal in _LISTS:
        return _BLANKS.sub("", token.text).replace(",]", "]").replace(",}", "}")
    return token.text


def comments_in(*texts: str) -> Counter[str]:
    """Count how often each comment occurs in some texts."""
    result: Counter[str] = Counter()
    for text in texts:
        if "#" in text:
            result.update(comments_of(text))
    return result
