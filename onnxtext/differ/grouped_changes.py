# SPDX-License-Identifier: Apache-2.0
"""Group similar differences of large diffs: optimizers and quantizers repeat the same changes.

Connected removed and added nodes form one graph rewrite, such as `MatMul + Add became
FusedMatMul`. Other items are grouped by their kind and the fields that differ. The time is linear
in the size of the models.

`count_operators` counts the nodes of each operator in both models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import attrgetter

from onnxtext.ast.model import Model, Node
from onnxtext.ast.qualified_names import qualified_name
from onnxtext.ast.visit import walk_nodes
from onnxtext.differ.graph_lists import GraphLists
from onnxtext.differ.matching.match_graphs import GraphMatch
from onnxtext.differ.result import FieldChange, Group, ItemChange, ItemKey, OperatorCount
from onnxtext.plurals import count_noun

_MAX_OPERATORS = 8
"""Maximum number of operators to name in a title."""

_MAX_NODES = 40
"""Maximum number of nodes in a rewrite; a larger rewrite is split into parts.

Rewrites are larger if, for example, all nodes of a model were replaced. A part consists of the old
and new nodes that share output names.
"""


def find_groups(items: Sequence[ItemChange], matches: Iterable[GraphMatch]) -> tuple[Group, ...]:
    """Return groups of similar differences, in the order of the first item of each group.

    Items without a group, such as changes of inputs or functions, are left out.
    """
    operators = _Operators(items)
    components: dict[ItemKey, list[ItemKey]] = {}
    for match in matches:
        for component in operators.rewrites(match):
            for key in component:
                components[key] = component
    groups: dict[Hashable, Group] = {}
    done: set[ItemKey] = set()
    for item in items:
        if item.key in done:
            continue
        component = components.get(item.key, [item.key])
        done.update(component)
        signature, title = (
            operators.signature(component)
            if item.key in components
            else _description(item, operators.operator_of(item.key))
        )
        if signature is None:
            continue
        group = groups.get(signature)
        if group is None:
            group = groups[signature] = Group(title, [])
        group.occurrences.append(tuple(component))
    return tuple(groups.values())


class _Operators:
    """The old and new operators of the nodes that differ, by item key."""

    def __init__(self, items: Sequence[ItemChange]) -> None:
        self._old: dict[str, ItemKey] = {}
        self._new: dict[str, ItemKey] = {}
        for item in items:
            if item.kind == "node":
                if item.old is not None:
                    self._old[item.old.path] = item.key
                if item.new is not None:
                    self._new[item.new.path] = item.key
        self._names: dict[ItemKey, tuple[str | None, str | None]] = {}

    def operator_of(self, key: ItemKey) -> str:
        """Return the new operator of a node; if the node was removed, its old operator.

        Return "" for items that are not nodes.
        """
        before, after = self._names.get(key, (None, None))
        return after or before or ""

    def rewrites(self, match: GraphMatch) -> Iterator[list[ItemKey]]:
        """Yield each rewrite: the keys of connected nodes that were removed, added or replaced."""
        old, new = _differing_nodes(match.old, self._old), _differing_nodes(match.new, self._new)
        before = {key: operator_name(node) for key, node in old}
        after = {key: operator_name(node) for key, node in new}
        for key in (*before, *after):
            self._names[key] = before.get(key), after.get(key)
        rewritten = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        replaced: list[tuple[ItemKey, ItemKey]] = []
        linked: list[tuple[ItemKey, ItemKey]] = []
        members = set(rewritten)
        producers: dict[str, ItemKey] = {}
        get_new = match.names.get
        kept = set(map(get_new, match.old.producers)) & match.new.producers.keys()
        for nodes, get in ((old, get_new), (new, str)):
            keys: dict[str, ItemKey] = {}
            # Skip nodes without inputs (constants): their uses are often unrelated.
            chosen = [(key, node) for key, node in nodes if key in members and node.inputs]
            for key, node in chosen:
                for name in map(get, filter(None, node.outputs)):
                    keys[name] = key
                    if name in producers:
                        replaced.append((producers[name], key))
            for key, node in chosen:
                # A rewrite ends at values that both models compute.
                inner = [name for name in map(get, node.inputs) if name not in kept]
                linked += [(keys[name], key) for name in inner if name in keys]
            producers = keys
        for component in _connected_groups(rewritten, [*replaced, *linked]):
            if len(component) <= _MAX_NODES:
                yield component
                continue
            inside = set(component)
            yield from _connected_groups(
                component, [pair for pair in replaced if pair[0] in inside]
            )

    def signature(self, component: Sequence[ItemKey]) -> tuple[Hashable, str]:
        """Return (key, title) of a rewrite; similar rewrites have equal keys."""
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for key in component:
            old, new = self._names[key]
            before.update([old] if old is not None else ())
            after.update([new] if new is not None else ())
        signature = "rewrite", frozenset(before.items()), frozenset(after.items())
        if not after:
            return signature, f"{_join_items(before)} removed"
        if not before:
            return signature, f"{_join_items(after)} added"
        return signature, f"{_join_items(before)} became {_join_items(after)}"


def _differing_nodes(body: GraphLists, keys: dict[str, ItemKey]) -> list[tuple[ItemKey, Node]]:
    """Return (item key, node) for each node of `body` that differs; `keys` maps paths to keys."""
    start = f"{body.path}.node["
    indices = [path[len(start) : -1] for path in keys if path.startswith(start)]
    return [
        (keys[f"{start}{index}]"], body.nodes[index])
        for index in sorted(map(int, filter(str.isdecimal, indices)))
    ]


def _join_items(operators: Counter[str]) -> str:
    """Format counts of operators: `MatMul + Add × 2`, in the order of the graph."""
    parts = [name if count == 1 else f"{name} × {count}" for name, count in operators.items()]
    if len(parts) > _MAX_OPERATORS:
        parts[_MAX_OPERATORS:] = [count_noun(len(parts) - _MAX_OPERATORS, "other operator")]
    return " + ".join(parts)


def _connected_groups(
    keys: Sequence[ItemKey], pairs: Iterable[tuple[ItemKey, ItemKey]]
) -> Iterable[list[ItemKey]]:
    """Return the connected components of a graph (union-find), in the order of `keys`."""
    parents = {key: key for key in keys}

    def root(key: ItemKey) -> ItemKey:
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for left, right in pairs:
        parents[root(right)] = root(left)
    neighbors: dict[ItemKey, list[ItemKey]] = {}
    for key in keys:
        neighbors.setdefault(root(key), []).append(key)
    return neighbors.values()


_GROUPED = ("node", "initializer", "sparse_initializer", "value_info")


def _description(item: ItemChange, operator: str) -> tuple[Hashable | None, str]:
    """Return the key and title of an item's group; the key is None for items without a group.

    `operator` is the operator if the item is a node; otherwise "".
    """
    if item.kind not in _GROUPED:
        return None, ""
    subject = operator or item.kind
    if item.actions in (("added",), ("removed",)):
        return (item.kind, item.actions, operator), f"{subject} {item.actions[0]}"
    fields = tuple(dict.fromkeys(map(_field, item.fields)))
    if item.actions == ("changed",) and len(fields) > 1:
        fields = tuple([text for text in fields if text != "at another position"])
    # Nodes that only moved form one group, whatever their operators are.
    subject = subject if fields or item.kind != "node" else "node"
    changes = [text for text in fields if text] + ["moved"] * ("moved" in item.actions)
    return (item.kind, subject, tuple(changes)), f"{subject}: {', '.join(changes)}"


def _field(change: FieldChange) -> str:
    """Describe the change of a field so that similar changes have equal descriptions."""
    if change.weights is not None:
        return change.weights.how or "elements changed"
    if change.category == "order":
        return "at another position"
    if change.path.startswith("attribute["):
        shown = [text for text in (change.old, change.new) if text is not None]
        if all(len(text) <= _SHORT and "\n" not in text for text in shown):
            if change.new is None:
                return f"{change.old} removed"
            return f"{change.new} added" if change.old is None else " → ".join(shown)
    if change.path in ("data_type", "dims"):
        return ""
    return f"{change.path} changed"


_SHORT = 40


def operator_name(node: Node) -> str:
    """Return the operator type of a node, as `domain.type` outside of the standard domain."""
    return qualified_name(node.domain, node.op_type)


def count_operators(old: Model, new: Model) -> tuple[OperatorCount, ...]:
    """Return the number of nodes of each operator in both models, sorted by operator name.

    Nodes in nested graphs and functions are included.
    """
    before, after = Counter[str](), Counter[str]()
    for model, counts in ((old, before), (new, after)):
        for key, count in Counter(map(attrgetter("domain", "op_type"), walk_nodes(model))).items():
            counts[qualified_name(*key)] += count
    names = sorted(before.keys() | after.keys())
    return tuple([OperatorCount(name, before[name], after[name]) for name in names])
