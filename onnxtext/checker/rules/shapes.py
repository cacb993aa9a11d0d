# SPDX-License-Identifier: Apache-2.0
"""Rules that compare shapes with the shape inference of onnx.

The check takes these steps, and stops as soon as the model is known to be valid:
1. Infer a small model with one node of each kind: nodes of a kind have equal operators, attributes
   and types (`inference.check_by_kind`). If the small model is valid, so is the whole model.
2. Let onnx infer the whole model, which is fast. The check stops here only if all of these hold:
   - Neither onnx nor an earlier rule reports an error, and onnx can expand all function calls in
     reasonable time.
   - The model has no training graphs, which onnx skips.
   - It has no operators that onnx does not know: after them, onnx reports no errors.
   - It has a header that imports an operator set, and its IR version is not 1.
   - The rules of `dimension_conflicts`, which know more shapes than onnx, cover all operators. This
     is not required of a model with more than `_MAX_NODES` nodes, because step 3 would be slow.
3. Infer each node separately, which finds all errors and the nodes that cause them. Most findings
   are made there (`inference.shape_inference`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import Dim, SparseTensorType, TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.model_items import inner_types
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.check_by_kind import fits_by_kind
from onnxtext.checker.inference.control_flow_types import has_untyped_output
from onnxtext.checker.inference.explain_shape_errors import plain_message
from onnxtext.checker.inference.node_inference import is_misinferred
from onnxtext.checker.inference.onnx_errors import (
    accept_declarations,
    code_of,
    errors_of,
    failure_of,
    is_due_to_unknown,
    is_expandable,
    whole_model,
)
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.symbolic.operators import OPERATORS


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find nodes that reject the shapes of their inputs, and wrong declared shapes.

    Also report failures of onnx's inference, such as a crash.
    """
    if not subject.options.infers or subject.is_recursive or fits_by_kind(subject):
        return
    errors = bool(errors_of(subject))
    expandable = is_expandable(subject)
    objection = whole_model(subject) if expandable and not errors else None
    used = {id(target): target for target in chain.from_iterable(resolve_targets(subject).values())}
    is_small = subject.node_count <= _MAX_NODES
    unchecked = any(_is_unchecked(target, is_small) for target in used.values())
    kinds = {scope.kind for scope in subject.scopes}
    skipped = not kinds.isdisjoint(("initialization", "algorithm", "fragment", "nodes"))
    # In IR version 1, attributes may lack a type. onnx rejects this only if it infers single nodes.
    skipped = (
        skipped or subject.ir_version == 1 or not (subject.model and subject.model.opset_imports)
    )
    if expandable and not errors and not objection and not unchecked and not skipped:
        return
    inference = ShapeInference.of(subject)
    if objection == "" and not skipped:
        accept_declarations(subject, inference.findings)
    yield from inference.findings
    if not objection or inference.findings:
        return
    main = subject.main
    place = Place(subject.model) if main is None else Place(main.original, ("name",))
    if isinstance(objection, Failure):
        yield failure_of(objection, place, node=False)
        return
    # An error in a branch that never runs makes the output of the branch unknown, which
    # `_is_mistaken` takes for a mistake of onnx.
    unreached = _unreached(inference.unreached, objection)
    negative = _negative(subject, objection)
    yield from negative
    if not negative and (unreached or not _is_mistaken(subject, objection, inference)):
        yield unreached or _failure_of_whole_model(subject, objection, place)


_MAX_NODES = 5_000
"""The maximum number of nodes that can be inferred separately without a noticeable delay."""


def _is_unchecked(target: Target, is_small: bool) -> bool:
    """Whether inference of the whole model may miss errors of nodes that use `target`.

    It may if the installed onnx does not know the operator, or if `OPERATORS` has no function for
    the operator. In large models (not `is_small`), ignore the second reason: step 3 would be slow.
    """
    if type(target) is Signature:
        return bool(target.origin) or (is_small and target.name not in OPERATORS)
    return target is None


