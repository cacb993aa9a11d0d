# SPDX-License-Identifier: Apache-2.0
"""Scopes: what each graph and function body defines, and what its nodes see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from onnxtext.ast.model import Annotation, Function, Graph, Node, OpsetImport, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.ast.visit import walk_nodes

Kind = Literal["main", "nested", "function", "initialization", "algorithm", "fragment", "nodes"]
_MANY = 32
GIVEN = -1
"""The position of inputs and initializers: before the first node."""


@dataclass(frozen=True, slots=True)
class Opsets:
    """The operator sets that a model or function imports.

    Attributes:
        versions: by domain, `""` for the standard one; the highest where there are several
            ("the HIGHEST version" wins: proto ModelProto.opset_import).
    """

    versions: dict[str, int]

    @classmethod
    def of(cls, imports: Iterable[OpsetImport]) -> Opsets:
        """The operator sets of a list of imports."""
        versions: dict[str, int] = {}
        for item in imports:
            domain = "" if item.domain in (None, "ai.onnx") else str(item.domain)
            versions[domain] = max(item.version, versions.get(domain, item.version))
        return cls(versions)


@dataclass(slots=True, eq=False)
class Scope:
    """A graph or a function body.

    Attributes:
        owner: the graph or function.
        kind: where it stands.
        name: its name.
        parent: the scope of the node that holds this graph.
        holder: that node.
        holder_index: which one of its graph's nodes it is.
        attribute: which of the holder's attributes this graph is the value of.
        function: the function this is in, None in the main graph.
        depth: how many graphs it is nested in.
        opsets: None in a fragment, whose imports are not known.
        tree: the function as it stands in the tree.
        inputs: what the caller gives.
        outputs: what the caller gets.
        infos: the `value_info` list, without the types that stand before outputs of nodes.
        initializers: dense and sparse ones, defaults of inputs included.
        nodes: in order.
        quantization: its annotations.
        given: the first input, else initializer, of each name.
        position: for each defined name the index of the first node that defines it, or `GIVEN`.
        unresolved: inputs of nodes that no earlier node here defines: the node, and which input.
        distinct: whether no two inputs or initializers have one name.
        again: later definitions: the node, which output, and the name.
        children: by the index of a node, the scopes of the graphs it holds.
        beside: for a training algorithm, the main graph, whose values it sees.
        indexes: for nodes of many outputs, by the index of the node, which output has which name.
    """

    owner: Graph | Function
    kind: Kind
    name: str
    parent: Scope | None = None
    holder: Node | None = None
    holder_index: int = 0
    attribute: str = ""
    function: Function | None = None
    depth: int = 0
    opsets: Opsets | None = None
    tree: Graph | Function | None = None
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    infos: list[ValueInfo] = field(default_factory=list)
    initializers: list[ValueInfo] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    quantization: list[Annotation] = field(default_factory=list)
    given: dict[str, ValueInfo] = field(default_factory=dict)
    position: dict[str, int] = field(default_factory=dict)
    unresolved: list[tuple[int, int]] = field(default_factory=list)
    distinct: bool = False
    again: list[tuple[int, int, str]] = field(default_factory=list)
    children: dict[int, list[Scope]] = field(default_factory=dict)
    beside: Scope | None = None
    indexes: dict[int, dict[str, int]] = field(default_factory=dict)

    @property
    def place(self) -> Graph | Function:
        """The graph or function as it stands in the tree."""
        return self.tree or self.owner

    @property
    def is_graph(self) -> bool:
        """Whether it is a graph, not a function body."""
        return self.kind != "function"

    def find_definitions(self) -> None:
        """Find where each name is defined."""
        given = self.given
        for value in (*self.inputs, *self.initializers):
            given.setdefault(value.name, value)
        self.distinct = len(given) == len(self.inputs) + len(self.initializers)
        given.pop("", None)
        position = self.position = dict.fromkeys(given, GIVEN)
        again, unresolved = self.again, self.unresolved
        for index, node in enumerate(self.nodes):
            # Inputs now, while what the nodes before have added is in the processor's cache.
            for name in node.inputs:
                if name not in position and name:
                    unresolved += [
                        (index, number)
                        for number, other in enumerate(node.inputs)
                        if other and other not in position
                    ]
                    break
            for number, name in enumerate(node.outputs):
                if name in position:
                    again.append((index, number, name))
                elif name:
                    position[name] = index

    def outer(self) -> Iterator[tuple[Scope, int]]:
        """The scopes whose values are seen here, inner ones first, each up to which of its nodes.

        A training algorithm is put behind the main graph, so it sees all of that (proto
        TrainingInfoProto.algorithm).
        """
        scope = self
        while scope.parent is not None:
            yield scope.parent, scope.holder_index
            scope = scope.parent
        if scope.beside is not None:
            yield scope.beside, len(scope.beside.nodes)

    def find_outer(self, name: str) -> tuple[Scope, int] | None:
        """The scope around this one where a name is visible, and the position of its definition."""
        for scope, limit in self.outer():
            at = scope.position.get(name)
            if at is not None and at < limit:
                return scope, at
        return None

    def definition(self, name: str) -> tuple[ValueInfo | Node, tuple[str | int, ...]]:
        """The statement that defines a name here, and the part of it that does."""
        at = self.position[name]
        if at == GIVEN:
            return self.given[name], ("name",)
        node = self.nodes[at]
        return node, ("outputs", self._output(at, name))

    def typed_output(self, name: str) -> tuple[Node, int, Type] | None:
        """The type before the output of a node: the node, which output, the type."""
        at = self.position.get(name, GIVEN)
        if at == GIVEN:
            return None
        node = self.nodes[at]
        if not node.output_types:
            return None
        index = self._output(at, name)
        type = node.output_types[index]
        return None if type is None else (node, index, type)

    def _output(self, at: int, name: str) -> int:
        """Which output of a node has a name; the first, if there are several."""
        outputs = self.nodes[at].outputs
        if len(outputs) < _MANY:
            return outputs.index(name)
        known = self.indexes.get(at)
        if known is None:
            last = len(outputs) - 1
            known = {each: last - i for i, each in enumerate(reversed(outputs))}
            self.indexes[at] = known
        return known[name]

    def words(self) -> str:
        """What to call it in a message."""
        name = f" `{self.name}`" if self.name else ""
        match self.kind:
            case "main":
                return f"the graph{name}"
            case "function":
                return f"the function{name}"
            case "initialization" | "algorithm":
                return f"the training's {self.kind}{name}"
            case _:
                return f"the graph{name}"


def visible_graphs(node: Node) -> Iterator[tuple[str, Graph]]:
    """The graphs in a node's attributes, and which attribute holds each."""
    for attribute in node.attributes:
        value = attribute.value
        if type(value) is Graph:
            yield attribute.name, value
        elif type(value) is tuple and value and type(value[0]) is Graph:
            for graph in value:
                yield attribute.name, graph


def used_names(node: Node) -> Iterator[str]:
    """Yield the input names of a node and of all nodes in its nested graphs."""
    if any(attribute.type in (5, 10) for attribute in node.attributes):
        for inner in walk_nodes(node):
            yield from inner.inputs
    else:
        yield from node.inputs
