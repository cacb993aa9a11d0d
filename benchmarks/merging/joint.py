# SPDX-License-Identifier: Apache-2.0
"""What two sets of edits of a model give together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnx import ModelProto

from benchmarks.merging.edits import Draw, Edit, apply, reorder
from benchmarks.merging.initializers import initializer_edit
from benchmarks.merging.models import model_edit
from benchmarks.merging.nodes import node_edit
from benchmarks.merging.values import value_edit


def draw_edits(model: ModelProto, draw: Draw, count: int) -> list[Edit]:
    """Edits that can be made on a model one after the other."""
    found: list[Edit] = []
    makers = [node_edit] * 5 + [value_edit] * 3 + [initializer_edit] * 3 + [model_edit] * 2
    for _ in range(count * 10):
        if len(found) == count:
            break
        edit = draw.choice(makers)(model, draw)
        if edit is None or _contradicts(edit, found):
            continue
        made = apply(model, [*found, edit])
        before = apply(model, found)
        if made is not None and made != before:
            found.append(edit)
    return found


def _contradicts(edit: Edit, others: Sequence[Edit]) -> bool:
    """Whether an edit takes away what another one of the same side has changed."""
    target = edit.name.rpartition(" ")[2]
    ends = ("delete", "bypass", "rename")
    return any(
        other.name.endswith(f" {target}")
        and any(w in one.name for one in (edit, other) for w in ends)
        for other in others
    )


def expected(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> set[bytes]:
    """What both sets of edits may give, whatever the order of items; nothing if they contradict.

    That is what the edits give in both orders, or what each side gives for the items that only
    it has changed in the end.
    """
    found = [apply(model, ours, theirs), apply(model, theirs, ours)]
    made = {normal(one) for one in found if one is not None}
    apart = by_items(model, ours, theirs)
    return {*(made if len(made) == 1 else ()), *([] if apart is None else [apart])}


def by_items(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> bytes | None:
    """Each side's version of the items that only it has changed; None if both have changed one."""
    versions = []
    for edits in ((), ours, theirs):
        made = apply(model, edits)
        assert made is not None
        found = items_of(made)
        if found is None:
            return None
        versions.append(found)
    base, mine, others = versions
    result: dict[Any, Any] = {}
    for key in {**base, **mine, **others}:
        values = [version.get(key) for version in versions]
        if values[1] != values[2] and values[0] not in values[1:]:
            return None
        result[key] = values[2] if values[0] == values[1] else values[1]
    merged = ModelProto()
    for (owner, field, *_), value in result.items():
        if value is None:
            continue
        message = merged.graph if owner else merged
        if isinstance(value, list):
            getattr(message, field).add().CopyFrom(value[0])
        else:
            setattr(message, field, value)
    return normal(merged)


_KEYS: dict[str, Callable[[Any], Any]] = {
    "node": lambda item: tuple(item.output),
    "sparse_initializer": lambda item: item.values.name,
    "opset_import": lambda item: item.domain,
    "functions": lambda item: (item.domain, item.name, item.overload),
    "metadata_props": lambda item: item.key,
    "quantization_annotation": lambda item: item.tensor_name,
    "training_info": lambda item: "training",
}


def items_of(model: ModelProto) -> dict[Any, Any] | None:
    """The items of a model and its graph by their keys; None if two have the same key."""
    found: dict[Any, Any] = {}
    for owner, message in ((0, model), (1, model.graph)):
        for field, value in message.ListFields():
            if field.name == "graph":
                continue
            if field.message_type is None:
                found[owner, field.name] = value
                continue
            for item in value:
                key = (owner, field.name, _KEYS.get(field.name, lambda item: item.name)(item))
                if key in found:
                    return None
                found[key] = [item]
    return found


def normal(model: ModelProto) -> bytes:
    """A model whatever the order of the items of its lists."""
    made = ModelProto()
    made.CopyFrom(model)
    _normalize(made)
    data: bytes = made.SerializeToString(deterministic=True)
    return data


_FIXED = frozenset(("dim", "training_info", "external_data", "graphs", "tensors"))


def _normalize(message: Any) -> None:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if not hasattr(value, "add"):
            _normalize(value)
            continue
        for item in value:
            _normalize(item)
        if field.name not in _FIXED:
            reorder(value, sorted(value, key=lambda item: item.SerializeToString()))
