# SPDX-License-Identifier: Apache-2.0
"""Use the body of an operator in a schema file as the rule for its output shapes."""

from __future__ import annotations

from dataclasses import replace

from onnxtext.ast.model import Fragment
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.checked_model import Options, Subject
from onnxtext.checker.context.operator_resolution import Target, targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature


class ShapeRules:
    """The bodies of the operators that a model uses, as scopes."""

    def __init__(self, subject: Subject) -> None:
        self._tables = subject.options.tables
        self._known: dict[int, Scope] = {}
        self._kept: list[object] = []  # keeps ids unique

    def scope(self, signature: Signature, resolved: dict[int, list[Target]]) -> Scope | None:
        """Return the body of an operator; None if it has none.

        Args:
            signature: the operator.
            resolved: the targets of the nodes of each scope (by id), to which the targets of
                the body's nodes are added.
        """
        if signature.rule is None:
            return None
        known = self._known.get(id(signature))
        if known is None:
            subject = Subject(Fragment(signature.rule), Options(tables=self._tables))
            subject.functions.clear()  # a call of the operator itself is a call by its schema
            known = self._known[id(signature)] = subject.scopes[0]
            resolved.update(targets(subject))
            self._kept += (signature, subject)
        return known


def with_shape_of(type: Type | None, other: Type | None) -> Type | None:
    """Return a type with the shape of another type; the other type if the first is unknown."""
    if type is None:
        return other
    if isinstance(type, TensorType) and isinstance(other, TensorType):
        return replace(type, shape=other.shape)
    return type
