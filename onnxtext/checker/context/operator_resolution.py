# SPDX-License-Identifier: Apache-2.0
"""Resolve the target of each node: an operator with a schema, or a function of the model."""

from __future__ import annotations

from onnxtext.checker.context.checked_model import CheckedModel, cache_in_memo, plain_domain
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature

Target = Signature | Scope | None
"""The signature of an operator, the scope of a function's body, or None if unknown."""


@cache_in_memo
def resolve_targets(subject: CheckedModel) -> dict[int, list[Target]]:
    """Return the targets of all nodes: `id(scope)` maps to a list parallel to `scope.nodes`."""
    return {id(scope): _targets(subject, scope) for scope in subject.scopes}


def _targets(subject: CheckedModel, scope: Scope) -> list[Target]:
    result: list[Target] = []
    memo: dict[tuple[str | None, str, str | None], Target] = {}
    for node in scope.nodes:
        key = node.domain, node.op_type, node.overload
        try:
            result.append(memo[key])
        except KeyError:
            target = memo[key] = _target(subject, scope, *key)
            result.append(target)
    return result


def _target(
    subject: CheckedModel, scope: Scope, domain: str | None, name: str, overload: str | None
) -> Target:
    domain = plain_domain(domain)
    function = subject.functions.get((domain, name, overload or ""))
    if function is not None:
        return function
    version = scope.opsets.get(domain) if scope.opsets is not None else None
    if version is None:
        return None
    return subject.schemas.find(domain, name, version)
