# SPDX-License-Identifier: Apache-2.0
"""Pair the items of a list in a text with the items of the same list in printed models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

from onnxtext.ast.model import Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.merger.texts.item_keys import content_of, key_of, label_of
from onnxtext.merger.texts.text_parts import Item, TextPart

Pairs = dict[int, int]
"""Maps indices of items in the printed model before the edit to indices in another list."""
Key = Callable[[Item], Hashable]


PATHS = frozenset(("metadata_item", "annotation"))
"""Items of sections that begin with a path."""


def has_other_path(ours: TextPart, base: TextPart) -> bool:
    """Whether two spellings of an item differ in the path, such as `node y` and `node [label]`."""
    return ours.origin in PATHS and _path(ours) != _path(base)


def _path(part: TextPart) -> Hashable:
    key = key_of(part)
    return key[1:] if part.origin == "metadata_item" and isinstance(key, tuple) else key


def renamed_names(old: Model, new: Model) -> dict[str, str | None]:
    """Map each name of a value or node that an edit has renamed to the new name.

    Names that the edit removed are mapped to None.
    """
    after = {at: names for at, names in _statement_names(new) if at >= 0}
    kept = {name for _, names in _statement_names(new) for name in names}
    result: dict[str, str | None] = {}
    for at, names in _statement_names(old):
        others = after.get(at, ())
        for index, name in enumerate(names):
            if name and name not in kept:
                result[name] = others[index] if index < len(others) else None
    return result


def _statement_names(model: Model) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the offset of each statement, and its names: values, and the label of a node."""
    for owner in walk_graphs(model):
        for value in (*owner.inputs, *owner.outputs, *owner.values):
            yield value.at, (value.name,)
        for node in owner.nodes:
            yield node.at, (node.name or "", *node.outputs)


def pair_spellings(base: Sequence[Item], ours: Sequence[Item]) -> Pairs:
    """Pair the items of two lists with the same meaning.

    Their order may differ, and the spelling of an item: `output y { … }` may be `value y { … }`.

    Args:
        base: the items in the printed model.
        ours: the items in the text.
    """
    pairs: Pairs = {}
    for key in (_key, _name_in_section, _content, lambda item: item.part.origin):
        _pair_by(key, base, ours, pairs)
    return pairs


def pair_edited(base: Sequence[Item], theirs: Sequence[Item]) -> Pairs:
    """Pair the items of a list before and after an edit, which may rename, add or remove items.

    Args:
        base: the items before the edit.
        theirs: the items after the edit.
    """
    pairs: Pairs = {}
    _pair_by(_key, base, theirs, pairs)
    if len(pairs) < min(len(base), len(theirs)):
        _pair_by(_label, base, theirs, pairs)
        _pair_gaps(base, theirs, pairs)
        _pair_by(_content, base, theirs, pairs)
    return pairs


def _pair_by(key: Key, base: Sequence[Item], others: Sequence[Item], pairs: Pairs) -> None:
    """Pair unpaired items with equal keys, in order, if equally many items have the key."""
    taken = set(pairs.values())
    places: dict[Hashable, list[int]] = defaultdict(list)
    for index, item in enumerate(base):
        if index not in pairs and (item_key := key(item)) is not None:
            places[item_key].append(index)
    if not places:
        return
    found: dict[Hashable, list[int]] = defaultdict(list)
    for index, item in enumerate(others):
        if index not in taken and (item_key := key(item)) in places:
            found[item_key].append(index)
    for item_key, indices in found.items():
        if len(indices) == len(places[item_key]) or key is _key:
            pairs.update(zip(places[item_key], indices, strict=False))


def _pair_gaps(base: Sequence[Item], theirs: Sequence[Item], pairs: Pairs) -> None:
    """Pair the unpaired items between two pairs if both lists have equally many."""
    known = [(-1, -1), *sorted(pairs.items()), (len(base), len(theirs))]
    for (left, right), (next_left, next_right) in pairwise(known):
        olds, news = range(left + 1, next_left), range(right + 1, next_right)
        if len(olds) == len(news):
            origins = Counter((base[old].part.origin, theirs[new].part.origin)
                              for old, new in zip(olds, news, strict=True))  # fmt: skip
            if all(old == new for old, new in origins):
                pairs.update(zip(olds, news, strict=True))


def _key(item: Item) -> Hashable:
    key = key_of(item.part)
    return tuple(item.part.token_texts()) if key is None else key


def _name_in_section(item: Item) -> Hashable:
    """Return the name of a metadata block without its kind; None for other items."""
    return _path(item.part) if item.part.origin == "metadata_item" else None


def _label(item: Item) -> Hashable:
    return label_of(item.part) if item.part.origin == "node" else None


def _content(item: Item) -> Hashable:
    return content_of(item.part)
