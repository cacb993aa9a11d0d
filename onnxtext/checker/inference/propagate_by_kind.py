# SPDX-License-Identifier: Apache-2.0
"""Propagate types, symbolic shapes and small values; infer only one node of each kind."""

from __future__ import annotations

from collections.abc import Mapping

from onnxtext.ast.model import Graph, Node
from onnxtext.ast.tensors_and_attributes import Attribute, Tensor
from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.control_flow_types import live_branch
from onnxtext.checker.inference.environment import input_symbols, replaceable_inputs
from onnxtext.checker.inference.function_attributes import bound_node, call_attributes
from onnxtext.checker.inference.kind_facts import (
    LARGE,
    MAX_COMPARED_INTEGERS,
    NOTHING,
    TENSOR,
    Facts,
    FactTable,
    InputUse,
    ValueFact,
    add_kind,
    data_dependence,
    facts_by_name,
    key_maker,
    shapes_of,
    types_of,
)
from onnxtext.checker.inference.node_inference import node_inference
from onnxtext.checker.inference.scope_walk import CallLimits
from onnxtext.checker.inference.symbolic_shapes import declares_types
from onnxtext.checker.inference.type_merging import Types, type_merger
from onnxtext.checker.inference.type_variables import bind_type_variables
from onnxtext.checker.symbolic.operator_call import Shapes
from onnxtext.checker.symbolic.operator_shapes.arithmetic import uses_elements
from onnxtext.checker.symbolic.operator_shapes.input_relations import has_several
from onnxtext.checker.symbolic.operators import depends_on_types_alone
from onnxtext.checker.symbolic.shape_merging import (
    equate_dims,
    merge_branch_shapes,
    operator_step,
    unify_shapes,
)
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.checker.symbolic.small_tensors import (
    SmallTensor,
    SmallTensors,
    common_elements,
    stored_value,
)
from onnxtext.schemas.type_strings import type_text

FEW_KINDS = 20
"""Number of kinds that are allowed in every model, even if each kind has only one node."""
_NODES_PER_FURTHER_KIND = 25
"""Number of nodes that a model must have for each kind beyond `FEW_KINDS`.

With fewer nodes, it is faster to check every node: a kind costs a request to onnx.
"""


class Inconclusive(Exception):
    """Raised if checking one node of each kind does not prove that a model has no type errors.

    Possible reasons: there are too many kinds, a type is unknown, or a node may have an error.
    """


