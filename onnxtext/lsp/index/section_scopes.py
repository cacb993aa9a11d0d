# SPDX-License-Identifier: Apache-2.0
"""Find the graphs and nodes that the paths of sections name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.subject import plain_domain
from onnxtext.lsp.index.sections import SectionName

if TYPE_CHECKING:
    from onnxtext.lsp.index.index import Index


def section_scope(index: Index, name: SectionName) -> Scope | None:
    """Return the graph or body that a section's path leads to; None if it names nothing."""
    assert index.subject is not None
    functions = index.subject.functions
    if name.function is not None:
        key = name.function
        return functions.get((plain_domain(key[0]), key[1], key[2]))
    if name.training is not None:
        return _training(index, *name.training)
    scope = index.subject.main
    if name.within is not None:
        domain, function, overload = name.within
        scope = functions.get((plain_domain(domain), function, overload))
    for node, attribute in name.path:
        if scope is None:
            return None
        positions = node_labels(index, scope) if node.is_label else scope.position
        at, number = positions.get(node.name, -1), attribute.number or 0
        children = [c for c in scope.children.get(at, ()) if c.attribute == attribute.name]
        scope = children[number] if len(children) > number else None
    return scope


def node_labels(index: Index, scope: Scope) -> dict[str, int]:
    """Return the positions of the nodes of a graph or body by label; the first one counts."""
    known = index.labels.get(id(scope))
    if known is None:
        places = reversed(list(enumerate(scope.nodes)))
        known = {node.name: at for at, node in places if node.name and node.at >= 0}
        index.labels[id(scope)] = known
    return known


def _training(index: Index, number: int, kind: str) -> Scope | None:
    model = index.model
    if model is None or number >= len(model.training):
        return None
    graph = getattr(model.training[number], kind)
    return next((scope for scope in index.scopes if scope.place is graph), None)