def _is_mistaken(subject: CheckedModel, objection: str, inference: ShapeInference) -> bool:
    """Whether onnx's error message is only about types that onnx infers wrongly or does not know.

    Also ignore a missing import: onnx distinguishes `ai.onnx` from `""`, and the rules of `opsets`
    find missing imports. Step 3 of the module docstring finds the true errors of the nodes.
    """
    if "No opset import for domain" in objection:
        return True
    wrong = {node.op_type for _, node in subject.nodes() if is_misinferred(node)}
    for scope in subject.scopes:
        if scope.holder is not None and has_untyped_output(scope, inference.visits):
            wrong.add(scope.holder.op_type)
    containers: dict[str, set[str]] = {}
    for scope, node in subject.nodes():
        containers.setdefault(node.op_type, set()).add(_container(scope))
    pending = [*wrong]
    while pending:
        outer = containers.get(pending.pop(), set()) - wrong
        wrong |= outer
        pending += outer
    return all(
        not wrong.isdisjoint(_OPERATOR.findall(line)) or is_due_to_unknown(line, [None] * 4)
        for line in objection.splitlines()
        if line
    )


def _container(scope: Scope) -> str:
    """Return the name of a function, or the operator of the node that holds a graph; else ""."""
    if scope.holder is not None:
        return scope.holder.op_type
    return scope.name if scope.kind == "function" else ""


_OPERATOR = re.compile(r"\(op_type:([^),]+)")
"""Matches the operators in onnx's error message; each line is about one node of the main graph."""


def _negative(subject: CheckedModel, objection: str) -> list[Finding]:
    """Turn warnings about negative dimensions into errors if onnx rejects these dimensions.

    `objection` is onnx's error message. Return the errors, and remove the warnings from
    `subject.found`.
    """
    rejected = set(map(int, _NEGATIVE.findall(objection)))
    warnings = {
        id(finding): finding
        for finding in subject.found
        if finding.code == "dim-value-negative"
        and not rejected.isdisjoint(_dims(finding.places[0].item))
    }
    subject.found[:] = [finding for finding in subject.found if id(finding) not in warnings]
    notes = ("onnx's shape inference rejects it",)
    return [warning._replace(severity="error", notes=notes) for warning in warnings.values()]


_NEGATIVE = re.compile(r"\((-\d+)\)")
"""Matches the negative dimensions in onnx's error message."""


def _dims(item: object) -> Iterator[Dim]:
    """Yield the dimensions of all types in the declared type of a value."""
    if isinstance(item, ValueInfo) and item.type is not None:
        for type in inner_types(item.type):
            if isinstance(type, (TensorType, SparseTensorType)):
                yield from map(plain_dim, type.shape or ())


def _unreached(findings: list[Finding], objection: str) -> Finding | None:
    """Return the first finding about an operator that onnx's error message names, or None.

    The findings are about branches that never run. onnx also rejects errors in such branches.
    """
    named = set(_OPERATOR.findall(objection))
    nodes = [(finding, finding.places[0].item) for finding in findings]
    return next((f for f, node in nodes if isinstance(node, Node) and node.op_type in named), None)


def _failure_of_whole_model(subject: CheckedModel, objection: str, place: Place) -> Finding:
    """Report `objection`, the error of onnx's inference of the whole model.

    The place of the finding is the node that the message names, or else `place`.
    """
    for _, node in subject.nodes():
        named = "" if node.name is None else f", node name: {node.name}"
        if f"(op_type:{node.op_type}{named})" in objection:
            place = Place(node, ("op_type",))
            break
    first = objection.strip().partition("\n")[0]
    operator = f"`{place.item.op_type}`: " if isinstance(place.item, Node) else ""
    return Finding(
        code_of(objection),
        f"shape inference of onnx failed: {operator}{plain_message(first)}",
        (place,),
        help="correct the node or value that the message names, or its declared types",
    )


RULES = (Rule("shape-mismatch"), Rule("onnx-inference-failed"))
