# SPDX-License-Identifier: Apache-2.0
"""Collect the types, tensors and attributes that several families of rules check.

The results are cached, so that the families share one walk over the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from onnxtext import ast
from onnxtext.ast.visit import non_numeric_lists
from onnxtext.checker.context.checked_model import CheckedModel, cache_in_memo
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.scopes import Scope

MAX_PLACES = 12
"""The maximum number of places that are kept for one type."""


class TypeUse(NamedTuple):
    """A type and the first `MAX_PLACES` places in the model that declare it.

    `name` is the name of the first value or attribute that has the type.
    """

    type: ast.Type
    name: str
    places: list[Place]


@cache_in_memo
def type_uses(subject: CheckedModel) -> list[TypeUse]:
    """Return a `TypeUse` for each different type in declarations and attributes.

    The result is in the order of first uses.
    """
    uses: dict[ast.Type, TypeUse] = {}
    known: dict[int, TypeUse] = {}  # by the object: values often share one, and hashes are slow
    full: set[int] = set()  # types with `MAX_PLACES` places

    def add(type: ast.Type, name: str, item: object, part: tuple[str | int, ...]) -> None:
        use = known.get(id(type))
        if use is None:
            use = known[id(type)] = uses.setdefault(type, TypeUse(type, name, []))
        if len(use.places) < MAX_PLACES:
            use.places.append(Place(item, part))
        else:
            full.add(id(type))

    for scope in subject.scopes:
        for value in declared_values(scope):
            if value.type is not None and id(value.type) not in full:
                add(value.type, value.name, value, ("type",))
        for node in scope.nodes:
            types = node.output_types
            if types and not full.issuperset(map(id, types)):
                for index, type in enumerate(types):
                    if type is not None and id(type) not in full:
                        add(type, node.outputs[index], node, ("output_types", index))
    for item, name, place in _attribute_items(subject):
        if isinstance(item, TYPES) and id(item) not in full:
            add(item, name, place.item, place.part)
    return list(uses.values())


TYPES = (ast.TensorType, ast.SparseTensorType, ast.SequenceType, ast.OptionalType, ast.MapType)
"""The classes of types that contain element types."""


def declared_values(scope: Scope) -> Iterator[ast.ValueInfo]:
    """Yield the inputs, outputs and value infos of a scope."""
    yield from scope.inputs
    yield from scope.outputs
    yield from scope.infos


def inner_types(type: ast.Type) -> Iterator[ast.Type]:
    """Yield a type and all types nested in it."""
    stack = [type]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, (ast.SequenceType, ast.OptionalType)):
            stack.append(item.element)
        elif isinstance(item, ast.MapType):
            stack.append(item.value)


_A = ast.AttributeType
NUMERIC = frozenset((_A.FLOAT, _A.INT, _A.FLOATS, _A.INTS))
_SIMPLE = NUMERIC | {_A.STRING, _A.STRINGS}


@cache_in_memo
def attributes_of_unusual_nodes(subject: CheckedModel) -> list[tuple[ast.Node, int, ast.Attribute]]:
    """Return all attributes of each node that has at least one odd attribute.

    An attribute is odd if it lacks a name or a type, or if its value is neither a number nor a list
    of numbers. Most nodes have no odd attribute. Rules that need no operator schemas can skip nodes
    without odd attributes.

    The result has one triple (node, index, attribute) for each attribute object. If several nodes
    share the object, `node` is the first of them. `index` is the 0-based index in
    `node.attributes`.
    """
    result: list[tuple[ast.Node, int, ast.Attribute]] = []
    seen: set[int] = set()
    for scope in subject.scopes:
        odd = {id(attributes) for attributes in non_numeric_lists(scope.nodes)}
        for node in scope.nodes if odd else ():
            if id(node.attributes) in odd:
                for index, attribute in enumerate(node.attributes):
                    if id(attribute) not in seen:
                        seen.add(id(attribute))
                        result.append((node, index, attribute))
    return result


@cache_in_memo
def structured_attributes(subject: CheckedModel) -> list[tuple[ast.Node, int, ast.Attribute]]:
    """Return the `attributes_of_unusual_nodes` except those of type FLOAT(S), INT(S), STRING(S)."""
    return [item for item in attributes_of_unusual_nodes(subject) if item[2].type not in _SIMPLE]


def _attribute_items(subject: CheckedModel) -> Iterator[tuple[object, str, Place]]:
    """Yield each value in `structured_attributes`, with the name and the place of its attribute.

    Yield the tensors of a record instead of the record.
    """
    for node, index, attribute in structured_attributes(subject):
        place = Place(node, ("attributes", index, "value"))
        items = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
        for item in items:
            written = subject.resolved.tensors(item) if isinstance(item, ast.Record) else (item,)
            for value in written:
                yield value, attribute.name, place


Decorated = ast.Graph | ast.Function | ast.Node | ast.ValueInfo
"""Statements that can have decorators and metadata."""


@cache_in_memo
def annotated_items(subject: CheckedModel) -> list[Decorated]:
    """Return every graph, function, node and value that has decorators or metadata."""
    result: list[Decorated] = []
    for scope in subject.scopes:
        for items in (
            (scope.original,), scope.inputs, scope.outputs, scope.infos, scope.initializers,
            scope.nodes,
        ):  # fmt: skip
            result += [item for item in items if item.decorators or item.metadata]
    return result


class TensorUse(NamedTuple):
    """A dense tensor of a model, and its place in the model.

    Attributes:
        name: the name of the tensor; "" if it has none.
        type: the element type and the dimensions of the tensor.
        data: the elements of the tensor in the form in which the model stores them, such as
            `RawData`.
        place: the initializer or attribute that holds the tensor.
        sparse: the sparse tensor whose values or indices are this tensor; None if there is none.
    """

    name: str
    type: ast.TensorType
    data: ast.TensorData
    decorators: tuple[ast.Decorator, ...]
    place: Place
    sparse: ast.SparseTensor | None = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of the tensor."""
        return self.type.integer_dims

    def describe(self) -> str:
        """Describe the tensor in messages: ``the tensor `w` ``, or `this tensor` without a name."""
        return f"the tensor `{self.name}`" if self.name else "this tensor"

    def finding(self, code: str, problem: str, help: str) -> Finding:
        """Return a finding about the tensor; the message is its description and `problem`."""
        return Finding(code, f"{self.describe()} {problem}", (self.place,), help)


