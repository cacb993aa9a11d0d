# SPDX-License-Identifier: Apache-2.0
"""Interpret errors and failures of onnx's inference; find values and nodes that have errors.

A failure is, for example, a crash or a timeout of the process that runs onnx.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onnxtext.ast.types import Type
from onnxtext.ast.visit import large_values
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.registry import rules
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.isolation.strip_weights import without_weights
from onnxtext.diagnostics import Severity

_LARGEST = 1 << 31
_MANY_ELEMENTS = 1 << 12
"""The weights are removed before onnx infers types only if an initializer has more elements."""
_MAX_EXPANDED = 10_000
"""Maximum number of nodes after expansion of calls, in addition to ten per node of the model."""
_DEEPEST = 100
"""Maximum depth of nested function calls, because onnx expands calls by recursion."""


def errors_of(subject: CheckedModel) -> list[Finding]:
    """Return the errors that earlier rules found, without warnings and notes."""
    all_rules = rules()
    return [f for f in subject.found if (f.severity or all_rules[f.code].level) == "error"]


def wrong_items(subject: CheckedModel) -> set[int]:
    """Return the `id()` of each statement that is the primary place of an error.

    Inference skips these statements.
    """
    return {id(finding.places[0].item) for finding in errors_of_types(subject)}


def errors_of_types(subject: CheckedModel) -> list[Finding]:
    """Return the errors that earlier rules found, except those about the order of nodes.

    Wrong orders do not matter here: inference visits nodes in a topological order.
    """
    return [finding for finding in errors_of(subject) if finding.code != "node-order"]


def declares_other_output(finding: Finding) -> bool:
    """Whether a finding is that the computed type of a node's output differs from a declaration."""
    kind = finding.places[0].part[:1]
    return finding.code == "shape-mismatch" and kind in (("outputs",), ("output_types",))


def accept_declarations(subject: CheckedModel, findings: list[Finding]) -> None:
    """Turn errors about declared types of outputs into warnings, after onnx accepted the model.

    Then onnx could not infer these types, and runtimes accept declarations that differ from them.
    Errors about the outputs of operators from a schema file of the user stay: the file is exact.
    """
    if not any(map(declares_other_output, findings)):
        return  # in a large model, finding the operators from schema files takes long
    own = {
        id(node)
        for scope in subject.scopes
        for node, target in zip(scope.nodes, resolve_targets(subject)[id(scope)], strict=True)
        if type(target) is Signature and target.origin and not target.tentative
    }
    findings[:] = [
        item._replace(severity="warning")
        if declares_other_output(item) and id(item.places[0].item) not in own
        else item
        for item in findings
    ]


def untyped_values(subject: CheckedModel) -> set[int]:
    """Return the `id()` of each value whose declared type is probably the cause of an error.

    In such an error, the type of an initializer does not fit its data, or two declarations
    contradict each other.
    """
    codes = ("tensor-data-size", "value-info-conflict")
    findings = [finding for finding in errors_of(subject) if finding.code in codes]
    return {id(place.item) for finding in findings for place in finding.places}


def contradicted_outputs(subject: CheckedModel) -> set[tuple[int, int]]:
    """Return (`id(node)`, output index) of each output that a `type-mismatch` error names."""
    return {
        (id(place.item), int(place.part[1]))
        for finding in errors_of(subject)
        if finding.code == "type-mismatch"
        for place in finding.places
        if place.part[:1] in (("outputs",), ("output_types",)) and len(place.part) > 1
    }


def whole_model(subject: CheckedModel) -> str | Failure | None:
    """Have onnx check a whole model, as `onnx.checker.check_model(full_check=True)` does.

    Return onnx's error message, or the failure of the process that runs onnx. Return `""` if onnx
    accepts the model, and None if the model cannot be passed to onnx. If an earlier request to onnx
    has failed, return the latest failure.
    """
    inference = subject.options.inference
    if inference.failures:
        return inference.failures[-1]
    data = subject.options.encoded() if subject.options.encoded is not None else None
    # onnx's inference does not know that IR versions 1 and 2 imply an opset import.
    if data is None or subject.model is None or not subject.model.opset_imports:
        return None
    if subject.main is None or large_values(subject.main.initializers, _MANY_ELEMENTS):
        data = without_weights(data)
    if len(data) >= _LARGEST:
        return None
    answer = inference.infer_model(data)
    return "" if isinstance(answer, list) else answer


