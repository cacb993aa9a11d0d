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
    """Explain a size of a body's input by the value that the node passes to it.

    Args:
        step: the `ExplanationStep` for the size; this function fills in its explanation.
        holder: the node that has the body in an attribute.
        outer: the view of the graph that contains the node.
        index: the 0-based index of the body's input.

    Returns:
        The sizes that determine this size and must be explained next; [] if the explanation ends
        here. None if the value that the node passes is unknown.
    """
    operator = quote(holder.op_type)
    step.place = Place(holder, ("op_type",))
    if holder.op_type == "Loop" and index < 2:
        step.how = f"{operator} passes the {'condition' if index else 'iteration number'}"
        return []
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


def made_by_bodies(
    step: ExplanationStep, node: Node, output: int, children: Sequence[Scope]
) -> list[Wanted]:
    """Explain a size of a node's output by the bodies of the node.

    Args:
        step: the `ExplanationStep` for the size; this function fills in its explanation.
        node: the node.
        output: the 0-based index of the output.
        children: the bodies, which are the graphs in the attributes of the node.

    Returns:
        The sizes that determine this size and must be explained next; [] if the explanation ends
        here.
    """
    operator = quote(node.op_type)
    inner = [view for view in map(step.view.body, children) if view is not None]
    if len(inner) < len(children):
        step.how = f"the bodies of {operator} are not analyzed"
        return []
    if node.op_type == "If":
        return _branches(step, operator, inner, output)
    scans = scan_input_count(node)
    if node.op_type == "Loop" and len(node.inputs) >= 2:
        return _explain_iterations(step, node, inner[0], output, len(node.inputs) - 2, 2, 1)
    if node.op_type == "Scan" and scans is not None:
        return _explain_iterations(step, node, inner[0], output, len(node.inputs) - scans, 0, 0)
    step.how = f"{operator} computes it"
    return []


def _branches(
    step: ExplanationStep, operator: str, inner: list[InferredView], output: int
) -> list[Wanted]:
    results = [
        (view, view.scope.outputs[output].name, step.part)
        for view in inner
        if output < len(view.scope.outputs)
    ]
    sizes = [size_of(*result) for result in results]
    if step.size is not None:
        step.how = f"the branches of {operator} give"
        return [one for one, size in zip(results, sizes, strict=True) if size == step.size]
    unknown = [one for one, size in zip(results, sizes, strict=True) if size is None]
    if unknown:
        step.how = start_of_sentence(operator, len(unknown))
        return unknown
    shown = " and ".join([f"`{size}`" for size in sizes])
    step.how = f"the branches of {operator} differ: {shown}"
    return []


def _explain_iterations(
    step: ExplanationStep,
    node: Node,
    body: InferredView,
    output: int,
    states: int,
    first: int,
    lead: int,
) -> list[Wanted]:
    """Explain an output of a `Loop` or `Scan`.

    Args:
        step: the step for a size of the output; this function fills in its explanation.
        node: the node.
        body: the view of the node's body.
        output: the index of the output.
        states: the number of values that the node carries from iteration to iteration.
        first: the index of the first carried value in the inputs of the node.
        lead: the index of the first carried value in the outputs of the body.

    Returns:
        The sizes to explain next.
    """
    operator = quote(node.op_type)
    outputs = body.scope.outputs
    if output + lead >= len(outputs):
        step.how = f"the body of {operator} has no such output"
        return []
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
