# SPDX-License-Identifier: Apache-2.0
"""Find semantic conflicts in a merge: names, calls, imports and types that do not fit together.

The findings have no help, because a merge shows only their messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from onnxtext.ast.model import Model
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.checked_model import (
    CheckedModel,
    FunctionKey,
    Options,
    function_key,
    operator_key,
)
from onnxtext.checker.context.directed_graphs import topological_order
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.scopes import GIVEN, Scope, used_names, without_owner_names
from onnxtext.checker.rules import (
    attributes,
    function_calls,
    single_assignment,
    training,
    undefined_values_and_order,
)
from onnxtext.merger.outdated_nodes import find_outdated_nodes
from onnxtext.merger.rebound_uses import describe_node, find_rebound_uses

_CALLS = "function-deleted"
_SIGNATURES = ("function-call-arity", "function-call-attribute", "attribute-ref-unknown")
_BINDING = "training-binding-value"
Resources = Mapping[str, bytes | memoryview]
NO_RESOURCES: Resources = MappingProxyType({})


class _Subject(CheckedModel):
    """A model to check, without suggestions of similar names."""

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Return None, because suggestions are slow to compute and a merge does not show them."""
        return None


def subject_of(model: Model) -> CheckedModel:
    """Wrap a model in the `CheckedModel` that the checker's rules expect."""
    return _Subject(model, Options())


def finding_key(finding: Finding) -> tuple[str, str]:
    """Return a key of a finding: its rule and its message without names of graphs and functions.

    Findings with equal keys in two models count as the same finding.
    """
    return finding.code, without_owner_names(finding.message)


def issues_of(sides: Sequence[Model]) -> set[tuple[str, str]]:
    """Return the keys (`finding_key`) of the findings of ours and theirs, before the merge."""
    return {
        finding_key(finding)
        for side in sides
        for finding in find_conflicts(subject_of(side), sides)
    }


def find_new_errors(
    model: Model, sides: Sequence[Model], resources: Resources = NO_RESOURCES
) -> list[Finding]:
    """Return the errors that the checker finds in a merge, but in no side.

    `resources` are the blobs that the models do not contain, by digest.

    An error of a side may have another message in the merge. So for each error that a side has and
    the merge lacks, one new error with the same code is left out.
    """
    if resources:
        model, *sides = [
            replace(version, resources={**resources, **version.resources})
            for version in (model, *sides)
        ]
    found = _errors_in(model)
    if not found:
        return []
    old = [finding for side in sides for finding in _errors_in(side)]
    old_keys = set(map(finding_key, old))
    keys = set(map(finding_key, found))
    changed = Counter([finding.code for finding in old if finding_key(finding) not in keys])
    new = []
    for finding in found:
        if finding_key(finding) in old_keys:
            continue
        if changed[finding.code]:
            changed[finding.code] -= 1
        else:
            new.append(finding)
    return new


def _errors_in(model: Model) -> list[Finding]:
    """Return the errors that the rules find without onnx's inference."""
    from onnxtext.checker.engine.check_tree import run_rules, severity_of  # slow to import

    findings = run_rules(model, infers=False)[1]
    return [finding for finding in findings if severity_of(finding) == "error"]


def find_conflicts(subject: CheckedModel, versions: Sequence[Model]) -> Iterator[Finding]:
    """Yield the errors that edits of two sides can cause together.

    Examples are undefined values, misordered nodes and calls of deleted functions. A function or
    opset import counts as deleted if a side has it, but the merge does not.

    `versions` are the trees of the base, if there is one, of ours and of theirs.
    """
    sides = versions[-2:]
    yield from undefined_values_and_order.check(subject)
    yield from single_assignment.check(subject)
    yield from _references(subject)
    model = subject.model
    assert model is not None
    if model.functions:
        for check in (function_calls.check, attributes.check):
            yield from (item for item in check(subject) if item.code in _SIGNATURES)
    if model.training:
        yield from (item for item in training.check(subject) if item.code == _BINDING)
    yield from find_outdated_nodes(subject, sides)
    yield from find_rebound_uses(model, versions)
    functions = set().union(*map(_function_keys, sides)) - _function_keys(model)
    domains = set().union(*map(_domains, sides)) - _domains(model)
    for scope, node in subject.nodes() if functions or domains else ():
        domain = plain_domain(node.domain)
        # Findings with equal messages count as the same finding (`finding_key`). So the message
        # names the node's output.
        caller = describe_node(node)
        if operator_key(node) in functions:
            message = f"{caller} calls {quote(node.op_type)}, a function that one side has deleted"
            yield Finding(_CALLS, message, (Place(node),), "")
        elif domain in domains and scope.opsets is not None and domain not in scope.opsets:
            name = quote(domain or "ai.onnx")
            message = f"{caller} uses {name}, a domain that one side no longer imports"
            yield Finding(_CALLS, message, (Place(node),), "")


def _references(subject: CheckedModel) -> Iterator[Finding]:
    """Find value infos, annotations and training bindings that name values that do not exist."""
    model = subject.model
    assert model is not None
    for scope in subject.scopes:
        # `undefined_values_and_order` checks the outputs.
        outputs = {value.name for value in scope.outputs}
        references: list[tuple[str, Any]] = [(value.name, value) for value in scope.infos]
        for annotation in scope.quantization:
            references.append((annotation.tensor_name, annotation))
            references += [(name, annotation) for _, name in annotation.entries]
        for name, item in references:
            if name not in scope.position and name not in outputs:
                yield _reference(name, item)
    names = subject.main.position if subject.main is not None else {}
    for item in model.training:
        for name, _ in (*item.initialization_binding, *item.update_binding):
            if name not in names:
                yield _reference(name, item)


def _reference(name: str, item: Any) -> Finding:
    message = (
        "a value info, quantization annotation or training binding refers to "
        f"{quote(name)}, which is not defined"
    )
    return Finding("reference-undefined", message, (Place(item),), "")


def _function_keys(model: Model) -> set[FunctionKey]:
    return set(map(function_key, model.functions))


def _domains(model: Model) -> set[str]:
    return {plain_domain(item.domain) for item in model.opset_imports}


def sorted_nodes(scope: Scope, new: set[int]) -> list[int] | None:
    """Return the indices of a graph's nodes in topological order, with few moves.

    New nodes (indices `new`) move before their users. Other nodes move after the nodes whose
    outputs they use. Return None if there is a cycle.
    """
    used = []
    for node in scope.nodes:
        positions = {scope.position.get(name, GIVEN) for name in used_names(node)}
        used.append(sorted(positions - {GIVEN}))
    return topological_order(used, _new_before_uses(used, new))


def _new_before_uses(used: Sequence[Sequence[int]], new: set[int]) -> list[int]:
    """Return the indices of the nodes, with each new node before its first user.

    `used` has, for each node, the indices of the nodes whose outputs it uses.
    """
    order: list[int] = []
    entered = [False] * len(used)
    for index in range(len(used)):
        if entered[index]:
            continue
        entered[index] = True
        stack = [(index, iter(used[index]))]
        while stack:
            top, rest = stack[-1]
            late = next((at for at in rest if at in new and not entered[at]), None)
            if late is None:
                stack.pop()
                order.append(top)
            else:
                entered[late] = True
                stack.append((late, iter(used[late])))
    return order
