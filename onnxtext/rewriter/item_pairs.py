# SPDX-License-Identifier: Apache-2.0
"""Pair the items of a list in a text with the items of the same list in printed models."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise

from onnxtext.ast.model import Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.merger.texts.item_keys import content_of, key_of
from onnxtext.merger.texts.text_parts import Item, TextPart
from onnxtext.sequences import equal_keys

Pairs = dict[int, int]
"""Maps indices of items in the printed model before the edit to indices in another list."""
Key = Callable[[Item], Hashable]


PATHS = frozenset(("metadata_item", "annotation"))
"""The kinds of items whose text begins with a path."""


def has_other_path(ours: TextPart, base: TextPart) -> bool:
    """Whether two spellings of an item differ in the path, such as `node y` and `node [label]`."""
    return ours.origin in PATHS and key_of(ours) != key_of(base)


def renamed_names(old: Model, new: Model) -> dict[str, str | None]:
    """Map old names to new names, for the values and nodes that an edit renamed.

    A name is mapped to None if the edit removed it, and to itself if the edit changed which lists
    declare it, such as the outputs or the inner values.
    """
    after = {at: names for at, names in _statement_names(new) if at >= 0}
    kept = {name for _, names in _statement_names(new) for name in names}
    result: dict[str, str | None] = {}
    for at, names in _statement_names(old):
        others = after.get(at, ())
        for index, name in enumerate(names):
            if name and name not in kept:
                result[name] = others[index] if index < len(others) else None
    before, now = _lists_of_names(old), _lists_of_names(new)
    return {name: name for name in before if before[name] != now.get(name)} | result


def may_name(text: str, renamed: Mapping[str, str | None]) -> bool:
    """Whether a part of a text may contain a renamed name; the test is fast but inexact."""
    if not renamed or "\\" in text:
        return bool(renamed)
    names = renamed.keys()
    return not (names.isdisjoint(_WORD.findall(text)) and names.isdisjoint(text.split('"')))


_WORD = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def _lists_of_names(model: Model) -> dict[str, set[str]]:
    """Map the name of each declared value to the lists that declare it."""
    result: dict[str, set[str]] = defaultdict(set)
    for owner in walk_graphs(model):
        for kind, values in (("input", owner.inputs), ("output", owner.outputs)):
            for value in values:
                result[value.name].add(kind)
        for value in owner.values:
            result[value.name].add("info" if value.data is None else "tensor")
        for node in owner.nodes:
            for name, type in zip(node.outputs, node.output_types, strict=False):
                if type is not None:
                    result[name].add("info")
    return result


def _statement_names(model: Model) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the offset of each statement, and its names: values, and the label of a node."""
    for owner in walk_graphs(model):
        for value in (*owner.inputs, *owner.outputs, *owner.values):
            yield value.at, (value.name,)
        for node in owner.nodes:
            yield node.at, (node.name or "", *node.outputs)


def pair_spellings(base: Sequence[Item], ours: Sequence[Item]) -> Pairs:
    """Pair the printed items in `base` with the items in the text that have the same meaning.

    The text may have these items in another order and spelling, such as `value y { … }` for
    `output y { … }`.
    """
    pairs: Pairs = {}
    for key in (_key, _name_in_section, lambda i: content_of(i.part), lambda i: i.part.origin):
        _pair_by(key, base, ours, pairs)
    return pairs


def pair_edited(
    base: Sequence[Item], theirs: Sequence[Item], renamed: Mapping[str, str | None]
) -> Pairs:
    """Pair the items of a list before and after an edit, which may rename, add or remove items.

    `renamed` is the result of `renamed_names`.
    """
    pairs: Pairs = {}
    repeated = {key for key, count in Counter(map(_key, base)).items() if count > 1}
    if repeated:  # such as two `training` sections: pair unchanged items first
        _pair_by(lambda item: _content_of_repeated(item, repeated), base, theirs, pairs)
    _pair_by(_key, base, theirs, pairs)
    if len(pairs) < min(len(base), len(theirs)):
        keys = {id(item): _new_key(_key(item), renamed, item.part.origin) for item in base}
        _pair_by(lambda item: keys.get(id(item), _key(item)), base, theirs, pairs)
        _pair_gaps(base, theirs, pairs)
    return pairs


def _content_of_repeated(item: Item, repeated: set[Hashable]) -> Hashable:
    key = _key(item)
    return (key, *item.part.token_texts()) if key in repeated else None


def _new_key(key: Hashable, renamed: Mapping[str, str | None], origin: str) -> Hashable:
    """Return the key of an item after the renames."""
    if isinstance(key, tuple):
        fixed = 1 if origin == "metadata_item" else 0  # the kind of a block
        return (*key[:fixed], *[_new_key(part, renamed, "") for part in key[fixed:]])
    return renamed.get(key) or key if isinstance(key, str) else key


def _pair_by(key: Key, base: Sequence[Item], others: Sequence[Item], pairs: Pairs) -> None:
    """Add pairs of unpaired items with equal keys to `pairs`, in order.

    Items with the key None stay unpaired. Unless `key` is `_key`, skip items whose key occurs more
    often in one list than in the other.
    """
    taken = set(pairs.values())
    groups = equal_keys(
        [(index, key(item)) for index, item in enumerate(base) if index not in pairs],
        ((index, key(item)) for index, item in enumerate(others) if index not in taken),
    )
    for left, right in groups:
        if len(left) == len(right) or key is _key:
            pairs.update(zip(left, right, strict=False))


def _pair_gaps(base: Sequence[Item], theirs: Sequence[Item], pairs: Pairs) -> None:
    """Pair the items between two successive pairs if both lists have equally many between them.

    Nodes, value infos, annotations and metadata are not paired here: the new item would get
    comments that describe the old one.
    """
    known = [(-1, -1), *sorted(pairs.items()), (len(base), len(theirs))]
    for (left, right), (next_left, next_right) in pairwise(known):
        gap = list(zip(range(left + 1, next_left), range(right + 1, next_right), strict=False))
        if len(gap) == next_left - left - 1 == next_right - right - 1:
            for old, new in gap:
                if base[old].part.origin == theirs[new].part.origin not in _NAMED:
                    pairs[old] = new


_NAMED = frozenset(("node", "value_info", *PATHS))


def _key(item: Item) -> Hashable:
    key = key_of(item.part)
    return tuple(item.part.token_texts()) if key is None else key


def _name_in_section(item: Item) -> Hashable:
    """Return the path of a metadata block without the kind: `y` for `node y`; None for others."""
    if item.part.origin != "metadata_item":
        return None
    key = key_of(item.part)
    return key[1:] if isinstance(key, tuple) else None
