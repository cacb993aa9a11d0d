# SPDX-License-Identifier: Apache-2.0
"""Shapes that contradict an operator, a declaration or a function."""

from __future__ import annotations

from typing import NamedTuple

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.checker.context.finding import Place
from onnxtext.checker.symbolic.sizes.polynomials import Extents


class ShapeMismatch(NamedTuple):
    """A node whose inputs or attributes do not fit its operator.

    `message` describes the mismatch; `{0}` stands for the node's first input. `shapes` are the
    shapes of the inputs, or () if the elements of the first input in the message are wrong.
    `specified` is False if only runtimes reject the node. `nested` is True if the node is in a
    nested graph, which may never run. `calls` are the places of the function calls that lead to the
    node, innermost first.
    """

    node: Node
    message: str
    shapes: tuple[Extents | None, ...]
    specified: bool
    nested: bool
    calls: tuple[Place, ...] = ()


class ShapeContradiction(NamedTuple):
    """A contradiction between the declared and the computed shape of output `output` of a node.

    `calls` are as in `ShapeMismatch`.
    """

    node: Node
    output: int
    declared: Extents
    computed: Extents
    calls: tuple[Place, ...] = ()


class PassedShape(NamedTuple):
    """A contradiction between the declared shape of a function input and the shape in a call.

    `value` is the input of the function, and `passed` the shape of the value that the call passes.
    `calls` are as in `ShapeMismatch`, and begin with this call.
    """

    value: ValueInfo
    declared: Extents
    passed: Extents
    calls: tuple[Place, ...] = ()