def is_expandable(subject: CheckedModel) -> bool:
    """Whether onnx can check a model in reasonable time, although it expands every function call.

    If each of 30 functions calls the next function twice, the result is a billion calls.
    """
    if not subject.functions:
        return True
    max_nodes = _MAX_EXPANDED + 10 * subject.node_count
    resolved = resolve_targets(subject)
    sizes: dict[int, tuple[int, int]] = {}

    def size(scope: Scope, depth: int) -> tuple[int, int]:
        """Return the number of nodes in a scope after expansion, and the depth of calls in it.

        `depth` is the number of calls that enclose the scope. If it is too large, return a number
        of nodes above the limit.
        """
        cached = sizes.get(id(scope))
        if cached is not None:
            return cached
        if depth > _DEEPEST:
            return max_nodes + 1, depth
        count, deepest = len(scope.nodes), 0
        inner = [(target, 1) for target in resolved[id(scope)] if type(target) is Scope]
        inner += [(child, 0) for children in scope.children.values() for child in children]
        for body, step in inner:
            nodes, below = size(body, depth + step)
            count, deepest = count + nodes, max(deepest, below + step)
        sizes[id(scope)] = count, deepest
        return count, deepest

    for scope in subject.scopes:
        if scope.parent is None and scope.kind != "function":
            count, deepest = size(scope, 0)
            if count > max_nodes or deepest > _DEEPEST:
                return False
    return True


def code_of(error: str) -> str:
    """Return the code of the rule that reports an error message of onnx."""
    if "Mismatched attribute type" in error:
        return "attribute-type"
    is_type_error = "[TypeInferenceError]" in error or "has unsupported type" in error
    return "type-mismatch" if is_type_error else "shape-mismatch"


def is_due_to_unknown(error: str, inputs: Sequence[Type | None]) -> bool:
    """Whether the cause of an error message of onnx is an unknown type, rank or number of elements.

    `inputs` are the types of the node's inputs.
    """
    if _UNKNOWN_TYPE.search(error):
        return True
    # If the rank of an input of `FlexAttention` is unknown, onnx assumes that it is 0.
    if "FlexAttention requires rank-4" in error:
        return None in [getattr(type, "shape", None) for type in inputs[:3]]
    # If the number of the sizes of a `Resize` is unknown, onnx assumes that it is 0.
    return "of input 'sizes' (0)" in error and getattr(inputs[3], "shape", None) != (0,)


_UNKNOWN_TYPE = re.compile(
    r"\bis null\b|Invalid tensor data type 0[.]"
    "|Mismatched type: inferred=(0 |.* declared=0)"
    "|Mismatched type for output .*(then=0 |else=0)|should all be tensors.* was (0|not)"
)
_VERBS = {"crash": "crashes", "time": "does not end", "memory": "runs out of memory"}


def failure_of(failure: Failure, place: Place, *, node: bool) -> Finding:
    """Return a finding that reports a failure of onnx's inference at `place`.

    `node` tells whether `place` is a node; otherwise, it is the model.
    """
    notes: tuple[str, ...] = ()
    severity: Severity | None = "warning"
    match failure.kind:
        case "unavailable":
            detail = f": {failure.detail}" if failure.detail else ""
            problem = f"cannot be run, so shapes are not checked{detail}"
            help = "allow this process to start a Python child process"
        case "stopped":
            problem = "fails on too many nodes, so other shapes are not checked"
            help = "fix the nodes on which it fails"
        case kind:
            problem = f"fails on this {'node' if node else 'model'}: it {_VERBS[kind]}"
            help = "no single node is the cause; look for unusual types, initializers and constants"
            if node:
                help = "correct the attributes of this node, or the types of its inputs"
            if kind == "crash":
                notes = (f"the process of onnx ended: {failure.detail}",)
            if node or kind == "crash":
                severity = None
    message = f"onnx's inference {problem}"
    return Finding("onnx-inference-failed", message, (place,), help, notes, severity)
