# SPDX-License-Identifier: Apache-2.0
"""Define one step of the explanation of a size: of a dimension, rank or tensor element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onnxtext.ast.types import Type
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.inference.symbolic.expressions import text
from onnxtext.checker.origins.inferred_facts import View
from onnxtext.checker.origins.influences import Part

Kind = Literal["declared", "stored", "inferred", "assumed", "unknown"]
Wanted = tuple[View, str, Part]
"""A size to explain: (view of a graph, name of a value, part of the value)."""


@dataclass(slots=True)
class Step:
    """One step of an explanation: how one size of a value is known.

    Attributes:
        view: the inferred facts about the graph of the value.
        name: the name of the value.
        part: the dimension, element or rank of the value.
        size: the size as text; None if unknown.
        kind: `declared` by an input, `stored` in an initializer, `inferred` from a node, `assumed`
            if only a declaration gives the size of a node's output, or `unknown`.
        how: the explanation, such as "`MatMul` takes it from"; the sizes in `sources` follow it.
        place: the statement that determines the size.
        also: further facts, as sentences.
        sources: the steps that explain other sizes: those from which this size is computed, or, if
            it is unknown, those that would determine it.
    """

    view: View
    name: str
    part: Part
    size: str | None
    kind: Kind
    how: str
    place: Place | None = None
    also: list[str] = field(default_factory=list)
    sources: list[Step] = field(default_factory=list)


def size_of(view: View, name: str, part: Part) -> str | None:
    """Return a dimension, an element or the rank of a value as text; None if unknown."""
    if part.kind == "element":
        value = view.value(name)
        extent = value.items[part.at] if value and part.at < len(value.items) else None
        return None if extent is None else text(extent)
    found = part_of(view.type(name), part)
    return None if found is None else str(found)


def part_of(type: Type | None, part: Part) -> int | str | None:
    """Return the rank or a dimension of a type; None if unknown, or if the part is an element."""
    shape = getattr(type, "shape", None)
    if shape is None or part.kind == "element":
        return None
    if part.kind == "rank":
        return len(shape)
    found = plain_dim(shape[part.at]) if part.at < len(shape) else None
    return None if found is None or found == "" or (isinstance(found, int) and found < 0) else found
