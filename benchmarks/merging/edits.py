# SPDX-License-Identifier: Apache-2.0
"""Apply random edits to models with the onnx API, and compute the expected merge of two sets.

An edit finds its target by name, so that it applies to the base and to models after other edits;
it raises `Gone` if the target is missing. Two sets of edits are compatible if both orders give the
same model; the order of the items of most lists is ignored.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import AttributeProto, ModelProto


class Gone(Exception):
    """The target of an edit is missing."""


@dataclass(frozen=True, eq=False)
class Edit:
    """A change of a model.

    Attributes:
        name: its description.
        apply: applies it; raises `Gone`.
    """

    name: str
    apply: Callable[[Any], None]


def apply(model: ModelProto, *sets: Sequence[Edit]) -> ModelProto | None:
    """Return a model after sets of edits, each edit applied once; None if one is impossible."""
    made = ModelProto()
    made.CopyFrom(model)
    done: list[Edit] = []
    for edits in sets:
        for edit in edits:
            if edit in done or (_deletes(edit) and any(_is_alike(edit, e) for e in done)):
                continue
            done.append(edit)
            try:
                edit.apply(made)
            except Gone:
                return None
    return made


def _is_alike(edit: Edit, other: Edit) -> bool:
    """Whether two edits have the same description; ` again` only makes a kind more frequent."""
    return edit.name.replace(" again", "") == other.name.replace(" again", "")


def _deletes(edit: Edit) -> bool:
    """Whether an edit deletes its whole target, and not a part of it."""
    return "delete" in edit.name and "attribute" not in edit.name


Draw = random.Random

# ---- Finding things ----


def one(items: Any, **fields: Any) -> Any:
    """Return the only item with these fields; raise `Gone` if there is not exactly one."""
    found = [i for i in items if all(getattr(i, name) == value for name, value in fields.items())]
    if len(found) != 1:
        raise Gone
    return found[0]


def node_of(graph: Any, output: str) -> Any:
    """Return the only node with this first output; raise `Gone` if there is not exactly one."""
    found = [node for node in graph.node if list(node.output[:1]) == [output]]
    if len(found) != 1:
        raise Gone
    return found[0]


Where = Callable[[Any], Any]
"""Finds a graph or function in a model."""


def owners(model: ModelProto) -> list[Where]:
    """Return finders of the main graph, of graphs in its nodes, and of functions.

    The main graph occurs four times, so that most random edits are in it.
    """
    found: list[Where] = [lambda model: model.graph] * 4
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH and node.output:
                found.append(_nested(node.output[0], attribute.name))
    for function in model.functions:
        found.append(function_of(function.domain, function.name, function.overload))
    return found


def _nested(output: str, name: str) -> Where:
    return lambda model: one(node_of(model.graph, output).attribute, name=name).g


def function_of(domain: str, name: str, overload: str) -> Where:
    return lambda m: one(m.functions, domain=domain, name=name, overload=overload)


def remove(items: Any, item: Any) -> None:
    """Remove an item from a list, by identity."""
    at = next(index for index, other in enumerate(items) if other is item)
    del items[at]


def reorder(items: Any, order: Sequence[Any]) -> None:
    """Replace the items of a list by copies of other items."""
    copies = []
    for item in order:
        made = type(item)()
        made.CopyFrom(item)
        copies.append(made)
    del items[:]
    items.extend(copies)


def rename(graph: Any, old: str, new: str) -> None:
    """Rename all occurrences of a value."""
    for node in graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                if name == old:
                    names[at] = new
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                rename(attribute.g, old, new)
    for field in ("input", "output", "value_info", "initializer"):
        items: Any = getattr(graph, field, ())
        for at, item in enumerate(items):
            if isinstance(item, str):
                if item == old:
                    items[at] = new
            elif item.name == old:
                item.name = new
    for annotation in getattr(graph, "quantization_annotation", ()):
        if annotation.tensor_name == old:
            annotation.tensor_name = new


def values_of(graph: Any) -> list[str]:
    """Return the names of values that nodes can use; ["x"] if there are none."""
    names = [i if isinstance(i, str) else i.name for i in graph.input]
    names += [tensor.name for tensor in getattr(graph, "initializer", ())]
    return [*names, *[name for node in graph.node for name in node.output if name]] or ["x"]


def fresh(draw: Draw, word: str) -> str:
    """Return a new name that begins with a word."""
    return f"{word}_{draw.randrange(10**8)}"


def metadata_change(owner: Any, draw: Draw) -> Any:
    """Return a function that makes the same random change of metadata in any version of an item."""
    keys = [entry.key for entry in owner.metadata_props]
    key, value = draw.choice([*keys, "k", fresh(draw, "key")]), fresh(draw, "value\nof")
    delete = key in keys and draw.random() < 0.3

    def change(owner: Any, graph: Any = None) -> None:
        found = [entry for entry in owner.metadata_props if entry.key == key]
        if len(found) > 1 or (delete and not found):
            raise Gone
        if delete:
            remove(owner.metadata_props, found[0])
        elif found:
            found[0].value = value
        else:
            owner.metadata_props.add(key=key, value=value)

    return change


def named(items: Sequence[Any], name: str) -> Any:
    """Return the first item with a name."""
    return next(item for item in items if item.name == name)
