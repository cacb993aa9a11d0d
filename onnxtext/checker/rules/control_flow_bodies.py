# SPDX-License-Identifier: Apache-2.0
"""Rule for the input and output counts of the bodies of If, Loop and Scan.

What: a body must have one input for each value that its node passes, and an output for each value
that the node expects.
Why: inputs and outputs are matched by position.
Fix: add or remove inputs or outputs of the body.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.checked_model import Subject
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.operator_resolution import targets
from onnxtext.checker.context.registry import Family, Rule
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.plurals import counted


def check(subject: Subject) -> Iterator[Finding]:
    """Find bodies with a wrong number of inputs or outputs."""
    resolved = targets(subject)
    for scope in subject.scopes:
        for index, children in scope.children.items():
            node = scope.nodes[index]
            target = resolved[id(scope)][index]
            if type(target) is Signature and target.is_standard:
                for child in children:
                    yield from _body(node, target, child, subject.ir_version)


def actual_inputs(scope: Scope, ir_version: int) -> list[str]:
    """Return the names of a body's inputs, without those that an initializer defines.

    Before IR version 4, every initializer is also listed as an input, but the node passes no value
    for it.
    """
    names = [value.name for value in scope.inputs]
    if 0 < ir_version < 4:
        given = {value.name for value in scope.initializers}
        names = [name for name in names if name not in given]
    return names


def _body(node: Node, signature: Signature, body: Scope, ir_version: int) -> Iterator[Finding]:
    inputs = len(actual_inputs(body, ir_version))
    outputs = len(body.outputs)
    match node.op_type:
        case "If":
            yield from _counts(node, body, (inputs, 0), (outputs, len(node.outputs)))
        case "Loop":
            carried = max(len(node.inputs) - 2, 0)
            least = max(1 + carried, 1 + len(node.outputs))
            yield from _counts(node, body, (inputs, 2 + carried), (outputs, None))
            if outputs < least:
                yield _wrong(node, body, "output", outputs, least, " or more")
            elif outputs - 1 > len(node.outputs) and outputs - 1 < carried:
                yield _wrong(node, body, "output", outputs, 1 + len(node.outputs))
        case "Scan":
            given = len(node.inputs) - (1 if signature.since < 9 else 0)
            scanned = attribute_value(node.attributes, "num_scan_inputs")
            carried = given - scanned if isinstance(scanned, int) else 0
            least = max(carried, len(node.outputs))
            yield from _counts(node, body, (inputs, given), (outputs, None))
            if outputs < least:
                yield _wrong(node, body, "output", outputs, least, " or more")


def _counts(
    node: Node, body: Scope, inputs: tuple[int, int], outputs: tuple[int, int | None]
) -> Iterator[Finding]:
    """Compare pairs (actual count, expected count); None means that any count is accepted."""
    if inputs[0] != inputs[1]:
        yield _wrong(node, body, "input", inputs[0], inputs[1])
    if outputs[1] is not None and outputs[0] != outputs[1]:
        yield _wrong(node, body, "output", outputs[0], outputs[1])


def _wrong(node: Node, body: Scope, kind: str, count: int, wanted: int, more: str = "") -> Finding:
    return Finding(
        "subgraph-arity",
        f"`{body.attribute}` of this `{node.op_type}` has {counted(count, kind)}, not "
        f"{wanted:,}{more}",
        (Place(body.original, ("name",)), Place(node, ("op_type",), "an attribute of this node")),
        help=f"change the graph so that it has {counted(wanted, kind)}{more}",
    )


FAMILY = Family(
    check,
    (
        Rule(
            "subgraph-arity",
            "error",
            "graphs in attributes have as many inputs and outputs as their operator needs",
            "schema",
        ),
    ),
)
