# SPDX-License-Identifier: Apache-2.0
"""Compute the paths by which sections refer to parts of a model (SPEC 13).

A path names a node by its label if the label is unique in the graph, otherwise by its first output.
So inserting, deleting or moving other nodes does not change the path. The path of a node in a
nested graph is `[label].attribute.[label]`: it begins with the node that has the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from onnxtext.ast.compact_form.list_order import known_infos, node_entries
from onnxtext.ast.model import Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.visit import attribute_graphs
from onnxtext.select_core import core, core_module

EXPORTED = "pkg."
"""The prefix of metadata keys that exporters write."""


class PathStep(NamedTuple):
    """One step of a path.

    Attributes:
        name: the label or first output of a node, or the name of an attribute or value.
        number: the 0-based index of a graph in an attribute that is a list of graphs; else None.
        is_label: whether the name is the label of a node.
    """

    name: str
    number: int | None = None
    is_label: bool = False


class Named(NamedTuple):
    """A part of a model and its path.

    Attributes:
        kind: `graph`, `value`, `output`, `value_info`, `tensor`, `node` or `function`.
        path: the path of the part, which begins in the enclosing function or the main graph.
        tied: whether a section can refer to the part by its path. The path must be unique, and the
            part must not be a sparse initializer.
    """

    kind: str
    path: tuple[PathStep, ...]
    item: Graph | Function | Node | ValueInfo
    tied: bool


def first_output(node: Node) -> str:
    """Return the first nonempty output name of a node; "" if there is none."""
    outputs = node.outputs
    return outputs[0] if outputs and outputs[0] else next((name for name in outputs if name), "")


def generated_values(owner: Graph | Function) -> set[str]:
    """Return the names of the `value_info` entries without a statement of their own.

    These are typed outputs of nodes, and in a graph also the entries that `@value_info` adds.
    """
    if not isinstance(owner, Graph) or not owner.decorators:
        return {entry.name for entry in node_entries(owner.nodes)}
    return {info[0] for info in known_infos(owner) if isinstance(info, tuple)}


def described_parts(
    owner: Graph | Function,
    prefix: tuple[PathStep, ...] = (),
    tied: bool = True,
    *,
    to_place: bool = False,
) -> list[Named]:
    """Return the parts of a graph or function that can have entries in the metadata section.

    These are all nested graphs, and the nodes and values with metadata or decorators. They are in
    the order in which the section lists them. `prefix` is the path of the owner; a section can
    refer to the owner by it if it is unique (`tied`). With `to_place`, leave out the parts whose
    metadata is always printed in the section: they are tied, and have several entries, or one whose
    key begins with `pkg.`.
    """
    if core() == "native":
        find = core_module("ast.section_paths").described_parts
        parts: list[Named] = find(owner, prefix, tied, to_place)
        return parts
    result = _described_values(owner, prefix, tied)
    seen: set[str] = set()
    for value in owner.values:
        if value.data is not None:
            if value.metadata or value.decorators:
                is_sparse = isinstance(value.data, SparseTensor)
                is_tied = tied and value.name not in seen and not is_sparse
                result.append(Named("tensor", (*prefix, PathStep(value.name)), value, is_tied))
            seen.add(value.name)
    for named in _described_nodes(owner.nodes, prefix, tied):
        node = named.item
        if node.metadata or node.decorators:
            result.append(named)
        result += _parts_in_attributes(node, named.path, named.tied)  # type: ignore[arg-type]
    return [named for named in result if not _is_always_in_section(named)] if to_place else result


def _is_always_in_section(named: Named) -> bool:
    """Whether the metadata of a part is always printed in the section; see `described_parts`."""
    entries = named.item.metadata if named.tied else ()
    return bool(entries) and (len(entries) > 1 or entries[0][0].startswith(EXPORTED))


def _described_values(
    owner: Graph | Function, prefix: tuple[PathStep, ...], tied: bool
) -> list[Named]:
    """Return the inputs, outputs and value infos with metadata or decorators.

    For the parameters, see `described_parts`. If several lists declare the same name, the first
    declaration has the kind `value`, and the others have the kind `output` or `value_info`.
    """
    declared = [value for value in owner.values if value.data is None]
    declared += [ValueInfo(name, metadata=it) for name, it in owner.value_metadata.items()]
    lists = (("value", owner.inputs), ("output", owner.outputs), ("value_info", declared))
    described: list[Named] = []
    earlier: set[str] = set()
    for kind, values in lists:
        seen = set[str]()
        for value in values:
            name = value.name
            if value.metadata or value.decorators:
                value_kind = kind if name in earlier else "value"
                is_tied = tied and name not in seen
                described.append(Named(value_kind, (*prefix, PathStep(name)), value, is_tied))
            seen.add(name)
        earlier |= seen
    return described


def _described_nodes(nodes: list[Node], prefix: tuple[PathStep, ...], tied: bool) -> list[Named]:
    """Return the nodes with metadata, decorators or graphs, and their paths.

    `prefix` is the path of their graph or function; `tied` tells whether this path is unique.
    """
    described = [
        node
        for node in nodes
        if node.metadata or node.decorators or any(attribute_graphs(node.attributes))
    ]
    if not described:
        return []
    counts = Counter(map(first_output, nodes))
    labels = Counter([node.name for node in nodes])
    named = []
    for node in described:
        if node.name and labels[node.name] == 1:
            step, is_tied = PathStep(node.name, None, True), tied
        else:
            step = PathStep(first_output(node))
            is_tied = tied and bool(step.name) and counts[step.name] == 1
        named.append(Named("node", (*prefix, step), node, is_tied))
    return named


def _parts_in_attributes(node: Node, path: tuple[PathStep, ...], tied: bool) -> list[Named]:
    """Return the graphs in the attributes of a node, and their parts.

    `path` is the path of the node; `tied` tells whether it is unique, so that a section can refer
    to the node by it.
    """
    result: list[Named] = []
    seen: set[str] = set()
    for attribute in node.attributes:
        value = attribute.value
        is_tied = tied and attribute.name not in seen
        seen.add(attribute.name)
        if isinstance(value, Graph):
            result += _graph_parts(value, (*path, PathStep(attribute.name)), is_tied)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Graph):
                    result += _graph_parts(item, (*path, PathStep(attribute.name, index)), is_tied)
    return result


def _graph_parts(graph: Graph, path: tuple[PathStep, ...], tied: bool) -> list[Named]:
    return [Named("graph", path, graph, tied), *described_parts(graph, path, tied)]


def walk_model(model: Model) -> Iterator[tuple[Function | None, Named]]:
    """Yield a pair (function, part) for each part that `list_parts` returns.

    The function is None for parts of the main graph.
    """
    for function, parts in list_parts(model):
        for named in parts:
            yield function, named


def list_parts(
    model: Model, *, to_place: bool = False
) -> list[tuple[Function | None, list[Named]]]:
    """Return the parts of the main graph and of each function, as (function, parts) pairs.

    The first pair is for the main graph; its function is None. In each pair, the first part is the
    main graph or the function itself. The others are the nested graphs, and the nodes and values
    with metadata or decorators; for `to_place`, see `described_parts`.
    """
    graph = Named("graph", (), model.graph, True)
    result: list[tuple[Function | None, list[Named]]] = [
        (None, [graph, *described_parts(model.graph, to_place=to_place)])
    ]
    keys = list(map(function_key, model.functions))
    counts = Counter(keys) if keys else {}
    for function, key in zip(model.functions, keys, strict=True):
        tied = counts[key] == 1
        owner = Named("function", (PathStep(function.name),), function, tied)
        result.append((function, [owner, *described_parts(function, (), tied, to_place=to_place)]))
    return result


def function_key(function: Function) -> tuple[str, str, str]:
    """Return (domain, name, overload), by which sections refer to a function.

    The domains `""` and `ai.onnx` are different here, although both are the standard domain: if an
    invalid model has the same function in both, each function keeps its own metadata.
    `checked_model.function_key` treats both domains as one.
    """
    return function.domain or "", function.name, function.overload or ""
