# SPDX-License-Identifier: Apache-2.0
"""Infer shapes node by node: with the inference functions of onnx, and with those of `symbolic`.

onnx knows the element types, the operators and the errors; ours add dimensions that are expressions
of symbols, such as `2*seq`, and what follows from shapes that the model computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from onnxtext.ast.model import Node
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.values import (
    Attribute,
    RawData,
    Reference,
    SparseTensor,
    Tensor,
    TensorData,
    TypedData,
)
from onnxtext.checker.context.finding import Finding, Place, quoted
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.subject import Subject
from onnxtext.checker.context.targets import Target
from onnxtext.checker.inference.environment import Environment
from onnxtext.checker.inference.explain import explain
from onnxtext.checker.inference.function_attributes import bound_node, call_attributes
from onnxtext.checker.inference.node_inference import Made, NodeInference
from onnxtext.checker.inference.objections import (
    contradicted_outputs,
    failure_of,
    slug_of,
    wrong_items,
)
from onnxtext.checker.inference.scope_walk import ScopeWalk
from onnxtext.checker.inference.symbolic.operators import depends_on_types_alone
from onnxtext.checker.inference.symbolic.steps import SymbolicStep, Values
from onnxtext.checker.inference.symbolic.values import Value, stored_value
from onnxtext.checker.inference.type_merging import TypeMerger, given_types, plausible
from onnxtext.checker.isolation.process import Failure
from onnxtext.proto.encode.fields import lower_tensor
from onnxtext.proto.encode.lower_error import LowerError

_MOST_ELEMENTS = 1024
"""Tensors of up to so many elements are passed to inference: shapes, axes, pads."""


Constant = tuple[TensorType, TensorData]
"""The type and the data of a tensor."""


@dataclass(slots=True)
class Shapes(Environment[Type]):
    """The types and small constants of a scope, and the attributes of a call.

    Attributes:
        constants: the types and data of small constants, by name.
        places: the origin of each value's type.
        values: the small integer values, by name.
        parameters: the attributes of a call.
    """

    constants: dict[str, Constant] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    parameters: Mapping[str, Attribute] = field(default_factory=dict)

    def constant(self, name: str) -> Constant | None:
        """Return a value as a tensor if it is a small constant."""
        holder = self.holder(name)
        return holder.constants.get(name) if isinstance(holder, Shapes) else None

    def value(self, name: str) -> Value | None:
        """Return a small integer value; None if unknown."""
        holder = self.holder(name)
        return holder.values.get(name) if isinstance(holder, Shapes) else None

    def place(self, name: str) -> Place | None:
        """Return the origin of a value's type."""
        holder = self.holder(name)
        return holder.places.get(name) if isinstance(holder, Shapes) else None


