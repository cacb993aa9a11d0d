# SPDX-License-Identifier: Apache-2.0
"""Apply the differences of two printed models to a text, item by item.

The text means the same as the printed model before the edit, but its layout, spelling and order of
items may differ. So each item of the text is paired with an item of this printed model, and that
item with one of the edited printed model. If the two printed items differ, only the differences are
written into the text: in lists item by item, in other constructs part by part, in the smallest
parts token by token.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

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
)
from onnxtext.printer.quoting import quote_word
from onnxtext.rewriter.item_pairs import (
    PATHS,
    has_other_path,
    may_name,
    pair_edited,
    pair_spellings,
)
from onnxtext.rewriter.text_edits import REST_OF_LINE, Edit, TextEdits
from onnxtext.rewriter.token_edits import edit_tokens

Printed = tuple[str, str]
"""The printed forms of a construct before and after an edit."""
TOP_LEVEL = frozenset(("head", "graph", "function", "section"))
_OF_VALUES = frozenset(("value", "output", "value_info", "tensor"))
"""The kinds of metadata blocks whose meaning depends on the list that declares a value."""
_UP_TO_COMMA = re.compile(r"(?:[^,#]|#[^\n]*)*,")


class CannotEdit(Exception):
    """The text has no place for a difference."""


class ItemEdits:
    """Writes the differences of two printed models into a text.

    In all methods, `ours` is a part of the text, `base` the same part of the printed model, and
    `theirs` of the printed edited model.
    """

    def __init__(self, edits: TextEdits, renamed: Mapping[str, str | None]) -> None:
        """Create a writer.

        Args:
            edits: receives the edits.
            renamed: maps the old names of values and nodes to their new names, or to None if the
                edit removed them.
        """
        self.edits = edits
        self.text = edits.text
        self.renamed = renamed

    # ---- Lists ------------------------------------------------------------------------------

    def items(self, ours: ListItems, base: ListItems, theirs: ListItems, *, commas: bool) -> None:
        """Edit the items of a list.

        Args:
            ours: the list in the text.
            base: the same list, printed.
            theirs: the edited list, printed.
            commas: whether commas separate the items.

        Raises:
            CannotEdit: the text has no place for a difference.
        """
        own = pair_spellings(base.items, ours.items)
        edited = pair_edited(base.items, theirs.items, self.renamed)
        removed = {own[index] for index in own if index not in edited}
        for index in set(range(len(ours.items))).difference(own.values()):
            if not self._rename_in_path(ours.items[index].part):
                removed.add(index)
        for index, item in enumerate(base.items):
            if index not in edited:
                continue
            changed = theirs.items[edited[index]].part
            if index in own:
                mine, count = ours.items[own[index]].part, len(self.edits.edits)
                if has_other_path(mine, item.part) and not self._rename_in_path(mine):
                    head, new = map(_head, (mine, changed))
                    self.edits.replace(mine.start, mine.start + len(head), new)
                self.part(mine, item.part, changed)
                self.edits.keep_comments(mine.start, count)
            elif item.part.token_texts() != changed.token_texts():
                raise CannotEdit
        for index, place in own.items():
            if place - 1 in removed and index in edited:
                self._write_out(ours.items[place].part, theirs.items[edited[index]].part)
        places = {edited[index]: own[index] for index in edited if index in own}
        added: dict[int, list[TextPart]] = defaultdict(list)
        last = -1
        known = set(edited.values())
        for index, item in enumerate(theirs.items):
            if index in known:
                last = places.get(index, last)
            else:
                added[last].append(item.part)
        self._add_and_remove(ours, added, removed, commas)

    def _write_out(self, ours: TextPart, theirs: TextPart) -> None:
        """Replace `above` by values in a metadata block if the block above it is removed."""
        lists = [read_list(part) for part in (ours, theirs)] if ours.origin in PATHS else []
        if not lists or lists[0] is None or lists[1] is None:
            return
        values = {key_of(item.part): item.part for item in lists[1].items}
        for item in lists[0].items:
            tree = item.part.tree
            if isinstance(tree, Tree) and tree.alias == "repeated_entry":
                word, new = tree.last(), values.get(key_of(item.part))
                value = new.tree.last() if new is not None and isinstance(new.tree, Tree) else None
                if word is not None and value is not None and not self.edits.covers(word.at):
                    self.edits.replace(word.at, word.end, value.text)

    def _add_and_remove(
        self, ours: ListItems, added: Mapping[int, list[TextPart]], removed: set[int], commas: bool
    ) -> None:
        """Add items after the items with the given indices (-1: first), and remove items."""
        if added and not ours.items:
            raise CannotEdit
        if added and len(removed) == len(ours.items):
            removed.remove(0)
            self._replace_item(ours, [part for parts in added.values() for part in parts], commas)
            added = {}
        kept = [index for index in range(len(ours.items)) if index not in removed]
        for index in removed:
            self._remove(ours, index)
        for index, parts in added.items():
            if index < 0:
                self._insert_before(ours, kept[0], parts, commas)
            else:
                self._insert_after(ours, index, parts, commas)
        final = kept[-1] if kept else -1
        if commas and final >= 0 and final not in added and not ours.items[-1].comma:
            end = ours.items[final].part.end
            comma = self._comma_end(ours, final)
            if comma > end:
                blanks = not self.text[end : comma - 1].strip(" \t")
                self.edits.replace(end if blanks else comma - 1, comma, "")

    def _comma_end(self, ours: ListItems, index: int) -> int:
        """Return the offset after an item and its comma."""
        item = ours.items[index]
        match = _UP_TO_COMMA.match(self.text, item.part.end) if item.comma else None
        return item.part.end if match is None else match.end()

    def _remove(self, ours: ListItems, index: int) -> None:
        part = ours.items[index].part
        start, end = part.start, self._comma_end(ours, index)
        rest = REST_OF_LINE.match(self.text, end)
        if self.edits.is_first_on_line(start) and rest is not None:
            if part.origin in TOP_LEVEL:
                start = _blank_line_before(self.text, start)
        else:
            following = len(self.text[end:]) - len(self.text[end:].lstrip(" \t")) + end
            if index + 1 < len(ours.items) and ours.items[index + 1].part.start == following:
                end = following
            elif not self.edits.is_first_on_line(start):
                start = len(self.text[:start].rstrip(" \t"))
        self.edits.remove(start, end, is_statement=part.origin in construct_rules.STATEMENTS)

    def _replace_item(self, ours: ListItems, parts: Sequence[TextPart], commas: bool) -> None:
        """Replace the first item and the comment behind it."""
        part, end = ours.items[0].part, self._comma_end(ours, 0)
        glue = ", " if commas else f"\n{self.edits.indent(part.start)}"
        self.edits.replace(part.start, part.end, glue.join([new.body for new in parts]))
        rest = REST_OF_LINE.match(self.text, end)
        if rest is not None and "#" in rest.group():
            self.edits.edits.append(Edit(end, rest.end(), "", drops_comments=True))

    def _insert_after(
        self, ours: ListItems, index: int, parts: Sequence[TextPart], commas: bool
    ) -> None:
        item = ours.items[index]
        offset = self._comma_end(ours, index)
        rest = REST_OF_LINE.match(self.text, offset)
        glue = " "
        if rest is not None and self.edits.is_first_on_line(item.part.start):
            glue = f"\n{self.edits.indent(item.part.start)}"
        if item.part.origin in TOP_LEVEL:
            glue = "\n\n"
        texts = [part.body for part in parts]
        comma = "," if commas else ""
        if commas and not item.comma:
            self.edits.replace(offset, offset, ",")
        if "\n" in glue and rest is not None:
            offset = rest.end()
        ends = [*[comma] * (len(texts) - 1), comma if item.comma else ""]
        new = "".join([f"{glue}{text}{end}" for text, end in zip(texts, ends, strict=True)])
        self.edits.replace(offset, offset, new)

    def _insert_before(
        self, ours: ListItems, index: int, parts: Sequence[TextPart], commas: bool
    ) -> None:
        start = ours.items[index].part.start
        glue = f"\n{self.edits.indent(start)}" if self.edits.is_first_on_line(start) else " "
        comma = "," if commas else ""
        new = "".join([f"{part.body}{comma}{glue}" for part in parts])
        self.edits.replace(start, start, new)

    # ---- Constructs -------------------------------------------------------------------------

    def statement(self, span: tuple[int, int], origin: str, printed: Printed) -> bool:
        """Edit the changed parts of a statement; return whether that is possible.

        Args:
            span: the start and the end of the statement in the text.
            origin: `node` or `value_info`.
            printed: the statement before and after the edit, printed.
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
            CannotEdit: the text has no place for a difference.
        """
        is_same = base.body == theirs.body or base.token_texts() == theirs.token_texts()
        if is_same and not (
            ours.origin in ("section", "metadata_item") and may_name(ours.body, self.renamed)
        ):
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
            heads = [_source_text(listed.head) for listed in (mine, before, others)]
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
            self.edits.replace(closing, closing, _list_content(others))
            return
        children = [part.children() for part in versions if not _is_token(part)]
        if is_same:
            return
        if same and [len(part) for part in children] == [1, 1, 1]:
            self.part(children[0][0], children[1][0], children[2][0])
            return
        self._tokens(ours.start, ours.end, base.body, theirs.body)

    def _tokens(self, start: int, end: int, before: str, after: str) -> None:
        edited = edit_tokens(self.text[start:end], before, after)
        self.edits.replace(start, end, after if edited is None else edited)

    def _rename_in_path(self, part: TextPart) -> bool:
        """Write the new names into the path of a metadata block or annotation.

        Return False, and write nothing, if the path names a value or node that was removed, or a
        value that is now declared in another list.
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


def _blank_line_before(text: str, offset: int) -> int:
    """Return the start of the blank lines that end at an offset; the offset itself without them."""
    blank = text[:offset].rstrip()
    line = text.find("\n", len(blank))
    return offset if line < 0 or line >= offset or not blank else line + 1


def _list_content(listed: ListItems) -> str:
    """Return the text between the brackets of a list."""
    first, last = listed.items[0].part, listed.items[-1].part
    return first.source[first.start : last.end]


def _is_token(part: TextPart) -> bool:
    return construct_rules.punctuation(part) != ""


def _head(part: TextPart) -> str:
    listed = read_list(part)
    return "" if listed is None else _source_text(listed.head)


def _source_text(parts: Sequence[TextPart]) -> str:
    return parts[0].source[parts[0].start : parts[-1].end] if parts else ""
