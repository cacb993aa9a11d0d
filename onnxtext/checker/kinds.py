# SPDX-License-Identifier: Apache-2.0
"""Large models consist of few kinds of nodes: it is enough to infer types for one of each.

Where all types are declared in full, what a node's types and shapes may break depends on nothing
but its operator, its attributes and these types. So a small model is made of the first node of each
kind. If that breaks no rule of types and shapes, the large one breaks none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from onnxtext.ast.model import Graph, Model, Node, ValueInfo
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.inference import TypeInference
from onnxtext.checker.objections import errors_of, whole_model
from onnxtext.checker.scopes import Scope
from onnxtext.checker.signatures import Signature
from onnxtext.checker.subject import Options, Subject
from onnxtext.checker.symbolic.operators import CONSTANT_INPUTS, OPERATORS
from onnxtext.checker.symbolic.propagation import SymbolicShapes
from onnxtext.checker.targets import Target, targets

_FEWEST = 200
"""Smaller models are not worth it."""
_ALIKE = 4
"""How many nodes there are of a kind at least, on average."""


def fits_by_kind(subject: Subject) -> bool:
    """Whether it is known, from one node of each kind, that all types and shapes fit."""
    known: bool | None = subject.memo.get("fits")
    if known is None:
        known = subject.memo["fits"] = not errors_of(subject) and _fits(subject)
    return known


def _fits(subject: Subject) -> bool:
    main = subject.main
    if main is None or subject.model is None or len(subject.scopes) > 1:
        return False
    if len(main.nodes) < _FEWEST:
        return False
    kinds = _kinds(subject, main)
    if kinds is None or len(kinds.nodes) * _ALIKE > len(main.nodes):
        return False
    return _breaks_nothing(_small_model(subject.model, kinds))


@dataclass(slots=True)
class _Kinds:
    """The first node of each kind, and the types of the values that they use and define."""

    nodes: list[Node]
    types: dict[str, Type]


def _kinds(subject: Subject, scope: Scope) -> _Kinds | None:
    """The kinds of nodes of a graph; None if its types are not all declared in full."""
    types: dict[str, Type] = {}
    for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
        if value.type is None:
            return None
        first = types.setdefault(value.name, value.type)
        if first is not value.type and first != value.type:
            return None
    # The hot loop: types are known by their ids, which are those of objects that the tree holds.
    ids = {name: id(type) for name, type in types.items()}
    known = {id(type): type for type in types.values()}
    get = ids.__getitem__
    found: dict[tuple[int, ...], Node] = {}
    try:
        for node, target in zip(scope.nodes, targets(subject)[id(scope)], strict=True):
            outputs = node.outputs
            for name, own in zip(outputs, node.output_types, strict=False):
                if own is not None and ids.setdefault(name, id(own)) != id(own):
                    return None
            made = *map(get, node.inputs), *map(get, outputs)
            key = (id(target), len(outputs), *made, *map(id, node.attributes))
            if key not in found:
                for own in node.output_types:
                    if own is not None:
                        known[id(own)] = own
                if not _is_plain(target) or not all(_is_full(known[number]) for number in made):
                    return None
                found[key] = node
    except KeyError:
        return None  # of some value there is no type
    nodes = list(found.values())
    names = {name for node in nodes for name in (*node.inputs, *node.outputs)}
    return _Kinds(nodes, {name: known[ids[name]] for name in names})


def _is_plain(target: Target) -> bool:
    """Whether it is an operator for which it makes no difference what its inputs hold."""
    return type(target) is Signature and not target.domain and target.name in _PLAIN


_PLAIN = OPERATORS.keys() - CONSTANT_INPUTS


def _is_full(type: Type) -> bool:
    """Whether a type says all that inference could add to it."""
    if not isinstance(type, TensorType) or type.shape is None or type.element == "undefined":
        return False
    return all(
        (isinstance(dim, str) and dim) or (isinstance(dim, int) and dim >= 0) for dim in type.shape
    )


def _small_model(model: Model, kinds: _Kinds) -> Model:
    """A model of some nodes of another, with what they use as its inputs."""
    made = {name for node in kinds.nodes for name in node.outputs}
    used = dict.fromkeys(name for node in kinds.nodes for name in node.inputs)
    nodes = [
        replace(node, output_types=tuple([kinds.types[name] for name in node.outputs]))
        for node in kinds.nodes
    ]
    graph = Graph("kinds", nodes=nodes)
    graph.inputs = [ValueInfo(name, kinds.types[name]) for name in used if name not in made]
    return Model(
        graph=graph, ir_version=model.ir_version, opset_imports=model.opset_imports,
        presence=model.presence,
    )  # fmt: skip


def _breaks_nothing(model: Model) -> bool:
    from onnxtext.proto.lower import LowerError, lower_pieces

    try:
        data = b"".join(lower_pieces(model))
    except LowerError:
        return False
    subject = Subject(model, Options(encoded=lambda: data))
    if TypeInference(subject).run():
        return False
    if whole_model(subject) is not None:
        return False
    # A symbol that has to be a number makes declared types less than all that is known.
    symbolic = SymbolicShapes(subject)
    return not symbolic.run() and not symbolic.learned
