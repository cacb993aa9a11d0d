# SPDX-License-Identifier: Apache-2.0
"""Comparing the merge of texts with the merge of their models, item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from onnxtext.ast.model import Model
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merge.digests import Known, lower_one
from onnxtext.merge.messages import GRAPH, MODEL, Kind, split
from onnxtext.proto.value_lowering import LowerError
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.wire.writer import LENGTH

Items = dict[Hashable, bytes]
_GRAPH = 7 << 3 | LENGTH


def lowered(text: str, known: Known, versions: Sequence[Model]) -> bytes | None:
    """The model that a merged text says; None if it is none, or lacks data that a version has."""
    try:
        model = parse_model(Source(text, "<merge>"))
        return lower_one(model, known) if has_all(model, text, versions) else None
    except (OnnxTextError, LowerError):
        return None


def has_all(model: Model, text: str, versions: Sequence[Model]) -> bool:
    """Whether the blobs that a merge names are where the versions have them."""
    from onnxtext.merge.review import BLOB

    for digest in set(BLOB.findall(text)):
        if _holds(model, digest):
            continue
        holders = [version for version in versions if _holds(version, digest)]
        places = [version.places for version in versions if version.places]
        if holders or not all(place in model.places for found in places for place in found):
            return False
    return True


def _holds(model: Model, digest: str) -> bool:
    return any(name.startswith(digest) or digest.startswith(name) for name in model.resources)


def accepts(
    found: tuple[bytes, bytes], resolved: Sequence[bytes], ours: bytes, theirs: bytes
) -> bool:
    """Whether a text with conflicts is right.

    Each item must be what the merge of the models says, or be marked with the versions of both
    sides.

    Args:
        found: the models that the text says with its conflicts resolved to ours and to theirs.
        resolved: the merge of the models, resolved likewise.
        ours: our model.
        theirs: their model.
    """
    mine, others = _items(found[0]), _items(found[1])
    one, other = _items(resolved[0]), _items(resolved[1])
    our_items, their_items = _items(ours), _items(theirs)
    for key in {*mine, *others, *one, *other, *our_items, *their_items}:
        shown = (mine.get(key), others.get(key))
        if shown == (one.get(key), other.get(key)):
            continue
        if shown != (our_items.get(key), their_items.get(key)):
            return False
    return _in_order(mine, one) and _in_order(others, other)


def _in_order(found: Items, wanted: Items) -> bool:
    """Whether the items that two models share stand in the same order."""
    return [key for key in found if key in wanted] == [key for key in wanted if key in found]


def _items(data: bytes) -> Items:
    """The items of a model and of its main graph by their keys."""
    found: Items = {}
    fields = split(data)
    for graph in fields.pop(_GRAPH, []):
        _add(found, 7, GRAPH, split(graph))
    _add(found, 0, MODEL, fields)
    return found


def _add(found: Items, owner: int, kind: Kind, fields: dict[int, list[bytes]]) -> None:
    for tag in sorted(fields):
        listing = kind.lists.get(tag >> 3)
        seen: Counter[Hashable] = Counter()
        for payload in fields[tag]:
            key = None if listing is None else listing.key(payload)
            if key is None and listing is not None:
                key = payload
            seen[key] += 1
            found[owner, tag, key, seen[key]] = payload
