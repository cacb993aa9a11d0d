# SPDX-License-Identifier: Apache-2.0
"""Check the counts of inputs and outputs of the bodies of If, Loop, Scan and SequenceMap.

Also check that the condition in the body of a Loop has a type.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import attribute_value
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.scopes import Scope, used_names
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.type_records import has_record
from onnxtext.plurals import count_noun


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find bodies with a wrong number of inputs or outputs, and conditions without a type."""
    resolved = resolve_targets(subject)
    for scope in subject.scopes:
        for index, children in scope.children.items():
            node = scope.nodes[index]
            target = resolved[id(scope)][index]
            if type(target) is Signature and target.is_standard:
                for child in children:
                    yield from _body(node, target, child, subject.ir_version)


def _body(node: Node, signature: Signature, body: Scope, ir_version: int) -> Iterator[Finding]:
    names = [value.name for value in body.inputs]
    if 0 < ir_version < 4:  # the node passes no values to inputs with initializers
        initializers = {value.name for value in body.initializers}
        names = [name for name in names if name not in initializers]
    outputs = len(body.outputs)
    min_outputs = len(node.outputs)
    match node.op_type:
        case "If":
            passed = 0
        case "Loop":
            carried = max(len(node.inputs) - 2, 0)
            passed = 2 + carried
            min_outputs = 1 + max(carried, min_outputs)
            yield from _untyped_condition(node, body)
        case "Scan":
            passed = len(node.inputs) - (1 if signature.since < 9 else 0)
            scanned = attribute_value(node.attributes, "num_scan_inputs")
            if isinstance(scanned, int):
                min_outputs = max(passed - scanned, min_outputs)
        case "SequenceMap":
            passed = len(node.inputs)
        case _:
            return
    if len(names) != passed:
        yield _wrong_count(node, body, "input", len(names), passed)
    is_exact = node.op_type == "If"
    # `node-no-output` reports a node without outputs.
    if outputs < min_outputs or (is_exact and outputs > min_outputs and node.outputs):
        ending = "" if is_exact else " or more"
        yield _wrong_count(node, body, "output", outputs, min_outputs, ending)


def _untyped_condition(node: Node, body: Scope) -> Iterator[Finding]:
    """Find a `Loop` that omits its condition, and whose body declares the condition untyped."""
    if any(node.inputs[1:2]) or len(body.inputs) < 2:
        return
    condition = body.inputs[1]
    if condition.type is None and not has_record(condition):
        used = any(condition.name in used_names(inner) for inner in body.nodes)
        is_certain = used and body.function is None
        yield Finding(
            "type-missing",
            f"the input {quote(condition.name)} of {body.describe()} has no type, and this `Loop` "
            "has no condition that determines it",
            (Place(condition, ("name",)), Place(node, ("op_type",), "the second input is omitted")),
            help="write its type before its name: `bool`",
            # onnx accepts an unused condition, and any condition in a function that is not called
            severity=None if is_certain else "warning",
        )


def _wrong_count(
    node: Node, body: Scope, kind: str, count: int, expected: int, ending: str = ""
) -> Finding:
    return Finding(
        "subgraph-arity",
        f"`{body.attribute}` of this `{node.op_type}` has {count_noun(count, kind)}, not "
        f"{expected:,}{ending}",
        (Place(body.original, ("name",)), Place(node, ("op_type",), "an attribute of this node")),
        help=f"change the graph so that it has {count_noun(expected, kind)}{ending}",
    )


RULES = (Rule("subgraph-arity", needs_valid_syntax=True),)
