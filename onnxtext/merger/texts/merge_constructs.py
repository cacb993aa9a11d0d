# SPDX-License-Identifier: Apache-2.0
"""Merge texts: constructs part by part, lists item by item."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.merger.conflict_markers import Markers
from onnxtext.merger.renames import Renames
from onnxtext.merger.texts import construct_rules
from onnxtext.merger.texts.construct_rules import MergeConflict
from onnxtext.merger.texts.item_order import arrange
from onnxtext.merger.texts.match_items import ABSENT, match, text_match_rules
from onnxtext.merger.texts.merged_tree import (
    Body,
    ConflictPart,
    MergedConstruct,
    MergedItem,
    MergedList,
    MergedTreeWriter,
)
from onnxtext.merger.texts.text_parts import Item, ListItems, TextPart, read_list, source_text
from onnxtext.merger.texts.trivia_merge import (
    drop_deleted_comments,
    merge_blanks,
    merge_tails,
    missing_comments,
    with_comments,
)


class Merger:
    """Merges three versions of a text.

    Attributes:
        renames: the renames of ours and the renames of theirs.
        about_comments: number of conflicts that concern comments only.

    The methods raise `MergeConflict` if both sides changed something in different ways, and no
    conflict markers fit inside the construct.
    """

    def __init__(self, renames: tuple[Renames, Renames]) -> None:
        self.renames = renames
        self.about_comments = 0
        self.notes: list[str] = []

    def model(self, base: ListItems, ours: ListItems, theirs: ListItems) -> MergedList:
        """Return the merged top-level items of three texts; `base` may be empty.

        Raises:
            MergeConflict: no conflict markers fit around a conflict.
        """
        merged = self._list("", base, ours, theirs)
        merged.items.sort(key=construct_rules.top_level_rank)
        return merged

    # ---- Lists ------------------------------------------------------------------------------

    def _list(self, origin: str, base: ListItems, ours: ListItems, theirs: ListItems) -> MergedList:
        rules = text_match_rules(base.items)
        matched_items = match(base.items, ours.items, theirs.items, rules)
        merged_items: dict[int, MergedItem] = {}
        for matched_item in matched_items:
            merged_item = self._item(
                _at(base, matched_item.base),
                _at(ours, matched_item.ours),
                _at(theirs, matched_item.theirs),
            )
            if merged_item is not None:
                merged_items[id(matched_item)] = merged_item
        order, _ = arrange(
            [matched_item for matched_item in matched_items if id(matched_item) in merged_items]
        )
        merged = [merged_items[id(matched_item)] for matched_item in order]
        there = [items for items in (ours, theirs, base) if items.opening]
        brackets = there[0] if there else ours
        listed = MergedList(
            head=self._head(base, ours, theirs),
            opening=brackets.opening,
            opening_tail=_blanks("opening_tail", base, ours, theirs),
            items=merged,
            suffix=_blanks("suffix", base, ours, theirs),
            closing=brackets.closing,
            commas=origin not in construct_rules.WITHOUT_COMMAS
            and (origin != "record" or any(i.comma for i in (*ours.items, *theirs.items))),
            trailing_comma=_trailing_comma(base, ours, theirs),
        )
        drop_deleted_comments(listed, (base, ours, theirs))
        if _is_broken(ours) or _is_broken(theirs):
            _break_evenly(listed)
        if listed.commas and not any(i.lead == "" for v in (ours, theirs) for i in v.items[1:]):
            for merged_item in listed.items[1:]:
                # The item may have no lead because it is the first item of its side.
                merged_item.lead = merged_item.lead or " "
            if listed.opening and not any(v.items and v.items[0].lead for v in (ours, theirs)):
                for merged_item in listed.items[:1]:
                    # The item may have a lead because it is not the first item of its side.
                    merged_item.lead = merged_item.lead.lstrip(" ")
        return listed

    def _head(self, base: ListItems, ours: ListItems, theirs: ListItems) -> Body:
        """Merge the parts before the opening bracket of a section or block."""
        heads = [items.head for items in (base, ours, theirs)]
        if not any(heads):
            return ""
        before, mine, others = [construct_rules.token_texts(head) for head in heads]
        chosen = ours.head or theirs.head
        if before == mine and others:
            chosen = theirs.head
        elif mine and others and others not in (before, mine):
            raise MergeConflict
        return MergedConstruct([("", f"{source_text(chosen)} ")])

    def _item(self, base: Item | None, ours: Item | None, theirs: Item | None) -> MergedItem | None:
        """Merge the versions of an item; None if the merge does not have it.

        Raises:
            MergeConflict: the item is a conflict that cannot be marked.
        """
        versions = (base, ours, theirs)
        if ours is None and theirs is None:
            return None
        if self._is_outdated_encoding(base, ours, theirs):
            return None
        conflict = False
        body: Body | None
        try:
            body = self.part(_part(base), _part(ours), _part(theirs))
            if body is None and construct_rules.has_new_comments(base, ours or theirs):
                self.about_comments += construct_rules.can_be_marked(versions)
                raise MergeConflict
        except MergeConflict:
            if not construct_rules.can_be_marked(versions):
                raise
            body, conflict = "", True
        if body is None:
            return None
        lead = merge_blanks(*[None if item is None else item.lead for item in versions])
        tail, comments = merge_tails(*[None if item is None else item.tail for item in versions])
        lead = with_comments(lead, comments)
        if not conflict and any("#" in item.part.body for item in (ours, theirs) if item):
            writer = MergedTreeWriter(Markers())
            writer.body(body)
            lead = with_comments(lead, missing_comments(*versions, writer.text()))
        return MergedItem(lead, body, tail, versions, conflict)

    def _is_outdated_encoding(
        self, base: Item | None, ours: Item | None, theirs: Item | None
    ) -> bool:
        """Whether an item is an encoding section that does not apply to the merge.

        If True, add a note.
        """
        item = ours or theirs
        assert item is not None
        if item.part.origin != "section" or not item.part.body.startswith("encoding"):
            return False
        if len({None if i is None else i.part.body for i in (base, ours, theirs)}) == 1:
            return False
        self.notes.append(
            "the encoding section was left out, because it is not equal in all versions"
        )
        return True

    # ---- Constructs -------------------------------------------------------------------------

    def part(
        self, base: TextPart | None, ours: TextPart | None, theirs: TextPart | None
    ) -> Body | None:
        """Return a merged construct; None if all versions lack it or the merge deletes it.

        Raises:
            MergeConflict: both sides changed the construct in different ways.
        """
        before, mine, others = [None if p is None else p.body for p in (base, ours, theirs)]
        versions = [part for part in (base, ours, theirs) if part is not None]
        origin = versions[0].origin
        if origin == "resource" and construct_rules.is_blob(versions[0]):
            # The blobs have equal digests. `text_review` drops unused blobs.
            return mine or others
        # Constructs that only one side changed are split, too: any statement can be a conflict.
        if (
            len(versions) < 3
            or before == mine == others
            or not construct_rules.holds_statements(versions[1])
        ):
            if others in (mine, before):
                return mine
            if before == mine:
                return others
        if any(
            construct_rules.punctuation(part) == "" and part.origin != origin for part in versions
        ):
            raise MergeConflict
        if ours is None or theirs is None or base is None:
            return self._added_or_removed(base, ours, theirs, origin)
        if origin in construct_rules.PARTS and not (origin == "training_item" and read_list(ours)):
            return self._parts(base, ours, theirs, origin)
        if construct_rules.are_decorated(base, ours, theirs):
            return self._parts(base, ours, theirs, origin)
        are_entries = construct_rules.are_metadata(base, ours, theirs)
        lists = (
            [read_list(part) for part in (base, ours, theirs)]
            if origin in construct_rules.LISTS or are_entries
            else []
        )
        if lists and all(lists):
            merged = self._list(origin, *lists)  # type: ignore[arg-type]
            return merged if merged.items or not are_entries else None
        if origin == "section" and not any(lists):
            return self._parts(base, ours, theirs, origin)
        return self._single_part(base, ours, theirs)

    def _added_or_removed(
        self, base: TextPart | None, ours: TextPart | None, theirs: TextPart | None, origin: str
    ) -> Body | None:
        """Merge a construct that at least one version lacks; None if the merge deletes it."""
        allowed = construct_rules.MERGE_IF_BOTH_ADD if base is None else construct_rules.OPTIONAL
        if origin in allowed:
            lists = [ListItems() if p is None else read_list(p) for p in (base, ours, theirs)]
            if all(items is not None for items in lists):
                merged = self._list(origin, *lists)  # type: ignore[arg-type]
                return merged if merged.items or base is None else None
        if (ours is not None and theirs is not None) and (
            origin in (*construct_rules.GRAPHS, "head")
            or construct_rules.define_alike(ours, theirs)
        ):
            return self._parts(None, ours, theirs, origin)
        versions = [part for part in (base, ours, theirs) if part is not None]
        if len(versions) == 2 and construct_rules.are_equivalent(versions[0], versions[1]):
            return None if base is not None else versions[0].body
        for side, other, renames in zip((ours, theirs), (theirs, ours), self.renames, strict=True):
            if other is None and construct_rules.only_inputs_renamed(base, side, renames):
                return None
        raise MergeConflict

    def _single_part(self, base: TextPart, ours: TextPart, theirs: TextPart) -> Body:
        """Merge a construct: by its only part, as a positional list, or as a whole."""
        versions = (base, ours, theirs)
        if all(isinstance(part.tree, Tree) for part in versions) and ours.origin != "name":
            children = [part.children() for part in versions]
            counts = {len(part) for part in children}
            if counts == {1}:
                body = self.part(children[0][0], children[1][0], children[2][0])
                assert body is not None
                return body
            if ours.origin in ("names", "outputs", "elements", "element", "attribute_value"):
                return self._positional(children, versions)
        before, mine, others = [part.token_texts() for part in versions]
        if others in (mine, before):
            return ours.body
        if before == mine:
            return theirs.body
        raise MergeConflict

    def _positional(
        self, children: Sequence[Sequence[TextPart]], versions: Sequence[TextPart]
    ) -> Body:
        """Merge a positional list, such as the inputs of a node.

        One side may add or remove items at the end of the list.
        """
        base, ours, theirs = children
        if len(ours) != len(base) != len(theirs) and len(ours) != len(theirs):
            raise MergeConflict
        longer = theirs if len(ours) == len(base) else ours
        other = ours if longer is theirs else theirs
        count = min(len(base), len(longer))
        if any(
            [construct_rules.punctuation(part) for part in parts[:count]]
            != [construct_rules.punctuation(p) for p in base[:count]]
            for parts in children
        ):
            raise MergeConflict
        if construct_rules.token_texts(other[count:]) != construct_rules.token_texts(base[count:]):
            raise MergeConflict
        merged: list[tuple[str, Body]] = []
        offset = versions[1].start
        for old, mine, others in zip(base[:count], ours, theirs, strict=False):
            body = self.part(old, mine, others)
            assert body is not None
            merged.append((mine.source[offset : mine.start], body))
            offset = mine.end
        if len(longer) > count:
            whole = versions[2] if longer is theirs else versions[1]
            merged.append(
                (
                    whole.source[longer[count - 1].end : longer[count].start],
                    whole.source[longer[count].start : whole.end],
                )
            )
        return MergedConstruct(merged)

    def _parts(self, base: TextPart | None, ours: TextPart, theirs: TextPart, origin: str) -> Body:
        """Merge a construct part by part, in the order of the side that changed the order."""
        versions = [
            {} if part is None else construct_rules.roles_of(part) for part in (base, ours, theirs)
        ]
        if base is not None:
            construct_rules.check_dependent_parts(base, ours, theirs, self.renames)
        first, second = versions[1], versions[2]
        if list(versions[0]) == list(first):
            first, second = second, first
        order = list(first)
        before = ""
        for role in second:
            if role not in first:
                order.insert(order.index(before) + 1 if before in order else 0, role)
            before = role
        merged: list[tuple[str, Body]] = []
        before = ""
        for role in order:
            found = [version.get(role) for version in versions]
            parts = [None if entry is None else entry[1] for entry in found]
            body = self._role(parts, origin)
            if body is not None:
                glue = merge_blanks(*[None if entry is None else entry[0] for entry in found])
                if before == "decorators" and merged and not glue:
                    # The part is first on its side, but not in the merge.
                    glue = _space_after_decorators(versions)
                before = role
                merged.append((glue if merged else glue.lstrip(), body))
        return MergedConstruct(merged)

    def _role(self, parts: list[TextPart | None], origin: str) -> Body | None:
        try:
            return self.part(*parts)
        except MergeConflict:
            if origin not in construct_rules.GRAPHS:
                raise
            base, ours, theirs = [None if part is None else part.body for part in parts]
            return ConflictPart((base, ours, theirs))


def _space_after_decorators(versions: Sequence[dict[str, tuple[str, TextPart]]]) -> str:
    """Return the whitespace after the decorators in ours or else theirs; " " without decorators."""
    for version in versions[1:]:
        roles = list(version)
        if "decorators" in roles[:-1]:
            return version[roles[roles.index("decorators") + 1]][0]
    return " "


def _at(items: ListItems, index: int) -> Item | None:
    return None if index == ABSENT else items.items[index]


def _part(item: Item | None) -> TextPart | None:
    return None if item is None else item.part


def _blanks(which: str, base: ListItems, ours: ListItems, theirs: ListItems) -> str:
    versions = (base, ours, theirs)
    have_brackets = any(items.opening for items in versions)
    return merge_blanks(
        *[getattr(i, which) if i.opening or not have_brackets else None for i in versions]
    )


def _trailing_comma(base: ListItems, ours: ListItems, theirs: ListItems) -> bool:
    """Whether a comma follows the last item of the merge."""
    before, mine, others = [v.items[-1].comma if v.items else None for v in (base, ours, theirs)]
    return bool(others if mine in (None, before) and others is not None else mine)


def _is_broken(items: ListItems) -> bool:
    """Whether every item of a list is on its own line."""
    leads = [item.lead for item in items.items[0 if items.opening else 1 :]]
    return bool(leads) and all("\n" in lead for lead in leads)


def _break_evenly(listed: MergedList) -> None:
    """Put every item on its own line if at least half of the items already have their own line."""
    leads = [merged_item.lead for merged_item in listed.items]
    broken = next((lead for lead in leads if "\n" in lead), None)
    if broken is None or sum("\n" in lead for lead in leads[1:]) * 2 < len(leads[1:]):
        return
    line = "\n" + broken.rpartition("\n")[2]
    for merged_item in listed.items if listed.opening else listed.items[1:]:
        if "\n" not in merged_item.lead and "#" not in merged_item.lead:
            merged_item.lead = line
    if listed.closing and "\n" not in listed.suffix:
        listed.suffix += line.removesuffix("  ")
