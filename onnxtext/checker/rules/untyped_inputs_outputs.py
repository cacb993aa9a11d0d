# SPDX-License-Identifier: Apache-2.0
"""Rules that require types and shapes of the inputs and outputs of the main graph."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.types import SparseTensorType, TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.type_records import has_record


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find inputs and outputs without a type or a shape in the main graph."""
    for scope in subject.scopes:
        if scope.kind == "main":
            yield from _untyped(scope, "input", scope.inputs)
            yield from _untyped(scope, "output", scope.outputs)


def _untyped(scope: Scope, kind: str, values: list[ValueInfo]) -> Iterator[Finding]:
    for value in values:
        type = value.type
        if type is None:
            if value.decorators and has_record(value):
                continue  # decorators set the type; the rules of `declared_types` check it
            problem, part = "has no type", "name"
            help = "write its type before its name, such as `float[N, 4]`"
        elif isinstance(type, (TensorType, SparseTensorType)) and type.shape is None:
            problem, part = "is a tensor without a shape", "type"
            help = "write the shape, such as `[N, 4]`, or `[?, ?]` if only the rank is known"
        else:
            continue
        message = f"the {kind} {quote(value.name)} of {scope.describe()} {problem}"
        yield Finding(f"graph-{kind}-untyped", message, (Place(value, (part,)),), help)


RULES = (Rule("graph-input-untyped"), Rule("graph-output-untyped"))