class KindPropagation:
    """Propagates types through a model, with one inference per kind of nodes (see `check_by_kind`).

    Attributes:
        kinds: a graph with the first node of each kind found so far (see `add_kind`).
        sizes: the equations between symbolic sizes, from the first node of each kind. As soon as
            they are not `trivial`, the shapes of further kinds are unknown.
        depends_on_values: whether an output type may depend on the elements of an input.
    """

    def __init__(self, subject: CheckedModel, main: Scope) -> None:
        self.kinds = Graph("kinds")
        self.sizes = SizeEquations()
        self.depends_on_values = False
        self._inference = node_inference(subject)
        self._opsets = main.opsets
        self._main = main
        self._calls = CallLimits(subject)
        self._merge = type_merger(input_symbols(subject))
        self._parameters: Mapping[str, Attribute] = {}
        self._targets = resolve_targets(subject)
        self._ir_version = subject.ir_version
        self._key = key_maker()
        self._table = FactTable()
        # One dict for the main graph and its branches: the model has no redefined names.
        self._types: dict[str, ValueFact | None] = {"": None}
        self._values: dict[str, SmallTensor] = {}
        self._constants: dict[str, Tensor] = {}
        self._nested: dict[int, dict[str, Type]] = {}
        self._results: dict[tuple[object, ...], tuple[Facts, SmallTensors]] = {}
        self._reads: dict[int, InputUse] = {}
        # Keeps alive the objects whose ids are in keys of the caches, so that no `id()` is reused.
        self._kept: list[object] = []
        self._left = FEW_KINDS + subject.node_count // _NODES_PER_FURTHER_KIND

    def types_in(self, scope: Scope) -> dict[str, Type]:
        """Return the types of the values of a visited graph or function body, by name."""
        cached = self._nested.get(id(scope))
        return cached if cached is not None else self._types_of(scope)

    def has_visited(self, scope: Scope) -> bool:
        """Whether a graph or function body was visited, so that `types_in` knows its types."""
        return scope is self._main or id(scope) in self._nested

    def _types_of(self, scope: Scope) -> dict[str, Type]:
        facts = {name: self._types.get(name) for name in scope.position}
        return {name: fact.type for name, fact in facts.items() if fact is not None}

    def _declared_fact(self, type: Type | None) -> ValueFact:
        if type is None:
            raise Inconclusive
        return self._table.declared(type)

    # ---- Graphs -----------------------------------------------------------------------------

    def scope(self, scope: Scope) -> None:
        """Infer the types of all values of a graph, its nested graphs and the functions it calls.

        Raises:
            Inconclusive: one node of each kind does not prove that there are no type errors.
        """
        types, declared_type = self._types, self._declared_fact
        for value in (*scope.inputs, *scope.initializers):
            fact = declared_type(value.type)
            if types.setdefault(value.name, fact) is not fact:
                raise Inconclusive
        self._add_constants(scope)
        declared: dict[str, ValueFact] = {}
        for value in (*scope.infos, *scope.outputs):
            fact = declared_type(value.type)
            if declared.setdefault(value.name, fact) is not fact:
                raise Inconclusive
        self._nodes(scope, declared)
        for name, declaration in declared.items():
            found = types.get(name)
            if name not in scope.position or found is None:
                raise Inconclusive
            if found is not declaration:
                if self._merged(declaration.type, found.type) != found.type:
                    raise Inconclusive  # the declaration refines the inferred type
                if self.sizes.trivial:
                    place = Place(scope.original)
                    equate_dims(self.sizes, declaration.shape, found.shape, place)
        if scope.parent is not None:  # another branch may use the same names
            self._nested[id(scope)] = self._types_of(scope)

    def _add_constants(self, scope: Scope) -> None:
        variable = replaceable_inputs(scope, self._ir_version)
        for value in scope.initializers:
            fact, constant = self._types[value.name], LARGE
            if fact is not None and fact.is_small and value.name not in variable:
                constant = self._table.constant(fact, value.data)
                data = self._table.value(stored_value(constant.type, constant.data))
                if data is not None:
                    self._values[value.name] = data
            self._constants[value.name] = constant

    def _nodes(self, scope: Scope, declared: dict[str, ValueFact]) -> None:
        types, values, children = self._types, self._values, scope.children
        known_types = self._table.facts
        for index, (node, target) in enumerate(
            zip(scope.nodes, self._targets[id(scope)], strict=True)
        ):
            outputs, own_types = node.outputs, node.output_types
            typed: Facts = ()
            if own_types:
                try:
                    if len(own_types) == 1:
                        typed = (known_types[id(own_types[0])],)
                    else:
                        typed = tuple([known_types[id(type)] for type in own_types])
                except KeyError:
                    typed = self._output_facts(node, declared)
            elif declared:
                typed = tuple(map(declared.get, outputs))
            if children and index in children:
                found, computed = self._branches(node, target, children[index], typed)
            else:
                found, computed = self._node(node, target, typed)
            if len(found) == 1:
                types[outputs[0]] = found[0]
            else:
                types.update(zip(outputs, found, strict=True))
            if computed:
                for name, value in zip(outputs, computed, strict=False):
                    if name and value is not None:
                        values[name] = value

    def _output_facts(self, node: Node, declared: dict[str, ValueFact]) -> Facts:
        """Return the fact that the declared type of each output implies; None if undeclared."""
        pairs = zip(node.output_types, node.outputs, strict=True)
        return tuple([declared.get(n) if t is None else self._declared_fact(t) for t, n in pairs])

    # ---- Kinds ------------------------------------------------------------------------------

    def _node(self, node: Node, target: Target, typed: Facts) -> tuple[Facts, SmallTensors]:
        """Return the types and values of a node without bodies, or raise `Inconclusive`."""
        reads = self._reads.get(id(target))
        if reads is None:
            reads = self._reads[id(target)] = data_dependence(target)
        if reads is TENSOR:
            return self._constant(node, target, typed)
        try:
            key = self._key(
                node, target, self._types, typed, self._parameters, MAX_COMPARED_INTEGERS
            )
        except KeyError:
            raise Inconclusive from None
        passed: SmallTensors = ()
        read: tuple[Tensor | None, ...] = ()
        if reads is not NOTHING:
            if reads.values and self.sizes.trivial:
                passed = tuple(map(self._values.get, node.inputs))
                if reads.shapes_alone and not uses_elements(node.op_type, passed):
                    passed = ()
            if reads.constants is not None:
                read = tuple(map(self._constants.get, node.inputs[reads.constants :]))
            key += (*map(id, passed), *map(id, read))
        cached = self._results.get(key)
        if cached is None:
            self._check_count()
            found, values = self._new(node, target, key[2], typed, passed, read)
            cached = self._results[key] = found, values if any(values) else ()
        return cached

    def _check_count(self) -> None:
        """Raise `Inconclusive` if there are so many kinds that checking them is slow."""
        if self._left < 0:
            raise Inconclusive

    def _constant(self, node: Node, target: Target, typed: Facts) -> tuple[Facts, SmallTensors]:
        """Return the type and value of a `Constant`, whose kind depends on its tensor's type."""
        tensor = node.attributes[0].value if len(node.attributes) == 1 else None
        constant = LARGE
        if isinstance(tensor, Tensor) and not tensor.decorators and len(node.outputs) == 1:
            fact = self._table.declared(tensor.type)
            key = id(target), typed, fact
            constant = self._table.constant(fact, tensor.data)
        else:
            key = self._key(
                node, target, {"": None}, typed, self._parameters, MAX_COMPARED_INTEGERS
            )
        result = self._results.get(key)
        if result is None:
            self._check_count()
            result = self._results[key] = self._new(node, target, (), typed, (), ())
        self._constants |= {name: constant for name in node.outputs if name}
        if constant is LARGE:
            return result
        value = self._table.value(stored_value(constant.type, constant.data))
        return result[0], (value if value is not None and value.is_useful() else None,)

    def _new(
        self, node: Node, target: Target, input_facts: Facts, typed: Facts, passed: SmallTensors,
        read: tuple[Tensor | None, ...],
    ) -> tuple[Facts, SmallTensors]:  # fmt: skip
        """Infer the types and values of the outputs of the first node of a kind.

        `typed` are the facts that the declared types of the outputs imply; may be empty. `passed`
        are the elements of small inputs; may be empty. `read` are the tensors of the last
        `len(read)` inputs; None for inputs that are not constant. Add the kind to `kinds`, except
        for a function call. Raise `Inconclusive`, for example, if a type is unknown.
        """
        if type(target) is Scope:
            return self._call(node, target, input_facts, typed, passed, read)
        if type(target) is not Signature or any(tensor is LARGE for tensor in read):
            raise Inconclusive
        if any(fact is None for fact, name in zip(input_facts, node.inputs, strict=True) if name):
            raise Inconclusive
        if not depends_on_types_alone(target.name, len(input_facts)):
            self.depends_on_values = True
        kind = len(self.kinds.nodes)
        names = [f"i{index}_{kind}" if name else "" for index, name in enumerate(node.inputs)]
        results = [f"o{index}_{kind}" if name else "" for index, name in enumerate(node.outputs)]
        attributes = bound_node(node, self._parameters).attributes
        sample = Node(node.op_type, tuple(names), tuple(results), attributes, None,
                      node.domain, node.overload, types_of(typed))  # fmt: skip
        constants = facts_by_name(names[len(names) - len(read) :], read)
        inputs = types_of(input_facts)
        data: dict[str, bytes] = {}
        for name, tensor in constants.items():
            encoded = self._inference.encode_tensor(tensor.type, tensor.data)
            if encoded is None:
                raise Inconclusive
            data[name] = encoded
        computed = self._inference.plain(target, sample, inputs, data, self._opsets)
        if not isinstance(computed, tuple):
            raise Inconclusive
        shapes: Shapes = ()
        values: SmallTensors = ()
        if self.sizes.trivial:
            unknown, given = [None] * len(node.outputs), list(shapes_of(input_facts))
            shapes, values = operator_step(node, target, unknown, given, list(passed), self.sizes)
        add_kind(self.kinds, sample, inputs, constants)
        self._left -= 1
        facts = self._all_joined(node, typed, computed, shapes)
        return facts, tuple(map(self._table.value, values))

    def _call(
        self, node: Node, function: Scope, input_facts: Facts, typed: Facts, passed: SmallTensors,
        read: tuple[Tensor | None, ...],
    ) -> tuple[Facts, SmallTensors]:  # fmt: skip
        """Infer the outputs of the first call of a kind; parameters and errors are as in `_new`."""
        opsets, function_opsets = self._opsets, function.opsets
        if (
            declares_types(function)
            or opsets is None
            or function_opsets is None
            or opsets.get("") != function_opsets.get("")
            or len(input_facts) != len(function.inputs)
            or len(node.outputs) > len(function.outputs)
            or not self._calls.enter(node, function)
        ):
            raise Inconclusive
        before = self._types, self._values, self._constants, self._parameters
        self._parameters = call_attributes(function.owner, node, self._parameters)
        self._kept += self._parameters.values()
        names = [value.name for value in function.inputs]
        self._types = {"": None, **dict(zip(names, input_facts, strict=True))}
        self._values = facts_by_name(names, passed)
        self._constants = facts_by_name(names, read)
        self._nodes(function, {})
        self._nested.setdefault(id(function), self._types_of(function))
        results = [value.name for value in function.outputs]
        facts = tuple(map(self._types.get, results))
        values = tuple(map(self._values.get, results))
        self._types, self._values, self._constants, self._parameters = before
        self._calls.leave()
        return self._all_joined(node, typed, types_of(facts), shapes_of(facts)), values

    def _all_joined(self, node: Node, typed: Facts, computed: Types, shapes: Shapes) -> Facts:
        """Merge the types and shapes of a node's outputs to facts, or raise `Inconclusive`."""
        given = shapes_of(typed) or (None,) * len(node.outputs)
        shapes = unify_shapes(node, given, shapes, self.sizes) if self.sizes.trivial else ()
        joined: list[ValueFact | None] = []
        for index, name in enumerate(node.outputs):
            declared, type = typed[index] if typed else None, computed[index]
            if declared is not None:
                type = declared.type if type is None else self._merged(declared.type, type)
            if name and type is None:
                raise Inconclusive
            shape = shapes[index] if index < len(shapes) else None
            joined.append(self._table.fact(type, shape) if name and type is not None else None)
        return tuple(joined)

    def _merged(self, declared: Type, inferred: Type) -> Type:
        """Merge two types with `type_merger`; raise `Inconclusive` if they are contradictory."""
        conflict, both = self._merge(declared, inferred)
        if conflict is not None:
            raise Inconclusive
        return both

    def _branches(
        self, node: Node, target: Target, bodies: list[Scope], typed: Facts
    ) -> tuple[Facts, SmallTensors]:
        """Return the types and values of an `If`'s outputs, or raise `Inconclusive`."""
        condition = self._types.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if type(target) is not Signature or target.domain or condition is None or len(bodies) != 2:
            raise Inconclusive
        mismatch = bind_type_variables(target, (type_text(condition.type),), node)[1]
        if mismatch is not None or has_several(condition.shape):
            raise Inconclusive
        (one, first), (other, second) = map(self._body, bodies)
        if types_of(one) != types_of(other) or len(one) != len(node.outputs):
            raise Inconclusive
        shapes, values = shapes_of(one), first
        live = live_branch(node, self._values.get(node.inputs[0]))
        if live is None:
            pairs = zip(shapes, shapes_of(other), strict=True)
            shapes = tuple([merge_branch_shapes(left, right) for left, right in pairs])
            values = tuple(map(self._table.value, map(common_elements, first, second)))
        elif bodies[0].attribute != live:
            shapes, values = shapes_of(other), second
        return self._all_joined(node, typed, types_of(one), shapes), values

    def _body(self, body: Scope) -> tuple[Facts, SmallTensors]:
        """Visit a branch; return the types and values of its outputs."""
        self.scope(body)
        names = [value.name for value in body.outputs]
        result = tuple(map(self._types.get, names)), tuple(map(self._values.get, names))
        for name in body.position:  # another branch may use the same names
            self._values.pop(name, None)
            self._constants.pop(name, None)
        return result
