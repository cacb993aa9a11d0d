# SPDX-License-Identifier: Apache-2.0
"""Find the shape rule of an operator: a function in its schema file that computes output shapes."""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Fragment
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.checked_model import CheckedModel, Options
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import OperatorTable, Signature


def shape_rule(
    tables: tuple[OperatorTable, ...], resolved: dict[int, list[Target]], signature: Signature
) -> Scope | None:
    """Return the function body of an operator's shape rule; None if its schema has no rule.

    Find the operators of the rule's nodes in `tables`, and add them to `resolved`, the result of
    `resolve_targets`.
    """
    if signature.rule is None:
        return None
    subject = CheckedModel(Fragment(signature.rule), Options(tables=tables))
    subject.functions.clear()  # in the rule, the operator's name refers to its schema
    resolved.update(resolve_targets(subject))
    return subject.scopes[0]


def with_shape_of(type: Type | None, other: Type | None) -> Type | None:
    """Return `type` with the shape of `other` if both are tensor types; otherwise `type`.

    If `type` is unknown (None), return `other`.
    """
    if type is None:
        return other
    if isinstance(type, TensorType) and isinstance(other, TensorType):
        return replace(type, shape=other.shape)
    return type
