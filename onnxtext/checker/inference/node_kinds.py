# SPDX-License-Identifier: Apache-2.0
"""Large models consist of few kinds of nodes: it is enough to infer types for one of each.

What a node computes, and what its types and shapes may break, depends on nothing but its operator,
its attributes, the types of its inputs and what is declared for its outputs. So types go through
the model from kind to kind, and a small model is made of the first node of each. If that breaks no
rule of types and shapes, the large one breaks none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from onnxtext.ast.model import Graph, Model, Node, ValueInfo
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.declarations import contradiction, plain_dim
from onnxtext.checker.context.elements import type_text
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.subject import Options, Subject
from onnxtext.checker.context.targets import Target, targets
from onnxtext.checker.inference.element_types import TypeInference, bind
from onnxtext.checker.inference.node_inference import NodeInference
from onnxtext.checker.inference.objections import errors_of, whole_model
from onnxtext.checker.inference.symbolic.operators import TYPES_ALONE
from onnxtext.checker.inference.symbolic.propagation import SymbolicShapes
from onnxtext.checker.inference.type_merging import merged
from onnxtext.proto.encode.lower import lower_pieces
from onnxtext.proto.encode.values import LowerError
from onnxtext.proto.generic import RecordError

_FEWEST = 200
"""Smaller models are not worth it."""
_ALIKE = 4
"""How many nodes there are of a kind at least, on average, once there are more than `_MANY`."""
_MANY = 50

Types = tuple[Type | None, ...]


def fits_by_kind(subject: Subject) -> bool:
    """Whether it is known, from one node of each kind, that all types and shapes fit."""
    return _verdict(subject)[0]


def sizes_fit_by_kind(subject: Subject) -> bool:
    """Whether it is known, from one node of each kind, that no symbolic dimension contradicts."""
    return _verdict(subject)[1]


def types_by_kind(subject: Subject) -> dict[int, dict[str, Type]] | None:
    """The types of all values of each scope (by id); None if they do not all fit by kind."""
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
    if subject.main is None or subject.model is None or subject.functions:
        return False, False
    if sum(len(scope.nodes) for scope in subject.scopes) < _FEWEST:
        return False, False
    if any(scope.kind not in ("main", "nested") for scope in subject.scopes):
        return False, False
    kinds = _Kinds(subject)
    try:
        kinds.scope(subject.main)
        small = _small_model(subject.model, kinds)
        data = b"".join(lower_pieces(small))
    except (_Unlike, LowerError, RecordError):
        return False, False
    made = Subject(small, Options(encoded=lambda: data, inference=subject.options.inference))
    if TypeInference(made).run() or whole_model(made) is not None:
        return False, False
    subject.memo["kinds"] = kinds
    if not all(map(_is_full, kinds.types())):
        return True, False
    # A symbol that has to be a number makes declared types less than all that is known.
    symbolic = SymbolicShapes(made)
    return True, not symbolic.run() and not symbolic.learned


class _Unlike(Exception):
    """The model is not of few kinds, or its kinds do not say enough, or something is wrong."""


@dataclass(slots=True)
class _Kind:
    """The first node of a kind.

    Attributes:
        node: it.
        given: the types of its inputs; None for those left out.
        declared: what is declared for its outputs; empty if nothing is.
        made: the types of its outputs; None for those left out.
    """

    node: Node
    given: Types
    declared: Types
    made: Types


class _Kinds:
    """One walk over a model. Equal types are one object, so that they are told apart by ids."""

    def __init__(self, subject: Subject) -> None:
        self.kinds: list[_Kind] = []
        self._inference = NodeInference.of(subject)
        self._opsets = subject.main.opsets if subject.main is not None else None
        self._targets = targets(subject)
        self._types: dict[str, Type | None] = {"": None}
        self._nested: dict[int, dict[str, Type]] = {}
        # No name means two values in one place: that is an error, and none was found.
        self._made: dict[tuple[int, ...], Types] = {}
        self._equal: dict[Type, Type] = {}
        self._known: dict[int, Type] = {}
        self._kept: list[object] = []  # so that no id is given twice
        self._seen = 0

    def types(self) -> set[Type]:
        """All types that the kinds' nodes use and make."""
        return {
            type for kind in self.kinds for type in (*kind.given, *kind.made) if type is not None
        }

    def types_in(self, scope: Scope) -> dict[str, Type]:
        """The types of the values of a scope that was gone through."""
        known = self._nested.get(id(scope))
        if known is not None:
            return known
        types = {name: self._types.get(name) for name in scope.position}
        return {name: type for name, type in types.items() if type is not None}

    def _one(self, type: Type | None) -> Type:
        """The object for all types that are equal to one."""
        if type is None:
            raise _Unlike
        known = self._known.get(id(type))
        if known is None:
            known = self._known[id(type)] = self._equal.setdefault(type, type)
            self._kept.append(type)
        return known

    # ---- Graphs -----------------------------------------------------------------------------

    def scope(self, scope: Scope) -> None:
        """Give all values of a graph, and of those in it, their types.

        Raises:
            _Unlike: that would take longer than to have onnx infer the whole model.
        """
        types, one = self._types, self._one
        for value in (*scope.inputs, *scope.initializers):
            type = one(value.type)
            if types.setdefault(value.name, type) is not type:
                raise _Unlike
        declared: dict[str, Type | None] = {}
        for value in (*scope.infos, *scope.outputs):
            type = one(value.type)
            if declared.setdefault(value.name, type) is not type:
                raise _Unlike
        self._nodes(scope, declared)
        for name, declaration in declared.items():
            found = types.get(name)
            # What is declared has been joined with what is computed, else it stands elsewhere too.
            if name not in scope.position or found is None or declaration is None:
                raise _Unlike
            if found is not declaration and self._merged(declaration, found) is not found:
                raise _Unlike
        if scope.parent is not None:  # another branch may have values of the same names
            self._nested[id(scope)] = self.types_in(scope)

    def _nodes(self, scope: Scope, declared: dict[str, Type | None]) -> None:
        types, made, children = self._types, self._made, scope.children
        get = types.__getitem__
        count = self._seen
        for index, (node, target) in enumerate(
            zip(scope.nodes, self._targets[id(scope)], strict=True)
        ):
            outputs = node.outputs
            typed: Types = node.output_types
            if declared and not typed:
                typed = tuple(map(declared.get, outputs))
            if children and index in children:
                self._seen = count + index
                found = self._branches(node, target, children[index], typed)
            else:
                try:
                    given = tuple(map(get, node.inputs))
                except KeyError:
                    raise _Unlike from None
                key = (
                    id(target), len(given), len(outputs), *map(id, given), *map(id, typed),
                    *map(id, node.attributes),
                )  # fmt: skip
                try:
                    found = made[key]
                except KeyError:
                    if len(self.kinds) > _MANY + (count + index) // _ALIKE:
                        raise _Unlike from None
                    found = made[key] = self._new(node, target, given, typed)
            for name, type in zip(outputs, found, strict=True):
                if name:
                    types[name] = type
        self._seen = count + len(scope.nodes)

    # ---- Kinds ------------------------------------------------------------------------------

    def _new(self, node: Node, target: Target, given: Types, typed: Types) -> Types:
        """The types of the outputs of the first node of a kind."""
        if type(target) is not Signature or target.domain or target.name not in TYPES_ALONE:
            raise _Unlike
        if any(type is None for type, name in zip(given, node.inputs, strict=True) if name):
            raise _Unlike
        names = [f"i{index}" if name else "" for index, name in enumerate(node.inputs)]
        results = [f"o{index}" if name else "" for index, name in enumerate(node.outputs)]
        sample = Node(node.op_type, tuple(names), tuple(results), node.attributes, None,
                      node.domain, node.overload)  # fmt: skip
        computed = self._inference.plain(target, sample, given, {}, self._opsets)
        if not isinstance(computed, tuple):
            raise _Unlike
        self._kept += (node, typed, sample, *typed)
        made = tuple(
            [
                self._joined(typed[index] if typed else None, computed[index]) if name else None
                for index, name in enumerate(results)
            ]
        )
        self.kinds.append(_Kind(sample, given, typed, made))
        return made

    def _joined(self, declared: Type | None, found: Type | None) -> Type:
        """The type of an output."""
        if declared is None or found is None:
            return self._one(declared or found)
        return self._merged(declared, found)

    def _merged(self, declared: Type, found: Type) -> Type:
        if contradiction(declared, found) is not None:
            raise _Unlike
        return self._one(merged(declared, found))

    def _branches(self, node: Node, target: Target, bodies: list[Scope], typed: Types) -> Types:
        """The types of the outputs of an `If`, the branches of which agree."""
        if type(target) is not Signature or target.domain or target.name != "If":
            raise _Unlike
        given = self._types.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if given is None or bind(target, (type_text(given),), node)[1] is not None:
            raise _Unlike
        made: list[Types] = []
        for body in bodies:
            self.scope(body)
            made.append(tuple([self._types[value.name] for value in body.outputs]))
        if len(made) != 2 or made[0] != made[1] or len(made[0]) != len(node.outputs):
            raise _Unlike
        if not typed:
            return made[0]
        return tuple(
            [
                found if declared is None or found is None else self._merged(declared, found)
                for declared, found in zip(typed, made[0], strict=True)
            ]
        )


def _is_full(type: Type) -> bool:
    """Whether a type says all that inference could add to it."""
    if not isinstance(type, TensorType) or type.shape is None or type.element == "undefined":
        return False
    return all(
        (isinstance(dim, str) and dim) or (isinstance(dim, int) and dim >= 0)
        for dim in map(plain_dim, type.shape)
    )


def _small_model(model: Model, kinds: _Kinds) -> Model:
    """A model of one node of each kind, with what they use as its inputs."""
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
