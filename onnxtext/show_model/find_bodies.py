# SPDX-License-Identifier: Apache-2.0
"""Find the graphs and functions of a model by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnxtext.ast.model import Function, Graph, Model, Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.visit import attribute_graphs, root_graphs
from onnxtext.show_model.load_model import Root
from onnxtext.show_model.show_error import ShowError


@dataclass(frozen=True, slots=True)
class NamedBody:
    """A graph or function, and the names by which users may refer to it.

    Attributes:
        title: its title in the output, such as `graph yes (then_branch of z)`.
        place: the attribute that contains a nested graph, such as `then_branch of z`; `training`
            for a training graph; "" for the main graph and functions.
        names: the names that `--graph` accepts for it: first its own name, then aliases, such as
            `then_branch` and `z.then_branch`.
    """

    graph: Graph | Function
    title: str
    place: str = ""
    names: tuple[str, ...] = ()


def _with_title(graph: Graph | Function, location: str, names: list[str]) -> NamedBody:
    kind = "function" if isinstance(graph, Function) else "graph"
    title = f"{kind} {graph.name or '(without name)'}{f' ({location})' if location else ''}"
    return NamedBody(graph, title, location, tuple(names))


def walk_bodies(root: Root) -> Iterator[NamedBody]:
    """Yield all graphs and functions of a model, each one before the graphs nested in it."""
    stack = [_top_level_body(root, item) for item in root_graphs(root)]
    while stack:
        body = stack.pop()
        yield body
        inner = [
            _nested_body(body, node, attribute, graph)
            for node in body.graph.nodes
            for attribute in node.attributes
            for graph in attribute_graphs((attribute,))
        ]
        stack += reversed(inner)


def _top_level_body(root: Root, item: Graph | Function) -> NamedBody:
    names = [item.name]
    location = ""
    if isinstance(item, Function):
        if item.domain:
            names.append(f"{item.domain}.{item.name}")
        if item.overload:
            names += [f"{name}:{item.overload}" for name in names]
    elif isinstance(root, Model) and item is not root.graph:
        location = "training"
    return _with_title(item, location, names)


def _nested_body(body: NamedBody, node: Node, attribute: Attribute, graph: Graph) -> NamedBody:
    owners = [name for name in (node.name, next(filter(None, node.outputs), None)) if name]
    names = [graph.name, attribute.name, *[f"{owner}.{attribute.name}" for owner in owners]]
    owner = owners[0] if owners else node.op_type
    inside = f" in {body.place}" if body.place else ""
    return _with_title(graph, f"{attribute.name} of {owner}{inside}", names)


def find_bodies(root: Root, name: str, file: str) -> list[NamedBody]:
    """Return the graphs and functions with the name `name`, or else those with the alias `name`.

    `file` is the name of the model's file, for the error.

    Raises:
        ShowError: no graph or function has the name or the alias.
    """
    bodies = list(walk_bodies(root))
    result = [body for body in bodies if body.names[0] == name]
    result = result or [body for body in bodies if name in body.names]
    if not result:
        candidates = dict.fromkeys(name for body in bodies for name in body.names if name)
        raise ShowError.unknown("graph or function", name, list(candidates), file)
    return result
