# SPDX-License-Identifier: Apache-2.0
"""Attach each comment to an item of a list (docs/design.md, Layout).

Every comment ends up in one of four positions: before the first token of an item, after its last
token, after an opening bracket, or before a closing bracket. A comment before the `<` or `{` of a
graph or function moves to the start of that list. Any other comment in a statement moves to the
line above the statement. But if a list with comments precedes the comment in the statement, the
comment moves to the end of that list. The order of comments does not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.tokens_with_comments import Comment, CommentedToken

BREAKABLE = frozenset(
    (
        "header", "header_value", "inputs", "values", "body", "parameters", "attributes",
        "attribute_value", "braces", "brackets", "bracket_item", "record", "decorator",
        "field_value", "annotation", "training_item", "metadata_item", "section", "call",
        "arguments",
    )
)  # fmt: skip
"""Grammar rules with a bracketed list, which may be written with one item per line."""

_OPENING = frozenset("(<[{")
_LISTS = frozenset(
    (
        "header_entries", "header_items", "value_infos", "nodes", "parameter_items",
        "attribute_items", "elements", "literals", "bracket_items", "pairs", "call_arguments",
        "fields_", "field_values", "record_fields", "metadata_items", "annotations",
        "training_items", "resource_items", "decorators", "names",
    )
)  # fmt: skip
"""Grammar rules whose parts are the items of a bracketed list."""


_BLOCKS = frozenset(("values", "body"))
"""Grammar rules of the values `<…>` and the body `{…}` of a graph or function."""


@dataclass(slots=True)
class ListItem:
    """An item of a list, and the comma after it, if any."""

    tree: Tree
    comma: CommentedToken | None = None

    @property
    def first(self) -> CommentedToken:
        """The first token of the item."""
        result = self.tree.first()
        assert result is not None
        return result

    @property
    def last(self) -> CommentedToken:
        """The last token of the item, which is before the comma."""
        result = self.tree.last()
        assert result is not None
        return result


@dataclass(slots=True)
class CommentedList:
    """A list with its brackets.

    Attributes:
        opening: the opening bracket, or `@name(` of a decorator.
        closing: the closing bracket. For `<…>` it may be the token `=>`: the `=` that ends the last
            item, and the bracket.
    """

    opening: CommentedToken
    items: list[ListItem]
    closing: CommentedToken


def find_list(tree: Tree) -> CommentedList | None:
    """Return the bracketed list of a construct; None if it has no such list."""
    if tree.origin not in BREAKABLE:
        return None
    start = next((index for index, part in enumerate(tree.parts) if _opens(part)), None)
    if start is None:
        return None
    opening, closing = tree.parts[start], tree.parts[-1]
    assert isinstance(opening, CommentedToken)
    assert isinstance(closing, CommentedToken)
    items: list[ListItem] = []
    for part in tree.parts[start + 1 : -1]:
        parts = part.parts if isinstance(part, Tree) and part.origin in _LISTS else [part]
        for item in parts:
            if isinstance(item, Tree):
                items.append(ListItem(item))
            else:
                items[-1].comma = item
    return CommentedList(opening, items, closing)


def required_list(tree: Tree) -> CommentedList:
    """Return the bracketed list of a construct that always has a list."""
    result = find_list(tree)
    assert result is not None
    return result


def _opens(part: Tree | CommentedToken) -> bool:
    return isinstance(part, CommentedToken) and (
        part.text in _OPENING or part.terminal == "DECORATOR"
    )


def attach_items(items: list[ListItem], closing: CommentedToken) -> None:
    """Move the comments in and after list items to the positions that the module describes.

    `closing` is the token after the last item.
    """
    for index, item in enumerate(items):
        _Statement(item).visit(item.tree)
        if item.comma is None:
            continue
        last = item.last
        following = items[index + 1].first if index + 1 < len(items) else closing
        late = item.comma.lead
        trailing = item.comma.trail
        item.comma.lead, item.comma.trail = [], None
        if trailing is not None:
            if last.trail is None and not late:
                last.trail = trailing
            else:
                late.append(trailing)
        following.lead[:0] = late


class _Statement:
    """An item whose comments are being moved.

    Attributes:
        sink: the list that gets misplaced comments: at first, the comments above the item; after a
            bracketed list with comments, the comments before its closing bracket.
    """

    def __init__(self, item: ListItem) -> None:
        self.first = item.first
        self.last = item.last
        self.sink = self.first.lead

    def visit(self, part: Tree | CommentedToken) -> None:
        """Move the comments in (a part of) an item to the positions that the module describes."""
        if isinstance(part, CommentedToken):
            self._lead(part)
            self._trail(part)
        elif (listing := find_list(part)) is not None:
            self._visit_listing(part, listing)
        else:
            if part.origin == "node":
                _group_arguments(part)
            self._visit_parts(part.parts)

    def _visit_parts(self, parts: list[Tree | CommentedToken]) -> None:
        """Move the comments of consecutive parts of a tree.

        Comments before the `<` or `{` of a graph or function move after this bracket.
        """
        for part, following in zip_longest(parts, parts[1:]):
            if isinstance(following, Tree) and following.origin in _BLOCKS:
                last = part.last() if isinstance(part, Tree) else part
                if last is not None:
                    _move_into(last, required_list(following))
            self.visit(part)

    def _visit_listing(self, tree: Tree, listing: CommentedList) -> None:
        """Move the comments of a construct `tree` that ends with the bracketed list `listing`."""
        self._visit_parts(tree.parts[: tree.parts.index(listing.opening)])
        self._lead(listing.opening)
        attach_items(listing.items, listing.closing)
        tree.commented = (
            listing.opening.trail is not None
            or bool(listing.closing.lead)
            or any(has_comments(item.tree) for item in listing.items)
        )
        if tree.commented:
            self.sink = listing.closing.lead
        self._trail(listing.closing)

    def _lead(self, token: CommentedToken) -> None:
        if token is not self.first and token.lead:
            self._move(token.lead)
            token.lead = []

    def _trail(self, token: CommentedToken) -> None:
        if token is not self.last and token.trail is not None:
            self._move([token.trail])
            token.trail = None

    def _move(self, comments: list[Comment]) -> None:
        for comment in comments:
            comment.blank = False
        if comments and self.sink is self.first.lead and self.first.blank:
            self.first.blank, comments[0].blank = False, True
        self.sink += comments


def _group_arguments(node: Tree) -> None:
    """Put the inputs of a node and their brackets into a tree `arguments` if they have comments.

    If the node has no inputs or omits an input, do nothing: the comments will move above the node.
    """
    start = next(
        index
        for index, part in enumerate(node.parts)
        if isinstance(part, CommentedToken) and part.text == "("
    )
    opening, names, closing = node.parts[start : start + 3]
    if not (
        isinstance(opening, CommentedToken)
        and isinstance(names, Tree)
        and isinstance(closing, CommentedToken)
        and (opening.trail is not None or closing.lead or any(map(has_comments, names.parts)))
        and _alternates(names)
    ):
        return
    node.parts[start : start + 3] = [Tree("arguments", "", [opening, names, closing])]


def _alternates(names: Tree) -> bool:
    """Whether names and commas alternate: there is at least one name, and no name is omitted."""
    return bool(names.parts) and all(
        isinstance(part, CommentedToken) == bool(index % 2)
        for index, part in enumerate(names.parts)
    )


def _move_into(before: CommentedToken, listing: CommentedList) -> None:
    """Move the comments before a bracketed list to its start.

    `before` is the token before the list.
    """
    opening = listing.opening
    comments = [*opening.lead, *([opening.trail] if opening.trail else [])]
    if before.trail is None and len(comments) == bool(opening.trail):
        return
    opening.lead, opening.trail, before.trail = [], before.trail, None
    first = listing.items[0].first if listing.items else listing.closing
    (first.lead[0] if first.lead else first).blank = False
    first.lead[:0] = comments


def has_comments(part: Tree | CommentedToken) -> bool:
    """Whether comments are attached to an item or to its parts; call `attach_items` first."""
    if isinstance(part, CommentedToken):
        return bool(part.lead) or part.trail is not None
    listing = find_list(part)
    if listing is None:
        return any(map(has_comments, part.parts))
    # `part.commented` already takes the items into account. To visit the items again would take
    # cubic time in deeply nested lists.
    before = part.parts[: part.parts.index(listing.opening)]
    return part.commented or any(map(has_comments, (*before, listing.opening, listing.closing)))
