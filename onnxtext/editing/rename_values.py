# SPDX-License-Identifier: Apache-2.0
"""Rename a value everywhere in a model, or the label of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnxtext.ast.map_names import Names, Scope, defined_names, map_names
from onnxtext.ast.model import Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.editing.errors import check_name, refused_edit_error, unknown_name_error
from onnxtext.editing.find_nodes import find_node


def rename(model: Model, old: str, new: str, *, label: bool = False) -> None:
    """Rename a value in the whole model, or the label of a node.

    If the main graph does not define the value, it is renamed in all nested graphs and functions
    that define it. If no graph or function defines it, the node with the label `old` gets the new
    label.

    Args:
        model: the syntax tree; changed in place.
        old: the old name.
        new: the new name.
        label: whether to rename only the label of a node, even if a value has the same name; then
            `old` may also be one of the node's outputs.

    Raises:
        OnnxTextError: no value or node has the old name, several nodes have this label, the old
            name is empty, or the new name is empty, in use, or cannot be encoded.
    """
    if not new:
        raise refused_edit_error("a name cannot be empty")
    if not old:  # an input may have this invalid name, but so do all omitted inputs of nodes
        raise refused_edit_error(
            "an empty name cannot be renamed: in nodes, it stands for omitted inputs and outputs"
        )
    check_name(new)
    if label:
        _rename_label(model, old, new)
        return
    scopes = list(walk_graphs(model))
    owners = [model.graph] if old in defined_names(model.graph) else []
    owners = owners or [scope for scope in scopes if old in set(defined_names(scope))]  # type: ignore[misc]
    if not owners:
        values = [name for scope in scopes for name in defined_names(scope)]
        labels = [node.name for scope in scopes for node in scope.nodes if node.name]
        if old not in labels:
            raise unknown_name_error("value or node", old, [*values, *labels])
        _rename_label(model, old, new)
        return
    if old == new:
        return
    for owner in owners:
        for scope in graphs_to_search(model, scopes, owner):
            if new in defined_names(scope):
                raise refused_edit_error(
                    f"`{new}` is already a value of `{scope.name}`", "choose another name"
                )
    for owner in owners:
        map_names(owner, lambda name: new if name == old else name)
        _rename_in_training(model, owner, lambda name: new if name == old else name, old)


def graphs_to_search(model: Model, scopes: Iterable[Scope], owner: Scope) -> Iterator[Scope]:
    """Yield the graphs in which the new name of a value of `owner` must not be in use.

    These graphs are `owner`, its outer graphs and its nested graphs. The main graph and the
    algorithm of a training are searched together, because they are executed as one graph.
    """
    for scope in scopes:
        if _contains(scope, owner):
            yield scope
    yield from [scope for scope in walk_graphs(owner) if scope is not owner]
    for training in model.training:
        pair = [model.graph, training.algorithm]
        for left, right in (pair, pair[::-1]):
            if left is not None and right is not None and _contains(left, owner):
                yield from walk_graphs(right) if left is owner else [right]


def _contains(scope: Scope, owner: Scope) -> bool:
    return any(inner is owner for inner in walk_graphs(scope))


def _rename_label(model: Model, old: str, new: str) -> None:
    """Give the node `old`, which a label or an output names, the label `new`.

    Raises:
        OnnxTextError: no node or several nodes have this name, or a node already has the label
            `new`.
    """
    _, target = find_node(model, old, help=_ONE_LABEL)
    nodes = [node for scope in walk_graphs(model) for node in scope.nodes]
    if any(node.name == new and node is not target for node in nodes):
        raise refused_edit_error(f"another node already has the label `{new}`")
    target.name = new


_ONE_LABEL = "name the node by one of its outputs, with `--label` (in Python: `label=True`)"


def _rename_in_training(model: Model, owner: Scope, names: Names, old: str) -> None:
    """Rename the value `old` of `owner` in the algorithms and bindings of `model.training`.

    `names` maps each name to the new name.
    """
    for training in model.training:
        algorithm = training.algorithm
        first, update = training.initialization_binding, training.update_binding
        inner = algorithm if owner is model.graph else None
        if inner is not None and old not in set(defined_names(inner)):
            map_names(inner, names)
        if owner is model.graph or owner is algorithm:
            first[:] = [(names(key), value) for key, value in first]
            update[:] = [(names(key), names(value)) for key, value in update]
        elif owner is training.initialization:
            first[:] = [(key, names(value)) for key, value in first]