class ShapeInference(ScopeWalk[Shapes]):
    """Infers shapes in one walk over a model."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._inference = NodeInference.of(subject)
        self._merger = TypeMerger()
        self._step = SymbolicStep()
        self._reported: set[tuple[int, int]] = set()
        self._encoded: dict[tuple[int, int], bytes | None] = {}
        # The outputs of a node with an error are unknown; that gives no further findings.
        self._wrong = wrong_items(subject)
        # Neither of two contradictory types is used: either would cause cascading errors.
        self._contradicted = contradicted_outputs(subject)

    # ---- Scopes -----------------------------------------------------------------------------

    def _scope(
        self,
        scope: Scope,
        given: tuple[Type | None, ...],
        outer: Shapes | None,
        parameters: Mapping[str, Attribute] | None = None,
        values: Values = (),
    ) -> Shapes:
        environment = Shapes({}, outer, parameters=parameters or {})
        self.environments.setdefault(id(scope), environment)
        types, places = environment.known, environment.places
        declared: dict[str, tuple[Type, Place]] = {}
        for value in (*scope.initializers, *scope.inputs, *scope.infos, *scope.outputs):
            if value.type is not None and value.name not in declared:
                declared[value.name] = plausible(value.type), Place(value, ("type",))
        for value in (*scope.inputs, *scope.initializers):
            if value.name in declared:
                types[value.name], places[value.name] = declared[value.name]
        for value, type in zip(scope.inputs, given, strict=False):
            if type is not None and value.name not in types:
                types[value.name] = type
        inputs = {value.name for value in scope.inputs}
        for value in scope.initializers:
            small = isinstance(value.type, TensorType) and _is_small(value.type, value.data)
            if small and value.name not in inputs:
                environment.constants[value.name] = value.type, value.data  # type: ignore[assignment]
                stored = stored_value(value.type, value.data)
                if stored is not None:
                    environment.values[value.name] = stored
        for value, passed in zip(scope.inputs, values, strict=False):
            if passed is not None:
                environment.values[value.name] = passed
        resolved = self._targets[id(scope)]
        for index, node in enumerate(scope.nodes):
            made, followed = self._node(scope, index, node, resolved[index], environment)
            for name, known in zip(node.outputs, followed, strict=False):
                if name and known is not None:
                    environment.values.setdefault(name, known)
            self._outputs(node, made, declared, environment)
        return environment

    def _outputs(
        self,
        node: Node,
        made: Made,
        declared: dict[str, tuple[Type, Place]],
        environment: Shapes,
    ) -> None:
        for number, name in enumerate(node.outputs):
            if not name or name in environment.known or (id(node), number) in self._contradicted:
                continue
            found = made[number] if number < len(made) else None
            wanted = declared.get(name)
            if node.output_types and node.output_types[number] is not None:
                wanted = node.output_types[number], Place(node, ("output_types", number))  # type: ignore[assignment]
            if wanted is not None and found is not None:
                conflict, both = self._merger.merge(wanted[0], found)
                if conflict is not None:
                    if "elements are" not in conflict:
                        self._differs(node, number, found, wanted)
                    continue  # either may be wrong, so the type is unknown to later nodes
                found = both
            elif wanted is not None:
                found = wanted[0]
            if found is not None:
                environment.known[name] = found
                environment.places[name] = (
                    wanted[1] if wanted is not None else Place(node, ("outputs", number))
                )

    def _differs(self, node: Node, number: int, found: Type, wanted: tuple[Type, Place]) -> None:
        from onnxtext.checker.inference.explain import written

        name = node.outputs[number]
        here = Place(node, ("outputs", number), f"computed as `{written(found)}`")
        there = wanted[1]._replace(label=f"declared as `{written(wanted[0])}`")
        same = there.item is node
        self._report(
            node,
            number,
            f"{quoted(name)} is declared `{written(wanted[0])}`, but `{node.op_type}` computes "
            f"`{written(found)}`",
            (there._replace(label=f"`{node.op_type}` gives `{written(found)}`"),)
            if same
            else (here, there),
            f"declare it `{written(found)}`, or correct the inputs of `{node.op_type}`",
        )

    def _report(
        self,
        node: Node,
        number: int,
        message: str,
        places: tuple[Place, ...],
        help: str,
        slug: str = "",
    ) -> None:
        key = id(node), number
        if key not in self._reported:
            self._reported.add(key)
            self.findings.append(Finding(slug or "shape-mismatch", message, places, help=help))

    # ---- Nodes ------------------------------------------------------------------------------

    def _node(
        self, scope: Scope, index: int, node: Node, target: Target, environment: Shapes
    ) -> tuple[Made, Values]:
        inputs = [environment.find(name) if name else None for name in node.inputs]
        if type(target) is Scope:
            if id(node) in self._wrong:
                return (), ()  # the error is in the call, not in the body
            return self._call(node, target, inputs, environment)
        before = len(self.findings)
        bodies = scope.children.get(index, ())
        if any(map(self._is_wrong, bodies)):
            return (), ()
        for body in bodies:
            self._scope(body, given_types(node, inputs), environment)
        if type(target) is not Signature or target.deprecated or id(node) in self._wrong:
            return (), ()
        complete = all(
            type is not None for type, name in zip(inputs, node.inputs, strict=True) if name
        )
        if not complete or len(self.findings) > before:
            return (), ()
        if node.op_type == "Constant" and not target.domain:
            self._remember(node, environment)
        made = self._infer(scope, node, target, environment, inputs)
        values = [environment.value(name) if name else None for name in node.inputs]
        return self._step.node(target, node, inputs, values, made) if made else (made, ())

    def _is_wrong(self, body: Scope) -> bool:
        """Whether a body has an error, which inference would report again."""
        values = (*body.inputs, *body.outputs, *body.initializers, *body.infos)
        items = (body.place, *values, *body.nodes)
        wrong = self._wrong
        return any(id(item) in wrong for item in items) or any(
            self._is_wrong(child) for children in body.children.values() for child in children
        )

    def _infer(
        self,
        scope: Scope,
        node: Node,
        signature: Signature,
        environment: Shapes,
        inputs: list[Type | None],
    ) -> Made:
        bodies = scope.children and scope.children.get(self._index(scope, node))
        if bodies and scope.function is not None:
            return ()  # attribute references in the bodies are not bound
        bound = bound_node(node, environment.parameters) if scope.function is not None else node
        constants = {}
        if signature.domain or not depends_on_types_alone(signature.name, len(inputs)):
            for name in node.inputs:
                constant = environment.constant(name) if name else None
                encoded = self._tensor(*constant) if constant is not None else None
                if encoded is not None:
                    constants[name] = encoded
        if bodies:
            names = {name: environment.find(name) for name in _names_in(bodies)}
            names |= dict(zip(node.inputs, inputs, strict=True))
            answer = self._inference.whole(signature, bound, names, constants, scope.opsets)
        else:
            answer = self._inference.plain(signature, bound, inputs, constants, scope.opsets)
        if isinstance(answer, str):
            self._objection(node, answer, inputs, environment)
        elif isinstance(answer, Failure):
            self._failed(node, answer)
        else:
            return answer
        return ()

    def _failed(self, node: Node, failure: Failure) -> None:
        """Report that onnx gave no answer; if it cannot be run at all, only once."""
        single = failure.kind not in ("unavailable", "stopped")
        key = (id(node), -1) if single else (0, -1)
        if key not in self._reported:
            self._reported.add(key)
            place = Place(node, ("op_type",))
            self.findings.append(failure_of(failure, place, node=True))

    def _index(self, scope: Scope, node: Node) -> int:
        return next((i for i in scope.children if scope.nodes[i] is node), -1)

    def _objection(
        self, node: Node, message: str, inputs: list[Type | None], environment: Shapes
    ) -> None:
        explained = explain(node, message, inputs, environment.place)
        slug = slug_of(message)
        if slug == "attribute-type" and any(type(a.value) is Reference for a in node.attributes):
            return  # the error is in the call, and found by `function_needs`
        if slug == "type-mismatch" and "expected to have type but instead is null" in message:
            return
        self._report(
            node,
            -1,
            *explained,
            "correct a declaration, or reshape, transpose or slice one of the inputs",
            slug,
        )

    def _call(
        self, node: Node, function: Scope, inputs: list[Type | None], outer: Shapes
    ) -> tuple[Made, Values]:
        parameters = call_attributes(function.owner, node, outer.parameters)
        values = tuple([outer.value(name) if name else None for name in node.inputs])
        key = self._calls.key(function, (*inputs, *values), parameters)
        known: tuple[Made, Values] | None = self._calls.known.get(key)
        if known is None:
            if not self._calls.enter(function):
                return (), ()
            environment = self._scope(function, tuple(inputs), None, parameters, values)
            self._calls.leave()
            names = [value.name for value in function.outputs]
            known = tuple(map(environment.find, names)), tuple(map(environment.value, names))
            self._calls.known[key] = known
        return known

    # ---- Encoding ---------------------------------------------------------------------------

    def _tensor(self, type: TensorType, data: TensorData) -> bytes | None:
        """Encode a tensor; None if that fails."""
        key = id(type), id(data)  # unique: the tree outlives the walk
        if key not in self._encoded:
            try:
                self._encoded[key] = b"".join(lower_tensor(type, None, data))
            except (LowerError, ValueError):
                self._encoded[key] = None
        return self._encoded[key]

    def _remember(self, node: Node, environment: Shapes) -> None:
        for attribute in node.attributes:
            value = attribute.value
            if isinstance(value, Tensor) and _is_small(value.type, value.data) and node.outputs:
                environment.constants[node.outputs[0]] = value.type, value.data


def _is_small(type: Type | None, data: object) -> bool:
    shape = getattr(type, "shape", None)
    if (
        shape is None
        or isinstance(data, SparseTensor)
        or not isinstance(data, (RawData, TypedData))
    ):
        return False
    dims = [dim for dim in shape if isinstance(dim, int)]
    return len(dims) == len(shape) and prod(dims) <= _MOST_ELEMENTS


def _names_in(bodies: Iterable[Scope]) -> set[str]:
    """Return the names of the values that nodes and outputs of bodies use."""
    found: set[str] = set()
    for body in bodies:
        for node in body.nodes:
            found.update(node.inputs)
        found.update([value.name for value in body.outputs])
        for children in body.children.values():
            found |= _names_in(children)
    return found
