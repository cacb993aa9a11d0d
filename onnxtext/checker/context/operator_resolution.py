# SPDX-License-Identifier: Apache-2.0
"""Resolve the target of each node: an operator with a schema, or a function of the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from onnxtext.ast.model import Fragment
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.checked_model import CheckedModel, Options, cache_by_id, cache_in_memo
from onnxtext.checker.context.scopes import Opsets, Scope
from onnxtext.checker.context.signatures import OperatorTable, Signature

Target = Signature | Scope | None
"""The signature of an operator, the scope of a function's body, or None if unknown."""


@cache_in_memo
def resolve_targets(subject: CheckedModel) -> dict[int, list[Target]]:
    """Return the targets of all nodes: `id(scope)` maps to a list parallel to `scope.nodes`."""

    @cache_by_id  # nested graphs have the opsets of the outer graph, so they share a cache
    def finder(opsets: Opsets | None) -> Callable[[str | None, str, str | None], Target]:
        return cache(partial(_target, subject, opsets))

    result: dict[int, list[Target]] = {}
    for scope in subject.scopes:
        find = finder(scope.opsets)
        result[id(scope)] = [find(node.domain, node.op_type, node.overload) for node in scope.nodes]
    return result


def _target(
    subject: CheckedModel, opsets: Opsets | None, domain: str | None, name: str,
    overload: str | None,
) -> Target:  # fmt: skip
    domain = plain_domain(domain)
    function = subject.functions.get((domain, name, overload or ""))
    if function is not None:
        return function
    version = opsets.get(domain) if opsets is not None else None
    if version is None:
        return None
    return subject.schemas.find(domain, name, version)


def shape_rule(
    tables: tuple[OperatorTable, ...], resolved: dict[int, list[Target]], signature: Signature
) -> Scope | None:
    """Return the scope of an operator's shape rule; None if the operator's schema has no rule.

    A shape rule is a function in a schema file that computes the shapes of outputs.

    Find the operators of the rule's nodes in `tables`, and add them to `resolved`, the result of
    `resolve_targets`.
    """
    if signature.rule is None:
        return None
    subject = CheckedModel(Fragment(signature.rule), Options(tables=tables))
    subject.functions.clear()  # in the rule, the operator's name refers to its schema
    resolved.update(resolve_targets(subject))
    return subject.scopes[0]
