# SPDX-License-Identifier: Apache-2.0
"""The three-way merge of models: field by field and item by item, whatever their spelling.

Each result is a `Resolved`: the merge with conflicts resolved to ours, to theirs, to the base. The
three are equal where nothing conflicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxtext.merge.matching import ABSENT, Rules, Triple, arrange, match
from onnxtext.merge.messages import MODEL, Fields, Kind, Listing, join, split
from onnxtext.wire.writer import LENGTH

Maybe = bytes | None
Resolved = tuple[Any, Any, Any]
"""A value resolved to ours, to theirs and to the base; None where it is absent."""
Where = tuple[int, int]
"""A list of the model: (0, field), or of the main graph: (7, field)."""


@dataclass
class ModelMerger:
    """Merges three versions of a model.

    Attributes:
        forced: items that conflict although they could be merged, by their list and by their place
            in the merge that is resolved to ours.
        ambiguous: whether there is a conflict that cannot be seen in the results.
    """

    forced: dict[Where, set[int]] = field(default_factory=dict)
    ambiguous: bool = False

    def model(self, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bytes, bytes]:
        """Merge canonical bytes of whole models; the base is empty if there is none."""
        self.ambiguous = False
        simple = None if self.forced else _three_way(base, ours, theirs)
        return simple or self._fields(MODEL, base, ours, theirs, 0)

    # ---- Messages ---------------------------------------------------------------------------

    def _message(self, kind: Kind, base: Maybe, ours: Maybe, theirs: Maybe) -> Resolved:
        if (simple := _three_way(base, ours, theirs)) is not None:
            return simple
        if kind.united and base is None and ours is not None and theirs is not None:
            base = b""
        if base is None or ours is None or theirs is None:
            return ours, theirs, base
        return self._fields(kind, base, ours, theirs)

    def _fields(
        self, kind: Kind, base: bytes, ours: bytes, theirs: bytes, owner: int = -1
    ) -> Resolved:
        """Merge messages that both sides have changed.

        Args:
            kind: their type.
            base: the common ancestor.
            ours: one version.
            theirs: the other one.
            owner: 0 for the model, 7 for the main graph, else -1.
        """
        versions = [split(base), split(ours), split(theirs)]
        made: tuple[Fields, Fields, Fields] = ({}, {}, {})
        for numbers in _groups(kind, versions):
            parts = [{key: v[key] for key in v if key >> 3 in numbers} for v in versions]
            for target, part in zip(made, self._group(kind, numbers, parts, owner), strict=True):
                if part is None:
                    return ours, theirs, base
                target.update(part)
        if kind.exclusive[0] and _excluded(kind, versions):
            return ours, theirs, base
        return join(made[0]), join(made[1]), join(made[2])

    def _group(
        self, kind: Kind, numbers: frozenset[int], parts: Sequence[Fields], owner: int
    ) -> Resolved:
        """Merge fields that belong together; None for a conflict of the whole message."""
        base, ours, theirs = parts
        number = min(numbers)
        key = number << 3 | LENGTH
        where = (owner, number)
        holds_forced = where in self.forced or (where == (0, 7) and self.forced)
        if not holds_forced and (simple := _three_way(base, ours, theirs)) is not None:
            return simple
        items = [part.get(key, []) for part in parts]
        if number in kind.lists:
            lists = self._list(kind.lists[number], items, where)
            return _each([{key: found} if found else {} for found in lists])
        if number in kind.messages and max(map(len, items)) == 1:
            single = [item[0] if item else None for item in items]
            if None not in single[1:] and (kind.united or None not in single):
                found = self._inner(kind.messages[number], where, single)
                return _each([{key: [one]} for one in found])
        elif number in kind.positions:
            merged = _positions(*items)
            if merged is not None:
                return ({key: merged},) * 3
        if kind.united:
            return ours, theirs, base
        return None, None, None

    def _inner(self, kind: Kind, where: Where, versions: Sequence[Maybe]) -> Resolved:
        """Merge a message in a field of its own."""
        base, ours, theirs = versions
        if where != (0, 7):
            return self._message(kind, base, ours, theirs)
        assert ours is not None
        assert theirs is not None
        return self._fields(kind, base or b"", ours, theirs, 7)

    # ---- Lists ------------------------------------------------------------------------------

    def _list(self, listing: Listing, items: Sequence[list[bytes]], where: Where) -> Resolved:
        """Merge the items of a list that both sides have changed."""
        if listing.kind is not None and listing.key(b"") == "training":
            return self._by_place(listing.kind, items)
        key = _memo(listing.key)
        rules = Rules(
            lambda item: item, key, tuple(map(_memo, listing.similar)), listing.alike, weak=True
        )
        triples = match(items[0], items[1], items[2], rules)
        ambiguous = self._ambiguous(items, key)
        self.ambiguous |= ambiguous
        found = {id(triple): self._item(listing, triple, items) for triple in triples}
        order, consistent = arrange(triples, strict=listing.ordered)
        if where in self.forced:
            shown = [triple for triple in order if found[id(triple)][0] is not None]
            for triple in [shown[at] for at in self.forced[where]]:
                found[id(triple)] = self._conflict(*_versions(triple, items))
        orders = [order, order, order]
        if not consistent:
            orders = [
                order,
                arrange(triples, strict=True, theirs_first=True)[0],
                _in_base_order(order),
            ]
        made: list[list[bytes]] = []
        for version, arranged in enumerate(orders):
            made.append([r for t in arranged if (r := found[id(t)][version]) is not None])
        return _each(made)

    def _item(self, listing: Listing, triple: Triple, items: Sequence[list[bytes]]) -> Resolved:
        base, ours, theirs = _versions(triple, items)
        if triple.replaced and base not in (ours, theirs):
            # Perhaps a side has renamed it; what the other side has done to it would be lost.
            return self._conflict(base, ours, theirs)
        if listing.kind is None or None in (base, ours, theirs):
            simple = _three_way(base, ours, theirs)
            return (ours, theirs, base) if simple is None else simple
        return self._message(listing.kind, base, ours, theirs)

    def _conflict(self, base: Maybe, ours: Maybe, theirs: Maybe) -> Resolved:
        self.ambiguous |= ours == theirs
        return ours, theirs, base

    def _by_place(self, kind: Kind, items: Sequence[list[bytes]]) -> Resolved:
        """Merge a list in which only the place identifies an item."""
        base, ours, theirs = items
        if not len(base) == len(ours) == len(theirs):
            return ours, theirs, base
        merged = [self._message(kind, *item) for item in zip(*items, strict=True)]
        return _each([[item[version] for item in merged] for version in range(3)])

    @staticmethod
    def _ambiguous(items: Sequence[list[bytes]], key: Any) -> bool:
        """Whether both sides have changed how many items share one key."""
        groups: list[dict[Hashable, list[bytes]]] = []
        for listed in items:
            found: dict[Hashable, list[bytes]] = defaultdict(list)
            if len(set(listed)) < len(listed) or len(set(map(key, listed))) < len(listed):
                for item in listed:
                    found[item if (known := key(item)) is None else (known,)].append(item)
            groups.append(found)
        shared = {k for group in groups for k, found in group.items() if len(found) > 1}
        if not shared:
            return False
        for listed, group in zip(items, groups, strict=True):
            if not group:
                for item in listed:
                    group[item if (known := key(item)) is None else (known,)].append(item)
        base, ours, theirs = groups
        return any(base.get(k) != ours.get(k) and base.get(k) != theirs.get(k) for k in shared)


def _versions(triple: Triple, items: Sequence[list[bytes]]) -> list[Maybe]:
    places = (triple.base, triple.ours, triple.theirs)
    return [None if at == ABSENT else listed[at] for at, listed in zip(places, items, strict=True)]


def _in_base_order(triples: Sequence[Triple]) -> list[Triple]:
    return sorted(triples, key=lambda triple: triple.base)


def _memo(key: Any) -> Any:
    """A key function that reads each item once."""
    known: dict[bytes, Hashable] = {}

    def read(item: bytes) -> Hashable:
        if item not in known:
            known[item] = key(item)
        return known[item]

    return read


def _each(versions: Sequence[Any]) -> Resolved:
    ours, theirs, base = versions
    return ours, theirs, base


def _three_way(base: Any, ours: Any, theirs: Any) -> Resolved | None:
    """The merge of values of which at most one side has changed its own; None for a conflict."""
    if theirs in (ours, base):
        return ours, ours, ours
    if ours == base:
        return theirs, theirs, theirs
    return None


def _groups(kind: Kind, versions: Sequence[Fields]) -> list[frozenset[int]]:
    """The numbers of fields that are merged together."""
    there = {key >> 3 for fields in versions for key in fields}
    found = [unit & there for unit in kind.units if unit & there]
    together = frozenset().union(*kind.units)
    return [*found, *[frozenset((number,)) for number in sorted(there - together)]]


def _excluded(kind: Kind, versions: Sequence[Fields]) -> bool:
    """Whether the sides have changed fields that only make sense together."""
    base, *sides = versions
    changed = [
        [
            any(base.get(n << 3 | LENGTH) != side.get(n << 3 | LENGTH) for n in group)
            for side in sides
        ]
        for group in kind.exclusive
    ]
    one, other = changed
    same = [
        all(sides[0].get(n << 3 | LENGTH) == sides[1].get(n << 3 | LENGTH) for n in group)
        for group in kind.exclusive
    ]
    return not any(same) and ((one[0] and other[1]) or (one[1] and other[0]))


def _positions(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    """Merge lists in which the position identifies an item; None for a conflict.

    One side may add items at the end, or take some away there if no two are equal; the other may
    change others in place.
    """
    changed, other = (theirs, ours) if len(ours) == len(base) else (ours, theirs)
    count = min(len(base), len(changed))
    if len(other) != len(base) or other[count:] != base[count:]:
        return None
    if len(changed) != len(base) and changed[:count] != base[:count]:
        return None
    if len(changed) < len(base) and len(set(base)) < len(base):
        return None
    made: list[bytes] = []
    for before, one, two in zip(base, changed, other, strict=False):
        found = _three_way(before, one, two)
        if found is None:
            return None
        made.append(found[0])
    return [*made, *changed[count:]]
