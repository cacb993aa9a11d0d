# SPDX-License-Identifier: Apache-2.0
"""Extract the nodes between given values of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from onnxtext.ast.model import Function, Graph, Node, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.ast.visit import nested_graphs
from onnxtext.plurals import count_noun
from onnxtext.show_model.find_bodies import NamedBody
from onnxtext.show_model.show_error import ShowError


def cut_graph(
    bodies: Sequence[NamedBody], starts: Sequence[str], ends: Sequence[str], file: str
) -> NamedBody:
    """Return a graph of the nodes on all paths from any start to any end.

    The nodes come from the first graph or function in `bodies` that has all starts and ends. These
    are names of values or nodes. Without `starts`, keep all nodes needed to compute `ends`; without
    `ends`, all nodes that depend on `starts`. The inputs of the new graph are the values that its
    nodes use and do not compute, except initializers. Errors name the model's `file`.

    Raises:
        ShowError: a name is unknown, no graph has all names, or no node would remain.
    """
    needed = [*starts, *ends]
    flows = []
    for body in bodies:
        flow = DataFlow(body.graph)
        if all(map(flow.resolve, needed)):
            return _cut(body, flow, starts, ends, file)
        flows.append(flow)
    candidates = dict.fromkeys(name for flow in flows for name in flow.names())
    for name in needed:
        if not any(flow.resolve(name) for flow in flows):
            raise ShowError.unknown("value or node", name, list(candidates), file)
    names = ", ".join(f"`{name}`" for name in needed)
    help = "instead of a value of a nested graph, name the node that contains the graph"
    raise ShowError.of(f"no graph contains all of {names}", file, help)


def _cut(
    body: NamedBody, flow: DataFlow, starts: Sequence[str], ends: Sequence[str], file: str
) -> NamedBody:
    first = [name for start in starts for name in flow.resolve(start)]
    last = [name for end in ends for name in flow.resolve(end)]
    chosen = flow.between(first, last)
    start_names, end_names = ", ".join(starts), ", ".join(ends)
    if not chosen:
        if not ends:
            raise ShowError.of(f"no node depends on {start_names}", file)
        if not starts:
            raise ShowError.of(f"no node computes {end_names}", file)
        help = None
        if flow.between(last, first):
            help = f"a path leads from {end_names} to {start_names}: exchange the start and the end"
        raise ShowError.of(f"no path leads from {start_names} to {end_names}", file, help)
    graph = as_graph(body.graph, flow, chosen, first, last)
    total = len(body.graph.nodes)
    title = " ".join([f"from {start_names}"] * bool(starts) + [f"to {end_names}"] * bool(ends))
    count = f"{len(chosen):,} of {count_noun(total, 'node')}"
    return NamedBody(graph, f"{count} of {body.title}: {title}")


class DataFlow:
    """The data flow of a graph.

    Attributes:
        producers: maps each computed value to the index of the node that computes it.
        users: maps each value to the indexes of the nodes that use it.
    """

    def __init__(self, graph: Graph | Function) -> None:
        self.graph = graph
        self.producers: dict[str, int] = {}
        self.users: defaultdict[str, list[int]] = defaultdict(list)
        self._labels: dict[str, int] = {}
        for index, node in enumerate(graph.nodes):
            for name in used_values(node):
                self.users[name].append(index)
            for name in node.outputs:
                if name:
                    self.producers.setdefault(name, index)
            if node.name:
                self._labels.setdefault(node.name, index)
        self._declared = dict.fromkeys(v.name for v in (*graph.inputs, *graph.values) if v.name)

    def names(self) -> Iterable[str]:
        """Return all names that `resolve` accepts."""
        return [*self._declared, *self.producers, *self.users, *self._labels]

    def resolve(self, name: str) -> Sequence[str]:
        """Return the values that a name refers to: a value, or a node's outputs; () if unknown."""
        if name in self.producers or name in self.users or name in self._declared:
            return (name,)
        index = self._labels.get(name)
        return () if index is None else [o for o in self.graph.nodes[index].outputs if o]

    def between(self, starts: Sequence[str], ends: Sequence[str]) -> list[int]:
        """Return the indices of the nodes on paths from `starts` to `ends`, in ascending order.

        If `ends` is empty, return all nodes that depend on `starts`. If `starts` is empty, return
        all nodes needed to compute `ends`.
        """
        if not ends:
            return sorted(self._after(starts))
        if not starts:
            return sorted(self._before(ends))
        return sorted(self._after(starts) & self._before(ends))

    def _after(self, names: Sequence[str]) -> set[int]:
        result: set[int] = set()
        stack = list(names)
        while stack:
            for index in self.users.get(stack.pop(), ()):
                if index not in result:
                    result.add(index)
                    stack += [name for name in self.graph.nodes[index].outputs if name]
        return result

    def _before(self, names: Sequence[str]) -> set[int]:
        result: set[int] = set()
        stack = list(names)
        while stack:
            index = self.producers.get(stack.pop())
            if index is not None and index not in result:
                result.add(index)
                stack += used_values(self.graph.nodes[index])
        return result


