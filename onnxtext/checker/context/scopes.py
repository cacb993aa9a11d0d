# SPDX-License-Identifier: Apache-2.0
"""Find the names that each graph and function body defines, and the outer names it may use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Literal

from onnxtext.ast.model import Annotation, Function, Graph, Node, OpsetImport, ValueInfo
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.types import Type
from onnxtext.ast.visit import walk_nodes
from onnxtext.checker.context.directed_graphs import topological_order
from onnxtext.quick_dataclass import dataclass

Kind = Literal["main", "nested", "function", "initialization", "algorithm", "fragment", "nodes"]
_MANY_OUTPUTS = 32
GIVEN = -1
"""The position of inputs and initializers in `Scope.position`: before the first node."""


Opsets = dict[str, int]
"""The operator sets that a model or function imports: the version of each domain.

`""` is the standard domain.
"""


def imported_opsets(imports: Iterable[OpsetImport]) -> Opsets:
    """Convert the list of imports of a model or function to `Opsets`.

    If a domain is imported several times, the highest version applies (proto
    ModelProto.opset_import).
    """
    versions: Opsets = {}
    for item in imports:
        domain = plain_domain(item.domain)
        versions[domain] = max(item.version, versions.get(domain, item.version))
    return versions


@dataclass(slots=True, eq=False)
class Scope:
    """A graph or a function body.

    Attributes:
        original: the graph or function in the tree, before its decorators are applied.
        owner: the graph before its decorators are applied, or the function after its decorators are
            applied.
        kind: the role of the graph or function in the model.
        parent: for a nested graph, the scope that encloses it; otherwise None.
        holder: for a nested graph, the node of `parent` that has the graph in an attribute.
        holder_index: the 0-based index of `holder` in the nodes of `parent`.
        attribute: the name of the attribute of `holder` that contains this graph.
        function: the function whose body this scope is, or is nested in; None outside of functions.
        opsets: the imported operator sets; for a fragment that is a graph or nodes, the operator
            sets in `Options.assumed`, which may be None.
        infos: the `value_info` list. It lacks the types that nodes declare for their outputs.
        initializers: dense and sparse initializers, including the default values of inputs.
        given: maps the names of inputs and initializers to their definitions. If a name has several
            definitions, the first input counts; if none is an input, the first initializer.
        position: maps each name that the scope defines to the 0-based index of the first node that
            outputs it. Names of inputs and initializers map to `GIVEN`.
        unresolved: the node inputs whose name this scope does not define before the node, as pairs
            (0-based index of the node, 0-based index of the input).
        distinct: whether all inputs and initializers have different names. False if an input has a
            default value, because both lists contain it.
        redefinitions: the node outputs whose name is already defined, as triples (0-based
            index of the node, 0-based index of the output, name).
        children: maps the index of a node to the scopes of the graphs in its attributes.
        main_graph: for a training algorithm, the scope of the main graph, whose values it may use;
            otherwise None.
        indexes: a cache for nodes with many outputs. It maps the index of a node to a dictionary,
            which maps the name of each output to the output's index.
        order: a cache for `nodes_to_visit`: the indices of the nodes in a topological order; empty
            for the order of the graph, None if not computed yet.
    """

    original: Graph | Function
    owner: Graph | Function
    kind: Kind
    name: str
    parent: Scope | None = None
    holder: Node | None = None
    holder_index: int = 0
    attribute: str = ""
    function: Function | None = None
    opsets: Opsets | None = None
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
    redefinitions: list[tuple[int, int, str]] = field(default_factory=list)
    children: dict[int, list[Scope]] = field(default_factory=dict)
    main_graph: Scope | None = None
    indexes: dict[int, dict[str, int]] = field(default_factory=dict)
    order: list[int] | None = None

    @property
    def is_graph(self) -> bool:
        """Whether this scope is a graph; if not, it is a function body."""
        return self.kind != "function"

    @property
    def outermost(self) -> Scope:
        """The outermost scope that contains this scope, or the scope itself."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find_definitions(self) -> None:
        """Fill `given`, `position`, `unresolved`, `distinct` and `redefinitions`."""
        given = self.given
        for value in (*self.inputs, *self.initializers):
            given.setdefault(value.name, value)
        self.distinct = len(given) == len(self.inputs) + len(self.initializers)
        given.pop("", None)
        position = self.position = dict.fromkeys(given, GIVEN)
        redefinitions, unresolved = self.redefinitions, self.unresolved
        for index, node in enumerate(self.nodes):
            # Resolve inputs in the same loop: the latest definitions are in the processor's cache.
            for name in node.inputs:
                if name not in position and name:
                    unresolved += [
                        (index, slot)
                        for slot, other in enumerate(node.inputs)
                        if other and other not in position
                    ]
                    break
            for slot, name in enumerate(node.outputs):
                if name in position:
                    redefinitions.append((index, slot, name))
                elif name:
                    position[name] = index

    def nodes_to_visit(self) -> Iterable[tuple[int, Node]]:
        """Return the nodes with their indices, in the order in which inference visits them.

        This is the order of the graph. But if a node uses a value that a later node computes, and
        there is no cycle, it is a topological order, so that the types of all inputs are known.
        """
        if self.order is None:
            self.order = (sorted_order(self.nodes) or []) if self._uses_later_values() else []
        if not self.order:
            return enumerate(self.nodes)
        return [(index, self.nodes[index]) for index in self.order]

    def _uses_later_values(self) -> bool:
        """Whether a node, or a graph in it, uses a value that the node or a later node computes."""
        if any(self.nodes[index].inputs[slot] in self.position for index, slot in self.unresolved):
            return True
        return any(
            self.position.get(name, GIVEN) >= index
            for index, children in self.children.items()
            for child in children
            for name in child.free_names()
        )

    def free_names(self) -> Iterator[str]:
        """Yield the names that nodes of this graph and its nested graphs use, but do not define."""
        for index, slot in self.unresolved:
            name = self.nodes[index].inputs[slot]
            if name not in self.position:
                yield name
        for children in self.children.values():
            for child in children:
                yield from (name for name in child.free_names() if name not in self.position)

    def outer(self) -> Iterator[tuple[Scope, int]]:
        """Yield (outer scope, limit) for each outer scope, innermost first.

        `limit` is a 0-based index of a node in the outer scope. This scope may use the names that
        the outer scope defines before that node. A training algorithm may use all names of the main
        graph, because it is appended to the main graph (proto TrainingInfoProto.algorithm).
        """
        scope = self
        while scope.parent is not None:
            yield scope.parent, scope.holder_index
            scope = scope.parent
        if scope.main_graph is not None:
            yield scope.main_graph, len(scope.main_graph.nodes)

    def find_outer(self, name: str) -> tuple[Scope, int] | None:
        """Return the innermost outer scope that defines a name, and its `position` in that scope.

        Return None if no outer scope defines the name before the node that contains this scope.
        """
        for scope, limit in self.outer():
            position = scope.position.get(name)
            if position is not None and position < limit:
                return scope, position
        return None

    def definition(self, name: str) -> tuple[ValueInfo | Node, tuple[str | int, ...]]:
        """Return the statement that defines a name in this scope, and the position of the name.

        The position is a path in the statement, as in `Place.part`.

        Raises:
            KeyError: this scope does not define the name.
        """
        position = self.position[name]
        if position == GIVEN:
            return self.given[name], ("name",)
        node = self.nodes[position]
        return node, ("outputs", self._output(position, name))

    def typed_output(self, name: str) -> tuple[Node, int, Type] | None:
        """Find the node output `name`; return (node, 0-based index of the output, declared type).

        Return None if no node has this output, or if the node declares no type for it. (In
        `float[N] y = …`, the node declares one.)
        """
        position = self.position.get(name, GIVEN)
        if position == GIVEN:
            return None
        node = self.nodes[position]
        if not node.output_types:
            return None
        index = self._output(position, name)
        type = node.output_types[index]
        return None if type is None else (node, index, type)

    def _output(self, position: int, name: str) -> int:
        """Return the index of the first output called `name` of the node at `position`."""
        outputs = self.nodes[position].outputs
        if len(outputs) < _MANY_OUTPUTS:
            return outputs.index(name)
        cached = self.indexes.get(position)
        if cached is None:
            last = len(outputs) - 1
            cached = {each: last - i for i, each in enumerate(reversed(outputs))}
            self.indexes[position] = cached
        return cached[name]

    def describe(self) -> str:
        """Describe the scope in messages: ``the function `f` ``."""
        name = f" `{self.name}`" if self.name else ""
        match self.kind:
            case "function":
                return f"the function{name}"
            case "initialization" | "algorithm":
                return f"the training's {self.kind}{name}"
            case _:
                return f"the graph{name}"


def without_owner_names(message: str) -> str:
    """Remove the names of graphs and functions that `Scope.describe` has put into a message."""
    return _OWNER_NAME.sub(r"\1", message)


_OWNER_NAME = re.compile(r"\b(the (?:graph|function|training's \w+)) `[^`]*`")


def used_names(node: Node) -> Iterator[str]:
    """Yield the input names of a node and of all nodes in its nested graphs."""
    if any(attribute.type in (5, 10) for attribute in node.attributes):
        for inner in walk_nodes(node):
            yield from inner.inputs
    else:
        yield from node.inputs


def sorted_order(nodes: list[Node]) -> list[int] | None:
    """Return the 0-based indices of nodes in a topological order; None if several form a cycle.

    If several nodes could come next, the node with the lowest index is chosen.
    """
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.outputs:
            if name:
                producer.setdefault(name, index)
    used = [
        {producer[name] for name in used_names(node) if name in producer} - {index}
        for index, node in enumerate(nodes)
    ]
    return topological_order(used, range(len(nodes)))
