# SPDX-License-Identifier: Apache-2.0
"""Explain why the rank, a size or an element of an operator's output is unknown."""

from __future__ import annotations

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.finding import quote
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.explain_type.determining_sizes import (
    DATA_DEPENDENT,
    RANK,
    NodeFacts,
    TypePart,
    broadcast_sizes,
)
from onnxtext.checker.symbolic.operators import SHAPES_ALONE
from onnxtext.checker.symbolic.sizes.polynomials import text


def start_of_sentence(operator: str, count: int) -> str:
    """Return the start of a sentence that lists unknown sizes: "`Add` needs the unknown".

    `operator` is in backticks; `count` is the number of sizes that follow in the sentence.
    """
    return f"{operator} needs the unknown" if count == 1 else f"{operator} needs unknown sizes:"


def operator_reason(
    node: Node, scope: Scope, facts: NodeFacts | None = None, part: TypePart = RANK
) -> str:
    """Return a sentence that explains why a part of a node's output is unknown.

    `facts` is None for an unknown operator. `part` is the rank, a size or an element.
    """
    operator = quote(node.op_type)
    domain = plain_domain(node.domain)
    if facts is None:
        if scope.opsets is not None and domain not in scope.opsets:
            return f"{operator} is of the domain `{domain or 'ai.onnx'}`, which is not imported"
        return f"{operator} is an unknown operator of the domain `{domain or 'ai.onnx'}`"
    if not domain and node.op_type in DATA_DEPENDENT:
        return f"{operator} depends on data: {DATA_DEPENDENT[node.op_type]}"
    if part.kind == "element":
        return f"the elements that {operator} computes are not tracked: they depend on data"
    inputs = zip(node.inputs, facts.shapes, strict=True)
    has_shapes = all(shape or not name for name, shape in inputs)
    if has_shapes and part.kind == "dimension" and not domain and node.op_type in SHAPES_ALONE:
        sizes = broadcast_sizes(facts, part)
        if len(sizes) > 1 and None not in sizes:
            shown = " and ".join([f"`{text(size)}`" for size in sizes if size is not None])
            return f"{operator} broadcasts {shown}, and each of them may be 1 at run time"
    return f"neither onnx nor onnxtext infers this size of {operator}"
