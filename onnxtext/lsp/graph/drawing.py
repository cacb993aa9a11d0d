# SPDX-License-Identifier: Apache-2.0
"""Convert the graphs of a document to groups of nodes, and edges, for a drawing.

A graph is a tree of groups. Only the members of open groups are sent; a closed group is one item
with its counts. A group has the edges between its members, the members that use values from outside
(`uses`), and those whose values are used outside (`makes`). So the client finds the ends of edges
for any open groups. Constants, and values with many users, have no edges: users have stubs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.lsp.graph.compare_drawings import Changes
from onnxtext.lsp.graph.drawn_spans import DrawnSpans
from onnxtext.lsp.graph.module_groups import (
    ModuleGroup,
    Path,
    closed_group,
    common_path,
    group_tree,
    parse_id,
    scope_paths,
    value_group,
)
from onnxtext.lsp.graph.stubs import attribute_summary, input_stub
from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.lsp.index.index import Index
from onnxtext.source import Span

MAX_NODES = 5000
"""Maximum number of items to send; larger drawings are unreadable."""
MANY_NODES = 200
"""If a model has fewer nodes and values than this, all groups are open by default."""
MAX_USERS = 8
"""A value with more users than this number has no edges: each user has a stub."""
_MAX_OPERATORS = 6
Key = tuple[int, str]
"""Identifies a value: the number of the graph or function that defines it, and its name."""


class Drawing:
    """The graphs of one version of a document, as trees of groups."""

    def __init__(self, document: Document, changes: Changes | None = None) -> None:
        self.document = document
        self.changes = changes
        self.version: DocumentVersion = document.version
        self.index: Index = self.version.index
        self._places = DrawnSpans(self.version)
        self.total = 0
        self.trees: list[ModuleGroup] = []
        self._chains: dict[str, tuple[str, ...]] = {}  # for each id, the groups and nodes around it
        self._users: dict[Key, list[str]] = {}  # the ids of the nodes that use a value
        self._producers: dict[Key, str] = {}  # the id of the node or input that defines a value
        self._operators: dict[str, str] = {}  # the operator of each node, by the node's id
        self._initializers: dict[Key, ValueInfo] = {}
        self.drawn_values: dict[tuple[int, str, str], str] = {}
        """The ids of the drawn inputs and outputs, by (number of the graph, `i` or `o`, name)."""
        self._constants: dict[Key, int] = {}  # index of a constant's node; GIVEN for an initializer
        for scope in self.index.scopes:
            self._find_producers(scope)
        for scope in self.index.scopes:
            self._find_users(scope)
        if changes is not None:
            self._producers |= changes.producers
            for key, user in changes.users:
                self._users.setdefault(key, []).append(user)
        for scope in self.index.scopes:
            self._add_tree(scope)

    # ---- Values -------------------------------------------------------------------------------

    def _find_producers(self, scope: Scope) -> None:
        """Record which node or input defines each value of a graph, and which values are constants.

        Constants are initializers, and outputs of `Constant` nodes that the graph does not return.
        """
        number = self.index.number(scope)
        for index, value in enumerate(scope.inputs):
            self._producers.setdefault((number, value.name), f"g{number}i{index}")
        for value in scope.initializers:
            self._constants[number, value.name] = GIVEN
            self._initializers.setdefault((number, value.name), value)
        outputs = {value.name for value in scope.outputs}
        for index, node in enumerate(scope.nodes):
            constant = node.op_type == "Constant" and not node.inputs
            for name in node.outputs:
                if name and scope.position.get(name) == index:
                    self._producers[number, name] = f"g{number}n{index}"
                    if constant and name not in outputs:
                        self._constants[number, name] = index

    def _find_users(self, scope: Scope) -> None:
        """Find the nodes that use each value."""
        number, resolve, position = self.index.number(scope), self.index.resolve, scope.position
        users = self._users
        for index, node in enumerate(scope.nodes):
            identity = f"g{number}n{index}"
            for name in node.inputs:
                if name:
                    # Most inputs are defined in the scope of the node.
                    owner = number if name in position else self.index.number(resolve(scope, name))
                    own_users = users.setdefault((owner, name), [])
                    if not own_users or own_users[-1] != identity:
                        own_users.append(identity)

    def _is_stub(self, key: Key) -> bool:
        return key in self._constants or len(self._users.get(key, ())) > MAX_USERS

    # ---- Groups -------------------------------------------------------------------------------

    def _add_tree(self, scope: Scope) -> None:
        number = self.index.number(scope)
        name = f"g{number}"
        constants = {value for owner, value in self._constants if owner == number}
        paths, classes = scope_paths(scope, constants)
        inputs = [
            f"{name}i{index}"
            for index, value in enumerate(scope.inputs)
            if (number, value.name) not in self._constants
        ]
        outputs = [f"{name}o{index}" for index in range(len(scope.outputs))]
        members: list[tuple[str, Path]] = [(leaf, value_group(inputs, "inputs")) for leaf in inputs]
        for index, node in enumerate(scope.nodes):
            if node.op_type != "Constant" or not self._is_drawn_as_stubs(number, node):
                identity = f"{name}n{index}"
                members.append((identity, paths[index]))
                self._operators[identity] = node.op_type
        if self.changes is not None:
            members = self.changes.members(number, members)
            self._operators.update((k, item["op"]) for k, item in self.changes.items.items())
        members += [(leaf, value_group(outputs, "outputs")) for leaf in outputs]
        tree = group_tree(name, scope.name, members, classes)
        self.total += tree.count
        self.trees.append(tree)
        holder = self._holder(tree)
        outer = () if holder is None else (*self._chains.get(holder, ()), holder)
        for group in tree.groups():
            chain = (*outer, *group.chain())
            # All members of a group get the same tuple object, so that comparing chains is fast.
            self._chains.update(
                dict.fromkeys([leaf for leaf in group.members if isinstance(leaf, str)], chain)
            )

        for kind, values in (("i", scope.inputs), ("o", scope.outputs)):
            for index, value in enumerate(values):
                identity = f"{name}{kind}{index}"
                if identity in self._chains:
                    self.drawn_values.setdefault((number, kind, value.name), identity)

    def _is_drawn_as_stubs(self, number: int, node: Node) -> bool:
        """Whether a node is a constant that is drawn only as stubs: one at each user."""
        keys = [(number, name) for name in node.outputs if name]
        return bool(keys) and all(
            self._constants.get(k, GIVEN) >= 0 and k in self._users for k in keys
        )

    def chain(self, identity: str) -> tuple[str, ...] | None:
        """Return the ids of groups and nodes around a node or value; None if it is not drawn."""
        return self._chains.get(identity)

    def initializer(self, scope: Scope, name: str) -> ValueInfo | None:
        """Return the first initializer with a name in a graph; None if there is none."""
        return self._initializers.get((self.index.number(scope), name))

    def users_of(self, scope: Scope, name: str) -> list[str]:
        """Return the ids of the nodes that use a value."""
        return self._users.get((self.index.number(scope), name), [])

    # ---- Result of the request ----------------------------------------------------------------

    def draw(
        self, opened: Collection[str], closed: Collection[str], max_items: int = MAX_NODES
    ) -> dict[str, Any]:
        """Return the open groups with their items and edges, as in the result of `onnxtext/graph`.

        For groups that are neither in `opened` nor in `closed`, `is_open` decides. A group stays
        closed if its items, together with the items already drawn, are more than `max_items`.
        """
        drawn: dict[str, dict[str, Any]] = {}
        room, truncated = max_items, False
        for tree in self.trees:
            waiting = [tree]
            while waiting:
                group = waiting.pop()
                if not self._is_shown(group, drawn) or group.id in closed:
                    continue
                if not (group.id in opened or self.is_open(group, tree)):
                    continue
                if len(group.members) > room:
                    truncated = True
                    continue
                room -= len(group.members)
                drawn[group.id] = self._group(group)
                waiting += [
                    member for member in reversed(group.members) if isinstance(member, ModuleGroup)
                ]
        self._add_edges(drawn)
        roots = [self._item(tree) for tree in self.trees if self._holder(tree) is None]
        answer = {"roots": roots, "groups": list(drawn.values())}
        return {**answer, "total": self.total, "truncated": truncated}

    def _is_shown(self, group: ModuleGroup, drawn: Collection[str]) -> bool:
        """Whether a group is visible: the group around it, if there is one, is open."""
        if group.parent is not None:
            return group.parent.id in drawn
        holder = self._holder(group)
        return holder is None or self._chains.get(holder, ("",))[-1] in drawn

    def is_open(self, group: ModuleGroup, tree: ModuleGroup) -> bool:
        """Whether a group in the tree `tree` is open by default."""
        if self.total < MANY_NODES or (tree.id == "g0" and group is tree):
            return True
        if self.changes is not None and group.count < MANY_NODES and self.changes.within(group):
            return True
        # A closed group with most of the nodes would hide the whole model.
        return group is not tree and group.count > tree.count / 2

    def _holder(self, tree: ModuleGroup) -> str | None:
        """Return the id of the node that contains a graph; None for main graphs and functions."""
        scope = self.index.scopes[int(tree.id[1:])]
        if scope.parent is None:
            return None
        return f"g{self.index.number(scope.parent)}n{scope.holder_index}"

    def _group(self, group: ModuleGroup) -> dict[str, Any]:
        span, parent = self._first(group), None if group.parent is None else group.parent.id
        if group.parent is None:
            scope = self.index.scopes[int(group.id[1:])]
            span, parent = self.index.scope_span(scope), self._holder(group)
        return {
            "id": group.id,
            "name": group.name,
            "kind": group.kind,
            "count": group.count,
            "graph": group.parent is None,
            "parent": parent,
            "range": self._places.range(span),
            "items": [self._item(member) for member in group.members],
            "edges": [],
            "uses": [],
            "makes": [],
        }

    def _first(self, group: ModuleGroup) -> Span | None:
        """Return the span of a group's first node or value; None if the text does not have it."""
        member: ModuleGroup | str = group
        while isinstance(member, ModuleGroup) and member.members:
            member = member.members[0]
        parsed = parse_id(member) if isinstance(member, str) else None
        if parsed is None or parsed[1] == "r":
            return None
        number, kind, index = parsed
        scope = self.index.scopes[number]
        items: dict[str, list[Any]] = {"n": scope.nodes, "i": scope.inputs, "o": scope.outputs}
        return self._places.statement(items[kind][index])

    def _item(self, member: ModuleGroup | str) -> dict[str, Any]:
        drawn = self.leaf(member) if isinstance(member, str) else self._closed(member)
        return drawn if self.changes is None else self.changes.mark(drawn, member)

    def _closed(self, member: ModuleGroup) -> dict[str, Any]:
        drawn = self._box(member.id, "group", member.name, member.kind, self._first(member))
        operators = self.operators(member).most_common(_MAX_OPERATORS)
        return {**drawn, "count": member.count, "operators": operators}

    def _box(
        self, identity: str, kind: str, name: str, detail: str, span: Span | None
    ) -> dict[str, Any]:
        return {
            "id": identity,
            "kind": kind,
            "op": "",
            "name": name,
            "detail": detail,
            "range": self._places.range(span),
            "bodies": [],
            "stubs": [],
        }

    def operators(self, group: ModuleGroup) -> Counter[str]:
        """Return the number of nodes of each operator in a group."""
        counts = Counter(map(self._operators.get, group.leaves()))
        return Counter({name: count for name, count in counts.items() if name})

    def leaf(self, identity: str) -> dict[str, Any]:
        """Return the node or value with an id, in the format for the client."""
        parsed = parse_id(identity)
        assert parsed is not None
        number, kind, index = parsed
        if kind == "r":
            assert self.changes is not None
            return self.changes.items[identity]
        scope = self.index.scopes[number]
        if kind == "n":
            return self._node(identity, scope, index, scope.nodes[index])
        value = (scope.inputs if kind == "i" else scope.outputs)[index]
        is_input, type = kind == "i", self.document.type_of(scope, value.name) or ""
        span, role = self._places.statement(value), "input" if is_input else "output"
        drawn = self._box(identity, role, value.name, type, span)
        return {**drawn, "shared": is_input and self._is_stub((number, value.name))}

    def _node(self, identity: str, scope: Scope, index: int, node: Node) -> dict[str, Any]:
        number = self.index.number(scope)
        bodies = [
            {"id": f"g{self.index.number(body)}", "name": body.name or body.attribute,
             "count": self.trees[self.index.number(body)].count}
            for body in scope.children.get(index, ())
        ]  # fmt: skip
        stubs = []
        for slot, name in enumerate(node.inputs):
            if name:
                owner = self.index.resolve(scope, name)
                key = self.index.number(owner), name
                if self._is_stub(key):
                    node_index = self._constants.get(key, GIVEN)
                    constant: Node | ValueInfo | None = self._initializers.get(key)
                    if node_index != GIVEN:
                        constant = owner.nodes[node_index]
                    stub = input_stub(self.document, scope, index, slot, owner, constant)
                    source = None if key in self._constants else self._producers.get(key)
                    definition = self._places.definition(owner, name)
                    stubs.append({**stub, "from": source, "at": definition})
        return {
            "id": identity,
            "kind": "node",
            "op": f"{node.domain}.{node.op_type}" if node.domain else node.op_type,
            "name": node.name or "",
            "detail": attribute_summary(node),
            "range": self._places.range(self._places.statement(node)),
            "bodies": bodies,
            "uses": [],
            "stubs": stubs,
            "shared": any(
                name and len(self._users.get((number, name), ())) > MAX_USERS
                for name in node.outputs
            ),
        }

    def _add_edges(self, drawn: dict[str, dict[str, Any]]) -> None:
        """Add each edge to the innermost group with both ends, if that group is drawn.

        If a drawn group or a node with graphs contains only the source, add the value to its field
        `makes`; if it contains only the target, add the value to `uses`.
        """
        holders = {
            item["id"]: item for part in drawn.values() for item in part["items"] if item["bodies"]
        }
        ends = {**drawn, **holders}
        seen: set[tuple[str, ...]] = set()
        chains = self._chains
        closed = {chain: closed_group(chain, drawn) for chain in set(chains.values())}
        for key, source, target in self._connections():
            before, after = chains.get(source), chains.get(target)
            if before is None or after is None:
                continue
            around = closed[before]
            if around and around == closed[after]:
                continue  # both ends are in one closed group, as in most edges of large models
            same = len(common_path((before, after)))
            sources, targets = (*before, source)[same:], (*after, target)[same:]
            value = f"{key[0]}:{key[1]}"
            if not sources or not targets:
                # A graph in a node uses an output of this node. This error is not drawn.
                continue
            if before[same - 1] in drawn and (sources[0], targets[0], value) not in seen:
                seen.add((sources[0], targets[0], value))
                type = self.document.type_of(self.index.scopes[key[0]], key[1])
                change = {} if self.changes is None else self.changes.edge(source, target)
                drawn[before[same - 1]]["edges"].append(
                    {"from": sources[0], "to": targets[0], "value": value, "type": type, **change}
                )
            if targets[-1] in holders:  # the node itself uses the value, not a node in its graphs
                targets = (*targets, targets[-1])
            for part, field in ((sources, "makes"), (targets, "uses")):
                for outer, inner in pairwise(part):
                    if outer in ends and (outer, inner, value, field) not in seen:
                        seen.add((outer, inner, value, field))
                        ends[outer][field].append([value, inner])

    def _connections(self) -> Iterator[tuple[Key, str, str]]:
        """Yield (value, id of its producer, id of a user) for each use that may need an edge."""
        for key, users in self._users.items():
            producer = self._producers.get(key)
            if producer is not None and not self._is_stub(key):
                for user in users:
                    if user != producer:
                        yield key, producer, user
        for scope in self.index.scopes:
            for index, value in enumerate(scope.outputs):
                key = self.index.number(self.index.resolve(scope, value.name)), value.name
                producer = self._producers.get(key)
                if producer is not None:
                    yield key, producer, f"g{self.index.number(scope)}o{index}"
