# SPDX-License-Identifier: Apache-2.0
"""Check the types of a large model by one node of each kind.

The output types of a node, and its type and shape errors, only depend on its kind: the operator,
the attributes, the types of the inputs and the declared types of the outputs. The value of a single
float has no effect. Large models have few kinds. So types are propagated by kind, and a small model
is made of the first node of each. If the small model breaks no rule of types and shapes, neither
does the large model. The body of a function is visited once for each kind of its calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from onnxtext.ast.model import Graph, Model, Node, ValueInfo
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.values import Attribute, Float32, Reference
from onnxtext.checker.context.declarations import contradiction, plain_dim
from onnxtext.checker.context.elements import type_text
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.subject import Options, Subject
from onnxtext.checker.context.targets import Target, targets
from onnxtext.checker.inference.call_memo import CallMemo
from onnxtext.checker.inference.element_types import TypeInference, bind
from onnxtext.checker.inference.function_attributes import bound_node, call_attributes
from onnxtext.checker.inference.node_inference import NodeInference
from onnxtext.checker.inference.objections import errors_of, whole_model
from onnxtext.checker.inference.symbolic.operators import depends_on_types_alone
from onnxtext.checker.inference.symbolic.propagation import SymbolicShapes, declares_types
from onnxtext.checker.inference.type_merging import merged
from onnxtext.proto.encode.lower import lower_pieces
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.generic_records import RecordError

_LEAST_NODES = 200
"""Smaller models are checked node by node."""
_LEAST_REPEATS = 4
"""The least average number of nodes of a kind so far, once there are more than a few kinds."""
_FEW_KINDS = 50
_NODES_PER_FURTHER_KIND = 40
"""A model has few kinds if it has at most `_FEW_KINDS`, and one more for each so many nodes."""

Types = tuple[Type | None, ...]


def fits_by_kind(subject: Subject) -> bool:
    """Whether one node of each kind proves that all types and shapes fit."""
    return _verdict(subject)[0]


def sizes_fit_by_kind(subject: Subject) -> bool:
    """Whether one node of each kind proves that symbolic dimensions are consistent."""
    return _verdict(subject)[1]


def types_by_kind(subject: Subject) -> dict[int, dict[str, Type]] | None:
    """Return the types of all values of each scope (by id); None unless `fits_by_kind`."""
    if not fits_by_kind(subject):
        return None
    kinds: _Kinds = subject.memo["kinds"]
    return {id(scope): kinds.types_in(scope) for scope in subject.scopes}


def _verdict(subject: Subject) -> tuple[bool, bool]:
    known: tuple[bool, bool] | None = subject.memo.get("fits")
    if known is None:
        known = (False, False) if errors_of(subject) else _judge(subject)
        subject.memo["fits"] = known
    return known


def _judge(subject: Subject) -> tuple[bool, bool]:
    if subject.main is None or subject.model is None:
        return False, False
    if sum(len(scope.nodes) for scope in subject.scopes) < _LEAST_NODES:
        return False, False
    if any(scope.kind not in ("main", "nested", "function") for scope in subject.scopes):
        return False, False
    kinds = _Kinds(subject)
    try:
        kinds.scope(subject.main)
        if not all(map(kinds.has_visited, subject.scopes)):
            return False, False  # a function is never called
        small = _small_model(subject.model, kinds)
        data = b"".join(lower_pieces(small))
    except (_Inconclusive, LowerError, RecordError):
        return False, False
    made = Subject(small, Options(encoded=lambda: data, inference=subject.options.inference))
    if TypeInference(made).run() or whole_model(made) is not None:
        return False, False
    subject.memo["kinds"] = kinds
    if not all(map(is_full, kinds.types())):
        return True, False
    # If a symbol must be a number, the declared types are incomplete.
    symbolic = SymbolicShapes(made)
    fits = not symbolic.run() and not symbolic.sizes.mismatches
    return True, fits and not symbolic.learned


class _Inconclusive(Exception):
    """Raised if the kinds prove nothing: they are too many, or incomplete, or have errors."""


@dataclass(slots=True)
class _Kind:
    """The first node of a kind.

    Attributes:
        node: the node, with normalized names.
        given: the types of its inputs; None for omitted ones.
        declared: the declared types of its outputs; empty if there are none.
        made: the types of its outputs; None for omitted ones.
    """

    node: Node
    given: Types
    declared: Types
    made: Types


class _Kinds:
    """Propagates types by kind. Equal types are one object, so that keys can use ids."""

    def __init__(self, subject: Subject) -> None:
        self.kinds: list[_Kind] = []
        self._inference = NodeInference.of(subject)
        self._opsets = subject.main.opsets if subject.main is not None else None
        self._main = subject.main
        self._calls = CallMemo(subject)
        self._parameters: Mapping[str, Attribute] = {}
        self._targets = targets(subject)
        self._types: dict[str, Type | None] = {"": None}
        self._nested: dict[int, dict[str, Type]] = {}
        # Names are unique in each place: redefinitions are errors, and none was found.
        self._made: dict[tuple[object, ...], Types] = {}
        self._equal: dict[Type, Type] = {}
        self._known: dict[int, Type] = {}
        self._kept: list[object] = []  # keeps ids unique
        self._seen = 0
        nodes = sum(len(scope.nodes) for scope in subject.scopes)
        self._few = _FEW_KINDS + nodes // _NODES_PER_FURTHER_KIND

    def types(self) -> set[Type]:
        """Return all input and output types of the kinds."""
        return {
            type for kind in self.kinds for type in (*kind.given, *kind.made) if type is not None
        }

    def types_in(self, scope: Scope) -> dict[str, Type]:
        """Return the types of the values of a scope that was visited."""
        known = self._nested.get(id(scope))
        return known if known is not None else self._types_of(scope)

    def has_visited(self, scope: Scope) -> bool:
        """Whether the types of a scope are known."""
        return scope is self._main or id(scope) in self._nested

    def _types_of(self, scope: Scope) -> dict[str, Type]:
        types = {name: self._types.get(name) for name in scope.position}
        return {name: type for name, type in types.items() if type is not None}

    def _one(self, type: Type | None) -> Type:
        """Return one object for all equal types."""
        if type is None:
            raise _Inconclusive
        known = self._known.get(id(type))
        if known is None:
            known = self._known[id(type)] = self._equal.setdefault(type, type)
            self._kept.append(type)
        return known

    # ---- Graphs -----------------------------------------------------------------------------

    def scope(self, scope: Scope) -> None:
        """Set the types of all values of a graph and its nested graphs.

        Raises:
            _Inconclusive: the kinds prove nothing.
        """
        types, one = self._types, self._one
        for value in (*scope.inputs, *scope.initializers):
            type = one(value.type)
            if types.setdefault(value.name, type) is not type:
                raise _Inconclusive
        declared: dict[str, Type | None] = {}
        for value in (*scope.infos, *scope.outputs):
            type = one(value.type)
            if declared.setdefault(value.name, type) is not type:
                raise _Inconclusive
        self._nodes(scope, declared)
        for name, declaration in declared.items():
            found = types.get(name)
            # The declared type must be merged into the computed one.
            if name not in scope.position or found is None or declaration is None:
                raise _Inconclusive
            if found is not declaration and self._merged(declaration, found) is not found:
                raise _Inconclusive
        if scope.parent is not None:  # another branch may use the same names
            self._nested[id(scope)] = self._types_of(scope)

    def _nodes(self, scope: Scope, declared: dict[str, Type | None]) -> None:
        types, made, children = self._types, self._made, scope.children
        get, attribute_key = types.__getitem__, self._attribute_key
        for index, (node, target) in enumerate(
            zip(scope.nodes, self._targets[id(scope)], strict=True)
        ):
            outputs = node.outputs
            typed: Types = node.output_types
            if declared and not typed:
                typed = tuple(map(declared.get, outputs))
            if children and index in children:
                found = self._branches(node, target, children[index], typed)
            else:
                try:
                    given = tuple(map(get, node.inputs))
                except KeyError:
                    raise _Inconclusive from None
                key = (
                    id(target), len(given), len(outputs), *map(id, given), *map(id, typed),
                    *map(attribute_key, node.attributes),
                )  # fmt: skip
                try:
                    found = made[key]
                except KeyError:
                    few = max(self._few, (self._seen + index) // _LEAST_REPEATS)
                    if len(self.kinds) > few:
                        raise _Inconclusive from None
                    found = made[key] = self._new(node, target, given, typed)
            for name, type in zip(outputs, found, strict=True):
                if name:
                    types[name] = type
        self._seen += len(scope.nodes)

    # ---- Kinds ------------------------------------------------------------------------------

    def _new(self, node: Node, target: Target, given: Types, typed: Types) -> Types:
        """Infer the output types of the first node of a kind."""
        if type(target) is Scope:
            return self._call(node, target, given, typed)
        if type(target) is not Signature or target.domain or target.origin:
            raise _Inconclusive
        if not depends_on_types_alone(target.name, len(given)):
            raise _Inconclusive
        if any(type is None for type, name in zip(given, node.inputs, strict=True) if name):
            raise _Inconclusive
        names = [f"i{index}" if name else "" for index, name in enumerate(node.inputs)]
        results = [f"o{index}" if name else "" for index, name in enumerate(node.outputs)]
        attributes = bound_node(node, self._parameters).attributes
        sample = Node(node.op_type, tuple(names), tuple(results), attributes, None,
                      node.domain, node.overload)  # fmt: skip
        computed = self._inference.plain(target, sample, given, {}, self._opsets)
        if not isinstance(computed, tuple):
            raise _Inconclusive
        self._kept += (node, typed, sample, *typed)
        made = self._all_joined(node, typed, computed)
        self.kinds.append(_Kind(sample, given, typed, made))
        return made

    def _attribute_key(self, attribute: Attribute) -> object:
        """Return a key for an attribute's effect on types and shapes."""
        value = attribute.value
        if type(value) is Reference:
            given = self._parameters.get(value.name)
            if given is None:
                return None
            value = given.value
            if type(value) is not Float32:
                return attribute.name, id(given)
        if type(value) is Float32:
            return attribute.name
        return (attribute.name, value) if type(value) is int else id(attribute)

    def _call(self, node: Node, function: Scope, given: Types, typed: Types) -> Types:
        """Infer the output types of the first call of a kind."""
        opsets, own = self._opsets, function.opsets
        if (
            declares_types(function)
            or opsets is None
            or own is None
            or opsets.versions.get("") != own.versions.get("")
            or len(given) != len(function.inputs)
            or len(node.outputs) > len(function.outputs)
            or not self._calls.enter(function)
        ):
            raise _Inconclusive
        before = self._types, self._parameters
        self._kept += (node, typed, *typed)
        self._parameters = call_attributes(function.owner, node, self._parameters)
        self._kept += self._parameters.values()
        names = [value.name for value in function.inputs]
        self._types = {"": None, **dict(zip(names, given, strict=True))}
        self._nodes(function, {})
        self._nested.setdefault(id(function), self._types_of(function))
        made = tuple([self._types.get(value.name) for value in function.outputs])
        self._types, self._parameters = before
        self._calls.leave()
        return self._all_joined(node, typed, made)

    def _all_joined(self, node: Node, declared: Types, found: Types) -> Types:
        """Return the types of a node's outputs."""
        return tuple(
            [
                self._joined(declared[index] if declared else None, found[index]) if name else None
                for index, name in enumerate(node.outputs)
            ]
        )

    def _joined(self, declared: Type | None, found: Type | None) -> Type:
        """Return the type of an output."""
        if declared is None or found is None:
            return self._one(declared or found)
        return self._merged(declared, found)

    def _merged(self, declared: Type, found: Type) -> Type:
        if contradiction(declared, found) is not None:
            raise _Inconclusive
        return self._one(merged(declared, found))

    def _branches(self, node: Node, target: Target, bodies: list[Scope], typed: Types) -> Types:
        """Return the output types of an `If` whose branches agree."""
        if type(target) is not Signature or target.domain or target.name != "If":
            raise _Inconclusive
        given = self._types.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if given is None or bind(target, (type_text(given),), node)[1] is not None:
            raise _Inconclusive
        made: list[Types] = []
        for body in bodies:
            self.scope(body)
            made.append(tuple([self._types[value.name] for value in body.outputs]))
        if len(made) != 2 or made[0] != made[1] or len(made[0]) != len(node.outputs):
            raise _Inconclusive
        if not typed:
            return made[0]
        return tuple(
            [
                found if declared is None or found is None else self._merged(declared, found)
                for declared, found in zip(typed, made[0], strict=True)
            ]
        )


def is_full(type: Type) -> bool:
    """Whether inference can add nothing to a type."""
    if not isinstance(type, TensorType) or type.shape is None or type.element == "undefined":
        return False
    return all(
        (isinstance(dim, str) and dim) or (isinstance(dim, int) and dim >= 0)
        for dim in map(plain_dim, type.shape)
    )


def _small_model(model: Model, kinds: _Kinds) -> Model:
    """Return a model of one node of each kind; their inputs are its inputs."""
    graph = Graph("kinds")
    for number, kind in enumerate(kinds.kinds):
        node = replace(
            kind.node,
            inputs=tuple([name and f"{name}_{number}" for name in kind.node.inputs]),
            outputs=tuple([name and f"{name}_{number}" for name in kind.node.outputs]),
            output_types=kind.declared,
        )
        graph.nodes.append(node)
        graph.inputs += [
            ValueInfo(name, type)
            for name, type in zip(node.inputs, kind.given, strict=True)
            if name
        ]
    return Model(
        graph=graph, ir_version=model.ir_version, opset_imports=model.opset_imports,
        presence=model.presence,
    )  # fmt: skip
