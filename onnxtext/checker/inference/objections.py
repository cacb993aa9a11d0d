# SPDX-License-Identifier: Apache-2.0
"""What the inference of onnx objects to, which rule that is about, and where inference fails."""

from __future__ import annotations

from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.registry import rules
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.context.targets import targets
from onnxtext.checker.isolation.light import without_weights
from onnxtext.checker.isolation.process import Failure

_LARGEST = 1 << 31
_MOST_EXPANDED = 10_000
"""Nodes of called functions that onnx may go through, besides ten times those of the model."""
_DEEPEST = 100
"""Calls in calls that onnx may go through: it recurses."""


def errors_of(subject: Subject) -> list[Finding]:
    """What was found so far that is an error."""
    known = rules()
    return [f for f in subject.found if (f.severity or known[f.slug].level) == "error"]


def wrong_items(subject: Subject) -> set[int]:
    """The statements (by id) that something is wrong with: no more is to be said about them."""
    return {id(finding.places[0].item) for finding in errors_of(subject)}


def contradicted_outputs(subject: Subject) -> set[tuple[int, int]]:
    """Outputs, as the id of a node and an index, whose declared type is not the computed one."""
    return {
        (id(place.item), int(place.part[1]))
        for finding in errors_of(subject)
        if finding.slug == "type-mismatch"
        for place in finding.places
        if place.part[:1] in (("outputs",), ("output_types",)) and len(place.part) > 1
    }


def whole_model(subject: Subject) -> str | Failure | None:
    """What the inference of onnx objects to in a model; None if nothing.

    It is run as `onnx.checker.check_model(full_check=True)` does.

    Returns:
        The objection, or why there is no answer; that one node has failed is a reason.
    """
    inference = subject.options.inference
    if inference.failures:
        return inference.failures[-1]
    data = subject.options.encoded() if subject.options.encoded is not None else None
    if data is None:
        return None
    data = without_weights(data)
    if len(data) >= _LARGEST:
        return None
    answer = inference.model(data)
    return None if isinstance(answer, list) else answer


def is_expandable(subject: Subject) -> bool:
    """Whether the inference of onnx, which goes through a function once a call, comes to an end.

    Two calls in each of 30 functions are a billion.
    """
    if not subject.functions:
        return True
    most = _MOST_EXPANDED + 10 * sum(len(scope.nodes) for scope in subject.scopes)
    resolved = targets(subject)
    sizes: dict[int, tuple[int, int]] = {}

    def size(scope: Scope, depth: int) -> tuple[int, int]:
        """How many nodes there are in a scope and what it calls, and how deep calls are nested."""
        known = sizes.get(id(scope))
        if known is not None:
            return known
        if depth > _DEEPEST:
            return most + 1, depth
        count, deepest = len(scope.nodes), 0
        called = [target for target in resolved[id(scope)] if type(target) is Scope]
        for target in called:
            nodes, below = size(target, depth + 1)
            count, deepest = count + nodes, max(deepest, below + 1)
        for children in scope.children.values():
            for child in children:
                nodes, below = size(child, depth)
                count, deepest = count + nodes, max(deepest, below)
        sizes[id(scope)] = count, deepest
        return count, deepest

    for scope in subject.scopes:
        if scope.parent is None and scope.kind != "function":
            count, deepest = size(scope, 0)
            if count > most or deepest > _DEEPEST:
                return False
    return True


def slug_of(objection: str) -> str:
    """The rule that an objection of onnx is about."""
    if "Mismatched attribute type" in objection:
        return "attribute-type"
    return "type-mismatch" if "[TypeInferenceError]" in objection else "shape-mismatch"


_VERBS = {
    "crash": "crashes",
    "time": "does not end",
    "memory": "runs out of memory",
}


def failure_of(failure: Failure, place: Place, *, node: bool) -> Finding:
    """The finding that onnx's inference fails.

    Args:
        failure: how.
        place: the node, or the model.
        node: whether it fails on this node alone.
    """
    notes = (f"its process ended with {failure.detail}",) if failure.kind == "crash" else ()
    if failure.kind == "unavailable":
        detail = f": {failure.detail}" if failure.detail else ""
        return Finding(
            "onnx-inference-failed",
            f"onnx's inference cannot be run, so shapes are not checked{detail}",
            (place,),
            help="it runs in a child process of Python: allow this process to start one",
            severity="warning",
        )
    if failure.kind == "stopped":
        return Finding(
            "onnx-inference-failed",
            "onnx's inference fails on too many nodes: the shapes of others are not checked",
            (place,),
            help="correct the nodes that it fails on",
            severity="warning",
        )
    verb = _VERBS[failure.kind]
    return Finding(
        "onnx-inference-failed",
        f"onnx's inference fails on this {'node' if node else 'model'}: it {verb}",
        (place,),
        help="correct its attributes and the types of its inputs" if node
        else "no single node is the cause; look for unusual types, initializers and constants",
        notes=notes,
        severity=None if node or failure.kind == "crash" else "warning",
    )  # fmt: skip
