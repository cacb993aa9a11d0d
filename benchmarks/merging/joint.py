# SPDX-License-Identifier: Apache-2.0
"""Compute the expected merge of two sets of edits of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from onnx import ModelProto

from benchmarks.merging.edits import Draw, Edit, apply, reorder
from benchmarks.merging.initializers import initializer_edit
from benchmarks.merging.models import model_edit
from benchmarks.merging.nodes import node_edit
from benchmarks.merging.values import value_edit


def draw_edits(model: ModelProto, draw: Draw, count: int) -> list[Edit]:
    """Return up to `count` random edits that can be applied to a model one after the other."""
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
    """Whether another edit of the same side has the same target, and one of both removes it.

    Renaming the target counts as removing it.
    """
    target = edit.name.rpartition(" ")[2]
    ends = ("delete", "bypass", "rename")
    return any(
        other.name.endswith(f" {target}")
        and any(w in one.name for one in (edit, other) for w in ends)
        for other in others
    )


def expected(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> set[bytes]:
    """Return the valid merges of both sets in `normal` form; the empty set if they conflict.

    Valid are the model that both orders of the edits give, the model after the edits with renames
    last, and the model with each item from the side that changed it.
    """
    found = [apply(model, ours, theirs), apply(model, theirs, ours)]
    other = [edit for edit in theirs if not _is_among(edit, ours, model)]
    if len(other) < len(theirs):
        found = [apply(model, ours, other), apply(model, other, ours)]
    made = {normal(one) for one in found if one is not None}
    # Edits of renamed values get the new names.
    late = sorted([*ours, *other], key=lambda edit: "rename" in edit.name)
    renamed = apply(model, late) if any("rename" in edit.name for edit in late) else None
    apart = by_items(model, ours, theirs)
    others = {normal(one) for one in (renamed, apart) if one is not None}
    return {*(made if len(made) == 1 else ()), *others}


def fits(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> bool:
    """Whether the sides changed different items, and neither uses a name the other removed."""
    made = by_items(model, ours, theirs)
    sides = [apply(model, ours), apply(model, theirs)]
    if made is None or None in sides:
        return False
    mine, others = [undefined_names(side) for side in sides if side is not None]
    return not undefined_names(made) - (mine | others)


def undefined_names(model: ModelProto) -> Counter[str]:
    """Count the occurrences of undefined names in the main graph."""
    graph = model.graph
    names = {name for node in graph.node for name in node.output}
    names |= {item.name for items in (graph.input, graph.initializer) for item in items}
    names |= {item.values.name for item in graph.sparse_initializer} | {""}
    used = [name for node in graph.node for name in node.input]
    used += [item.name for items in (graph.output, graph.value_info) for item in items]
    used += [item.tensor_name for item in graph.quantization_annotation]
    for info in model.training_info:
        used += [e.key for e in (*info.initialization_binding, *info.update_binding)]
    return Counter([name for name in used if name not in names])


def _is_among(edit: Edit, others: Sequence[Edit], model: ModelProto) -> bool:
    """Whether an edit does the same to a model as one of the others with the same name."""
    same = [other for other in others if other.name == edit.name]
    made = apply(model, [edit]) if same else None
    return made is not None and any(apply(model, [other]) == made for other in same)


def by_items(model: ModelProto, ours: Sequence[Edit], theirs: Sequence[Edit]) -> ModelProto | None:
    """Merge item by item, each from the side that changed it.

    Return None if both sides changed an item differently, or if a key of items is not unique.
    """
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
    return merged


_KEYS: dict[str, Callable[[Any], Any]] = {
    "node": lambda item: tuple(item.output[:1]),
    "sparse_initializer": lambda item: item.values.name,
    "opset_import": lambda item: item.domain,
    "functions": lambda item: (item.domain, item.name, item.overload),
    "metadata_props": lambda item: item.key,
    "quantization_annotation": lambda item: item.tensor_name,
    "training_info": lambda item: "training",
}


def items_of(model: ModelProto) -> dict[Any, Any] | None:
    """Return the items of a model and its graph by key; None if a key is not unique."""
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
    """Return a model in a form that does not depend on the order of items in most lists."""
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
