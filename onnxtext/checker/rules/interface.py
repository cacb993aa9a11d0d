# SPDX-License-Identifier: Apache-2.0
"""Rules that require complete types, mainly for the inputs and outputs of the main graph.

What: inputs and outputs of the main graph have types, tensors also shapes; a sequence, map or
optional type has an element type.
Why: callers of a model know its inputs and outputs only by their types.
Fix: write the type: `float[N, 3] x`; for a known rank with unknown sizes `float[?, ?]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.records import Field, Record
from onnxtext.ast.types import SparseTensorType, TensorType
from onnxtext.checker.context.finding import Finding, Place, quoted
from onnxtext.checker.context.registry import Family, Rule
from onnxtext.checker.context.resolved_fields import UNSET
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.context.type_records import TypeRecord, has_record, type_records

_CONTAINERS = {
    "sequence_type": "elem_type", "optional_type": "elem_type", "map_type": "value_type",
}  # fmt: skip
_KINDS = {"tensor_type", "sparse_tensor_type", "opaque_type", *_CONTAINERS}


def check(subject: Subject) -> Iterator[Finding]:
    """Find inputs and outputs without types, and incomplete types."""
    for scope in subject.scopes:
        if scope.kind == "main":
            yield from _untyped(scope, "input", scope.inputs)
            yield from _untyped(scope, "output", scope.outputs)
    for use in type_records(subject):
        yield from _kinds(use, subject)


def _untyped(scope: Scope, kind: str, values: list[ValueInfo]) -> Iterator[Finding]:
    for value in values:
        type = value.type
        if type is None:
            if value.decorators and has_record(value):
                continue  # `_kinds` checks that type
            what = "has no type"
        elif isinstance(type, (TensorType, SparseTensorType)) and type.shape is None:
            what = "is a tensor without a shape"
        else:
            continue
        yield Finding(
            f"graph-{kind}-untyped",
            f"the {kind} {quoted(value.name)} of {scope.describe()} {what}",
            (Place(value, ("type",) if type is not None else ("name",)),),
            help="write `[?, ?]` if only the rank is known"
            if type is not None
            else "write its type before its name, such as `float[N, 4] `",
        )


def _kinds(use: TypeRecord, subject: Subject) -> Iterator[Finding]:
    """Find levels of a type that do not have exactly one kind."""
    record = use.record
    depth = 0
    while True:
        kinds = [f for f in record.fields if f.key in _KINDS]
        if len(kinds) > 1:
            yield _missing(use, f"sets {_listed(kinds)}, not only one of them", "error")
            return
        if not kinds:
            is_empty = not record.fields and not depth and not use.required
            severity = "hint" if is_empty else "error"
            if severity == "error" or subject.is_selected("type-missing"):
                fields = "`tensor_type`, `sequence_type`, `map_type`, …"
                yield _missing(use, f"is empty: it sets none of {fields}", severity)
            return
        inner = kinds[0]
        name = _CONTAINERS.get(str(inner.key))
        if name is None or not isinstance(inner.value, Record):
            return
        element = next((f.value for f in inner.value.fields if f.key == name), UNSET)
        if not isinstance(element, Record):
            yield _missing(use, f"has a `{inner.key}` without `{name}`", "error")
            return
        record = element
        depth += 1


def _listed(fields: list[Field]) -> str:
    return " and ".join(f"`{field.key}`" for field in fields)


def _missing(use: TypeRecord, what: str, severity: str) -> Finding:
    return Finding(
        "type-missing",
        f"the type of {quoted(use.name)} {what}",
        (use.place,),
        help="write one complete type, such as `float[N]` or `seq(float[N])`",
        severity="error" if severity == "error" else "hint",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "graph-input-untyped",
            "error",
            "inputs of the main graph have a type, tensors also a shape",
            "IR Graphs, Static shapes",
        ),
        Rule(
            "graph-output-untyped",
            "error",
            "outputs of the main graph have a type, tensors also a shape",
            "IR Graphs, Static shapes",
        ),
        Rule(
            "type-missing",
            "error",
            "every `TypeProto`, also a nested one, sets exactly one field of its oneof `value`",
            "proto TypeProto",
        ),
    ),
)
