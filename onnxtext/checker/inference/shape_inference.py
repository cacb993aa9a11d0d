# SPDX-License-Identifier: Apache-2.0
"""Infer shapes node by node, with the inference functions of onnx and of the package `symbolic`.

onnx infers element types and reports errors. The functions of `symbolic` add dimensions that are
expressions of symbols, such as `2*seq`, and dimensions that depend on shapes computed by nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.checked_model import CheckedModel, cache_by_id
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.operator_resolution import Target, shape_rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference import control_flow_types as inner
from onnxtext.checker.inference.control_flow_types import Outputs, has_untyped_output
from onnxtext.checker.inference.environment import (
    ShapeEnvironment,
    declared_types,
    input_symbols,
    known_values,
    replaceable_inputs,
    small_constant,
)
from onnxtext.checker.inference.explain_shape_errors import explain, explain_difference, spell_type
from onnxtext.checker.inference.function_attributes import (
    bound_node,
    call_attributes,
    has_references,
)
from onnxtext.checker.inference.node_inference import Answer, node_inference
from onnxtext.checker.inference.onnx_errors import (
    code_of,
    contradicted_outputs,
    failure_of,
    is_due_to_unknown,
    untyped_values,
    wrong_items,
)
from onnxtext.checker.inference.scope_walk import ScopeWalk
from onnxtext.checker.inference.symbolic_types import SymbolicStep
from onnxtext.checker.inference.type_merging import Types, given_types, type_merger, with_shape_of
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.symbolic.operators import depends_on_types_alone
from onnxtext.checker.symbolic.small_tensors import SmallTensors, constant_tensor

_UNPARSED = "Unable to parse proto"  # onnx's error message if graphs are nested too deeply
_MAX_REPEATED = 2_000
"""Maximum number of repeated node visits, in addition to four for each node of the model."""

_Inputs = list[Type | None]  # the types of a node's inputs; None if unknown or omitted


class ShapeInference(ScopeWalk[ShapeEnvironment]):
    """Infers the types of all values, with shapes, in one walk over a model.

    `visits` has neither the repeated visits of loop bodies nor the visits of shape rules.

    Attributes:
        callers: maps `id(environment)` of each visited function body to the first call that used
            the results of the visit: the environment of the caller, and the node of the call.
        unreached: the findings in branches and loop bodies that never run.
    """

    def __init__(self, subject: CheckedModel) -> None:
        super().__init__(subject)
        self.unreached: list[Finding] = []
        self.callers: dict[int, tuple[ShapeEnvironment, Node]] = {}
        self._inference = node_inference(subject)
        self._merge, self._step = type_merger(input_symbols(subject)), SymbolicStep()
        self._targets = dict(self._targets)
        self._rule = cache_by_id(partial(shape_rule, subject.options.tables, self._targets))
        self._active: list[Scope] = []  # the shape rules that are being applied
        self._reported: set[tuple[int, int]] = set()
        self._quiet = 0  # 1 in a repeated visit of a body; 2 in its nested graphs: no findings
        # Limits repeated visits: their number grows exponentially with the nesting depth of loops.
        self._budget = _MAX_REPEATED + 4 * subject.node_count
        # The outputs of a node with an error are unknown, which prevents cascading errors.
        self._wrong = wrong_items(subject)
        # Contradictory types are not used, because a wrong type could cause cascading errors.
        self._contradicted, self._untyped = contradicted_outputs(subject), untyped_values(subject)

    # ---- Scopes -----------------------------------------------------------------------------

    def _scope(
        self,
        scope: Scope,
        input_types: Types,
        outer: ShapeEnvironment | None,
        parameters: Mapping[str, Attribute] | None = None,
        values: SmallTensors = (),
    ) -> ShapeEnvironment:
        known = known_values(scope, values, self._ir_version)
        environment = ShapeEnvironment({}, outer, known, scope, parameters=parameters or {})
        if not self._quiet:
            self.visits.setdefault(id(scope), []).append(environment)
        types, places = environment.facts, environment.places
        declared = declared_types(scope, self._untyped)
        for value in (*scope.inputs, *scope.initializers):
            if value.name in declared:
                types[value.name], places[value.name] = declared[value.name]
        for value, type in zip(scope.inputs, input_types, strict=False):
            if type is not None:
                typed = types.get(value.name)
                conflict, both = (None, type) if typed is None else self._merge(typed, type)
                types[value.name] = type if conflict and scope.kind == "function" else both
        variable = replaceable_inputs(scope, self._ir_version)
        for value in scope.initializers:
            constant = small_constant(value.type, value.data)
            if constant is not None and value.name not in variable:
                environment.constants[value.name] = constant
        resolved = self._targets[id(scope)]
        for index, node in scope.nodes_to_visit():
            output_types, elements = self._node(scope, index, node, resolved[index], environment)
            environment.computed_types[id(node)] = output_types
            for name, computed in zip(node.outputs, elements, strict=False):
                if name and computed is not None:
                    environment.values.setdefault(name, computed)
            self._add_outputs(node, output_types, declared, environment)
        return environment

    def _add_outputs(
        self,
        node: Node,
        output_types: Types,
        declared: dict[str, tuple[Type, Place]],
        environment: ShapeEnvironment,
    ) -> None:
        """Add the merged declared and computed types of a node's outputs to the environment.

        `output_types` are the computed types. `declared` maps the name of each value that the scope
        declares to the type and its place. If the types contradict each other, report this and
        add no type; but in a function, add the computed type.
        """
        for index, name in enumerate(node.outputs):
            if not name or name in environment.facts or (id(node), index) in self._contradicted:
                continue
            inferred = output_types[index] if index < len(output_types) else None
            declaration = declared.get(name)
            if node.output_types and node.output_types[index] is not None:
                declaration = node.output_types[index], Place(node, ("output_types", index))  # type: ignore[assignment]
            if declaration is not None and inferred is not None:
                conflict, both = self._merge(declaration[0], inferred)
                if conflict is None:
                    inferred = both
                elif environment.scope.kind != "function":  # runtimes ignore types in functions
                    self._report_difference(node, index, inferred, declaration)
                    continue  # either type may be wrong, so later nodes see an unknown type
            elif declaration is not None:
                inferred = declaration[0]
            if inferred is not None:
                environment.facts[name] = inferred
                environment.places[name] = (
                    declaration[1] if declaration is not None else Place(node, ("outputs", index))
                )

    def _report_difference(
        self, node: Node, number: int, inferred: Type, declaration: tuple[Type, Place]
    ) -> None:
        declared, computed = spell_type(declaration[0]), spell_type(inferred)
        explained = explain_difference(node, number, declared, computed, declaration[1])
        help = f"declare it `{computed}`, or correct the inputs of `{node.op_type}`"
        self._report(node, number, *explained, help)

    def _report(
        self,
        node: Node,
        number: int,
        message: str,
        places: tuple[Place, ...],
        help: str,
        code: str = "",
    ) -> None:
        key = id(node), number
        if key not in self._reported and self._quiet < 2:
            self._reported.add(key)
            places = (*places, *self._limits.places())
            self.findings.append(Finding(code or "shape-mismatch", message, places, help=help))

    # ---- Nodes ------------------------------------------------------------------------------

    def _node(
        self, scope: Scope, index: int, node: Node, target: Target, environment: ShapeEnvironment
    ) -> tuple[Types, SmallTensors]:
        input_types = [environment.find(name) if name else None for name in node.inputs]
        if type(target) is Scope:
            if id(node) in self._wrong:
                return (), ()  # the error is in the call, not in the body
            return self._call(node, target, input_types, environment)
        before = len(self.findings)
        bodies = scope.children.get(index, [])
        if any(map(self._has_error, bodies)):
            return (), ()
        body_outputs = self._bodies(node, bodies, input_types, environment) if bodies else None
        if type(target) is not Signature or target.deprecated or id(node) in self._wrong:
            return (), ()
        if target.origin:
            return self._from_schema_file(node, target, input_types, environment)
        if len(self.findings) > before:
            return (), ()
        bound = bound_node(node, environment.parameters) if scope.function is not None else node
        if node.op_type == "Constant" and not target.domain:
            self._add_constant(bound, environment)
        values = [environment.value(name) if name else None for name in node.inputs]
        if body_outputs is not None and values and inner.live_branch(node, values[0]) is not None:
            return body_outputs
        answer = self._answer(bound, target, environment, input_types, bodies)
        types = self._accept_answer(node, answer, input_types, environment, bodies)
        if body_outputs is not None:
            from_bodies = (*body_outputs.types, *(None,) * len(types))[: len(types)]
            return tuple(map(inner.complete_output_type, types, from_bodies)), body_outputs.values
        return self._step.node(target, bound, input_types, values, types) if types else (types, ())

    def _bodies(
        self, node: Node, bodies: list[Scope], inputs: _Inputs, environment: ShapeEnvironment
    ) -> Outputs:
        """Visit the bodies of a node with the input types `inputs`; return the node's outputs.

        Findings in bodies that never run are stored in `unreached`, not in `findings`.
        """
        values = [environment.value(name) if name else None for name in node.inputs]

        def visit(body: Scope, input_types: Types, repeated: bool = False) -> Outputs:
            before, reported = len(self.findings), self._reported
            quiet, self._quiet = self._quiet, 2 if self._quiet else int(repeated)
            self._budget -= (1 + len(body.nodes)) if repeated else 0
            runs = not inner.never_runs(node, body, values)
            self._reported = reported if runs else set(reported)
            inner_types = self._scope(body, input_types, environment, environment.parameters)
            if not runs:
                self.unreached += self.findings[before:]
                del self.findings[before:]
            self._quiet, self._reported = quiet, reported
            return Outputs(*inner_types.results(body))

        first, scans = bodies[0], inner.scan_input_count(node)
        operator = qualified_name(node.domain, node.op_type)
        if operator == "If" and values:
            branches = [visit(body, ()) for body in bodies]
            live = inner.live_branch(node, values[0])
            alive = [b for b, body in zip(branches, bodies, strict=True) if body.attribute == live]
            return inner.join_branch_outputs(alive or branches)
        repeatable = not self._quiet or self._budget >= 0
        if repeatable and operator == "Loop" and len(inputs) > 1:
            passed = inner.loop_inputs(inputs, lambda types: visit(first, types, True))
            outputs = visit(first, passed)
            runs_all = inner.runs_all_trips(node, first, outputs, values[1])
            trips = values[0] if runs_all else None
            return Outputs(inner.loop_outputs(inputs, passed, outputs.types, trips), ())
        # Before version 9, `Scan` has an additional input and a batch dimension.
        is_scan = operator == "Scan" and len(first.inputs) == len(inputs)
        if repeatable and is_scan and scans is not None:
            passed = inner.scan_inputs(node, scans, inputs, lambda types: visit(first, types, True))
            types = visit(first, passed).types
            return Outputs(inner.scan_outputs(node, scans, inputs, passed, types), ())
        for body in bodies:
            visit(body, given_types(node, inputs))
        return Outputs((), ())

    def _has_error(self, body: Scope) -> bool:
        """Whether an earlier rule found an error in a body; onnx would report the error again."""
        values = (*body.inputs, *body.outputs, *body.initializers, *body.infos)
        items = (body.original, *values, *body.nodes)
        wrong = self._wrong
        return any(id(item) in wrong for item in items) or any(
            self._has_error(child) for children in body.children.values() for child in children
        )

    def _answer(
        self,
        node: Node,
        signature: Signature,
        environment: ShapeEnvironment,
        inputs: _Inputs,
        bodies: list[Scope],
    ) -> Answer:
        """Ask onnx for the output types of a `bound_node`; () if it has bodies in a function."""
        scope = environment.scope
        if bodies and scope.function is not None:
            return ()  # attribute references in the bodies are not bound
        constants = {}
        if signature.domain or not depends_on_types_alone(signature.name, len(inputs)):
            for name in node.inputs:
                constant = environment.constant(name) if name else None
                encoded = constant and self._inference.encode_tensor(*constant)
                if encoded is not None:
                    constants[name] = encoded
        if not bodies:
            return self._inference.plain(signature, node, inputs, constants, scope.opsets)
        graphs = list(walk_graphs(node))
        used = [name for graph in graphs for inner in graph.nodes for name in inner.inputs]
        used += [value.name for graph in graphs for value in graph.outputs]
        names = {n: environment.find(n) for n in used} | dict(zip(node.inputs, inputs, strict=True))
        return self._inference.infer_with_subgraphs(signature, node, names, constants, scope.opsets)

    def _accept_answer(
        self,
        node: Node,
        answer: Answer,
        inputs: _Inputs,
        environment: ShapeEnvironment,
        bodies: list[Scope],
    ) -> Types:
        """Return the types in onnx's answer; report errors that no unknown type can have caused."""
        if isinstance(answer, tuple):
            return answer
        named = [type for type, name in zip(inputs, node.inputs, strict=True) if name]
        unlisted = bool(bodies and self._quiet)  # `visits` lacks the visits of the bodies
        if None in named or unlisted or any(has_untyped_output(b, self.visits) for b in bodies):
            return ()  # onnx's error may be due to the unknown type
        if not isinstance(answer, str):
            self._report_failure(node, answer)
        elif is_due_to_unknown(answer, inputs):
            return (None,) * len(node.outputs) if bodies else ()  # `_node` adds types from bodies
        elif _UNPARSED not in answer:
            self._report_error(node, answer, inputs, environment)
        return ()

    def _report_failure(self, node: Node, failure: Failure) -> None:
        """Report a failure of onnx once per node; once per model if onnx gets no more requests."""
        key = (0 if failure.kind in ("unavailable", "stopped") else id(node), -1)
        if key not in self._reported and self._quiet < 2:
            self._reported.add(key)
            self.findings.append(failure_of(failure, Place(node, ("op_type",)), node=True))

    def _report_error(
        self, node: Node, message: str, inputs: _Inputs, environment: ShapeEnvironment
    ) -> None:
        """Report an error message of onnx, unless another error causes it."""
        code = code_of(message)
        if code == "attribute-type" and has_references(node):
            return  # the error is in the call, and `function_needs` finds it
        help = "correct a declaration or an attribute, or reshape, transpose or slice an input"
        self._report(node, -1, *explain(node, message, inputs, environment.place), help, code)

    def _from_schema_file(
        self, node: Node, signature: Signature, inputs: _Inputs, environment: ShapeEnvironment
    ) -> tuple[Types, SmallTensors]:
        """Return (types, ()): the output types of a node whose operator is in a schema file."""
        values = [environment.value(name) if name else None for name in node.inputs]
        types, _ = self._step.node(signature, node, inputs, values)
        rule = self._rule(signature)
        if rule is None or rule in self._active:
            return types, ()
        before, self._quiet = self._quiet, 2  # report no findings in the shape rule
        self._active.append(rule)
        output_types, _ = self._call(node, rule, inputs, environment)
        self._active.pop()
        self._quiet = before
        return tuple(map(with_shape_of, types, (*output_types, *(None,) * len(types)))), ()

    def _call(
        self, node: Node, function: Scope, inputs: _Inputs, outer: ShapeEnvironment
    ) -> tuple[Types, SmallTensors]:
        """Return a call's output types and the elements of small outputs; `((), ())` at a limit."""
        values = tuple([outer.value(name) if name else None for name in node.inputs])
        attributes = bound_node(node, outer.parameters).attributes
        key = self._call_key(function, (*inputs, *values, self._quiet), attributes)
        body = self._called.get(key)
        if body is None:
            if not self._limits.enter(node, function):
                return (), ()
            parameters = call_attributes(function.owner, node, outer.parameters)
            body = self._called[key] = self._scope(
                function, tuple(inputs), None, parameters, values
            )
            self._limits.leave()
        outer.calls[id(node)] = body
        self.callers.setdefault(id(body), (outer, node))
        return body.results(function)

    def _add_constant(self, node: Node, environment: ShapeEnvironment) -> None:
        """Add the output of a `Constant` to `environment.constants` if it is a small tensor."""
        for attribute in node.attributes:
            tensor = constant_tensor(attribute)
            constant = small_constant(*tensor) if tensor is not None else None
            if constant is not None and node.outputs:
                environment.constants[node.outputs[0]] = constant


class CompleteInference(ShapeInference):
    """Infers shapes in all functions; the base class skips functions that are never called."""

    def run(self) -> None:
        """Visit all graphs and functions; the inputs of uncalled functions have unknown types."""
        super().run()
        self._visit_uncalled([scope for scope in self._scopes if scope.kind == "function"])