def used_values(node: Node) -> list[str]:
    """Return the values that a node uses, including outer values that its nested graphs use."""
    names = dict.fromkeys(name for name in node.inputs if name)
    for graph in nested_graphs((node,)):
        names.update(dict.fromkeys(_captured_values(graph)))
    return list(names)


def _captured_values(graph: Graph) -> list[str]:
    """Return the outer values that a graph and its nested graphs use."""
    defined = {value.name for value in (*graph.inputs, *graph.values)}
    defined.update(name for node in graph.nodes for name in node.outputs)
    used = [name for node in graph.nodes for name in used_values(node)]
    used += [value.name for value in graph.outputs if value.name]
    return [name for name in used if name not in defined]


def as_graph(
    graph: Graph | Function,
    flow: DataFlow,
    chosen: Sequence[int],
    starts: Sequence[str],
    ends: Sequence[str],
) -> Graph:
    """Return a graph of some nodes of `graph` and the initializers that they use.

    `flow` is the data flow of `graph`, `chosen` the indices of the nodes to keep. The inputs are
    all values that the kept nodes use and do not compute, except initializers; those in `starts`
    come first. `ends` are the outputs; values that no kept node computes are ignored. If empty, the
    outputs are the computed values that are outputs of `graph`, or that a node outside of the new
    graph uses.
    """
    nodes = [graph.nodes[index] for index in chosen]
    produced = {name for node in nodes for name in node.outputs if name}
    used = dict.fromkeys(
        name for node in nodes for name in used_values(node) if name not in produced
    )
    declared = {value.name: value for value in (*graph.inputs, *graph.outputs, *graph.values)}
    weights = [v for v in graph.values if v.data is not None and v.name in used]
    stored = {value.name for value in weights}
    types = types_of(graph)
    entering = [name for name in dict.fromkeys((*starts, *used)) if name in used]
    inputs = [
        declared[name] if name in declared else ValueInfo(name, types.get(name))
        for name in entering
        if name not in stored
    ]
    members = set(chosen)
    outside = {value.name for value in graph.outputs}
    leaving = list(ends) or [
        name
        for name in produced
        if name in outside or any(user not in members for user in flow.users.get(name, ()))
    ]
    order = [name for node in nodes for name in node.outputs if name in set(leaving)]
    outputs = [ValueInfo(name, types.get(name)) for name in dict.fromkeys(order)]
    shown = {value.name for value in outputs}
    infos = [
        v for v in graph.values if v.data is None and v.name in produced and v.name not in shown
    ]
    return Graph(graph.name, inputs, outputs, weights + infos, nodes)


def types_of(graph: Graph | Function) -> dict[str, Type]:
    """Return the declared types of a graph's values, by value name."""
    result = types_of_nodes(graph)
    for value in (*graph.values, *graph.inputs, *graph.outputs):
        if value.type is not None:
            result[value.name] = value.type
    return result


def types_of_nodes(graph: Graph | Function) -> dict[str, Type]:
    """Return the types that the nodes of a graph declare for their outputs, by value name."""
    return {
        name: type
        for node in graph.nodes
        for name, type in zip(node.outputs, node.output_types, strict=False)
        if type is not None
    }
