# SPDX-License-Identifier: Apache-2.0
"""Apply the differences of two printed models to a text, item by item.

There are three versions of each item: in the text, in the printed model before the edit, and in the
printed model after the edit. The first two mean the same, but may differ in layout, spelling and
order. The last two differ only by the edit. So an item is compared in the printed models, and only
the differences are written into the text. Lists are edited item by item, other constructs part by
part, and the smallest parts token by token.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain

from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.token_text import decode_token
from onnxtext.format.tokens_with_comments import read_tokens
from onnxtext.merger.texts import construct_rules
from onnxtext.merger.texts.item_keys import key_of
from onnxtext.merger.texts.text_parts import (
    ListItems,
    TextPart,
    read_list,
    read_statement,
    source_text,
)
from onnxtext.printer.quoting import quote_word
from onnxtext.rewriter.item_order import arrange, is_metadata
from onnxtext.rewriter.item_pairs import (
    PATHS,
    has_other_path,
    may_name,
    pair_edited,
    pair_spellings,
)
from onnxtext.rewriter.list_edits import InsertedItem, ListEdits
from onnxtext.rewriter.text_edits import TextEdits
from onnxtext.rewriter.token_edits import edit_tokens

Printed = tuple[str, str]
"""The printed forms of a construct before and after an edit."""
_OF_VALUES = frozenset(("value", "output", "value_info", "tensor"))
"""Keywords of metadata blocks for values; the keyword depends on the list that declares the value.
"""


class CannotEdit(Exception):
    """Raised if the text lacks an item or part to edit, or if items are added to an empty list."""


class ItemEdits:
    """Writes the differences of two printed models into a text.

    In all methods, `ours` is a part of the text; `base` and `theirs` are this part of the model,
    printed before and after the edit.
    """

    def __init__(self, edits: TextEdits, renamed: Mapping[str, str | None]) -> None:
        """Create a writer; `renamed` is the result of `renamed_names`."""
        self.edits = edits
        self.text = edits.text
        self.renamed = renamed
        # What `above` means in the current block: the entries of the block before it in the result.
        # Empty if the current block does not contain `above`.
        self._above: dict[Hashable, str] = {}

    # ---- Lists ------------------------------------------------------------------------------

    def items(self, ours: ListItems, base: ListItems, theirs: ListItems, *, commas: bool) -> None:
        """Edit the items of a list, which commas separate if `commas`.

        Raises:
            CannotEdit: the differences cannot be written into the text.
        """
        own = pair_spellings(base.items, ours.items)
        edited = pair_edited(base.items, theirs.items, self.renamed)
        removed = {own[index] for index in own if index not in edited}
        for index in set(range(len(ours.items))).difference(own.values()):
            if not self._rename_in_path(ours.items[index].part):
                removed.add(index)
        places = {edited[index]: own[index] for index in edited if index in own}
        moved, added = arrange(theirs.items, edited, places)
        inserted = {i: InsertedItem(theirs.items[i].part.body) for i in chain(*added.values())}
        listed = ListEdits(self.edits, ours, commas=commas)
        above = _items_above(ours, theirs, places, removed | moved, added)
        for index, item in enumerate(base.items):
            if index not in edited:
                continue
            changed = theirs.items[edited[index]].part
            if index in own:
                place, count = own[index], len(self.edits.edits)
                mine = ours.items[place].part
                if is_metadata(mine, "metadata_block"):
                    self._above = _entries(above[place]) if "above" in mine.body else {}
                self._item(mine, item.part, changed)
                self.edits.keep_comments(mine.start, count)
                if place in moved:
                    inserted[edited[index]] = listed.lift(place, count)
            elif item.part.token_texts() != changed.token_texts():
                raise CannotEdit
        if added and not ours.items:
            raise CannotEdit
        listed.change(
            {place: [inserted[index] for index in indices] for place, indices in added.items()},
            removed,
            moved,
        )

    def _item(self, ours: TextPart, base: TextPart, theirs: TextPart) -> None:
        """Edit an item, and its path if the text spells the path differently than the printer.

        Examples of such paths are `node y` and `node [label]`.
        """
        if has_other_path(ours, base) and not self._rename_in_path(ours):
            head, new = map(_head, (ours, theirs))
            self.edits.replace(ours.start, ours.start + len(head), new)
        self.part(ours, base, theirs)

    def _repeated_entry(self, ours: TextPart, theirs: TextPart) -> None:
        """Replace the word `above` in a metadata entry by the value of the entry after the edit.

        Keep the word if the block above then has the same value for this key.
        """
        word, value = [part.tree.last() for part in (ours, theirs) if isinstance(part.tree, Tree)]
        assert word is not None
        assert value is not None
        if self._above.get(key_of(theirs)) != value.text:
            self.edits.replace(word.at, word.end, value.text)

    # ---- Constructs -------------------------------------------------------------------------

    def statement(self, span: tuple[int, int], origin: str, printed: Printed) -> bool:
        """Edit the changed parts of a statement. If this is impossible, return False without edits.

        `span` is the start and the end of the statement in the text, `origin` its kind: `node` or
        `value_info`. `printed` has its printed texts before and after the edit.
        """
        start, end = span
        tree = read_statement(self.text[start:end], origin, start)
        ours = TextPart.of(self.text, tree)
        before, after = [TextPart.of(text, read_statement(text, origin, 0)) for text in printed]
        assert ours is not None
        assert before is not None
        assert after is not None
        count = len(self.edits.edits)
        try:
            self.part(ours, before, after)
        except CannotEdit:
            del self.edits.edits[count:]
            return False
        self.edits.keep_comments(start, count)
        return True

    def part(self, ours: TextPart, base: TextPart, theirs: TextPart) -> None:
        """Edit a construct.

        Raises:
            CannotEdit: the differences cannot be written into the text.
        """
        is_same = base.body == theirs.body or base.token_texts() == theirs.token_texts()
        if is_metadata(ours, "repeated_entry"):
            self._repeated_entry(ours, theirs)
            return
        if is_same and not self._depends_on_others(ours):
            return
        versions = (ours, base, theirs)
        origin = ours.origin
        same = base.origin == theirs.origin == origin
        is_graph = origin == "training_item" and read_list(ours) is None
        if same and (
            (origin in construct_rules.PARTS and (origin != "training_item" or is_graph))
            or construct_rules.are_decorated(*versions)
        ):
            self._roles(ours, base, theirs)
            return
        lists = [read_list(part) for part in versions] if origin in construct_rules.LISTS else []
        if same and lists and all(lists):
            mine, before, others = [listed or ListItems() for listed in lists]
            heads = [source_text(listed.head) for listed in (mine, before, others)]
            if heads[1] != heads[2] and not has_other_path(ours, base):
                start = mine.head[0].start
                self._tokens(start, start + len(heads[0]), heads[1], heads[2])
            commas = origin not in construct_rules.WITHOUT_COMMAS and (
                origin != "record" or any(item.comma for item in mine.items)
            )
            if mine.items or not others.items:
                self.items(mine, before, others, commas=commas)
                return
            closing = ours.end - len(mine.closing)
            self.edits.replace(closing, closing, source_text([item.part for item in others.items]))
            return
        children = [part.children() for part in versions if not construct_rules.punctuation(part)]
        if is_same:
            return
        if same and [len(part) for part in children] == [1, 1, 1]:
            self.part(children[0][0], children[1][0], children[2][0])
            return
        self._tokens(ours.start, ours.end, base.body, theirs.body)

    def _depends_on_others(self, part: TextPart) -> bool:
        """Whether a part may need an edit although its printed forms before and after are equal."""
        if part.origin not in ("section", "metadata_item"):
            return False
        return may_name(part.body, self.renamed) or (
            part.origin == "metadata_item" and "above" in part.body
        )

    def _tokens(self, start: int, end: int, before: str, after: str) -> None:
        edited = edit_tokens(self.text[start:end], before, after)
        self.edits.replace(start, end, after if edited is None else edited)

    def _rename_in_path(self, part: TextPart) -> bool:
        """Write the new names into the path of a metadata block or annotation.

        Return False, and write nothing, if the path names a removed value or node, or a value that
        another list declares now.
        """
        if part.origin not in PATHS:
            return True
        tokens = read_tokens(_head(part))[:-1]
        names = [
            (token, self.renamed[name])
            for token in tokens
            if (name := decode_token(token)) in self.renamed
        ]
        moved = [token for token, new in names if new == decode_token(token)]
        if any(new is None for _, new in names) or (moved and tokens[0].text in _OF_VALUES):
            return False
        for token, new in names:
            if token in moved:
                continue
            start = part.start + token.at
            self.edits.replace(start, start + len(token.text), quote_word(new or ""))
        return True

    def _roles(self, ours: TextPart, base: TextPart, theirs: TextPart) -> None:
        mine, before, others = map(construct_rules.roles_of, (ours, base, theirs))
        if mine.keys().isdisjoint(others):
            self._tokens(ours.start, ours.end, base.body, theirs.body)
            return
        for role, (_, part) in before.items():
            if role in others and role in mine:
                self.part(mine[role][1], part, others[role][1])
            elif role in others:
                if part.token_texts() != others[role][1].token_texts():
                    raise CannotEdit
            elif role in mine:
                self._remove_role(mine, role)
        last: TextPart | None = None
        for role, (glue, part) in others.items():
            if role in mine:
                last = mine[role][1]
                if role not in before:
                    self.edits.replace(last.start, last.end, part.body)
            elif role not in before:
                if last is None:
                    following = list(others)[list(others).index(role) + 1]
                    new = part.body + (others[following][0] or " ")
                    self.edits.replace(ours.start, ours.start, new)
                else:
                    self.edits.replace(last.end, last.end, glue + part.body)

    def _remove_role(self, mine: dict[str, tuple[str, TextPart]], role: str) -> None:
        glue, part = mine[role]
        start, end = part.start, part.end
        roles = list(mine)
        if role == roles[0] and len(roles) > 1:
            glue, following = mine[roles[1]]
            end = end if "#" in glue else following.start
        elif "#" not in glue:
            start -= len(glue)
        if part.origin in construct_rules.CONTAINERS:
            self.edits.remove_part(start, end, is_statement=True)
        else:
            self.edits.replace(start, end, "")


def _items_above(
    ours: ListItems,
    theirs: ListItems,
    places: Mapping[int, int],
    gone: set[int],
    added: Mapping[int, Sequence[int]],
) -> dict[int, TextPart | None]:
    """Map each item that stays in a list to the item directly above it after the edit.

    The keys are indices in `ours`; the key -1 is the beginning of the list. The values are items of
    `theirs`, the printed list after the edit; None if no such item is above.

    `places` maps indices in `theirs` to indices in `ours`. `gone` has the indices in `ours` of the
    items to remove or move. `added` maps indices in `ours` to the items to insert after them.
    """
    matching = {place: theirs.items[index].part for index, place in places.items()}
    result: dict[int, TextPart | None] = {}
    above: TextPart | None = None
    for place in range(-1, len(ours.items)):
        if place in gone:
            continue
        result[place] = above
        above = theirs.items[added[place][-1]].part if place in added else matching.get(place)
    return result


def _entries(block: TextPart | None) -> dict[Hashable, str]:
    """Map the key of each entry in a printed metadata block to its value; {} for other parts."""
    listed = None if block is None or not is_metadata(block, "metadata_block") else read_list(block)
    result = {}
    for item in () if listed is None else listed.items:
        value = item.part.tree.last() if isinstance(item.part.tree, Tree) else None
        if value is not None:
            result[key_of(item.part)] = value.text
    return result


def _head(part: TextPart) -> str:
    listed = read_list(part)
    return "" if listed is None else source_text(listed.head)
