# SPDX-License-Identifier: Apache-2.0
"""Define one step of the explanation of a size (a dimension, rank or tensor element)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from onnxtext.ast.types import Type
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.explain_type.determining_sizes import TypePart
from onnxtext.checker.explain_type.inferred_facts import InferredView
from onnxtext.checker.symbolic.sizes.polynomials import text

Kind = Literal["declared", "stored", "inferred", "assumed", "unknown"]
Wanted = tuple[InferredView, str, TypePart]
"""A size to explain: (view of a graph, name of a value, part of the value)."""


@dataclass(slots=True)
class ExplanationStep:
    """One step of an explanation: it explains one size of a value.

    Attributes:
        view: the inferred facts about the graph or function body that has the value.
        part: the part of the value that has the size: a dimension, an element or the rank.
        size: the size as text; None if unknown.
        kind: `declared` in the model, `stored` in an initializer, `inferred` from a node, `unknown`
            or `assumed`. An assumed size is declared for a node's output, but inference cannot
            confirm it.
        how: the explanation, such as "`MatMul` takes it from". Messages append the part and name
            of a single source, or the number of `sources`.
        place: the statement that determines the size; None if there is none.
        also: further facts, as sentences.
        sources: the steps for the sizes from which this size is computed. If this size is unknown,
            the steps for the sizes that would determine it.
    """

    view: InferredView
    name: str
    part: TypePart
    size: str | None
    kind: Kind
    how: str
    place: Place | None = None
    also: list[str] = field(default_factory=list)
    sources: list[ExplanationStep] = field(default_factory=list)

    def explained(self, how: str, *wanted: Wanted) -> list[Wanted]:
        """Set `how`; return `wanted`, the sizes to explain next."""
        self.how = how
        return list(wanted)


def size_of(view: InferredView, name: str, part: TypePart) -> str | None:
    """Return the size of `part` of a value as text; None if unknown."""
    if part.kind == "element":
        value = view.value(name)
        extent = value.items[part.at] if value and part.at < len(value.items) else None
        return None if extent is None else text(extent)
    size = part_of(view.type(name), part)
    return None if size is None else str(size)


def part_of(type: Type | None, part: TypePart) -> int | str | None:
    """Return the rank or a dimension of a type; None if unknown, or if the part is an element."""
    shape = getattr(type, "shape", None)
    if shape is None or part.kind == "element":
        return None
    if part.kind == "rank":
        return len(shape)
    size = plain_dim(shape[part.at]) if part.at < len(shape) else None
    return None if size is None or size == "" or (isinstance(size, int) and size < 0) else size
