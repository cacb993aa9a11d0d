# SPDX-License-Identifier: Apache-2.0
"""Say why an operator does not tell a size."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.model import Node
from onnxtext.checker.context.finding import quoted
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.context.subject import plain_domain
from onnxtext.checker.inference.symbolic.call import SymbolicShape
from onnxtext.checker.origins.influences import Part

DATA_DEPENDENT = {
    "NonZero": "the number of elements that are not 0",
    "Unique": "the number of different elements",
    "Compress": "the number of elements that the condition selects",
    "NonMaxSuppression": "the number of boxes that are kept",
    "StringSplit": "the number of parts of the strings",
    "SequenceAt": "the element of the sequence",
    "ConcatFromSequence": "the elements of the sequence",
    "SplitToSequence": "the lengths of the parts",
    "Optional": "the value",
    "OptionalGetElement": "the value",
    "CategoryMapper": "the data",
}
"""What output sizes of operators depend on that is only known when the model runs."""


def needs(called: str, count: int) -> str:
    """Return that an operator needs unknown sizes, whose names follow."""
    return f"{called} needs the unknown" if count == 1 else f"{called} needs unknown sizes:"


def operator_reason(
    node: Node,
    scope: Scope,
    signature: Signature | None = None,
    shapes: Sequence[SymbolicShape] = (),
    part: Part | None = None,
) -> str:
    """Return why a node does not tell a size.

    Args:
        node: the node.
        scope: its graph.
        signature: its operator; None if unknown.
        shapes: the shapes of its inputs.
        part: which size.
    """
    called = quoted(node.op_type)
    domain = plain_domain(node.domain)
    if signature is None:
        if scope.opsets is not None and domain not in scope.opsets.versions:
            return f"{called} is of the domain `{domain or 'ai.onnx'}`, which is not imported"
        return f"{called} is an unknown operator of the domain `{domain or 'ai.onnx'}`"
    if not domain and node.op_type in DATA_DEPENDENT:
        return f"{called} depends on data: {DATA_DEPENDENT[node.op_type]}"
    if part is not None and part.kind == "element":
        return f"the elements that {called} computes are not followed: they depend on data"
    if any(name and shape is None for name, shape in zip(node.inputs, shapes, strict=False)):
        return f"{called} has an input of unknown rank"
    return f"neither onnx nor onnxtext infers this size of {called}"
