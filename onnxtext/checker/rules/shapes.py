# SPDX-License-Identifier: Apache-2.0
"""Shapes.

What: shapes fit the operators, and declared shapes agree with computed ones.
Why: what does not fit fails when the model runs.
Fix: correct the declaration, or transpose or reshape the value.

Where a model of one node of each kind fits, the whole does (`kinds`). Else
the shape inference of onnx is asked for the whole model first: it is fast, and nearly every model
is right. Only if it objects, or does not judge all nodes (it passes over training graphs, and
over all mistakes where there is an operator it does not know), is it asked for one node after the
other, so that all mistakes are found, each with its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.finding import Finding, Place
from onnxtext.checker.isolation.process import Failure
from onnxtext.checker.kinds import fits_by_kind
from onnxtext.checker.objections import (
    errors_of,
    failure_of,
    is_expandable,
    slug_of,
    whole_model,
)
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.shape_inference import ShapeInference
from onnxtext.checker.subject import Subject
from onnxtext.checker.targets import targets


def check(subject: Subject) -> Iterator[Finding]:
    """Find shapes that do not fit."""
    if any(finding.slug == "function-recursive" for finding in subject.found):
        return  # there is no end to inference
    if fits_by_kind(subject):
        return
    errors = bool(errors_of(subject))
    expandable = is_expandable(subject)
    objection = whole_model(subject) if expandable and not errors else None
    unknown = any(None in found for found in targets(subject).values())
    kinds = {scope.kind for scope in subject.scopes}
    unseen = not kinds.isdisjoint(("initialization", "algorithm", "fragment"))
    # Before IR version 2 attributes may lack a type; only the inference of a node objects.
    unseen = unseen or subject.ir_version == 1
    if not errors and objection is None and not unknown and not unseen and expandable:
        return
    findings = ShapeInference.of(subject).findings
    yield from findings
    if objection is not None and not findings:
        yield _unplaced(subject, objection)


def _unplaced(subject: Subject, objection: str | Failure) -> Finding:
    """An objection or failure that no single node explains."""
    place = Place(subject.model)
    if subject.main is not None:
        place = Place(subject.main.place, ("name",))
    if isinstance(objection, Failure):
        return failure_of(objection, place, node=False)
    for _, node in subject.nodes():
        named = f", node name: {node.name}" if node.name else ""
        if f"(op_type:{node.op_type}{named})" in objection:
            place = Place(node, ("op_type",))
            break
    slug = slug_of(objection)
    said = objection.replace("[ShapeInferenceError]", "").replace("[TypeInferenceError]", "")
    first = said.strip().partition("\n")[0]
    return Finding(
        slug,
        f"the inference of onnx objects: {first.strip()}",
        (place,),
        help="correct what it says, or the declarations around it",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "shape-mismatch",
            "error",
            "shapes fit the operators, and declared ones agree with inferred ones",
            "IR Static shapes",
        ),
        Rule(
            "onnx-inference-failed",
            "error",
            "the shape inference of onnx ends on every node",
            "schema",
        ),
    ),
)
