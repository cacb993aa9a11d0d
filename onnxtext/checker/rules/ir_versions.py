# SPDX-License-Identifier: Apache-2.0
"""Rules for the IR version, and for constructs that need a newer IR version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from onnxtext.ast.model import Fragment, Graph
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import MapType, OptionalType, SequenceType, SparseTensorType, TensorType
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.model_items import (
    MAX_PLACES,
    annotated_items,
    dense_tensors,
    inner_types,
    type_uses,
)
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.diagnostics import Severity

NEWEST = 14
"""The newest IR version that these rules cover; the installed onnx may know a newer version."""

ELEMENTS = {
    "bfloat16": 4,
    "float8e4m3fn": 9, "float8e4m3fnuz": 9, "float8e5m2": 9, "float8e5m2fnuz": 9,
    "uint4": 10, "int4": 10,
    "float4e2m1": 11,
    "float8e8m0": 12,
    "uint2": 13, "int2": 13,
    "float6e2m3": 14, "float6e3m2": 14,
}  # fmt: skip
"""Maps newer element types to the IR versions that added them, according to `onnx.proto`."""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the IR version of a model, and find constructs that need a newer IR version."""
    model = subject.model
    if model is None:
        yield from _headless(subject)
        return
    place = Place(model, ("ir_version",))
    version = model.ir_version
    if not version:
        problem = "the model has no `ir_version`" if version is None else "`ir_version` is 0"
        header = "write `<ir_version: 10, opset_import: [21]>` before the graph"
        help = f"{header}, or the original versions of the model"
        if model.opset_imports:
            help = "write `ir_version: 10` in the header, or the version of the original model"
        yield Finding("ir-version-missing", problem, (place,), help)
    elif not 1 <= version <= NEWEST and not 1 <= version <= newest_known():
        yield Finding(
            "ir-version-unknown",
            f"`ir_version` {version} is unknown: the newest known is {newest_known()}",
            (place,),
            help=f"write a version from 1 to {newest_known()}",
            notes=("newer constructs are not checked",) if version > 0 else (),
            severity="error" if version < 0 else None,
        )
    if version and 1 <= version < NEWEST:
        yield from _needs(subject, version)


def _headless(subject: CheckedModel) -> Iterator[Finding]:
    """Report a graph without a header: it is valid, but the author probably meant a model."""
    root = subject.root
    if isinstance(root, Fragment) and isinstance(root.item, Graph) and root.item.at >= 0:
        yield Finding(
            "ir-version-missing",
            f"the graph {quote(root.item.name)} has no header, so it is not a model",
            (Place(root.item, ("name",)),),
            help="put `<ir_version: 10, opset_import: [21]>` before it",
            notes=("it was checked as a single graph",),
            severity="warning",
        )


def newest_known() -> int:
    """Return the newest IR version that these rules or the installed onnx know."""
    import onnx

    return max(NEWEST, int(onnx.IR_VERSION))


def _needs(subject: CheckedModel, version: int) -> Iterator[Finding]:
    for needed, feature, places, severity in _newer(subject):
        some = tuple(places) if needed > version else ()
        if some:
            yield Finding(
                "needs-ir-version",
                f"{feature} needs IR version {needed}, but the model declares {version}",
                (some[0]._replace(label=f"since IR version {needed}"), *some[1:]),
                help=f"raise `ir_version` to {needed}, or remove the construct",
                severity=severity,
            )


Need = tuple[int, str, Iterable[Place], Severity | None]
"""(Required IR version, name of a construct, places with the construct, severity of findings)."""


