# SPDX-License-Identifier: Apache-2.0
"""Count the operators of two models."""

from __future__ import annotations

from collections import Counter

from onnxtext.ast.model import Model, Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.visit import walk_nodes
from onnxtext.differ.result import OperatorCount


def operator_name(node: Node) -> str:
    """Return the operator type of a node, as `domain.type` outside of the standard domain."""
    return qualified_name(node.domain, node.op_type)


def count_operators(old: Model, new: Model) -> tuple[OperatorCount, ...]:
    """Return the number of nodes of each operator in both models, sorted by operator name.

    Nodes in nested graphs and functions are included.
    """
    before = Counter(map(operator_name, walk_nodes(old)))
    after = Counter(map(operator_name, walk_nodes(new)))
    names = sorted(before.keys() | after.keys())
    return tuple([OperatorCount(name, before[name], after[name]) for name in names])
