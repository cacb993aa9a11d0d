# SPDX-License-Identifier: Apache-2.0
"""Explain a size: follow it from the outputs of nodes to their inputs, back to a declaration.

The explanation of an unknown size ends at the node that makes the size unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.types import MapType, TensorType, Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.explain_type.control_flow_sizes import explain_body_input, explain_body_output
from onnxtext.checker.explain_type.determining_sizes import (
    RANK,
    Influence,
    NodeFacts,
    TypePart,
    determining_sizes,
    infer_size,
    missing_sizes,
)
from onnxtext.checker.explain_type.explanation_step import ExplanationStep, Wanted, part_of, size_of
from onnxtext.checker.explain_type.inferred_facts import InferredView
from onnxtext.checker.explain_type.unknown_sizes import operator_reason, start_of_sentence
from onnxtext.checker.inference.explain_shape_errors import spell_type
from onnxtext.checker.inference.function_attributes import bound_node, has_references
from onnxtext.checker.inference.onnx_errors import errors_of
from onnxtext.checker.symbolic.shape_merging import declared_shape
from onnxtext.checker.symbolic.sizes.polynomials import Extent

_MAX_STEPS = 20_000
"""The maximum number of steps in all explanations of one model together."""
_MAX_OTHERS = 3
"""The maximum number of other input sizes that a step reports as equal to the output size."""
_DEEPEST = 30
"""The maximum number of steps with several sources along one chain."""


Declared = tuple[Type, Place]
"""A declared type and its place."""


@dataclass(slots=True)
class _Task:
    """A step, and the sizes that its `sources` will explain.

    `depth` counts the steps with more than one source on the way to this step.
    """

    step: ExplanationStep
    wanted: list[Wanted]
    depth: int


class SizeExplainer:
    """Finds where the sizes of the values of a checked model come from.

    The explanation of a size is a chain of `ExplanationStep`s back to declarations. `findings` are
    the findings of the model's shape inference, which explain unknown sizes. `max_steps` limits the
    number of steps in all explanations together.
    """

    def __init__(
        self, subject: CheckedModel, findings: list[Finding], *, max_steps: int = _MAX_STEPS
    ) -> None:
        self._targets = resolve_targets(subject)
        self._errors = {
            id(finding.places[0].item): finding.message
            for finding in (*findings, *errors_of(subject))
            if finding.places
        }
        self._left = max_steps

    def explain(self, view: InferredView, name: str, part: TypePart) -> ExplanationStep:
        """Return the step that explains a size of a value; its `sources` lead to declarations.

        `view` is the view of the graph that defines the value, or of a graph nested in it.
        """
        first = self._task(view, name, part, 0)
        seen = {(id(view.scope), name, part): first.step}
        stack = [first]
        while stack:
            task = stack.pop()
            for other, source, of in task.wanted:
                key = id(other.scope), source, of
                if key in seen:
                    above = replace(seen[key], how="explained above", also=[], sources=[])
                    task.step.sources.append(above)
                    continue
                self._left -= 1
                if self._left < 0 or task.depth > _DEEPEST:
                    task.step.also.append("the earlier steps are left out: there are too many")
                    break
                next_task = self._task(other, source, of, task.depth + (len(task.wanted) > 1))
                seen[key] = next_task.step
                task.step.sources.append(next_task.step)
                stack.append(next_task)
        return first.step

    def _task(self, view: InferredView, name: str, part: TypePart, depth: int) -> _Task:
        inner: InferredView | None = view
        while inner is not None and name not in inner.scope.position:
            inner = inner.outer()
        if inner is None:
            how = f"nothing defines {quote(name)}"
            return _Task(ExplanationStep(view, name, part, None, "unknown", how), [], depth)
        step = ExplanationStep(inner, name, part, size_of(inner, name, part), "inferred", "")
        position = inner.scope.position[name]
        if position == GIVEN:
            return _Task(step, self._explain_given(step), depth)
        return _Task(step, self._explain_computed(step, position), depth)

    def _explain_given(self, step: ExplanationStep) -> list[Wanted]:
        """Complete a step for an input or initializer; return the sizes to explain next."""
        name, scope = step.name, step.view.scope
        value = scope.given[name]
        step.place = Place(value, ("type",))
        index = next((i for i, other in enumerate(scope.inputs) if other.name == name), None)
        if index is None:  # an initializer
            step.kind = "stored" if step.size is not None else "unknown"
            step.how = f"the initializer {quote(name)} stores it"
            if step.size is None:
                reason = "they are too many, not loaded, or of a type that inference does not track"
                step.how = f"the elements of {quote(name)} are unknown: {reason}"
            return []
        step.place = Place(value, ("name",)) if value.type is None else step.place
        declared = part_of(value.type, step.part)
        if declared is not None and step.part.kind != "element":
            step.kind = "unknown" if step.size is None else "declared"
            verb = "contradicts its initializer" if step.size is None else "declares it"
            return step.explained(f"the input {quote(name)} {verb}")
        passed = self._explain_passed(step, index)
        if passed is not None:
            return passed
        step.kind = "unknown" if step.size is None else "declared"
        input = f"the input {quote(name)}"
        if step.part.kind == "element":
            step.how = f"the caller chooses the elements of {input}"
        elif step.size is not None:
            step.how = f"{input} has it"
        elif step.part == RANK:
            step.how = f"{input} is declared without a shape"
        else:
            step.how = f"{input} is declared without this size"
        return []

    def _explain_passed(self, step: ExplanationStep, index: int) -> list[Wanted] | None:
        """Explain an input of a function or body by the value that is passed to the input.

        Return the sizes to explain next; None if the passed value is unknown.
        """
        view, scope = step.view, step.view.scope
        if scope.kind == "function":
            found = view.caller()
            if found is None:
                return None
            caller, node = found
            if index >= len(node.inputs) or not node.inputs[index]:
                step.kind = "unknown"
                return step.explained("the call does not pass this input")
            step.place = Place(node, ("inputs", index))
            step.how = f"the call of {quote(scope.name)} passes"
            step.kind = "inferred" if step.size is not None else "unknown"
            return [(caller, node.inputs[index], step.part)]
        outer = view.outer()
        if scope.holder is None or outer is None or plain_domain(scope.holder.domain):
            return None
        return explain_body_input(step, scope.holder, outer, index)

    def _explain_computed(self, step: ExplanationStep, position: int) -> list[Wanted]:
        """Complete a step for the output of node `position`; return the sizes to explain next."""
        scope = step.view.scope
        node = scope.nodes[position]
        target = self._targets[id(scope)][position]
        output = node.outputs.index(step.name)
        step.place = Place(node, ("outputs", output))
        operator = quote(node.op_type)
        declared = _declaration(scope, node, output) if step.part.kind != "element" else None
        inferred = step.view.computed_types(node)
        type = inferred[output] if inferred is not None and output < len(inferred) else None
        confirmed = target is not None if inferred is None else part_of(type, step.part) is not None
        if step.size is not None and declared is not None and not confirmed:
            declared_type, step.place = declared
            step.kind = "assumed"
            why = "does not determine it" if target is not None else "is an unknown operator"
            spelled = spell_type(declared_type)
            return step.explained(f"it is declared as `{spelled}`; {operator} {why}")
        if step.size is not None and declared is not None:
            size, other = part_of(declared[0], step.part), part_of(type, step.part)
            if None not in (size, other) and size != other:
                step.also.append(f"it is declared as `{size}`; {operator} gives `{other}`")
        step.kind = "unknown" if step.size is None else "inferred"
        if id(node) in self._errors and step.size is None:
            return step.explained(f"{operator} has an error: {self._errors[id(node)]}")
        if isinstance(target, Scope):
            return self._call(step, node, output)
        children = scope.children.get(position)
        if children and not plain_domain(node.domain):
            return explain_body_output(step, node, output, children)
        return self._operator(step, node, output, target, declared)

    def _call(self, step: ExplanationStep, node: Node, output: int) -> list[Wanted]:
        function = step.view.call(node)
        if function is None or output >= len(function.scope.outputs):
            return step.explained(f"the call of {quote(node.op_type)} is not analyzed")
        result = function, function.scope.outputs[output].name, step.part
        return step.explained(f"the function {quote(node.op_type)} gives", result)

    def _operator(
        self,
        step: ExplanationStep,
        node: Node,
        output: int,
        target: Target,
        declared: Declared | None,
    ) -> list[Wanted]:
        operator = quote(node.op_type)
        if not isinstance(target, Signature):
            return step.explained(operator_reason(node, step.view.scope))
        facts = self._facts(step.view, node, target)
        if step.size is None:
            missing = missing_sizes(facts, output, step.part)
            maps = [isinstance(step.view.type(name), MapType) for name in node.inputs]
            needs = self._sources(step, node, [one for one in missing if not maps[one.input]])
            if needs:
                step.how = start_of_sentence(operator, len(needs))
            else:
                step.how = operator_reason(node, step.view.scope, facts, step.part)
            return needs
        if (
            declared is not None
            and step.view.computed_types(node) is None
            and part_of(declared[0], step.part) is not None
            and infer_size(facts, output, step.part) is None
        ):
            step.kind = "declared"
            return step.explained(f"it is declared as `{spell_type(declared[0])}`")
        if step.part.kind == "rank":
            return step.explained(f"{operator} computes it")
        influences = determining_sizes(facts, output, step.part, _extent(step))
        sizes = [size_of(step.view, node.inputs[i], part) for i, part in influences]
        if not influences:
            step.how = f"{operator} computes it"
            if node.attributes:
                step.how = f"the attributes of {operator} give it"
            return []
        if all(size == step.size for size in sizes):
            step.how = f"{operator} takes it from"
            named = dict.fromkeys([part.of(quote(node.inputs[i])) for i, part in influences])
            step.also += [f"{other} is the same" for other in list(named)[1 : _MAX_OTHERS + 1]]
            return self._sources(step, node, influences[:1])
        step.how = f"{operator} computes it from"
        return self._sources(step, node, influences)

    def _sources(
        self, step: ExplanationStep, node: Node, influences: list[Influence]
    ) -> list[Wanted]:
        """Return the input sizes in `influences`, which are explained next.

        Each size occurs once, although several inputs may be the same value.
        """
        return list(dict.fromkeys((step.view, node.inputs[i], part) for i, part in influences))

    def _facts(self, view: InferredView, node: Node, target: Signature) -> NodeFacts:
        shapes = [declared_shape(view.type(name)) if name else None for name in node.inputs]
        values = [view.value(name) if name else None for name in node.inputs]
        if has_references(node):
            parameters = view.parameters()
            node = node if parameters is None else bound_node(node, parameters)
        return NodeFacts(target, node, tuple(shapes), tuple(values))


def source_chain(step: ExplanationStep) -> Iterator[ExplanationStep]:
    """Yield a step, then its source, and so on, until a step has no source or several sources."""
    yield step
    while len(step.sources) == 1:
        step = step.sources[0]
        yield step


def _extent(step: ExplanationStep) -> Extent:
    """Return the dimension or element of a step as a symbolic expression; None if unknown."""
    if step.part.kind == "element":
        value = step.view.value(step.name)
        return None if value is None else value.items[step.part.at]
    shape = getattr(step.view.type(step.name), "shape", None)  # the type may be sparse
    shape = declared_shape(TensorType("float", shape))
    return None if shape is None else shape[step.part.at]


def _declaration(scope: Scope, node: Node, output: int) -> Declared | None:
    """Return the declared type of an output and its place; None if it is not declared."""
    if node.output_types:
        declared = node.output_types[output]
        if declared is not None:
            return declared, Place(node, ("output_types", output))
    for value in (*scope.infos, *scope.outputs):
        if value.name == node.outputs[output] and value.type is not None:
            return value.type, Place(value, ("type",))
    return None
