# SPDX-License-Identifier: Apache-2.0
"""Types of inputs and outputs.

What: inputs and outputs of the main graph have types, tensors among them a shape; a sequence, map
or optional says of what it is.
Why: callers of a model know its inputs and outputs by their types only.
Fix: write the type: `float[N, 3] x`; a rank without sizes is `float[?, ?]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import ValueInfo
from onnxtext.ast.records import Record
from onnxtext.ast.types import SparseTensorType, TensorType
from onnxtext.checker.effective import UNSET
from onnxtext.checker.finding import Finding, Place, quoted
from onnxtext.checker.registry import Family, Rule
from onnxtext.checker.scopes import Scope
from onnxtext.checker.subject import Subject
from onnxtext.checker.type_records import TypeRecord, has_record, type_records

_CONTAINERS = {
    "sequence_type": "elem_type",
    "optional_type": "elem_type",
    "map_type": "value_type",
}
_KINDS = {
    "tensor_type",
    "sparse_tensor_type",
    "sequence_type",
    "optional_type",
    "map_type",
    "opaque_type",
}


def check(subject: Subject) -> Iterator[Finding]:
    """Find inputs and outputs without types, and types without a kind."""
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
                continue  # what that type lacks is a finding of its own
            what = "has no type"
        elif isinstance(type, (TensorType, SparseTensorType)) and type.shape is None:
            what = "is a tensor without a shape"
        else:
            continue
        yield Finding(
            f"graph-{kind}-untyped",
            f"the {kind} {quoted(value.name)} of {scope.words()} {what}",
            (Place(value, ("type",) if type is not None else ("name",)),),
            help="write `[?, ?]` for a rank without sizes"
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
            yield _missing(use, "has more than one kind", "error")
            return
        if not kinds:
            known_nothing = not record.fields and not depth and not use.required
            severity = "hint" if known_nothing else "error"
            if severity == "error" or subject.lints("type-missing"):
                yield _missing(use, "has no kind", severity)
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


def _missing(use: TypeRecord, what: str, severity: str) -> Finding:
    return Finding(
        "type-missing",
        f"the type of {quoted(use.name)} {what}",
        (use.place,),
        help="give it one kind, all the way down: `float[N]`, or `seq(float[N])`",
        severity="error" if severity == "error" else "hint",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "graph-input-untyped",
            "error",
            "inputs of the main graph have a type, tensors a shape",
            "IR Graphs, Static shapes",
        ),
        Rule(
            "graph-output-untyped",
            "error",
            "outputs of the main graph have a type, tensors a shape",
            "IR Graphs, Static shapes",
        ),
        Rule(
            "type-missing",
            "error",
            "a type has exactly one kind, and element types all the way down",
            "proto TypeProto",
        ),
    ),
)