_ORDINARY = frozenset(
    {"float", "double", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
     "uint64"}
)  # fmt: skip
"""Element types that exist in every IR version and for which every bit pattern is valid."""


@cache_in_memo
def dense_tensors(subject: CheckedModel) -> list[TensorUse]:
    """Return the dense tensors in initializers and attributes, including parts of sparse tensors.

    An initializer with raw data is omitted if it has no decorators and its element type is in
    `_ORDINARY`. The parser and the decoder have checked the size of its data, and no other rule
    for tensors applies.
    """
    return list(_tensors(subject))


def _tensors(subject: CheckedModel) -> Iterator[TensorUse]:
    for scope in subject.scopes:
        for value in scope.initializers:
            type = value.type
            ordinary = isinstance(type, ast.TensorType) and type.element in _ORDINARY
            if ordinary and isinstance(value.data, ast.RawData) and not value.decorators:
                continue
            place = Place(value, ("data",))
            if isinstance(value.data, ast.SparseTensor):
                yield from _values_and_indices(subject, value.data, place, value.name)
            elif isinstance(value.type, ast.TensorType) and value.data is not None:
                yield TensorUse(value.name, value.type, value.data, value.decorators, place)
    for item, _, place in _attribute_items(subject):
        if isinstance(item, ast.Tensor):
            yield _use(subject, item, place, item.name or "", None)
        elif isinstance(item, ast.SparseTensor):
            yield from _values_and_indices(subject, item, place, "")


def _values_and_indices(
    subject: CheckedModel, sparse: ast.SparseTensor, place: Place, name: str
) -> Iterator[TensorUse]:
    yield _use(subject, sparse.values, place, name or sparse.values.name or "", sparse)
    yield _use(subject, sparse.indices, place, sparse.indices.name or "", sparse)


def _use(
    subject: CheckedModel,
    tensor: ast.Tensor,
    place: Place,
    name: str,
    sparse: ast.SparseTensor | None,
) -> TensorUse:
    if tensor.decorators:
        tensor = subject.resolved.tensor(tensor)
    return TensorUse(name, tensor.type, tensor.data, tensor.decorators, place, sparse)


def sparse_tensors(subject: CheckedModel) -> Iterator[tuple[str, ast.SparseTensor, Place]]:
    """Yield (name, sparse tensor, place) for every sparse tensor in initializers and attributes."""
    for scope in subject.scopes:
        for value in scope.initializers:
            if isinstance(value.data, ast.SparseTensor):
                yield value.name, value.data, Place(value, ("data",))
    for item, name, place in _attribute_items(subject):
        if isinstance(item, ast.SparseTensor):
            yield item.values.name or name, item, place
