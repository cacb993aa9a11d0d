# SPDX-License-Identifier: Apache-2.0
"""Rename a value everywhere in a model, or the label of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onnxtext.ast.map_names import Names, Scope, defined_names, map_names
from onnxtext.ast.model import Model
from onnxtext.ast.visit import walk_graphs
from onnxtext.editing.errors import check_name, refused_edit_error, unknown_name_error


def rename(model: Model, old: str, new: str, *, label: bool = False) -> None:
    """Rename a value in the whole model, or the label of a node.

    If the main graph does not define the value, it is renamed in all nested graphs and functions
    that define it. If no graph or function defines it, nodes with the label `old` get the new
    label.

    Args:
        model: the syntax tree; changed in place.
        old: the old name.
        new: the new name.
        label: whether to rename only the label of a node, even if a value has the same name.

    Raises:
        OnnxTextError: no value or label has the old name, the old name is empty, or the new name is
            empty, in use, or cannot be encoded.
    """
    if not new:
        raise refused_edit_error("a name cannot be empty")
    if not old:  # an input may have this invalid name, but so do all omitted inputs of nodes
        raise refused_edit_error(
            "an empty name cannot be renamed: in nodes, it stands for omitted inputs and outputs"
        )
    check_name(new)
    if label:
        _rename_label(model, old, new, "label", [])
        return
    scopes = list(walk_graphs(model))
    owners = [model.graph] if old in defined_names(model.graph) else []
    owners = owners or [scope for scope in scopes if old in set(defined_names(scope))]  # type: ignore[misc]
    if not owners:
        values = [name for scope in scopes for name in defined_names(scope)]
        _rename_label(model, old, new, "value or node", values)
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


def _rename_label(model: Model, old: str, new: str, kind: str, others: Sequence[str]) -> None:
    """Give all nodes with the label `old` the label `new`.

    If there are none, the error names the `kind` of name, such as `label`, and suggests labels and
    `others`.

    Raises:
        OnnxTextError: no node has the label `old`, or a node already has the label `new`.
    """
    nodes = [node for scope in walk_graphs(model) for node in scope.nodes]
    chosen = [node for node in nodes if node.name == old]
    if not chosen:
        labels = [node.name for node in nodes if node.name]
        raise unknown_name_error(kind, old, [*others, *labels])
    if old != new and any(node.name == new for node in nodes):
        raise refused_edit_error(f"another node already has the label `{new}`")
    for node in chosen:
        node.name = new


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
