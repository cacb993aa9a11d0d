# SPDX-License-Identifier: Apache-2.0
"""Rules for declared types: completeness, element types, map keys, dimensions, denotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnxtext.ast.records import Decorator, Record, Word
from onnxtext.ast.types import DecoratedDim, Dim, MapType, SparseTensorType, TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.model_items import TypeUse, declared_values, inner_types, type_uses
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.resolved_fields import field_of, number_of
from onnxtext.checker.context.type_records import TypeRecord, type_records
from onnxtext.diagnostics import Severity
from onnxtext.plurals import with_article

_KEYS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string"}
)
_DENOTATIONS = frozenset(
    {"TENSOR", "IMAGE", "AUDIO", "TEXT", "DATA_BATCH", "DATA_CHANNEL", "DATA_TIME", "DATA_FEATURE",
     "FILTER_IN_CHANNEL", "FILTER_OUT_CHANNEL", "FILTER_SPATIAL"}
)  # fmt: skip
"""The standard denotations (TypeDenotation.md, DimensionDenotation.md)."""
_CONTAINERS = {
    "sequence_type": "elem_type", "optional_type": "elem_type", "map_type": "value_type",
}  # fmt: skip
"""For each field of TypeProto that contains another type, the subfield that holds this type."""
_KINDS = {"tensor_type", "sparse_tensor_type", "opaque_type", *_CONTAINERS}


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find invalid and incomplete types in declarations and attributes, and unknown denotations."""
    for use in type_uses(subject):
        for type in inner_types(use.type):
            if isinstance(type, (TensorType, SparseTensorType)):
                if type.element == "undefined":
                    yield _undefined(use.places, use.name)
                if type.shape:
                    yield from _dims(use, type.shape)
            elif isinstance(type, MapType) and type.key not in _KEYS:
                yield _map_key(use.places, type.key)
    for item in type_records(subject):
        yield from _kinds(item, subject)
        yield from _record(item.record, item.place, item.name)
    if subject.active("denotation-unknown"):
        yield from _denotations(subject)


def _kinds(use: TypeRecord, subject: CheckedModel) -> Iterator[Finding]:
    """Find type records without a kind (tensor, …), with several kinds, or with no inner type."""
    record = use.record
    while True:
        kinds = [f for f in record.fields if f.key in _KINDS]
        if len(kinds) > 1:
            listed = " and ".join(f"`{field.key}`" for field in kinds)
            yield _incomplete(use, f"sets {listed}, but may set only one")
            return
        if not kinds:
            is_minor = not record.fields and record is use.record and not use.required
            if not is_minor or subject.is_selected("type-missing"):
                fields = "`tensor_type`, `sequence_type`, `map_type`, …"
                problem = f"is incomplete: none of {fields} is set"
                yield _incomplete(use, problem, "hint" if is_minor else None)
            return
        inner = kinds[0]
        name = _CONTAINERS.get(str(inner.key))
        if name is None or not isinstance(inner.value, Record):
            return
        element = next((f.value for f in inner.value.fields if f.key == name), None)
        if not isinstance(element, Record):
            yield _incomplete(use, f"has {with_article(f'`{inner.key}`')} without `{name}`")
            return
        record = element


def _incomplete(use: TypeRecord, problem: str, severity: Severity | None = None) -> Finding:
    return Finding(
        "type-missing",
        f"the type of {quote(use.name)} {problem}",
        (use.place,),
        help="write one complete type, such as `float[N]` or `seq(float[N])`",
        severity=severity,
    )


def _undefined(places: list[Place], name: str) -> Finding:
    return Finding(
        "elem-type-undefined",
        f"the element type of {quote(name)} is undefined",
        tuple(places),
        help="write the element type, such as `float`",
    )


def _map_key(places: list[Place], key: str) -> Finding:
    return Finding(
        "map-key-type",
        f"map keys must be integers or strings, not `{key}`",
        tuple(places),
        help="use an integer type or `string`, such as `map(int64, …)`",
    )


def _dims(use: TypeUse, shape: tuple[Dim, ...]) -> Iterator[Finding]:
    for dim in map(plain_dim, shape):
        if isinstance(dim, int) and dim < 0:
            message = f"{quote(use.name)} has the negative dimension {dim}"
            yield Finding("dim-value-negative", message, tuple(use.places), _UNKNOWN_SIZE)
            break
    if "" in shape:
        message = f"a symbolic dimension of {quote(use.name)} has an empty name"
        yield Finding("dim-param-empty", message, tuple(use.places), _UNKNOWN_SIZE)


_UNKNOWN_SIZE = "write `?` for an unknown size"
"""The help for wrong dimensions."""


def _record(record: Record, place: Place, name: str, depth: int = 0) -> Iterator[Finding]:
    """Check the element types and map keys of a `TypeProto` record, at nesting depth `depth`."""
    for field in record.fields:
        if not isinstance(field.value, Record) or depth > 100:
            continue
        inside = field.value
        if field.key in ("tensor_type", "sparse_tensor_type"):
            if _number(inside, "elem_type") not in range(1, 29):
                yield _undefined([place], name)
        elif field.key == "map_type":
            key_type = _number(inside, "key_type")
            if key_type not in (2, 3, 4, 5, 6, 7, 8, 12, 13):
                yield _map_key([place], str(key_type))
        if field.key in _CONTAINERS:
            element = field_of(inside, _CONTAINERS[str(field.key)])
            if isinstance(element, Record):
                yield from _record(element, place, name, depth + 1)


def _number(record: Record, name: str) -> int:
    value = field_of(record, name)
    return 1 if isinstance(value, Word) else number_of(value) or 0


def _denotations(subject: CheckedModel) -> Iterator[Finding]:
    for use in type_uses(subject):
        for type in inner_types(use.type):
            dims = [d for d in getattr(type, "shape", None) or () if isinstance(d, DecoratedDim)]
            for item in (type, *dims):
                yield from _denotation(item.decorators, "denotation", use.places[0])
    for scope in subject.scopes:
        for value in declared_values(scope):
            yield from _denotation(value.decorators, "type.denotation", Place(value, ("type",)))


def _denotation(
    decorators: Iterable[Decorator], decorator_name: str, place: Place
) -> Iterator[Finding]:
    texts = [d.arguments[0].value for d in decorators if d.name == decorator_name and d.arguments]
    for text in texts:
        name = text.decode("utf-8", "replace") if isinstance(text, bytes) else ""
        if not name or name in _DENOTATIONS:
            continue
        message = f"{quote(name)} is not a standard denotation"
        help = "remove it, or use a denotation of the specification, such as `DATA_BATCH`"
        yield Finding("denotation-unknown", message, (place,), help)


RULES = (
    Rule("type-missing"),
    Rule("elem-type-undefined"),
    Rule("map-key-type"),
    Rule("dim-value-negative", level="warning"),
    Rule("dim-param-empty", level="lint"),
    Rule("denotation-unknown", level="lint"),
)
