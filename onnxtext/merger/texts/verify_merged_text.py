# SPDX-License-Identifier: Apache-2.0
"""Accept a merged text if its model equals the merge of the models, item by item."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache

from onnxtext.ast.model import Model
from onnxtext.diagnostics import OnnxTextError
from onnxtext.merger.models.canonical_models import DataMarks, lower_one
from onnxtext.merger.models.message_rules import GRAPH, MODEL, MessageKind, split_message
from onnxtext.merger.texts.construct_rules import BLOB
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model
from onnxtext.tensor.blobs import Blobs
from onnxtext.wire.reader import WireError
from onnxtext.wire.writer import LENGTH

Items = dict[Hashable, bytes]
_GRAPH = 7 << 3 | LENGTH


def parse_or_none(text: str) -> Model | None:
    """Return the syntax tree of a text; None if the text has errors."""
    try:
        return parse_model(Source(text, "<merge>"))
    except OnnxTextError:
        return None


def lower_text(text: str, marks: DataMarks, versions: Sequence[Model]) -> bytes | None:
    """Return the canonical bytes of a merged text, or None if it is invalid (see `lower_tree`)."""
    model = parse_or_none(text)
    return None if model is None else lower_tree(model, text, marks, versions)


def lower_tree(
    model: Model, text: str, marks: DataMarks, versions: Sequence[Model]
) -> bytes | None:
    """Return the canonical bytes of a merged model, with marks (`DataMarks`) for tensor data.

    Return None if the model cannot be lowered, or lacks a blob that `text` mentions.
    """
    try:
        return lower_one(model, marks) if _has_all_blobs(model, text, versions) else None
    except (LowerError, RecordError):  # for example, a decorator names a deleted value
        return None


def _has_all_blobs(model: Model, text: str, versions: Sequence[Model]) -> bool:
    """Whether a model has each blob that its text mentions, inline or in a weight store.

    Stores are not read: a blob that no version has inline counts as present if the model has the
    stores of all versions.
    """
    stores = [place for version in versions for place in version.places]
    has_all_stores = all(place in model.places for place in stores)
    for digest in set(BLOB.findall(text)):
        if not Blobs(model.resources).knows(digest) and (
            not has_all_stores
            or any(Blobs(version.resources).knows(digest) for version in versions)
        ):
            return False
    return True


def agrees_with_model_merge(
    merged: tuple[bytes, bytes], resolved: Sequence[bytes], ours: bytes, theirs: bytes
) -> bool:
    """Whether a text with conflicts agrees with the merge of the models.

    Each item must be equal in the text and in the merge of the models, or be a conflict between
    ours and theirs in the text. The order of the items must agree, too. `merged` are the canonical
    bytes of the text, and `resolved` is the merge of the models; both are resolved to ours and to
    theirs.
    """
    read = cache(_items)
    mine, others = map(read, merged)
    left, right = map(read, resolved[:2])
    our_items, their_items = read(ours), read(theirs)
    for key in {*mine, *others, *left, *right, *our_items, *their_items}:
        shown = (mine.get(key), others.get(key))
        if shown == (left.get(key), right.get(key)):
            continue
        if shown != (our_items.get(key), their_items.get(key)):
            return False
    return _in_order(mine, left) and _in_order(others, right)


def _in_order(actual: Items, expected: Items) -> bool:
    """Whether the items that two models share are in the same order."""
    return [key for key in actual if key in expected] == [key for key in expected if key in actual]


def _items(data: bytes) -> Items:
    """Return the items of a model and of its main graph by (owner, tag, key, occurrence)."""
    result: Items = {}
    fields = split_message(data)
    for graph in fields.pop(_GRAPH, []):
        _add(result, 7, GRAPH, split_message(graph))
    _add(result, 0, MODEL, fields)
    return result


def _add(items: Items, owner: int, kind: MessageKind, fields: dict[int, list[bytes]]) -> None:
    for tag in sorted(fields):
        repeated = kind.lists.get(tag >> 3)
        seen: Counter[Hashable] = Counter()
        for payload in fields[tag]:
            key: Hashable = None
            if repeated is not None:
                with contextlib.suppress(WireError):  # a damaged item has no key
                    key = repeated.key(payload)
                key = payload if key is None else key
            seen[key] += 1
            items[owner, tag, key, seen[key]] = payload
