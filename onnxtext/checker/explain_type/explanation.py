# SPDX-License-Identifier: Apache-2.0
"""Explain the type of a value: where it is declared, and where each size comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.ast.types import Type
from onnxtext.checker.context.finding import Place, quote
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.explain_type.determining_sizes import RANK, TypePart
from onnxtext.checker.explain_type.explanation_step import ExplanationStep
from onnxtext.checker.explain_type.inferred_facts import InferredView
from onnxtext.checker.explain_type.size_origins import SizeExplainer, source_chain
from onnxtext.checker.inference.explain_shape_errors import spell_type

Where = Callable[[Place], str]
"""Converts a place to text: `line 12`, or a path in the model."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a value's type.

    Attributes:
        type: the type of the value; None if unknown.
        scope: the graph or function body that defines the value.
        declarations: the declared types of the value, each with its place.
        steps: one `ExplanationStep` for each dimension of the value, or one for the rank if the
            value is a scalar or its rank is unknown; () for types without a shape, such as
            sequences. The `sources` of a step are further steps.
    """

    name: str
    type: Type | None
    scope: Scope
    declarations: tuple[tuple[Type, Place], ...]
    steps: tuple[ExplanationStep, ...]

    @property
    def written(self) -> str | None:
        """The type in the notation of onnxtext, such as `float[N, 3]`; None if unknown."""
        return None if self.type is None else spell_type(self.type)


def explain_value(explainer: SizeExplainer, view: InferredView, name: str) -> Explanation:
    """Explain the type of a value: its declarations, and the origin of each size.

    `explainer` may explain several values: its limit of steps applies to all of them together.
    `view` is the view of the graph or function body that defines the value.
    """
    type = view.type(name)
    shape = getattr(type, "shape", None)
    parts = [TypePart("dimension", index) for index in range(len(shape or ()))]
    if not parts and (type is None or hasattr(type, "shape")):
        parts = [RANK]
    explained = tuple([explainer.explain(view, name, part) for part in parts])
    return Explanation(name, type, view.scope, tuple(declarations(view.scope, name)), explained)


def declarations(scope: Scope, name: str) -> Iterator[tuple[Type, Place]]:
    """Yield each declared type of a value with its place."""
    for value in (*scope.inputs, *scope.initializers, *scope.infos, *scope.outputs):
        if value.name == name and value.type is not None:
            yield value.type, Place(value, ("type",))
    typed = scope.typed_output(name)
    if typed is not None:
        node, index, type = typed
        yield type, Place(node, ("output_types", index))


def describe_definition(scope: Scope, name: str, describe_place: Where) -> str:
    """Describe the statement that defines a value: "output 1 of `Relu` in … (line 12)"."""
    place = Place(*scope.definition(name))
    node = place.item
    if isinstance(node, Node):
        label = f" `[{node.name}]`" if node.name else ""
        position = node.outputs.index(name) + 1
        owner = scope.describe()
        return f"output {position} of `{node.op_type}`{label} in {owner} ({describe_place(place)})"
    kind = "input" if any(value.name == name for value in scope.inputs) else "initializer"
    return f"{kind} of {scope.describe()} ({describe_place(place)})"


def explanation_lines(
    explanation: Explanation, describe_place: Where, max_steps: int | None
) -> Iterator[str]:
    """Yield the lines of an explanation as text.

    `max_steps` is the maximum number of steps to show in each chain of steps; None for no limit.
    `describe_place` converts a place to text.
    """
    name = explanation.name
    yield f"{quote(name)}: {explanation.written or 'unknown type'}"
    yield f"  {describe_definition(explanation.scope, name, describe_place)}"
    definition = explanation.scope.definition(name)[0]
    for type, place in explanation.declarations:
        if place.item is not definition or place.part[:1] == ("output_types",):
            yield f"  declared as `{spell_type(type)}` ({describe_place(place)})"
    for step in explanation.steps:
        yield ""
        yield f"{step_title(step)}: {describe_result(step)}"
        yield from _steps(step, describe_place, max_steps, "  ")


def step_title(step: ExplanationStep) -> str:
    """Return what a step explains: `rank`, or a part such as `dimension 1`."""
    return "rank" if step.part == RANK else f"{step.part.kind} {step.part.at}"


def describe_result(step: ExplanationStep) -> str:
    """Return the size and the kind of a step, such as "`batch`, inferred"; or "unknown"."""
    return "unknown" if step.size is None else f"`{step.size}`, {step.kind}"


def _steps(
    step: ExplanationStep, describe_place: Where, max_steps: int | None, indent: str
) -> Iterator[str]:
    """Yield lines for the chain of steps from `step`, then lines for the last step's sources.

    `max_steps` is as for `explanation_lines`. `indent` precedes each line.
    """
    *steps, last = source_chain(step)
    left_out = 0 if max_steps is None else len(steps) + 1 - max_steps
    for inner_step in steps[: len(steps) - left_out] if left_out > 1 else steps:
        yield f"{indent}{describe_step(inner_step, describe_place)}"
    if left_out > 1:
        yield f"{indent}… {left_out} more steps (--all shows them)"
    yield f"{indent}{describe_step(last, describe_place)}"
    for source in last.sources:
        yield f"{indent}- {source.part.of(quote(source.name))}: {describe_result(source)}"
        yield from _steps(source, describe_place, max_steps, indent + "    ")


def describe_step(step: ExplanationStep, describe_place: Where) -> str:
    """Return a step as one line: place, `how`, source or number of sources, and `also`."""
    location = f"{describe_place(step.place)}: " if step.place is not None else ""
    rest = ""
    if len(step.sources) == 1:
        source = step.sources[0]
        rest = f" {source.part.of(quote(source.name))}"
    elif step.sources:
        rest = f" {len(step.sources)} sizes"
    also = "".join([f"; {item}" for item in step.also])
    return f"{location}{step.how}{rest}{also}"


def as_object(
    explanation: Explanation, place_object: Callable[[Place], dict[str, Any]]
) -> dict[str, Any]:
    """Convert an explanation to a JSON object, which lists the steps for each size.

    `place_object` returns the entries of a JSON object that describe a place.
    """
    name, scope = explanation.name, explanation.scope
    return {
        "value": name,
        "graph": scope.name,
        "type": explanation.written,
        "definition": place_object(Place(*scope.definition(name))),
        "declarations": [
            {"type": spell_type(type), **place_object(place)}
            for type, place in explanation.declarations
        ],
        "sizes": [_step_as_object(step, place_object) for step in explanation.steps],
    }


def _step_as_object(
    step: ExplanationStep, place_object: Callable[[Place], dict[str, Any]]
) -> dict[str, Any]:
    sequence = list(source_chain(step))
    return {
        **_size(step),
        "steps": [
            {
                "value": inner_step.name,
                **_size(inner_step),
                "text": inner_step.how,
                "also": inner_step.also,
                **(place_object(inner_step.place) if inner_step.place is not None else {}),
            }
            for inner_step in sequence
        ],
        "sources": [
            {"value": source.name, **_step_as_object(source, place_object)}
            for source in sequence[-1].sources
        ],
    }


def _size(step: ExplanationStep) -> dict[str, Any]:
    part = step.part
    return {"part": part.kind, "index": part.at, "size": step.size, "kind": step.kind}