def _newer(subject: CheckedModel) -> Iterator[Need]:
    """Yield the constructs that IR versions after 1 introduced, and where the model uses them.

    Most places are yielded lazily: they are needed only if the IR version lacks the construct.
    """
    model = subject.model
    assert model is not None
    imports = [Place(model, ("opset_imports",))] if model.opset_imports else []
    yield 3, "`opset_import`", imports, None
    attribute_types = (
        Place(node, ("attributes", index))
        for _, node in subject.nodes()
        for index, attribute in enumerate(node.attributes)
        if attribute.type is not None
    )
    yield 2, "the type of an attribute", attribute_types, "warning"
    yield 3, "the domain of a node", (Place(n) for _, n in subject.nodes() if n.domain), None
    quantized = (Place(item) for scope in subject.scopes for item in scope.quantization)
    yield 5, "a quantization annotation", quantized, None
    yield 7, "training information", (Place(item, ("training",)) for item in model.training), None
    yield 8, "a function", map(Place, model.functions), None
    bodies = [(s, s.function) for s in subject.scopes if s.kind == "function" and s.function]
    with_defaults = (
        Place(body.original)
        for body, function in bodies
        if any(isinstance(item, Attribute) for item in function.attributes)
    )
    yield 9, "a typed attribute of a function", with_defaults, None
    overloads = (Place(body.original) for body, function in bodies if function.overload)
    calls = (Place(node) for _, node in subject.nodes() if node.overload)
    yield 10, "an overload", chain(overloads, islice(calls, MAX_PLACES)), None
    typed = (Place(body.original) for body, _ in bodies if _has_types(body))
    yield 10, "a type in a function", typed, None
    metadata = (Place(item) for item in annotated_items(subject) if item.metadata)
    meta = chain(metadata, _with_value_metadata(subject), _with_decorator(subject, "meta"))
    yield 10, "metadata of a part of the model", meta, None
    yield 11, "a device configuration", map(Place, model.configurations), None
    yield 11, "the devices of a node", _with_decorator(subject, "device"), None
    yield from _newer_types(subject)


def _has_types(scope: Scope) -> bool:
    return bool(
        scope.infos
        or any(value.type is not None for value in (*scope.inputs, *scope.outputs))
        or any(node.output_types for node in scope.nodes)
    )


def _with_value_metadata(subject: CheckedModel) -> Iterator[Place]:
    """Yield the nodes and initializers that define a value with an entry in `value_metadata`."""
    for scope in subject.scopes:
        described = {name for name, entries in scope.owner.value_metadata.items() if entries}
        if described:
            yield from [Place(n) for n in scope.nodes if not described.isdisjoint(n.outputs)]
            yield from [Place(value) for value in scope.initializers if value.name in described]


def _with_decorator(subject: CheckedModel, name: str) -> Iterator[Place]:
    for item in annotated_items(subject):
        if any(decorator.name.rpartition(".")[2] == name for decorator in item.decorators):
            yield Place(item)


def _newer_types(subject: CheckedModel) -> Iterator[Need]:
    types = [(item, use.places[0]) for use in type_uses(subject) for item in inner_types(use.type)]
    tensors = dense_tensors(subject)
    elements: dict[str, list[Place]] = {}
    for item, place in (*types, *[(tensor.type, tensor.place) for tensor in tensors]):
        if isinstance(item, (TensorType, SparseTensorType)) and item.element in ELEMENTS:
            elements.setdefault(item.element, []).append(place)
    for element, places in elements.items():
        yield ELEMENTS[element], f"the element type `{element}`", places[:MAX_PLACES], None

    def places_of(*kinds: type[object]) -> Iterable[Place]:
        return islice((place for item, place in types if isinstance(item, kinds)), MAX_PLACES)

    stored = (tensor.place for tensor in tensors if tensor.sparse is not None)
    yield 6, "a sparse tensor", islice(stored, MAX_PLACES), None
    yield 8, "a sparse tensor type", places_of(SparseTensorType), None
    yield 8, "an optional type", places_of(OptionalType), None
    # Valid ONNX-ML models of IR versions 3 to 5 have such types: report them only as `info`.
    yield 6, "a sequence or map type", places_of(SequenceType, MapType), "info"


RULES = (
    Rule("ir-version-missing", needs_valid_syntax=True),
    Rule("ir-version-unknown", level="warning"),
    Rule("needs-ir-version"),
)
