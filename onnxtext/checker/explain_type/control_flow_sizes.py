# SPDX-License-Identifier: Apache-2.0
"""Explain sizes of the outputs of `If`, `Loop` and `Scan`, and of the inputs of their bodies."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.finding import Place, quote
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.explain_type.determining_sizes import TypePart
from onnxtext.checker.explain_type.explanation_step import ExplanationStep, Wanted, size_of
from onnxtext.checker.explain_type.inferred_facts import InferredView
from onnxtext.checker.explain_type.unknown_sizes import start_of_sentence
from onnxtext.checker.inference.control_flow_types import scan_input_count


def explain_body_input(
    step: ExplanationStep, holder: Node, outer: InferredView, index: int
) -> list[Wanted] | None:
    """Explain a size of a body's input `index` by the value that the node `holder` passes to it.

    The explanation is stored in `step`. `outer` is the view of the graph that contains the node.

    Return the sizes that determine this size and must be explained next; [] if the explanation ends
    here. Return None if the value that the node passes is unknown.
    """
    operator = quote(holder.op_type)
    step.place = Place(holder, ("op_type",))
    if holder.op_type == "Loop" and index < 2:
        passed = "condition" if index else "iteration number"
        return step.explained(f"{operator} passes the {passed}")
    if holder.op_type not in ("Loop", "Scan") or index >= len(holder.inputs):
        return None
    name = holder.inputs[index]
    if holder.op_type == "Scan":
        scans = scan_input_count(holder)
        if scans is None:
            return None
        first_scan = len(holder.inputs) - scans
        if index >= first_scan:
            step.how = f"{operator} passes slices of"
            axis = _axis(holder, "scan_input_axes", index - first_scan)
            part = step.part
            if part.kind == "dimension" and part.at >= axis >= 0:  # the slices lack this axis
                part = TypePart("dimension", part.at + 1)
            return [(outer, name, part)]
    step.how = f"{operator} carries it between iterations, starting with"
    if step.size is None:
        step.kind = "unknown"
        if size_of(outer, name, step.part) is not None:
            result = index - 1 if holder.op_type == "Loop" else index
            outputs = step.view.scope.outputs
            step.how = f"{operator} carries it, and each iteration may set it to"
            return [(step.view, outputs[result].name, step.part)] if result < len(outputs) else []
    return [(outer, name, step.part)]


def explain_body_output(
    step: ExplanationStep, node: Node, output: int, children: Sequence[Scope]
) -> list[Wanted]:
    """Explain a size of a node's output by the graphs in the node's attributes (its bodies).

    `children` are the scopes of the bodies. The explanation is stored in `step`. Return the sizes
    that determine this size and must be explained next; [] if the explanation ends here.
    """
    operator = quote(node.op_type)
    inner = [view for view in map(step.view.body, children) if view is not None]
    if len(inner) < len(children):
        return step.explained(f"a body of {operator} is not analyzed")
    if node.op_type == "If":
        return _branches(step, operator, inner, output)
    scans = scan_input_count(node)
    if node.op_type == "Loop" and len(node.inputs) >= 2:
        return _explain_iterations(step, node, inner[0], output, len(node.inputs) - 2, 2, 1)
    if node.op_type == "Scan" and scans is not None:
        return _explain_iterations(step, node, inner[0], output, len(node.inputs) - scans, 0, 0)
    return step.explained(f"{operator} computes it")


def _branches(
    step: ExplanationStep, operator: str, inner: list[InferredView], output: int
) -> list[Wanted]:
    outputs = [(view, view.scope.outputs[output : output + 1]) for view in inner]
    results = [(view, value.name, step.part) for view, found in outputs for value in found]
    sizes = [size_of(*result) for result in results]
    same = [one for one, size in zip(results, sizes, strict=True) if size == step.size]
    if step.size is not None:
        return step.explained(f"the branches of {operator} give", *same)
    if same:
        return step.explained(start_of_sentence(operator, len(same)), *same)
    shown = " and ".join([f"`{size}`" for size in sizes])
    return step.explained(f"the branches of {operator} differ: {shown}")


def _explain_iterations(
    step: ExplanationStep,
    node: Node,
    body: InferredView,
    output: int,
    states: int,
    first: int,
    lead: int,
) -> list[Wanted]:
    """Explain a size of output `output` of a `Loop` or `Scan`; return the sizes to explain next.

    The node carries `states` values from iteration to iteration. The first carried value is input
    `first` of the node, and output `lead` of the body. `body` is the view of the body. The
    explanation is stored in `step`.
    """
    operator = quote(node.op_type)
    outputs = body.scope.outputs
    if output + lead >= len(outputs):
        return step.explained(f"the body of {operator} has no such output")
    result = outputs[output + lead].name
    if output < states:  # a carried value
        name = node.inputs[first + output]
        step.how = f"{operator} carries it between iterations, starting with"
        if step.size is None and name and size_of(step.view, name, step.part) is not None:
            step.how = f"{operator} carries it, and each iteration may set it to"
            return [(body, result, step.part)]
        return [(step.view, name, step.part)] if name else []
    axis = 0 if lead else _axis(node, "scan_output_axes", output - states)
    if step.part.kind == "dimension" and step.part.at == axis:
        step.how = f"{operator} has one entry for each iteration"
        if lead and node.inputs[0]:
            step.how += ", and the number of iterations is at most"
            return [(step.view, node.inputs[0], TypePart("element", 0))]
        scanned_axis = _axis(node, "scan_input_axes", 0)
        if not lead and states < len(node.inputs) and scanned_axis >= 0:
            return [(step.view, node.inputs[states], TypePart("dimension", scanned_axis))]
        return []
    step.how = f"{operator} stacks the results of its body:"
    part = step.part
    if part.kind == "dimension" and part.at > axis >= 0:
        part = TypePart("dimension", part.at - 1)
    return [(body, result, part)]


def _axis(node: Node, name: str, index: int) -> int:
    """Return the axis at an index of the list attribute `name`; 0 if there is none."""
    value = attribute_value(node.attributes, name)
    item = value[index] if isinstance(value, tuple) and 0 <= index < len(value) else 0
    return item if isinstance(item, int) else 0
