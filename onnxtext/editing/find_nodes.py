# SPDX-License-Identifier: Apache-2.0
"""Find the node that a user names by its label or one of its outputs."""

from __future__ import annotations

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.visit import walk_graphs
from onnxtext.editing.errors import refused_edit_error, unknown_name_error


def find_node(
    model: Model,
    name: str,
    *,
    labels: bool = True,
    help: str = "use another name: the label of the node, or one of its outputs",
) -> tuple[Graph | Function, Node]:
    """Find a node by its label or an output; return its graph or function, and the node.

    Args:
        model: the syntax tree.
        name: the node's label (`NodeProto.name`), or the name of one of its outputs. If only one
            node has the label `name`, names of outputs are ignored.
        labels: whether to search for labels, too; if False, `name` is an output.
        help: the help of the error for an ambiguous name.

    Raises:
        OnnxTextError: the name is unknown or ambiguous.
    """
    matches = [(scope, node) for scope in walk_graphs(model) for node in scope.nodes]
    chosen = labeled = [pair for pair in matches if labels and pair[1].name == name]
    if len(labeled) != 1:
        chosen = [pair for pair in matches if name in pair[1].outputs] or labeled
    if len(chosen) > 1:
        raise refused_edit_error(f"{len(chosen)} nodes have the name `{name}`", help)
    if not chosen:
        known = [node.name for _, node in matches if node.name]
        raise unknown_name_error(
            "node", name, [*known, *[o for _, node in matches for o in node.outputs if o]]
        )
    return chosen[0]
